// SPDX-License-Identifier: GPL-2.0-or-later
// The first set-up: a code that only who is on the host gets, and the admin that a browser makes with it.
#include "access/access_parts.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/mem.h"

/* The row of the code, so that it outlives a restart. */
#define ACCESS_SETUP_KEY "code"

/* No 0, O, 1, I: it is read from one screen and typed at another. */
static const char access_setup_letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/* Letters and digits only, in capitals; dashes and blanks are for the eye. Returns "" for what is too long. */
static const char *access_setup_strip(const char *code, char buf[ACCESS_CODE_MAX])
{
	size_t length = 0;

	for (; *code; code++) {
		if (*code == '-' || *code == ' ')
			continue;
		if (length + 1 == ACCESS_CODE_MAX)
			return "";
		buf[length++] = *code >= 'a' && *code <= 'z' ? (char)(*code - 'a' + 'A') : *code;
	}
	buf[length] = '\0';
	return buf;
}

/* ---- the row ---- */

static char *access_setup_encode(const struct access *a)
{
	char hash[SECRET_TEXT_MAX];
	json_t *json = json_pack("{s:s, s:I}", "hash", secret_format_hash(&a->setup.code, hash),
				 "expires", (json_int_t)a->setup.expires_wall);
	char *text;

	assert(json);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert(text);
	return text;
}

int access_setup_take(struct access *a, const char *value)
{
	json_t *json = value ? json_loads(value, 0, NULL) : NULL;
	const usec_t wall = access_wall(a);
	struct access_setup setup = {0};
	json_int_t expires = 0;
	const char *hash = "";
	usec_t left;
	bool good;

	if (!value)
		return 0; /* who removes it has closed the code, if no other came meanwhile */
	good = json && json_unpack(json, "{s:s, s:I}", "hash", &hash, "expires", &expires) == 0 &&
	       secret_parse_hash(hash, &setup.code) == 0;
	json_decref(json);
	if (!good)
		return -EINVAL;
	setup.expires_wall = (usec_t)expires;
	left = setup.expires_wall > wall ? setup.expires_wall - wall : 0;
	/* A clock that was set back makes no code valid for longer. */
	setup.open = left > 0 && left <= ACCESS_CODE_VALID;
	setup.until = access_now(a) + left;
	a->setup = setup;
	return 0;
}

static void access_setup_decide_row(struct access_op *op)
{
	struct access *a = op->access;

	access_op_row(op, ACCESS_SETUP_KIND, ACCESS_SETUP_KEY,
		      a->setup.open ? access_setup_encode(a) : NULL);
}

/* What is in memory goes into the row. */
static void access_setup_store(struct access *a)
{
	struct access_op *op = access_op_new(a, NULL, access_setup_decide_row);

	op->keeps_memory = true;
	access_op_queue(op);
}

/* ---- the code ---- */

void access_start_setup(struct access *a, char ret_code[ACCESS_CODE_MAX], usec_t *ret_expires_wall)
{
	char stripped[ACCESS_CODE_MAX];
	uint8_t bytes[16];
	size_t length = 0;

	a->ports.random(a->ports.ctx, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		if (i > 0 && i % 4 == 0)
			ret_code[length++] = '-';
		ret_code[length++] = access_setup_letters[bytes[i] & 31];
	}
	ret_code[length] = '\0';
	a->setup.open = true;
	a->setup.tries = 0;
	a->setup.until = access_now(a) + ACCESS_CODE_VALID;
	a->setup.expires_wall = access_wall(a) + ACCESS_CODE_VALID;
	secret_digest(access_setup_strip(ret_code, stripped), &a->setup.code);
	*ret_expires_wall = a->setup.expires_wall;
	access_setup_store(a);
}

static bool access_setup_is_open(const struct access *a)
{
	return a->setup.open && access_now(a) < a->setup.until;
}

/* A wrong one counts against the code and the source. */
static bool access_setup_check(struct access_op *op)
{
	struct access *a = op->access;
	char stripped[ACCESS_CODE_MAX];

	secret_digest(access_setup_strip(op->wish->code, stripped), &op->code);
	if (access_setup_is_open(a) && secret_same(&op->code, &a->setup.code))
		return true;
	if (a->setup.open && ++a->setup.tries >= ACCESS_CODE_TRIES) {
		a->setup.open = false;
		access_setup_store(a);
	}
	return false;
}

void access_setup_begin(struct access_op *op)
{
	struct access *a = op->access;
	char source[ACCESS_SOURCE_TEXT_MAX];

	access_source_key(&op->wish->source, source);
	op->result.wait = throttle_begin(a->sources, source, access_now(a));
	if (op->result.wait) {
		access_op_refuse(op, ACCESS_WAIT);
		return;
	}
	strcpy(op->source, source);
	if (!access_setup_check(op)) {
		a->ports.login_failed(a->ports.ctx, "", source, "wrong or expired set-up code");
		access_op_refuse(op, ACCESS_DENIED);
		return;
	}
	access_op_hash(op);
}

static void access_setup_after(struct access_op *op)
{
	struct access *a = op->access;

	if (!err_any(&op->faults) && secret_same(&op->code, &a->setup.code))
		a->setup.open = false;
}

void access_setup_decide(struct access_op *op)
{
	struct access *a = op->access;
	const struct user *u = access_user_find(a, op->wish->user);

	/* Another one with the same code may have come first. */
	if (!access_setup_is_open(a) || !secret_same(&op->code, &a->setup.code)) {
		op->result.refusal = ACCESS_DENIED;
		return;
	}
	access_user_check_new(op, u);
	if (err_any(&op->faults))
		return;
	op->result.created = !u;
	op->after = access_setup_after;
	access_op_row(op, ACCESS_SETUP_KIND, ACCESS_SETUP_KEY, NULL); /* used */
	access_user_change(op, u, ROLE_ADMIN);
	access_session_start(op, op->wish->user);
}
