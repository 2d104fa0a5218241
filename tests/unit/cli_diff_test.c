// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void assert_change(const char *json, bool color, const char *text)
{
	AUTO_BUF struct buf_writer w;
	json_t *change = json_loads(json, 0, NULL);

	assert_non_null(change);
	buf_writer_init(&w, 1 << 16);
	cli_diff_write_change(change, color, &w);
	assert_string_equal(buf_text(&w), text);
	json_decref(change);
}

static void diff_shows_changes(void **state)
{
	(void)state;
	assert_change(
		"{\"action\":\"update\",\"path\":\"/a/b\",\"old\":{\"weight\":1,\"same\":2,\"zone\":\"x\",\"c\":{\"p\":1,\"q\":2}},"
		"\"new\":{\"weight\":7,\"same\":2,\"c\":{\"p\":1,\"q\":3}}}",
		false,
		"~ /a/b\n    weight: 1 -> 7\n    zone: \"x\" -> (not set)\n    c.q: 2 -> 3\n");
	assert_change(
		"{\"action\":\"create\",\"path\":\"/a/b\",\"old\":null,\"new\":{\"weight\":1,\"c\":{\"p\":true}}}",
		false, "+ /a/b\n    weight: 1\n    c.p: true\n");
	assert_change(
		"{\"action\":\"delete\",\"path\":\"/a/b\",\"old\":{\"weight\":1},\"new\":null}",
		false, "- /a/b\n");
	assert_change("{\"action\":\"delete\",\"path\":\"/a\",\"old\":{},\"new\":null}", true,
		      "\033[31m- /a\033[0m\n");
	assert_change("{}", false, "~ ?\n");
}

static void assert_patch(const char *const *assignments, const char *text)
{
	json_t *patch = json_object();
	char *got;

	for (; *assignments; assignments++)
		assert_int_equal(cli_diff_set_member(patch, *assignments), 0);
	got = json_dumps(patch, JSON_COMPACT);
	assert_string_equal(got, text);
	free(got);
	json_decref(patch);
}

static void diff_makes_patches(void **state)
{
	static const char *const bad[] = {"",       "weight", "=1",     ".a=1", "a.=1",
					  "a..b=1", "x.y=1",  "a=\xff", "a=",   "a.b="};
	json_t *patch = json_pack("{s:i}", "x", 1);

	(void)state;
	assert_patch(
		(const char *const[]){"weight=7", "zone=za", "enabled=false", "comment=a=b",
				      "port=\"80\"", NULL},
		"{\"weight\":7,\"zone\":\"za\",\"enabled\":false,\"comment\":\"a=b\",\"port\":\"80\"}");
	assert_patch(
		(const char *const[]){"c.type=http", "c.path=/up", "zone=null", "list=[1,2]",
				      "address=10.0.0.1", NULL},
		"{\"c\":{\"type\":\"http\",\"path\":\"/up\"},\"zone\":null,\"list\":[1,2],\"address\":\"10.0.0.1\"}");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (cli_diff_set_member(patch, bad[i]) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
	}
	json_decref(patch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diff_shows_changes),
		cmocka_unit_test(diff_makes_patches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
