// SPDX-License-Identifier: GPL-2.0-or-later
// From a request to a batch: preconditions, decode, compare, apply, validate. Decides everything
// about a write and has no effect itself.
#include "model/change.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/change_document.h"
#include "model/change_entries.h"
#include "model/field_slot.h"
#include "model/rewind.h"
#include "model/similar.h"
#include "model/validate.h"

// ---- preconditions ----------------------------------------------------------------------------

static int check_conditions(const struct change_request *r, const char *etag, usec_t updated,
			    struct err *e)
{
	char when[TIME_TEXT_MAX];
	if (r->if_none_match && etag && change_etag_matches(r->if_none_match, etag))
		return err_set(e, ERR_CONFLICT, "",
			       "If-None-Match: it exists already, with ETag %s, changed at %s",
			       etag, time_format_wall(updated, when));
	if (!r->if_match)
		return 0;
	if (!etag)
		return err_set(e, ERR_CONFLICT, "", "If-Match: it does not exist");
	if (change_etag_matches(r->if_match, etag))
		return 0;
	if (updated == 0)
		return err_set(
			e, ERR_CONFLICT, "",
			"If-Match: nobody has changed it yet, and it has ETag %s; read it again",
			etag);
	return err_set(
		e, ERR_CONFLICT, "",
		"If-Match: it was changed by another writer at %s and has ETag %s now; read it again",
		time_format_wall(updated, when), etag);
}

static int check_object_conditions(const struct change_request *r, const struct object *o,
				   struct err *e)
{
	char etag[ETAG_MAX];
	return check_conditions(r, o ? change_object_etag(o, etag) : NULL, o ? o->updated_wall : 0,
				e);
}

static int fault_absent(const struct snapshot *base, const struct object_path *p, struct err *e)
{
	char path[OBJECT_PATH_MAX], hint[SIMILAR_HINT_MAX];
	return err_set(e, ERR_NOT_FOUND, "", "%s does not exist%s", object_path_format(p, path),
		       similar_hint(base, p, hint));
}

// The parent of what the request writes, where the kind has one.
static int find_parent(const struct snapshot *base, const struct object_path *p, struct err *e,
		       struct object **ret_parent)
{
	struct object_path parent = {.kind = object_parent_kind(p->kind), .name = p->parent};
	if (parent.kind == OBJECT_KIND_COUNT)
		return 0;
	struct object *o = snapshot_find(base, &parent);
	if (!o)
		return fault_absent(base, &parent, e);
	*ret_parent = o;
	return 0;
}

// ---- PATCH ------------------------------------------------------------------------------------

// RFC 7396, without recursion into the caller's values: `target` is ours, the patch is copied.
static void merge_patch(json_t *target, const json_t *patch)
{
	// jansson's iterators take a mutable object, which they do not change.
	json_t *from = (json_t *)(uintptr_t)patch;
	for (void *i = json_object_iter(from); i; i = json_object_iter_next(from, i)) {
		const char *name = json_object_iter_key(i);
		json_t *value = json_object_iter_value(i);
		if (json_is_null(value)) {
			json_object_del(target, name);
			continue;
		}
		if (!json_is_object(value)) {
			json_object_set_new_nocheck(target, name, json_deep_copy(value));
			continue;
		}
		json_t *inner = json_object_get(target, name);
		if (!json_is_object(inner)) {
			inner = json_object();
			json_object_set_new_nocheck(target, name, inner);
		}
		merge_patch(inner, value);
	}
}

// An access list; entries that the patch does not name stand there by their hash, however few they are.
static json_t *list_body(const struct object *old, const json_t *patch)
{
	struct object *copy = object_copy_row(old);
	struct access_list *list = (struct access_list *)copy;
	char hash[ENTRIES_HASH_TEXT];
	entries_format_hash(list->entries, hash);
	entries_unref(list->entries);
	list->entries = entries_new();
	json_t *body = object_encode_row(copy);
	object_unref(copy);
	if (!json_object_get(patch, "entries")) {
		json_object_del(body, "entries");
		json_object_set_new(body, "entries_hash", json_string(hash));
	}
	return body;
}

static bool is_default(const struct field *f, const struct object *root, const void *base)
{
	bool plain = f->type == FIELD_NUMBER || f->type == FIELD_ENUM || f->type == FIELD_FLAGS;
	return plain && f->derive && field_slot_load_number(base, f) == f->derive(root);
}

// What stands at a default that hangs on other members goes on hanging on them: it follows when the patch changes those.
static void drop_derived(const struct field *fields, const struct object *root, const void *base,
			 json_t *members)
{
	for (const struct field *f = fields; f->name; f++) {
		json_t *value = json_object_get(members, f->name);
		if (f->type == FIELD_GROUP && json_is_object(value))
			drop_derived(f->members, root, field_slot_read(base, f), value);
		else if (value && is_default(f, root, base))
			json_object_del(members, f->name);
	}
}

// The same of those children that the patch names.
static void drop_derived_of_children(const struct vec *children, const json_t *patch,
				     json_t *members)
{
	for (size_t i = 0; i < children->count; i++) {
		const struct object *o = children->items[i];
		if (json_object_get(patch, o->name))
			drop_derived(fields_of_kind(o->kind), o, o,
				     json_object_get(members, o->name));
	}
}

// The members of `old` with the patch applied. Collections of children that the patch does not name are left out.
static json_t *merged_body(const struct object *old, const json_t *patch)
{
	json_t *merged = old->kind == OBJECT_ACCESS_LIST ? list_body(old, patch)
							 : object_encode_row(old);
	json_t *whole = NULL;
	drop_derived(fields_of_kind(old->kind), old, old, merged);
	for (const struct field *f = fields_of_kind(old->kind); f->name; f++) {
		if (f->type != FIELD_CHILDREN || !json_object_get(patch, f->name))
			continue;
		if (!whole)
			whole = object_encode(old, NULL, NULL);
		json_object_set_nocheck(merged, f->name, json_object_get(whole, f->name));
		drop_derived_of_children(field_slot_read(old, f), json_object_get(patch, f->name),
					 json_object_get(merged, f->name));
	}
	json_decref(whole);
	merge_patch(merged, patch);
	return merged;
}

static void share_children(const struct object *old, const json_t *patch, struct object *wanted)
{
	struct object *from = (struct object *)(uintptr_t)old;
	for (const struct field *f = fields_of_kind(old->kind); f->name; f++) {
		if (f->type != FIELD_CHILDREN || json_object_get(patch, f->name))
			continue;
		const struct vec *children = object_children(from, f->child);
		for (size_t i = 0; i < children->count; i++)
			vec_push(object_children(wanted, f->child), object_ref(children->items[i]));
	}
}

// The object that PUT or PATCH wants; partial when there are faults.
static struct object *decode_wanted(const struct change_request *r, const struct object *old,
				    struct err *e)
{
	struct object_source source = {
		.kind = r->path.kind, .name = r->path.name, .body = r->body, .pointer = ""};
	if (old && old->kind == OBJECT_ACCESS_LIST)
		source.entries = ((const struct access_list *)old)->entries;
	if (r->verb == CHANGE_PUT || !json_is_object(r->body))
		return object_decode_partial(&source, e);
	assert(old);
	json_t *merged = merged_body(old, r->body);
	source.body = merged;
	source.patch = r->body;
	struct object *wanted = object_decode_partial(&source, e);
	share_children(old, r->body, wanted);
	json_decref(merged);
	return wanted;
}

// ---- the three targets ------------------------------------------------------------------------

static int change_delete(const struct snapshot *base, const struct change_request *r,
			 struct change_set *set, struct err *e)
{
	struct object *parent = NULL;
	if (find_parent(base, &r->path, e, &parent) < 0)
		return -EINVAL;
	struct object *old = snapshot_find(base, &r->path);
	if (!old)
		return fault_absent(base, &r->path, e);
	if (check_object_conditions(r, old, e) < 0 || validate_unused(base, &r->path, e) < 0)
		return -EINVAL;
	if (parent)
		change_set_touch(set, parent);
	change_set_compare(set, r->path.parent, old, NULL);
	return 0;
}

static int change_object(const struct snapshot *base, const struct change_request *r,
			 struct change_set *set, struct err *e)
{
	struct object *parent = NULL;
	if (!object_name_valid(r->path.name))
		return err_set(e, ERR_FORMAT, "",
			       "the name must be 1 to %d of a-z, 0-9 and inner -", MODEL_NAME_MAX);
	if (find_parent(base, &r->path, e, &parent) < 0)
		return -EINVAL;
	struct object *old = snapshot_find(base, &r->path);
	if (!old && r->verb == CHANGE_PATCH)
		return fault_absent(base, &r->path, e);
	if (check_object_conditions(r, old, e) < 0)
		return -EINVAL;
	struct object *wanted = decode_wanted(r, old, e);
	size_t before = set->batch->count;
	if (parent)
		change_set_touch(set, parent);
	if (!change_set_compare(set, r->path.parent, old, wanted))
		change_set_rewind(set, before);
	object_unref(wanted);
	return 0;
}

static int change_servers(const struct snapshot *base, const struct change_request *r,
			  struct change_set *set, struct err *e)
{
	struct object_path path = {.kind = OBJECT_SERVER_GROUP, .name = r->path.name};
	struct object *group = snapshot_find(base, &path);
	if (!group)
		return fault_absent(base, &path, e);
	if (check_object_conditions(r, group, e) < 0)
		return -EINVAL;
	struct object *wanted = object_copy_row(group);
	const struct field *f = fields_of_kind(OBJECT_SERVER_GROUP);
	while (f->type != FIELD_CHILDREN)
		f++;
	const struct object_collection source = {.field = f,
						 .body = r->body,
						 .pointer = "",
						 .known = object_children(group, OBJECT_SERVER)};
	object_decode_collection(&source, e, object_children(wanted, OBJECT_SERVER));
	change_set_compare(set, NULL, group, wanted);
	object_unref(wanted);
	return 0;
}

static int change_entries(const struct snapshot *base, const struct change_request *r,
			  struct change_set *set, struct err *e)
{
	struct object_path path = {.kind = OBJECT_ACCESS_LIST, .name = r->path.name};
	struct object *old = snapshot_find(base, &path);
	if (!old)
		return fault_absent(base, &path, e);
	if (check_object_conditions(r, old, e) < 0)
		return -EINVAL;
	struct object *wanted = object_copy(old);
	struct access_list *list = (struct access_list *)wanted;
	struct entries *entries = r->verb == CHANGE_PUT
					  ? entries_ref(r->entries)
					  : change_entries_patch(list->entries, r->body, e);
	entries_unref(list->entries);
	list->entries = entries;
	change_set_compare(set, NULL, old, wanted);
	object_unref(wanted);
	return 0;
}

static int change_document(const struct snapshot *base, const struct change_request *r,
			   struct change_set *set, struct err *e)
{
	char etag[ETAG_MAX];
	if (check_conditions(r, change_document_etag(base, etag), base->updated_wall, e) < 0)
		return -EINVAL;
	struct snapshot *wanted = r->target == CHANGE_REVISION
					  ? rewind_document(base, r->undo, e)
					  : change_document_decode(base, r->body, e);
	if (!wanted)
		return -EINVAL;
	change_set_compare_all(set, NULL, &base->zones, &wanted->zones);
	change_set_compare_all(set, NULL, &base->server_groups, &wanted->server_groups);
	change_set_compare_all(set, NULL, &base->load_balancers, &wanted->load_balancers);
	change_set_compare_all(set, NULL, &base->access_lists, &wanted->access_lists);
	change_set_compare_all(set, NULL, &base->settings, &wanted->settings);
	snapshot_unref(wanted);
	return 0;
}

static int fill_batch(const struct snapshot *base, const struct change_request *r,
		      struct change_set *set, struct err *e)
{
	switch (r->target) {
	case CHANGE_OBJECT:
		return r->verb == CHANGE_DELETE ? change_delete(base, r, set, e)
						: change_object(base, r, set, e);
	case CHANGE_SERVERS:
		assert(r->verb == CHANGE_PUT);
		return change_servers(base, r, set, e);
	case CHANGE_ENTRIES:
		assert(r->verb != CHANGE_DELETE);
		return change_entries(base, r, set, e);
	case CHANGE_DOCUMENT:
	case CHANGE_REVISION:
		assert(r->verb == CHANGE_PUT);
		return change_document(base, r, set, e);
	}
	return -EINVAL;
}

// ---- faults of the result ---------------------------------------------------------------------

// The document pointer of what the body stands for, "" for the document.
static void body_prefix(const struct change_request *r, char buf[OBJECT_PATH_MAX + 16])
{
	char path[OBJECT_PATH_MAX];
	buf[0] = '\0';
	if (r->target == CHANGE_OBJECT && r->verb != CHANGE_DELETE)
		snprintf(buf, OBJECT_PATH_MAX + 16, "/%s", object_path_format(&r->path, path));
	if (r->target == CHANGE_ENTRIES)
		snprintf(buf, OBJECT_PATH_MAX + 16, "/access_lists/%s", r->path.name);
	if (r->target == CHANGE_SERVERS)
		snprintf(buf, OBJECT_PATH_MAX + 16, "/server_groups/%s/servers", r->path.name);
}

void change_place_faults(const struct change_request *r, struct err *faults, struct err *e)
{
	char prefix[OBJECT_PATH_MAX + 16];
	body_prefix(r, prefix);
	size_t length = strlen(prefix);
	for (size_t i = 0; i < faults->count; i++) {
		const struct err_fault *f = &faults->faults[i];
		const char *pointer = f->pointer;
		if (strncmp(pointer, prefix, length) == 0 &&
		    (pointer[length] == '/' || !pointer[length]))
			pointer += length;
		err_set(e, f->code, pointer, "%s", f->detail);
	}
	e->total += faults->total - faults->count;
	err_clear(faults);
}

static struct batch *new_batch(const struct snapshot *base, const struct change_request *r)
{
	struct batch *b = batch_new();
	b->revision = base->revision + 1;
	b->wall = r->wall;
	return b;
}

int change_build(const struct snapshot *base, const struct change_request *r, struct err *e,
		 struct batch **ret_batch, struct snapshot **ret_snapshot)
{
	size_t before = e->total;
	struct change_set set;
	struct batch *b = new_batch(base, r);
	change_set_init(&set, b, r->uid_seed);
	int result = fill_batch(base, r, &set, e);
	change_set_finish(&set);
	struct snapshot *s = NULL;
	if (result == 0 && b->count == 0 && e->total == before)
		s = snapshot_ref((struct snapshot *)(uintptr_t)base);
	else if (result == 0)
		s = snapshot_apply(base, b);
	// A body with faults is judged as a whole: what could be read of it is validated too.
	if (s && s != base) {
		AUTO_ERR struct err faults = {0};
		validate_change(base, b, s, &faults);
		if (r->judge)
			r->judge(r->judge_ctx, s, &faults);
		change_place_faults(r, &faults, e);
	}
	if (result < 0 || e->total > before) {
		batch_free(b);
		snapshot_unref(s);
		return -EINVAL;
	}
	*ret_batch = b;
	*ret_snapshot = s;
	return 0;
}
