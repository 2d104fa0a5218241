// SPDX-License-Identifier: GPL-2.0-or-later
// A switch that no kernel has. (Real ones are written in the lab.)
#include "kernel/sysctl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_absent(void **unused)
{
	(void)unused;
	assert_int_equal(sysctl_read("no_such_switch"), -ENOENT);
	assert_int_equal(sysctl_write("no_such_switch", 1), -ENOENT);
}

/* What is below a folder of devices is raised where it is one less. */
static void test_all_of_a_kind(void **unused)
{
	static const struct {
		const char *device;
		const char *before;
		const char *after;
	} cases[] = {{"all", "1", "2"}, {"eth0", "1\n", "2"}, {"eth1", "0", "0"}, {"lo", "2", "2"}};
	char folder[] = "/tmp/sysctl-test-XXXXXX";

	(void)unused;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *device = mem_printf("%s/%s", folder, cases[i].device);
		AUTO_FREE char *path = mem_printf("%s/accept_ra", device);

		assert_int_equal(mkdir(device, 0700), 0);
		write_text(path, cases[i].before);
	}
	assert_int_equal(sysctl_raise_all(folder, "accept_ra", 2), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *device = mem_printf("%s/%s", folder, cases[i].device);
		AUTO_FREE char *path = mem_printf("%s/accept_ra", device);
		char text[8] = "";
		FILE *file = fopen(path, "re");

		assert_non_null(file);
		assert_non_null(fgets(text, sizeof(text), file));
		fclose(file);
		assert_int_equal(text[0], cases[i].after[0]);
		unlink(path);
		rmdir(device);
	}
	rmdir(folder);
	assert_int_equal(sysctl_raise_all(folder, "accept_ra", 2), 0); /* no IPv6 */
}

static void test_names_in_full(void **unused)
{
	(void)unused;
	assert_int_equal(sysctl_read("net.no_such_switch"), -ENOENT);
	assert_true(sysctl_read("net.ipv4.ip_forward") >= 0); /* every Linux has it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent),
					   cmocka_unit_test(test_all_of_a_kind),
					   cmocka_unit_test(test_names_in_full)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
