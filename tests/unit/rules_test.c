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
	char text[RULES_TEXT_MAX / 64]; /* "absent" for NULL */
	int error;
	unsigned complaints;
	char complaint[200];
	char listing[RULES_TEXT_MAX / 64];
} test;

static void on_done(void *ctx, enum rules_work work, const char *text, int error)
{
	assert_ptr_equal(ctx, &test);
	test.ends++;
	test.work = work;
	snprintf(test.text, sizeof(test.text), "%s", text ? text : "absent");
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
	rules_text_write(&w, &(struct rules_plan){.guard = true}, RULESET_V4, RULESET_FILTER);
	snprintf(test.listing, sizeof(test.listing), "%s", buf_text(&w));
}

static void start(enum rules_work work, enum ruleset_family f)
{
	const struct rules_place at = {.family = f};

	rules_start(&test.rules, work, &at, work == RULES_SET ? test.listing : NULL);
}

static void expect_command(const char *command)
{
	assert_non_null(fake_child.running);
	assert_string_equal(fake_child.command, command);
}

static void expect_end(const char *text, int error)
{
	assert_null(fake_child.running);
	assert_int_equal(test.ends, 1);
	assert_int_equal(test.error, error);
	if (!error)
		assert_string_equal(test.text, text);
	test.ends = 0;
}

static void set_with_success(void)
{
	start(RULES_SET, RULESET_V4);
	fake_child_end(1, "iptables: No chain/target/match by that name.\n");
	fake_child_end(0, "");
	fake_child_end(0, test.listing);
	expect_end(test.listing, 0);
}

static void a_chain_is_set_by_one_restore(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	start(RULES_SET, RULESET_V4);
	expect_command("iptables -w 1 -t filter -S ZONEGATE");
	fake_child_end(1, "iptables: No chain/target/match by that name.\n");
	expect_command("iptables-restore -w 1 --noflush");
	assert_non_null(strstr(fake_child.input, "-I INPUT -j ZONEGATE\n"));
	fake_child_end(0, "");
	expect_command("iptables -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, test.listing);
	expect_end(test.listing, 0);
	rules_clear(&test.rules);
}

static void one_that_is_there_keeps_its_jump(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_LEGACY);
	start(RULES_SET, RULESET_V6);
	expect_command("ip6tables-legacy -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, "-N ZONEGATE\n");
	expect_command("ip6tables-legacy -w 1 -t filter -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	expect_command("ip6tables-legacy-restore -w 1 --noflush");
	assert_null(strstr(fake_child.input, "INPUT"));
	fake_child_end(0, "");
	fake_child_end(0, "-N ZONEGATE\nwhatever it prints\n");
	expect_end(test.listing, 0);
	rules_clear(&test.rules);
}

static void a_look_compares_with_what_was_learnt(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	/* Before anything was set: with the words of Debian's iptables, remarks left out. */
	start(RULES_READ, RULESET_V4);
	AUTO_FREE char *remarked = mem_printf("# Warning: legacy tables present\n%s", test.listing);
	fake_child_end(0, remarked);
	expect_command("iptables -w 1 -t filter -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	expect_end(test.listing, 0);
	start(RULES_READ, RULESET_V4);
	fake_child_end(0, test.listing);
	fake_child_end(1, "iptables: Bad rule (does a matching rule exist in that chain?).\n");
	expect_end(RULES_STRANGE, 0);
	start(RULES_READ, RULESET_V4);
	fake_child_end(0, "-N ZONEGATE\n-A ZONEGATE -j RETURN\n");
	fake_child_end(0, "");
	expect_end("-N ZONEGATE\n-A ZONEGATE -j RETURN\n", 0);
	start(RULES_READ, RULESET_V4);
	fake_child_end(1, "");
	expect_end("absent", 0);
	assert_int_equal(test.complaints, 0);
	rules_clear(&test.rules);
}

static void the_backend_that_works_is_found(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	start(RULES_SET, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-restore -w 1 --noflush");
	fake_child_end(4, "iptables-restore v1.8.9 (nf_tables): TABLE_ADD failed\n");
	expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
	fake_child_end(1, "");
	expect_command("iptables-legacy-restore -w 1 --noflush");
	fake_child_end(0, "");
	expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, test.listing);
	expect_end(test.listing, 0);
	/* From now on it is the one. */
	start(RULES_DELETE, RULESET_V4);
	expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, test.listing);
	fake_child_end(0, "");
	expect_command("iptables-legacy-restore -w 1 --noflush");
	assert_non_null(strstr(fake_child.input, "-X ZONEGATE"));
	fake_child_end(0, "");
	expect_end("absent", 0);
	assert_int_equal(test.complaints, 0);
	rules_clear(&test.rules);
}

static void a_chain_of_the_daemon_before_is_looked_for_in_all(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	start(RULES_DELETE, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
	fake_child_end(3, "can't initialize iptables table `filter': Table does not exist\n");
	expect_command("iptables-nft -w 1 -t filter -S ZONEGATE");
	fake_child_end(1, "");
	expect_end("absent", 0);
	rules_clear(&test.rules);
}

static void what_fails_is_told_once_in_the_words_of_all(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	for (int i = 0; i < 2; i++) {
		start(RULES_SET, RULESET_V4);
		for (int backend = 0; backend < 3; backend++) {
			fake_child_end(1, "");
			fake_child_end(2, backend ? "other words\n" : "first words\n");
		}
		expect_end(RULES_STRANGE, -EOPNOTSUPP);
	}
	assert_int_equal(test.complaints, 1);
	assert_string_equal(test.complaint,
			    "iptables-restore: first words; iptables-legacy-restore: other words");
	assert_string_equal(rules_words(&test.rules, RULESET_V4),
			    "first words; iptables-legacy-restore: other words");
	assert_null(rules_words(&test.rules, RULESET_V6));
	set_with_success();
	assert_null(rules_words(&test.rules, RULESET_V4));
	start(RULES_SET, RULESET_V4);
	fake_child_end(0, test.listing);
	fake_child_end(0, "");
	fake_child_end(2, "first words");
	expect_end(RULES_STRANGE, -EPROTO);
	assert_int_equal(test.complaints, 2);
	rules_clear(&test.rules);
}

static void reasons_are_told_apart(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_LEGACY);
	start(RULES_SET, RULESET_V4);
	fake_child_end(4, "Fatal: can't open lock file /run/xtables.lock: Permission denied\n");
	expect_end(RULES_STRANGE, -EACCES);
	start(RULES_SET, RULESET_V4);
	fake_child_end(4, "iptables: Permission denied (you must be root)\n");
	expect_end(RULES_STRANGE, -EPERM);
	start(RULES_READ, RULESET_V4);
	fake_child_end(-1, "");
	expect_end(RULES_STRANGE, -ETIMEDOUT);
	fake_child.missing = "iptables";
	start(RULES_READ, RULESET_V4);
	expect_end(RULES_STRANGE, -ENOENT);
	/* Also one that only the child misses. */
	fake_child.missing = NULL;
	start(RULES_READ, RULESET_V4);
	fake_child_end(127, "");
	expect_end(RULES_STRANGE, -ENOENT);
	start(RULES_READ, RULESET_V4);
	fake_child_end(127, "some words");
	expect_end(RULES_STRANGE, -EOPNOTSUPP);
	rules_clear(&test.rules);
}

#define HELD                                                               \
	"Can't lock /run/xtables.lock: Resource temporarily unavailable\n" \
	"Another app is currently holding the xtables lock. Stopped waiting after 1s.\n"

/* Else rules of ours would stand in two of them, and be removed from one. */
static void who_waits_for_the_lock_turns_to_no_other_backend(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	start(RULES_SET, RULESET_V4);
	fake_child_end(4, HELD);
	expect_end(RULES_STRANGE, -EBUSY);
	start(RULES_READ, RULESET_V4);
	fake_child_end(1, "");
	fake_child_end(4, HELD);
	expect_end(RULES_STRANGE, -EBUSY);
	/* The one that is known stays it. */
	start(RULES_READ, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
	fake_child_end(0, test.listing);
	fake_child_end(0, "");
	expect_end(test.listing, 0);
	for (int i = 0; i < 2; i++) {
		start(RULES_READ, RULESET_V4);
		expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
		fake_child_end(i ? -1 : 4, i ? "" : HELD);
		expect_end(RULES_STRANGE, i ? -ETIMEDOUT : -EBUSY);
	}
	start(RULES_SET, RULESET_V4);
	expect_command("iptables-legacy -w 1 -t filter -S ZONEGATE");
	rules_clear(&test.rules);
}

#define WITH_MORE "-N ZONEGATE\n-A ZONEGATE -j ZONEGATE-MORE\n"
#define MORE      "-N ZONEGATE-MORE\n-A ZONEGATE-MORE -j DROP\n"

static void chains_that_it_goes_to_are_read_too(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	start(RULES_READ, RULESET_V4);
	fake_child_end(0, WITH_MORE);
	expect_command("iptables -w 1 -t filter -S ZONEGATE-MORE");
	fake_child_end(0, MORE);
	expect_command("iptables -w 1 -t filter -C INPUT -j ZONEGATE");
	fake_child_end(0, "");
	expect_end(WITH_MORE MORE, 0);
	/* They go with the rules that need them no more. */
	start(RULES_SET, RULESET_V4);
	fake_child_end(0, WITH_MORE);
	fake_child_end(0, MORE);
	fake_child_end(0, "");
	assert_non_null(strstr(fake_child.input, "-X ZONEGATE-MORE\n"));
	fake_child_end(0, "");
	fake_child_end(0, test.listing);
	expect_end(test.listing, 0);
	/* A program that does not print what it lists is not asked for ever. */
	start(RULES_READ, RULESET_V4);
	fake_child_end(0, WITH_MORE);
	fake_child_end(0, "");
	expect_end(RULES_STRANGE, -EPROTO);
	rules_clear(&test.rules);
}

static void a_program_without_its_others_is_enough(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	fake_child.missing = "*-legacy";
	start(RULES_READ, RULESET_V4);
	fake_child_end(1, "");
	expect_command("iptables-nft -w 1 -t filter -S ZONEGATE");
	fake_child.missing = "*-restore";
	fake_child_end(0, "-N ZONEGATE\n");
	fake_child_end(0, "");
	expect_end("-N ZONEGATE\n", 0);
	start(RULES_DELETE, RULESET_V4);
	fake_child_end(0, "-N ZONEGATE\n");
	fake_child_end(0, "");
	expect_end(RULES_STRANGE, -ENOENT);
	rules_clear(&test.rules);
}

static void one_that_runs_is_ended(void **state)
{
	(void)state;
	begin(KERNEL_IPTABLES_AUTO);
	start(RULES_SET, RULESET_V4);
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
		cmocka_unit_test(what_fails_is_told_once_in_the_words_of_all),
		cmocka_unit_test(reasons_are_told_apart),
		cmocka_unit_test(who_waits_for_the_lock_turns_to_no_other_backend),
		cmocka_unit_test(chains_that_it_goes_to_are_read_too),
		cmocka_unit_test(a_program_without_its_others_is_enough),
		cmocka_unit_test(one_that_runs_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
