// SPDX-License-Identifier: GPL-2.0-or-later
// With programs that are scripts below a folder of the test.
#include "host/host_rules.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "model_fixture.h"

/* In place of the library's: a number may be another process by then. */
static int kills;

int kill(pid_t pid, int signal)
{
	(void)pid;
	(void)signal;
	kills++;
	errno = EPERM;
	return -1;
}

struct bench {
	char root[32];
	struct doctor_facts facts;
};

static void write_file(const struct bench *b, const char *name, const char *text)
{
	AUTO_FREE char *path = mem_printf("%s/%s", b->root, name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void bench_open(struct bench *b, const char *modules)
{
	*b = (struct bench){.root = "/tmp/host-rules-XXXXXX"};
	assert_non_null(mkdtemp(b->root));
	AUTO_FREE char *line = mem_printf("mkdir -p %s/usr/sbin %s/proc", b->root, b->root);
	assert_int_equal(system(line), 0);
	write_file(b, "proc/modules", modules);
}

static void bench_close(struct bench *b)
{
	AUTO_FREE char *line = mem_printf("rm -r %s", b->root);

	assert_int_equal(system(line), 0);
	doctor_facts_clear(&b->facts);
}

/* A table that nobody has rules in is not looked at: that would make it. */
static void only_tables_with_rules_are_looked_at(void **state)
{
	const struct doctor_rules *r;
	struct bench b;

	(void)state;
	bench_open(
		&b,
		"iptable_filter 1 1 - Live 0x0\niptable_mangle 1 0 - Live 0x0\n"
		"iptable_nat 1 2 - Live 0x0\nip6table_raw 1 1 - Live 0x0\nip_tables 9 4 x, Live 0x0\n");
	write_file(&b, "usr/sbin/iptables-legacy-save",
		   "#!/bin/sh\necho \"*$2\"\necho \"-A FORWARD -j ACCEPT\"\necho COMMIT\n");
	write_file(&b, "usr/sbin/ip6tables-legacy-save", "#!/bin/sh\necho \"*$2\"\necho COMMIT\n");
	host_rules_read(b.root, &b.facts);
	assert_int_equal(b.facts.rules_error, 0);
	assert_int_equal(b.facts.rules.count, 2);
	r = b.facts.rules.items[0];
	assert_string_equal(r->text, "*filter\n-A FORWARD -j ACCEPT\nCOMMIT\n");
	assert_string_equal(r->program, "iptables-legacy");
	r = b.facts.rules.items[1];
	assert_string_equal(r->text, "*raw\nCOMMIT\n");
	assert_int_equal(r->family, RULESET_V6);
	doctor_facts_clear(&b.facts);
	/* Connections are tracked already, so the table nat changes nothing. */
	b.facts.sysctls[DOCTOR_TRACK_COUNT].value = 1;
	host_rules_read(b.root, &b.facts);
	assert_int_equal(b.facts.rules.count, 3);
	bench_close(&b);
}

static void nft_is_asked_for_all_tables(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "nf_tables 1 3 - Live 0x0\n");
	write_file(&b, "usr/sbin/iptables-nft-save", "#!/bin/sh\necho \"*filter\"\necho COMMIT\n");
	write_file(&b, "usr/sbin/ip6tables-nft-save", "#!/bin/sh\necho '# Warning: none' >&2\n");
	vec_push(&b.facts.modules, mem_strdup("nf_tables"));
	host_rules_read(b.root, &b.facts);
	assert_int_equal(b.facts.rules_error, 0);
	assert_int_equal(b.facts.rules.count, 2);
	bench_close(&b);
}

static void what_fails_is_noted(void **state)
{
	static const struct {
		const char *script;
		int error;
	} all[] = {
		{"#!/bin/sh\necho 'iptables: Permission denied (you must be root)' >&2; exit 4\n",
		 -EPROTO},
		{"#!/bin/sh\nexec sleep 30\n", -ETIMEDOUT},
		{"#!/bin/sh\nexec yes 0123456789012345678901234567890123456789\n", -EFBIG},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const usec_t start = time_monotonic();
		struct bench b;

		bench_open(&b, "iptable_filter 1 1 - Live 0x0\n");
		write_file(&b, "usr/sbin/iptables-legacy-save", all[i].script);
		host_rules_read(b.root, &b.facts);
		assert_int_equal(b.facts.rules_error, all[i].error);
		assert_string_equal(b.facts.rules_program, "iptables-legacy-save");
		assert_int_equal(b.facts.rules.count, 0);
		assert_true(time_monotonic() - start < 15 * USEC_PER_SEC);
		bench_close(&b);
	}
}

/* Others wait for the worker: no program holds it up beyond its time, and where one hangs the next would, too. */
static void programs_that_hang_take_two_seconds_together(void **state)
{
	static const char *const all[] = {"#!/bin/sh\nexec sleep 30\n",
					  "#!/bin/sh\nexec >&- 2>&-\nexec sleep 30\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const usec_t start = time_monotonic();
		struct bench b;

		bench_open(&b, "iptable_filter 1 1 - Live 0x0\niptable_raw 1 1 - Live 0x0\n"
			       "iptable_mangle 1 1 - Live 0x0\niptable_security 1 1 - Live 0x0\n");
		write_file(&b, "usr/sbin/iptables-legacy-save", all[i]);
		host_rules_read(b.root, &b.facts);
		assert_true(time_monotonic() - start < 6 * USEC_PER_SEC);
		bench_close(&b);
	}
}

/* The loop of the daemon reaps whatever ends, and its number is given to another. */
static void what_is_ended_is_the_program_and_no_number(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "iptable_filter 1 1 - Live 0x0\n");
	write_file(&b, "usr/sbin/iptables-legacy-save", "#!/bin/sh\nexec sleep 30\n");
	kills = 0;
	host_rules_read(b.root, &b.facts);
	assert_int_equal(b.facts.rules_error, -ETIMEDOUT);
	assert_int_equal(kills, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	bench_close(&b);
}

static void a_program_that_is_not_there_is_noted(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "ip6table_mangle 1 1 - Live 0x0\n");
	host_rules_read(b.root, &b.facts);
	assert_int_equal(b.facts.rules_error, -ENOENT);
	assert_string_equal(b.facts.rules_program, "ip6tables-legacy-save");
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_tables_with_rules_are_looked_at),
		cmocka_unit_test(nft_is_asked_for_all_tables),
		cmocka_unit_test(what_fails_is_noted),
		cmocka_unit_test(programs_that_hang_take_two_seconds_together),
		cmocka_unit_test(what_is_ended_is_the_program_and_no_number),
		cmocka_unit_test(a_program_that_is_not_there_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
