/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of entries of access lists: lists from words, and back. */
#ifndef ZG_TESTS_ENTRIES_FIXTURE_H
#define ZG_TESTS_ENTRIES_FIXTURE_H

#include "model_fixture.h"

#include "model/entries_text.h"

/* "+10.0.0.0/8" allows, "-10.0.0.0/8" denies, "=10.0.0.0/8" (of an edit) removes; "#c" behind it is a comment. */
static inline void entries_fixture_draft(struct entries_draft *d, const char *words)
{
	char *copy = mem_strdup(words), *rest = copy, *word;

	while ((word = strsep(&rest, " "))) {
		struct entry x = {.place = (uint32_t)entries_draft_count(d), .comment = ""};
		struct err e = {0};
		char *comment;

		if (!*word)
			continue;
		comment = strchr(word, '#');
		if (comment) {
			*comment = '\0';
			x.comment = comment + 1;
		}
		x.action = *word == '+'   ? ACCESS_ALLOW
			   : *word == '-' ? ACCESS_DENY
					  : ENTRIES_REMOVE;
		if (entries_parse_cidr(word + 1, "", &e, &x) < 0)
			fail_msg("%s: %s", word, err_first(&e));
		entries_draft_add(d, &x);
	}
	free(copy);
}

static inline void entries_fixture_no_repeat(void *ctx, const struct entry *first,
					     const struct entry *again)
{
	(void)ctx;
	fail_msg("entry %u repeats entry %u", again->place, first->place);
}

static inline struct entries *entries_fixture_list(const char *words)
{
	struct entries_draft *d = entries_draft_new();
	struct entries *e;

	entries_fixture_draft(d, words);
	entries_draft_sort(d, entries_fixture_no_repeat, NULL);
	e = entries_draft_finish(d);
	entries_draft_free(d);
	return e;
}

/* The first `count` networks of 10.0.0.0/8 with 24 bits. */
static inline struct entries *entries_fixture_many(unsigned count)
{
	struct entries_draft *d = entries_draft_new();
	struct entries *e;

	for (unsigned i = 0; i < count; i++) {
		struct entry x = {
			.net = {.family = AF_INET, .bytes = {10, (uint8_t)(i >> 8), (uint8_t)i}},
			.length = 24,
			.action = i % 3 == 0};

		x.net.bytes[0] = (uint8_t)(10 + (i >> 16));
		entries_draft_add(d, &x);
	}
	e = entries_draft_finish(d);
	entries_draft_free(d);
	return e;
}

static inline struct entries *entries_fixture_edit(const struct entries *base, const char *words)
{
	struct entries_draft *d = entries_draft_new();
	const struct entry *items;
	struct entries *e;
	size_t count;

	entries_fixture_draft(d, words);
	entries_draft_sort(d, entries_fixture_no_repeat, NULL);
	items = entries_draft_items(d, &count);
	e = entries_edit(base, items, count);
	entries_draft_free(d);
	return e;
}

/* The words again, in order. Caller frees. */
static inline char *entries_fixture_words(const struct entries *e)
{
	char *text = mem_strdup(""), cidr[ENTRIES_CIDR_MAX];
	struct entries_cursor c;
	const struct entry *x;

	entries_begin(e, &c);
	while ((x = entries_next(&c))) {
		char *more = mem_printf("%s%s%s%s%s%s", text, *text ? " " : "",
					x->action == ACCESS_ALLOW ? "+" : "-",
					entries_format_cidr(x, cidr), x->comment[0] ? "#" : "",
					x->comment);

		free(text);
		text = more;
	}
	return text;
}

static inline void entries_fixture_expect(const struct entries *e, const char *words)
{
	char *text = entries_fixture_words(e);

	assert_string_equal(text, words);
	free(text);
}

static inline struct addr entries_fixture_addr(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

#endif
