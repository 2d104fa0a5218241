// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of others, as iptables-save prints them.
#include "base/buf.h"
#include "base/time.h"
#include "doctor_fixture.h"

#include <time.h>

#define MANY        40000 /* rules, as Kubernetes makes them */
#define DROP(rules) "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n" rules "COMMIT\n"
#define DROPS       "forward_policy_drop"

#define MANGLE(rules)                                                                         \
	"*mangle\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n" \
	":ZONEGATE - [0:0]\n:ZONEGATE-MARKS - [0:0]\n-A PREROUTING -j ZONEGATE-MARKS\n"       \
	"-A POSTROUTING -j ZONEGATE\n" rules "COMMIT\n"
#define MINDED "mark_taken"
#define RANGE \
	"{'load_balancers':{'shop':{'listeners':{'http':{'port':null,'port_range':[80,90]}}}}}"
#define LATER "printf '[kernel]\\nmarks = 0x%x/0xfffff000\\n' >/etc/zonegate/conf.d/marks.conf && "

/* The range of the document has the mark 0x5a000003. */
static void open_range(struct host *h)
{
	struct mark m = {.lb = (char[]){"shop"},
			 .zone = (char[]){"za"},
			 .listener = (char[]){"http"},
			 .mark = 0x5a000003};
	struct vec list = {0};

	host_open(h, RANGE);
	h->node.marks = (struct mark_space)MARKS_DEFAULT;
	vec_push(&list, marks_copy_mark(&m));
	snapshot_set_marks((struct snapshot *)(uintptr_t)h->node.snapshot, marks_new(&list));
}

static bool tells(struct host *h, const char *text)
{
	AUTO_FREE char *found = host_judge(h);

	return strstr(found, text) != NULL;
}

/* ---- marks ---- */

static void rules_that_mind_a_mark_are_told(void **state)
{
	static const struct {
		const char *rule;
		bool told;
	} all[] = {
		{"-A POSTROUTING -m mark --mark 0x5a000003 -j MASQUERADE", true},
		{"-A POSTROUTING -m mark --mark 0x2/0x2 -j ACCEPT", true},
		{"-A POSTROUTING -m mark --mark 0x5a000000/0xff000000 -j ACCEPT", true},
		{"-A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE", false},
		{"-A POSTROUTING -m mark --mark 0x4/0x4 -j ACCEPT", false},
		{"-A POSTROUTING -m mark ! --mark 0x2/0x2 -j RETURN", false},
		{"-A POSTROUTING -m mark --mark 0x0/0x2 -j RETURN", false},
		{"-A PREROUTING -m mark --mark 0x5a000003 -j ACCEPT", false},
		{"-A POSTROUTING -m connmark --mark 0x5a000003 -j ACCEPT", false},
		{"-A PREROUTING -p tcp -j MARK --set-xmark 0x5a000003/0xffffffff", true},
		{"-A PREROUTING -p tcp -j MARK --set-xmark 0x5a000007/0xffffffff", true},
		{"-A PREROUTING -p tcp -j CONNMARK --set-xmark 0x5a000003/0xffffffff", true},
		{"-A PREROUTING -p tcp -j MARK --set-xmark 0x2/0x2", false},
		{"-A PREROUTING -p tcp -j MARK --set-xmark 0x5b000003/0xffffffff", false},
		{"-A ZONEGATE -m mark --mark 0x5a000000/0xfffff000 -j RETURN", false},
		{"-A ZONEGATE-MARKS -p tcp -j MARK --set-xmark 0x5a000003/0xffffffff", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		AUTO_FREE char *text = mem_printf(MANGLE("%s\n"), all[i].rule);
		struct host h;

		open_range(&h);
		add_rules(&h, "iptables-legacy", text);
		if (tells(&h, MINDED) != all[i].told)
			fail_msg("%s", all[i].rule);
		host_close(&h);
	}
}

/* A chain counts where built-in ones lead to it, whatever its name is. */
static void rules_count_where_packets_get_to_them(void **state)
{
	static const struct {
		const char *rules;
		bool told;
	} all[] = {
		{"-A PREROUTING -j THEIRS\n-A THEIRS -m mark --mark 0x5a000003 -j ACCEPT\n", false},
		{"-A PREROUTING -j THEIRS\n-A THEIRS -j DEEP\n-A DEEP -m mark --mark 0x2/0x2 -j ACCEPT\n",
		 false},
		{"-A POSTROUTING -j THEIRS\n-A THEIRS -j DEEP\n-A DEEP -m mark --mark 0x2/0x2 -j ACCEPT\n",
		 true},
		{"-A PREROUTING -g THEIRS\n-A INPUT -g THEIRS\n-A THEIRS -m mark --mark 0x2/0x2 -j DROP\n",
		 true},
		{"-A THEIRS -m mark --mark 0x5a000003 -j ACCEPT\n", false},
		{"-A THEIRS -j DEEP\n-A DEEP -j THEIRS\n-A DEEP -j MARK --set-xmark 0x5a000003/0xffffffff\n",
		 false},
		{"-A PREROUTING -j THEIRS\n-A THEIRS -j MARK --set-xmark 0x5a000003/0xffffffff\n",
		 true},
		{"-A POSTROUTING -j MARK --set-xmark 0x5a000003/0xffffffff\n", false},
		{"-A POSTROUTING -j CONNMARK --set-xmark 0x5a000003/0xffffffff\n", true},
		{"-A POSTROUTING -m comment --comment \"not -m mark --mark 0x2/0x2\" -j ACCEPT\n",
		 false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		AUTO_FREE char *text = mem_printf(MANGLE(":THEIRS - [0:0]\n:DEEP - [0:0]\n%s"),
						  all[i].rules);
		struct host h;

		open_range(&h);
		add_rules(&h, "iptables-legacy", text);
		if (tells(&h, MINDED) != all[i].told)
			fail_msg("%s", all[i].rules);
		host_close(&h);
	}
}

static void routing_that_minds_a_mark_is_told(void **state)
{
	struct host h;

	(void)state;
	open_range(&h);
	assert_false(tells(&h, MINDED));
	h.node.mark_uses[h.node.mark_use_count++] = (struct mark_space){0x4, 0x4};
	h.node.mark_uses[h.node.mark_use_count++] = (struct mark_space){0, 0x3};
	assert_false(tells(&h, MINDED));
	h.node.mark_uses[h.node.mark_use_count++] = (struct mark_space){0x5a000003, UINT32_MAX};
	assert_true(tells(&h, "warning mark_taken /load_balancers/shop/listeners/http: "));
	host_close(&h);
}

/* What it proposes is free of what is known to be minded. */
static void the_mend_is_free(void **state)
{
	struct host h;

	(void)state;
	open_range(&h);
	h.node.mark_uses[h.node.mark_use_count++] = (struct mark_space){0x5a000000, 0xfe000000};
	AUTO_FREE char *expected = mem_printf(
		"mark_taken /load_balancers/shop/listeners/http: " LATER, 0x5c000000);
	AUTO_FREE char *found = host_judge(&h);
	if (!strstr(found, expected))
		fail_msg("expected:\n%s\nfound:\n%s", expected, found);
	host_close(&h);
}

/* Where others mind bits that count ours, no other value helps: these bits have to be fixed, too. */
static void bits_that_count_are_fixed(void **state)
{
	static const struct {
		const char *rule, *mend;
	} all[] = {
		{"--mark 0x2/0x2", "marks = 0x5a001000/0xfffff002\\n"},
		{"--mark 0x3/0xff", "marks = 0x5a000001/0xfffff0ff\\n"},
		{"--mark 0x3/0xfff", "iptables-legacy-save  # and give it another mark"},
		{"--mark 0x5a000003", "marks = 0x5a001000/0xfffff000\\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		AUTO_FREE char *text = mem_printf(MANGLE("-A POSTROUTING -m mark %s -j ACCEPT\n"),
						  all[i].rule);
		struct host h;

		open_range(&h);
		add_rules(&h, "iptables-legacy", text);
		if (!tells(&h, all[i].mend))
			fail_msg("%s: not %s", all[i].rule, all[i].mend);
		host_close(&h);
	}
}

/* A remark in a rule may hold any bytes, and is cut: what is told is UTF-8 all the same, or the API would lose the finding. */
static void what_is_told_is_utf8(void **state)
{
	static const char *const remarks[] = {
		"caf\xe9 \xff",
		"...............................................................................äöü",
		"................................................................................äöü",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++) {
		AUTO_FREE char *text = mem_printf(
			MANGLE("-A POSTROUTING -m mark --mark 0x5a000003 -m comment --comment \"%s\" -j ACCEPT\n"),
			remarks[i]);
		struct doctor_report r;
		struct host h;
		bool told = false;

		open_range(&h);
		strcpy(h.facts.links[2].name, "back\xff");
		add_rules(&h, "iptables-legacy", text);
		doctor_judge(&h.node, &h.facts, &r);
		for (size_t j = 0; j < r.findings.count; j++) {
			const struct doctor_finding *f = r.findings.items[j];
			json_t *what = json_string(f->what), *mend = json_string(f->mend);

			assert_non_null(what);
			assert_non_null(mend);
			json_decref(what);
			json_decref(mend);
			told = told || strcmp(f->code, MINDED) == 0;
		}
		assert_true(told);
		doctor_report_clear(&r);
		host_close(&h);
	}
}

static void without_a_range_nobody_minds(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	h.node.marks = (struct mark_space)MARKS_DEFAULT;
	add_rules(&h, "iptables-legacy",
		  MANGLE("-A PREROUTING -j MARK --set-xmark 0x5a000003/0xffffffff\n"));
	h.node.mark_uses[h.node.mark_use_count++] = (struct mark_space){0x5a000003, UINT32_MAX};
	assert_false(tells(&h, MINDED));
	host_close(&h);
}

static usec_t processor_time(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (usec_t)t.tv_sec * USEC_PER_SEC + (usec_t)(t.tv_nsec / 1000);
}

/* Rules that name no mark are passed over in one walk, however many they are, and so are those that accept for each of many servers. */
static void many_rules_take_no_time(void **state)
{
	AUTO_BUF struct buf_writer rules = {0}, servers = {0};
	const usec_t start = processor_time();
	struct host h;

	(void)state;
	buf_writer_init(&rules, (size_t)MANY * 80);
	buf_writer_init(&servers, (size_t)MANY * 80);
	for (unsigned i = 0; i < MANY; i++)
		buf_write_format(&rules, "-A FORWARD -s 10.1.%u.%u/32 -j ACCEPT\n", i / 250,
				 i % 250 + 1);
	for (unsigned i = 0; i < 1000; i++)
		buf_write_format(&servers, "%s'x%u':{'address':'10.2.%u.%u','port':80,'zone':'za'}",
				 i ? "," : "", i, i / 250, i % 250 + 1);
	AUTO_FREE char *text = mem_printf(DROP("%s"), buf_text(&rules));
	AUTO_FREE char *patch = mem_printf("{'server_groups':{'web':{'servers':{%s}}}}",
					   buf_text(&servers));
	open_range(&h);
	add_rules(&h, "iptables-legacy", text);
	assert_false(tells(&h, MINDED));
	assert_true(tells(&h, DROPS));
	host_close(&h);
	host_open(&h, patch);
	add_rules(&h, "iptables-legacy", text);
	assert_true(tells(&h, DROPS));
	host_close(&h);
	assert_true(processor_time() - start < 20 * USEC_PER_SEC);
}

static void what_was_not_told_is_said(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	h.facts.rules_error = -EPROTO;
	strcpy(h.facts.rules_program, "iptables-nft-save");
	assert_true(tells(&h, "info rules_unseen iptables-nft-save: iptables-nft-save\n"));
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_that_mind_a_mark_are_told),
		cmocka_unit_test(rules_count_where_packets_get_to_them),
		cmocka_unit_test(routing_that_minds_a_mark_is_told),
		cmocka_unit_test(the_mend_is_free),
		cmocka_unit_test(without_a_range_nobody_minds),
		cmocka_unit_test(bits_that_count_are_fixed),
		cmocka_unit_test(what_is_told_is_utf8),
		cmocka_unit_test(many_rules_take_no_time),
		cmocka_unit_test(what_was_not_told_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
