// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void override_list_shows_shifts(void **state)
{
	struct cli_options o = {0}, json = {.format = FORMAT_JSON};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_override_list, 2, &o,
						       WORDS("override", "list"));
	assert_int_equal(none.exit, EXIT_OK);
	assert_string_equal(none.out, "Everything is as configured.\n");
	AUTO_REPLY struct answer a = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"*\",\"expires_in\":\"2h\",\"comment\":\"new "
		"switch\",\"force\":true,\"evacuate_servers\":true}");
	assert_int_equal(a.status, 201);
	AUTO_OUTCOME struct outcome one = cli_rig_run(&rig, cli_override_list, 2, &o,
						      WORDS("override", "list"));
	assert_contains(one.out, "zone shift  ");
	assert_contains(one.out, "zb of all load balancers, servers too  root  20");
	assert_contains(one.out, "new switch (forced)\n");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_override_list, 2, &json,
						      WORDS("override", "list"));
	assert_int_equal(json_array_size(raw.json), 1);
	rig_end(&rig);
}

static void put(const struct rig *rig, const char *path, const char *body)
{
	AUTO_REPLY struct answer a = rig_ask(rig, "PUT", path, "", body);

	if (a.status != 201)
		fail_msg("%s: %s", path, a.text);
}

static void override_list_shows_the_others(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	put(&rig, "/api/v1/server-groups/web/servers/w1/drain", "{\"comment\":\"disk\"}");
	put(&rig, "/api/v1/server-groups/web/servers/w2/weight-override",
	    "{\"weight\":7,\"comment\":\"slow\"}");
	put(&rig, "/api/v1/load-balancers/shop/drain", "{\"comment\":\"all\"}");
	AUTO_OUTCOME struct outcome list = cli_rig_run(&rig, cli_override_list, 2, &o,
						       WORDS("override", "list"));
	assert_contains(list.out, "drain   ");
	assert_contains(list.out, "web/w1, ");
	assert_contains(list.out, " connections ");
	assert_contains(list.out, "  root  20");
	assert_contains(list.out, "  disk\n");
	assert_contains(list.out, "weight  ");
	assert_contains(list.out, "web/w2, weight 7 instead of ");
	assert_contains(list.out, "  root  reset ");
	assert_contains(list.out, "shop, ");
	rig_end(&rig);
}

/* That a group has no weight left is told where one override is asked for: a list would look at groups once for each. */
static void override_tells_of_a_group_without_weight(void **state)
{
	static const char path[] = "/api/v1/server-groups/web/servers/w2/weight-override";
	static const char none[] = "; no server in service of its group has a weight above 0";
	static const char zero[] = "{\"weight\":0,\"comment\":\"disk\"}";
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	put(&rig, path, zero);
	AUTO_REPLY struct answer one = rig_ask(&rig, "GET", path, "", NULL);
	assert_null(strstr(one.text, none));
	put(&rig, "/api/v1/server-groups/web/servers/w1/weight-override", zero);
	AUTO_REPLY struct answer both = rig_ask(&rig, "GET", path, "", NULL);
	assert_contains(both.text, none);
	AUTO_REPLY struct answer list = rig_ask(&rig, "GET", "/api/v1/overrides", "", NULL);
	assert_contains(list.text, "weight 0 instead of the configured ");
	assert_null(strstr(list.text, none));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(override_list_shows_shifts),
		cmocka_unit_test(override_list_shows_the_others),
		cmocka_unit_test(override_tells_of_a_group_without_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
