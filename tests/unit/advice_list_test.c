// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/advice.h"

#include "model_fixture.h"

#include "base/buf.h"

static void note(void *ctx, const char *code, const char *pointer, const char *detail)
{
	(void)detail;
	buf_write_format(ctx, "%s %s\n", code, pointer);
}

static void keep(void *ctx, const char *code, const char *pointer, const char *detail)
{
	(void)code;
	(void)pointer;
	buf_write_text(ctx, detail);
}

/* The advice about list a, in use (or not) by the listener of shop. */
static void expect(const char *list, bool used, advice_fn *fn, const char *expected)
{
	AUTO_FREE char *patch = mem_printf(
		"{'access_lists':{'a':%s},'load_balancers':{'shop':{'listeners':{'http':{%s}}}}}",
		list, used ? "'access_list':'a'" : "");
	struct snapshot *s = fixture_snapshot(fixture_patched(patch));
	const struct advice_place at = {.snapshot = s};
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, 4096);
	advice_give_list(&at, snapshot_find_access_list(s, "a"), fn, &w);
	assert_string_equal(buf_text(&w), expected);
	snapshot_unref(s);
}

#define ENTRY(cidr, action) "{'cidr':'" cidr "','action':'" action "'}"

static void lists_get_advice(void **state)
{
	(void)state;
	expect("{'entries':[" ENTRY("10.0.0.0/8", "allow") "]}", true, note, "");
	expect("{'entries':[" ENTRY("10.0.0.0/8", "allow") "]}", false, note,
	       "list_unused /access_lists/a\n");
	expect("{}", true, note, "list_denies_all /access_lists/a/default_action\n");
	expect("{'default_action':'allow'}", true, note,
	       "list_allows_all /access_lists/a/default_action\n");
	expect("{}", false, note, "list_unused /access_lists/a\n");
	expect("{'entries':[" ENTRY("10.0.0.0/8", "deny") "]}", true, note,
	       "entries_without_effect /access_lists/a/entries\n");
	expect("{'entries':[" ENTRY("10.0.0.0/8", "allow") "," ENTRY(
		       "10.1.0.0/16", "deny") "," ENTRY("10.1.2.0/24", "allow") "]}",
	       true, note, "");
}

static void sentences_name_what_is_around(void **state)
{
	(void)state;
	expect("{'entries':[" ENTRY("10.0.0.0/8", "deny") "]}", true, keep,
	       "1 entry changes nothing: without 10.0.0.0/8 it is denied all the same, by the default");
	expect("{'entries':[" ENTRY("10.0.0.0/8", "allow") "," ENTRY(
		       "10.1.0.0/16", "allow") "," ENTRY("10.2.0.0/16", "allow") "]}",
	       true, keep,
	       "2 entries change nothing: without 10.1.0.0/16 it is allowed all the same, by 10.0.0.0/8");
}

/* Of a long list the first entries are looked at, and no more are told. */
static void a_long_list_is_looked_at_in_part(void **state)
{
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 1 << 20);
	buf_write_text(&w, "{'entries':[" ENTRY("10.0.0.0/8", "allow"));
	for (unsigned i = 0; i < 2500; i++)
		buf_write_format(&w, ",{'cidr':'10.1.%u.%u/32','action':'allow'}", i / 250,
				 i % 250);
	buf_write_text(&w, "]}");
	expect(buf_text(&w), true, keep,
	       "1999 of the first 2000 entries change nothing: without 10.1.0.0/32 it is allowed all the "
	       "same, by 10.0.0.0/8");
}

static void document_has_that_of_its_lists(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_patched("{'access_lists':{'a':{}}}"));
	const struct advice_place at = {.snapshot = s};
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 65536);
	advice_give_document(&at, note, &w);
	assert_non_null(strstr(buf_text(&w), "list_unused /access_lists/a\n"));
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_get_advice),
		cmocka_unit_test(sentences_name_what_is_around),
		cmocka_unit_test(a_long_list_is_looked_at_in_part),
		cmocka_unit_test(document_has_that_of_its_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
