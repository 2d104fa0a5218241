/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that show objects: what is small is encoded at once, with its status; what is large on the worker. */
#ifndef ZG_API_REPLY_H
#define ZG_API_REPLY_H

#include "api/request.h"
#include "model/snapshot.h"

/* More objects than these in one answer: it is made on the worker, and objects inside of those asked for have no `status`. */
#define REPLY_INLINE_MAX 200

/* The object that the route and its params name. Refuses names that cannot be: 404, for a PUT 422. Returns 0 or -EINVAL
 * (replied). */
int reply_find_path(struct request *r, struct object_path *ret_path);

/* As GET shows it, with its ETag; 404 if it is not there. `warnings` (taken; may be NULL) becomes a member. */
void reply_object(struct request *r, const struct snapshot *s, const struct object_path *path,
		  unsigned status, json_t *warnings);

/* The whole document with its ETag; no object has a `status`. */
void reply_document(struct request *r, const struct snapshot *s, unsigned status, json_t *warnings);

/* A page {items, next_cursor} of a collection: objects after `cursor`, at most `limit`. `parent`: name, or NULL at the top. */
void reply_page(struct request *r, const struct snapshot *s, const struct vec *objects,
		const char *parent);

/* Faults (replied, -EINVAL) for a bad ?limit= or ?cursor=; *ret_start is the index of the first object of the page. */
#define REPLY_LIMIT_DEFAULT 100
#define REPLY_LIMIT_MAX     1000
int reply_find_page(struct request *r, const struct vec *objects, size_t *ret_start,
		    size_t *ret_end);

/* A page of items (taken) that are no objects of the model, in the order of the texts of `members` ("created_at id"), which
 * together are the same in no two of them. */
void reply_items(struct request *r, json_t *items, const char *members);

/* A reference of the caller's to the snapshot that the engine shows. */
struct snapshot *reply_hold(const struct snapshot *s);

/* An object_decorate_fn: heads are added by the encoder; nothing else. */
void reply_decorate_nothing(void *ctx, const struct object *parent, const struct object *o,
			    json_t *json);

/* Whether the answer is wanted as it would be written: ?view=config. */
int reply_find_view(struct request *r, bool *ret_config);

#endif
