// SPDX-License-Identifier: GPL-2.0-or-later
// Readers that never see a released view, a writer that never waits for them, and memory that comes back.
#include "dns_fixture.h"
#include "dnsio/dnsd_current.h"

#include <pthread.h>
#include <stdatomic.h>

#define READERS 3

static struct view *small_view(uint32_t serial)
{
	struct view_builder *b = view_builder_new(serial, NULL);
	struct view *v;

	fixture_add_one(b, "x.example", serial + 1, fixture_zone("z", "192.0.2.1", NULL, true));
	assert_int_equal(view_builder_finish(b, &v), 0);
	return v;
}

static void replace(struct dnsd_current *c, uint32_t serial)
{
	struct view *v = small_view(serial);

	dnsd_current_replace(c, v);
	view_unref(v);
}

static void test_held_while_read(void **state)
{
	struct view *first = small_view(1);
	struct dnsd_current *c = dnsd_current_new(first, 2);
	const struct view *read;

	(void)state;
	view_unref(first);
	read = dnsd_current_enter(c, 1);
	assert_int_equal(view_serial(read), 1);
	replace(c, 2);
	assert_int_equal(dnsd_current_reap(c), 1);
	assert_int_equal(view_serial(read), 1); /* still there: the sanitizer would know */
	assert_int_equal(view_serial(dnsd_current_enter(c, 0)), 2);
	replace(c, 3);
	assert_int_equal(dnsd_current_reap(c), 2);
	dnsd_current_leave(c, 1);
	assert_int_equal(dnsd_current_reap(c), 1);
	dnsd_current_leave(c, 0);
	assert_int_equal(dnsd_current_reap(c), 0);
	assert_int_equal(view_serial(dnsd_current_enter(c, 0)), 3);
	dnsd_current_leave(c, 0);
	dnsd_current_free(c);
	dnsd_current_free(NULL);
}

static struct dnsd_current *shared;
static atomic_bool ended;

struct reader {
	size_t index;
	uint64_t reads;
	uint32_t last;
	bool wrong;
};

static void *run(void *arg)
{
	struct reader *r = arg;

	while (!atomic_load(&ended)) {
		const struct view *v = dnsd_current_enter(shared, r->index);
		uint32_t serial = view_serial(v);

		/* What belongs together, and never an older one after a newer. */
		r->wrong |= view_node_at(v, 0)->ttl != serial + 1 || serial < r->last;
		r->last = serial;
		r->reads++;
		dnsd_current_leave(shared, r->index);
	}
	return NULL;
}

static void test_many_readers(void **state)
{
	struct view *first = small_view(0);
	struct reader readers[READERS] = {0};
	pthread_t threads[READERS];
	size_t most = 0;

	(void)state;
	shared = dnsd_current_new(first, READERS);
	view_unref(first);
	for (size_t i = 0; i < READERS; i++) {
		readers[i].index = i;
		pthread_create(&threads[i], NULL, run, &readers[i]);
	}
	for (uint32_t i = 1; i <= 20000; i++) {
		size_t left;

		replace(shared, i);
		left = dnsd_current_reap(shared);
		most = left > most ? left : most;
	}
	atomic_store(&ended, true);
	for (size_t i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		assert_false(readers[i].wrong);
		assert_true(readers[i].reads > 0);
	}
	assert_in_range(most, 0, READERS);
	assert_int_equal(dnsd_current_reap(shared), 0);
	dnsd_current_free(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_held_while_read),
					   cmocka_unit_test(test_many_readers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
