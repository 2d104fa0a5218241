// SPDX-License-Identifier: GPL-2.0-or-later
// IPVS found, missing, forbidden.
#include "kernel/find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/genetlink.h>

#include "unit/fake_channel.h"

static int test_error;
static uint16_t test_family;

static void test_done(void *ctx, int error, uint16_t family)
{
	(void)ctx;
	test_error = error;
	test_family = family;
}

static struct channel *test_open(struct find *f)
{
	struct channel *c;

	fake_channel_count = 0;
	channel_new(NULL, 0, &c);
	*f = (struct find){.channel = c, .done = test_done};
	test_error = 1;
	find_start(f);
	assert_true(c->aside); /* modprobe may run inside the system call */
	assert_int_equal(fake_sent(c, 0)->nlmsg_type, GENL_ID_CTRL);
	return c;
}

static void test_answer_family(struct channel *c, uint16_t family)
{
	const struct genlmsghdr head = {.cmd = CTRL_CMD_NEWFAMILY};

	netmsg_begin(&c->answers, GENL_ID_CTRL, 0);
	netmsg_put_head(&c->answers, &head, sizeof(head));
	netmsg_put_u16(&c->answers, CTRL_ATTR_FAMILY_ID, family);
	netmsg_end(&c->answers);
	fake_answer(c);
	fake_end(c, 0);
}

/* Nothing is loaded for what is there, so no thread is needed. */
static void test_loaded_already(void **unused)
{
	struct channel *c;
	struct find f;

	(void)unused;
	channel_new(NULL, 0, &c);
	f = (struct find){.channel = c, .module = "/proc/self", .done = test_done};
	find_start(&f);
	assert_false(c->aside);
	assert_int_equal(fake_sent(c, 0)->nlmsg_type, GENL_ID_CTRL);
	channel_free(c);
	channel_new(NULL, 0, &c);
	f = (struct find){.channel = c, .module = "/proc/self/nowhere", .done = test_done};
	find_start(&f);
	assert_true(c->aside);
	channel_free(c);
}

static void test_found(void **unused)
{
	struct find f;
	struct channel *c = test_open(&f);

	(void)unused;
	test_answer_family(c, 33);
	assert_int_equal(test_error, 1);
	assert_int_equal(fake_sent(c, 0)->nlmsg_type, 33);
	assert_false(c->aside);
	fake_end(c, 0);
	assert_int_equal(test_error, 0);
	assert_int_equal(test_family, 33);
	channel_free(c);
}

static void test_missing(void **unused)
{
	struct find f;
	struct channel *c = test_open(&f);

	(void)unused;
	fake_refuse(c, 0, -ENOENT);
	fake_end(c, 0);
	assert_int_equal(test_error, -ENOENT);
	find_start(&f);
	fake_end(c, -ETIMEDOUT);
	assert_int_equal(test_error, -ETIMEDOUT);
	find_start(&f);
	fake_end(c, 0); /* an ACK and no answer */
	assert_int_equal(test_error, -EBADMSG);
	channel_free(c);
}

static void test_forbidden(void **unused)
{
	struct find f;
	struct channel *c = test_open(&f);

	(void)unused;
	test_answer_family(c, 33);
	fake_refuse(c, 0, -EPERM);
	fake_end(c, 0);
	assert_int_equal(test_error, -EPERM);
	channel_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loaded_already),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_forbidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
