/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of access/ share, and nobody else sees. A write: begin (checks at once) → hash (on the thread, if there is a
 * password) → decide (in order, one at a time: nothing changes until its commit is answered) → the rows into memory → finish. */
#ifndef ZG_ACCESS_PARTS_H
#define ZG_ACCESS_PARTS_H

#include "access/access.h"
#include "access/password.h"
#include "access/throttle.h"
#include "base/vec.h"

#define ACCESS_SOURCE_TEXT_MAX 64

struct user {
	char *name;
	char *hash;
	enum role role;
	uint64_t version;
	usec_t created_wall;
	usec_t updated_wall;
	char *updated_by;
	usec_t login_wall;
	json_t *sources; /* texts, oldest first: not held up by failures elsewhere */
};

/* What a token and a session begin with. */
struct access_entry {
	char *id;
	usec_t created_wall;
};

struct token {
	struct access_entry entry;
	char *name;
	char *created_by;
	char *used_from;
	struct secret_hash hash;
	enum role role;
	usec_t expires_wall;
	usec_t used_wall;
	usec_t stored_at; /* its last use was written then */
	bool storing;
	struct access_prefix sources[ACCESS_SOURCES_MAX];
	size_t source_count;
};

struct session {
	struct access_entry entry;
	char *user;
	char *source;
	struct secret_hash hash;
	struct secret_hash former; /* good until former_until */
	usec_t former_until;       /* USEC_NEVER: the new one was not used yet */
	usec_t seen_wall;
	usec_t expires_wall; /* absolute */
	usec_t idle_until;
	usec_t ends_at;
	usec_t rotate_at;
	usec_t stored_at;
	bool storing;
	char fresh[SECRET_TEXT_MAX]; /* to be handed to who still sends the former one */
};

/* A write on its way. */
struct access_op {
	struct access *access;
	struct access_wish *wish; /* NULL: nobody waits (last uses, rotation) */
	struct access_op *next;
	void (*decide)(struct access_op *op);
	void (*after)(struct access_op *op); /* its rows are durable and in memory; or NULL */
	bool keeps_memory;                   /* the rows only follow what is there */
	struct vec rows;                     /* of struct access_row */
	struct err faults;
	struct access_result result;
	char id[ACCESS_ID_MAX];
	char secret[ACCESS_TOKEN_TEXT_MAX];
	/* What the thread works on. */
	char *check_password;
	char *new_password;
	char check_hash[PASSWORD_HASH_MAX]; /* "" = nobody's */
	char new_hash[PASSWORD_HASH_MAX];
	uint8_t salt[PASSWORD_SALT];
	bool matches;
	bool failed;
	/* Attempts that are counted while it is under way; "" = not. */
	char source[ACCESS_SOURCE_TEXT_MAX];
	char account[ACCESS_SOURCE_TEXT_MAX];
	bool stranger;
	struct secret_hash code;
};

struct access_row {
	const char *kind;
	char *key;
	char *value;
};

struct access_setup {
	bool open;
	unsigned tries;
	usec_t until;
	usec_t expires_wall; /* the same, for the row */
	struct secret_hash code;
};

struct access {
	struct access_ports ports;
	struct vec users; /* by name */
	struct vec tokens;
	struct vec sessions; /* oldest first */
	struct throttle *sources;
	struct throttle *accounts;  /* of users that there are: never forgotten for others */
	struct throttle *strangers; /* of users that there are not: it must not show */
	struct access_setup setup;
	struct access_op *first;
	struct access_op **end;
	struct access_op *committing;
	size_t waiting;
	size_t hashing;
	bool pumping;
};

usec_t access_now(const struct access *a);
usec_t access_wall(const struct access *a);
void access_make_id(const struct access *a, char ret_id[ACCESS_ID_MAX]);
void access_make_secret(const struct access *a, char ret_secret[SECRET_TEXT_MAX]);
/* The address, /64 of IPv6; "unix" for none. */
const char *access_source_key(const struct addr *source, char buf[ACCESS_SOURCE_TEXT_MAX]);

/* access_ops.c */
struct access_op *access_op_new(struct access *a, struct access_wish *w,
				void (*decide)(struct access_op *op));
/* Takes the value; NULL removes. */
void access_op_row(struct access_op *op, const char *kind, const char *key, char *value);
void access_op_hash(struct access_op *op);  /* then decide; refused when too many wait */
void access_op_queue(struct access_op *op); /* decide in its turn */
void access_op_refuse(struct access_op *op, enum access_refusal refusal);
/* Tells the wish, counts the attempt, frees. */
void access_op_finish(struct access_op *op);
void access_op_free_all(struct access *a);

/* access_users.c */
struct user *access_user_find(const struct access *a, const char *name);
char *access_user_encode(const struct user *u);
int access_user_take(struct access *a, const char *name, const char *value);
void access_user_free(struct user *u); /* NULL-safe */
void access_user_put(struct access_op *op);
void access_user_delete(struct access_op *op);
/* What speaks against a new user of the wish's name (`u`: he is there, nothing does). */
void access_user_check_new(struct access_op *op, const struct user *u);
/* Rows: the user with what is new in the op (hash) and this role. */
void access_user_change(struct access_op *op, const struct user *before, enum role role);
void access_user_sign_in(struct access_op *op, const struct user *u);

/* access_entries.c: of a list by age */
struct access_entry *access_entry_find(const struct vec *list, const char *id);
/* Puts `next` (NULL: nothing) in the place of the one of that id; gives back what was there, or NULL. */
struct access_entry *access_entry_replace(struct vec *list, const char *id,
					  struct access_entry *next);

/* access_tokens.c */
struct token *access_token_find(const struct access *a, const char *id);
int access_token_take(struct access *a, const char *id, const char *value);
void access_token_free(struct token *t); /* NULL-safe */
void access_token_add(struct access_op *op);
void access_token_revoke(struct access_op *op);

/* access_sessions.c */
struct session *access_session_find(const struct access *a, const char *id);
int access_session_take(struct access *a, const char *id, const char *value);
void access_session_free(struct session *s); /* NULL-safe */
bool access_session_lives(const struct access *a, const struct session *s);
size_t access_session_count(const struct access *a, const char *user);
/* Rows: a new session of the user, whose secret is in the op; those that give way go. */
void access_session_start(struct access_op *op, const char *user);
/* Rows: all sessions of the user go. */
void access_session_end_all(struct access_op *op, const char *user);
void access_session_end(struct access_op *op);

/* access_login.c */
void access_login_begin(struct access_op *op);
void access_login_begin_password(struct access_op *op);
void access_login_decide(struct access_op *op);
void access_login_decide_password(struct access_op *op);
/* The attempt is over. */
void access_login_count(struct access_op *op);

/* access_setup.c */
#define ACCESS_SETUP_KIND "setup"
int access_setup_take(struct access *a, const char *value);
void access_setup_begin(struct access_op *op);
void access_setup_decide(struct access_op *op);

#endif
