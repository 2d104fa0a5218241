// SPDX-License-Identifier: GPL-2.0-or-later
// Sorted arrays of values, and the names of sets. Knows nothing of load balancers: guard.c makes the desired one.
#include "plan/ruleset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* In the name: * is the uid in hexadecimal digits. */
static const struct {
	const char *name;
	enum ruleset_type type;
} ruleset_kinds[RULESET_KIND_COUNT] = {
	[RULESET_OPEN] = {"open", RULESET_IP_PORT},
	[RULESET_FTP] = {"ftp", RULESET_IP},
	[RULESET_PEERS] = {"peers", RULESET_IP_PORT_IP},
	[RULESET_AT] = {"*-at", RULESET_IP_PORT},
	[RULESET_LIST] = {"*", RULESET_NET},
	[RULESET_TEMP] = {"*-t", RULESET_NET},
	[RULESET_MARK] = {"*-m", RULESET_IP},
	[RULESET_RANGED] = {"ranged", RULESET_IP},
	[RULESET_SINGLE] = {"single", RULESET_IP_PORT},
	[RULESET_LIMIT_TCP] = {"*-lt", RULESET_IP_PORT_COUNTED},
	[RULESET_LIMIT_UDP] = {"*-lu", RULESET_IP_PORT_COUNTED},
	[RULESET_MAX_TCP] = {"*-mt", RULESET_IP_PORT_COUNTED},
	[RULESET_MAX_UDP] = {"*-mu", RULESET_IP_PORT_COUNTED},
	[RULESET_LIMIT_RANGE] = {"*-lr", RULESET_IP_COUNTED},
	[RULESET_MAX_RANGE] = {"*-mr", RULESET_IP_COUNTED},
	[RULESET_SNAT] = {"snat", RULESET_IP_PORT},
	[RULESET_AUTO] = {"auto", RULESET_IP_PORT},
	[RULESET_AUTO_TO] = {"*-to", RULESET_IP_PORT},
	[RULESET_AUTO_FROM] = {"*-from", RULESET_IP},
	[RULESET_SNAT_KEEP] = {"snat-keep", RULESET_IP},
	[RULESET_AUTO_KEEP] = {"auto-keep", RULESET_IP},
	[RULESET_AUTO_KEEP_TO] = {"*-keep", RULESET_IP},
	[RULESET_DROP] = {"drop", RULESET_IP},
	[RULESET_REJECT] = {"reject", RULESET_IP},
};

/* ---- names ---- */

const char *ruleset_format_id(const struct ruleset_id *id, char buf[RULESET_NAME_MAX])
{
	const char *name = ruleset_kinds[id->kind].name;
	char version = id->family == RULESET_V4 ? '4' : '6';

	assert(id->kind < RULESET_KIND_COUNT);
	if (*name == '*')
		snprintf(buf, RULESET_NAME_MAX, "zg%c-%" PRIx64 "%s", version, id->uid, name + 1);
	else
		snprintf(buf, RULESET_NAME_MAX, "zg%c-%s", version, name);
	return buf;
}

bool ruleset_parse_id(const char *name, struct ruleset_id *ret_id)
{
	struct ruleset_id id = {0};
	char text[RULESET_NAME_MAX];
	char *rest;

	if (strncmp(name, "zg4-", 4) != 0 && strncmp(name, "zg6-", 4) != 0)
		return false;
	id.family = name[2] == '4' ? RULESET_V4 : RULESET_V6;
	id.uid = strtoull(name + 4, &rest, 16); /* whether it is written as we do shows below */
	for (id.kind = 0; id.kind < RULESET_KIND_COUNT; id.kind++) {
		const char *kind = ruleset_kinds[id.kind].name;

		if (strcmp(*kind == '*' ? rest : name + 4, *kind == '*' ? kind + 1 : kind) != 0 ||
		    strcmp(ruleset_format_id(&id, text), name) != 0)
			continue;
		if (*kind != '*')
			id.uid = 0;
		*ret_id = id;
		return true;
	}
	return false;
}

enum ruleset_type ruleset_type_of(enum ruleset_kind kind)
{
	assert(kind < RULESET_KIND_COUNT);
	return ruleset_kinds[kind].type;
}

const char *ruleset_type_name(enum ruleset_type t)
{
	static const char *const names[] = {[RULESET_IP] = "hash:ip",
					    [RULESET_IP_COUNTED] = "hash:ip",
					    [RULESET_IP_PORT] = "hash:ip,port",
					    [RULESET_IP_PORT_IP] = "hash:ip,port,ip",
					    [RULESET_IP_PORT_COUNTED] = "hash:ip,port",
					    [RULESET_NET] = "hash:net"};

	return names[t];
}

enum ruleset_family ruleset_family_of(const struct addr *a)
{
	return a->family == AF_INET6 ? RULESET_V6 : RULESET_V4;
}

uint8_t ruleset_address_family(enum ruleset_family f)
{
	return f == RULESET_V6 ? AF_INET6 : AF_INET;
}

/* ---- sets and entries ---- */

struct ruleset_set *ruleset_push_set(struct ruleset *r, const struct ruleset_id *id)
{
	struct ruleset_set *s;

	if (r->set_count == r->set_capacity) {
		r->set_capacity = r->set_capacity ? r->set_capacity * 2 : 8;
		r->sets = mem_realloc_array(r->sets, r->set_capacity, sizeof(*r->sets));
	}
	s = &r->sets[r->set_count++];
	*s = (struct ruleset_set){.id = *id};
	return s;
}

struct ruleset_entry *ruleset_push(struct ruleset *r)
{
	if (r->count == r->capacity) {
		r->capacity = r->capacity ? r->capacity * 2 : 16;
		r->entries = mem_realloc_array(r->entries, r->capacity, sizeof(*r->entries));
	}
	memset(&r->entries[r->count], 0, sizeof(*r->entries));
	return &r->entries[r->count++];
}

static int ruleset_compare_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int ruleset_compare_ids(const struct ruleset_id *a, const struct ruleset_id *b)
{
	int order = ruleset_compare_number(a->family, b->family);

	if (!order)
		order = ruleset_compare_number(a->kind, b->kind);
	return order ? order : ruleset_compare_number(a->uid, b->uid);
}

int ruleset_compare_entries(const struct ruleset_entry *a, const struct ruleset_entry *b)
{
	int order = ruleset_compare_ids(&a->set, &b->set);

	if (!order)
		order = addr_compare(&a->address, &b->address);
	if (!order)
		order = ruleset_compare_number(a->protocol, b->protocol);
	if (!order)
		order = ruleset_compare_number(a->port, b->port);
	return order ? order : addr_compare(&a->peer, &b->peer);
}

static int ruleset_compare_set_items(const void *a, const void *b)
{
	const struct ruleset_set *x = a;
	const struct ruleset_set *y = b;

	return ruleset_compare_ids(&x->id, &y->id);
}

static int ruleset_compare_items(const void *a, const void *b)
{
	return ruleset_compare_entries(a, b);
}

static void ruleset_sort_sets(struct ruleset *r)
{
	size_t kept = 0;

	if (r->set_count < 2)
		return;
	qsort(r->sets, r->set_count, sizeof(*r->sets), ruleset_compare_set_items);
	for (size_t i = 1; i < r->set_count; i++)
		if (ruleset_compare_ids(&r->sets[kept].id, &r->sets[i].id) != 0)
			r->sets[++kept] = r->sets[i];
		else
			entries_unref(r->sets[i].list.entries);
	r->set_count = kept + 1;
}

void ruleset_sort(struct ruleset *r)
{
	size_t kept = 0;

	ruleset_sort_sets(r);
	if (r->count < 2)
		return;
	qsort(r->entries, r->count, sizeof(*r->entries), ruleset_compare_items);
	for (size_t i = 1; i < r->count; i++)
		if (ruleset_compare_entries(&r->entries[kept], &r->entries[i]) != 0)
			r->entries[++kept] = r->entries[i];
	r->count = kept + 1;
}

const struct ruleset_set *ruleset_find_set(const struct ruleset *r, const struct ruleset_id *id)
{
	const struct ruleset_set key = {.id = *id};

	return r->set_count ? bsearch(&key, r->sets, r->set_count, sizeof(*r->sets),
				      ruleset_compare_set_items)
			    : NULL;
}

bool ruleset_same_list(const struct ruleset_list *a, const struct ruleset_list *b)
{
	return a->entries == b->entries && a->fallback == b->fallback;
}

void ruleset_put_list(struct ruleset *r, const struct ruleset_id *id,
		      const struct ruleset_list *list)
{
	struct entries *entries = list->entries ? entries_ref(list->entries) : NULL;
	const struct ruleset_set *found = ruleset_find_set(r, id);
	struct ruleset_set *s = found ? &r->sets[found - r->sets] : ruleset_push_set(r, id);

	entries_unref(s->list.entries);
	s->list = (struct ruleset_list){.entries = entries, .fallback = list->fallback};
	ruleset_sort(r);
}

const struct ruleset_entry *ruleset_find_entry(const struct ruleset *r,
					       const struct ruleset_entry *e)
{
	return r->count ? bsearch(e, r->entries, r->count, sizeof(*r->entries),
				  ruleset_compare_items)
			: NULL;
}

bool ruleset_has_entry(const struct ruleset *r, const struct ruleset_entry *e)
{
	return ruleset_find_entry(r, e);
}

bool ruleset_has_family(const struct ruleset *r, enum ruleset_family f)
{
	for (size_t i = 0; i < r->set_count; i++)
		if (r->sets[i].id.family == f)
			return true;
	return false;
}

bool ruleset_may_have_rules(const struct ruleset *r, enum ruleset_family f, enum ruleset_table t)
{
	const struct ruleset_id snat = {.kind = RULESET_SNAT, .family = f};
	const struct ruleset_id some = {.kind = RULESET_AUTO, .family = f};

	switch (t) {
	case RULESET_FILTER:
		return ruleset_has_family(r, f);
	case RULESET_NAT:
		return ruleset_find_set(r, &snat) || ruleset_find_set(r, &some);
	case RULESET_TABLE_COUNT:
		break;
	}
	return false;
}

/* ---- rules ---- */

bool ruleset_equal_rules(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void ruleset_set_rules(struct ruleset *r, enum ruleset_family f, enum ruleset_table t,
		       const char *text)
{
	char *copy = text ? mem_strdup(text) : NULL;

	free(r->rules[f][t]);
	r->rules[f][t] = copy;
}

/* ---- life ---- */

bool ruleset_is_empty(const struct ruleset *r)
{
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
			if (r->rules[f][t])
				return false;
	return r->set_count == 0 && r->count == 0;
}

void ruleset_copy(const struct ruleset *from, struct ruleset *ret_ruleset)
{
	struct ruleset r = {.count = from->count,
			    .capacity = from->count,
			    .set_count = from->set_count,
			    .set_capacity = from->set_count};

	if (from->count)
		r.entries = mem_dup(from->entries, from->count * sizeof(*from->entries));
	if (from->set_count)
		r.sets = mem_dup(from->sets, from->set_count * sizeof(*from->sets));
	for (size_t i = 0; i < r.set_count; i++)
		if (r.sets[i].list.entries)
			(void)entries_ref(r.sets[i].list.entries);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
			ruleset_set_rules(&r, f, t, from->rules[f][t]);
	*ret_ruleset = r;
}

void ruleset_clear(struct ruleset *r)
{
	for (size_t i = 0; i < r->set_count; i++)
		entries_unref(r->sets[i].list.entries);
	free(r->entries);
	free(r->sets);
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
			free(r->rules[f][t]);
	*r = (struct ruleset){0};
}

void ruleset_free(struct ruleset *r)
{
	if (r)
		ruleset_clear(r);
	free(r);
}
