// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/netfilter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void netfilter_free(struct netfilter *f)
{
	if (!f)
		return;
	ruleset_clear(&f->ruleset);
	free(f->sets);
	free(f->rules_words);
	free(f);
}

bool netfilter_has_read_rules(const struct netfilter *f, enum ruleset_family family)
{
	return !f->rules_error || family < f->rules_family;
}

struct netfilter_set *netfilter_push(struct netfilter *f)
{
	struct netfilter_set *s;

	if (f->count == NETFILTER_SETS_MAX) {
		f->left_out++;
		return NULL;
	}
	if (f->count == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 32;
		f->sets = mem_realloc_array(f->sets, f->capacity, sizeof(*f->sets));
	}
	s = &f->sets[f->count++];
	*s = (struct netfilter_set){0};
	return s;
}

static int netfilter_compare(const void *a, const void *b)
{
	return strcmp(((const struct netfilter_set *)a)->name,
		      ((const struct netfilter_set *)b)->name);
}

void netfilter_sort(struct netfilter *f)
{
	if (f->count)
		qsort(f->sets, f->count, sizeof(*f->sets), netfilter_compare);
}

/* Both are sorted by set: `at` goes on from set to set. */
static uint64_t netfilter_entries(const struct ruleset *r, const struct ruleset_set *s, size_t *at)
{
	size_t first;

	if (s->list.entries)
		return entries_count_family(s->list.entries, ruleset_address_family(s->id.family));
	while (*at < r->count && ruleset_compare_ids(&r->entries[*at].set, &s->id) < 0)
		(*at)++;
	first = *at;
	while (*at < r->count && ruleset_compare_ids(&r->entries[*at].set, &s->id) == 0)
		(*at)++;
	return *at - first;
}

void netfilter_take_memory(struct netfilter *f)
{
	size_t at = 0;

	for (size_t i = 0; i < f->ruleset.set_count; i++) {
		const struct ruleset_set *from = &f->ruleset.sets[i];
		struct netfilter_set *to = netfilter_push(f);

		if (!to)
			continue;
		ruleset_format_id(&from->id, to->name);
		snprintf(to->type, sizeof(to->type), "%s",
			 ruleset_type_name(ruleset_type_of(from->id.kind)));
		to->family = ruleset_address_family(from->id.family);
		to->entries = netfilter_entries(&f->ruleset, from, &at);
	}
	netfilter_sort(f);
}
