// SPDX-License-Identifier: GPL-2.0-or-later
// Bearer tokens: rows, who made them, from where they are good, when they were used last.
#include "access/access_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/object.h"

struct token *access_token_find(const struct access *a, const char *id)
{
	return (struct token *)access_entry_find(&a->tokens, id);
}

void access_token_free(struct token *t)
{
	if (!t)
		return;
	free(t->entry.id);
	free(t->name);
	free(t->created_by);
	free(t->used_from);
	free(t);
}

/* ---- rows ---- */

static json_t *access_token_encode_sources(const struct token *t)
{
	json_t *list = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < t->source_count; i++)
		json_array_append_new(list,
				      json_sprintf("%s/%u", addr_format(&t->sources[i].net, text),
						   t->sources[i].length));
	return list;
}

static char *access_token_encode(const struct token *t)
{
	char hash[SECRET_TEXT_MAX];
	json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:o}", "name", t->name,
				 "role", role_name(t->role), "hash",
				 secret_format_hash(&t->hash, hash), "by", t->created_by, "created",
				 (json_int_t)t->entry.created_wall, "expires",
				 (json_int_t)t->expires_wall, "used", (json_int_t)t->used_wall,
				 "from", t->used_from, "sources", access_token_encode_sources(t));
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

/* All or none: a token of which one prefix is lost would be good from elsewhere. */
static int access_token_decode_sources(const json_t *list, struct token *t)
{
	size_t i;
	const json_t *item;

	if (!json_is_array(list) || json_array_size(list) > ACCESS_SOURCES_MAX)
		return -EINVAL;
	json_array_foreach (list, i, item) {
		const char *text = json_string_value(item);

		if (!text ||
		    addr_parse_prefix(text, &t->sources[i].net, &t->sources[i].length) != 0)
			return -EINVAL;
	}
	t->source_count = json_array_size(list);
	return 0;
}

static struct token *access_token_decode(const char *id, const char *value)
{
	json_t *json = json_loads(value, 0, NULL);
	json_int_t created = 0, expires = 0, used = 0;
	const char *name = "", *role = "", *hash = "", *by = "", *from = "";
	json_t *sources = NULL;
	struct token *t = mem_new(struct token);

	if (!json ||
	    json_unpack(json, "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:o}", "name", &name,
			"role", &role, "hash", &hash, "by", &by, "created", &created, "expires",
			&expires, "used", &used, "from", &from, "sources", &sources) != 0 ||
	    role_parse(role, &t->role) != 0 || secret_parse_hash(hash, &t->hash) != 0 ||
	    access_token_decode_sources(sources, t) != 0) {
		free(t);
		json_decref(json);
		return NULL;
	}
	t->entry.id = mem_strdup(id);
	t->name = mem_strdup(name);
	t->created_by = mem_strdup(by);
	t->used_from = mem_strdup(from);
	t->entry.created_wall = (usec_t)created;
	t->expires_wall = (usec_t)expires;
	t->used_wall = (usec_t)used;
	json_decref(json);
	return t;
}

int access_token_take(struct access *a, const char *id, const char *value)
{
	struct token *t = value ? access_token_decode(id, value) : NULL;

	if (value && !t)
		return -EINVAL;
	access_token_free(
		(struct token *)access_entry_replace(&a->tokens, id, t ? &t->entry : NULL));
	return 0;
}

/* ---- use ---- */

static void access_token_decide_use(struct access_op *op)
{
	struct token *t = access_token_find(op->access, op->id);

	if (t)
		access_op_row(op, "token", t->entry.id, access_token_encode(t));
}

static void access_token_after_use(struct access_op *op)
{
	struct token *t = access_token_find(op->access, op->id);

	if (t)
		t->storing = false;
}

static void access_token_use(struct access *a, struct token *t, const struct addr *source)
{
	usec_t now = access_now(a);
	char from[ADDR_TEXT_MAX] = "unix";
	struct access_op *op;

	if (addr_is_set(source))
		addr_format(source, from);
	t->used_wall = access_wall(a);
	if (strcmp(t->used_from, from) != 0) {
		free(t->used_from);
		t->used_from = mem_strdup(from);
	}
	if (t->storing || (t->stored_at && now < t->stored_at + ACCESS_SEEN_EVERY))
		return;
	t->storing = true;
	t->stored_at = now;
	op = access_op_new(a, NULL, access_token_decide_use);
	memcpy(op->id, t->entry.id, strnlen(t->entry.id, ACCESS_ID_MAX - 1));
	op->keeps_memory = true;
	op->after = access_token_after_use;
	access_op_queue(op);
}

static bool access_token_is_good(const struct access *a, const struct token *t,
				 const struct addr *source)
{
	if (t->expires_wall && access_wall(a) >= t->expires_wall)
		return false;
	for (size_t i = 0; i < t->source_count; i++) {
		if (addr_is_set(source) &&
		    addr_in_prefix(source, &t->sources[i].net, t->sources[i].length))
			return true;
	}
	return t->source_count == 0;
}

/* All are looked at, so that the time tells nothing. */
static struct token *access_token_search(const struct access *a, const char *text)
{
	struct secret_hash hash;
	struct token *found = NULL;

	if (strncmp(text, ACCESS_TOKEN_PREFIX, strlen(ACCESS_TOKEN_PREFIX)) != 0 ||
	    !secret_is_formed(text + strlen(ACCESS_TOKEN_PREFIX)))
		return NULL;
	secret_digest(text, &hash);
	for (size_t i = 0; i < a->tokens.count; i++) {
		struct token *t = a->tokens.items[i];

		if (secret_same(&hash, &t->hash))
			found = t;
	}
	return found;
}

bool access_identify_token(struct access *a, const char *token, const struct addr *source,
			   struct access_identity *ret_identity)
{
	struct token *t = access_token_search(a, token);
	char key[ACCESS_SOURCE_TEXT_MAX];

	if (!t) {
		throttle_fail(a->sources, access_source_key(source, key), access_now(a));
		return false;
	}
	if (!access_token_is_good(a, t, source))
		return false;
	access_token_use(a, t, source);
	*ret_identity = (struct access_identity){
		.way = ACCESS_BY_TOKEN, .role = t->role, .expires_wall = t->expires_wall};
	snprintf(ret_identity->who, sizeof(ret_identity->who), "token:%s", t->name);
	memcpy(ret_identity->id, t->entry.id, strnlen(t->entry.id, ACCESS_ID_MAX - 1));
	return true;
}

/* ---- wishes ---- */

static bool access_token_name_taken(const struct access *a, const char *name)
{
	for (size_t i = 0; i < a->tokens.count; i++) {
		if (strcmp(((const struct token *)a->tokens.items[i])->name, name) == 0)
			return true;
	}
	return false;
}

static void access_token_check(struct access_op *op)
{
	const struct access_wish *w = op->wish;

	if (!object_name_valid(w->name))
		err_set(&op->faults, ERR_FORMAT, "/name",
			"is not a name (a-z, 0-9 and inner -, at most 63)");
	else if (access_token_name_taken(op->access, w->name))
		err_set(&op->faults, ERR_DUPLICATE, "/name", "there is a token \"%s\" already",
			w->name);
	if (w->role == ROLE_NOBODY)
		err_set(&op->faults, ERR_MISSING, "/role", "is required");
	if (w->expires_in > ACCESS_TOKEN_LIFE_MAX)
		err_set(&op->faults, ERR_RANGE, "/expires_in", "must be at most 3650d");
	if (op->access->tokens.count >= ACCESS_TOKENS_MAX)
		err_set(&op->faults, ERR_LIMIT, "", "at most %d tokens: revoke some",
			ACCESS_TOKENS_MAX);
}

void access_token_add(struct access_op *op)
{
	const struct access *a = op->access;
	const struct access_wish *w = op->wish;
	char none[] = "";
	struct token t = {.used_from = none,
			  .role = w->role,
			  .entry.created_wall = access_wall(a),
			  .source_count = w->source_count};
	char secret[SECRET_TEXT_MAX];
	char *value;

	access_token_check(op);
	if (err_any(&op->faults))
		return;
	access_make_id(a, op->id);
	access_make_secret(a, secret);
	snprintf(op->secret, sizeof(op->secret), ACCESS_TOKEN_PREFIX "%s", secret);
	explicit_bzero(secret, sizeof(secret));
	secret_digest(op->secret, &t.hash);
	t.expires_wall = w->expires_in ? t.entry.created_wall + w->expires_in : 0;
	memcpy(t.sources, w->sources, sizeof(t.sources));
	t.name = mem_strdup(w->name);
	t.created_by = mem_strdup(w->who ? w->who : "");
	value = access_token_encode(&t);
	free(t.name);
	free(t.created_by);
	access_op_row(op, "token", op->id, value);
}

void access_token_revoke(struct access_op *op)
{
	if (!access_token_find(op->access, op->wish->id)) {
		err_set(&op->faults, ERR_NOT_FOUND, "", "there is no token of that id");
		return;
	}
	access_op_row(op, "token", op->wish->id, NULL);
}

/* ---- views ---- */

static void access_token_view(const struct token *t, struct access_token_view *ret_view)
{
	*ret_view = (struct access_token_view){.id = t->entry.id,
					       .name = t->name,
					       .role = t->role,
					       .created_by = t->created_by,
					       .created_wall = t->entry.created_wall,
					       .expires_wall = t->expires_wall,
					       .used_wall = t->used_wall,
					       .used_from = t->used_from,
					       .sources = t->sources,
					       .source_count = t->source_count};
}

void access_each_token(const struct access *a,
		       void (*fn)(void *ctx, const struct access_token_view *t), void *ctx)
{
	struct access_token_view view;

	for (size_t i = 0; i < a->tokens.count; i++) {
		access_token_view(a->tokens.items[i], &view);
		fn(ctx, &view);
	}
}

bool access_find_token(const struct access *a, const char *id, struct access_token_view *ret_token)
{
	const struct token *t = access_token_find(a, id);

	if (t)
		access_token_view(t, ret_token);
	return t != NULL;
}
