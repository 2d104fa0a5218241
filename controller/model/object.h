/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Life of objects, and the way between them and JSON by the field tables. */
#ifndef ZG_MODEL_OBJECT_H
#define ZG_MODEL_OBJECT_H

#include <jansson.h>

#include "base/err.h"
#include "model/model.h"

/* The place of an object in the document. `parent` is NULL for top-level kinds. Strings belong to the caller. */
struct object_path {
	enum object_kind kind;
	const char *parent;
	const char *name;
};

/* "server_groups/web/servers/web-1": the document's path, without a leading slash. Returns `buf`. */
#define OBJECT_PATH_MAX 256
const char *object_path_format(const struct object_path *p, char buf[OBJECT_PATH_MAX]);
const char *object_kind_name(enum object_kind kind); /* "server_group" */
const char *object_collection_name(
	enum object_kind kind); /* "server_groups", "zones", "servers", … */

enum object_kind object_parent_kind(
	enum object_kind kind); /* OBJECT_KIND_COUNT for top-level kinds */

/* ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$ */
bool object_name_valid(const char *name);

/* One more reference (thread-safe); returns its argument. */
struct object *object_ref(struct object *o);
/* Drops one; the last one frees the object and drops its children. NULL-safe. */
void object_unref(struct object *o);

/* Decodes an object (and its children, when the body has them) of `kind` from `body`. Absent members get their defaults;
 * read-only members (uid revision created_at updated_at status) are ignored; unknown ones and those of later parts are
 * faults. `pointer` is the place of `body` in the request ("" for a body that is the object). Head fields but kind and name
 * are 0. All faults go to `e`; returns 0 and a new object, or -EINVAL. */
int object_decode(enum object_kind kind, const char *name, const json_t *body, const char *pointer,
		  struct err *e, struct object **ret_object);

/* The same from the text of object_write_row(), several times faster. NULL: the text is not plain enough for that (or
 * faulty); object_decode_row() tells. */
struct object *object_read_row(enum object_kind kind, const char *name, const char *text);

/* Any such text. `entries`: of an access list whose row has only their hash (object_row_lacks_entries()), else NULL. 0 and a new
 * object, or -EINVAL with faults. */
int object_decode_row(const struct object_path *p, const char *text, const struct entries *entries,
		      struct err *e, struct object **ret_object);
/* Whether the entries of the list are not in its row. NULL-safe; false for other kinds. */
bool object_row_lacks_entries(const struct object *o);

/* What object_decode_partial() reads. */
struct object_source {
	enum object_kind kind;
	const char *name;
	const json_t *body;
	const char *pointer;
	const struct entries
		*entries; /* of an access list: what their hash may stand for, or NULL */
	const json_t *
		patch; /* not NULL: `body` is the outcome of this merge patch; members that no longer apply and that
			      * the patch does not set are dropped instead of refused */
};

/* As object_decode(), but gives an object also when there are faults, with `faulty` set in it and its children, so that the
 * rest of the document can be judged in the same pass. */
struct object *object_decode_partial(const struct object_source *source, struct err *e);

/* For the document's own members: exactly the object's members without children, as the store keeps it and compares. */
json_t *object_encode_row(const struct object *o);
/* The same as compact text. Caller frees. */
char *object_write_row(const struct object *o);

/* Adds members that a reader gets (status …) to the JSON of one object. `parent` is NULL for top-level objects. */
typedef void object_decorate_fn(void *ctx, const struct object *parent, const struct object *o,
				json_t *json);

/* As GET shows it, children included. With `decorate` NULL: config only (for export and PATCH), else uid, revision,
 * created_at, updated_at are added and `decorate` is called, for each object. */
json_t *object_encode(const struct object *o, object_decorate_fn *decorate, void *ctx);

/* Same members (heads and children apart)? */
bool object_equal_row(const struct object *a, const struct object *b);

/* A copy that may be changed, with one reference; children are shared (referenced). */
struct object *object_copy(const struct object *o);

/* A copy without children. */
struct object *object_copy_row(const struct object *o);

/* The sorted array of children of one kind, or NULL if `o` has none such. */
struct vec *object_children(struct object *o, enum object_kind kind);

/* Prints the reference of all members, one a line, tab-separated: object, member, type, bounds, default, help. */
struct buf_writer;
void object_write_reference(struct buf_writer *w);

#endif
