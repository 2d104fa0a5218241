// SPDX-License-Identifier: GPL-2.0-or-later
// Users: rows, and what may be changed about them.
#include "access/access_parts.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "model/object.h"

static int access_user_compare(const void *key, const void *item)
{
	return strcmp(key, ((const struct user *)item)->name);
}

struct user *access_user_find(const struct access *a, const char *name)
{
	return vec_find(&a->users, name, access_user_compare, NULL);
}

void access_user_free(struct user *u)
{
	if (!u)
		return;
	free(u->name);
	free(u->hash);
	free(u->updated_by);
	json_decref(u->sources);
	free(u);
}

/* ---- rows ---- */

char *access_user_encode(const struct user *u)
{
	json_t *json = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I, s:O}", "role",
				 role_name(u->role), "hash", u->hash, "version",
				 (json_int_t)u->version, "created", (json_int_t)u->created_wall,
				 "updated", (json_int_t)u->updated_wall, "by", u->updated_by,
				 "login", (json_int_t)u->login_wall, "sources", u->sources);
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

static struct user *access_user_decode(const char *name, const char *value)
{
	json_t *json = json_loads(value, 0, NULL);
	json_int_t version = 0, created = 0, updated = 0, login = 0;
	const char *role = "", *hash = "", *by = "unknown"; /* rows of before have none */
	json_t *sources = NULL;
	struct user *u = mem_new(struct user);

	if (!json ||
	    json_unpack(json, "{s:s, s:s, s:I, s:I, s:I, s?s, s:I, s:o}", "role", &role, "hash",
			&hash, "version", &version, "created", &created, "updated", &updated, "by",
			&by, "login", &login, "sources", &sources) != 0 ||
	    role_parse(role, &u->role) != 0 || !*hash || strlen(hash) >= PASSWORD_HASH_MAX ||
	    !json_is_array(sources)) {
		free(u);
		json_decref(json);
		return NULL;
	}
	u->name = mem_strdup(name);
	u->hash = mem_strdup(hash);
	u->version = (uint64_t)version;
	u->created_wall = (usec_t)created;
	u->updated_wall = (usec_t)updated;
	u->updated_by = mem_strdup(by);
	u->login_wall = (usec_t)login;
	u->sources = json_incref(sources);
	json_decref(json);
	return u;
}

int access_user_take(struct access *a, const char *name, const char *value)
{
	struct user *u = value ? access_user_decode(name, value) : NULL;
	size_t place;
	struct user *former = vec_find(&a->users, name, access_user_compare, &place);

	if (value && (!u || !object_name_valid(name))) {
		access_user_free(u);
		return -EINVAL;
	}
	access_user_free(former);
	if (former && u)
		a->users.items[place] = u;
	else if (former)
		vec_remove(&a->users, place);
	else if (u)
		vec_insert(&a->users, place, u);
	return 0;
}

void access_user_change(struct access_op *op, const struct user *before, enum role role)
{
	const struct access *a = op->access;
	usec_t wall = access_wall(a);
	struct user after = {
		.hash = op->new_hash[0] ? op->new_hash : before->hash,
		.role = role,
		.version = before ? before->version + 1 : wall,
		.created_wall = before ? before->created_wall : wall,
		.updated_wall = wall,
		.updated_by = mem_strdup(op->wish->who ? op->wish->who : op->wish->user),
		.login_wall = op->wish->verb == ACCESS_FIRST_USER ? wall
			      : before                            ? before->login_wall
								  : 0,
		.sources = before ? json_incref(before->sources) : json_array(),
	};

	access_op_row(op, "user", op->wish->user, access_user_encode(&after));
	json_decref(after.sources);
	free(after.updated_by);
	/* Whoever had the old password or role has to sign in anew. */
	access_session_end_all(op, op->wish->user);
}

void access_user_sign_in(struct access_op *op, const struct user *u)
{
	char source[ACCESS_SOURCE_TEXT_MAX];
	struct user after = *u;

	access_source_key(&op->wish->source, source);
	after.login_wall = access_wall(op->access);
	after.sources = json_array();
	for (size_t i = 0; i < json_array_size(u->sources); i++) {
		const char *known = json_string_value(json_array_get(u->sources, i));

		if (known && strcmp(known, source) != 0)
			json_array_append_new(after.sources, json_string(known));
	}
	json_array_append_new(after.sources, json_string(source));
	while (json_array_size(after.sources) > ACCESS_SOURCES_MAX)
		json_array_remove(after.sources, 0);
	access_op_row(op, "user", u->name, access_user_encode(&after));
	json_decref(after.sources);
}

/* ---- wishes ---- */

static bool access_user_is_last_admin(const struct access *a, const struct user *u)
{
	size_t admins = 0;

	for (size_t i = 0; i < a->users.count; i++)
		admins += ((const struct user *)a->users.items[i])->role == ROLE_ADMIN;
	return u->role == ROLE_ADMIN && admins == 1;
}

/* Names that mean somebody else wherever it says who did something. */
static bool access_user_is_reserved(const char *name)
{
	return strcmp(name, "root") == 0 || strcmp(name, "nobody") == 0 ||
	       strcmp(name, "token") == 0;
}

void access_user_check_new(struct access_op *op, const struct user *u)
{
	const struct access_wish *w = op->wish;

	if (u)
		return;
	if (!object_name_valid(w->user))
		err_set(&op->faults, ERR_FORMAT, "/user",
			"is not a name (a-z, 0-9 and inner -, at most 63)");
	else if (access_user_is_reserved(w->user))
		err_set(&op->faults, ERR_DUPLICATE, "/user",
			"\"%s\" is the name of somebody else wherever it says who did something",
			w->user);
	if (w->role == ROLE_NOBODY && w->verb == ACCESS_PUT_USER)
		err_set(&op->faults, ERR_MISSING, "/role", "is required");
	if (!w->password)
		err_set(&op->faults, ERR_MISSING, "/password", "is required for a new user");
	if (op->access->users.count >= ACCESS_USERS_MAX)
		err_set(&op->faults, ERR_LIMIT, "", "at most %d users", ACCESS_USERS_MAX);
}

static void access_user_check_version(struct access_op *op, const struct user *u)
{
	const struct access_wish *w = op->wish;

	if (!u && w->must_exist)
		err_set(&op->faults, ERR_NOT_FOUND, "", "there is no user of that name");
	else if (u && w->create_only)
		err_set(&op->faults, ERR_CONFLICT, "", "the user exists already");
	else if (w->version && (!u || u->version != w->version))
		err_set(&op->faults, ERR_CONFLICT, "", "the user has changed meanwhile");
}

void access_user_put(struct access_op *op)
{
	const struct access_wish *w = op->wish;
	struct user *u = access_user_find(op->access, w->user);
	enum role role = w->role == ROLE_NOBODY && u ? u->role : w->role;

	access_user_check_version(op, u);
	if (!err_any(&op->faults))
		access_user_check_new(op, u);
	if (u && role != ROLE_ADMIN && !w->local && access_user_is_last_admin(op->access, u))
		err_set(&op->faults, ERR_IN_USE, "/role",
			"the last admin stays admin, unless it is asked for on the host: zonegate user set");
	if (err_any(&op->faults) || (u && role == u->role && !op->new_hash[0]))
		return;
	op->result.created = !u;
	access_user_change(op, u, role);
}

void access_user_delete(struct access_op *op)
{
	const struct access_wish *w = op->wish;
	struct user *u = access_user_find(op->access, w->user);

	access_user_check_version(op, u);
	if (u && !w->local && access_user_is_last_admin(op->access, u))
		err_set(&op->faults, ERR_IN_USE, "",
			"the last admin stays, unless it is asked for on the host: zonegate user delete");
	if (err_any(&op->faults))
		return;
	access_op_row(op, "user", w->user, NULL);
	access_session_end_all(op, w->user);
}

/* ---- views ---- */

static void access_user_view(const struct access *a, const struct user *u,
			     struct access_user_view *ret_view)
{
	*ret_view = (struct access_user_view){.name = u->name,
					      .role = u->role,
					      .version = u->version,
					      .created_wall = u->created_wall,
					      .updated_wall = u->updated_wall,
					      .updated_by = u->updated_by,
					      .login_wall = u->login_wall,
					      .sessions = access_session_count(a, u->name)};
}

void access_each_user(const struct access *a,
		      void (*fn)(void *ctx, const struct access_user_view *u), void *ctx)
{
	struct access_user_view view;

	for (size_t i = 0; i < a->users.count; i++) {
		access_user_view(a, a->users.items[i], &view);
		fn(ctx, &view);
	}
}

bool access_find_user(const struct access *a, const char *name, struct access_user_view *ret_user)
{
	const struct user *u = access_user_find(a, name);

	if (u)
		access_user_view(a, u, ret_user);
	return u != NULL;
}
