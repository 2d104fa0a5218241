// SPDX-License-Identifier: GPL-2.0-or-later
// Overrides of a play: drains by hand and weights, and what it expects of them.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/dns_changes.h"
#include "sim/play_judge.h"

struct override_call {
	struct override_request request;
	struct play *play;
	char *parent;
	char *name;
};

static void on_overridden(struct override_request *r, const struct override_result *result)
{
	struct override_call *call = r->ctx;
	struct play *p = call->play;
	const char *word = result->warnings && err_any(result->warnings) ? "warning" : "done";

	if (err_any(result->faults))
		word = err_code_name(result->faults->faults[0].code);
	else if (result->created && strcmp(word, "done") == 0)
		word = "created";
	snprintf(p->override_answer, sizeof(p->override_answer), "%s", word);
	snprintf(p->override_detail, sizeof(p->override_detail), "%s%s%s",
		 err_first(result->faults), result->status ? result->status->sentence : "",
		 result->warnings ? err_first(result->warnings) : "");
	p->override_ops = result->ops ? result->ops->count : 0;
	p->override_names = result->dns_changes ? result->dns_changes->count : 0;
	free(call->parent);
	free(call->name);
	free(call);
}

/* "web/w1" or, of a load balancer, "shop" */
static bool parse_name(struct play *p, size_t at, struct override_place *ret_place)
{
	const char *word = play_word(p, at);
	const char *slash = strchr(word, '/');

	if ((slash != NULL) == (ret_place->target == OVERRIDE_LB))
		return play_fault(p, "a name, or PARENT/NAME is wanted");
	snprintf(p->override_parent, sizeof(p->override_parent), "%.*s",
		 slash ? (int)(slash - word) : 0, word);
	snprintf(p->override_name, sizeof(p->override_name), "%s", slash ? slash + 1 : word);
	ret_place->parent = slash ? p->override_parent : NULL;
	ret_place->name = p->override_name;
	return true;
}

/* "server web/w1", "zone web/za", "listener shop/http", "lb shop" */
static bool parse_place(struct play *p, size_t at, struct override_place *ret_place)
{
	static const char *const names[] = {[OVERRIDE_SERVER] = "server",
					    [OVERRIDE_GROUP_ZONE] = "zone",
					    [OVERRIDE_LISTENER] = "listener",
					    [OVERRIDE_LB] = "lb"};

	for (size_t i = 0; i < OVERRIDE_TARGET_COUNT; i++) {
		if (!play_has(p, at, names[i]))
			continue;
		ret_place->target = (enum override_target)i;
		return parse_name(p, at + 1, ret_place);
	}
	return play_fault(p, "server, zone, listener or lb is wanted");
}

static bool run_override(struct play *p, const struct override_request *r)
{
	struct override_call *call = mem_new(struct override_call);

	call->request = *r;
	call->play = p;
	call->parent = r->place.parent ? mem_strdup(r->place.parent) : NULL;
	call->name = mem_strdup(r->place.name);
	call->request.place.parent = call->parent;
	call->request.place.name = call->name;
	call->request.ctx = call;
	call->request.done = on_overridden;
	call->request.who = "play";
	call->request.comment = "for the play";
	snprintf(p->override_answer, sizeof(p->override_answer), "pending");
	engine_override(p->world.engine, &call->request);
	engine_settle(p->world.engine);
	sim_world_run(&p->world);
	return true;
}

static bool is_dry(const struct play *p)
{
	return p->count > 0 && strcmp(p->words[p->count - 1], "dry") == 0;
}

/* drain server|zone|listener|lb NAME [TIMEOUT] [dry] */
static bool do_drain(struct play *p)
{
	struct override_request r = {.verb = OVERRIDE_PUT, .dry_run = is_dry(p)};
	size_t last = p->count - (r.dry_run ? 1 : 0);
	usec_t d;

	if (!parse_place(p, 1, &r.place))
		return false;
	if (last > 3) {
		if (!play_parse_duration(p, p->words[3], &d))
			return false;
		r.has_timeout = true;
		r.timeout_ms = (uint32_t)(d / USEC_PER_MS);
	}
	return run_override(p, &r);
}

/* undrain server|zone|listener|lb NAME [dry] */
static bool do_undrain(struct play *p)
{
	struct override_request r = {.verb = OVERRIDE_DELETE, .dry_run = is_dry(p)};

	return parse_place(p, 1, &r.place) && run_override(p, &r);
}

/* weigh GROUP/SERVER WEIGHT [DURATION] [dry] */
static bool do_weigh(struct play *p)
{
	struct override_request r = {
		.verb = OVERRIDE_PUT, .has_weight = true, .dry_run = is_dry(p)};
	size_t last = p->count - (r.dry_run ? 1 : 0);
	uint64_t weight;

	if (!parse_name(p, 1, &r.place) || !play_parse_number(p, play_word(p, 2), &weight))
		return false;
	r.place.kind = OVERRIDE_WEIGHT;
	r.weight = (uint32_t)weight;
	if (last > 3 && !play_parse_duration(p, p->words[3], &r.expires_in))
		return false;
	return run_override(p, &r);
}

/* unweigh GROUP/SERVER [dry] */
static bool do_unweigh(struct play *p)
{
	struct override_request r = {.verb = OVERRIDE_DELETE, .dry_run = is_dry(p)};

	if (!parse_name(p, 1, &r.place))
		return false;
	r.place.kind = OVERRIDE_WEIGHT;
	return run_override(p, &r);
}

const struct play_command play_overrides[] = {
	{"drain", 3, do_drain}, {"undrain", 3, do_undrain},
	{"weigh", 3, do_weigh}, {"unweigh", 2, do_unweigh},
	{NULL, 0, NULL},
};

/* ---- expectations ---- */

/* override-answer done|created|warning|CODE|pending */
static bool judge_override_answer(struct play *p, size_t at)
{
	return play_has(p, at, p->override_answer) ||
	       play_fault(p, "the answer is %s %s", p->override_answer, p->override_detail);
}

/* override-plan OPS [NAMES]: of a dry run */
static bool judge_override_plan(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of operations", p->override_ops, at) &&
	       (at + 1 >= p->count ||
		play_judge_number(p, "the number of changed names", p->override_names, at + 1));
}

static void count_overrides(void *ctx, const struct override_status *s)
{
	(void)s;
	++*(size_t *)ctx;
}

static bool judge_overrides(struct play *p, size_t at)
{
	size_t n = 0;

	engine_each_override(p->world.engine, count_overrides, &n);
	return play_judge_number(p, "the number of overrides", n, at);
}

/* What the list says of an override, beside what its own look says. */
struct listed {
	const struct override_status *own;
	bool differs;
};

static void compare_listed(void *ctx, const struct override_status *st)
{
	struct listed *l = ctx;

	if (strcmp(st->id, l->own->id) == 0)
		l->differs = st->connections != l->own->connections ||
			     st->destinations != l->own->destinations;
}

/* drained server|zone|listener|lb NAME draining|finished [CONNECTIONS [DESTINATIONS]] */
static bool judge_drained(struct play *p, size_t at)
{
	struct override_place place = {.kind = OVERRIDE_DRAIN};
	struct override_status st;
	struct listed listed = {.own = &st};
	const char *state;
	bool found;

	if (!parse_place(p, at, &place))
		return false;
	found = engine_find_override(p->world.engine, &place, &st) == 0;
	if (!found)
		return play_fault(p, "it is not drained");
	engine_each_override(p->world.engine, compare_listed, &listed);
	if (listed.differs)
		return play_fault(p, "the list counts other destinations or connections");
	state = st.finished ? "finished" : "draining";
	if (!play_has(p, at + 2, state))
		return play_fault(p, "it is %s: %s", state, st.sentence);
	return (at + 3 >= p->count ||
		play_judge_number(p, "the number of connections", st.connections, at + 3)) &&
	       (at + 4 >= p->count ||
		play_judge_number(p, "the number of destinations", st.destinations, at + 4));
}

const struct play_judge play_judges_override[] = {
	{"override-answer", judge_override_answer, NULL},
	{"override-plan", judge_override_plan, NULL},
	{"overrides", judge_overrides, NULL},
	{"drained", judge_drained, NULL},
	{NULL, NULL, NULL},
};
