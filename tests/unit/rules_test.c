// SPDX-License-Identifier: GPL-2.0-or-later
// The programs of iptables as they are called, in which order, and what is made of their ends.
#include "kernel/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "kernel/kernel.h"
#include "plan/rules_text.h"
#include "unit/fake_child.h"

static struct {
	struct rules rules;
	unsigned ends;
	enum rules_work work;
	enum ruleset_chain chain;
	int error;
	unsigned complaints;
	char complaint[200];
	char listing[RULES_TEXT_MAX];
} test;

static void on_done(void *ctx, enum rules_work work, enum ruleset_chain chain, int error)
{
	assert_ptr_equal(ctx, &test);
	test.ends++;
	test.work = work;
	test.chain = chain;
	test.error = error;
}

static void on_complaint(void *ctx, const char *program, const char *text)
{
	assert_ptr_equal(ctx, &test);
	test.complaints++;
	snprintf(test.complaint, sizeof(test.complaint), "%s: %s", program, text);
}

static void begin(enum kernel_iptables iptables)
{
	AUTO_BUF struct buf_writer w = {0};

	memset(&test, 0, sizeof(test));
	memset(&fake_child, 0, sizeof(fake_child));
	test.rules = (struct rules){
		.iptables = iptables, .ctx = &test, .done = on_done, .complained = on_complaint};
	buf_writer_init(&w, RULES_TEXT_MAX);
	rules_text_write_listing(&w, RULESET_V4);
	snprintf(test.listing, sizeof(test.listing), "%s", buf_text(&w));
}

static void expect_command(const char *command)
{
	assert_non_null(fake_child.running);
	assert_string_equal(fake_child.command, command);
}

static void expect_end(enum ruleset_chain chain, int error)
{
	assert_null(fake_child.running);
	assert_int_equal(test.ends, 1);
	assert_int_equal(test.error, error);
	if (!error)
		assert_int_equal(test.chain, chain);
	test.ends = 0;
}

static void set_with_success(void)
{
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	fake_child_end(1, "iptables: No chain/target/match by that name.\n");
	fake_child_end(0, "");
	fake_child_end(0, test.listing);
	expect_end(CHAIN_RIGHT, 0);
}

static void a_chain_is_set_by_one_restore(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	expect_command("iptables -w 5 -S ZONEGATE");
	fake_child_end(1, "iptables: No chain/target/match by that name.\n");
	expect_command("iptables-restore -w 5 --noflush");
	assert_non_null(strstr(fake_child.input, "-I INPUT -j ZONEGATE\n"));
	fake_child_end(0, "");
	expect_command("iptables -w 5 -S ZONEGATE");
	fake_child_end(0, test.listing);
	expect_end(CHAIN_RIGHT, 0);
	rules_clear(&test.rules);
}

static void one_that_is_there_keeps_its_jump(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_LEGACY);
	rules_start(&test.rules, RULES_SET, RULESET_V6);
	expect_command("ip6tables-legacy -w 5 -S ZONEGATE");
	fake_child_end(0, "-N ZONEGATE\n");
	expect_command("ip6tables-legacy -w 5 -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	expect_command("ip6tables-legacy-restore -w 5 --noflush");
	assert_null(strstr(fake_child.input, "INPUT"));
	fake_child_end(0, "");
	fake_child_end(0, "-N ZONEGATE\nwhatever it prints\n");
	expect_end(CHAIN_RIGHT, 0);
	rules_clear(&test.rules);
}

static void a_look_compares_with_what_was_learnt(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	/* Before anything was set: with the words of Debian's iptables, remarks left out. */
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	AUTO_FREE char *remarked = mem_printf("# Warning: legacy tables present\n%s", test.listing);
	fake_child_end(0, remarked);
	expect_command("iptables -w 5 -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	expect_end(CHAIN_RIGHT, 0);
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	fake_child_end(0, test.listing);
	fake_child_end(1, "iptables: Bad rule (does a matching rule exist in that chain?).\n");
	expect_end(CHAIN_WRONG, 0);
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	fake_child_end(0, "-N ZONEGATE\n-A ZONEGATE -j RETURN\n");
	fake_child_end(0, "");
	expect_end(CHAIN_WRONG, 0);
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	fake_child_end(1, "");
	expect_end(CHAIN_ABSENT, 0);
	assert_int_equal(test.complaints, 0);
	rules_clear(&test.rules);
}

static void the_backend_that_works_is_found(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-restore -w 5 --noflush");
	fake_child_end(4, "iptables-restore v1.8.9 (nf_tables): TABLE_ADD failed\n");
	expect_command("iptables-legacy -w 5 -S ZONEGATE");
	fake_child_end(1, "");
	expect_command("iptables-legacy-restore -w 5 --noflush");
	fake_child_end(0, "");
	expect_command("iptables-legacy -w 5 -S ZONEGATE");
	fake_child_end(0, test.listing);
	expect_end(CHAIN_RIGHT, 0);
	/* From now on it is the one. */
	rules_start(&test.rules, RULES_DELETE, RULESET_V4);
	expect_command("iptables-legacy -w 5 -S ZONEGATE");
	fake_child_end(0, test.listing);
	fake_child_end(0, "");
	expect_command("iptables-legacy-restore -w 5 --noflush");
	assert_non_null(strstr(fake_child.input, "-X ZONEGATE"));
	fake_child_end(0, "");
	expect_end(CHAIN_ABSENT, 0);
	assert_int_equal(test.complaints, 0);
	rules_clear(&test.rules);
}

static void a_chain_of_the_daemon_before_is_looked_for_in_all(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	rules_start(&test.rules, RULES_DELETE, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-legacy -w 5 -S ZONEGATE");
	fake_child_end(3, "can't initialize iptables table `filter': Table does not exist\n");
	expect_command("iptables-nft -w 5 -S ZONEGATE");
	fake_child_end(1, "");
	expect_end(CHAIN_ABSENT, 0);
	rules_clear(&test.rules);
}

static void what_fails_is_told_once_in_the_words_of_the_first(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	for (int i = 0; i < 2; i++) {
		rules_start(&test.rules, RULES_SET, RULESET_V4);
		for (int backend = 0; backend < 3; backend++) {
			fake_child_end(1, "");
			fake_child_end(2, backend ? "other words" : "first words");
		}
		expect_end(CHAIN_WRONG, -EOPNOTSUPP);
	}
	assert_int_equal(test.complaints, 1);
	assert_string_equal(test.complaint, "iptables-restore: first words");
	set_with_success();
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	fake_child_end(0, test.listing);
	fake_child_end(0, "");
	fake_child_end(2, "first words");
	expect_end(CHAIN_WRONG, -EPROTO);
	assert_int_equal(test.complaints, 2);
	rules_clear(&test.rules);
}

static void reasons_are_told_apart(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_LEGACY);
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	fake_child_end(4, "Fatal: can't open lock file /run/xtables.lock: Permission denied\n");
	expect_end(CHAIN_WRONG, -EACCES);
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	fake_child_end(4, "iptables: Permission denied (you must be root)\n");
	expect_end(CHAIN_WRONG, -EPERM);
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	fake_child_end(-1, "");
	expect_end(CHAIN_WRONG, -ETIMEDOUT);
	fake_child.missing = "iptables";
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	expect_end(CHAIN_WRONG, -ENOENT);
	rules_clear(&test.rules);
}

static void a_program_without_its_others_is_enough(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	fake_child.missing = "*-legacy";
	rules_start(&test.rules, RULES_READ, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-nft -w 5 -S ZONEGATE");
	fake_child.missing = "*-restore";
	fake_child_end(0, "-N ZONEGATE\n");
	fake_child_end(0, "");
	expect_end(CHAIN_WRONG, 0);
	rules_start(&test.rules, RULES_DELETE, RULESET_V4);
	fake_child_end(0, "-N ZONEGATE\n");
	fake_child_end(0, "");
	expect_end(CHAIN_WRONG, -ENOENT);
	rules_clear(&test.rules);
}

static void one_that_runs_is_ended(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	rules_start(&test.rules, RULES_SET, RULESET_V4);
	assert_non_null(fake_child.running);
	rules_clear(&test.rules);
	assert_null(fake_child.running);
	assert_int_equal(test.ends, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_set_by_one_restore),
		cmocka_unit_test(one_that_is_there_keeps_its_jump),
		cmocka_unit_test(a_look_compares_with_what_was_learnt),
		cmocka_unit_test(the_backend_that_works_is_found),
		cmocka_unit_test(a_chain_of_the_daemon_before_is_looked_for_in_all),
		cmocka_unit_test(what_fails_is_told_once_in_the_words_of_the_first),
		cmocka_unit_test(reasons_are_told_apart),
		cmocka_unit_test(a_program_without_its_others_is_enough),
		cmocka_unit_test(one_that_runs_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
