// SPDX-License-Identifier: GPL-2.0-or-later
// Names and lines out of what commands print.
#include "cli/cli_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"

static void check_name(const char *thing, const char *name)
{
	json_t *json = json_loads(thing, JSON_DECODE_ANY, NULL);
	AUTO_FREE char *found = cli_format_name(json);

	if (name)
		assert_string_equal(found, name);
	else
		assert_null(found);
	json_decref(json);
}

static void names_are_those_of_other_commands(void **state)
{
	(void)state;
	check_name("{\"name\":\"web\",\"zone\":\"a\"}", "web");
	check_name("{\"id\":\"bd65\",\"zone\":\"a\"}", "bd65");
	check_name("{\"server_group\":\"web\",\"server\":\"web-1\"}", "web/web-1");
	check_name("{\"server_group\":\"web\"}", "web");
	check_name("{\"load_balancer\":\"shop\",\"listener\":\"http\"}", "shop/http");
	check_name("{\"service\":\"tcp 192.0.2.1:80\",\"load_balancer\":\"shop\"}",
		   "tcp 192.0.2.1:80");
	check_name("{\"revision\":12,\"who\":\"root\"}", "12");
	check_name("\"zone-a\"", "zone-a");
	check_name("{\"other\":1}", NULL);
}

static void check_written(const struct cli_format_wish *wish, const char *text,
			  const char *expected)
{
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, 1 << 16);
	cli_format_write(wish, text, strlen(text), &w);
	assert_string_equal(buf_text(&w), expected);
}

/* What has no name cannot be told by it: nothing is no answer. */
static void what_has_no_name_is_told(void **state)
{
	const struct cli_format_wish name = {.format = FORMAT_NAME},
				     asked = {.format = FORMAT_NAME, .asked = "shop"},
				     line = {.format = FORMAT_JSONL};
	static const char status[] = "{\"system\":{\"node\":\"gw\"},\"load_balancers\":[]}";
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 1 << 16);
	assert_false(cli_format_write(&name, status, strlen(status), &w));
	assert_int_equal(w.size, 0);
	assert_true(cli_format_write(&name, "[]", 2, &w));
	assert_true(cli_format_write(&asked, status, strlen(status), &w));
	assert_true(cli_format_write(&line, status, strlen(status), &w));
}

static void lists_are_lines(void **state)
{
	struct cli_format_wish wish = {.format = FORMAT_JSONL};

	(void)state;
	check_written(&wish, "[{\"name\": \"a\"},\n{\"name\": \"b\"}]",
		      "{\"name\":\"a\"}\n{\"name\":\"b\"}\n");
	check_written(&wish, "{\"items\": [{\"id\": \"1\"}], \"next_cursor\": null}",
		      "{\"id\":\"1\"}\n");
	check_written(&wish, "{\"status\": \"ok\"}", "{\"status\":\"ok\"}\n");
	check_written(&wish, "[]", "");
	wish.format = FORMAT_NAME;
	check_written(&wish, "[{\"name\":\"a\"},{\"name\":\"b\"}]", "a\nb\n");
	check_written(&wish, "{\"ipvs\":\"off\",\"services\":[{\"service\":\"tcp x\"}]}",
		      "tcp x\n");
	check_written(&wish,
		      "{\"ipvs\":\"auto\",\"findings\":[{\"severity\":\"error\",\"code\":\"x\"}]}",
		      "error/x\n");
}

static void one_thing_is_called_as_it_was_asked_for(void **state)
{
	struct cli_format_wish wish = {.format = FORMAT_NAME, .asked = "shop"};

	(void)state;
	check_written(&wish, "{\"cross_zone\":true,\"revision\":7}", "shop\n");
	check_written(&wish, "{\"services\":[{\"service\":\"tcp x\"}]}", "shop\n");
	wish.parent = "shop";
	check_written(&wish, "[{\"name\":\"http\"}]", "shop/http\n");
}

static void text_stays_as_it_is(void **state)
{
	struct cli_format_wish wish = {.format = FORMAT_NAME};

	(void)state;
	check_written(&wish, "Removed shop\n", "Removed shop\n");
	check_written(&wish, "", "");
}

static void objects_are_spelt_as_a_list_wants(void **state)
{
	AUTO_FREE char *event = cli_format_object("server-groups/web-1/servers", '_');
	AUTO_FREE char *audit = cli_format_object("load_balancers/a_b", '-');
	AUTO_FREE char *bare = cli_format_object("zones", '_');

	(void)state;
	assert_string_equal(event, "server_groups/web-1/servers");
	assert_string_equal(audit, "load-balancers/a_b");
	assert_string_equal(bare, "zones");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_other_commands),
		cmocka_unit_test(lists_are_lines),
		cmocka_unit_test(what_has_no_name_is_told),
		cmocka_unit_test(one_thing_is_called_as_it_was_asked_for),
		cmocka_unit_test(text_stays_as_it_is),
		cmocka_unit_test(objects_are_spelt_as_a_list_wants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
