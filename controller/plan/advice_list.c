// SPDX-License-Identifier: GPL-2.0-or-later
// What can be said of access lists.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/entries_text.h"
#include "plan/advice_rules.h"

/* More entries than these are not compared with those around them: the document is judged at every write. */
#define LIST_LOOKED_AT_MAX 2000

static bool is_used(const struct snapshot *s, const char *list)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t k = 0; k < lb->listeners.count; k++) {
			const struct listener *l = lb->listeners.items[k];

			if (l->access_list && strcmp(l->access_list, list) == 0)
				return true;
		}
	}
	return false;
}

bool advice_list_is_unused(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	if (is_used(s->at->snapshot, s->list->o.name))
		return false;
	return advice_say(
		text, "no listener names this list, so it keeps nobody out: set access_list of a "
		      "listener, or remove the list");
}

bool advice_list_denies_all(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	if (s->list->default_action != ACCESS_DENY || entries_count(s->list->entries) > 0 ||
	    !is_used(s->at->snapshot, s->list->o.name))
		return false;
	return advice_say(text,
			  "it has no entries and denies who is in none: nobody can come in to the "
			  "listeners that name it");
}

bool advice_list_says_nothing(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	if (s->list->default_action != ACCESS_ALLOW || entries_count(s->list->entries) > 0 ||
	    !is_used(s->at->snapshot, s->list->o.name))
		return false;
	return advice_say(text, "it has no entries and allows who is in none: it keeps nobody out");
}

/* Whether the entry says what would be so without it. */
static bool is_without_effect(const struct access_list *a, const struct entry *x)
{
	const struct entry *around = entries_match_shorter(a->entries, &x->net, x->length);

	return x->action == (around ? around->action : (uint8_t)a->default_action);
}

bool advice_list_repeats(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct entry *x, *first = NULL, *around;
	char cidr[ENTRIES_CIDR_MAX], other[ENTRIES_CIDR_MAX], some[64];
	struct entries_cursor c;
	size_t count = 0;

	entries_begin(s->list->entries, &c);
	for (size_t i = 0; i < LIST_LOOKED_AT_MAX && (x = entries_next(&c)); i++) {
		if (!is_without_effect(s->list, x))
			continue;
		first = first ? first : x;
		count++;
	}
	if (!first)
		return false;
	around = entries_match_shorter(s->list->entries, &first->net, first->length);
	if (entries_count(s->list->entries) > LIST_LOOKED_AT_MAX)
		snprintf(some, sizeof(some), "%zu of the first %d entries change", count,
			 LIST_LOOKED_AT_MAX);
	else
		snprintf(some, sizeof(some), "%zu entr%s", count,
			 TEXT_FORM(count, "y changes", "ies change"));
	return advice_say(text, "%s nothing: without %s it is %s all the same, by %s%s", some,
			  entries_format_cidr(first, cidr),
			  first->action == ACCESS_ALLOW ? "allowed" : "denied",
			  around ? "" : "the default",
			  around ? entries_format_cidr(around, other) : "");
}
