// SPDX-License-Identifier: GPL-2.0-or-later
// An override as a value: new, copied; and the list of those in force, found by what they override.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/override_parts.h"

const char *override_kind_name(enum override_kind k)
{
	static const char *const names[] = {
		[OVERRIDE_DRAIN] = "drain", [OVERRIDE_WEIGHT] = "weight_override"};
	_Static_assert(sizeof(names) / sizeof(names[0]) == OVERRIDE_KIND_COUNT, "a name per kind");

	return names[k];
}

const char *override_object(const struct override_place *p, char buf[OVERRIDE_OBJECT_MAX])
{
	static const char *const patterns[][2] = {
		[OVERRIDE_SERVER] = {"server_groups", "servers"},
		[OVERRIDE_GROUP_ZONE] = {"server_groups", "zones"},
		[OVERRIDE_LISTENER] = {"load_balancers", "listeners"}};

	if (p->target == OVERRIDE_LB)
		snprintf(buf, OVERRIDE_OBJECT_MAX, "load_balancers/%s", p->name);
	else
		snprintf(buf, OVERRIDE_OBJECT_MAX, "%s/%s/%s/%s", patterns[p->target][0], p->parent,
			 patterns[p->target][1], p->name);
	return buf;
}

/* ---- values ---- */

void override_state_free(struct engine_override *o)
{
	if (!o)
		return;
	free((void *)(uintptr_t)o->place.parent);
	free((void *)(uintptr_t)o->place.name);
	free(o->id);
	free(o->who);
	free(o->comment);
	json_decref(o->history);
	free(o);
}

/* The beginning and the newest changes are kept. */
static void add_history(struct engine_override *o)
{
	if (json_array_size(o->history) == OVERRIDE_HISTORY_MAX)
		json_array_remove(o->history, 1);
	json_array_append_new(o->history,
			      json_pack("{s:I, s:s, s:s}", "at", (json_int_t)o->changed_wall, "who",
					o->who, "comment", o->comment));
}

static void set_terms(struct engine *e, struct engine_override *o, const struct override_request *r)
{
	usec_t now = e->ports.now(e->ports.ctx);

	o->duration = r->expires_in;
	if (o->place.kind == OVERRIDE_DRAIN)
		o->duration = r->has_timeout ? r->timeout_ms * USEC_PER_MS
					     : override_check_timeout(e, &o->place);
	o->deadline = now + o->duration;
	if (o->place.kind == OVERRIDE_WEIGHT && o->duration == 0)
		o->deadline = USEC_NEVER;
	o->weight = r->weight;
}

struct engine_override *override_state_new(struct engine *e, const struct override_request *r)
{
	const struct engine_override *old = override_state_find(e, &r->place);
	struct engine_override *o = mem_new(struct engine_override);

	o->place = r->place;
	o->place.parent = r->place.parent ? mem_strdup(r->place.parent) : NULL;
	o->place.name = mem_strdup(r->place.name);
	o->id = old ? mem_strdup(old->id)
		    : mem_printf("%012llx", (unsigned long long)(e->ports.random(e->ports.ctx) &
								 0xffffffffffffULL));
	o->who = mem_strdup(r->who ? r->who : "unknown");
	o->comment = mem_strdup(r->comment);
	o->history = old ? json_deep_copy(old->history) : json_array();
	o->changed_wall = e->ports.wall(e->ports.ctx);
	o->created_wall = old ? old->created_wall : o->changed_wall;
	override_check_object(e->snapshot, &r->place, &o->uid);
	set_terms(e, o, r);
	add_history(o);
	return o;
}

struct engine_override *override_state_copy(const struct engine_override *from)
{
	struct engine_override *o = mem_dup(from, sizeof(*from));

	o->place.parent = from->place.parent ? mem_strdup(from->place.parent) : NULL;
	o->place.name = mem_strdup(from->place.name);
	o->id = mem_strdup(from->id);
	o->who = mem_strdup(from->who);
	o->comment = mem_strdup(from->comment);
	o->history = json_deep_copy(from->history);
	return o;
}

/* ---- the list ---- */

static uint64_t place_hash(const struct override_place *p)
{
	uint64_t seed = (uint64_t)p->kind * OVERRIDE_TARGET_COUNT + (uint64_t)p->target + 1;

	return hash_text(p->name, hash_text(p->parent ? p->parent : "", seed));
}

static bool place_equal(const void *key, const void *item)
{
	const struct override_place *a = key;
	const struct override_place *b = &((const struct engine_override *)item)->place;

	return a->kind == b->kind && a->target == b->target && strcmp(a->name, b->name) == 0 &&
	       (!a->parent || strcmp(a->parent, b->parent) == 0);
}

/* Where those of its kind are counted. */
static size_t place_row(const struct override_place *p)
{
	_Static_assert(OVERRIDE_KIND_COUNT * OVERRIDE_TARGET_COUNT <= 8, "a count for each");

	return (size_t)p->kind * OVERRIDE_TARGET_COUNT + (size_t)p->target;
}

struct engine_override *override_state_find(const struct engine *e, const struct override_place *p)
{
	if (e->override_counts[place_row(p)] == 0)
		return NULL;
	return table_find(&e->override_index, place_hash(p), p, place_equal);
}

struct engine_override *override_state_take(struct engine *e, const struct override_place *p)
{
	struct engine_override *old = table_remove(&e->override_index, place_hash(p), p,
						   place_equal);

	if (!old)
		return NULL;
	e->override_counts[place_row(p)]--;
	for (size_t i = 0; i < e->overrides.count; i++) {
		if (e->overrides.items[i] == old) {
			vec_remove(&e->overrides, i);
			break;
		}
	}
	return old;
}

struct engine_override *override_state_put(struct engine *e, struct engine_override *o)
{
	struct engine_override *old = override_state_find(e, &o->place);

	e->overrides_moved = true;
	if (!old) {
		e->override_counts[place_row(&o->place)]++;
		vec_push(&e->overrides, o);
		table_add(&e->override_index, place_hash(&o->place), o);
		return NULL;
	}
	for (size_t i = 0; i < e->overrides.count; i++)
		if (e->overrides.items[i] == old)
			e->overrides.items[i] = o;
	table_remove(&e->override_index, place_hash(&o->place), &o->place, place_equal);
	table_add(&e->override_index, place_hash(&o->place), o);
	return old;
}
