// SPDX-License-Identifier: GPL-2.0-or-later
// The whole document from JSON, and the walk that compares two trees of objects and fills a batch.
#include "model/change_document.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/fields.h"

// ---- decode -----------------------------------------------------------------------------------

static const struct vec *collection_of(const struct snapshot *s, enum object_kind kind)
{
	return s ? snapshot_collection((struct snapshot *)(uintptr_t)s, kind) : NULL;
}

// Settings that the body does not have are the defaults.
static void decode_settings(const json_t *body, const struct snapshot *base, struct err *e,
			    struct snapshot *s)
{
	const struct object_source source = {.kind = OBJECT_SETTINGS,
					     .name = MODEL_SETTINGS_NAME,
					     .body = json_object_get(body, MODEL_SETTINGS_NAME),
					     .pointer = "/" MODEL_SETTINGS_NAME};
	struct object *known = base ? base->settings.items[0] : NULL;
	if (source.body)
		snapshot_set_settings(s, object_decode_partial(&source, e));
	struct object *wanted = s->settings.items[0];
	if (known && !wanted->faulty && object_equal_row(wanted, known))
		snapshot_set_settings(s, object_ref(known));
}

struct snapshot *change_document_decode(const struct snapshot *base, const json_t *body,
					struct err *e)
{
	struct snapshot *s = snapshot_new();
	struct object nobody = {.refs = 1, .kind = OBJECT_KIND_COUNT};
	struct field_decoder d = {.root = &nobody, .err = e};
	if (!json_is_object(body)) {
		fields_fault(&d, ERR_TYPE, NULL, "the document must be an object");
		return s;
	}
	fields_decode(&d, fields_of_document(), &nobody, body);
	for (const struct field *f = fields_of_document(); f->name; f++) {
		const json_t *v = f->type == FIELD_CHILDREN ? json_object_get(body, f->name) : NULL;
		if (!v)
			continue;
		err_pointer_push(d.pointer, f->name);
		const struct object_collection source = {.field = f,
							 .body = v,
							 .pointer = d.pointer,
							 .known = collection_of(base, f->child)};
		object_decode_collection(&source, e, snapshot_collection(s, f->child));
		err_pointer_pop(d.pointer, 0);
	}
	decode_settings(body, base, e, s);
	return s;
}

// ---- compare ----------------------------------------------------------------------------------

struct removal {
	const char *parent; /* of the request's or an old object's: outlives the set */
	struct object *object;
};

void change_set_init(struct change_set *c, struct batch *b, uint64_t uid_seed)
{
	*c = (struct change_set){.batch = b, .uid_seed = uid_seed};
}

// Every seed gives a sequence of its own: the mixing is a bijection of (seed + n·odd).
static uint64_t next_uid(struct change_set *c)
{
	uint64_t x;
	do {
		x = c->uid_seed + ++c->uid_count * 0x9e3779b97f4a7c15ULL;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
		x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
		x ^= x >> 31;
	} while (x == 0);
	return x;
}

static void set_head(struct change_set *c, struct object *o, const struct object *old)
{
	const bool known = old && old->uid; // settings that nobody has made are new
	o->uid = known ? old->uid : next_uid(c);
	o->created_wall = known ? old->created_wall : c->batch->wall;
	o->updated_wall = c->batch->wall;
	o->revision = c->batch->revision;
}

static bool has_children(enum object_kind kind)
{
	return kind == OBJECT_SERVER_GROUP || kind == OBJECT_LOAD_BALANCER;
}

// One row of the batch; children are rows of their own.
static void add_row(struct change_set *c, const char *parent, struct object *old,
		    struct object *wanted)
{
	set_head(c, wanted, old);
	struct object *row = has_children(wanted->kind) ? object_copy_row(wanted)
							: object_ref(wanted);
	batch_add(c->batch, parent, old, row);
	object_unref(row);
}

static void remove_row(struct change_set *c, const char *parent, struct object *old)
{
	struct removal *r = mem_new(struct removal);
	*r = (struct removal){.parent = parent, .object = old};
	vec_push(&c->removed, r);
}

static const struct vec *children_or_none(struct object *o, enum object_kind kind)
{
	static const struct vec none;
	return o ? object_children(o, kind) : &none;
}

static bool compare_children(struct change_set *c, struct object *old, struct object *wanted)
{
	const struct object *o = old ? old : wanted; // a removal keeps the pointer to the name
	bool differs = false;
	for (const struct field *f = fields_of_kind(o->kind); f->name; f++) {
		if (f->type == FIELD_CHILDREN &&
		    change_set_compare_all(c, o->name, children_or_none(old, f->child),
					   children_or_none(wanted, f->child)))
			differs = true;
	}
	return differs;
}

// A list that is sent again has the chunks of the old one where they are equal.
static void share_entries(struct object *old, struct object *wanted)
{
	if (!old || old->kind != OBJECT_ACCESS_LIST)
		return;
	const struct access_list *a = (const struct access_list *)old;
	struct access_list *b = (struct access_list *)wanted;
	struct entries *shared = entries_rebase(a->entries, b->entries);
	entries_unref(b->entries);
	b->entries = shared;
}

void change_set_rewind(struct change_set *c, size_t count)
{
	assert(count <= c->batch->count);
	while (c->batch->count > count)
		batch_drop_last(c->batch);
}

bool change_set_compare(struct change_set *c, const char *parent, struct object *old,
			struct object *wanted)
{
	if (old == wanted)
		return false;
	if (!wanted) {
		compare_children(c, old, NULL);
		remove_row(c, parent, old);
		return true;
	}
	share_entries(old, wanted);
	bool same = old && object_equal_row(old, wanted);
	if (same && !has_children(wanted->kind))
		return false;
	// The row stands before those of its children, and goes again if nothing differs.
	size_t place = c->batch->count;
	add_row(c, parent, old, wanted);
	bool differs = compare_children(c, old, wanted);
	if (!same || differs)
		return true;
	assert(c->batch->count == place + 1);
	change_set_rewind(c, place);
	return false;
}

bool change_set_compare_all(struct change_set *c, const char *parent, const struct vec *old,
			    const struct vec *wanted)
{
	bool differs = false;
	size_t i = 0;
	for (size_t k = 0; i < old->count || k < wanted->count;) {
		struct object *a = i < old->count ? old->items[i] : NULL;
		struct object *b = k < wanted->count ? wanted->items[k] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);
		if (change_set_compare(c, parent, order <= 0 ? a : NULL, order >= 0 ? b : NULL))
			differs = true;
		i += order <= 0;
		k += order >= 0;
	}
	return differs;
}

void change_set_touch(struct change_set *c, struct object *parent)
{
	struct object *row = object_copy_row(parent);
	set_head(c, row, parent);
	batch_add(c->batch, NULL, parent, row);
	object_unref(row);
}

void change_set_finish(struct change_set *c)
{
	for (size_t i = 0; i < c->removed.count; i++) {
		struct removal *r = c->removed.items[i];
		batch_add(c->batch, r->parent, r->object, NULL);
		free(r);
	}
	vec_clear(&c->removed);
}
