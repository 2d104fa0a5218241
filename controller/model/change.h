/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a request to a batch: decode, compare with the base, validate the whole result. Pure; may run on a worker thread. */
#ifndef ZG_MODEL_CHANGE_H
#define ZG_MODEL_CHANGE_H

#include "model/snapshot.h"

enum change_verb { CHANGE_PUT, CHANGE_PATCH, CHANGE_DELETE };

enum change_target {
	CHANGE_OBJECT, /* `path` */
	CHANGE_SERVERS, /* PUT of the whole server list of group `path.name`; body {"web-1": {…}, …} */
	CHANGE_ENTRIES, /* of access list `path.name`: PUT of `entries`, or PATCH {"add": …, "remove": …} */
	CHANGE_DOCUMENT, /* PUT of the whole document */
	CHANGE_REVISION, /* PUT of the document as it was at an older revision: `undo` leads there */
};

struct change_request {
	enum change_verb verb;
	enum change_target target;
	struct object_path path;
	const json_t *body;            /* NULL for DELETE */
	const struct entries *entries; /* PUT of CHANGE_ENTRIES */
	uint64_t revision;             /* CHANGE_REVISION */
	const json_t *undo;            /* CHANGE_REVISION: see rewind_document() */
	const char *if_match;          /* an ETag, "*" or NULL; "" cannot occur */
	const char *if_none_match;     /* "*" or NULL */
	usec_t wall;                   /* now */
	uint64_t uid_seed; /* new objects get uids derived from it: unique for each request */
	/* More rules over the resulting document, NULL = none: called where the request is built, on objects with faults too. */
	void (*judge)(const void *ctx, const struct snapshot *s, struct err *e);
	const void *judge_ctx;
};

/* Builds the batch that `r` makes of `base`. A request that changes nothing gives a batch with count 0. Every fault of the
 * resulting document is in `e`, with a pointer into the body where it lies in what the body describes, else into the document
 * ("/load_balancers/…"): ERR_NOT_FOUND (DELETE, PATCH of an absent object; parent absent), ERR_CONFLICT (If-Match),
 * ERR_IN_USE (with the users), and validation's. Returns 0, batch (caller frees, who/via/comment NULL) and the resulting
 * snapshot (reference), or -EINVAL. */
int change_build(const struct snapshot *base, const struct change_request *r, struct err *e,
		 struct batch **ret_batch, struct snapshot **ret_snapshot);
/* Moves faults with pointers into the document to `e`, there with pointers as change_build() gives them. */
void change_place_faults(const struct change_request *r, struct err *faults, struct err *e);

#define ETAG_MAX 64
/* Strong entity tags (RFC 9110 §8.8.3), quotes included. */
const char *change_object_etag(const struct object *o, char buf[ETAG_MAX]);
const char *change_document_etag(const struct snapshot *s, char buf[ETAG_MAX]);
/* Whether `if_match` (one tag, a list, or "*") names `etag`; weak tags never match. */
bool change_etag_matches(const char *if_match, const char *etag);

#endif
