// SPDX-License-Identifier: GPL-2.0-or-later
// What comes from a file; the prompt needs a terminal: a pseudo terminal stands in for it.
#include "cli/cli_password.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void passwords_are_first_lines_of_files(void **state)
{
	char path[] = "/tmp/zonegate-password-XXXXXX";
	struct cli cli = {.options = {.password_file = path}};
	int fd = mkstemp(path);
	char *password;

	(void)state;
	assert_int_equal(write(fd, "correct horse\r\nsecond\n", 22), 22);
	password = cli_password_read(&cli, "alice");
	assert_string_equal(password, "correct horse");
	cli_password_free(password);
	/* Read all the same by one who lets everybody read it, with a warning. */
	char *told = NULL;
	size_t size;
	FILE *old = stderr;

	stderr = open_memstream(&told, &size);
	assert_int_equal(fchmod(fd, 0644), 0);
	cli_password_free(cli_password_read(&cli, "alice"));
	fclose(stderr);
	stderr = old;
	assert_non_null(strstr(told, "can read or write the password in /tmp/zonegate-password-"));
	free(told);
	close(fd);
	unlink(path);
	assert_null(cli_password_read(&cli, "alice"));
	cli_password_free(NULL);
}

/* Types `first` and `second` when asked; the child ends with 0 if the password is the expected one. What the terminal showed is
 * in `shown`. */
static int prompt(const char *first, const char *second, const char *expected, char shown[1024])
{
	struct cli cli = {0};
	const char *lines[] = {first, second};
	size_t size = 0, asked = 0;
	int master, status;
	pid_t child = forkpty(&master, NULL, NULL, NULL);

	if (child == 0) {
		char *password = cli_password_read(&cli, "alice");

		_exit(password ? strcmp(password, expected) != 0 : 2);
	}
	for (ssize_t n; (n = read(master, shown + size, 1023 - size)) > 0;) {
		size += (size_t)n;
		shown[size] = '\0';
		if (asked < 2 && strstr(shown, asked ? "Again: " : "alice: ")) {
			usleep(50000); /* what is typed ahead of the prompt is dropped */
			assert_true(write(master, lines[asked], strlen(lines[asked])) > 0);
			asked++;
		}
	}
	waitpid(child, &status, 0);
	close(master);
	return WEXITSTATUS(status);
}

static void passwords_are_asked_for_twice_without_echo(void **state)
{
	char shown[1024];

	(void)state;
	assert_int_equal(prompt("correct horse\n", "correct horse\n", "correct horse", shown), 0);
	assert_non_null(strstr(shown, "Password for alice: "));
	assert_null(strstr(shown, "horse"));
	assert_int_equal(prompt("correct horse\n", "correct hearse\n", "", shown), 2);
	assert_non_null(strstr(shown, "the two are not the same"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passwords_are_first_lines_of_files),
		cmocka_unit_test(passwords_are_asked_for_twice_without_echo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
