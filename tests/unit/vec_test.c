// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static int compare_numbers(const void *a, const void *b)
{
	const int *x = a;
	const int *y = b;

	return (*x > *y) - (*x < *y);
}

static void vec_keeps_order(void **state)
{
	int n[20];
	struct vec v = {0};

	(void)state;
	for (int i = 0; i < 20; i++) {
		n[i] = i;
		vec_push(&v, &n[i]);
	}
	vec_remove(&v, 0);
	vec_remove(&v, 18);
	vec_remove(&v, 5);
	assert_int_equal(v.count, 17);
	assert_ptr_equal(v.items[0], &n[1]);
	assert_ptr_equal(v.items[4], &n[5]);
	assert_ptr_equal(v.items[5], &n[7]);
	vec_insert(&v, 5, &n[6]);
	assert_ptr_equal(v.items[5], &n[6]);
	assert_ptr_equal(v.items[6], &n[7]);
	vec_clear(&v);
	assert_int_equal(v.count, 0);
	assert_null(v.items);
}

static void vec_sorts_and_finds(void **state)
{
	int n[] = {40, 10, 30, 20, 30};
	int key;
	size_t at;
	struct vec v = {0};

	(void)state;
	key = 1;
	assert_null(vec_find(&v, &key, compare_numbers, &at));
	assert_int_equal(at, 0);
	for (size_t i = 0; i < 5; i++)
		vec_push(&v, &n[i]);
	vec_sort(&v, compare_numbers);
	assert_ptr_equal(v.items[0], &n[1]);
	assert_ptr_equal(v.items[4], &n[0]);
	key = 30;
	assert_int_equal(*(int *)vec_find(&v, &key, compare_numbers, &at), 30);
	assert_int_equal(at, 2); /* the first of equals */
	key = 35;
	assert_null(vec_find(&v, &key, compare_numbers, &at));
	assert_int_equal(at, 4);
	key = 50;
	assert_null(vec_find(&v, &key, compare_numbers, &at));
	assert_int_equal(at, 5);
	key = 10;
	assert_ptr_equal(vec_find(&v, &key, compare_numbers, NULL), &n[1]);
	vec_clear(&v);
}

static bool number_equals(const void *key, const void *item)
{
	return *(const int *)key == *(const int *)item;
}

#define NUMBERS 1000

static void check_table(uint64_t (*hash)(int))
{
	static int n[NUMBERS];
	struct table t = {0};
	size_t cursor = 0;
	size_t seen = 0;
	int missing = -1;

	assert_null(table_find(&t, hash(5), &missing, number_equals));
	assert_null(table_remove(&t, hash(5), &missing, number_equals));
	for (int i = 0; i < NUMBERS; i++) {
		n[i] = i;
		table_add(&t, hash(i), &n[i]);
	}
	assert_int_equal(t.count, NUMBERS);
	for (int i = 0; i < NUMBERS; i += 3)
		assert_ptr_equal(table_remove(&t, hash(i), &i, number_equals), &n[i]);
	for (int i = 0; i < NUMBERS; i++) {
		void *found = table_find(&t, hash(i), &i, number_equals);

		assert_ptr_equal(found, i % 3 ? &n[i] : NULL);
	}
	while (table_next(&t, &cursor))
		seen++;
	assert_int_equal(seen, t.count);
	assert_int_equal(seen, NUMBERS - (NUMBERS + 2) / 3);
	table_clear(&t);
	assert_int_equal(t.capacity, 0);
}

static uint64_t hash_spread(int i)
{
	return hash_bytes(&i, sizeof(i), 0);
}

static uint64_t hash_colliding(int i)
{
	return 0xfffffff0u + (uint64_t)(i % 7);
}

static void table_finds_what_is_there(void **state)
{
	(void)state;
	check_table(hash_spread);
}

static void table_survives_collisions(void **state)
{
	(void)state;
	check_table(hash_colliding);
}

static void copies_go_their_own_way(void **state)
{
	static int numbers[40];
	static int other = 7;
	struct vec v = {0}, w;
	struct table t = {0}, u;

	(void)state;
	vec_copy(&v, &w);
	table_copy(&t, &u);
	assert_int_equal(w.count, 0);
	assert_null(table_replace(&u, 1, &numbers[0], number_equals, &other));
	for (int i = 0; i < 40; i++) {
		numbers[i] = i;
		vec_push(&v, &numbers[i]);
		table_add(&t, hash_colliding(i), &numbers[i]);
	}
	vec_copy(&v, &w);
	table_copy(&t, &u);
	vec_push(&w, &other);
	assert_int_equal(v.count, 40);
	assert_ptr_equal(w.items[39], &numbers[39]);
	assert_ptr_equal(table_replace(&u, hash_colliding(7), &other, number_equals, &other),
			 &numbers[7]);
	assert_ptr_equal(table_find(&u, hash_colliding(7), &other, number_equals), &other);
	assert_ptr_equal(table_find(&t, hash_colliding(7), &other, number_equals), &numbers[7]);
	for (int i = 8; i < 40; i++)
		assert_ptr_equal(table_find(&u, hash_colliding(i), &i, number_equals), &numbers[i]);
	assert_int_equal(u.count, 40);
	other = 99;
	assert_null(table_replace(&u, hash_colliding(99), &other, number_equals, &other));
	vec_clear(&v);
	vec_clear(&w);
	table_clear(&t);
	table_clear(&u);
}

static void hash_depends_on_all(void **state)
{
	(void)state;
	assert_int_equal(hash_text("abc", 1), hash_bytes("abc", 3, 1));
	assert_int_not_equal(hash_text("abc", 1), hash_text("abd", 1));
	assert_int_not_equal(hash_text("abc", 1), hash_text("abc", 2));
	assert_int_not_equal(hash_text("", 1), hash_bytes("", 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vec_keeps_order),
		cmocka_unit_test(vec_sorts_and_finds),
		cmocka_unit_test(table_finds_what_is_there),
		cmocka_unit_test(table_survives_collisions),
		cmocka_unit_test(copies_go_their_own_way),
		cmocka_unit_test(hash_depends_on_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
