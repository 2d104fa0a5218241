// SPDX-License-Identifier: GPL-2.0-or-later
// Zone shifts at one node and at two.
#include "cli/cli_shift.h"

#include "cli_rig.h"

#define OPTIONS .lb = "shop", .expires = "2h", .comment = "new switch"

static void start(struct rig *rig)
{
	rig->judge_vips = true;
	rig_start(rig, 0);
	rig_load(rig);
	rig_publish(rig);
}

static size_t count_shifts(const struct rig *rig)
{
	struct answer a = rig_get(rig, "/api/v1/zone-shifts");
	size_t count = json_array_size(answer_at(&a, "items"));

	answer_clear(&a);
	return count;
}

/* What has no name has no answers that could change. */
static void shift_of_what_is_not_in_dns(void **state)
{
	struct cli_options o = {OPTIONS, .dry_run = true};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_OUTCOME struct outcome dry = cli_rig_run(&rig, cli_shift_start, 2, &o,
						      WORDS("zone", "shift", "zb"));
	assert_contains(dry.out, "shop           not in DNS      not in DNS ");
	rig_end(&rig);
}

/* A single node has no name of its own. */
static void the_node_is_not_there(void **state)
{
	struct cli_options o = {OPTIONS, .server = "http://127.0.0.1:1"};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome done = cli_rig_run(&rig, cli_shift_start, 2, &o,
						       WORDS("zone", "shift", "zb"));
	assert_int_equal(done.exit, EXIT_UNREACHABLE);
	assert_contains(done.err, "whether this node has shifted zone zb is not known: ask "
				  "`zonegate override list`");
	rig_end(&rig);
}

static void shift_at_one_node(void **state)
{
	struct cli_options o = {OPTIONS}, rehearsal = {OPTIONS, .dry_run = true},
			   longer = {.expires = "3h", .comment = "slow parcel"}, plain = {0},
			   json = {OPTIONS, .format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome dry = cli_rig_run(&rig, cli_shift_start, 2, &rehearsal,
						      WORDS("zone", "shift", "zb"));
	assert_int_equal(dry.exit, EXIT_DIFFERENCES);
	assert_contains(dry.out, "shop           192.0.2.1 192.0.2.2  192.0.2.1 ");
	assert_int_equal(count_shifts(&rig), 0);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_shift_start, 2, &o,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "Zone zb is out of load balancer shop until 2");
	AUTO_OUTCOME struct outcome twice = cli_rig_run(&rig, cli_shift_start, 2, &o,
							WORDS("zone", "shift", "zb"));
	assert_int_equal(twice.exit, EXIT_CONFLICT);
	AUTO_OUTCOME struct outcome extended = cli_rig_run(&rig, cli_shift_extend, 2, &longer,
							   WORDS("zone", "extend", "zb"));
	assert_int_equal(extended.exit, EXIT_OK);
	assert_contains(extended.out, "Until 2");
	AUTO_REPLY struct answer list = rig_get(&rig, "/api/v1/zone-shifts");
	assert_string_equal(answer_text_at(&list, "items.0.comment"), "slow parcel");

	/* By its id, or by its zone; another load balancer's is not meant. */
	plain.all = true;
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_shift_return, 2, &plain,
						       WORDS("zone", "return", "zb"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	AUTO_OUTCOME struct outcome back = cli_rig_run(
		&rig, cli_shift_return, 2, &plain,
		WORDS("zone", "return", answer_text_at(&list, "items.0.id")));
	assert_int_equal(back.exit, EXIT_OK);
	assert_contains(back.out, "Returned zone zb, load balancer shop (");
	assert_int_equal(count_shifts(&rig), 0);
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_shift_start, 2, &json,
						      WORDS("zone", "shift", "zb"));
	assert_string_equal(json_string_value(json_object_get(raw.json, "comment")), "new switch");
	rig_end(&rig);
}

/* What ends it and what moves its end can be tried first: nothing is changed by that. */
static void shift_changes_are_rehearsed(void **state)
{
	struct cli_options o = {OPTIONS}, end = {.dry_run = true},
			   longer = {.expires = "3h", .comment = "slow parcel", .dry_run = true};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_shift_start, 2, &o,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome dry = cli_rig_run(&rig, cli_shift_return, 2, &end,
						      WORDS("zone", "return", "zb"));
	assert_int_equal(dry.exit, EXIT_DIFFERENCES);
	assert_contains(dry.out, "Would return zone zb, load balancer shop (");
	assert_contains(
		dry.out,
		"): DNS hands it out again when its VIP has passed its check\nLOAD BALANCER ");
	assert_int_equal(count_shifts(&rig), 1);
	AUTO_OUTCOME struct outcome later = cli_rig_run(&rig, cli_shift_extend, 2, &longer,
							WORDS("zone", "extend", "zb"));
	assert_int_equal(later.exit, EXIT_DIFFERENCES);
	assert_contains(later.out, "Would extend zone zb, load balancer shop (");
	assert_contains(later.out, "): until 2");
	AUTO_REPLY struct answer list = rig_get(&rig, "/api/v1/zone-shifts");
	assert_string_equal(answer_text_at(&list, "items.0.comment"), "new switch");

	/* It is there, but not of those that are named. */
	struct cli_options all = {.all = true};
	AUTO_OUTCOME struct outcome other = cli_rig_run(&rig, cli_shift_return, 2, &all,
							WORDS("zone", "return", "zb"));
	assert_int_equal(other.exit, EXIT_NOT_FOUND);
	assert_contains(other.err, "zonegate: zone zb is shifted, but not of all load balancers: "
				   "that shift is of load balancer shop (");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_shift_return, 2, &all,
						       WORDS("zone", "return", "za"));
	assert_string_equal(none.err, "zonegate: there is no shift of zone or id \"za\"\n");
	rig_end(&rig);
}

static void shift_that_is_refused(void **state)
{
	struct cli_options o = {OPTIONS}, rehearsal = {OPTIONS, .dry_run = true},
			   forced = {OPTIONS, .force = true},
			   forgot = {.lb = "shop", .expires = "2h"}, both = {OPTIONS, .all = true};
	struct rig rig = {.vip_down = "192.0.2.1"};

	(void)state;
	start(&rig);
	AUTO_OUTCOME struct outcome dry = cli_rig_run(&rig, cli_shift_start, 2, &rehearsal,
						      WORDS("zone", "shift", "zb"));
	assert_int_equal(dry.exit, EXIT_CONFLICT);
	assert_contains(dry.err, "is refused without --force");
	assert_contains(dry.out, "192.0.2.2       192.0.2.1 "); /* and what it would do */
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_shift_start, 2, &o,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_CONFLICT);
	AUTO_OUTCOME struct outcome usage = cli_rig_run(&rig, cli_shift_start, 2, &forgot,
							WORDS("zone", "shift", "zb"));
	assert_int_equal(usage.exit, EXIT_USAGE);
	assert_string_equal(usage.err, "zonegate: --comment TEXT is missing: why\n");
	AUTO_OUTCOME struct outcome twofold = cli_rig_run(&rig, cli_shift_start, 2, &both,
							  WORDS("zone", "shift", "zb"));
	assert_int_equal(twofold.exit, EXIT_USAGE);
	assert_string_equal(twofold.err, "zonegate: --lb LB and --all are both given: give one\n");
	AUTO_OUTCOME struct outcome bare = cli_rig_run(
		&rig, cli_shift_start, 2, &(struct cli_options){0}, WORDS("zone", "shift", "zb"));
	assert_int_equal(bare.exit, EXIT_USAGE);
	assert_string_equal(bare.err,
			    "zonegate: --lb LB or --all is missing: of which load balancers\n"
			    "zonegate: --for TIME is missing: 90s, 30m, 2h or 3d\n"
			    "zonegate: --comment TEXT is missing: why\n");
	assert_int_equal(count_shifts(&rig), 0);
	AUTO_OUTCOME struct outcome f = cli_rig_run(&rig, cli_shift_start, 2, &forced,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(f.exit, EXIT_OK);
	assert_int_equal(count_shifts(&rig), 1);
	rig_end(&rig);
}

/* ---- two nodes -------------------------------------------------------------------------------- */

struct pair {
	struct rig first, second;
	char urls[2][64];
	struct cli_options options;
};

static void pair_start(struct pair *p)
{
	start(&p->first);
	start(&p->second);
	snprintf(p->urls[0], sizeof(p->urls[0]), "http://127.0.0.1:%u", p->first.port);
	snprintf(p->urls[1], sizeof(p->urls[1]), "http://127.0.0.1:%u", p->second.port);
	p->options = (struct cli_options){
		OPTIONS,
		.server = p->urls[1],
		.servers = {p->urls[0], p->urls[1]},
		.server_count = 2,
		.token_file = p->first.token_file,
		.token_files = {p->first.token_file, p->second.token_file},
		.token_count = 2};
}

static void pair_end(struct pair *p)
{
	rig_end(&p->first);
	rig_end(&p->second);
}

static void shift_at_all_nodes(void **state)
{
	struct pair p = {.first = {.folder = ""}};

	(void)state;
	pair_start(&p);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&p.first, cli_shift_start, 2, &p.options,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, p.urls[0]);
	assert_contains(a.out, p.urls[1]);
	assert_int_equal(count_shifts(&p.first), 1);
	assert_int_equal(count_shifts(&p.second), 1);
	AUTO_OUTCOME struct outcome longer = cli_rig_run(&p.first, cli_shift_extend, 2, &p.options,
							 WORDS("zone", "extend", "zb"));
	assert_int_equal(longer.exit, EXIT_OK);
	assert_contains(longer.out, p.urls[1]);
	AUTO_OUTCOME struct outcome back = cli_rig_run(&p.first, cli_shift_return, 2, &p.options,
						       WORDS("zone", "return", "zb"));
	assert_int_equal(back.exit, EXIT_OK);
	assert_int_equal(count_shifts(&p.first) + count_shifts(&p.second), 0);
	pair_end(&p);
}

/* What one node refuses beforehand begins nowhere. */
static void shift_is_rehearsed_first(void **state)
{
	struct pair p = {.second = {.vip_down = "192.0.2.1"}};

	(void)state;
	pair_start(&p);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&p.first, cli_shift_start, 2, &p.options,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_CONFLICT);
	assert_contains(a.err, p.urls[1]);
	assert_contains(a.err, "nothing was changed at any node");
	assert_int_equal(count_shifts(&p.first) + count_shifts(&p.second), 0);
	pair_end(&p);
}

/* What one node cannot keep ends where it had begun. */
static void shift_is_undone_where_it_had_begun(void **state)
{
	struct pair p = {.second = {.fail_commits = false}};

	(void)state;
	pair_start(&p);
	p.second.fail_commits = true;
	AUTO_OUTCOME struct outcome a = cli_rig_run(&p.first, cli_shift_start, 2, &p.options,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_NEGATIVE);
	assert_contains(a.err, "ended again at http://127.0.0.1:");
	assert_contains(a.err, "shifted at none of the nodes");
	assert_int_equal(count_shifts(&p.first) + count_shifts(&p.second), 0);

	/* An expiry that one node cannot keep is the old one at the other, too. */
	p.second.fail_commits = false;
	AUTO_OUTCOME struct outcome both = cli_rig_run(&p.first, cli_shift_start, 2, &p.options,
						       WORDS("zone", "shift", "zb"));
	assert_int_equal(both.exit, EXIT_OK);
	AUTO_REPLY struct answer before = rig_get(&p.first, "/api/v1/zone-shifts");
	p.second.fail_commits = true;
	p.options.expires = "9h";
	AUTO_OUTCOME struct outcome longer = cli_rig_run(&p.first, cli_shift_extend, 2, &p.options,
							 WORDS("zone", "extend", "zb"));
	assert_int_equal(longer.exit, EXIT_NEGATIVE);
	AUTO_REPLY struct answer after = rig_get(&p.first, "/api/v1/zone-shifts");
	usec_t was, is;
	assert_int_equal(time_parse_wall(answer_text_at(&before, "items.0.expires_at"), &was), 0);
	assert_int_equal(time_parse_wall(answer_text_at(&after, "items.0.expires_at"), &is), 0);
	assert_true(is >= was && is <= was + 2 * USEC_PER_SEC);

	/* A node that cannot end it does not keep the other. */
	AUTO_OUTCOME struct outcome back = cli_rig_run(&p.first, cli_shift_return, 2, &p.options,
						       WORDS("zone", "return", "zb"));
	assert_int_equal(back.exit, EXIT_NEGATIVE);
	assert_contains(back.err, "zone zb is STILL SHIFTED at http://127.0.0.1:");
	assert_int_equal(count_shifts(&p.first), 0);
	assert_int_equal(count_shifts(&p.second), 1);
	pair_end(&p);
}

/* A node that is not there: nothing begins. */
static void shift_needs_every_node(void **state)
{
	struct pair p = {.first = {.folder = ""}};

	(void)state;
	pair_start(&p);
	p.options.servers[1] = "http://127.0.0.1:1";
	AUTO_OUTCOME struct outcome a = cli_rig_run(&p.first, cli_shift_start, 2, &p.options,
						    WORDS("zone", "shift", "zb"));
	assert_int_equal(a.exit, EXIT_UNREACHABLE);
	assert_contains(a.err, "zonegate: no answer from http://127.0.0.1:1: ");
	assert_null(strstr(a.err, "http://127.0.0.1:1: zonegate:")); /* not again */
	assert_int_equal(count_shifts(&p.first), 0);
	AUTO_OUTCOME struct outcome back = cli_rig_run(&p.first, cli_shift_return, 2, &p.options,
						       WORDS("zone", "return", "zb"));
	assert_int_equal(back.exit, EXIT_UNREACHABLE);
	pair_end(&p);
}

/* The same node twice: a shift would begin there, be refused by itself and end again. Nothing is sent. */
static void a_node_that_is_given_twice_is_refused(void **state)
{
	static const struct {
		enum cli_exit (*command)(struct cli *cli);
		const char *verb;
	} commands[] = {{cli_shift_start, "shift"},
			{cli_shift_extend, "extend"},
			{cli_shift_return, "return"}};
	struct pair p = {.first = {.folder = ""}};
	char other[80];

	(void)state;
	pair_start(&p);
	p.options.token_files[1] = p.first.token_file;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(other, sizeof(other), "%s/", p.urls[0]);
		p.options.servers[1] = other;
		AUTO_OUTCOME struct outcome same = cli_rig_run(
			&p.first, commands[i].command, 2, &p.options,
			WORDS("zone", commands[i].verb, "zb"));
		assert_int_equal(same.exit, EXIT_USAGE);
		assert_contains(same.err, "/ and http://127.0.0.1:");
		assert_contains(same.err, " are one address: give each node once\n");
		/* By two names. */
		snprintf(other, sizeof(other), "http://localhost:%u", p.first.port);
		AUTO_OUTCOME struct outcome named = cli_rig_run(
			&p.first, commands[i].command, 2, &p.options,
			WORDS("zone", commands[i].verb, "zb"));
		assert_int_equal(named.exit, EXIT_USAGE);
		assert_contains(named.err,
				" are the same daemon (node rig): give each node once\n");
		assert_string_equal(named.out, "");
	}
	AUTO_REPLY struct answer events = rig_get(&p.first, "/api/v1/zone-shifts");
	assert_int_equal(json_array_size(answer_at(&events, "items")), 0);
	pair_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shift_of_what_is_not_in_dns),
		cmocka_unit_test(the_node_is_not_there),
		cmocka_unit_test(shift_at_one_node),
		cmocka_unit_test(shift_changes_are_rehearsed),
		cmocka_unit_test(shift_that_is_refused),
		cmocka_unit_test(shift_at_all_nodes),
		cmocka_unit_test(shift_is_rehearsed_first),
		cmocka_unit_test(shift_is_undone_where_it_had_begun),
		cmocka_unit_test(shift_needs_every_node),
		cmocka_unit_test(a_node_that_is_given_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
