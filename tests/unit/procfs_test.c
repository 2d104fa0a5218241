// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/procfs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void numbers_and_words_are_read(void **state)
{
	char folder[] = "/tmp/procfs-XXXXXX";
	struct vec words = {0};
	long long value = 7;

	(void)state;
	assert_non_null(mkdtemp(folder));
	AUTO_FREE char *net = mem_printf("%s/net", folder);
	AUTO_FREE char *file = mem_printf("%s/forward", net);
	assert_int_equal(mkdir(net, 0700), 0);
	assert_int_equal(procfs_read_sysctl(folder, "net.forward", &value), -ENOENT);
	put(file, "none\n");
	assert_int_equal(procfs_read_sysctl(folder, "net.forward", &value), -EINVAL);
	assert_int_equal(value, 7);
	put(file, "-1\n");
	assert_int_equal(procfs_read_sysctl(folder, "net.forward", &value), 0);
	assert_int_equal(value, -1);
	put(file, "ip_vs_wrr 16384 2 - Live 0x0\nkernel/fs/x.ko\n");
	assert_int_equal(procfs_list_words(file, &words), 0);
	assert_int_equal(words.count, 2);
	assert_string_equal(words.items[0], "ip_vs_wrr");
	assert_string_equal(words.items[1], "kernel/fs/x.ko");
	free(words.items[0]);
	free(words.items[1]);
	vec_clear(&words);
	unlink(file);
	assert_int_equal(procfs_list_words(file, &words), -ENOENT);
	rmdir(net);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_words_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
