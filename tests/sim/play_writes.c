// SPDX-License-Identifier: GPL-2.0-or-later
// Writes of a play: config, put, patch, delete, and the same as a dry run or without waiting.
#include <string.h>

#include "base/mem.h"
#include "sim/play.h"

static void on_done(struct proposal *proposal, const struct proposal_result *r)
{
	struct play_write *w = proposal->ctx;

	if (w->answered)
		sim_world_fail("a write was answered twice");
	w->answered = true;
	w->changed = r->changed;
	w->created = r->created;
	for (size_t i = 0; i < r->faults->count; i++)
		err_set(&w->faults, r->faults->faults[i].code, r->faults->faults[i].pointer, "%s",
			r->faults->faults[i].detail);
	for (size_t i = 0; i < r->warnings->count; i++)
		err_set(&w->warnings, r->warnings->faults[i].code, r->warnings->faults[i].pointer,
			"%s", r->warnings->faults[i].detail);
	w->changes = r->batch ? r->batch->count : 0;
	for (size_t i = 0; r->ops && i < r->ops->count; i++)
		*plan_ops_push(&w->ops, r->ops->ops[i].kind) = r->ops->ops[i];
}

void play_writes_clear(struct play *p)
{
	for (size_t i = 0; i < p->writes.count; i++) {
		struct play_write *w = p->writes.items[i];

		json_decref(w->body);
		free(w->parent);
		free(w->name);
		err_clear(&w->faults);
		err_clear(&w->warnings);
		plan_ops_clear(&w->ops);
		free(w);
	}
	vec_clear(&p->writes);
}

/* "server_groups/web/servers/web-1"; "server_groups/web/servers" is the whole list. */
static bool parse_path(struct play *p, const char *text, struct play_write *w)
{
	struct change_request *r = &w->proposal.request;
	char *copy AUTO_FREE = mem_strdup(text);
	char *part[4] = {0};
	char *save = NULL;
	size_t n = 0;

	for (char *at = strtok_r(copy, "/", &save); at && n < 4; at = strtok_r(NULL, "/", &save))
		part[n++] = at;
	r->target = CHANGE_OBJECT;
	if (strcmp(text, MODEL_SETTINGS_NAME) == 0) {
		r->path.kind = OBJECT_SETTINGS;
		r->path.name = w->name = mem_strdup(text);
		return true;
	}
	for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
		bool top = object_parent_kind((enum object_kind)kind) == OBJECT_KIND_COUNT;
		const char *collection = object_collection_name((enum object_kind)kind);

		r->path.kind = (enum object_kind)kind;
		if (top && n == 2 && strcmp(part[0], collection) == 0) {
			r->path.name = w->name = mem_strdup(part[1]);
			return true;
		}
		if (!top && n == 4 && strcmp(part[2], collection) == 0 &&
		    strcmp(part[0], object_collection_name(
					    object_parent_kind((enum object_kind)kind))) == 0) {
			r->path.parent = w->parent = mem_strdup(part[1]);
			r->path.name = w->name = mem_strdup(part[3]);
			return true;
		}
	}
	if (n == 3 && strcmp(part[2], "servers") == 0) {
		r->target = CHANGE_SERVERS;
		r->path.kind = OBJECT_SERVER_GROUP;
		r->path.name = w->name = mem_strdup(part[1]);
		return true;
	}
	return play_fault(p, "\"%s\" is no path of an object", text);
}

static bool run_write(struct play *p, struct play_write *w)
{
	struct sim_world *world = &p->world;
	const struct play_write *before = play_last_write(p);

	if (before && !before->answered && !before->judged)
		return play_fault(p, "the write of line %u was not answered yet", before->line);
	if (!world->engine)
		return play_fault(p, "the daemon is down");
	w->line = p->line;
	w->proposal.who = "play";
	w->proposal.via = "test";
	w->proposal.ctx = w;
	w->proposal.done = on_done;
	w->proposal.dry_run = w->dry;
	w->proposal.confirm_within = p->confirm_within;
	p->confirm_within = 0;
	vec_push(&p->writes, w);
	engine_propose(world->engine, &w->proposal);
	engine_settle(world->engine);
	sim_world_run(world);
	if (!w->answered && world->kernel.delay == 0 && world->kernel.guard_delay == 0 &&
	    world->kernel.fill_delay == 0 && world->store.delay == 0 && !world->kernel.announce &&
	    world->kernel.requests.count == 0 && world->kernel.guards.count == 0)
		return play_fault(p, "the write is not answered though nothing is on its way");
	return true;
}

static bool write_object(struct play *p, size_t at, enum change_verb verb, bool dry)
{
	struct play_write *w = mem_new(struct play_write);
	const char *text = p->heredoc ? p->heredoc : at + 1 < p->count ? p->rest[at + 1] : NULL;

	w->dry = dry;
	w->proposal.request.verb = verb;
	if (verb != CHANGE_DELETE)
		w->body = text ? play_parse_json(p, text) : NULL;
	w->proposal.request.body = w->body;
	if ((verb == CHANGE_DELETE || w->body) && parse_path(p, p->words[at], w))
		return run_write(p, w);
	vec_push(&p->writes, w);
	return play_fault(p, "a path and JSON are wanted");
}

/* "put" "patch" "delete" at words[at], the path behind. */
static bool run_verb(struct play *p, size_t at, bool dry)
{
	static const char *const names[] = {
		[CHANGE_PUT] = "put", [CHANGE_PATCH] = "patch", [CHANGE_DELETE] = "delete"};
	bool done = false;

	for (int v = 0; v < 3; v++) {
		if (strcmp(p->words[at], names[v]) != 0)
			continue;
		done = write_object(p, at + 1, (enum change_verb)v, dry);
		free(p->heredoc);
		p->heredoc = NULL;
		return done;
	}
	return play_fault(p, "\"%s\" is not put, patch or delete", p->words[at]);
}

static bool do_verb(struct play *p)
{
	return run_verb(p, 0, false);
}

/* confirm-within 60s put PATH JSON */
static bool do_confirm_within(struct play *p)
{
	return play_parse_duration(p, p->words[1], &p->confirm_within) && run_verb(p, 2, false);
}

/* rollback N */
static bool do_rollback(struct play *p)
{
	struct play_write *w = mem_new(struct play_write);
	uint64_t revision;

	if (!play_parse_number(p, p->words[1], &revision)) {
		free(w);
		return false;
	}
	w->proposal.request.verb = CHANGE_PUT;
	w->proposal.request.target = CHANGE_REVISION;
	w->proposal.request.path.kind = OBJECT_KIND_COUNT;
	w->proposal.request.revision = revision;
	return run_write(p, w);
}

static bool do_dry(struct play *p)
{
	return run_verb(p, 1, true);
}

static bool write_document(struct play *p, json_t *body)
{
	struct play_write *w = mem_new(struct play_write);

	w->body = body;
	w->proposal.request.body = body;
	w->proposal.request.verb = CHANGE_PUT;
	w->proposal.request.target = CHANGE_DOCUMENT;
	return run_write(p, w);
}

bool play_write_config(struct play *p, const char *text)
{
	json_t *body = play_parse_json(p, text);

	return body && write_document(p, body);
}

static bool do_config(struct play *p)
{
	bool done = play_write_config(p, p->heredoc ? p->heredoc : p->rest[1]);

	free(p->heredoc);
	p->heredoc = NULL;
	return done;
}

/* PUT of a GET. */
static bool do_rewrite(struct play *p)
{
	return write_document(p, snapshot_encode(engine_snapshot(p->world.engine), NULL, NULL));
}

const struct play_command play_writes[] = {
	{"config", 2, do_config},
	{"put", 3, do_verb},
	{"patch", 3, do_verb},
	{"delete", 2, do_verb},
	{"dry", 3, do_dry},
	{"rewrite", 1, do_rewrite},
	{"confirm-within", 4, do_confirm_within},
	{"rollback", 2, do_rollback},
	{NULL, 0, NULL},
};
