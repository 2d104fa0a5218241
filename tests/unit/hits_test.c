// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of entries, and of the default.
#include "plan/hits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void push(struct hits *h, const char *cidr, uint64_t packets)
{
	struct hit *x = hits_push(h);

	assert_int_equal(addr_parse_prefix(cidr, &x->net, &x->length), 0);
	x->packets = packets;
	x->bytes = packets * 60;
}

static const struct hit *find(const struct hits *h, const char *cidr)
{
	struct addr net;
	uint8_t length;

	assert_int_equal(addr_parse_prefix(cidr, &net, &length), 0);
	return hits_find(h, &net, length);
}

static void the_default_is_counted_apart(void **state)
{
	struct entries_draft *draft = entries_draft_new();
	struct entry own = {.length = 1, .comment = ""};
	struct hits *h = mem_new(struct hits);
	struct entries *entries;

	(void)state;
	assert_null(find(h, "10.0.0.0/8"));
	/* The list has an entry of its own for one half of IPv4. */
	assert_int_equal(addr_parse("128.0.0.0", &own.net), 0);
	entries_draft_add(draft, &own);
	entries = entries_draft_finish(draft);
	push(h, "128.0.0.0/1", 1);
	push(h, "10.0.0.0/8", 2);
	push(h, "::/1", 4);
	push(h, "0.0.0.0/1", 8);
	push(h, "10.0.0.0/16", 16);
	hits_sort(h);
	hits_take_default(h, entries);
	assert_int_equal(h->default_packets, 12);
	assert_int_equal(h->default_bytes, 720);
	assert_int_equal(h->count, 3);
	assert_int_equal(find(h, "128.0.0.0/1")->packets, 1);
	assert_int_equal(find(h, "10.0.0.0/8")->packets, 2);
	assert_int_equal(find(h, "10.0.0.0/16")->bytes, 960);
	assert_null(find(h, "0.0.0.0/1"));
	hits_free(h);
	hits_free(NULL);
	entries_unref(entries);
	entries_draft_free(draft);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_is_counted_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
