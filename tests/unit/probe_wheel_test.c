// SPDX-License-Identifier: GPL-2.0-or-later
// The wheel against its promise: never early, at most one slot late, whatever the distance, in the order of adding.
#include "probe/probe_wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SLOT  PROBE_WHEEL_SLOT
#define NODES 20000

struct item {
	struct probe_wheel_node node;
	usec_t wanted;
	usec_t taken; /* 0 = not yet */
	unsigned order;
};

/* Takes all that is due at `now`; returns how many. */
static size_t take_all(struct probe_wheel *w, usec_t now)
{
	struct probe_wheel_node *list = NULL;
	size_t count = 0;

	while (probe_wheel_take(w, now, &list)) {
		while (list) {
			struct item *item = (struct item *)(void *)list;

			probe_wheel_remove(list);
			assert_int_equal(item->taken, 0);
			item->taken = now;
			item->order = (unsigned)count++;
		}
	}
	return count;
}

static void test_slots(void **state)
{
	static const struct {
		usec_t due, first_taken;
	} rows[] = {
		{0, SLOT},
		{1, SLOT},
		{SLOT - 1, SLOT},
		{SLOT, SLOT},
		{SLOT + 1, 2 * SLOT},
		{5 * SLOT, 5 * SLOT},
		{510 * SLOT, 510 * SLOT},
		{511 * SLOT, 511 * SLOT},
		{512 * SLOT, 512 * SLOT},
		{513 * SLOT, 513 * SLOT},
		{1024 * SLOT - 1, 1024 * SLOT},
		{1024 * SLOT + 1, 1025 * SLOT},
		{63 * 512 * SLOT, 63 * 512 * SLOT},
		{64 * 512 * SLOT, 64 * 512 * SLOT},
		{64 * 512 * SLOT + 7 * SLOT, 64 * 512 * SLOT + 7 * SLOT},
		{200 * 512 * SLOT + 3, 200 * 512 * SLOT + SLOT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* From several phases of the wheel. */
		for (usec_t phase = 0; phase < 1100 * SLOT; phase += 137 * SLOT) {
			struct probe_wheel w;
			struct item item = {0};
			usec_t next;

			probe_wheel_init(&w, phase);
			probe_wheel_add(&w, &item.node, phase + rows[i].due);
			while ((next = probe_wheel_next(&w)) < phase + rows[i].first_taken)
				assert_int_equal(take_all(&w, next), 0);
			assert_int_equal(next, phase + rows[i].first_taken);
			assert_int_equal(take_all(&w, next - 1), 0);
			assert_int_equal(take_all(&w, next), 1);
			assert_int_equal(probe_wheel_next(&w), USEC_NEVER);
		}
	}
}

static void test_past_means_next_slot(void **state)
{
	struct probe_wheel w;
	struct item item = {0};

	(void)state;
	probe_wheel_init(&w, 1000 * SLOT);
	probe_wheel_add(&w, &item.node, 3);
	assert_int_equal(take_all(&w, 1000 * SLOT), 0);
	assert_int_equal(take_all(&w, 1001 * SLOT), 1);
}

static void test_order_and_removal(void **state)
{
	struct probe_wheel w;
	struct probe_wheel_node *list = NULL;
	struct item items[4] = {0};

	(void)state;
	probe_wheel_init(&w, 0);
	assert_int_equal(probe_wheel_next(&w), USEC_NEVER);
	for (int i = 0; i < 4; i++)
		probe_wheel_add(&w, &items[i].node, 600 * SLOT); /* by way of a block */
	probe_wheel_remove(&items[1].node);
	probe_wheel_remove(&items[1].node); /* in no list: nothing happens */
	while (!list)
		assert_true(probe_wheel_take(&w, 600 * SLOT, &list));
	/* The one added last comes first; one may be removed while they wait in the list. */
	assert_ptr_equal(list, &items[3].node);
	probe_wheel_remove(&items[2].node);
	assert_ptr_equal(list->next, &items[0].node);
	probe_wheel_remove(&items[3].node);
	assert_ptr_equal(list, &items[0].node);
	probe_wheel_remove(&items[0].node);
	assert_null(list);
	assert_false(probe_wheel_take(&w, 600 * SLOT, &list));
}

static void test_earliest_slot_first(void **state)
{
	struct probe_wheel w;
	struct item items[3] = {0};

	(void)state;
	probe_wheel_init(&w, 0);
	probe_wheel_add(&w, &items[0].node, 30 * SLOT);
	probe_wheel_add(&w, &items[1].node, 10 * SLOT);
	probe_wheel_add(&w, &items[2].node, 20 * SLOT);
	assert_int_equal(take_all(&w, 100 * SLOT), 3);
	assert_int_equal(items[1].order, 0);
	assert_int_equal(items[2].order, 1);
	assert_int_equal(items[0].order, 2);
}

/* A random crowd, with steps of the clock from nothing to many blocks. */
static void test_crowd(void **state)
{
	static struct item items[NODES];
	struct probe_wheel w;
	usec_t now = 12345 * SLOT + 678;
	usec_t before = now;
	size_t left = NODES;

	(void)state;
	srandom(7);
	probe_wheel_init(&w, now);
	for (size_t i = 0; i < NODES; i++) {
		usec_t range = random() % 2 ? 400 * USEC_PER_SEC : 3 * USEC_PER_SEC;

		items[i].wanted = now + (usec_t)random() % range;
		probe_wheel_add(&w, &items[i].node, items[i].wanted);
	}
	while (left) {
		usec_t step = random() % 4 ? SLOT : (usec_t)random() % (20 * USEC_PER_SEC);
		usec_t next = probe_wheel_next(&w);

		before = now;
		now = next > now + step ? next : now + step;
		left -= take_all(&w, now);
		for (size_t i = 0; i < NODES; i++) {
			if (items[i].taken == now)
				assert_true(items[i].wanted <= now &&
					    items[i].wanted + SLOT > before);
		}
		if (now > 12345 * SLOT + 500 * USEC_PER_SEC)
			break;
	}
	assert_int_equal(left, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_past_means_next_slot),
		cmocka_unit_test(test_order_and_removal),
		cmocka_unit_test(test_earliest_slot_first),
		cmocka_unit_test(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
