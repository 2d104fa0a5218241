// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
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

/* ---- journald, played by the test in a mount namespace whose /run is its own ----------------- */

#define JOURNAL_DIRECTORY "/run/systemd/journal"
#define JOURNAL_SOCKET    JOURNAL_DIRECTORY "/socket"

#define CHILD_CHECK(condition)                                                \
	do {                                                                  \
		if (!(condition)) {                                           \
			dprintf(report, "line %d: %s", __LINE__, #condition); \
			_exit(1);                                             \
		}                                                             \
	} while (0)

static void enter_own_run(int report)
{
	CHILD_CHECK(unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) == 0);
	CHILD_CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHILD_CHECK(mount("tmpfs", "/run", "tmpfs", 0, "size=64k") == 0);
	CHILD_CHECK(mkdir("/run/systemd", 0755) == 0 && mkdir(JOURNAL_DIRECTORY, 0755) == 0);
}

static int listen_as_journald(int report)
{
	const struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	CHILD_CHECK(fd >= 0);
	CHILD_CHECK(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) == 0);
	return fd;
}

static void play_fields(int report)
{
	static const char want[] = "PRIORITY\n\x01\0\0\0\0\0\0\0"
				   "4\n"
				   "SYSLOG_IDENTIFIER\n\x09\0\0\0\0\0\0\0zonegated\n"
				   "MESSAGE\n\x06\0\0\0\0\0\0\0a is b\n"
				   "ZG_SERVER\n\x03\0\0\0\0\0\0\0x\ny\n";
	const struct log_field fields[] = {{"ZG_SERVER", "x\ny"}, {0}};
	char packet[1000];
	ssize_t n;
	int fd;

	enter_own_run(report);
	fd = listen_as_journald(report);
	log_open(LOG_TARGET_JOURNALD, LOG_LEVEL_INFO);
	log_write_fields(LOG_LEVEL_WARNING, fields, "a is %s", "b");
	n = recv(fd, packet, sizeof(packet), 0);
	CHILD_CHECK(n == sizeof(want) - 1 && memcmp(packet, want, sizeof(want) - 1) == 0);
}

/* More fields and longer ones than are taken: the line goes, cut. */
static void play_limits(int report)
{
	static char packet[65536];
	static char text[9000];
	struct log_field fields[21] = {{0}};
	uint64_t before = log_dropped_count();
	ssize_t n;
	int fd;

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < 20; i++)
		fields[i] = (struct log_field){"ZG_FIELD", text};
	enter_own_run(report);
	fd = listen_as_journald(report);
	log_open(LOG_TARGET_JOURNALD, LOG_LEVEL_INFO);
	log_write_fields(LOG_LEVEL_INFO, fields, "%s", text);
	n = recv(fd, packet, sizeof(packet), 0);
	CHILD_CHECK(n > 12 * 1000 && n < 20000);
	CHILD_CHECK(log_dropped_count() == before);
}

/* Full: lines are lost, not the caller. Restarted, with a new socket: lines go on. */
static void play_stall_and_restart(int report)
{
	uint64_t before = log_dropped_count();
	char packet[1000];
	int fd;

	enter_own_run(report);
	fd = listen_as_journald(report);
	log_open(LOG_TARGET_JOURNALD, LOG_LEVEL_INFO);
	for (int i = 0; i < 20000; i++)
		log_write(LOG_LEVEL_INFO, "%0500d", i);
	CHILD_CHECK(log_dropped_count() > before && log_dropped_count() < before + 20000);
	close(fd);
	CHILD_CHECK(unlink(JOURNAL_SOCKET) == 0);
	fd = listen_as_journald(report);
	log_write(LOG_LEVEL_INFO, "after the restart");
	CHILD_CHECK(recv(fd, packet, sizeof(packet), 0) > 0);
}

static void play_absent(int report)
{
	char text[1000] = "";
	int fds[2];

	enter_own_run(report);
	CHILD_CHECK(pipe(fds) == 0 && dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	log_open(LOG_TARGET_JOURNALD, LOG_LEVEL_INFO);
	log_write(LOG_LEVEL_INFO, "next");
	CHILD_CHECK(read(fds[0], text, sizeof(text) - 1) > 0);
	CHILD_CHECK(strstr(text, "warning log: journald cannot be reached"));
	CHILD_CHECK(strstr(text, "info next"));
}

static void run_play(void (*play)(int report))
{
	char fault[300] = "";
	int fds[2];
	int status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(20);
		play(fds[1]);
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (read(fds[0], fault, sizeof(fault) - 1) > 0 || status != 0)
		fail_msg("status 0x%x, %s", (unsigned)status, fault);
	close(fds[0]);
}

static void log_speaks_to_journald(void **state)
{
	(void)state;
	run_play(play_fields);
}

static void log_cuts_what_is_too_long(void **state)
{
	(void)state;
	run_play(play_limits);
}

static void log_survives_a_stalled_journald(void **state)
{
	(void)state;
	run_play(play_stall_and_restart);
}

static void log_falls_back_to_stderr(void **state)
{
	(void)state;
	run_play(play_absent);
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
		cmocka_unit_test(log_speaks_to_journald),
		cmocka_unit_test(log_cuts_what_is_too_long),
		cmocka_unit_test(log_survives_a_stalled_journald),
		cmocka_unit_test(log_falls_back_to_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
