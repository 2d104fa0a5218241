// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Puts `fd` in the place of stderr; gives the old one back to be restored. */
static int replace_stderr(int fd)
{
	int old = dup(STDERR_FILENO);

	assert_true(old >= 0);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	return old;
}

static void restore_stderr(int old)
{
	log_close();
	assert_int_equal(dup2(old, STDERR_FILENO), STDERR_FILENO);
	close(old);
}

static void log_names(void **state)
{
	(void)state;
	assert_int_equal(log_level_parse("error"), LOG_LEVEL_ERROR);
	assert_int_equal(log_level_parse("debug"), LOG_LEVEL_DEBUG);
	assert_int_equal(log_level_parse("Debug"), -1);
	assert_int_equal(log_target_parse("stderr"), LOG_TARGET_STDERR);
	assert_int_equal(log_target_parse("journald"), LOG_TARGET_JOURNALD);
	assert_int_equal(log_target_parse(""), -1);
}

static void log_writes_lines_to_a_pipe(void **state)
{
	int fds[2];
	int old;
	int flags;
	char text[5000];
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	old = replace_stderr(fds[1]);
	flags = fcntl(fds[1], F_GETFL);
	log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
	log_write(LOG_LEVEL_WARNING, "server %s is\ndown\x1b", "web-1");
	log_write(LOG_LEVEL_DEBUG, "not of this level");
	log_set_level(LOG_LEVEL_DEBUG);
	log_write(LOG_LEVEL_DEBUG, "%0*d", 4000, 7);     /* cut, still one line */
	assert_int_equal(fcntl(fds[1], F_GETFL), flags); /* the shared description is as it was */
	restore_stderr(old);
	n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "Z warning server web-1 is down \n"));
	assert_null(strstr(text, "not of this level"));
	assert_non_null(strstr(text, "Z debug 0000"));
	assert_true(n < 2300);
	assert_int_equal(text[n - 1], '\n');
	close(fds[0]);
	close(fds[1]);
}

/* Fills the sink until lines are lost; a sink that blocks hangs here. */
static void check_never_blocks(int write_fd)
{
	int old = replace_stderr(write_fd);
	uint64_t before;

	log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
	before = log_dropped_count();
	errno = ERANGE;
	for (int i = 0; i < 5000; i++)
		log_write(LOG_LEVEL_INFO, "%0200d", i);
	assert_int_equal(errno, ERANGE);
	restore_stderr(old);
	assert_true(log_dropped_count() > before);
	assert_true(log_dropped_count() < before + 5000);
}

static void log_never_blocks_on_a_pipe(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	check_never_blocks(fds[1]);
	close(fds[0]);
	close(fds[1]);
}

static void log_never_blocks_on_a_socket(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	check_never_blocks(fds[1]);
	assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
	close(fds[0]);
	close(fds[1]);
}

static void log_survives_a_reader_that_is_gone(void **state)
{
	int fds[2];
	int old;
	uint64_t before;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	old = replace_stderr(fds[1]);
	log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
	close(fds[0]);
	before = log_dropped_count();
	log_write(LOG_LEVEL_ERROR, "nobody reads this");
	restore_stderr(old);
	assert_int_equal(log_dropped_count(), before + 1);
	close(fds[1]);
}

static void log_writes_to_a_file(void **state)
{
	FILE *file = tmpfile();
	char text[200] = "";
	int old;

	(void)state;
	assert_non_null(file);
	old = replace_stderr(fileno(file));
	log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
	log_write_fields(LOG_LEVEL_NOTICE, (const struct log_field[]){{"ZG_X", "y"}, {0}}, "hello");
	restore_stderr(old);
	rewind(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_non_null(strstr(text, " notice hello\n"));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log_names),
		cmocka_unit_test(log_writes_lines_to_a_pipe),
		cmocka_unit_test(log_never_blocks_on_a_pipe),
		cmocka_unit_test(log_never_blocks_on_a_socket),
		cmocka_unit_test(log_survives_a_reader_that_is_gone),
		cmocka_unit_test(log_writes_to_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
