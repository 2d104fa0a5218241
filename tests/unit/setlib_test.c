// SPDX-License-Identifier: GPL-2.0-or-later
// What the library is told, and what is made of its words.
#include "kernel/setlib.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "unit/fake_libipset.h"

static struct setlib *lib;
static char lines[400];

static int setup(void **state)
{
	(void)state;
	fake_reset();
	lines[0] = '\0';
	lib = setlib_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	setlib_free(lib);
	assert_int_equal(fake_ipset.open, 0);
	fake_reset();
	return 0;
}

static int on_line(void *ctx, const char *line)
{
	size_t used = strlen(lines);

	snprintf(lines + used, sizeof(lines) - used, "%s\n", line);
	return *(int *)ctx;
}

static int create(const char *name, enum ruleset_type type)
{
	const struct setlib_type t = {.type = type, .family = RULESET_V4, .elements_max = 70000};

	return setlib_create(lib, name, &t);
}

static int change(enum setlib_change what, const char *address, uint8_t protocol, uint16_t port)
{
	struct addr a;
	const struct setlib_element e = {.address = &a, .protocol = protocol, .port = port};

	assert_int_equal(addr_parse(address, &a), 0);
	return setlib_change(lib, what, "zg4-open", &e, 1);
}

static void nothing_is_loaded_before_it_is_needed(void **state)
{
	(void)state;
	assert_int_equal(setlib_flush(lib), 0);
	assert_int_equal(fake_ipset.loads, 0);
	assert_int_equal(fake_ipset.sessions, 0);
	assert_int_equal(create("zg4-open", RULESET_IP_PORT), 0);
	assert_int_equal(fake_ipset.loads, 1);
}

static void a_set_has_its_type(void **state)
{
	(void)state;
	assert_int_equal(create("zg4-open", RULESET_IP_PORT), 0);
	assert_int_equal(create("zg4-open", RULESET_IP_PORT), 0);
	assert_string_equal(fake_ipset.sets[0].type, "hash:ip,port");
	assert_int_equal(fake_ipset.sets[0].family, AF_INET);
	assert_int_equal(fake_ipset.sets[0].elements_max, 70000);
	assert_false(fake_ipset.sets[0].counters);
	assert_int_equal(create("zg4-5-lt", RULESET_IP_PORT_COUNTED), 0);
	assert_string_equal(fake_ipset.sets[1].type, "hash:ip,port");
	assert_true(fake_ipset.sets[1].counters);
	assert_int_equal(setlib_destroy(lib, "zg4-5-lt"), 0);
	assert_int_equal(create("zg4-open", RULESET_IP), -EEXIST);
	assert_int_equal(setlib_destroy(lib, "zg4-open"), 0);
	assert_int_equal(setlib_destroy(lib, "zg4-open"), 0);
	assert_false(fake_holds("zg4-open", ""));
}

static void elements_are_sent_together(void **state)
{
	(void)state;
	create("zg4-open", RULESET_IP_PORT);
	assert_int_equal(change(SETLIB_ADD, "192.0.2.1", IPPROTO_TCP, 80), 0);
	assert_int_equal(change(SETLIB_ADD, "192.0.2.1", IPPROTO_UDP, 53), 0);
	assert_int_equal(change(SETLIB_ADD, "192.0.2.2", 0, 0), 0);
	assert_false(fake_holds("zg4-open", "192.0.2.1,tcp:80"));
	assert_int_equal(setlib_flush(lib), 0);
	assert_int_equal(fake_ipset.commits, 1);
	assert_true(fake_holds("zg4-open", "192.0.2.1,tcp:80"));
	assert_true(fake_holds("zg4-open", "192.0.2.1,udp:53"));
	assert_true(fake_holds("zg4-open", "192.0.2.2"));
	assert_int_equal(change(SETLIB_DELETE, "192.0.2.2", 0, 0), 0);
	assert_int_equal(setlib_flush(lib), 0);
	assert_false(fake_holds("zg4-open", "192.0.2.2"));
}

static void an_error_makes_the_session_anew(void **state)
{
	(void)state;
	assert_int_equal(change(SETLIB_ADD, "192.0.2.1", IPPROTO_TCP, 80), -ENOENT);
	assert_int_equal(fake_ipset.open, 0);
	create("zg4-open", RULESET_IP_PORT);
	assert_int_equal(fake_ipset.sessions, 2);
	assert_int_equal(fake_ipset.loads, 1);
	fake_ipset.refuse = "192.0.2.1,tcp:80";
	assert_int_equal(change(SETLIB_ADD, "192.0.2.1", IPPROTO_TCP, 80), 0);
	assert_non_null(strstr(setlib_advise(setlib_flush(lib)), "is full"));
}

static void words_become_numbers(void **state)
{
	static const struct {
		const char *words;
		int error;
	} rows[] = {
		{"Kernel error received: Operation not permitted", -EPERM},
		{"Kernel error received: Invalid argument", -EINVAL},
		{"Cannot open session to kernel.", -EPROTONOSUPPORT},
		{"whatever it is", -EPROTO},
	};
	static const char *const own[] = {
		"Kernel error received: set type not supported",
		"Kernel error received: maximal number of sets reached, cannot create more.",
		"Set cannot be destroyed: it is in use by a kernel component",
		"Kernel error received: ipset protocol error",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_ipset.fail = rows[i].words;
		assert_int_equal(setlib_destroy(lib, "zg4-open"), rows[i].error);
		assert_null(setlib_advise(rows[i].error));
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		fake_ipset.fail = own[i];
		assert_non_null(setlib_advise(create("zg4-open", RULESET_IP)));
		assert_int_equal(setlib_is_held(create("zg4-open", RULESET_IP)), i == 2);
	}
}

static void what_is_there_comes_in_lines(void **state)
{
	int go_on = 0;
	int stop = -EBADMSG;

	(void)state;
	create("zg4-open", RULESET_IP_PORT);
	create("theirs", RULESET_IP);
	change(SETLIB_ADD, "192.0.2.1", IPPROTO_TCP, 80);
	change(SETLIB_ADD, "192.0.2.1", IPPROTO_SCTP, 81);
	assert_int_equal(setlib_flush(lib), 0);
	assert_int_equal(setlib_list_names(lib, on_line, &go_on), 0);
	assert_string_equal(lines, "zg4-open\ntheirs\n");
	lines[0] = '\0';
	assert_int_equal(setlib_list(lib, "zg4-open", on_line, &go_on), 0);
	assert_string_equal(lines, "create zg4-open hash:ip,port family inet maxelem 70000\n"
				   "add zg4-open 192.0.2.1,tcp:80\n"
				   "add zg4-open 192.0.2.1,132:81\n");
	lines[0] = '\0';
	assert_int_equal(setlib_list(lib, "zg4-open", on_line, &stop), -EBADMSG);
	assert_string_equal(lines, "create zg4-open hash:ip,port family inet maxelem 70000\n");
	assert_int_equal(setlib_list(lib, "zg4-none", on_line, &go_on), -ENOENT);
	fake_ipset.fail = "Kernel error received: Operation not permitted";
	assert_int_equal(setlib_list_names(lib, on_line, &go_on), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_loaded_before_it_is_needed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_set_has_its_type, setup, teardown),
		cmocka_unit_test_setup_teardown(elements_are_sent_together, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_makes_the_session_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(words_become_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_there_comes_in_lines, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
