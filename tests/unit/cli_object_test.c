// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void object_is_set_and_deleted(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome would = cli_rig_run(
		&rig, cli_object_set, 2, &dry, WORDS("server", "set", "web/w1", "weight=7"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	assert_contains(would.out, "~ /server_groups/web/servers/w1\n    weight: 100 -> 7\n");
	AUTO_OUTCOME struct outcome set = cli_rig_run(&rig, cli_object_set, 2, &o,
						      WORDS("server", "set", "web/w1", "weight=7"));
	assert_int_equal(set.exit, EXIT_OK);
	assert_string_equal(set.out, "Set web/w1\n");
	AUTO_OUTCOME struct outcome show = cli_rig_run(&rig, cli_object_show, 2, &o,
						       WORDS("server", "show", "web/w1"));
	assert_int_equal(json_integer_value(json_object_get(show.json, "weight")), 7);

	AUTO_OUTCOME struct outcome make = cli_rig_run(&rig, cli_object_set, 2, &o,
						       WORDS("listener", "set", "shop/alt",
							     "protocol=tcp", "port=81",
							     "server_group=web"));
	assert_int_equal(make.exit, EXIT_OK);
	assert_string_equal(make.out, "Created shop/alt\n");
	AUTO_OUTCOME struct outcome bad = cli_rig_run(&rig, cli_object_set, 2, &o,
						      WORDS("group", "set", "web", "a=1", "b=2"));
	assert_int_equal(bad.exit, EXIT_INVALID);
	assert_contains(bad.err, "  /a: ");
	assert_contains(bad.err, "  /b: ");
	AUTO_OUTCOME struct outcome used = cli_rig_run(&rig, cli_object_delete, 2, &o,
						       WORDS("group", "delete", "web"));
	assert_int_equal(used.exit, EXIT_CONFLICT);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(&rig, cli_object_delete, 2, &o,
						       WORDS("listener", "delete", "shop/alt"));
	assert_int_equal(gone.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome twice = cli_rig_run(&rig, cli_object_delete, 2, &o,
							WORDS("listener", "delete", "shop/alt"));
	assert_int_equal(twice.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

/* As zonegate.1 has it: an object is merged, null brings back the default of a member, and that of all of health_check. */
static void null_brings_back_defaults(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome fresh = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("group", "set", "fresh", "protocol=tcp", "forward_method=nat"));
	AUTO_OUTCOME struct outcome given = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("group", "set", "fresh",
		      "health_check={\"type\":\"http\",\"path\":\"/up\",\"interval_ms\":7000,"
		      "\"timeout_ms\":900,\"healthy_threshold\":9,\"enabled\":false}"));
	AUTO_OUTCOME struct outcome one = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("group", "set", "fresh", "health_check={\"interval_ms\":null}"));
	AUTO_OUTCOME struct outcome merged = cli_rig_run(&rig, cli_object_show, 2, &o,
							 WORDS("group", "show", "fresh"));
	AUTO_OUTCOME struct outcome all = cli_rig_run(
		&rig, cli_object_set, 2, &o, WORDS("group", "set", "fresh", "health_check=null"));
	AUTO_OUTCOME struct outcome shown = cli_rig_run(&rig, cli_object_show, 2, &o,
							WORDS("group", "show", "fresh"));
	AUTO_OUTCOME struct outcome other = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("group", "set", "plain", "protocol=tcp", "forward_method=nat"));
	AUTO_OUTCOME struct outcome plain = cli_rig_run(&rig, cli_object_show, 2, &o,
							WORDS("group", "show", "plain"));
	const json_t *check = json_object_get(merged.json, "health_check");

	assert_int_equal(fresh.exit + given.exit + one.exit + all.exit + other.exit, EXIT_OK);
	assert_int_equal(json_integer_value(json_object_get(check, "healthy_threshold")), 9);
	assert_int_equal(json_integer_value(json_object_get(check, "timeout_ms")), 900);
	assert_int_not_equal(json_integer_value(json_object_get(check, "interval_ms")), 7000);
	assert_false(json_equal(check, json_object_get(plain.json, "health_check")));
	assert_true(json_equal(json_object_get(shown.json, "health_check"),
			       json_object_get(plain.json, "health_check")));
	rig_end(&rig);
}

static void lists_are_set_shown_and_deleted(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_object_list_lists, 2, &o,
						       WORDS("access", "list"));
	assert_contains(none.out, "No access lists yet: ");
	AUTO_OUTCOME struct outcome set = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("access", "set", "office", "default_action=deny", "description=Us",
		      "entries=[{\"cidr\":\"10.0.0.0/8\",\"action\":\"allow\"}]"));
	assert_string_equal(set.out, "Created office\n");
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_object_list_lists, 2, &o,
						       WORDS("access", "list"));
	assert_contains(list.out, "office             1  deny     Us");
	AUTO_OUTCOME struct outcome used = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("listener", "set", "shop/http", "access_list=office"));
	assert_int_equal(used.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome kept = cli_rig_run(&rig, cli_object_delete, 2, &o,
						       WORDS("access", "delete", "office"));
	assert_int_equal(kept.exit, EXIT_CONFLICT);
	assert_contains(kept.err, "is used by load_balancers/shop/listeners/http");
	AUTO_OUTCOME struct outcome free_again = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("listener", "set", "shop/http", "access_list=null"));
	assert_int_equal(free_again.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome gone = cli_rig_run(&rig, cli_object_delete, 2, &o,
						       WORDS("access", "delete", "office"));
	assert_string_equal(gone.out, "Removed office\n");
	rig_end(&rig);
}

/* What the write would be advised of is told before it, and only what is not so already. */
static void rehearsal_tells_the_advice(void **state)
{
	static const char advice[] = "and server group web has no IPv6 server for it";
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome before = cli_rig_run(
		&rig, cli_object_set, 2, &dry,
		WORDS("lb-zone", "set", "shop/za", "vip6=2001:db8::10"));
	assert_int_equal(before.exit, EXIT_DIFFERENCES);
	assert_contains(before.err,
			"zonegate: advice: /load_balancers/shop/listeners/http/server_group: ");
	assert_contains(before.err, advice);
	AUTO_OUTCOME struct outcome set = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("lb-zone", "set", "shop/za", "vip6=2001:db8::10"));
	assert_contains(set.err, advice);
	AUTO_OUTCOME struct outcome again = cli_rig_run(
		&rig, cli_object_set, 2, &dry,
		WORDS("lb-zone", "set", "shop/za", "publish4=198.51.100.1"));
	assert_int_equal(again.exit, EXIT_DIFFERENCES);
	assert_null(strstr(again.err, advice));
	rig_end(&rig);
}

/* The other zone is shifted away: taking out this one leaves the name without an address, before and after it is done. */
static void object_that_leaves_a_name_without_address_warns(void **state)
{
	static const char warning[] =
		"zonegate: warning: /load_balancers/shop/zones: DNS would answer shop.example.net A with "
		"no address: its other zones are shifted away or disabled\n";
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {.judge_vips = true};

	(void)state;
	cli_rig_begin(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer shift = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"*\",\"expires_in\":\"2h\",\"comment\":\"why\"}");
	assert_int_equal(shift.status, 201);
	AUTO_OUTCOME struct outcome fine = cli_rig_run(
		&rig, cli_object_set, 2, &dry, WORDS("lb-zone", "set", "shop/zb", "enabled=false"));
	assert_null(strstr(fine.err, "no address"));
	AUTO_OUTCOME struct outcome would = cli_rig_run(
		&rig, cli_object_set, 2, &dry, WORDS("lb-zone", "set", "shop/za", "enabled=false"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	assert_string_equal(would.err, warning);
	AUTO_OUTCOME struct outcome remove = cli_rig_run(&rig, cli_object_delete, 2, &dry,
							 WORDS("lb-zone", "delete", "shop/za"));
	assert_contains(remove.err, warning);
	/* That of a whole load balancer is meant. */
	AUTO_OUTCOME struct outcome whole = cli_rig_run(
		&rig, cli_object_set, 2, &dry, WORDS("lb", "set", "shop", "enabled=false"));
	assert_null(strstr(whole.err, "no address"));
	AUTO_OUTCOME struct outcome set = cli_rig_run(
		&rig, cli_object_set, 2, &o, WORDS("lb-zone", "set", "shop/za", "enabled=false"));
	assert_int_equal(set.exit, EXIT_OK);
	assert_contains(
		set.err,
		"zonegate: advice: /load_balancers/shop/zones: DNS answers shop.example.net with no "
		"address: zone za is disabled, zone zb is shifted away (zone return zb)\n");
	AUTO_OUTCOME struct outcome off = cli_rig_run(&rig, cli_object_set, 2, &o,
						      WORDS("lb", "set", "shop", "enabled=false"));
	AUTO_OUTCOME struct outcome status = cli_rig_run(&rig, cli_lb_status, 2, &o,
							 WORDS("lb", "status", "shop"));
	assert_int_equal(off.exit, EXIT_OK);
	assert_null(strstr(status.out, "with no address"));
	rig_end(&rig);
}

/* A slip in the name of a scheduler: a dry run tells, and a write tells it once, although each zone has a service of it. */
static void unknown_scheduler_is_told(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {0};
	const char *first;

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome would = cli_rig_run(
		&rig, cli_object_set, 2, &dry,
		WORDS("listener", "set", "shop/http", "scheduler=wrrr"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	assert_string_equal(would.err,
			    "zonegate: it would be stored, and not be in force: "
			    "/load_balancers/shop/listeners/http/scheduler: Linux itself has no "
			    "scheduler \"wrrr\"; did you mean \"wrr\"?\n");
	AUTO_OUTCOME struct outcome fine = cli_rig_run(
		&rig, cli_object_set, 2, &dry,
		WORDS("listener", "set", "shop/http", "scheduler=rr"));
	assert_string_equal(fine.err, "");
	rig.refuse_ops = true;
	AUTO_OUTCOME struct outcome set = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("listener", "set", "shop/http", "scheduler=wrrr"));
	assert_int_equal(set.exit, EXIT_NEGATIVE);
	first = strstr(set.err, "stored, but not in force");
	assert_non_null(first);
	assert_null(strstr(first + 1, "stored, but not in force"));
	AUTO_OUTCOME struct outcome why = cli_rig_run(&rig, cli_server_why, 2, &o,
						      WORDS("server", "why", "web/w1"));
	assert_contains(why.out, ": 100 wanted, and not in force; ");
	rig_end(&rig);
}

/* Whatever is written, what there is to think about is said; on standard error, so that output stays what it is. */
static void object_writes_bring_advice(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_OUTCOME struct outcome group = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("group", "set", "slow", "protocol=tcp", "health_check.interval_ms=50000"));
	assert_int_equal(group.exit, EXIT_OK);
	assert_string_equal(group.out, "Created slow\n");
	assert_contains(group.err, "zonegate: advice: /server_groups/slow/health_check");
	AUTO_OUTCOME struct outcome server = cli_rig_run(
		&rig, cli_object_set, 2, &json,
		WORDS("server", "set", "slow/s1", "address=10.0.0.7", "port=80"));
	assert_int_equal(server.exit, EXIT_OK);
	assert_true(json_is_object(server.json));
	assert_string_equal(server.err, ""); /* all of it was said before */
	AUTO_OUTCOME struct outcome listener = cli_rig_run(&rig, cli_object_set, 2, &o,
							   WORDS("listener", "set", "shop/slow",
								 "protocol=tcp", "port=82",
								 "server_group=slow"));
	assert_int_equal(listener.exit, EXIT_OK);
	assert_string_equal(listener.err, "");
	AUTO_OUTCOME struct outcome rehearsal = cli_rig_run(
		&rig, cli_object_set, 2, &dry, WORDS("group", "set", "slow", "slow_start_ms=1000"));
	assert_string_equal(rehearsal.err, "");
	rig_end(&rig);
}

static void object_arguments_are_judged(void **state)
{
	struct cli_options o = {0}, file = {.file = "/dev/null"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome form = cli_rig_run(&rig, cli_object_show, 2, &o,
						       WORDS("server", "show", "web"));
	assert_int_equal(form.exit, EXIT_USAGE);
	assert_contains(form.err, "GROUP/SERVER");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_object_set, 2, &o,
						       WORDS("zone", "set", "za"));
	assert_int_equal(none.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome both = cli_rig_run(&rig, cli_object_set, 2, &file,
						       WORDS("zone", "set", "za", "a=1"));
	assert_int_equal(both.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome odd = cli_rig_run(&rig, cli_object_set, 2, &o,
						      WORDS("zone", "set", "za", "description"));
	assert_int_equal(odd.exit, EXIT_USAGE);
	AUTO_OUTCOME struct outcome twice = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("server", "set", "web/w1", "weight=4", "weight=5"));
	assert_int_equal(twice.exit, EXIT_USAGE);
	assert_string_equal(twice.err, "zonegate: \"weight=5\": this member was given before\n");
	AUTO_OUTCOME struct outcome told = cli_rig_run(
		&rig, cli_object_set, 2, &o,
		WORDS("server", "set", "web/w1", "status.state=healthy"));
	assert_int_equal(told.exit, EXIT_USAGE);
	assert_contains(told.err, ": status is told by the daemon and cannot be set\n");
	AUTO_OUTCOME struct outcome digits = cli_rig_run(
		&rig, cli_object_set, 2, &o, WORDS("zone", "set", "za", "description=5"));
	assert_int_equal(digits.exit, EXIT_INVALID);
	assert_contains(digits.err, "As a text it is written description='\"5\"'.\n");
	AUTO_OUTCOME struct outcome text = cli_rig_run(
		&rig, cli_object_set, 2, &o, WORDS("zone", "set", "za", "description=\"5\""));
	assert_int_equal(text.exit, EXIT_OK);
	AUTO_OUTCOME struct outcome empty = cli_rig_run(&rig, cli_object_set, 2, &file,
							WORDS("zone", "set", "za"));
	assert_int_equal(empty.exit, EXIT_INVALID);
	rig_end(&rig);
}

static void object_lists(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome no_lbs = cli_rig_run(&rig, cli_object_list_lbs, 2, &o,
							 WORDS("lb", "list"));
	assert_string_equal(no_lbs.out, CLI_NO_LBS "\n");
	AUTO_OUTCOME struct outcome no_groups = cli_rig_run(&rig, cli_object_list_groups, 2, &o,
							    WORDS("group", "list"));
	assert_string_equal(no_groups.out, CLI_NO_GROUPS "\n");
	AUTO_OUTCOME struct outcome no_zones = cli_rig_run(&rig, cli_object_list_zones, 2, &o,
							   WORDS("zone", "list"));
	assert_string_equal(no_zones.out, CLI_NO_ZONES "\n");
	AUTO_OUTCOME struct outcome no_json = cli_rig_run(&rig, cli_object_list_zones, 2, &json,
							  WORDS("zone", "list"));
	assert_string_equal(no_json.out, "[]\n");
	rig_load(&rig);
	AUTO_OUTCOME struct outcome lbs = cli_rig_run(&rig, cli_object_list_lbs, 2, &o,
						      WORDS("lb", "list"));
	assert_contains(lbs.out, "\nshop ");
	assert_contains(lbs.out, "za 192.0.2.1, zb 192.0.2.2\n");
	AUTO_OUTCOME struct outcome groups = cli_rig_run(&rig, cli_object_list_groups, 2, &o,
							 WORDS("group", "list"));
	assert_contains(groups.out, "web           tcp       nat      off          2\n");
	AUTO_OUTCOME struct outcome listeners = cli_rig_run(&rig, cli_object_list_listeners, 2, &o,
							    WORDS("listener", "list", "shop"));
	assert_contains(listeners.out, "http      tcp         80  web           wrr\n");
	AUTO_OUTCOME struct outcome zones = cli_rig_run(&rig, cli_object_list_zones, 2, &json,
							WORDS("zone", "list"));
	assert_int_equal(json_array_size(zones.json), 2);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_object_list_listeners, 2, &o,
						       WORDS("listener", "list", "none"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(object_is_set_and_deleted),
		cmocka_unit_test(null_brings_back_defaults),
		cmocka_unit_test(rehearsal_tells_the_advice),
		cmocka_unit_test(object_that_leaves_a_name_without_address_warns),
		cmocka_unit_test(object_arguments_are_judged),
		cmocka_unit_test(object_lists),
		cmocka_unit_test(lists_are_set_shown_and_deleted),
		cmocka_unit_test(unknown_scheduler_is_told),
		cmocka_unit_test(object_writes_bring_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
