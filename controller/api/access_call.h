/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request that wishes something of access: its body into the wish, what came of it into the answer. The wish outlives a
 * client that goes away. */
#ifndef ZG_API_ACCESS_CALL_H
#define ZG_API_ACCESS_CALL_H

#include "access/access.h"
#include "api/request.h"

enum access_member_type {
	MEMBER_TEXT,
	MEMBER_ROLE,
	MEMBER_SPAN,      /* "90d", or null */
	MEMBER_SOURCES,   /* ["10.0.0.0/8"] */
	MEMBER_READ_ONLY, /* of an answer that comes back */
};

struct access_member {
	const char *name;
	enum access_member_type type;
	bool required;
	size_t offset; /* in struct access_wish */
};

struct access_call {
	struct access_wish wish;
	struct request *request; /* NULL: nobody waits any more */
	json_t *body;            /* holds the texts of the wish */
	char *param;             /* what the path names, or NULL */
	char who[AUTH_NAME_MAX];
	char session[ACCESS_ID_MAX];
	void (*show)(struct request *r, const struct access_call *c,
		     const struct access_result *result);
	void (*deny)(struct request *r); /* not ACCESS_DENIED without it */
};

/* `show` is called when it was done. Who, source and session are those of the request. */
struct access_call *access_call_new(struct request *r, enum access_verb verb,
				    void (*show)(struct request *r, const struct access_call *c,
						 const struct access_result *result));
void access_call_free(struct access_call *c);

/* Reads the body into the wish. Every fault is told: 0, or -EINVAL (replied, freed). */
int access_call_read(struct access_call *c, const struct access_member *members, size_t count);

void access_call_run(struct access_call *c); /* takes it */

/* 412: who changed the user last, and when. */
void access_call_refuse_stale(struct request *r, const struct err *unmet, const char *user);

/* {who, role, via, authenticated_by, id, expires_at}. */
json_t *access_call_encode_identity(const struct request *r, const char *who, enum role role,
				    enum access_way way, const char *id, usec_t expires_wall);

/* ["10.0.0.0/8"] */
json_t *access_call_encode_sources(const struct access_prefix *sources, size_t count);

/* Sets the cookie of a session; "" takes it away. */
void access_call_set_cookie(struct request *r, const char *secret);

#endif
