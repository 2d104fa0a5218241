// SPDX-License-Identifier: GPL-2.0-or-later
// Zone shifts of a play, and what it expects of publication.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play_judge.h"

struct shift_call {
	struct shift_request request;
	struct play *play;
	char id[SHIFT_ID_MAX];
};

static void on_shifted(struct shift_request *r, const struct shift_result *result)
{
	struct shift_call *call = r->ctx;
	struct play *p = call->play;

	snprintf(p->shift_answer, sizeof(p->shift_answer), "%s",
		 err_any(result->faults) ? err_code_name(result->faults->faults[0].code) : "done");
	snprintf(p->shift_detail, sizeof(p->shift_detail), "%s", err_first(result->faults));
	p->shift_effects = 0;
	for (size_t i = 0; i < result->effect_count;
	     i++) /* names may belong to a document of before */
		p->shift_effects += result->effects[i].load_balancer[0] != '\0';
	free(call);
}

static bool run_shift(struct play *p, struct shift_call *call)
{
	call->play = p;
	call->request.ctx = call;
	call->request.done = on_shifted;
	call->request.who = "play";
	snprintf(p->shift_answer, sizeof(p->shift_answer), "pending");
	engine_shift(p->world.engine, &call->request);
	engine_settle(p->world.engine);
	sim_world_run(&p->world);
	return true;
}

static bool has_word(const struct play *p, size_t at, const char *word)
{
	for (; at < p->count; at++)
		if (strcmp(p->words[at], word) == 0)
			return true;
	return false;
}

/* shift start ZONE LB DURATION [evacuate] [force] [dry] */
static bool start(struct play *p)
{
	struct shift_call *call;
	usec_t d;

	if (p->count < 5 || !play_parse_duration(p, p->words[4], &d))
		return play_fault(p, "shift start ZONE LB DURATION");
	call = mem_new(struct shift_call);
	call->request = (struct shift_request){.verb = SHIFT_START,
					       .zone = p->words[2],
					       .load_balancer = p->words[3],
					       .expires_in = d,
					       .comment = "for the play",
					       .evacuate_servers = has_word(p, 5, "evacuate"),
					       .force = has_word(p, 5, "force"),
					       .dry_run = has_word(p, 5, "dry")};
	return run_shift(p, call);
}

struct shift_search {
	const char *zone;
	const char *lb;
	char id[SHIFT_ID_MAX];
	size_t count;
};

static void on_shift(void *ctx, const struct shift_status *s)
{
	struct shift_search *search = ctx;

	search->count++;
	if (search->zone && strcmp(s->zone, search->zone) == 0 &&
	    strcmp(s->load_balancer, search->lb) == 0)
		snprintf(search->id, sizeof(search->id), "%s", s->id);
}

/* shift cancel ZONE LB, shift extend ZONE LB DURATION */
static bool change(struct play *p, enum shift_verb verb)
{
	struct shift_search s = {.zone = play_word(p, 2), .lb = play_word(p, 3)};
	struct shift_call *call;
	usec_t d = 0;

	engine_each_shift(p->world.engine, on_shift, &s);
	if (!s.id[0])
		return play_fault(p, "there is no such shift");
	if (verb == SHIFT_CHANGE && !play_parse_duration(p, play_word(p, 4), &d))
		return false;
	call = mem_new(struct shift_call);
	memcpy(call->id, s.id, sizeof(call->id));
	call->request = (struct shift_request){.verb = verb, .id = call->id, .expires_in = d};
	return run_shift(p, call);
}

static bool do_shift(struct play *p)
{
	if (strcmp(p->words[1], "start") == 0)
		return start(p);
	if (strcmp(p->words[1], "extend") == 0)
		return change(p, SHIFT_CHANGE);
	if (strcmp(p->words[1], "cancel") == 0)
		return change(p, SHIFT_CANCEL);
	return play_fault(p, "shift start, extend or cancel");
}

/* carrier up|down: of the link on which packets for the VIPs arrive */
static bool do_carrier(struct play *p)
{
	p->world.no_carrier = strcmp(p->words[1], "down") == 0;
	return true;
}

const struct play_command play_zones[] = {
	{"shift", 2, do_shift},
	{"carrier", 2, do_carrier},
	{NULL, 0, NULL},
};

/* ---- expectations ---- */

/* shift-answer done|CODE|pending */
static bool judge_shift_answer(struct play *p, size_t at)
{
	return play_has(p, at, p->shift_answer) ||
	       play_fault(p, "the answer is %s %s", p->shift_answer, p->shift_detail);
}

static bool judge_shifts(struct play *p, size_t at)
{
	struct shift_search s = {0};

	engine_each_shift(p->world.engine, on_shift, &s);
	return play_judge_number(p, "the number of shifts", s.count, at);
}

struct publication_search {
	const char *lb;
	const char *zone;
	uint8_t family;
	char zones[256]; /* that are published, parted by blanks */
	char reason[64];
	char vip[64];
	char detail[256]; /* of the VIP */
	bool published;
	bool found;
};

static void on_publication(void *ctx, const struct zone_publication *z)
{
	struct publication_search *s = ctx;
	size_t used = strlen(s->zones);

	if (strcmp(z->lb, s->lb) != 0 || z->family != s->family)
		return;
	if (z->published)
		snprintf(s->zones + used, sizeof(s->zones) - used, "%s%s", used ? " " : "",
			 z->zone);
	if (!s->zone || strcmp(s->zone, z->zone) != 0)
		return;
	s->found = true;
	s->published = z->published;
	snprintf(s->reason, sizeof(s->reason), "%s", z->reason_code);
	snprintf(s->vip, sizeof(s->vip), "%s %s", z->vip_state, z->vip_source);
	snprintf(s->detail, sizeof(s->detail), "%s", z->vip_detail);
}

static uint8_t family_of(const char *word)
{
	return strcmp(word, "v6") == 0 ? AF_INET6 : AF_INET;
}

/* published LB v4|v6 [ZONE…] */
static bool judge_published(struct play *p, size_t at)
{
	struct publication_search s = {.lb = play_word(p, at),
				       .family = family_of(play_word(p, at + 1))};

	engine_each_publication(p->world.engine, NULL, on_publication, &s);
	return strcmp(s.zones, play_rest(p, at + 2)) == 0 ||
	       play_fault(p, "published is: %s", s.zones);
}

static bool find_zone(struct play *p, size_t at, struct publication_search *s)
{
	static const char *const families[] = {"v4", "v6"};

	s->lb = play_word(p, at);
	s->zone = play_word(p, at + 1);
	s->family = family_of(play_word(p, at + 2));
	if (!play_has(p, at + 2, families[0]) && !play_has(p, at + 2, families[1]))
		return play_fault(p, "LB ZONE v4|v6 is wanted");
	engine_each_publication(p->world.engine, NULL, on_publication, s);
	return s->found || play_fault(p, "there is no such zone");
}

/* zone LB ZONE v4|v6 REASON */
static bool judge_zone(struct play *p, size_t at)
{
	struct publication_search s = {0};

	return find_zone(p, at, &s) &&
	       (play_has(p, at + 3, s.reason) || play_fault(p, "the reason is %s", s.reason));
}

/* vip LB ZONE v4|v6 STATE SOURCE */
static bool judge_vip(struct play *p, size_t at)
{
	struct publication_search s = {0};

	return find_zone(p, at, &s) &&
	       (strcmp(s.vip, play_rest(p, at + 3)) == 0 || play_fault(p, "the VIP is %s", s.vip));
}

/* vip-says LB ZONE v4|v6 PART */
static bool judge_vip_says(struct play *p, size_t at)
{
	struct publication_search s = {0};

	return find_zone(p, at, &s) && (strstr(s.detail, play_rest(p, at + 3)) ||
					play_fault(p, "the VIP says: %s", s.detail));
}

const struct play_judge play_judges_zone[] = {
	{"shift-answer", judge_shift_answer, NULL},
	{"shifts", judge_shifts, NULL},
	{"published", judge_published, NULL},
	{"zone", judge_zone, NULL},
	{"vip", judge_vip, NULL},
	{"vip-says", judge_vip_says, NULL},
	{NULL, NULL, NULL},
};
