// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_filters.h"

#include "cli_rig.h"

static void sets_and_rules_are_shown(void **state)
{
	struct cli_options o = {0}, foreign = {.foreign = true};
	struct rig rig = {0};
	struct netfilter_set *s;

	(void)state;
	cli_rig_begin(&rig);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
					       "{\"vip_guard\": \"drop\"}");
	assert_int_equal(put.status, 200);
	AUTO_OUTCOME struct outcome ours = cli_rig_run(&rig, cli_kernel_show, 2, &o,
						       WORDS("kernel", "show"));
	assert_contains(ours.out, "zg4-drop");
	assert_contains(ours.out, "guarded VIPs: what is not open is dropped");
	assert_contains(ours.out, "missing");
	assert_contains(ours.out, "filter");
	rig.filters = mem_new(struct netfilter);
	s = netfilter_push(rig.filters);
	strcpy(s->name, "theirs");
	strcpy(s->type, "hash:net");
	s->entries = 1000000;
	s->memory = 52428800;
	AUTO_OUTCOME struct outcome hidden = cli_rig_run(&rig, cli_kernel_show, 2, &o,
							 WORDS("kernel", "show"));
	assert_null(strstr(hidden.out, "theirs"));
	assert_contains(hidden.out, "1 foreign set not shown: --foreign\n");
	rig.filters = mem_new(struct netfilter);
	s = netfilter_push(rig.filters);
	strcpy(s->name, "theirs");
	strcpy(s->type, "hash:net");
	s->entries = 1000000;
	s->memory = 52428800;
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_kernel_show, 2, &foreign,
						      WORDS("kernel", "show"));
	assert_contains(all.out, "theirs ");
	assert_contains(all.out, " 1000000 ");
	assert_contains(all.out, "52.4 MB");
	AUTO_OUTCOME struct outcome drift = cli_rig_run(&rig, cli_view_drift, 2, &o,
							WORDS("kernel", "drift"));
	assert_int_equal(drift.exit, EXIT_DIFFERENCES);
	assert_contains(drift.out, "zg4-drop");
	rig_end(&rig);
}

static enum cli_exit show_planned(struct cli *cli)
{
	json_t *answer = json_loads("{\"ipvs\":\"off\",\"filters\":{\"sets\":["
				    "{\"name\":\"zg4-drop\",\"state\":\"in_force\"},"
				    "{\"name\":\"zg4-open\",\"state\":\"missing\"}],\"rules\":["
				    "{\"family\":\"ipv4\",\"state\":\"in_force\"}]}}",
				    0, NULL);

	cli_filters_print(cli, answer);
	json_decref(answer);
	return EXIT_OK;
}

/* With ipvs = off nothing is in force. */
static void what_is_planned_is_not_in_force(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome off = cli_rig_run(&rig, show_planned, 0, &o, WORDS(""));
	assert_contains(off.out, "planned");
	assert_contains(strstr(off.out, "planned") + 1, "planned");
	assert_contains(off.out, "missing");
	assert_null(strstr(off.out, "in force"));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_and_rules_are_shown),
		cmocka_unit_test(what_is_planned_is_not_in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
