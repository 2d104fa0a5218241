// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/wishes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/internal.h"

struct asked {
	struct wish wish; /* first */
	const char *name;
};

struct scene {
	struct engine engine;
	struct wishes list;
	char answers[200]; /* "name: fault; " each */
	unsigned commits;
};

static void commit(void *ctx, struct batch *b, const struct store_row *rows, size_t count,
		   uint64_t token)
{
	struct scene *s = ctx;

	assert_null(b);
	assert_int_equal(count, 1);
	assert_string_equal(rows[0].kind, "shift");
	assert_true(token > 0);
	s->commits++;
}

static void answer(struct engine *e, struct wish *w)
{
	struct scene *s = (struct scene *)e;
	const struct asked *a = (struct asked *)w;
	size_t n = strlen(s->answers);

	snprintf(s->answers + n, sizeof(s->answers) - n, "%s: %s; ", a->name,
		 err_first(&w->faults));
	err_clear(&w->faults);
}

static void set_up(struct scene *s)
{
	*s = (struct scene){0};
	s->engine.next_token = 7;
	s->engine.ports.ctx = s;
	s->engine.ports.commit = commit;
}

static void test_one_commit_at_a_time_in_order(void **state)
{
	struct asked a = {.name = "a"}, b = {.name = "b"};
	struct store_row row = {.kind = "shift", .key = "1"};
	struct scene s;

	(void)state;
	set_up(&s);
	assert_true(wishes_idle(&s.list));
	wishes_add(&s.list, &a.wish);
	wishes_add(&s.list, &b.wish);
	assert_ptr_equal(wishes_next(&s.list), &a.wish);
	wishes_take(&s.list, &a.wish);
	wishes_commit(&s.engine, &s.list, &a.wish, &row);
	assert_int_equal(s.commits, 1);
	assert_null(wishes_next(&s.list)); /* b waits */
	assert_null(wishes_note_commit(&s.list, a.wish.token + 1));
	assert_ptr_equal(wishes_note_commit(&s.list, a.wish.token), &a.wish);
	assert_null(wishes_note_commit(&s.list, a.wish.token)); /* once */

	assert_ptr_equal(wishes_next(&s.list), &b.wish);
	wishes_take(&s.list, &b.wish);
	wishes_commit(&s.engine, &s.list, &b.wish, &row);
	assert_true(b.wish.token != a.wish.token);
	assert_ptr_equal(wishes_note_commit(&s.list, b.wish.token), &b.wish);
	assert_ptr_equal(s.list.finishing, &a.wish);
	wishes_finish(&s.list, &a.wish);
	assert_ptr_equal(s.list.finishing, &b.wish);
	assert_false(wishes_idle(&s.list));
	wishes_finish(&s.list, &b.wish);
	assert_true(wishes_idle(&s.list));
}

static void test_all_are_refused_at_the_end(void **state)
{
	struct asked a = {.name = "a"}, b = {.name = "b"}, c = {.name = "c"}, d = {.name = "d"};
	struct store_row row = {.kind = "shift", .key = "1"};
	struct scene s;

	(void)state;
	set_up(&s);
	wishes_commit(&s.engine, &s.list, &a.wish, &row);
	wishes_note_commit(&s.list, a.wish.token);
	wishes_commit(&s.engine, &s.list, &b.wish, &row);
	wishes_add(&s.list, &c.wish);
	wishes_add(&s.list, &d.wish);
	wishes_refuse(&s.engine, &s.list, answer);
	assert_string_equal(s.answers, "c: the daemon stops; d: the daemon stops; "
				       "b: the daemon stops; a: the daemon stops; ");
	assert_true(wishes_idle(&s.list));
}

static void test_why_the_store_refused(void **state)
{
	AUTO_ERR struct err err = {0};

	(void)state;
	assert_string_equal(wishes_store_fault(-ENOSPC, NULL), strerror(ENOSPC));
	assert_string_equal(wishes_store_fault(-EIO, &err), strerror(EIO));
	err_set(&err, ERR_UNAVAILABLE, "/x", "the disk is full");
	assert_string_equal(wishes_store_fault(-EIO, &err), "the disk is full");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_commit_at_a_time_in_order),
		cmocka_unit_test(test_all_are_refused_at_the_end),
		cmocka_unit_test(test_why_the_store_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
