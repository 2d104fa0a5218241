/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit: who tried to change what, from where, and what came of it; and who was kept from reading. Bodies and queries are
 * never in it. Written by way of the engine; a change of the configuration carries its entry in its own transaction. */
#ifndef ZG_API_AUDIT_H
#define ZG_API_AUDIT_H

#include "api/request.h"
#include "engine/engine.h"

struct audit;
struct ev_loop;

#define AUDIT_WINDOW       (60 * USEC_PER_SEC)
#define AUDIT_DISTINCT_MAX 256 /* refusals of a window that get entries of their own, … */
#define AUDIT_SOURCE_MAX   32  /* … and of one source; the others are counted together */

struct audit *audit_new(struct ev_loop *loop, struct engine *engine, usec_t window);
/* Writes what was counted. */
void audit_flush(struct audit *a);
void audit_free(struct audit *a); /* NULL-safe; flushes nothing */

/* A request is over, whether or not it had an answer. Notes it if it is one of those that are noted and is not yet. */
void audit_note(struct audit *a, const struct request *r);

/* What of a request goes into an entry, as a value that outlives it. */
struct audit_subject {
	char id[REQUEST_ID_MAX];
	char who[AUTH_NAME_MAX];
	char token[AUTH_NAME_MAX];
	char source[ADDR_TEXT_MAX]; /* "" on the unix socket */
	const char *via;
	const char *method;
	char path[URI_PATH_MAX];
	bool minimal;
};
void audit_take_subject(const struct request *r, struct audit_subject *ret_subject);

/* The entry of a change that is about to be committed, as text; caller frees. */
char *audit_encode_change(const struct audit_subject *s, const struct proposal_outlook *o);

#endif
