// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/host_facts.h"

#include <errno.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "model_fixture.h"

static const struct addr loopback = {AF_INET, {127, 0, 0, 1}};

static bool has(const struct vec *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* A document whose one server is this host. */
static struct snapshot *of_loopback(void)
{
	return fixture_snapshot(fixture_patched(
		"{'load_balancers':{'names':null,'shop':{'zones':{'zb':null}}},"
		"'server_groups':{'web':{'servers':{'w2':null,'w1':{'address':'127.0.0.1'}}}}}"));
}

static void shell(const char *folder, const char *commands)
{
	AUTO_FREE char *line = mem_printf("cd %s && %s", folder, commands);

	assert_int_equal(system(line), 0);
}

static void files_of_the_host_are_read(void **state)
{
	char root[] = "/tmp/host-facts-XXXXXX";
	struct doctor_node node = {.snapshot = of_loopback()};
	struct snapshot *s = (struct snapshot *)(uintptr_t)node.snapshot;
	struct doctor_facts f;
	struct utsname name;

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(uname(&name), 0);
	AUTO_FREE char *make = mem_printf(
		"mkdir -p proc/sys/net/ipv4/conf/lo proc/1 proc/77 proc/78 proc/self usr/sbin lib/modules/%s "
		"sys/module/ip_vs/parameters sys/module/ip_vs_ftp/parameters && "
		"echo 21,2121 >sys/module/ip_vs_ftp/parameters/ports && echo 'ip_vs 1 0 - Live 0x0' >proc/modules && "
		"echo kernel/net/ip-vs-wrr.ko >lib/modules/%s/modules.builtin && "
		"echo 0 >proc/sys/net/ipv4/ip_forward && echo 2 >proc/sys/net/ipv4/conf/lo/rp_filter && "
		"echo 13 >sys/module/ip_vs/parameters/conn_tab_bits && echo init >proc/1/comm && "
		"echo keepalived >proc/77/comm && echo keepalived >proc/78/comm && "
		"mkdir -p proc/self/net/stat proc/79/net/stat proc/80 proc/81/net/stat proc/82 && "
		"for id in 77 78 80; do ln -s ../self/net proc/$id/net; done && "
		"for id in 79 80 82; do echo zonegated >proc/$id/comm; done && "
		"for id in 83 84; do mkdir proc/$id && ln -s ../self/net proc/$id/net; done && "
		"echo 'zonegated too' >proc/83/comm && echo zonegated >proc/84/comm && "
		"echo '84 (a) S 1) S %d 1' >proc/84/stat && echo '80 (zonegated) S 1 80' >proc/80/stat && echo firewalld >proc/81/comm && "
		"printf 'Name:\\tx\\nCapEff:\\t0000000000003000\\n' >proc/self/status && "
		"touch usr/sbin/xtables-legacy-multi && ln -s xtables-legacy-multi usr/sbin/iptables",
		name.release, name.release, getpid());
	shell(root, make);
	host_facts_read(root, &node, &f);
	assert_int_equal(f.modules_error, 0);
	assert_true(has(&f.modules, "ip_vs"));
	assert_int_equal(f.builtin_error, 0);
	assert_true(has(&f.builtin, "ip_vs_wrr"));
	assert_int_equal(f.sysctls[DOCTOR_FORWARD4].error, 0);
	assert_int_equal(f.sysctls[DOCTOR_FORWARD4].value, 0);
	assert_int_equal(f.sysctls[DOCTOR_VS_REUSE].error, -ENOENT);
	assert_int_equal(f.table_bits.value, 13);
	assert_int_equal(f.ftp_error, 0);
	assert_int_equal(f.ftp_port_count, 2);
	assert_int_equal(f.ftp_ports[1], 2121);
	assert_int_equal(f.capabilities.error, 0);
	assert_int_equal(f.capabilities.value, 0x3000);
	assert_int_equal(f.processes_error, 0);
	assert_int_equal(f.processes.count, 1);
	assert_true(has(&f.processes, "keepalived"));
	assert_int_equal(f.other_daemon, 80);
	assert_string_equal(f.iptables, "legacy");
	assert_true(f.link_count > 0);
	for (size_t i = 0; i < f.link_count; i++)
		if (strcmp(f.links[i].name, "lo") == 0)
			assert_int_equal(f.links[i].rp_filter.value, 2);
	assert_int_equal(f.route_count, 1);
	assert_int_equal(addr_compare(&f.routes[0].to, &loopback), 0);
	doctor_facts_clear(&f);

	shell(root, "rm -r proc usr lib sys");
	host_facts_read(root, &node, &f);
	assert_int_equal(f.modules_error, -ENOENT);
	assert_int_equal(f.builtin_error, -ENOENT);
	assert_int_equal(f.ftp_error, -ENOENT);
	assert_int_equal(f.capabilities.error, -ENOENT);
	assert_int_equal(f.processes_error, -ENOENT);
	assert_string_equal(f.iptables, "");
	doctor_facts_clear(&f);
	rmdir(root);
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_host_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
