/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may: users, sessions, bearer tokens, the code of the first set-up. Mutable state beside the engine's; no I/O, no clock of
 * its own. What was answered is durable; what somebody may is looked up at each request. One thread. */
#ifndef ZG_ACCESS_ACCESS_H
#define ZG_ACCESS_ACCESS_H

#include "access/role.h"
#include "access/secret.h"
#include "base/addr.h"
#include "base/err.h"
#include "base/time.h"
#include "model/row.h"

struct access;

#define ACCESS_USERS_MAX        200
#define ACCESS_TOKENS_MAX       1000
#define ACCESS_SESSIONS_MAX     1000
#define ACCESS_SESSIONS_A_USER  10
#define ACCESS_SOURCES_MAX      16  /* prefixes of a token; sources that a user signed in from */
#define ACCESS_HASHING_MAX      16  /* passwords that wait for their hash */
#define ACCESS_WISHES_MAX       256 /* writes that wait for the store */
#define ACCESS_ID_MAX           17
#define ACCESS_WHO_MAX          80
#define ACCESS_TOKEN_PREFIX     "zg_"
#define ACCESS_TOKEN_TEXT_MAX   (SECRET_TEXT_MAX + 3)
#define ACCESS_CODE_MAX         24
#define ACCESS_CODE_TRIES       10
#define ACCESS_CODE_VALID       (15 * 60 * USEC_PER_SEC)
#define ACCESS_SESSION_IDLE     (3600 * USEC_PER_SEC)
#define ACCESS_SESSION_ABSOLUTE (12 * 3600 * USEC_PER_SEC)
#define ACCESS_SESSION_ROTATE   (15 * 60 * USEC_PER_SEC)
#define ACCESS_SESSION_FORMER   (60 * USEC_PER_SEC)
#define ACCESS_SEEN_EVERY       (60 * USEC_PER_SEC) /* last uses are stored no oftener */
#define ACCESS_TOKEN_LIFE_MAX   (3650ULL * 86400 * USEC_PER_SEC)

typedef void access_commit_fn(void *ctx, int result, const struct err *e);

struct access_ports {
	void *ctx;
	usec_t (*now)(void *ctx);
	usec_t (*wall)(void *ctx);
	void (*random)(void *ctx, void *bytes, size_t size);
	/* Durable, all or nothing; `done` once, later. */
	void (*commit)(void *ctx, const struct store_row *rows, size_t count,
		       access_commit_fn *done, void *done_ctx);
	/* Runs `work` on a thread for what takes long (or at once), then `done` on the loop. */
	void (*offload)(void *ctx, void (*work)(void *arg), void (*done)(void *arg), void *arg);
	/* A sign-in was refused: `user` is "" for one that is not known, for it may be a password. */
	void (*login_failed)(void *ctx, const char *user, const char *source, const char *why);
};

struct access *access_new(const struct access_ports *ports);
/* Rows of the kinds "user", "token", "session", "setup"; before anything else. One that makes no sense is left out: -EINVAL. */
int access_load_row(struct access *a, const struct store_row *row);
/* Wishes that wait are told that the daemon stops. NULL-safe. Nothing is at the port `offload` any more. */
void access_free(struct access *a);

/* ---- who asks ---- */

enum access_way {
	ACCESS_NO_WAY,
	ACCESS_BY_PEER, /* of the unix socket */
	ACCESS_BY_FILE, /* the token of [api] token_file */
	ACCESS_BY_TOKEN,
	ACCESS_BY_SESSION,
};
const char *access_way_name(enum access_way way); /* "none", "peer", "token_file", … */

struct access_identity {
	enum access_way way;
	enum role role;
	char who[ACCESS_WHO_MAX];    /* "alice", "token:ci" */
	char id[ACCESS_ID_MAX];      /* of token or session */
	usec_t expires_wall;         /* 0 = never */
	char fresh[SECRET_TEXT_MAX]; /* a session's secret from now on; "" = as it is */
};

/* False: not known, expired, or not from there. An unset source is the unix socket. Notes that it was used; a token that is not
 * known counts as a failure of the source. */
bool access_identify_token(struct access *a, const char *token, const struct addr *source,
			   struct access_identity *ret_identity);
bool access_identify_session(struct access *a, const char *secret,
			     struct access_identity *ret_identity);
/* Whether the former would be true; notes nothing, and the session keeps its secrets: for what is refused all the same. */
bool access_knows_session(const struct access *a, const char *secret);

/* How long a source has to wait after failures; 0 = not at all. */
usec_t access_source_wait(struct access *a, const struct addr *source);

/* ---- what there is; borrowed until the next call ---- */

struct access_user_view {
	const char *name;
	enum role role;
	uint64_t version; /* another one after each change */
	usec_t created_wall;
	usec_t updated_wall;
	const char *updated_by;
	usec_t login_wall; /* 0 = never */
	size_t sessions;
};

struct access_prefix {
	struct addr net;
	uint8_t length;
};

struct access_token_view {
	const char *id;
	const char *name;
	enum role role;
	const char *created_by;
	usec_t created_wall;
	usec_t expires_wall; /* 0 = never */
	usec_t used_wall;    /* 0 = never */
	const char *used_from;
	const struct access_prefix *sources;
	size_t source_count;
};

struct access_session_view {
	const char *id;
	const char *user;
	usec_t created_wall;
	usec_t seen_wall;
	usec_t expires_wall; /* idle or absolute, what is sooner */
	const char *source;
};

/* Each by name, tokens and sessions by age. */
void access_each_user(const struct access *a,
		      void (*fn)(void *ctx, const struct access_user_view *u), void *ctx);
void access_each_token(const struct access *a,
		       void (*fn)(void *ctx, const struct access_token_view *t), void *ctx);
void access_each_session(const struct access *a,
			 void (*fn)(void *ctx, const struct access_session_view *s), void *ctx);
bool access_find_user(const struct access *a, const char *name, struct access_user_view *ret_user);
bool access_find_token(const struct access *a, const char *id, struct access_token_view *ret_token);
bool access_find_session(const struct access *a, const char *id,
			 struct access_session_view *ret_session);

/* ---- wishes ---- */

/* A one-time code with which the first user is made from a browser; the former one is void. */
void access_start_setup(struct access *a, char ret_code[ACCESS_CODE_MAX], usec_t *ret_expires_wall);

enum access_verb {
	ACCESS_LOGIN,        /* user, password, source; session: the one that it replaces */
	ACCESS_SET_PASSWORD, /* user, current_password, password, source, session */
	ACCESS_FIRST_USER,   /* code, user, password, source */
	ACCESS_PUT_USER,     /* user, role, password (or NULL) */
	ACCESS_DELETE_USER,  /* user */
	ACCESS_ADD_TOKEN,    /* name, role, expires_in, sources */
	ACCESS_REVOKE_TOKEN, /* id */
	ACCESS_END_SESSION,  /* id */
	ACCESS_VERB_COUNT
};

enum access_refusal {
	ACCESS_DONE,
	ACCESS_FAULTY, /* `faults` tell: ERR_NOT_FOUND, ERR_IN_USE, ERR_CONFLICT, ERR_UNAVAILABLE, … */
	ACCESS_DENIED, /* user, password or code are wrong */
	ACCESS_WAIT,   /* too many failures: after `wait` again */
	ACCESS_BUSY,   /* too much at once */
};

struct access_result {
	enum access_refusal refusal;
	const struct err *faults;
	usec_t wait;
	bool created;       /* PUT_USER */
	bool changed;       /* something differs from before; of a dry run: it would */
	const char *secret; /* of the new session or token: this once; else NULL */
	const char *id;     /* of the new session or token; else NULL */
};

/* Everything in it belongs to the caller and lives until `done`, which is called exactly once, at once or later. */
struct access_wish {
	enum access_verb verb;
	const char *user;
	const char *password;
	const char *current_password;
	const char *code;
	const char *name;
	const char *id;
	const char *who;     /* wishes it */
	const char *session; /* of who wishes it; NULL = none */
	enum role role;      /* ROLE_NOBODY = as it is */
	bool local;          /* by the unix socket: the last admin may go */
	bool create_only;
	bool must_exist;
	bool dry_run;      /* everything is judged and nothing is done */
	uint64_t version;  /* must be this one; 0 = any */
	usec_t expires_in; /* 0 = never */
	struct access_prefix sources[ACCESS_SOURCES_MAX];
	size_t source_count;
	struct addr source;
	void *ctx;
	void (*done)(struct access_wish *w, const struct access_result *r);
};

void access_wish(struct access *a, struct access_wish *w);

#endif
