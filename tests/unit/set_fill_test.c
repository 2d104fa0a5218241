// SPDX-License-Identifier: GPL-2.0-or-later
// What is in the set of a list, before, between and after: with every element that changes, each source meets the verdict of the old
// list or of the new one, and changes once.
#include "kernel/set_fill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "kernel/setlib.h"
#include "unit/fake_libipset.h"

#define NAME  "zg4-1f"
#define CANDS 24

static struct setlib *lib;
static const struct ruleset_id id = {.kind = RULESET_LIST, .uid = 0x1f};

/* "a10.0.0.0/8 d10.1.0.0/16": allowed and denied; the first letter alone is the default. */
static struct ruleset_list list_of(const char *text)
{
	struct ruleset_list l = {.fallback = *text == 'd' ? ACCESS_DENY : ACCESS_ALLOW};
	struct entries_draft *draft = entries_draft_new();
	char word[64];
	int used;

	for (text++; sscanf(text, " %63s%n", word, &used) == 1; text += used) {
		struct entry x = {.action = word[0] == 'd' ? ACCESS_DENY : ACCESS_ALLOW,
				  .comment = ""};

		assert_int_equal(addr_parse_prefix(word + 1, &x.net, &x.length), 0);
		entries_draft_add(draft, &x);
	}
	entries_draft_sort(draft, NULL, NULL);
	l.entries = entries_draft_finish(draft);
	entries_draft_free(draft);
	return l;
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	lib = setlib_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	setlib_free(lib);
	fake_reset();
	return 0;
}

static int fill(const struct ruleset_list *from, const struct ruleset_list *to)
{
	const struct set_fill f = {.lib = lib, .id = id, .from = from, .to = to};

	return set_fill_run(&f);
}

static int check(const struct ruleset_list *to)
{
	const struct set_fill f = {.lib = lib, .id = id, .to = to};

	return set_fill_check(&f, FILL_CHECK_ALL);
}

/* ---- verdicts ---- */

static bool list_denies(const struct ruleset_list *l, const struct addr *a)
{
	const struct entry *x = entries_match(l->entries, a);

	return (x ? x->action : l->fallback) == ACCESS_DENY;
}

/* As the kernel finds it: the longest prefix decides. */
static bool set_denies(const struct addr *a)
{
	int set = fake_find(NAME);
	int best = -1;
	bool denied = false;

	for (int i = 0; i < FAKE_ELEMENTS; i++) {
		const char *e = fake_ipset.sets[set].elements[i];
		char text[80];
		struct addr net;
		uint8_t length;

		if (!*e)
			continue;
		snprintf(text, sizeof(text), "%s%s", e + (*e == '!'), strchr(e, '/') ? "" : "/32");
		assert_int_equal(addr_parse_prefix(text, &net, &length), 0);
		if (length > best && addr_in_prefix(a, &net, length)) {
			best = length;
			denied = *e != '!';
		}
	}
	return denied;
}

static struct {
	struct ruleset_list from, to;
	struct addr sources[CANDS];
	bool changed[CANDS];
} watched;

static void on_element(const char *set)
{
	if (strcmp(set, NAME) != 0)
		return;
	for (int i = 0; i < CANDS; i++) {
		const struct addr *a = &watched.sources[i];
		bool denied = set_denies(a);
		bool old = list_denies(&watched.from, a);
		bool new = list_denies(&watched.to, a);

		assert_true(denied == old || denied == new);
		assert_true(!watched.changed[i] || denied == new); /* not back again */
		watched.changed[i] |= denied == new &&old != new;
	}
}

static struct ruleset_list any_list(void)
{
	char text[1000];
	int used = snprintf(text, sizeof(text), "%c", random() % 2 ? 'd' : 'a');
	struct ruleset_list l;

	/* Few networks, so that they lie in each other. */
	for (long length = 1; length <= 6; length++) {
		for (long n = 0; n < 1 << (length > 3 ? 3 : length); n++) {
			unsigned long net = (unsigned long)n << (8 - (length > 3 ? 3 : length));

			if (random() % 3)
				continue;
			used += snprintf(text + used, sizeof(text) - (size_t)used,
					 " %c%lu.0.0.0/%ld", random() % 2 ? 'd' : 'a',
					 net & (0xffUL << (8 - length)), length);
		}
	}
	l = list_of(text);
	return l;
}

static void every_packet_meets_the_old_verdict_or_the_new_one(void **state)
{
	(void)state;
	srandom(11);
	for (int i = 0; i < CANDS; i++)
		watched.sources[i] = (struct addr){.family = AF_INET,
						   .bytes = {(uint8_t)(i * 256 / CANDS), 1, 2, 3}};
	for (int round = 0; round < 200; round++) {
		bool known = round % 2;

		watched.from = any_list();
		watched.to = any_list();
		memset(watched.changed, 0, sizeof(watched.changed));
		assert_int_equal(fill(NULL, &watched.from), 0);
		fake_ipset.watch = on_element;
		assert_int_equal(fill(known ? &watched.from : NULL, &watched.to), 0);
		fake_ipset.watch = NULL;
		assert_int_equal(check(&watched.to), 0);
		for (int i = 0; i < CANDS; i++)
			assert_int_equal(set_denies(&watched.sources[i]),
					 list_denies(&watched.to, &watched.sources[i]));
		entries_unref(watched.from.entries);
		entries_unref(watched.to.entries);
	}
	assert_int_equal(fake_ipset.swaps, 0);
}

/* ---- how much is done ---- */

static struct ruleset_list long_list(unsigned first, unsigned count)
{
	char *text = mem_alloc(count * 24UL + 2);
	size_t used = 1;
	struct ruleset_list l;

	text[0] = 'd';
	for (unsigned i = first; i < first + count; i++)
		used += (size_t)sprintf(text + used, " a10.%u.%u.%u/32", i >> 16, (i >> 8) & 255,
					i & 255);
	l = list_of(text);
	free(text);
	return l;
}

static void a_new_set_has_room(void **state)
{
	struct ruleset_list l = long_list(0, 3000);

	(void)state;
	assert_int_equal(fill(NULL, &l), 0);
	assert_int_equal(fake_length(fake_find(NAME)), 3002);
	assert_string_equal(fake_ipset.sets[0].type, "hash:net");
	assert_true(fake_ipset.sets[0].counters);
	assert_int_equal(fake_ipset.sets[0].elements_max, 65536);
	assert_true(fake_holds(NAME, "0.0.0.0/1") && fake_holds(NAME, "128.0.0.0/1"));
	assert_true(fake_holds(NAME, "!10.0.3.1"));
	assert_int_equal(fake_ipset.swaps, 0);
	/* What is as it should be is left alone, counters and all. */
	fake_ipset.changes = 0;
	assert_int_equal(fill(NULL, &l), 0);
	assert_int_equal(fill(&l, &l), 0);
	assert_int_equal(fake_ipset.changes, 0);
	entries_unref(l.entries);
}

static void few_changes_are_few_elements(void **state)
{
	struct ruleset_list one = long_list(0, 3000);
	struct ruleset_list other = long_list(3, 3000);
	struct ruleset_list allow = {.entries = other.entries, .fallback = ACCESS_ALLOW};

	(void)state;
	assert_int_equal(fill(NULL, &one), 0);
	fake_ipset.changes = 0;
	assert_int_equal(fill(&one, &other), 0);
	assert_int_equal(fake_ipset.changes, 6);
	assert_int_equal(fill(&other, &allow), 0); /* the default: its two halves */
	assert_int_equal(fake_ipset.changes, 8);
	assert_true(fake_holds(NAME, "!0.0.0.0/1"));
	assert_int_equal(fake_ipset.swaps, 0);
	assert_int_equal(check(&allow), 0);
	assert_int_equal(check(&other), -ESTALE);
	entries_unref(one.entries);
	entries_unref(other.entries);
}

static void another_list_is_swapped_in(void **state)
{
	struct ruleset_list one = long_list(0, 3000);
	struct ruleset_list other = long_list(2000, 3000);

	(void)state;
	assert_int_equal(fill(NULL, &one), 0);
	assert_int_equal(fill(&one, &other), 0);
	assert_int_equal(fake_ipset.swaps, 1);
	assert_int_equal(check(&other), 0);
	assert_int_equal(fake_find("zg4-1f-t"), -1);
	entries_unref(one.entries);
	entries_unref(other.entries);
}

static void a_full_set_gets_room(void **state)
{
	struct ruleset_list one = long_list(0, 30);
	struct ruleset_list more = long_list(0, 31);

	(void)state;
	assert_int_equal(fill(NULL, &one), 0);
	fake_ipset.refuse = "10.0.0.30";
	assert_true(setlib_is_full(fill(&one, &more))); /* nor is there any in the next */
	assert_int_equal(fake_find("zg4-1f-t"), -1);
	fake_ipset.refuse = NULL;
	assert_int_equal(fill(NULL, &more), 0);
	assert_int_equal(check(&more), 0);
	entries_unref(one.entries);
	entries_unref(more.entries);
}

static void halves_may_have_entries_of_their_own(void **state)
{
	struct ruleset_list own = list_of("d a0.0.0.0/1 d10.0.0.0/8");
	struct ruleset_list none = list_of("d d10.0.0.0/8");
	const struct set_fill length = {.lib = lib, .id = id, .to = &own};

	(void)state;
	assert_int_equal(fill(NULL, &own), 0);
	assert_true(fake_holds(NAME, "!0.0.0.0/1") && fake_holds(NAME, "128.0.0.0/1"));
	assert_int_equal(set_fill_check(&length, FILL_CHECK_LENGTH), 0);
	assert_int_equal(fill(&own, &none), 0);
	assert_true(fake_holds(NAME, "0.0.0.0/1"));
	assert_int_equal(fill(NULL, &own), 0);
	assert_true(fake_holds(NAME, "!0.0.0.0/1"));
	entries_unref(own.entries);
	entries_unref(none.entries);
}

/* ---- what others do, and the end ---- */

static void what_is_gone_is_made_anew(void **state)
{
	struct ruleset_list one = list_of("d a10.0.0.0/8");
	struct ruleset_list two = list_of("d a10.0.0.0/8 a192.0.2.0/24");

	(void)state;
	assert_int_equal(fill(NULL, &one), 0);
	fake_destroy(fake_find(NAME));
	assert_int_equal(check(&one), -ENOENT);
	assert_int_equal(fill(&one, &two), 0);
	assert_int_equal(check(&two), 0);
	entries_unref(one.entries);
	entries_unref(two.entries);
}

static void a_set_of_others_is_left_alone(void **state)
{
	const struct setlib_type other = {.type = RULESET_IP};
	struct ruleset_list one = list_of("d a10.0.0.0/8");

	(void)state;
	setlib_create(lib, NAME, &other);
	assert_int_equal(fill(NULL, &one), -EEXIST);
	assert_int_equal(fake_ipset.changes, 0);
	entries_unref(one.entries);
}

static unsigned rests;

static bool on_rest(void *ctx)
{
	rests++;
	return rests == *(unsigned *)ctx;
}

static void it_rests_and_gives_up(void **state)
{
	struct ruleset_list l = long_list(0, 5000);
	unsigned last = 0;
	const struct set_fill f = {.lib = lib, .id = id, .to = &l, .rest = on_rest, .ctx = &last};

	(void)state;
	rests = 0;
	assert_int_equal(set_fill_run(&f), 0);
	assert_int_equal(rests, 4);
	fake_destroy(fake_find(NAME));
	last = 2;
	rests = 0;
	assert_int_equal(set_fill_run(&f), -ECANCELED);
	assert_int_equal(rests, 2);
	/* The next one goes on from there. */
	last = 0;
	assert_int_equal(set_fill_run(&f), 0);
	assert_int_equal(check(&l), 0);
	entries_unref(l.entries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_packet_meets_the_old_verdict_or_the_new_one,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_set_has_room, setup, teardown),
		cmocka_unit_test_setup_teardown(few_changes_are_few_elements, setup, teardown),
		cmocka_unit_test_setup_teardown(another_list_is_swapped_in, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_set_gets_room, setup, teardown),
		cmocka_unit_test_setup_teardown(halves_may_have_entries_of_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_gone_is_made_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(a_set_of_others_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(it_rests_and_gives_up, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
