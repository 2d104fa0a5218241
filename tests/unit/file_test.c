// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/zonegate-file-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"text", "fifo", "socket"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path AUTO_FREE = mem_printf("%s/%s", folder, names[i]);

		unlink(path);
	}
	return rmdir(folder);
}

static char *write_text(size_t size)
{
	char *path = mem_printf("%s/text", folder);
	char *text AUTO_FREE = mem_alloc(size + 1);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memset(text, 'x', size);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
	return path;
}

static void a_file_is_read_whole(void **state)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 20000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *path AUTO_FREE = write_text(sizes[i]);
		char *text AUTO_FREE = NULL;
		size_t size = 1;

		assert_int_equal(file_read(path, 20000, &text, &size), 0);
		assert_int_equal(size, sizes[i]);
		assert_int_equal(strlen(text), sizes[i]);
	}
}

static void assert_refused(const char *path, int error, const char *part)
{
	char buf[FILE_FAULT_MAX];
	char *text = NULL;
	size_t size = 77;

	assert_int_equal(file_read(path, 100, &text, &size), error);
	assert_null(text);
	assert_int_equal(size, 77);
	assert_int_equal(file_check(path, 100), error);
	if (!strstr(file_describe_fault(path, 100, error, buf), part))
		fail_msg("%s: \"%s\" does not hold \"%s\"", path, buf, part);
}

/* None of them is waited for. */
static void what_is_no_file_is_refused(void **state)
{
	char *fifo AUTO_FREE = mem_printf("%s/fifo", folder);
	char *place AUTO_FREE = mem_printf("%s/socket", folder);
	char *nothing AUTO_FREE = mem_printf("%s/nothing", folder);
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	memcpy(sa.sun_path, place, strlen(place) + 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_refused(fifo, -EMEDIUMTYPE, "is a FIFO: name a regular file");
	assert_refused(place, -EMEDIUMTYPE, "is a socket");
	assert_refused("/dev/zero", -EMEDIUMTYPE, "is a device");
	assert_refused(folder, -EMEDIUMTYPE, "is a folder");
	assert_refused(nothing, -ENOENT, "cannot be read: No such file");
	close(fd);
}

static void sizes_are_bounded(void **state)
{
	char *path AUTO_FREE = write_text(101);
	char *text AUTO_FREE = NULL;
	size_t size;

	(void)state;
	assert_refused(path, -EFBIG, "larger than 100 bytes");
	assert_int_equal(file_check(path, 0), 0);
	/* One whose size is not told is bounded while it is read. */
	assert_int_equal(file_read("/proc/self/maps", 100, &text, &size), -EFBIG);
	assert_int_equal(file_read("/proc/self/comm", 100, &text, &size), 0);
	assert_true(size > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_read_whole, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_refused, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(sizes_are_bounded, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
