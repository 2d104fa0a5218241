// SPDX-License-Identifier: GPL-2.0-or-later
// Files of /proc: they never block. CAP_NET_ADMIN is enough to write them, whoever the user is.
#include "kernel/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define FOLDER "/proc/sys/net/ipv4/vs/"

/* A descriptor or a negative errno. */
static int sysctl_open(const char *name, int flags)
{
	char path[sizeof(FOLDER) + 64];
	int fd;

	assert(name[0] && strlen(name) < 64);
	assert(name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0');
	snprintf(path, sizeof(path), FOLDER "%s", name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sysctl_read(const char *name)
{
	char text[32];
	int fd = sysctl_open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	return (int)strtol(text, NULL, 10);
}

int sysctl_write(const char *name, int value)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", value);
	int fd = sysctl_open(name, O_WRONLY);
	int error = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, (size_t)size) < 0)
		error = -errno;
	close(fd);
	return error;
}
