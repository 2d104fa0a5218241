// SPDX-License-Identifier: GPL-2.0-or-later
// The order of requests, tables put together from answers, and every way it can break off.
#include "kernel/dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>

#include "kernel/ipvs.h"
#include "unit/fake_channel.h"

#define FAMILY 33

static struct plan_table *test_table;
static int test_error;
static unsigned test_calls;

static void test_done(void *ctx, struct plan_table *t, int error)
{
	(void)ctx;
	plan_table_free(test_table);
	test_table = t;
	test_error = error;
	test_calls++;
}

static struct channel *test_open(struct dump *d)
{
	struct channel *c;

	fake_channel_count = 0;
	channel_new(NULL, 0, &c);
	*d = (struct dump){.channel = c, .done = test_done};
	test_done(NULL, NULL, 1);
	test_calls = 0;
	return c;
}

static void test_add_service(struct channel *c, uint16_t port)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};

	op.service.key = (struct plan_key){
		AF_INET, IPPROTO_TCP, port, 0, {AF_INET, {192, 0, 2, 1}}};
	op.service.scheduler[0] = 'x';
	ipvs_put_op(&c->answers, FAMILY, &op);
}

static void test_add_dest(struct channel *c, uint8_t last_byte)
{
	struct plan_op op = {.kind = PLAN_ADD_DEST};

	op.service.key = (struct plan_key){.family = AF_INET, .fwmark = 1};
	op.dest = (struct plan_dest){.address = {AF_INET, {10, 0, 0, last_byte}},
				     .weight = last_byte};
	ipvs_put_op(&c->answers, FAMILY, &op);
}

static void test_add_timeouts(struct channel *c)
{
	const struct plan_op op = {.kind = PLAN_SET_TIMEOUTS, .timeouts = {{900, 120, 300}}};

	ipvs_put_op(&c->answers, FAMILY, &op);
}

static int test_command(const struct channel *c)
{
	const uint8_t *m = (const uint8_t *)fake_sent(c, 0);

	return ((const struct genlmsghdr *)(const void *)(m + NLMSG_HDRLEN))->cmd;
}

static void test_whole_table(void **unused)
{
	struct dump d;
	struct channel *c = test_open(&d);

	(void)unused;
	dump_start_table(&d, FAMILY);
	assert_int_equal(test_command(c), IPVS_CMD_GET_SERVICE);
	test_add_service(c, 443);
	test_add_service(c, 80);
	test_add_service(c, 443); /* repeated: the table changed meanwhile */
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(test_command(c), IPVS_CMD_GET_DEST);
	for (uint8_t i = 40; i > 0; i--)
		test_add_dest(c, i);
	fake_answer(c);
	fake_end(c, 0);
	fake_end(c, 0); /* 80 has none */
	assert_int_equal(test_calls, 0);
	for (uint8_t i = 40; i > 0; i--)
		test_add_dest(c, i);
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(test_calls, 0);
	assert_int_equal(test_command(c), IPVS_CMD_GET_CONFIG);
	test_add_timeouts(c);
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(test_calls, 1);
	assert_int_equal(test_error, 0);
	assert_int_equal(test_table->timeouts.s[PLAN_TIMEOUT_TCP], 900);
	assert_int_equal(test_table->timeouts.s[PLAN_TIMEOUT_UDP], 300);
	assert_int_equal(test_table->count, 2);
	assert_int_equal(test_table->services[0].key.port, 80);
	assert_int_equal(test_table->services[0].dest_count, 0);
	assert_int_equal(test_table->services[1].dest_count, 40);
	for (uint8_t i = 0; i < 40; i++)
		assert_int_equal(test_table->services[1].dests[i].weight, i + 1);
	assert_non_null(test_table->services[1].counts);
	assert_false(c->busy);
	channel_free(c);
}

static void test_empty_table(void **unused)
{
	struct dump d;
	struct channel *c = test_open(&d);

	(void)unused;
	dump_start_table(&d, FAMILY);
	fake_end(c, 0);
	fake_end(c, 0); /* the timeouts */
	assert_int_equal(test_calls, 1);
	assert_non_null(test_table);
	assert_int_equal(test_table->count, 0);
	channel_free(c);
}

static void test_one_service(void **unused)
{
	const struct plan_key k = {AF_INET, IPPROTO_TCP, 80, 0, {AF_INET, {192, 0, 2, 1}}};
	struct dump d;
	struct channel *c = test_open(&d);

	(void)unused;
	dump_start_service(&d, FAMILY, &k);
	test_add_service(c, 80);
	fake_answer(c);
	fake_end(c, 0);
	test_add_dest(c, 1);
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(test_table->services[0].dest_count, 1);
	dump_start_service(&d, FAMILY, &k);
	fake_refuse(c, 0, -ESRCH);
	fake_end(c, 0);
	assert_null(test_table);
	assert_int_equal(test_error, -ESRCH);
	channel_free(c);
}

static void test_broken_off(void **unused)
{
	struct dump d;
	struct channel *c = test_open(&d);

	(void)unused;
	dump_start_table(&d, FAMILY);
	fake_end(c, -ETIMEDOUT);
	assert_null(test_table);
	assert_int_equal(test_error, -ETIMEDOUT);
	dump_start_table(&d, FAMILY);
	test_add_service(c, 80);
	fake_answer(c);
	fake_end(c, 0);
	test_add_dest(c, 1);
	fake_answer(c);
	fake_refuse(c, 0, -EBUSY);
	fake_end(c, 0);
	assert_null(test_table);
	assert_int_equal(test_error, -EBUSY);
	dump_start_table(&d, FAMILY);
	ipvs_put_get_services(&c->answers, FAMILY); /* no service in it */
	fake_answer(c);
	fake_end(c, 0);
	assert_int_equal(test_error, -EBADMSG);
	dump_start_table(&d, FAMILY); /* the owner gives up */
	test_add_service(c, 80);
	fake_answer(c);
	dump_clear(&d);
	assert_int_equal(test_calls, 3);
	channel_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_table),
		cmocka_unit_test(test_empty_table),
		cmocka_unit_test(test_one_service),
		cmocka_unit_test(test_broken_off),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	plan_table_free(test_table);
	return failed;
}
