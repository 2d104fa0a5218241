// SPDX-License-Identifier: GPL-2.0-or-later
// Two passes over the text: chains, then their rules; then from the built-in chains along the jumps.
#include "plan/doctor_chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct chain_key {
	const char *table;
	const char *name;
};

static int chain_compare_key(const void *key, const void *item)
{
	const struct chain_key *k = key;
	const struct chain *c = item;
	int order = strcmp(k->table, c->table);

	return order ? order : strcmp(k->name, c->name);
}

static int chain_compare(const void *a, const void *b)
{
	const struct chain *x = a;
	const struct chain_key k = {x->table, x->name};

	return chain_compare_key(&k, b);
}

struct chain *doctor_chains_find(const struct vec *chains, const char *table, const char *name)
{
	const struct chain_key k = {table, name};

	return vec_find(chains, &k, chain_compare_key, NULL);
}

/* ---- words ---- */

/* The word at *at of `text`, which is taken apart in place: its end becomes a zero, a quoted one loses its quotes. NULL: there is none. */
static char *take_word(char **at)
{
	char *from = *at + strspn(*at, " "), *to, *word;

	if (!*from)
		return NULL;
	if (*from != '"') {
		to = from + strcspn(from, " ");
		*at = *to ? to + 1 : to;
		*to = '\0';
		return from;
	}
	word = to = ++from;
	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static const char *word_at(const struct chain_rule *r, size_t i)
{
	return i < r->words.count ? r->words.items[i] : "";
}

/* Its words, "-m comment --comment …" left out, since a comment may say anything. */
static void read_words(struct chain_rule *r, char *at)
{
	char *word;

	while ((word = take_word(&at)) != NULL) {
		size_t count = r->words.count;

		if (strcmp(word, "--comment") == 0) {
			(void)take_word(&at);
		} else if (strcmp(word, "comment") == 0 && count &&
			   strcmp(r->words.items[count - 1], "-m") == 0) {
			r->words.count--;
		} else {
			vec_push(&r->words, word);
		}
	}
	r->target = "";
	for (size_t i = 0; i + 1 < r->words.count; i++) {
		r->gone = strcmp(r->words.items[i], "-g") == 0;
		if (r->gone || strcmp(r->words.items[i], "-j") == 0) {
			r->target = r->words.items[i + 1];
			return;
		}
	}
}

const char *doctor_chains_value(const struct chain_rule *r, const char *module, const char *option)
{
	const char *in = "";

	for (size_t i = 0; i + 1 < r->words.count; i++) {
		const char *word = r->words.items[i];

		if (strcmp(word, "-m") == 0 || strcmp(word, "-j") == 0)
			in = word_at(r, i + 1);
		else if (strcmp(word, option) == 0 && strcmp(in, module) == 0 &&
			 strcmp(i ? word_at(r, i - 1) : "", "!") != 0)
			return word_at(r, i + 1);
	}
	return NULL;
}

/* ---- the text ---- */

/* ":FORWARD DROP [0:0]" */
static void read_chain(struct vec *chains, const char *table, char *line)
{
	char *at = line + 1;
	const char *name = take_word(&at);
	const char *policy = name ? take_word(&at) : NULL;
	struct chain *c;

	if (!policy)
		return;
	c = mem_new(struct chain);
	c->table = mem_strdup(table);
	c->name = mem_strdup(name);
	c->drops = strcmp(policy, "DROP") == 0;
	vec_push(chains, c);
}

/* "-A FORWARD -j ACCEPT" */
static void read_rule(const struct vec *chains, const char *table, const char *line)
{
	AUTO_FREE char *text = mem_strdup(line);
	char *at = text + 2;
	const char *name = take_word(&at);
	struct chain *c = name ? doctor_chains_find(chains, table, name) : NULL;
	struct chain_rule *r;

	if (!c)
		return;
	r = mem_new(struct chain_rule);
	r->line = text_make_utf8(mem_strdup(line));
	r->text = mem_strdup(*at ? line + (at - text) : "");
	read_words(r, r->text);
	r->to = doctor_chains_find(chains, table, r->target);
	vec_push(&c->rules, r);
}

static void read_text(const char *text, struct vec *chains, bool rules)
{
	AUTO_FREE char *table = mem_strdup("");

	while (*text) {
		const size_t length = strcspn(text, "\n");
		AUTO_FREE char *line = mem_printf("%.*s", (int)length, text);

		if (*line == '*') {
			free(table);
			table = mem_strdup(line + 1);
		} else if (!rules && *line == ':') {
			read_chain(chains, table, line);
		} else if (rules && strncmp(line, "-A ", 3) == 0) {
			read_rule(chains, table, line);
		}
		text += length + (text[length] == '\n');
	}
}

/* ---- who leads where ---- */

static const struct {
	const char *name;
	enum chain_hook hook;
} built_in[] = {
	{"PREROUTING", CHAIN_PREROUTING},   {"INPUT", CHAIN_INPUT},
	{"FORWARD", CHAIN_FORWARD},         {"OUTPUT", CHAIN_OUTPUT},
	{"POSTROUTING", CHAIN_POSTROUTING},
};

/* From a chain on which `hook` stands to all behind it. Each chain is gone into once. */
static void follow(struct chain *first, enum chain_hook hook)
{
	struct vec todo = {0};

	first->hooks |= hook;
	vec_push(&todo, first);
	for (size_t i = 0; i < todo.count; i++) {
		const struct chain *c = todo.items[i];

		for (size_t j = 0; j < c->rules.count; j++) {
			struct chain *to = ((struct chain_rule *)c->rules.items[j])->to;

			if (!to || to->hooks & hook)
				continue;
			to->hooks |= hook;
			vec_push(&todo, to);
		}
	}
	vec_clear(&todo);
}

void doctor_chains_read(const char *text, struct vec *ret_chains)
{
	*ret_chains = (struct vec){0};
	read_text(text, ret_chains, false);
	vec_sort(ret_chains, chain_compare);
	read_text(text, ret_chains, true);
	for (size_t i = 0; i < ret_chains->count; i++) {
		struct chain *c = ret_chains->items[i];

		for (size_t j = 0; j < sizeof(built_in) / sizeof(built_in[0]); j++)
			if (strcmp(c->name, built_in[j].name) == 0)
				follow(c, built_in[j].hook);
	}
}

static void chain_free(struct chain *c)
{
	for (size_t i = 0; i < c->rules.count; i++) {
		struct chain_rule *r = c->rules.items[i];

		vec_clear(&r->words);
		free(r->line);
		free(r->text);
		free(r);
	}
	vec_clear(&c->rules);
	free(c->table);
	free(c->name);
	free(c);
}

void doctor_chains_clear(struct vec *chains)
{
	for (size_t i = 0; i < chains->count; i++)
		chain_free(chains->items[i]);
	vec_clear(chains);
}
