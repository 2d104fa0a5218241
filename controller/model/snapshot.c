// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshots and batches. Applying a batch is a merge of sorted runs: one pass over a collection that
// is touched, none over the children of an object that is not.
#include "model/snapshot.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"

#define RENEW_MAX 512 // objects of a batch: copied within a tenth of a millisecond

static const enum object_kind top_kinds[] = {OBJECT_ZONE, OBJECT_SERVER_GROUP, OBJECT_LOAD_BALANCER,
					     OBJECT_ACCESS_LIST, OBJECT_SETTINGS};
#define TOP_KINDS (sizeof(top_kinds) / sizeof(top_kinds[0]))

static struct snapshot *snapshot_alloc(void)
{
	struct snapshot *s = mem_new(struct snapshot);
	s->refs = 1;
	return s;
}

// What the settings are that nobody has made.
static struct object *default_settings(void)
{
	AUTO_ERR struct err none = {0};
	json_t *body = json_object();
	struct object *settings = NULL;
	int r = object_decode(OBJECT_SETTINGS, MODEL_SETTINGS_NAME, body, "", &none, &settings);
	assert(r == 0);
	json_decref(body);
	return settings;
}

struct snapshot *snapshot_new(void)
{
	struct snapshot *s = snapshot_alloc();
	vec_push(&s->settings, default_settings());
	return s;
}

struct snapshot *snapshot_ref(struct snapshot *s)
{
	unsigned before = __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
	assert(before > 0);
	return s;
}

static void drop_objects(struct vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		object_unref(v->items[i]);
	vec_clear(v);
}

void snapshot_unref(struct snapshot *s)
{
	if (!s)
		return;
	unsigned before = __atomic_fetch_sub(&s->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before > 1)
		return;
	drop_objects(&s->zones);
	drop_objects(&s->server_groups);
	drop_objects(&s->load_balancers);
	drop_objects(&s->access_lists);
	drop_objects(&s->settings);
	marks_unref(s->marks);
	free(s);
}

// ---- finding ----------------------------------------------------------------------------------

struct vec *snapshot_collection(struct snapshot *s, enum object_kind kind)
{
	switch (kind) {
	case OBJECT_ZONE:
		return &s->zones;
	case OBJECT_SERVER_GROUP:
		return &s->server_groups;
	case OBJECT_LOAD_BALANCER:
		return &s->load_balancers;
	case OBJECT_ACCESS_LIST:
		return &s->access_lists;
	case OBJECT_SETTINGS:
		return &s->settings;
	case OBJECT_SERVER:
	case OBJECT_LB_ZONE:
	case OBJECT_LISTENER:
	case OBJECT_KIND_COUNT:
		break;
	}
	return NULL;
}

static const struct vec *collection_of(const struct snapshot *s, enum object_kind kind)
{
	const struct vec *v = snapshot_collection((struct snapshot *)(uintptr_t)s, kind);
	assert(v);
	return v;
}

static int compare_key(const void *key, const void *item)
{
	return strcmp(key, ((const struct object *)item)->name);
}

static struct object *find_in(const struct vec *v, const char *name)
{
	return vec_find(v, name, compare_key, NULL);
}

struct object *snapshot_find(const struct snapshot *s, const struct object_path *p)
{
	enum object_kind parent_kind = object_parent_kind(p->kind);
	if (parent_kind == OBJECT_KIND_COUNT)
		return find_in(collection_of(s, p->kind), p->name);
	struct object *parent = find_in(collection_of(s, parent_kind), p->parent);
	return parent ? find_in(object_children(parent, p->kind), p->name) : NULL;
}

const struct model_settings *snapshot_settings(const struct snapshot *s)
{
	assert(s->settings.count == 1);
	return s->settings.items[0];
}

void snapshot_set_settings(struct snapshot *s, struct object *settings)
{
	drop_objects(&s->settings);
	vec_push(&s->settings, settings);
}

void snapshot_set_marks(struct snapshot *s, struct marks *marks)
{
	marks_unref(s->marks);
	s->marks = marks;
}

uint32_t snapshot_find_mark(const struct snapshot *s, const struct load_balancer *lb,
			    const struct lb_zone *zone, const struct listener *l)
{
	return l->ports.to ? marks_find(s->marks, lb->o.name, zone->o.name, l->o.name) : 0;
}

struct zone *snapshot_find_zone(const struct snapshot *s, const char *name)
{
	return vec_find(&s->zones, name, compare_key, NULL);
}

struct server_group *snapshot_find_group(const struct snapshot *s, const char *name)
{
	return vec_find(&s->server_groups, name, compare_key, NULL);
}

struct load_balancer *snapshot_find_lb(const struct snapshot *s, const char *name)
{
	return vec_find(&s->load_balancers, name, compare_key, NULL);
}

struct access_list *snapshot_find_access_list(const struct snapshot *s, const char *name)
{
	return vec_find(&s->access_lists, name, compare_key, NULL);
}

struct server *snapshot_find_server(const struct server_group *g, const char *name)
{
	return vec_find(&g->servers, name, compare_key, NULL);
}

// ---- batches ----------------------------------------------------------------------------------

struct batch *batch_new(void)
{
	return mem_new(struct batch);
}

void batch_add(struct batch *b, const char *parent, struct object *old_object,
	       struct object *new_object)
{
	const struct object *o = new_object ? new_object : old_object;
	// Powers of two are the capacities.
	if ((b->count & (b->count - 1)) == 0)
		b->changes = mem_realloc_array(b->changes, b->count ? b->count * 2 : 1,
					       sizeof(*b->changes));
	b->changes[b->count++] = (struct change){
		.kind = o->kind,
		.parent = parent ? mem_strdup(parent) : NULL,
		.name = mem_strdup(o->name),
		.old_object = old_object ? object_ref(old_object) : NULL,
		.new_object = new_object ? object_ref(new_object) : NULL,
	};
}

void batch_drop_last(struct batch *b)
{
	assert(b->count > 0);
	struct change *last = &b->changes[--b->count];
	free(last->parent);
	free(last->name);
	object_unref(last->old_object);
	object_unref(last->new_object);
}

void batch_renew(struct batch *b)
{
	struct object *made[RENEW_MAX];
	if (b->count > RENEW_MAX)
		return;
	// All copies come first: what is freed here is what this thread gets next.
	for (size_t i = 0; i < b->count; i++) {
		const struct object *o = b->changes[i].new_object;
		made[i] = o ? object_copy_row(o) : NULL;
	}
	for (size_t i = 0; i < b->count; i++) {
		object_unref(b->changes[i].new_object);
		b->changes[i].new_object = made[i];
	}
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	while (b->count > 0)
		batch_drop_last(b);
	free(b->changes);
	free(b->who);
	free(b->via);
	free(b->comment);
	free(b);
}

// ---- applying ---------------------------------------------------------------------------------

struct application {
	const struct batch *batch;
	const struct change **sorted; /* by kind, parent, name */
	size_t count;
};

/* The changes of one collection: consecutive in the sorted array. */
struct run {
	const struct change **changes;
	size_t count;
};

static int compare_place(enum object_kind kind, const char *parent, const struct change *c)
{
	if (kind != c->kind)
		return kind < c->kind ? -1 : 1;
	return strcmp(parent ? parent : "", c->parent ? c->parent : "");
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = *(const struct change *const *)a;
	const struct change *y = *(const struct change *const *)b;
	int order = compare_place(x->kind, x->parent, y);
	return order ? order : strcmp(x->name, y->name);
}

static struct run find_run(const struct application *a, enum object_kind kind, const char *parent)
{
	size_t low = 0;
	size_t high = a->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_place(kind, parent, a->sorted[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	struct run run = {.changes = a->sorted + low};
	while (low + run.count < a->count &&
	       compare_place(kind, parent, run.changes[run.count]) == 0)
		run.count++;
	return run;
}

static struct object *apply_to_object(const struct application *a, struct object *old,
				      struct object *replacement);

// Merges a collection of the base (NULL: none) with the changes at the same place.
static void merge_collection(const struct application *a, const struct vec *base, struct run run,
			     struct vec *ret_merged)
{
	size_t i = 0;
	size_t base_count = base ? base->count : 0;
	for (size_t k = 0; i < base_count || k < run.count;) {
		struct object *old = i < base_count ? base->items[i] : NULL;
		const struct change *c = k < run.count ? run.changes[k] : NULL;
		int order = !old ? 1 : !c ? -1 : strcmp(old->name, c->name);
		struct object *replacement = order >= 0 && c ? c->new_object : NULL;
		if (order < 0 || replacement)
			vec_push(ret_merged,
				 apply_to_object(a, order <= 0 ? old : NULL, replacement));
		i += order <= 0;
		k += order >= 0;
	}
}

static bool has_changed_children(const struct application *a, const struct object *o)
{
	for (const struct field *f = fields_of_kind(o->kind); f->name; f++) {
		if (f->type == FIELD_CHILDREN && find_run(a, f->child, o->name).count > 0)
			return true;
	}
	return false;
}

// The object that takes the place of `old` (NULL: a new one); `replacement` NULL: only its children may have changed.
static struct object *apply_to_object(const struct application *a, struct object *old,
				      struct object *replacement)
{
	struct object *source = replacement ? replacement : old;
	assert(source);
	if (source->kind != OBJECT_SERVER_GROUP && source->kind != OBJECT_LOAD_BALANCER)
		return object_ref(source);
	if (!replacement && !has_changed_children(a, old))
		return object_ref(old);
	struct object *o = object_copy_row(source);
	if (!replacement) {
		o->revision = a->batch->revision;
		o->updated_wall = a->batch->wall;
	}
	for (const struct field *f = fields_of_kind(o->kind); f->name; f++) {
		if (f->type != FIELD_CHILDREN)
			continue;
		merge_collection(a, old ? object_children(old, f->child) : NULL,
				 find_run(a, f->child, o->name), object_children(o, f->child));
	}
	return o;
}

struct snapshot *snapshot_apply(const struct snapshot *base, const struct batch *b)
{
	struct application a = {.batch = b, .count = b->count};
	AUTO_FREE const struct change **sorted = mem_alloc_array(b->count + 1, sizeof(*sorted));
	for (size_t i = 0; i < b->count; i++)
		sorted[i] = &b->changes[i];
	qsort(sorted, b->count, sizeof(*sorted), compare_changes);
	a.sorted = sorted;

	struct snapshot *s = snapshot_alloc();
	s->revision = b->revision;
	s->updated_wall = b->wall;
	s->marks = marks_ref(base->marks);
	for (size_t i = 0; i < TOP_KINDS; i++)
		merge_collection(&a, collection_of(base, top_kinds[i]),
				 find_run(&a, top_kinds[i], NULL),
				 snapshot_collection(s, top_kinds[i]));
	return s;
}

static bool is_default(const struct object *settings)
{
	struct object *wanted = default_settings();
	bool same = object_equal_row(settings, wanted);
	object_unref(wanted);
	return same;
}

json_t *snapshot_encode(const struct snapshot *s, object_decorate_fn *decorate, void *ctx)
{
	json_t *document = json_object();
	for (size_t i = 0; i < TOP_KINDS; i++) {
		if (top_kinds[i] == OBJECT_SETTINGS)
			continue;
		const struct vec *objects = collection_of(s, top_kinds[i]);
		json_t *all = json_object();
		for (size_t k = 0; k < objects->count; k++) {
			const struct object *o = objects->items[k];
			json_object_set_new_nocheck(all, o->name, object_encode(o, decorate, ctx));
		}
		json_object_set_new_nocheck(document, object_collection_name(top_kinds[i]), all);
	}
	const struct object *settings = &snapshot_settings(s)->o;
	if (!is_default(settings))
		json_object_set_new_nocheck(document, MODEL_SETTINGS_NAME,
					    object_encode(settings, decorate, ctx));
	return document;
}
