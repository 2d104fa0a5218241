// SPDX-License-Identifier: GPL-2.0-or-later
// The change that waits: refuses others meanwhile, is confirmed, or undone by a revision of its own. After a restart it is
// undone only once the kernel's table was taken over, so that flows that are there live on.
#include "engine/confirm.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/confirm_parts.h"

#define CONFIRM_RETRY (5 * USEC_PER_SEC)
#define CONFIRM_KIND  "confirm"
#define CONFIRM_KEY   "pending"

static usec_t time_left(const struct engine *e, const struct engine_confirm *c)
{
	usec_t now = e->ports.now(e->ports.ctx);

	return c->deadline > now ? c->deadline - now : 0;
}

static void fill_status(const struct engine *e, const struct engine_confirm *c,
			struct confirm_status *ret_status)
{
	*ret_status = (struct confirm_status){.revision = c->revision,
					      .who = c->who,
					      .via = c->via,
					      .comment = c->comment,
					      .made_wall = c->made_wall,
					      .within = c->within,
					      .undone_wall = e->ports.wall(e->ports.ctx) +
							     time_left(e, c),
					      .left = time_left(e, c)};
}

bool engine_confirm_status(const struct engine *e, struct confirm_status *ret_status)
{
	if (!e->confirm)
		return false;
	fill_status(e, e->confirm, ret_status);
	return true;
}

/* ---- other writes ---- */

/* What goes back to an older revision ends the wait; it cannot itself wait, since undoing it would bring back what was not
 * confirmed. */
static bool ends_wait(const struct proposal *p)
{
	return p->request.target == CHANGE_REVISION && !p->confirm_within;
}

void confirm_check(const struct engine *e, const struct proposal *p, struct err *err)
{
	const struct engine_confirm *c = e->confirm;
	char when[TIME_TEXT_MAX], left[TIME_TEXT_MAX];

	if (p->returns && (!c || c->revision != p->request.revision + 1)) {
		err_set(err, ERR_WAITING, "", "it was rolled back meanwhile");
		return;
	}
	if (!c || p->dry_run || ends_wait(p))
		return;
	err_set(err, ERR_WAITING, "",
		"revision %" PRIu64
		", made by %s at %s%s%s%s, waits for its confirmation and undoes "
		"itself in %s: confirm it, or roll it back; until then nothing else is changed",
		c->revision, c->who, time_format_wall(c->made_wall, when), c->comment ? " (" : "",
		c->comment ? c->comment : "", c->comment ? ")" : "",
		time_format_span(time_left(e, c), left));
}

void confirm_note_candidate(const struct engine *e, const struct proposal *p, const struct batch *b,
			    struct vec *rows)
{
	struct engine_confirm c = {.revision = b->revision,
				   .who = b->who,
				   .via = b->via,
				   .comment = b->comment,
				   .made_wall = b->wall,
				   .within = p->confirm_within};

	if (p->confirm_within) {
		c.deadline = e->ports.now(e->ports.ctx) + p->confirm_within;
		rows_add(rows, CONFIRM_KIND, CONFIRM_KEY, confirm_rows_encode(e, &c));
	} else if (e->confirm) {
		rows_add(rows, CONFIRM_KIND, CONFIRM_KEY, NULL);
	}
}

void confirm_load_row(struct engine *e, const struct store_row *row)
{
	confirm_rows_free(e->confirm);
	e->confirm = row->value ? confirm_rows_decode(e, row->value) : NULL;
}

/* ---- confirming ---- */

struct confirm_pending {
	struct confirm_request *request;
	uint64_t token;
};

static void check_request(const struct engine *e, const struct confirm_request *r, struct err *err)
{
	const struct engine_confirm *c = e->confirm;

	if (!c)
		err_set(err, ERR_WAITING, "",
			"nothing waits for a confirmation: it was confirmed, rolled back, or undone "
			"because its time was over (the history of the configuration tells)");
	else if (r->revision && r->revision != c->revision)
		err_set(err, ERR_WAITING, "",
			"revision %" PRIu64 " does not wait for a confirmation, revision %" PRIu64
			" does",
			r->revision, c->revision);
	else if (c->undoing)
		err_set(err, ERR_WAITING, "",
			"the time of revision %" PRIu64 " is over: it is being undone",
			c->revision);
	else if (e->confirming)
		err_set(err, ERR_WAITING, "", "revision %" PRIu64 " is being confirmed already",
			c->revision);
}

void engine_confirm(struct engine *e, struct confirm_request *r)
{
	struct store_row row = {.kind = CONFIRM_KIND, .key = CONFIRM_KEY};
	AUTO_ERR struct err faults = {0};
	struct confirm_status s;

	check_request(e, r, &faults);
	if (err_any(&faults) || r->dry_run) {
		bool waits = engine_confirm_status(e, &s);

		r->done(r, &faults, waits && !err_any(&faults) ? &s : NULL);
		return;
	}
	e->confirming = mem_new(struct confirm_pending);
	e->confirming->request = r;
	e->confirming->token = e->next_token++;
	e->ports.commit(e->ports.ctx, NULL, &row, 1, e->confirming->token);
}

static void put_confirmed(struct engine *e, struct confirm_request *r)
{
	struct engine_confirm *c = e->confirm;
	struct err none = {0};
	struct confirm_status s;

	e->confirm = NULL;
	fill_status(e, c, &s);
	engine_emit_with(
		e,
		&(struct emission){.id = EVENT_CONFIG_CONFIRMED,
				   .object = "",
				   .data = json_pack("{s:I, s:s, s:s}", "revision",
						     (json_int_t)c->revision, "made_by", c->who,
						     "by", r->who ? r->who : "unknown")},
		"revision %" PRIu64 " of %s was confirmed by %s", c->revision, c->who,
		r->who ? r->who : "unknown");
	r->done(r, &none, &s);
	confirm_rows_free(c);
}

bool confirm_note_commit(struct engine *e, uint64_t token, int result, const struct err *err)
{
	struct confirm_pending *p = e->confirming;
	AUTO_ERR struct err faults = {0};
	struct confirm_request *r;

	if (!p || p->token != token)
		return false;
	r = p->request;
	e->confirming = NULL;
	free(p);
	if (result == 0 && e->confirm) {
		put_confirmed(e, r);
		return true;
	}
	if (result)
		err_set(&faults, ERR_UNAVAILABLE, "", "%s", wishes_store_fault(result, err));
	else
		err_set(&faults, ERR_WAITING, "",
			"it was rolled back while it was being confirmed");
	r->done(r, &faults, NULL);
	return true;
}

/* ---- undoing ---- */

/* Outlives the change that it undoes. */
struct confirm_undo {
	struct proposal proposal;
	struct engine *engine;
	uint64_t revision;
	char *comment;
};

static void note_undo_failure(struct engine *e, const struct confirm_undo *u,
			      const struct err *faults)
{
	struct engine_confirm *c = e->confirm;

	if (!c || c->revision != u->revision)
		return; /* it was rolled back meanwhile */
	c->undoing = false;
	c->retry_at = e->ports.now(e->ports.ctx) + CONFIRM_RETRY;
	/* That the store takes no commits, or the daemon stops, is told already. */
	if (faults->count == 0 || faults->faults[0].code == ERR_UNAVAILABLE)
		return;
	if (!c->failure_told)
		engine_emit_with(e,
				 &(struct emission){.id = EVENT_CONFIG_UNDO_FAILED,
						    .object = "",
						    .data = json_pack("{s:I, s:s}", "revision",
								      (json_int_t)u->revision,
								      "error", err_first(faults))},
				 "revision %" PRIu64
				 " was not confirmed in time and could not be undone: %s",
				 u->revision, err_first(faults));
	c->failure_told = true;
}

static void undo_done(struct proposal *p, const struct proposal_result *r)
{
	struct confirm_undo *u = p->ctx;

	if (r->changed)
		engine_emit_with(
			u->engine,
			&(struct emission){.id = EVENT_CONFIG_ROLLED_BACK,
					   .object = "",
					   .data = json_pack("{s:I, s:I}", "revision",
							     (json_int_t)r->revision, "undone",
							     (json_int_t)u->revision)},
			"%s (revision %" PRIu64 ")", u->comment, r->revision);
	else
		note_undo_failure(u->engine, u, r->faults);
	free(u->comment);
	free(u);
}

/* The entry of the audit: nobody asked for it, so it is that of the rollback that it is. */
static char *undo_record(const struct proposal *p, const struct proposal_outlook *o)
{
	char *object AUTO_FREE = mem_printf("config/revisions/%" PRIu64 "/rollback",
					    p->request.revision);
	char *path AUTO_FREE = mem_printf("/api/v1/%s", object);
	json_t *json = json_pack(
		"{s:n, s:s, s:s, s:n, s:n, s:s, s:s, s:s, s:I, s:I, s:i, s:s, s:b}", "request_id",
		"actor", p->who, "via", p->via, "token", "source", "method", "POST", "path", path,
		"object", object, "revision_before", (json_int_t)o->before, "revision_after",
		(json_int_t)o->after, "status", 200, "result", "ok", "dry_run", 0);
	char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	assert(text);
	return text;
}

static void start_undo(struct engine *e, struct engine_confirm *c)
{
	struct confirm_undo *u = mem_new(struct confirm_undo);
	char within[TIME_TEXT_MAX];

	c->undoing = true;
	u->engine = e;
	u->revision = c->revision;
	u->comment = mem_printf("revision %" PRIu64
				" of %s was not confirmed within %s and is undone%s%s",
				c->revision, c->who, time_format_span(c->within, within),
				c->comment ? ": " : "", c->comment ? c->comment : "");
	u->proposal = (struct proposal){.request = {.verb = CHANGE_PUT,
						    .target = CHANGE_REVISION,
						    .path = {.kind = OBJECT_KIND_COUNT},
						    .revision = c->revision - 1},
					.who = "confirm timer",
					.via = "timer",
					.comment = u->comment,
					.returns = true,
					.ctx = u,
					.record = undo_record,
					.done = undo_done};
	engine_propose(e, &u->proposal);
}

static bool kernel_is_settled(const struct engine *e)
{
	return e->kernel_known || (e->availability_known && !e->kernel_available);
}

usec_t confirm_tick(struct engine *e, usec_t now)
{
	struct engine_confirm *c = e->confirm;
	usec_t at;

	if (!c || c->undoing || e->confirming)
		return USEC_NEVER;
	at = c->retry_at > c->deadline ? c->retry_at : c->deadline;
	if (now < at)
		return at;
	if (!kernel_is_settled(e))
		return USEC_NEVER; /* what makes it known settles too */
	start_undo(e, c);
	return now;
}

/* Answered like any other, so that who asked can let go of it. */
void confirm_free(struct engine *e)
{
	struct confirm_pending *p = e->confirming;
	AUTO_ERR struct err faults = {0};

	e->confirming = NULL;
	if (p) {
		err_set(&faults, ERR_UNAVAILABLE, "", "the daemon stopped before this was done");
		p->request->done(p->request, &faults, NULL);
		free(p);
	}
	confirm_rows_free(e->confirm);
	e->confirm = NULL;
}
