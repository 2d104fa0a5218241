/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The immutable configuration at one revision, and changes between two of them. What did not change is shared. */
#ifndef ZG_MODEL_SNAPSHOT_H
#define ZG_MODEL_SNAPSHOT_H

#include "model/object.h"

struct snapshot {
	unsigned refs;
	uint64_t revision;
	usec_t updated_wall;
	struct vec zones; /* struct zone, sorted by name; likewise the next three */
	struct vec server_groups;
	struct vec load_balancers;
	struct vec access_lists;
	struct vec settings; /* exactly one struct model_settings */
	struct marks *marks; /* of listeners with a range, as far as allotted; NULL = none */
};

/* Revision 0, nothing in it but the settings, which have their defaults. */
struct snapshot *snapshot_new(void);
struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);

/* The collection of a top-level kind, or NULL. */
struct vec *snapshot_collection(struct snapshot *s, enum object_kind kind);
struct object *snapshot_find(const struct snapshot *s,
			     const struct object_path *p); /* NULL if absent; borrowed */
const struct model_settings *snapshot_settings(const struct snapshot *s);
/* Takes the reference; for a snapshot that nobody else has yet. */
void snapshot_set_settings(struct snapshot *s, struct object *settings);
struct zone *snapshot_find_zone(const struct snapshot *s, const char *name);
struct server_group *snapshot_find_group(const struct snapshot *s, const char *name);
struct load_balancer *snapshot_find_lb(const struct snapshot *s, const char *name);
struct access_list *snapshot_find_access_list(const struct snapshot *s, const char *name);
struct server *snapshot_find_server(const struct server_group *g, const char *name);

/* Takes the reference; for a snapshot that nobody else has yet. */
void snapshot_set_marks(struct snapshot *s, struct marks *marks);
/* The firewall mark of a listener with a range at the VIPs of a zone; 0 = none (yet), or it has one port. */
uint32_t snapshot_find_mark(const struct snapshot *s, const struct load_balancer *lb,
			    const struct lb_zone *zone, const struct listener *l);

/* One object added (old NULL), removed (new NULL) or replaced. Children are changes of their own: `old_object` and
 * `new_object` of a group are compared, stored and applied without their servers. A parent whose children changed is in the
 * batch too ("touched"), so that its revision rises. */
struct change {
	enum object_kind kind;
	char *parent;
	char *name;
	struct object *old_object; /* referenced */
	struct object *new_object; /* referenced */
};

struct batch {
	struct change *changes; /* in document order: parents before children, removals after */
	size_t count;
	uint64_t revision; /* the revision that this batch makes */
	usec_t wall;
	char *who;     /* "root", "token:ci" … */
	char *via;     /* "api", "cli", "file" */
	char *comment; /* may be NULL */
};

/* Empty; batch_free() releases it. Never NULL. */
struct batch *batch_new(void);
/* Adds one change and references both objects (either may be NULL, not both). Strings are copied. */
void batch_add(struct batch *b, const char *parent, struct object *old_object,
	       struct object *new_object);
void batch_drop_last(struct batch *b);
void batch_free(struct batch *b);
/* Puts copies that the calling thread makes in the place of new objects without children, if there are few. What another thread
 * made lies among what it frees, and would hold a page of it each. */
void batch_renew(struct batch *b);

/* The snapshot that results from `b` on `base`; new reference. Base and batch are left as they are; the order of the changes
 * does not matter. Untouched objects are shared, and so are the marks. A child whose parent is neither in the base nor in the batch is left out. */
struct snapshot *snapshot_apply(const struct snapshot *base, const struct batch *b);

/* The whole document: {"zones": …, "server_groups": …, "load_balancers": …,
 * "access_lists": …}, and "settings" where they are not the defaults. See
 * object_encode(). */
json_t *snapshot_encode(const struct snapshot *s, object_decorate_fn *decorate, void *ctx);

#endif
