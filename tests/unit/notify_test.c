// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A manager that listens; its name begins with "@" or "/". */
static int listen_at(const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(sa.sun_path, name, strlen(name));
	if (name[0] == '@')
		sa.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, size), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void expect(int fd, const char *text)
{
	char buf[256] = "";

	assert_int_equal(recv(fd, buf, sizeof(buf) - 1, 0), (ssize_t)strlen(text));
	assert_string_equal(buf, text);
}

static void the_lines_arrive_as_one_message(void **state)
{
	char folder[] = "/tmp/notify_test.XXXXXX";
	char path[64];
	char abstract[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/notify", folder);
	fd = listen_at(path);
	assert_int_equal(notify_send("READY=1\nSTATUS=running"), 1);
	expect(fd, "READY=1\nSTATUS=running");
	close(fd);
	unlink(path);
	assert_int_equal(notify_send("STOPPING=1"), -ENOENT);
	rmdir(folder);

	snprintf(abstract, sizeof(abstract), "@zonegate/notify_test.%d", (int)getpid());
	fd = listen_at(abstract);
	assert_int_equal(notify_send("STOPPING=1"), 1);
	expect(fd, "STOPPING=1");
	close(fd);
}

static void without_a_manager_nothing_is_sent(void **state)
{
	char name[200];

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_send("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(notify_send("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(notify_send("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", "/", 1);
	assert_int_equal(notify_send("READY=1"), -EINVAL);
	memset(name, 'a', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_send("READY=1"), -EINVAL);
}

static void the_watchdog_is_asked_of_this_process(void **state)
{
	char pid[16];

	(void)state;
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(notify_watchdog_interval(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	assert_int_equal(notify_watchdog_interval(), 30000000);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(notify_watchdog_interval(), 30000000);
	setenv("WATCHDOG_PID", "1", 1); /* the parent's, inherited */
	assert_int_equal(notify_watchdog_interval(), 0);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "3 s", 1);
	assert_int_equal(notify_watchdog_interval(), 0);
	setenv("WATCHDOG_USEC", "-1", 1);
	assert_int_equal(notify_watchdog_interval(), 0);
	setenv("WATCHDOG_USEC", "99999999999999999999999", 1);
	assert_int_equal(notify_watchdog_interval(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lines_arrive_as_one_message),
		cmocka_unit_test(without_a_manager_nothing_is_sent),
		cmocka_unit_test(the_watchdog_is_asked_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
