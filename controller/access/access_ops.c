// SPDX-License-Identifier: GPL-2.0-or-later
// Writes on their way: to the thread that hashes, in a row to the store, back into memory, to who waits.
#include "access/access_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct access_op *access_op_new(struct access *a, struct access_wish *w,
				void (*decide)(struct access_op *op))
{
	struct access_op *op = mem_new(struct access_op);

	op->access = a;
	op->wish = w;
	op->decide = decide;
	return op;
}

void access_op_row(struct access_op *op, const char *kind, const char *key, char *value)
{
	struct access_row *row = mem_new(struct access_row);

	row->kind = kind;
	row->key = mem_strdup(key);
	row->value = value;
	vec_push(&op->rows, row);
}

static void access_op_wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void access_op_free(struct access_op *op)
{
	for (size_t i = 0; i < op->rows.count; i++) {
		struct access_row *row = op->rows.items[i];

		free(row->key);
		free(row->value);
		free(row);
	}
	vec_clear(&op->rows);
	access_op_wipe(op->check_password);
	access_op_wipe(op->new_password);
	err_clear(&op->faults);
	explicit_bzero(op, sizeof(*op));
	free(op);
}

void access_op_finish(struct access_op *op)
{
	access_login_count(op);
	if (err_any(&op->faults) && op->result.refusal == ACCESS_DONE)
		op->result.refusal = ACCESS_FAULTY;
	op->result.faults = &op->faults;
	op->result.changed = op->rows.count > 0;
	if (op->result.refusal == ACCESS_DONE && !(op->wish && op->wish->dry_run)) {
		op->result.secret = op->secret[0] ? op->secret : NULL;
		op->result.id = op->id[0] ? op->id : NULL;
	}
	if (op->wish)
		op->wish->done(op->wish, &op->result);
	access_op_free(op);
}

void access_op_refuse(struct access_op *op, enum access_refusal refusal)
{
	op->result.refusal = refusal;
	access_op_finish(op);
}

/* ---- in a row ---- */

static void access_op_on_committed(void *ctx, int result, const struct err *e);

static void access_op_commit(struct access_op *op)
{
	struct access *a = op->access;
	struct store_row *rows AUTO_FREE = mem_alloc_array(op->rows.count, sizeof(*rows));

	for (size_t i = 0; i < op->rows.count; i++) {
		const struct access_row *row = op->rows.items[i];

		rows[i] = (struct store_row){
			.kind = row->kind, .key = row->key, .value = row->value};
	}
	a->committing = op;
	a->ports.commit(a->ports.ctx, rows, op->rows.count, access_op_on_committed, a);
}

static void access_op_pump(struct access *a)
{
	struct access_op *op;

	if (a->pumping)
		return;
	a->pumping = true;
	while (!a->committing && (op = a->first)) {
		a->first = op->next;
		if (!a->first)
			a->end = &a->first;
		a->waiting--;
		op->decide(op);
		if (op->result.refusal != ACCESS_DONE || err_any(&op->faults) ||
		    op->rows.count == 0 || (op->wish && op->wish->dry_run))
			access_op_finish(op);
		else
			access_op_commit(op);
	}
	a->pumping = false;
}

static void access_op_take_rows(struct access_op *op)
{
	for (size_t i = 0; i < op->rows.count; i++) {
		const struct access_row *row = op->rows.items[i];
		int error = access_load_row(op->access, &(struct store_row){.kind = row->kind,
									    .key = row->key,
									    .value = row->value});

		assert(error == 0); /* we wrote it ourselves */
	}
}

static void access_op_on_committed(void *ctx, int result, const struct err *e)
{
	struct access *a = ctx;
	struct access_op *op = a->committing;

	a->committing = NULL;
	if (result)
		err_set(&op->faults, ERR_UNAVAILABLE, "", "%s",
			e && err_any(e) ? e->faults[0].detail : "the store takes no commits");
	else if (!op->keeps_memory)
		access_op_take_rows(op);
	if (op->after)
		op->after(op);
	access_op_finish(op);
	access_op_pump(a);
}

void access_op_queue(struct access_op *op)
{
	struct access *a = op->access;

	if (a->waiting >= ACCESS_WISHES_MAX) {
		err_set(&op->faults, ERR_UNAVAILABLE, "", "too many writes wait for the store");
		if (op->after && !op->wish)
			op->after(op);
		access_op_refuse(op, ACCESS_BUSY);
		return;
	}
	a->waiting++;
	*a->end = op;
	a->end = &op->next;
	access_op_pump(a);
}

/* ---- on the thread ---- */

static void access_op_work(void *arg)
{
	struct access_op *op = arg;

	if (op->check_password)
		op->matches = password_matches(op->check_password, op->check_hash);
	if (op->new_password && (!op->check_password || op->matches))
		op->failed = password_hash(op->new_password, op->salt, op->new_hash) != 0;
}

static void access_op_worked(void *arg)
{
	struct access_op *op = arg;

	op->access->hashing--;
	if (op->failed) {
		err_set(&op->faults, ERR_INTERNAL, "", "the password could not be hashed");
		access_op_finish(op);
		return;
	}
	access_op_queue(op);
}

static bool access_op_judge_password(struct access_op *op)
{
	const char *fault = password_find_fault(op->wish->password, op->wish->user);

	if (!fault)
		return true;
	err_set(&op->faults, ERR_FORMAT,
		op->wish->verb == ACCESS_SET_PASSWORD ? "/new_password" : "/password", "%s", fault);
	access_op_finish(op);
	return false;
}

void access_op_hash(struct access_op *op)
{
	struct access *a = op->access;

	if (op->wish->verb != ACCESS_LOGIN && op->wish->password) {
		if (!access_op_judge_password(op))
			return;
		op->new_password = mem_strdup(op->wish->password);
		a->ports.random(a->ports.ctx, op->salt, sizeof(op->salt));
	}
	if (!op->new_password && !op->check_password) {
		access_op_queue(op);
		return;
	}
	if (a->hashing >= ACCESS_HASHING_MAX) {
		access_op_refuse(op, ACCESS_BUSY);
		return;
	}
	a->hashing++;
	a->ports.offload(a->ports.ctx, access_op_work, access_op_worked, op);
}

void access_op_free_all(struct access *a)
{
	struct access_op *op = a->committing;

	a->pumping = true; /* what waits is not begun any more */
	assert(a->hashing == 0);
	while (op || (op = a->first)) {
		if (op == a->first)
			a->first = op->next;
		err_set(&op->faults, ERR_UNAVAILABLE, "", "the daemon is stopping");
		access_op_finish(op);
		op = NULL;
	}
	a->committing = NULL;
	a->end = &a->first;
}
