// SPDX-License-Identifier: GPL-2.0-or-later
// Every ICMP type and code: the ones that count against a server, and that no other does.
#include "probe/icmp_error.h"
#include "probe_net.h"

static const struct net_error *find(const struct net_error *errors, size_t count, int type,
				    int code)
{
	for (size_t i = 0; i < count; i++) {
		/* Of parameter problems every code counts. */
		bool any = errors[i].error == EPROTO;

		if (errors[i].type == type && (any || errors[i].code == code))
			return &errors[i];
	}
	return NULL;
}

static void check_family(const char *server, const struct net_error *errors, size_t count)
{
	const struct probe_target t = {.address = net_addr(server)};

	for (int type = 0; type < 256; type++) {
		for (int code = 0; code < 256; code++) {
			const struct icmp_error e = {.family = t.address.family,
						     .type = (uint8_t)type,
						     .code = (uint8_t)code,
						     .from = t.address};
			const struct net_error *row = find(errors, count, type, code);
			char text[PROBE_EVIDENCE_MAX] = "";
			struct probe_outcome o = {0};

			assert_int_equal(icmp_error_judge(&e, &t, text, &o), row != NULL);
			if (!row) {
				assert_string_equal(text, "");
				continue;
			}
			assert_int_equal(o.verdict, PROBE_FAIL_ACTIVE);
			assert_int_equal(o.reason, row->reason);
			assert_int_equal(o.error, row->error);
			assert_ptr_equal(o.text, text);
			assert_memory_equal(text, "ICMP ", 5);
		}
	}
}

static void test_every_code(void **state)
{
	(void)state;
	check_family("10.0.0.1", net_errors4, NET_ERRORS4);
	check_family("fd00::1", net_errors6, NET_ERRORS6);
}

/* Who says so is told if it is not the server. */
static void test_text(void **state)
{
	const struct probe_target t = {.address = net_addr("10.0.0.1")};
	struct icmp_error e = {.family = AF_INET, .type = 3, .code = 13};
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	(void)state;
	assert_true(icmp_error_judge(&e, &t, text, &o));
	assert_string_equal(text, "ICMP administratively prohibited");
	e.from = t.address;
	assert_true(icmp_error_judge(&e, &t, text, &o));
	assert_string_equal(text, "ICMP administratively prohibited");
	e.from = net_addr("10.0.0.254");
	assert_true(icmp_error_judge(&e, &t, text, &o));
	assert_string_equal(text, "ICMP administratively prohibited from 10.0.0.254");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
