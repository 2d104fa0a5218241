// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void kernel_is_shown(void **state)
{
	struct cli_options o = {0}, foreign = {.foreign = true}, json = {.format = FORMAT_JSON};
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	op.service.key = (struct plan_key){.family = AF_INET6,
					   .protocol = IPPROTO_UDP,
					   .port = 53,
					   .address = {AF_INET6, {0x20, 1, 0xd, 0xb8}}};
	strcpy(op.service.scheduler, "rr");
	assert_int_equal(diff_apply_op(rig.kernel, &op), 0); /* the loop sleeps */
	op.kind = PLAN_ADD_DEST;
	op.dest = (struct plan_dest){.address = {AF_INET6, {0xfd}}, .port = 53, .weight = 1};
	assert_int_equal(diff_apply_op(rig.kernel, &op), 0);

	AUTO_OUTCOME struct outcome ours = cli_rig_run(&rig, cli_kernel_show, 2, &o,
						       WORDS("kernel", "show"));
	assert_int_equal(ours.exit, EXIT_OK);
	assert_contains(ours.out,
			"tcp 192.0.2.1:80    wrr                            shop/za/http\n");
	assert_contains(ours.out, "  -> 10.0.0.2:8080  nat      50       0         0\n");
	assert_contains(ours.out, "1 foreign service not shown: --foreign\n");
	assert_null(strstr(ours.out, "udp"));
	assert_null(strstr(ours.out, "switched off"));
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_kernel_show, 2, &foreign,
						      WORDS("kernel", "show"));
	assert_contains(all.out, "udp [2001:db8::]:53 ");
	assert_contains(all.out, " foreign\n");
	assert_contains(all.out, "  -> [fd00::]:53");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_kernel_show, 2, &json,
						      WORDS("kernel", "show"));
	assert_int_equal(json_array_size(json_object_get(raw.json, "services")), 2);
	rig_end(&rig);
}

/* A listener whose service could not be made: each of the three commands names it, and what the kernel said. */
static void what_is_missing_is_told(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	rig.refuse_ops = true;
	AUTO_REPLY struct answer put = rig_ask(
		&rig, "PUT", "/api/v1/load-balancers/shop/listeners/web", "",
		"{\"protocol\":\"tcp\",\"port\":8050,\"server_group\":\"web\"}");
	assert_int_equal(put.status, 201);
	AUTO_OUTCOME struct outcome shown = cli_rig_run(&rig, cli_kernel_show, 2, &o,
							WORDS("kernel", "show"));
	assert_contains(shown.out,
			"tcp 192.0.2.1:8050  missing                            shop/za/web\n");
	assert_contains(shown.out, "tcp 192.0.2.1:8050 (shop/za/web) is missing: the fake kernel");
	AUTO_OUTCOME struct outcome drift = cli_rig_run(&rig, cli_view_drift, 2, &o,
							WORDS("kernel", "drift"));
	assert_int_equal(drift.exit, EXIT_DIFFERENCES);
	assert_contains(drift.out, "  NEW_SERVICE tcp 192.0.2.1:8050");
	assert_contains(drift.out, "tcp 192.0.2.1:8050 (shop/za/web) is missing: the fake kernel");
	AUTO_OUTCOME struct outcome would = cli_rig_run(&rig, cli_kernel_reconcile, 2, &dry,
							WORDS("kernel", "reconcile"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	AUTO_OUTCOME struct outcome refused = cli_rig_run(&rig, cli_kernel_reconcile, 2, &o,
							  WORDS("kernel", "reconcile"));
	assert_int_equal(refused.exit, EXIT_NEGATIVE);
	assert_contains(refused.out,
			"tcp 192.0.2.1:8050 (shop/za/web) is missing: the fake kernel");
	assert_contains(refused.out, "It could not be mended yet");
	rig.refuse_ops = false;
	AUTO_OUTCOME struct outcome mended = cli_rig_run(&rig, cli_kernel_reconcile, 2, &o,
							 WORDS("kernel", "reconcile"));
	assert_int_equal(mended.exit, EXIT_OK);
	assert_contains(mended.out, "Mended.\n");
	rig_end(&rig);
}

/* Where sets and rules cannot be read nothing says that all is well, nor ends as if it were. */
static void what_is_not_read_is_not_well(void **state)
{
	struct cli_options o = {0}, dry = {.dry_run = true}, json = {.format = FORMAT_JSON};
	struct rig rig = {0};

	(void)state;
	cli_rig_begin(&rig);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
					       "{\"vip_guard\": \"drop\"}");
	assert_int_equal(put.status, 200);
	rig.filters_error = -EPERM;
	AUTO_OUTCOME struct outcome drift = cli_rig_run(&rig, cli_view_drift, 2, &o,
							WORDS("kernel", "drift"));
	assert_int_equal(drift.exit, EXIT_DIFFERENCES);
	assert_contains(drift.out,
			"As far as it could be read, the kernel has what it should have");
	assert_contains(drift.out, "Sets and rules could not be compared: the fake kernel refused");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_view_drift, 2, &json,
						      WORDS("kernel", "drift"));
	assert_int_equal(raw.exit, EXIT_DIFFERENCES);
	AUTO_OUTCOME struct outcome calm = cli_rig_run(&rig, cli_kernel_reconcile, 2, &o,
						       WORDS("kernel", "reconcile"));
	assert_int_equal(calm.exit, EXIT_NEGATIVE);
	assert_contains(calm.out, "As far as it could be read, nothing differs.\n");
	assert_contains(calm.out, "Sets and rules could not be compared: the fake kernel refused");
	AUTO_OUTCOME struct outcome would = cli_rig_run(&rig, cli_kernel_reconcile, 2, &dry,
							WORDS("kernel", "reconcile"));
	assert_int_equal(would.exit, EXIT_DIFFERENCES);
	rig.kernel->services[0].dest_count--;
	AUTO_OUTCOME struct outcome half = cli_rig_run(&rig, cli_kernel_reconcile, 2, &o,
						       WORDS("kernel", "reconcile"));
	assert_int_equal(half.exit, EXIT_NEGATIVE);
	assert_contains(half.out, "NEW_DEST");
	assert_contains(half.out, "Whether it is mended could not be read.\n");
	rig_end(&rig);
}

/* Switched off the table is what would be programmed: nobody takes it for what is. */
static void kernel_is_off(void **state)
{
	struct cli_options o = {0};
	struct rig rig = {.kernel_off = true};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome empty = cli_rig_run(&rig, cli_kernel_show, 2, &o,
							WORDS("kernel", "show"));
	assert_contains(empty.out, "No services: there are none until");
	assert_null(strstr(empty.out, "OWNER"));
	AUTO_OUTCOME struct outcome drift = cli_rig_run(&rig, cli_view_drift, 2, &o,
							WORDS("kernel", "drift"));
	assert_contains(drift.out, "there is no table that could differ");
	rig_load(&rig);
	AUTO_OUTCOME struct outcome all = cli_rig_run(&rig, cli_kernel_show, 2, &o,
						      WORDS("kernel", "show"));
	assert_contains(all.out, "IPVS is switched off ([kernel] ipvs = off): this is what would");
	assert_contains(all.out, "tcp 192.0.2.1:80 ");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_is_shown),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(what_is_not_read_is_not_well),
		cmocka_unit_test(kernel_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
