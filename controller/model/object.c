// SPDX-License-Identifier: GPL-2.0-or-later
// Life of objects, and their trees to and from JSON. What the members are stands in fields_table.c.
#include "model/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/fields.h"

#define ROW_TEXT_MAX (1024 * 1024)

struct kind {
	const char *name;
	const char *collection;
	size_t size;
	enum object_kind parent;
};

static const struct kind kinds[OBJECT_KIND_COUNT] = {
	[OBJECT_ZONE] = {"zone", "zones", sizeof(struct zone), OBJECT_KIND_COUNT},
	[OBJECT_SERVER_GROUP] = {"server_group", "server_groups", sizeof(struct server_group),
				 OBJECT_KIND_COUNT},
	[OBJECT_SERVER] = {"server", "servers", sizeof(struct server), OBJECT_SERVER_GROUP},
	[OBJECT_LOAD_BALANCER] = {"load_balancer", "load_balancers", sizeof(struct load_balancer),
				  OBJECT_KIND_COUNT},
	[OBJECT_LB_ZONE] = {"lb_zone", "zones", sizeof(struct lb_zone), OBJECT_LOAD_BALANCER},
	[OBJECT_LISTENER] = {"listener", "listeners", sizeof(struct listener),
			     OBJECT_LOAD_BALANCER},
	[OBJECT_ACCESS_LIST] = {"access_list", "access_lists", sizeof(struct access_list),
				OBJECT_KIND_COUNT},
	[OBJECT_SETTINGS] = {"ipvs_settings", "settings", sizeof(struct model_settings),
			     OBJECT_KIND_COUNT},
};

const char *object_kind_name(enum object_kind kind)
{
	assert(kind < OBJECT_KIND_COUNT);
	return kinds[kind].name;
}

const char *object_collection_name(enum object_kind kind)
{
	assert(kind < OBJECT_KIND_COUNT);
	return kinds[kind].collection;
}

enum object_kind object_parent_kind(enum object_kind kind)
{
	assert(kind < OBJECT_KIND_COUNT);
	return kinds[kind].parent;
}

const char *object_path_format(const struct object_path *p, char buf[OBJECT_PATH_MAX])
{
	enum object_kind parent = object_parent_kind(p->kind);
	const char *collection = object_collection_name(p->kind);
	if (p->kind == OBJECT_SETTINGS)
		snprintf(buf, OBJECT_PATH_MAX, "%s", collection);
	else if (parent == OBJECT_KIND_COUNT)
		snprintf(buf, OBJECT_PATH_MAX, "%s/%s", collection, p->name);
	else
		snprintf(buf, OBJECT_PATH_MAX, "%s/%s/%s/%s", object_collection_name(parent),
			 p->parent, collection, p->name);
	return buf;
}

bool object_name_valid(const char *name)
{
	static const char outer[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	static const char inner[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t length = strspn(name, inner);
	return length >= 1 && length <= MODEL_NAME_MAX && name[length] == '\0' &&
	       strchr(outer, name[0]) != NULL && strchr(outer, name[length - 1]) != NULL;
}

// ---- life -------------------------------------------------------------------------------------

static struct vec *children_at(struct object *o, const struct field *f)
{
	return (struct vec *)(void *)((char *)o + f->offset);
}

struct object *object_ref(struct object *o)
{
	unsigned before = __atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
	assert(before > 0);
	return o;
}

static void object_free(struct object *o)
{
	const struct field *fields = fields_of_kind(o->kind);
	for (const struct field *f = fields; f->name; f++) {
		if (f->type != FIELD_CHILDREN)
			continue;
		struct vec *children = children_at(o, f);
		for (size_t i = 0; i < children->count; i++)
			object_unref(children->items[i]);
		vec_clear(children);
	}
	fields_free(fields, o);
	free(o->name);
	free(o);
}

void object_unref(struct object *o)
{
	if (!o)
		return;
	unsigned before = __atomic_fetch_sub(&o->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before == 1)
		object_free(o);
}

struct object *object_copy_row(const struct object *o)
{
	const struct field *fields = fields_of_kind(o->kind);
	struct object *copy = mem_dup(o, kinds[o->kind].size);
	copy->refs = 1;
	copy->name = mem_strdup(o->name);
	fields_copy(fields, copy);
	for (const struct field *f = fields; f->name; f++) {
		if (f->type == FIELD_CHILDREN)
			*children_at(copy, f) = (struct vec){0};
	}
	return copy;
}

struct vec *object_children(struct object *o, enum object_kind kind)
{
	for (const struct field *f = fields_of_kind(o->kind); f->name; f++) {
		if (f->type == FIELD_CHILDREN && f->child == kind)
			return children_at(o, f);
	}
	return NULL;
}

static const struct vec *children_of(const struct object *o, const struct field *f)
{
	return (const struct vec *)(const void *)((const char *)o + f->offset);
}

struct object *object_copy(const struct object *o)
{
	struct object *copy = object_copy_row(o);
	for (const struct field *f = fields_of_kind(o->kind); f->name; f++) {
		if (f->type != FIELD_CHILDREN)
			continue;
		const struct vec *from = children_of(o, f);
		struct vec *to = children_at(copy, f);
		for (size_t i = 0; i < from->count; i++)
			vec_push(to, object_ref(from->items[i]));
	}
	return copy;
}

bool object_equal_row(const struct object *a, const struct object *b)
{
	return a == b || (a->kind == b->kind && fields_equal(fields_of_kind(a->kind), a, b));
}

// ---- decode -----------------------------------------------------------------------------------

static int compare_names(const void *a, const void *b)
{
	const struct object *x = a;
	const struct object *y = b;
	return strcmp(x->name, y->name);
}

static int compare_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct object *)item)->name);
}

static struct object *object_new(enum object_kind kind, const char *name)
{
	struct object *o = mem_alloc(kinds[kind].size);
	o->refs = 1;
	o->kind = kind;
	o->name = mem_strdup(name);
	return o;
}

static struct object *decode_tree(struct field_decoder *d, enum object_kind kind, const char *name,
				  const json_t *body, struct object *known);

static const struct entries *entries_of(const struct object *o)
{
	return o && o->kind == OBJECT_ACCESS_LIST ? ((const struct access_list *)o)->entries : NULL;
}

bool object_row_lacks_entries(const struct object *o)
{
	const struct entries *e = entries_of(o);
	return e && entries_count(e) > MODEL_ENTRIES_ROW_MAX;
}

// The objects of a collection, at the place of `d`. False if it is none at all.
static bool decode_children(struct field_decoder *d, const struct field *f, const json_t *v,
			    const struct vec *known, struct vec *children)
{
	if (!json_is_object(v)) {
		fields_fault(d, ERR_TYPE, NULL, "must be an object of objects by name");
		return false;
	}
	if (json_object_size(v) > f->max) {
		fields_fault(d, ERR_LIMIT, NULL, "holds %zu objects; at most %u are allowed",
			     json_object_size(v), f->max);
		return false;
	}
	const json_t *patches = d->patch;
	const struct entries *entries = d->entries;
	// jansson's iterators take a mutable object, which they do not change.
	json_t *all = (json_t *)(uintptr_t)v;
	for (void *i = json_object_iter(all); i; i = json_object_iter_next(all, i)) {
		const char *name = json_object_iter_key(i);
		char quote[FIELDS_QUOTE_MAX];
		if (!object_name_valid(name)) {
			fields_fault(d, ERR_FORMAT, strlen(name) < FIELDS_QUOTE_MAX ? name : NULL,
				     "\"%s\" is not a name (a-z, 0-9 and inner -, at most %d)",
				     fields_quote(name, quote), MODEL_NAME_MAX);
			continue;
		}
		size_t length = err_pointer_push(d->pointer, name);
		d->patch = json_object_get(patches, name);
		struct object *old = known ? vec_find(known, name, compare_name, NULL) : NULL;
		d->entries = entries_of(old);
		vec_push(children, decode_tree(d, f->child, name, json_object_iter_value(i), old));
		err_pointer_pop(d->pointer, length);
	}
	d->patch = patches;
	d->entries = entries;
	vec_sort(children, compare_names);
	return true;
}

static void decode_collections(struct field_decoder *d, const struct field *fields,
			       const json_t *body, struct object *known)
{
	struct object *parent = d->root;
	const json_t *patch = d->patch;
	for (const struct field *f = fields; f->name; f++) {
		const json_t *v = f->type == FIELD_CHILDREN ? json_object_get(body, f->name) : NULL;
		if (!v)
			continue;
		size_t length = err_pointer_push(d->pointer, f->name);
		d->patch = json_object_get(patch, f->name);
		const struct vec *old = known ? children_at(known, f) : NULL;
		if (!decode_children(d, f, v, old, children_at(parent, f)))
			parent->faulty |= 1ULL << (f - fields);
		err_pointer_pop(d->pointer, length);
	}
	d->root = parent;
	d->patch = patch;
}

// One without children that came out as it is known is dropped at once: of a large document that is sent again with little
// changed, only the changes take memory.
static struct object *share_known(struct object *o, const struct field *fields,
				  struct object *known)
{
	for (const struct field *f = fields; f->name; f++)
		if (f->type == FIELD_CHILDREN)
			return o;
	if (o->faulty || !fields_equal(fields, o, known))
		return o;
	object_unref(o);
	return object_ref(known);
}

static struct object *decode_tree(struct field_decoder *d, enum object_kind kind, const char *name,
				  const json_t *body, struct object *known)
{
	const struct field *fields = fields_of_kind(kind);
	struct object *o = object_new(kind, name);
	d->root = o;
	fields_decode(d, fields, o, body);
	if (!json_is_object(body)) {
		fields_fault(d, ERR_TYPE, NULL, "must be an object");
		o->faulty = UINT64_MAX;
		return o;
	}
	decode_collections(d, fields, body, known);
	return known ? share_known(o, fields, known) : o;
}

struct object *object_decode_partial(const struct object_source *source, struct err *e)
{
	struct field_decoder d = {.err = e,
				  .patch = source->patch,
				  .entries = source->entries,
				  .merging = source->patch != NULL};
	snprintf(d.pointer, sizeof(d.pointer), "%s", source->pointer);
	return decode_tree(&d, source->kind, source->name, source->body, NULL);
}

void object_decode_collection(const struct object_collection *source, struct err *e,
			      struct vec *children)
{
	struct field_decoder d = {.err = e};
	snprintf(d.pointer, sizeof(d.pointer), "%s", source->pointer);
	decode_children(&d, source->field, source->body, source->known, children);
}

int object_decode(enum object_kind kind, const char *name, const json_t *body, const char *pointer,
		  struct err *e, struct object **ret_object)
{
	size_t before = e->total;
	struct object_source source = {
		.kind = kind, .name = name, .body = body, .pointer = pointer};
	struct object *o = object_decode_partial(&source, e);
	if (e->total > before) {
		object_unref(o);
		return -EINVAL;
	}
	*ret_object = o;
	return 0;
}

int object_decode_row(const struct object_path *p, const char *text, const struct entries *entries,
		      struct err *e, struct object **ret_object)
{
	struct object *o = object_read_row(p->kind, p->name, text);
	size_t before = e->total;
	char pointer[OBJECT_PATH_MAX + 1] = "/";
	if (o) {
		*ret_object = o;
		return 0;
	}
	object_path_format(p, pointer + 1);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (!json)
		return err_set(e, ERR_INTERNAL, pointer, "not JSON");
	struct object_source source = {.kind = p->kind,
				       .name = p->name,
				       .body = json,
				       .pointer = pointer,
				       .entries = entries};
	o = object_decode_partial(&source, e);
	json_decref(json);
	if (e->total > before) {
		object_unref(o);
		return -EINVAL;
	}
	*ret_object = o;
	return 0;
}

struct object *object_read_row(enum object_kind kind, const char *name, const char *text)
{
	struct object *o = object_new(kind, name);
	if (fields_read_stored(fields_of_kind(kind), o, text))
		return o;
	object_unref(o);
	return NULL;
}

// ---- encode -----------------------------------------------------------------------------------

json_t *object_encode_row(const struct object *o)
{
	json_t *json = json_object();
	fields_encode(fields_of_kind(o->kind), o, o, json);
	return json;
}

char *object_write_row(const struct object *o)
{
	struct buf_writer w;
	buf_writer_init(&w, ROW_TEXT_MAX);
	fields_write_stored(fields_of_kind(o->kind), o, o, &w);
	assert(!w.failed); /* the bounds of all members together are far below */
	return buf_take(&w);
}

static json_t *encode_time(usec_t wall)
{
	char text[TIME_TEXT_MAX];
	return wall ? json_string_nocheck(time_format_wall(wall, text)) : json_null();
}

// Of settings that nobody has made yet there is no identity and no time.
static void encode_head(const struct object *o, json_t *json)
{
	char text[TIME_TEXT_MAX];
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)o->uid);
	json_object_set_new_nocheck(json, "uid", o->uid ? json_string_nocheck(text) : json_null());
	json_object_set_new_nocheck(json, "revision", json_integer((json_int_t)o->revision));
	json_object_set_new_nocheck(json, "created_at", encode_time(o->created_wall));
	json_object_set_new_nocheck(json, "updated_at", encode_time(o->updated_wall));
}

static json_t *encode_tree(const struct object *parent, const struct object *o,
			   object_decorate_fn *decorate, void *ctx)
{
	json_t *json = object_encode_row(o);
	for (const struct field *f = fields_of_kind(o->kind); f->name; f++) {
		if (f->type != FIELD_CHILDREN)
			continue;
		const struct vec *children = children_of(o, f);
		json_t *all = json_object();
		for (size_t i = 0; i < children->count; i++) {
			const struct object *child = children->items[i];
			json_object_set_new_nocheck(all, child->name,
						    encode_tree(o, child, decorate, ctx));
		}
		json_object_set_new_nocheck(json, f->name, all);
	}
	if (decorate) {
		encode_head(o, json);
		decorate(ctx, parent, o, json);
	}
	return json;
}

json_t *object_encode(const struct object *o, object_decorate_fn *decorate, void *ctx)
{
	return encode_tree(NULL, o, decorate, ctx);
}

void object_write_reference(struct buf_writer *w)
{
	fields_write_reference(w, "document", fields_of_document());
	for (unsigned kind = 0; kind < OBJECT_KIND_COUNT; kind++)
		fields_write_reference(w, kinds[kind].name, fields_of_kind((enum object_kind)kind));
}
