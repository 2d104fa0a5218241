// SPDX-License-Identifier: GPL-2.0-or-later
// Who may not. What it does: tests/lab/test_flush.py.
#include "wiring.h"

#include <sys/wait.h>
#include <unistd.h>

#include "wiring_fixture.h"

/* As a user without rights: 0 if it is refused as such. */
static int flush_as_nobody(void)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	wiring_load(&s, "[store]\npath = /nonexistent/zonegate\n");
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 1;
	if (wiring_flush(&s, &e) == 0)
		return 2;
	return strstr(err_first(&e), "this user may change nothing in the kernel: sudo") ? 0 : 3;
}

static void who_may_not_is_told(void **state)
{
	pid_t child = fork();
	int status = -1;

	(void)state;
	assert_true(child >= 0);
	if (child == 0)
		_exit(flush_as_nobody());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_may_not_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
