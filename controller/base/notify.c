// SPDX-License-Identifier: GPL-2.0-or-later
// The manager's protocol: one datagram to a Unix socket whose name begins with "/" or, in the abstract space, with "@".
#include "base/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int notify_send_to(const char *path, const char *lines)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	size_t length = strlen(path);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	ssize_t n;
	int fd;

	if ((path[0] != '/' && path[0] != '@') || length < 2 || length >= sizeof(sa.sun_path))
		return -EINVAL;
	memcpy(sa.sun_path, path, length);
	if (path[0] == '@')
		sa.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	n = sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)&sa, size);
	n = n < 0 ? -errno : 1;
	close(fd);
	return (int)n;
}

int notify_send(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");

	return path ? notify_send_to(path, lines) : 0;
}

/* All digits, or 0. */
static uint64_t notify_read_number(const char *text)
{
	char *end;
	uint64_t value;

	if (text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

uint64_t notify_watchdog_interval(void)
{
	const char *interval = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");

	if (!interval || (pid && notify_read_number(pid) != (uint64_t)getpid()))
		return 0;
	return notify_read_number(interval);
}
