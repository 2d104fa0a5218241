// SPDX-License-Identifier: GPL-2.0-or-later
// The kind of a file is looked at before it is opened (opening some devices already does something) and again when it is
// open: another one may have its name by then.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int judge(const struct stat *st, size_t size_max)
{
	if (!S_ISREG(st->st_mode))
		return -EMEDIUMTYPE;
	return size_max && st->st_size > 0 && (size_t)st->st_size > size_max ? -EFBIG : 0;
}

int file_check(const char *path, size_t size_max)
{
	struct stat st;

	return stat(path, &st) < 0 ? -errno : judge(&st, size_max);
}

/* The size that stat(2) tells is no promise: files below /proc have none. */
static int read_up_to(int fd, size_t size_max, char **ret_text, size_t *ret_size)
{
	size_t capacity = 4096;
	size_t size = 0;
	char *text AUTO_FREE = mem_alloc(capacity + 1);

	for (;;) {
		ssize_t n = read(fd, text + size, capacity - size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		size += (size_t)n;
		if (size > size_max)
			return -EFBIG;
		if (n == 0)
			break;
		if (size == capacity) {
			capacity *= 2;
			text = mem_realloc_array(text, capacity + 1, 1);
		}
	}
	text[size] = '\0';
	*ret_text = text;
	*ret_size = size;
	text = NULL;
	return 0;
}

int file_read(const char *path, size_t size_max, char **ret_text, size_t *ret_size)
{
	struct stat st;
	int result = file_check(path, size_max);
	int fd;

	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	result = fstat(fd, &st) < 0 ? -errno : judge(&st, size_max);
	if (result == 0)
		result = read_up_to(fd, size_max, ret_text, ret_size);
	close(fd);
	return result;
}

bool file_is_open_to_all(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_mode & (S_IROTH | S_IWOTH);
}

const char *file_kind(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return "no regular file";
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	}
	return "no regular file";
}

const char *file_describe_fault(const char *path, size_t size_max, int error,
				char buf[FILE_FAULT_MAX])
{
	if (error == -EMEDIUMTYPE)
		snprintf(buf, FILE_FAULT_MAX, "is %s: name a regular file", file_kind(path));
	else if (error == -EFBIG)
		snprintf(buf, FILE_FAULT_MAX,
			 "is larger than %zu bytes: name the right file, or make it shorter",
			 size_max);
	else
		snprintf(buf, FILE_FAULT_MAX, "cannot be read: %s", strerror(-error));
	return buf;
}
