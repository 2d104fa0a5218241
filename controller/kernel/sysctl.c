// SPDX-License-Identifier: GPL-2.0-or-later
// Files of /proc: they never block. CAP_NET_ADMIN is enough to write them, whoever the user is.
#include "kernel/sysctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define FOLDER          "/proc/sys/net/ipv4/vs/"
#define ALL             "/proc/sys/"
#define NAME_MAX_LENGTH 64

/* "net.ipv4.ip_forward" → "/proc/sys/net/ipv4/ip_forward" */
static void sysctl_find(const char *name, char ret_path[sizeof(FOLDER) + NAME_MAX_LENGTH])
{
	assert(name[0] && strlen(name) < NAME_MAX_LENGTH);
	assert(name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.*")] == '\0');
	if (!strchr(name, '.')) {
		snprintf(ret_path, sizeof(FOLDER) + NAME_MAX_LENGTH, FOLDER "%s", name);
		return;
	}
	snprintf(ret_path, sizeof(FOLDER) + NAME_MAX_LENGTH, ALL "%s", name);
	for (char *c = ret_path + strlen(ALL); *c; c++)
		if (*c == '.')
			*c = '/';
}

/* A descriptor or a negative errno. */
static int sysctl_open(const char *name, int flags)
{
	char path[sizeof(FOLDER) + NAME_MAX_LENGTH];
	int fd;

	sysctl_find(name, path);
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

static int sysctl_write_one(const char *path, int value)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", value);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)size) < 0)
		error = -errno;
	close(fd);
	return error;
}

static bool sysctl_holds(const char *path, int value)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && (int)strtol(text, NULL, 10) == value;
}

int sysctl_raise_all(const char *folder, const char *name, int value)
{
	DIR *d = opendir(folder);
	int error = d ? 0 : errno == ENOENT ? 0 : -errno;
	const struct dirent *one;

	while (d && (one = readdir(d)) != NULL) {
		AUTO_FREE char *path = mem_printf("%s/%s/%s", folder, one->d_name, name);
		int result = one->d_name[0] != '.' && sysctl_holds(path, value - 1)
				     ? sysctl_write_one(path, value)
				     : 0;

		if (result && result != -ENOENT) /* a device may go meanwhile */
			error = result;
	}
	if (d)
		closedir(d);
	return error;
}

int sysctl_write(const char *name, int value)
{
	char path[sizeof(FOLDER) + NAME_MAX_LENGTH];
	char *star;

	sysctl_find(name, path);
	star = strstr(path, "/*/");
	if (!star)
		return sysctl_write_one(path, value);
	*star = '\0';
	return sysctl_raise_all(path, star + strlen("/*/"), value);
}
