// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions: the secret that changes under way, idle and absolute end, who gives way when there are too many.
#include "access/access_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct session *access_session_find(const struct access *a, const char *id)
{
	return (struct session *)access_entry_find(&a->sessions, id);
}

void access_session_free(struct session *s)
{
	if (!s)
		return;
	free(s->entry.id);
	free(s->user);
	free(s->source);
	explicit_bzero(s, sizeof(*s));
	free(s);
}

bool access_session_lives(const struct access *a, const struct session *s)
{
	usec_t now = access_now(a);

	return now < s->idle_until && now < s->ends_at;
}

size_t access_session_count(const struct access *a, const char *user)
{
	size_t count = 0;

	for (size_t i = 0; i < a->sessions.count; i++) {
		const struct session *s = a->sessions.items[i];

		count += strcmp(s->user, user) == 0 && access_session_lives(a, s);
	}
	return count;
}

/* ---- rows ---- */

static char *access_session_encode(const struct session *s)
{
	char hash[SECRET_TEXT_MAX], former[SECRET_TEXT_MAX];
	const struct secret_hash *other = s->former_until == USEC_NEVER ? &s->former : &s->hash;
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "user", s->user, "source",
				 s->source, "hash", secret_format_hash(&s->hash, hash), "former",
				 secret_format_hash(other, former), "created",
				 (json_int_t)s->entry.created_wall, "seen",
				 (json_int_t)s->seen_wall, "expires", (json_int_t)s->expires_wall);
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

static usec_t access_session_left(usec_t until, usec_t wall, usec_t most)
{
	usec_t left = until > wall ? until - wall : 0;

	return left < most ? left : most;
}

static struct session *access_session_decode(const struct access *a, const char *id,
					     const char *value)
{
	json_t *json = json_loads(value, 0, NULL);
	json_int_t created = 0, seen = 0, expires = 0;
	const char *user = "", *source = "", *hash = "", *former = "";
	struct session *s = mem_new(struct session);
	usec_t now = access_now(a), wall = access_wall(a);

	if (!json ||
	    json_unpack(json, "{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "user", &user, "source",
			&source, "hash", &hash, "former", &former, "created", &created, "seen",
			&seen, "expires", &expires) != 0 ||
	    secret_parse_hash(hash, &s->hash) != 0 || secret_parse_hash(former, &s->former) != 0) {
		free(s);
		json_decref(json);
		return NULL;
	}
	s->entry.id = mem_strdup(id);
	s->user = mem_strdup(user);
	s->source = mem_strdup(source);
	s->entry.created_wall = (usec_t)created;
	s->seen_wall = (usec_t)seen;
	s->expires_wall = (usec_t)expires;
	s->former_until = secret_same(&s->hash, &s->former) ? 0 : USEC_NEVER;
	s->idle_until = now + access_session_left(s->seen_wall + ACCESS_SESSION_IDLE, wall,
						  ACCESS_SESSION_IDLE);
	s->ends_at = now + access_session_left(s->expires_wall, wall, ACCESS_SESSION_ABSOLUTE);
	s->rotate_at = now + ACCESS_SESSION_ROTATE;
	s->stored_at = now;
	json_decref(json);
	return s;
}

int access_session_take(struct access *a, const char *id, const char *value)
{
	struct session *s = value ? access_session_decode(a, id, value) : NULL;

	if (value && !s)
		return -EINVAL;
	access_session_free(
		(struct session *)access_entry_replace(&a->sessions, id, s ? &s->entry : NULL));
	return 0;
}

/* ---- use ---- */

static void access_session_decide_use(struct access_op *op)
{
	struct session *s = access_session_find(op->access, op->id);

	if (s)
		access_op_row(op, "session", s->entry.id, access_session_encode(s));
}

static void access_session_after_use(struct access_op *op)
{
	struct session *s = access_session_find(op->access, op->id);

	if (s)
		s->storing = false;
}

/* The row with a new secret goes first: who has it may use it after a crash, too. */
static void access_session_decide_rotation(struct access_op *op)
{
	struct session *s = access_session_find(op->access, op->id);
	struct session next;

	if (!s)
		return;
	access_make_secret(op->access, op->secret);
	next = *s;
	next.former = s->hash;
	next.former_until = USEC_NEVER;
	secret_digest(op->secret, &next.hash);
	access_op_row(op, "session", s->entry.id, access_session_encode(&next));
}

static void access_session_after_rotation(struct access_op *op)
{
	struct session *s = access_session_find(op->access, op->id);
	usec_t now = access_now(op->access);

	if (!s)
		return;
	s->storing = false;
	if (err_any(&op->faults)) {
		s->rotate_at = now + ACCESS_SEEN_EVERY;
		return;
	}
	s->former = s->hash;
	secret_digest(op->secret, &s->hash);
	memcpy(s->fresh, op->secret, SECRET_TEXT_MAX);
	s->former_until = USEC_NEVER;
	s->rotate_at = now + ACCESS_SESSION_ROTATE;
	s->stored_at = now;
}

static void access_session_store(struct access *a, struct session *s)
{
	usec_t now = access_now(a);
	bool rotates = now >= s->rotate_at;
	struct access_op *op;

	if (s->storing || (!rotates && now < s->stored_at + ACCESS_SEEN_EVERY))
		return;
	s->storing = true;
	s->stored_at = now;
	op = access_op_new(a, NULL,
			   rotates ? access_session_decide_rotation : access_session_decide_use);
	op->after = rotates ? access_session_after_rotation : access_session_after_use;
	op->keeps_memory = true;
	memcpy(op->id, s->entry.id, strnlen(s->entry.id, ACCESS_ID_MAX - 1));
	access_op_queue(op);
}

/* Nobody has the new secret: the daemon ended before it was handed out. The former one is the secret again. */
static void access_session_take_back(const struct access *a, struct session *s)
{
	s->hash = s->former;
	s->rotate_at = access_now(a);
}

/* The client has the new secret. The row says so soon: the former one must not come back with a restart. */
static void access_session_retire_former(const struct access *a, struct session *s)
{
	s->former_until = access_now(a) + ACCESS_SESSION_FORMER;
	s->stored_at = 0;
}

/* By the secret that is in force, or the one before it in its last minute. */
static bool access_session_accepts(const struct access *a, const struct session *s,
				   const struct secret_hash *hash)
{
	return access_session_lives(a, s) &&
	       (secret_same(hash, &s->hash) ||
		(secret_same(hash, &s->former) && access_now(a) < s->former_until));
}

/* Notes that the new one has come. */
static void access_session_note_secret(const struct access *a, struct session *s,
				       const struct secret_hash *hash)
{
	if (secret_same(hash, &s->hash)) {
		if (s->former_until == USEC_NEVER)
			access_session_retire_former(a, s);
		explicit_bzero(s->fresh, sizeof(s->fresh));
		return;
	}
	if (s->former_until == USEC_NEVER && !s->fresh[0])
		access_session_take_back(a, s);
}

static struct session *access_session_search(const struct access *a, const struct secret_hash *hash)
{
	struct session *found = NULL;

	for (size_t i = 0; i < a->sessions.count; i++) {
		struct session *s = a->sessions.items[i];

		bool current = secret_same(hash, &s->hash);
		bool former = secret_same(hash, &s->former);

		if (current || former)
			found = s;
	}
	return found;
}

/* From now on the former secret has its last minute. */
static void access_session_hand_out(const struct access *a, struct session *s,
				    const struct secret_hash *hash, char ret_fresh[SECRET_TEXT_MAX])
{
	if (!s->fresh[0] || secret_same(hash, &s->hash))
		return;
	memcpy(ret_fresh, s->fresh, SECRET_TEXT_MAX);
	if (s->former_until == USEC_NEVER)
		access_session_retire_former(a, s);
}

bool access_identify_session(struct access *a, const char *secret,
			     struct access_identity *ret_identity)
{
	struct access_identity who = {.way = ACCESS_BY_SESSION};
	struct secret_hash hash;
	const struct user *u;
	struct session *s;

	if (!secret_is_formed(secret))
		return false;
	secret_digest(secret, &hash);
	s = access_session_search(a, &hash);
	u = s && access_session_accepts(a, s, &hash) ? access_user_find(a, s->user) : NULL;
	if (!u)
		return false;
	access_session_note_secret(a, s, &hash);
	s->seen_wall = access_wall(a);
	s->idle_until = access_now(a) + ACCESS_SESSION_IDLE;
	access_session_hand_out(a, s, &hash, who.fresh);
	who.role = u->role;
	who.expires_wall = s->expires_wall;
	snprintf(who.who, sizeof(who.who), "%s", u->name);
	memcpy(who.id, s->entry.id, strnlen(s->entry.id, ACCESS_ID_MAX - 1));
	access_session_store(a, s);
	*ret_identity = who;
	return true;
}

bool access_knows_session(const struct access *a, const char *secret)
{
	struct secret_hash hash;
	const struct session *s;

	if (!secret_is_formed(secret))
		return false;
	secret_digest(secret, &hash);
	s = access_session_search(a, &hash);
	return s && access_session_accepts(a, s, &hash) && access_user_find(a, s->user);
}

/* ---- start and end ---- */

/* The dead go, and the one that is replaced; then the oldest of the user, then the oldest of all. */
static void access_session_make_room(struct access_op *op, const char *user)
{
	const struct access *a = op->access;
	const struct session *asks = op->wish->session ? access_session_find(a, op->wish->session)
						       : NULL;
	size_t of_user = access_session_count(a, user);
	size_t left = a->sessions.count;

	if (asks && strcmp(asks->user, user) == 0 && access_session_lives(a, asks))
		of_user--;
	for (size_t i = 0; i < a->sessions.count; i++) {
		const struct session *s = a->sessions.items[i];
		bool goes = s == asks || !access_session_lives(a, s);

		if (!goes && strcmp(s->user, user) == 0 && of_user >= ACCESS_SESSIONS_A_USER) {
			goes = true;
			of_user--;
		}
		if (!goes)
			continue;
		access_op_row(op, "session", s->entry.id, NULL);
		left--;
	}
	if (left >= ACCESS_SESSIONS_MAX)
		access_op_row(op, "session",
			      ((const struct session *)a->sessions.items[0])->entry.id, NULL);
}

void access_session_start(struct access_op *op, const char *user)
{
	const struct access *a = op->access;
	char source[ADDR_TEXT_MAX] = "unix";
	struct session s = {.entry.created_wall = access_wall(a), .former_until = USEC_NEVER};
	char *value;

	access_session_make_room(op, user);
	if (addr_is_set(&op->wish->source))
		addr_format(&op->wish->source, source);
	access_make_id(a, op->id);
	access_make_secret(a, op->secret);
	secret_digest(op->secret, &s.hash);
	s.former = s.hash;
	s.seen_wall = s.entry.created_wall;
	s.expires_wall = s.entry.created_wall + ACCESS_SESSION_ABSOLUTE;
	s.user = mem_strdup(user);
	s.source = source;
	value = access_session_encode(&s);
	free(s.user);
	access_op_row(op, "session", op->id, value);
}

void access_session_end_all(struct access_op *op, const char *user)
{
	const struct access *a = op->access;

	for (size_t i = 0; i < a->sessions.count; i++) {
		const struct session *s = a->sessions.items[i];

		if (strcmp(s->user, user) == 0)
			access_op_row(op, "session", s->entry.id, NULL);
	}
}

void access_session_end(struct access_op *op)
{
	if (!access_session_find(op->access, op->wish->id)) {
		err_set(&op->faults, ERR_NOT_FOUND, "", "there is no session of that id");
		return;
	}
	access_op_row(op, "session", op->wish->id, NULL);
}

/* ---- views ---- */

static void access_session_view(const struct session *s, struct access_session_view *ret_view)
{
	usec_t idle = s->seen_wall + ACCESS_SESSION_IDLE;

	*ret_view = (struct access_session_view){
		.id = s->entry.id,
		.user = s->user,
		.created_wall = s->entry.created_wall,
		.seen_wall = s->seen_wall,
		.expires_wall = idle < s->expires_wall ? idle : s->expires_wall,
		.source = s->source};
}

void access_each_session(const struct access *a,
			 void (*fn)(void *ctx, const struct access_session_view *s), void *ctx)
{
	struct access_session_view view;

	for (size_t i = 0; i < a->sessions.count; i++) {
		if (!access_session_lives(a, a->sessions.items[i]))
			continue;
		access_session_view(a->sessions.items[i], &view);
		fn(ctx, &view);
	}
}

bool access_find_session(const struct access *a, const char *id,
			 struct access_session_view *ret_session)
{
	const struct session *s = access_session_find(a, id);

	if (!s || !access_session_lives(a, s))
		return false;
	access_session_view(s, ret_session);
	return true;
}
