// SPDX-License-Identifier: GPL-2.0-or-later
// Passwords that are presented: who has to wait, and what comes of it. Nobody can lock out a user where he has signed in before.
#include "access/access_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static bool access_login_knows_source(const struct user *u, const char *source)
{
	for (size_t i = 0; u && i < json_array_size(u->sources); i++) {
		const char *known = json_string_value(json_array_get(u->sources, i));

		if (known && strcmp(known, source) == 0)
			return true;
	}
	return false;
}

static struct throttle *access_login_accounts(const struct access_op *op)
{
	return op->stranger ? op->access->strangers : op->access->accounts;
}

static void access_login_tell(const struct access_op *op, const char *why)
{
	const struct access *a = op->access;
	char source[ADDR_TEXT_MAX] = "the unix socket";

	if (addr_is_set(&op->wish->source))
		addr_format(&op->wish->source, source);
	a->ports.login_failed(a->ports.ctx, op->stranger ? "" : op->wish->user, source, why);
}

/* Counts the attempt, or refuses it: without a line in the log, which is not for others to fill. */
static bool access_login_admit(struct access_op *op, const struct user *u)
{
	struct access *a = op->access;
	char source[ACCESS_SOURCE_TEXT_MAX];
	usec_t wait, now = access_now(a);

	access_source_key(&op->wish->source, source);
	op->stranger = !u;
	wait = throttle_begin(a->sources, source, now);
	if (!wait) {
		strcpy(op->source, source);
		if (!access_login_knows_source(u, source)) {
			wait = throttle_begin(access_login_accounts(op), op->wish->user, now);
			if (!wait)
				strcpy(op->account, op->wish->user);
		}
	}
	if (!wait)
		return true;
	op->result.wait = wait;
	access_op_refuse(op, ACCESS_WAIT);
	return false;
}

void access_login_count(struct access_op *op)
{
	enum throttle_outcome outcome = THROTTLE_UNKNOWN;
	usec_t now;

	if (!op->source[0])
		return;
	now = access_now(op->access);
	if (op->result.refusal == ACCESS_DENIED)
		outcome = THROTTLE_FAILED;
	else if (op->result.refusal == ACCESS_DONE && !err_any(&op->faults))
		outcome = THROTTLE_SUCCEEDED;
	throttle_end(op->access->sources, op->source, outcome, now);
	if (op->account[0])
		throttle_end(access_login_accounts(op), op->account, outcome, now);
}

/* A name or password that nobody can have needs no hash; it is denied like others, and counts. */
static bool access_login_is_possible(const struct access_op *op, const char *password)
{
	return strnlen(op->wish->user, sizeof(op->account)) < sizeof(op->account) &&
	       strnlen(password, PASSWORD_SIZE_MAX + 1) <= PASSWORD_SIZE_MAX;
}

static void access_login_check(struct access_op *op, const char *password)
{
	const struct user *u;

	if (!access_login_is_possible(op, password)) {
		op->stranger = true;
		throttle_fail(op->access->sources,
			      access_source_key(&op->wish->source, op->account),
			      access_now(op->access));
		op->account[0] = '\0';
		access_op_refuse(op, ACCESS_DENIED);
		return;
	}
	u = access_user_find(op->access, op->wish->user);
	if (!access_login_admit(op, u))
		return;
	op->check_password = mem_strdup(password);
	if (u)
		snprintf(op->check_hash, sizeof(op->check_hash), "%s", u->hash);
	access_op_hash(op);
}

void access_login_begin(struct access_op *op)
{
	access_login_check(op, op->wish->password);
}

void access_login_begin_password(struct access_op *op)
{
	access_login_check(op, op->wish->current_password);
}

/* The user with the password that matched; or NULL: refused. He may have changed while it was hashed. */
static const struct user *access_login_verify(struct access_op *op)
{
	const struct user *u = access_user_find(op->access, op->wish->user);

	if (u && op->matches && strcmp(u->hash, op->check_hash) == 0)
		return u;
	access_login_tell(op, "wrong password");
	op->result.refusal = ACCESS_DENIED;
	return NULL;
}

void access_login_decide(struct access_op *op)
{
	const struct user *u = access_login_verify(op);

	if (!u)
		return;
	access_session_start(op, u->name);
	access_user_sign_in(op, u);
}

void access_login_decide_password(struct access_op *op)
{
	const struct user *u = access_login_verify(op);

	if (!u)
		return;
	access_user_change(op, u, u->role);
	if (op->wish->session)
		access_session_start(op, u->name);
}
