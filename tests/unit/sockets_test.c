// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/sockets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void sockets_make_unix(void **state)
{
	char folder[] = "/tmp/zonegate-sockets-XXXXXX", path[64];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_ERR struct err e = {0};
	int fd, second, client;
	struct stat st;
	uid_t uid = 12345;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	assert_int_equal(sockets_open_unix(path, &e, &fd), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);

	/* In use: refused, and still there. */
	assert_int_not_equal(sockets_open_unix(path, &e, &second), 0);
	assert_non_null(strstr(err_first(&e), "in use"));
	strcpy(sa.sun_path, path);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&sa, sizeof(sa)), 0);
	usleep(1000);
	second = accept(fd, NULL, NULL); /* the probe of the refused one, or ours */
	assert_true(second >= 0);
	assert_int_equal(sockets_peer_uid(second, &uid), 0);
	assert_int_equal(uid, getuid());
	close(second);
	close(client);
	close(fd);

	/* Left behind by a daemon that died: replaced. */
	err_clear(&e);
	assert_int_equal(sockets_open_unix(path, &e, &fd), 0);
	close(fd);
	unlink(path);

	/* A file: refused, and untouched. */
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_not_equal(sockets_open_unix(path, &e, &fd), 0);
	assert_non_null(strstr(err_first(&e), "no socket"));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	rmdir(folder);
}

static void sockets_stay_on_loopback(void **state)
{
	static const char *const bad[] = {
		"0.0.0.0:80",
		"192.0.2.1:80",
		"[::]:80",
		"[2001:db8::1]:80",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:x",
		"localhost:80",
		":80",
		"[127.0.0.1]x:80",
		"[::1:80",
		"",
		"127.0.0.1:-1",
	};
	AUTO_ERR struct err e = {0};
	int fd = -1, second;
	char taken[32];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (sockets_open_tcp(bad[i], FRONT_LOOPBACK, &e, &fd) == 0)
			fail_msg("%s was taken", bad[i]);
	}
	assert_string_equal(e.faults[0].pointer, "[api] listen");
	assert_int_equal(sockets_open_tcp("127.0.0.1:0", FRONT_LOOPBACK, &e, &fd), 0);
	assert_true(sockets_port(fd) > 0);
	err_clear(&e);
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", (unsigned)sockets_port(fd));
	assert_int_not_equal(sockets_open_tcp(taken, FRONT_LOOPBACK, &e, &second), 0);
	assert_non_null(strstr(err_first(&e), "in use: `ss -ltnp` shows"));
	close(fd);
	assert_int_equal(sockets_port(-1), 0);
}

/* TLS listens anywhere, but on what is an address only. */
static void sockets_let_tls_listen_anywhere(void **state)
{
	AUTO_ERR struct err e = {0};
	struct addr local;
	int fd;

	(void)state;
	assert_int_equal(sockets_check_tcp("192.0.2.1:7443", FRONT_TLS, &e), 0);
	assert_int_not_equal(sockets_check_tcp("192.0.2.1:7443", FRONT_LOOPBACK, &e), 0);
	assert_int_not_equal(sockets_check_tcp("gateway:7443", FRONT_TLS, &e), 0);
	assert_string_equal(e.faults[1].pointer, "[api] tls_listen");
	assert_int_equal(sockets_open_tcp("0.0.0.0:0", FRONT_TLS, &e, &fd), 0);
	assert_true(sockets_port(fd) > 0);
	assert_int_equal(sockets_local_address(fd, &local), 0);
	assert_int_equal(local.family, AF_INET);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_make_unix),
		cmocka_unit_test(sockets_stay_on_loopback),
		cmocka_unit_test(sockets_let_tls_listen_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
