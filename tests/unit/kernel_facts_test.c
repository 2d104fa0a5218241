// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/kernel_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void modules_of_ipvs_and_tracking_are_named(void **state)
{
	char path[] = "/tmp/kernel-facts-XXXXXX";
	int fd = mkstemp(path);
	json_t *list;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_file(path,
		   "veth 28672 0 - Live 0x0\nip_vs_wrr 16384 2 - Live 0x0\n"
		   "ip_vs 200704 4 ip_vs_wrr, Live 0x0\nnf_conntrack 200704 1 ip_vs, Live 0x0\n"
		   "nf_conntrack_netlink 1 0 - Live 0x0\n");
	list = kernel_facts_modules(path);
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "ip_vs_wrr");
	assert_string_equal(json_string_value(json_array_get(list, 1)), "ip_vs");
	assert_string_equal(json_string_value(json_array_get(list, 2)), "nf_conntrack");
	json_decref(list);
	unlink(path);
	list = kernel_facts_modules(path);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

static void sysctls_that_are_there_have_their_values(void **state)
{
	char folder[] = "/tmp/kernel-facts-XXXXXX", command[256];
	const json_t *one;
	json_t *list;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(command, sizeof(command),
		       "mkdir -p %s/net/ipv4/vs && echo 1 >%s/net/ipv4/ip_forward && "
		       "echo none >%s/net/ipv4/vs/conntrack",
		       folder, folder, folder);
	assert_int_equal(system(command), 0);
	list = kernel_facts_sysctls(folder);
	assert_int_equal(json_array_size(list), 1);
	one = json_array_get(list, 0);
	assert_string_equal(json_string_value(json_object_get(one, "name")), "net.ipv4.ip_forward");
	assert_int_equal(json_integer_value(json_object_get(one, "value")), 1);
	json_decref(list);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	list = kernel_facts_sysctls(folder);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_of_ipvs_and_tracking_are_named),
		cmocka_unit_test(sysctls_that_are_there_have_their_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
