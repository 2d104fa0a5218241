// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

struct seen {
	char text[1024];
};

static void on_event(void *ctx, const char *event, const char *data)
{
	struct seen *s = ctx;
	size_t used = strlen(s->text);

	snprintf(s->text + used, sizeof(s->text) - used, "[%s|%s]", event, data);
}

static const char stream[] = ": ok\n\nretry: 2000\nid: 7\n\n"
			     "id: 8\nevent: shift.started\ndata: {\"a\":1}\n\n"
			     ": heartbeat\nid: 9\n\n"
			     "data: one\ndata:two\nunknown: x\n\n"
			     "event: lost\n\n";

static void events_come_whole_however_they_are_cut(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(stream); piece++) {
		struct seen s = {""};
		struct cli_follow f;

		cli_follow_init(&f, on_event, &s);
		for (size_t at = 0; at < sizeof(stream) - 1; at += piece) {
			size_t left = sizeof(stream) - 1 - at;

			assert_true(cli_follow_take(&f, stream + at, left < piece ? left : piece));
		}
		assert_string_equal(s.text, "[shift.started|{\"a\":1}][|one\ntwo]");
		assert_string_equal(f.last_id, "9");
		cli_follow_clear(&f);
	}
}

static void a_new_connection_begins_anew_behind_the_id(void **state)
{
	struct seen s = {""};
	struct cli_follow f;

	(void)state;
	cli_follow_init(&f, on_event, &s);
	assert_true(cli_follow_take(&f, "id: 5\nevent: half\ndata: ha", 26));
	cli_follow_restart(&f);
	assert_true(cli_follow_take(&f, "event: whole\ndata: w\n\n", 22));
	assert_string_equal(s.text, "[whole|w]");
	assert_string_equal(f.last_id, "5");
	cli_follow_clear(&f);
}

static void a_line_without_end_is_refused(void **state)
{
	static char text[65536];
	struct seen s = {""};
	struct cli_follow f;
	bool taken = true;

	(void)state;
	memset(text, 'x', sizeof(text));
	cli_follow_init(&f, on_event, &s);
	for (int i = 0; i < 8 && taken; i++)
		taken = cli_follow_take(&f, text, sizeof(text));
	assert_false(taken);
	cli_follow_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_whole_however_they_are_cut),
		cmocka_unit_test(a_new_connection_begins_anew_behind_the_id),
		cmocka_unit_test(a_line_without_end_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
