// SPDX-License-Identifier: GPL-2.0-or-later
// The object, its rows, and which function a wish begins with.
#include "access/access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "access/access_parts.h"
#include "base/mem.h"

#define ACCESS_MINUTE (60 * USEC_PER_SEC)

static const struct throttle_rules access_source_rules = {.failures = 10,
							  .window = 15 * ACCESS_MINUTE,
							  .first_wait = ACCESS_MINUTE,
							  .longest_wait = 60 * ACCESS_MINUTE,
							  .capacity = 4096};
static const struct throttle_rules access_account_rules = {.failures = 30,
							   .window = 15 * ACCESS_MINUTE,
							   .first_wait = ACCESS_MINUTE,
							   .longest_wait = 15 * ACCESS_MINUTE,
							   .capacity = 1024};

usec_t access_now(const struct access *a)
{
	return a->ports.now(a->ports.ctx);
}

usec_t access_wall(const struct access *a)
{
	return a->ports.wall(a->ports.ctx);
}

void access_make_secret(const struct access *a, char ret_secret[SECRET_TEXT_MAX])
{
	uint8_t bytes[SECRET_BYTES];

	a->ports.random(a->ports.ctx, bytes, sizeof(bytes));
	secret_format(bytes, ret_secret);
	explicit_bzero(bytes, sizeof(bytes));
}

void access_make_id(const struct access *a, char ret_id[ACCESS_ID_MAX])
{
	char text[SECRET_TEXT_MAX];

	access_make_secret(a, text);
	memcpy(ret_id, text, ACCESS_ID_MAX - 1);
	ret_id[ACCESS_ID_MAX - 1] = '\0';
}

const char *access_source_key(const struct addr *source, char buf[ACCESS_SOURCE_TEXT_MAX])
{
	struct addr net = *source;
	char text[ADDR_TEXT_MAX];

	if (!addr_is_set(source)) {
		strcpy(buf, "unix");
		return buf;
	}
	if (net.family == AF_INET6)
		memset(net.bytes + 8, 0, 8);
	snprintf(buf, ACCESS_SOURCE_TEXT_MAX, "%s%s", addr_format(&net, text),
		 net.family == AF_INET6 ? "/64" : "");
	return buf;
}

const char *access_way_name(enum access_way way)
{
	switch (way) {
	case ACCESS_NO_WAY:
		break;
	case ACCESS_BY_PEER:
		return "peer";
	case ACCESS_BY_FILE:
		return "token_file";
	case ACCESS_BY_TOKEN:
		return "token";
	case ACCESS_BY_SESSION:
		return "session";
	}
	return "none";
}

static struct throttle *access_make_throttle(const struct access *a,
					     const struct throttle_rules *base)
{
	struct throttle_rules rules = *base;

	a->ports.random(a->ports.ctx, &rules.seed, sizeof(rules.seed));
	return throttle_new(&rules);
}

struct access *access_new(const struct access_ports *ports)
{
	struct access *a = mem_new(struct access);

	a->ports = *ports;
	a->end = &a->first;
	a->sources = access_make_throttle(a, &access_source_rules);
	a->accounts = access_make_throttle(a, &access_account_rules);
	a->strangers = access_make_throttle(a, &access_account_rules);
	return a;
}

void access_free(struct access *a)
{
	if (!a)
		return;
	access_op_free_all(a);
	for (size_t i = 0; i < a->users.count; i++)
		access_user_free(a->users.items[i]);
	for (size_t i = 0; i < a->tokens.count; i++)
		access_token_free(a->tokens.items[i]);
	for (size_t i = 0; i < a->sessions.count; i++)
		access_session_free(a->sessions.items[i]);
	vec_clear(&a->users);
	vec_clear(&a->tokens);
	vec_clear(&a->sessions);
	throttle_free(a->sources);
	throttle_free(a->accounts);
	throttle_free(a->strangers);
	free(a);
}

int access_load_row(struct access *a, const struct store_row *row)
{
	if (strcmp(row->kind, "user") == 0)
		return access_user_take(a, row->key, row->value);
	if (strcmp(row->kind, "token") == 0)
		return access_token_take(a, row->key, row->value);
	if (strcmp(row->kind, "session") == 0)
		return access_session_take(a, row->key, row->value);
	if (strcmp(row->kind, ACCESS_SETUP_KIND) == 0)
		return access_setup_take(a, row->value);
	return -EINVAL;
}

usec_t access_source_wait(struct access *a, const struct addr *source)
{
	char key[ACCESS_SOURCE_TEXT_MAX];

	return throttle_wait(a->sources, access_source_key(source, key), access_now(a));
}

void access_wish(struct access *a, struct access_wish *w)
{
	static const struct {
		void (*begin)(struct access_op *op);
		void (*decide)(struct access_op *op);
	} verbs[] = {
		[ACCESS_LOGIN] = {access_login_begin, access_login_decide},
		[ACCESS_SET_PASSWORD] = {access_login_begin_password, access_login_decide_password},
		[ACCESS_FIRST_USER] = {access_setup_begin, access_setup_decide},
		[ACCESS_PUT_USER] = {access_op_hash, access_user_put},
		[ACCESS_DELETE_USER] = {access_op_queue, access_user_delete},
		[ACCESS_ADD_TOKEN] = {access_op_queue, access_token_add},
		[ACCESS_REVOKE_TOKEN] = {access_op_queue, access_token_revoke},
		[ACCESS_END_SESSION] = {access_op_queue, access_session_end},
	};
	struct access_op *op;

	_Static_assert(sizeof(verbs) / sizeof(verbs[0]) == ACCESS_VERB_COUNT, "a row per verb");
	op = access_op_new(a, w, verbs[w->verb].decide);
	verbs[w->verb].begin(op);
}
