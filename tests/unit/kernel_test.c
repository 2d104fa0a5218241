// SPDX-License-Identifier: GPL-2.0-or-later
// The queue: order, what waits for what, IPVS that comes and goes; by fake channels. And the kernel that is off.
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "kernel/ipvs.h"
#include "unit/fake_channel.h"

#define FAMILY 33

static struct {
	struct ev_loop *loop;
	struct kernel *kernel;
	struct channel *commands;
	struct channel *dumps;
	struct channel *links;
	char calls[32]; /* one letter a callback: a, d, t, s */
	int availability;
	int results[8]; /* of the last list */
	size_t count;
	struct plan_table *table;
	int error;
} test;

static void test_note_call(char c)
{
	size_t n = strlen(test.calls);

	assert_true(n + 1 < sizeof(test.calls));
	test.calls[n] = c;
}

static void test_on_done(void *ctx, const struct plan_ops *ops)
{
	(void)ctx;
	test_note_call('d');
	test.count = ops->count;
	for (size_t i = 0; i < ops->count && i < 8; i++)
		test.results[i] = ops->ops[i].result;
}

static void test_keep_table(struct plan_table *t, int error)
{
	plan_table_free(test.table);
	test.table = t;
	test.error = error;
}

static void test_on_table(void *ctx, struct plan_table *t, int error)
{
	(void)ctx;
	test_note_call('t');
	test_keep_table(t, error);
}

static void test_on_service(void *ctx, const struct plan_key *k, struct plan_table *t, int error)
{
	(void)ctx;
	assert_int_equal(k->fwmark, 7);
	test_note_call('s');
	test_keep_table(t, error);
}

static void test_on_availability(void *ctx, int error)
{
	(void)ctx;
	test_note_call('a');
	test.availability = error;
}

static void test_on_device(void *ctx, int error)
{
	(void)ctx;
	test_note_call(error ? 'x' : 'v');
}

static void test_on_unannounced(void *ctx, const struct addr *a, int error)
{
	(void)ctx;
	(void)a;
	(void)error;
	test_note_call('u');
}

/* Turns of the loop until nothing is left to do at once. */
static void test_turn(void)
{
	for (int i = 0; i < 10; i++)
		ev_run(test.loop, EVRUN_NOWAIT);
}

static void test_open(enum kernel_mode mode, const char *device)
{
	const struct kernel_callbacks cb = {.done = test_on_done,
					    .table = test_on_table,
					    .availability = test_on_availability,
					    .service = test_on_service,
					    .device = test_on_device,
					    .unannounced = test_on_unannounced};
	struct kernel_settings s = {.mode = mode};

	memset(&test, 0, sizeof(test));
	strcpy(s.vip_device, device);
	fake_channel_count = 0;
	test.loop = ev_loop_new(EVFLAG_AUTO);
	assert_int_equal(kernel_new(test.loop, &s, &cb, &test.kernel), 0);
	assert_string_equal(test.calls, "");
	if (fake_channel_count) {
		test.commands = fake_channels[0];
		test.dumps = fake_channels[1];
		test.links = device[0] ? fake_channels[2] : NULL;
	}
	test_turn();
}

static void test_close(void)
{
	kernel_free(test.kernel);
	ev_loop_destroy(test.loop);
	plan_table_free(test.table);
}

static void test_find(uint16_t family)
{
	const struct genlmsghdr head = {.cmd = CTRL_CMD_NEWFAMILY};
	struct channel *c = test.commands;

	assert_int_equal(fake_sent(c, 0)->nlmsg_type, GENL_ID_CTRL);
	netmsg_begin(&c->answers, GENL_ID_CTRL, 0);
	netmsg_put_head(&c->answers, &head, sizeof(head));
	netmsg_put_u16(&c->answers, CTRL_ATTR_FAMILY_ID, family);
	netmsg_end(&c->answers);
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(fake_sent(c, 0)->nlmsg_type, family);
	fake_end(c, 0);
}

static void test_prepare_device(void)
{
	const struct ifinfomsg head = {.ifi_index = 5, .ifi_flags = IFF_UP};
	struct channel *c = test.links;

	assert_int_equal(fake_sent(c, 0)->nlmsg_type, RTM_GETLINK);
	netmsg_begin(&c->answers, RTM_NEWLINK, 0);
	netmsg_put_head(&c->answers, &head, sizeof(head));
	netmsg_end(&c->answers);
	fake_answer(c);
	fake_end(c, 0);
	fake_end(c, 0);
}

static void test_push(struct plan_ops *ops, enum plan_op_kind kind)
{
	struct plan_op *op = plan_ops_push(ops, kind);

	op->service.key = (struct plan_key){.family = AF_INET, .fwmark = 7};
	strcpy(op->service.scheduler, "rr");
	op->dest.address = op->address = (struct addr){AF_INET, {10, 0, 0, 1}};
	op->sysctl = "no_such_switch";
}

static void test_submit(const enum plan_op_kind *kinds, size_t count)
{
	struct plan_ops ops = {0};

	for (size_t i = 0; i < count; i++)
		test_push(&ops, kinds[i]);
	kernel_submit(test.kernel, &ops);
	assert_null(ops.ops);
	assert_int_equal(ops.count, 0);
}

#define SUBMIT(...)                                           \
	test_submit((const enum plan_op_kind[]){__VA_ARGS__}, \
		    sizeof((const enum plan_op_kind[]){__VA_ARGS__}) / sizeof(enum plan_op_kind))

static void test_open_ready(const char *device)
{
	test_open(KERNEL_AUTO, device);
	test_find(FAMILY);
	if (device[0])
		test_prepare_device();
	test_turn();
	assert_string_equal(test.calls, "a");
	assert_int_equal(test.availability, 0);
}

/* Where the routers of a device cannot be kept nothing is forwarded; the first one has a folder that is a file. */
static void test_needed_sysctl(void **unused)
{
	struct plan_ops ops = {0};

	(void)unused;
	test_open_ready("");
	test_push(&ops, PLAN_SET_SYSCTL);
	ops.ops[0].sysctl = "net.ipv4.ip_forward.*.none";
	test_push(&ops, PLAN_SET_SYSCTL);
	test_push(&ops, PLAN_SET_SYSCTL);
	kernel_submit(test.kernel, &ops);
	test_turn();
	assert_int_equal(test.results[0], -ENOTDIR);
	assert_int_equal(test.results[1], -ENOTDIR);
	assert_int_equal(test.results[2], -ENOENT);
	test_close();
}

/* Sides of a list run one after the other, in its order. */
static void test_sides_in_order(void **unused)
{
	(void)unused;
	test_open_ready("zonegate0");
	SUBMIT(PLAN_SET_SYSCTL, PLAN_ADD_SERVICE, PLAN_ADD_DEST, PLAN_ADD_ADDRESS,
	       PLAN_DELETE_SERVICE);
	kernel_request_table(test.kernel);
	assert_false(test.commands->busy);
	test_turn();
	assert_int_equal(test.commands->out.count, 1); /* "rr" may have to be loaded */
	assert_true(test.commands->aside);
	fake_end(test.commands, 0);
	assert_int_equal(test.commands->out.count, 1);
	assert_false(test.links->busy);
	fake_refuse(test.commands, 0, -EEXIST);
	fake_end(test.commands, 0);
	assert_int_equal(fake_sent(test.links, 0)->nlmsg_type, RTM_NEWADDR);
	assert_false(test.commands->busy);
	fake_end(test.links, 0);
	assert_string_equal(test.calls, "a");
	fake_end(test.commands, 0);
	assert_string_equal(test.calls, "ad");
	assert_int_equal(test.results[0], -ENOENT);
	assert_int_equal(test.results[1], 0);
	assert_int_equal(test.results[2], -EEXIST);
	assert_int_equal(test.results[3], 0);
	assert_int_equal(test.results[4], 0);
	test_turn(); /* the dump begins with the device */
	assert_false(test.dumps->busy);
	test_prepare_device();
	fake_end(test.dumps, 0);
	fake_end(test.dumps, 0); /* the timeouts */
	assert_string_equal(test.calls, "adt");
	assert_non_null(test.table);
	test_close();
}

static void test_known_scheduler_is_not_sent_aside(void **unused)
{
	(void)unused;
	test_open_ready("");
	SUBMIT(PLAN_ADD_SERVICE, PLAN_ADD_SERVICE, PLAN_EDIT_SERVICE);
	test_turn();
	assert_true(test.commands->aside);
	fake_end(test.commands, 0);
	assert_false(test.commands->aside);
	assert_int_equal(test.commands->out.count, 2);
	fake_end(test.commands, 0);
	assert_string_equal(test.calls, "ad");
	test_close();
}

static void test_requests_are_joined(void **unused)
{
	(void)unused;
	test_open_ready("");
	kernel_request_table(test.kernel);
	kernel_request_table(test.kernel);
	test_turn();
	kernel_request_table(test.kernel); /* while one runs: one more */
	kernel_request_table(test.kernel);
	fake_end(test.dumps, 0);
	fake_end(test.dumps, 0); /* the timeouts */
	test_turn();
	fake_end(test.dumps, 0);
	fake_end(test.dumps, 0);
	test_turn();
	assert_false(test.dumps->busy);
	assert_string_equal(test.calls, "att");
	test_close();
}

static void test_one_service(void **unused)
{
	const struct plan_key k = {.family = AF_INET, .fwmark = 7};

	(void)unused;
	test_open_ready("");
	kernel_request_service(test.kernel, &k);
	test_turn();
	fake_refuse(test.dumps, 0, -ESRCH);
	fake_end(test.dumps, 0);
	assert_string_equal(test.calls, "as");
	assert_null(test.table);
	assert_int_equal(test.error, -ESRCH);
	test_turn();
	assert_false(test.commands->busy); /* that is no sign that IPVS has gone */
	test_close();
}

/* Without IPVS everything is answered at once, and it is looked for every second. */
static void test_without_ipvs(void **unused)
{
	(void)unused;
	test_open(KERNEL_AUTO, "");
	SUBMIT(PLAN_ADD_SERVICE, PLAN_ADD_ADDRESS);
	kernel_request_table(test.kernel);
	test_turn();
	assert_string_equal(test.calls, ""); /* not before it is known */
	fake_refuse(test.commands, 0, -ENOENT);
	fake_end(test.commands, 0);
	test_turn();
	assert_string_equal(test.calls, "adt");
	assert_int_equal(test.availability, -ENOENT);
	assert_int_equal(test.results[0], -ENOENT);
	assert_int_equal(test.results[1], 0);
	assert_null(test.table);
	assert_int_equal(test.error, -ENOENT);
	assert_false(test.commands->busy);
	while (!test.commands->busy)
		ev_run(test.loop, EVRUN_ONCE);
	test_find(FAMILY);
	assert_string_equal(test.calls, "adta");
	assert_int_equal(test.availability, 0);
	test_close();
}

/* All refused with ENOENT: it is looked whether the family is still there. */
static void test_ipvs_goes(void **unused)
{
	(void)unused;
	test_open_ready("");
	SUBMIT(PLAN_EDIT_DEST, PLAN_EDIT_DEST);
	test_turn();
	fake_refuse(test.commands, 0, -ENOENT);
	fake_end(test.commands, 0); /* one succeeded */
	test_turn();
	assert_false(test.commands->busy);
	SUBMIT(PLAN_EDIT_DEST, PLAN_EDIT_DEST);
	SUBMIT(PLAN_EDIT_DEST);
	test_turn();
	fake_refuse(test.commands, 0, -ENOENT);
	fake_refuse(test.commands, 1, -ENOENT);
	fake_end(test.commands, 0);
	assert_string_equal(test.calls, "add");
	test_turn();
	test_find(FAMILY); /* it is: nobody needs to know; the next list goes on */
	test_turn();
	assert_string_equal(test.calls, "add");
	fake_refuse(test.commands, 0, -ENOENT);
	fake_end(test.commands, 0);
	test_turn();
	test_find(FAMILY + 1); /* unloaded and loaded again */
	assert_string_equal(test.calls, "adddaa");
	assert_int_equal(test.availability, 0);
	kernel_request_table(test.kernel);
	test_turn();
	fake_refuse(test.dumps, 0, -ENOENT);
	fake_end(test.dumps, 0);
	test_turn();
	fake_refuse(test.commands, 0, -ENOENT);
	fake_end(test.commands, 0);
	assert_string_equal(test.calls, "adddaata");
	assert_int_equal(test.availability, -ENOENT);
	test_close();
}

static void test_device_fault_is_the_addresses_fault(void **unused)
{
	(void)unused;
	test_open(KERNEL_AUTO, "zonegate0");
	test_find(FAMILY);
	fake_refuse(test.links, 0, -EPERM);
	fake_end(test.links, 0);
	assert_int_equal(test.availability, 0);
	SUBMIT(PLAN_ADD_ADDRESS, PLAN_ADD_ADDRESS, PLAN_DELETE_SERVICE);
	test_turn();
	fake_refuse(test.links, 0, -EPERM);
	fake_end(test.links, 0);
	fake_end(test.commands, 0);
	assert_string_equal(test.calls, "axd"); /* told once */
	assert_int_equal(test.results[0], -EPERM);
	assert_int_equal(test.results[1], -EPERM);
	assert_int_equal(test.results[2], 0);
	kernel_request_table(test.kernel);
	test_turn();
	test_prepare_device();
	assert_string_equal(test.calls, "axdv");
	test_close();
}

static void test_off(void **unused)
{
	const struct plan_key k = {.family = AF_INET, .fwmark = 7};
	const struct addr *addresses;
	struct plan_ops many = {0};

	(void)unused;
	test_open(KERNEL_OFF, "zonegate0");
	assert_int_equal(fake_channel_count, 0);
	assert_string_equal(test.calls, "a");
	assert_int_equal(test.availability, 0);
	SUBMIT(PLAN_ADD_SERVICE, PLAN_ADD_SERVICE, PLAN_ADD_DEST, PLAN_ADD_ADDRESS,
	       PLAN_SET_SYSCTL);
	kernel_request_table(test.kernel);
	kernel_request_service(test.kernel, &k);
	assert_string_equal(test.calls, "a"); /* never from inside */
	test_turn();
	assert_string_equal(test.calls, "adts");
	assert_int_equal(test.results[0], 0);
	assert_int_equal(test.results[1], -EEXIST);
	assert_int_equal(test.results[4], 0);
	assert_int_equal(test.table->services[0].dest_count, 1);
	assert_int_equal(kernel_addresses(test.kernel, &addresses), 1);
	assert_int_equal(addresses[0].bytes[0], 10);
	assert_int_equal(kernel_read_sysctl(test.kernel, "conntrack"), -ENOENT);
	for (int i = 0; i < 2000; i++)
		test_push(&many, PLAN_EDIT_DEST);
	kernel_submit(test.kernel, &many);
	ev_run(test.loop, EVRUN_NOWAIT); /* a long list does not hold the loop */
	assert_string_equal(test.calls, "adts");
	test_turn();
	assert_string_equal(test.calls, "adtsd");
	assert_int_equal(test.count, 2000);
	test_close();
}

/* Freed in the middle of everything. */
static void test_free_while_busy(void **unused)
{
	(void)unused;
	test_open_ready("zonegate0");
	SUBMIT(PLAN_ADD_SERVICE, PLAN_ADD_DEST);
	kernel_request_table(test.kernel);
	test_turn();
	assert_true(test.commands->busy);
	test_close();
	kernel_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_needed_sysctl),
		cmocka_unit_test(test_sides_in_order),
		cmocka_unit_test(test_known_scheduler_is_not_sent_aside),
		cmocka_unit_test(test_requests_are_joined),
		cmocka_unit_test(test_one_service),
		cmocka_unit_test(test_without_ipvs),
		cmocka_unit_test(test_ipvs_goes),
		cmocka_unit_test(test_device_fault_is_the_addresses_fault),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_free_while_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
