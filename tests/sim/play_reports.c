// SPDX-License-Identifier: GPL-2.0-or-later
// What a play expects of answers, events, the store and the node.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/confirm.h"
#include "engine/drops.h"
#include "sim/play_judge.h"

const char *play_word(const struct play *p, size_t at)
{
	return at < p->count ? p->words[at] : "";
}

const char *play_rest(const struct play *p, size_t at)
{
	return at < p->count ? p->rest[at] : "";
}

bool play_has(const struct play *p, size_t at, const char *word)
{
	return strcmp(play_word(p, at), word) == 0;
}

bool play_judge_number(struct play *p, const char *what, uint64_t seen, size_t at)
{
	uint64_t wanted;

	if (!play_parse_number(p, play_word(p, at), &wanted))
		return false;
	return wanted == seen || play_fault(p, "%s is %llu", what, (unsigned long long)seen);
}

/* ---- confirmations ---- */

/* confirm REVISION LEFT: the change that waits, and for how long yet */
static bool judge_confirm(struct play *p, size_t at)
{
	struct confirm_status s;
	usec_t left;

	if (!engine_confirm_status(p->world.engine, &s))
		return play_fault(p, "nothing waits for a confirmation");
	if (!play_judge_number(p, "the revision that waits", s.revision, at))
		return false;
	if (at + 1 == p->count)
		return true;
	return play_parse_duration(p, p->words[at + 1], &left) &&
	       (left == s.left || play_fault(p, "%llu us are left", (unsigned long long)s.left));
}

static bool judge_no_confirm(struct play *p, size_t at)
{
	struct confirm_status s;

	(void)at;
	return !engine_confirm_status(p->world.engine, &s) ||
	       play_fault(p, "revision %llu waits for a confirmation",
			  (unsigned long long)s.revision);
}

/* confirmed done, pending or the code of the fault */
static bool judge_confirmed(struct play *p, size_t at)
{
	return play_has(p, at, p->confirm_answer) ||
	       play_fault(p, "the confirmation is %s", p->confirm_answer);
}

/* ---- answers ---- */

/* POINTER ("-": that of the whole) and words of the sentence */
static bool fault_matches(const struct play *p, const struct err_fault *f, size_t at)
{
	const char *pointer = at < p->count ? p->words[at] : f->pointer;

	if (strcmp(strcmp(pointer, "-") == 0 ? "" : pointer, f->pointer) != 0)
		return false;
	for (size_t i = at + 1; i < p->count; i++)
		if (!strstr(f->detail, p->words[i]))
			return false;
	return true;
}

/* answer refused CODE [POINTER [WORD …]], answer warning [POINTER [WORD …]]: one of the faults is it */
static bool judge_faults(struct play *p, const struct err *e, const char *code, size_t at)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct err_fault *f = &e->faults[i];

		if (code[0] && strcmp(err_code_name(f->code), code) != 0)
			continue;
		if (fault_matches(p, f, at))
			return true;
	}
	return play_fault(p, "there is no such fault among %zu: %s (%s)", e->total, err_first(e),
			  e->count ? err_code_name(e->faults[0].code) : "none");
}

static bool judge_answer(struct play *p, size_t at)
{
	struct play_write *w = play_last_write(p);
	const char *word = play_word(p, at);
	const char *seen;

	if (!w)
		return play_fault(p, "nothing was written");
	w->judged = true;
	if (strcmp(word, "refused") == 0)
		return judge_faults(p, &w->faults, play_word(p, at + 1), at + 2);
	if (strcmp(word, "warning") == 0)
		return judge_faults(p, &w->warnings, "", at + 1);
	seen = !w->answered            ? "pending"
	       : err_any(&w->faults)   ? "refused"
	       : err_any(&w->warnings) ? "warning"
	       : w->created            ? "created"
	       : w->changed            ? "changed"
				       : "unchanged";
	return strcmp(word, seen) == 0 ||
	       play_fault(p, "the answer is %s %s%s", seen, err_first(&w->faults),
			  err_first(&w->warnings));
}

/* waiting N: writes that were not answered yet */
static bool judge_waiting(struct play *p, size_t at)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->writes.count; i++)
		n += !((const struct play_write *)p->writes.items[i])->answered;
	return play_judge_number(p, "the number of writes that wait", n, at);
}

/* plan ops N, plan changes N: of a dry run */
static bool judge_plan(struct play *p, size_t at)
{
	const struct play_write *w = play_last_write(p);

	if (!w || !w->dry || !w->answered)
		return play_fault(p, "there was no dry run");
	if (play_has(p, at, "ops"))
		return play_judge_number(p, "the number of operations", w->ops.count, at + 1);
	return play_judge_number(p, "the number of changes", w->changes, at + 1);
}

/* ---- events ---- */

static size_t count_events(struct play *p, enum engine_event_id id, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < p->world.events.count; i++) {
		const struct sim_event *ev = p->world.events.items[i];

		if (ev->id == id && (strstr(ev->detail, text) || strstr(ev->object, text)))
			n++;
	}
	return n;
}

static bool tell_events(struct play *p, const char *what)
{
	char all[2048] = "";
	size_t used = 0;

	for (size_t i = 0; i < p->world.events.count && used < sizeof(all); i++) {
		const struct sim_event *ev = p->world.events.items[i];

		used += (size_t)snprintf(all + used, sizeof(all) - used, "\n    %s %s: %s",
					 engine_event_name(ev->id), ev->object, ev->detail);
	}
	return play_fault(p, "%s; there were:%s", what, all);
}

static bool judge_event(struct play *p, size_t at)
{
	enum engine_event_id id;

	if (!play_parse_event(p, play_word(p, at), &id))
		return false;
	return count_events(p, id, play_rest(p, at + 1)) || tell_events(p, "no such event");
}

static bool judge_no_event(struct play *p, size_t at)
{
	enum engine_event_id id;

	if (!play_parse_event(p, play_word(p, at), &id))
		return false;
	return !count_events(p, id, play_rest(p, at + 1)) || tell_events(p, "it was told");
}

static bool judge_events(struct play *p, size_t at)
{
	enum engine_event_id id;

	if (!play_parse_event(p, play_word(p, at), &id))
		return false;
	return play_judge_number(p, "the number of events", count_events(p, id, ""), at + 1) ||
	       tell_events(p, "");
}

static bool has_members(const json_t *data, const json_t *wanted)
{
	const char *name;
	json_t *member;

	json_object_foreach ((json_t *)(uintptr_t)wanted, name, member) {
		if (!json_equal(json_object_get(data, name), member))
			return false;
	}
	return true;
}

/* The newest of a type, as programs are told it. New reference; NULL is a fault. */
static json_t *newest_told(struct play *p, const char *type)
{
	for (size_t i = p->world.told.count; i-- > 0;) {
		json_t *event = json_loads(p->world.told.items[i], 0, NULL);

		if (strcmp(json_string_value(json_object_get(event, "type")), type) == 0)
			return event;
		json_decref(event);
	}
	play_fault(p, "no such event was told");
	return NULL;
}

static bool told_has(struct play *p, const json_t *event, const json_t *of, const json_t *wanted)
{
	char *text;

	if (has_members(of, wanted))
		return true;
	text = json_dumps(event, JSON_COMPACT);
	play_fault(p, "it was told: %s", text);
	free(text);
	return false;
}

/* data TYPE JSON: what programs are told with the newest of a type; at least these members */
static bool judge_data(struct play *p, size_t at)
{
	json_t *wanted = play_parse_json(p, play_rest(p, at + 1));
	json_t *event = wanted ? newest_told(p, play_word(p, at)) : NULL;
	bool good = event && told_has(p, event, json_object_get(event, "data"), wanted);

	json_decref(event);
	json_decref(wanted);
	return good;
}

/* severity TYPE NAME: of the newest of a type */
static bool judge_severity(struct play *p, size_t at)
{
	json_t *wanted = json_pack("{s:s}", "severity", play_word(p, at + 1));
	json_t *event = newest_told(p, play_word(p, at));
	bool good = event && told_has(p, event, event, wanted);

	json_decref(event);
	json_decref(wanted);
	return good;
}

/* ---- limits ---- */

/* dropped LB/LISTENER ALL RECENT: for its rate_limit */
static bool judge_dropped(struct play *p, size_t at)
{
	char lb[MODEL_NAME_MAX + 1] = "", listener[MODEL_NAME_MAX + 1] = "";
	const struct load_balancer *o = NULL;
	struct drop_status st = {0};

	if (sscanf(play_word(p, at), "%63[^/]/%63s", lb, listener) == 2)
		o = snapshot_find_lb(engine_snapshot(p->world.engine), lb);
	for (size_t i = 0; o && i < o->listeners.count; i++) {
		const struct listener *l = o->listeners.items[i];

		if (strcmp(l->o.name, listener) == 0 &&
		    engine_dropped(p->world.engine, lb, l, DROP_RATE, &st))
			return play_judge_number(p, "dropped", st.packets, at + 1) &&
			       play_judge_number(p, "dropped lately", st.recent, at + 2);
	}
	return play_fault(p, "nothing is counted of it");
}

/* ---- node and store ---- */

static struct node_status node(const struct play *p)
{
	struct node_status st;

	engine_node_status(p->world.engine, &st);
	return st;
}

static bool judge_applied(struct play *p, size_t at)
{
	struct node_status st = node(p);

	(void)at;
	return st.applied_revision == st.revision ||
	       play_fault(p, "revision %llu of %llu is applied",
			  (unsigned long long)st.applied_revision, (unsigned long long)st.revision);
}

static bool judge_not_applied(struct play *p, size_t at)
{
	struct node_status st = node(p);

	(void)at;
	return st.applied_revision < st.revision || play_fault(p, "the newest revision is applied");
}

static bool judge_node(struct play *p, size_t at)
{
	struct node_status st = node(p);
	const char *seen = !st.kernel_available ? "unavailable"
			   : !st.kernel_known   ? "unknown"
						: "available";

	return play_has(p, at, seen) || play_fault(p, "the node is %s", seen);
}

static bool judge_store(struct play *p, size_t at)
{
	const char *seen = node(p).store_ok ? "ok" : "failed";

	return play_has(p, at, seen) || play_fault(p, "the store is %s", seen);
}

static bool judge_revision(struct play *p, size_t at)
{
	return play_judge_number(p, "the revision", node(p).revision, at);
}

static bool judge_drift(struct play *p, size_t at)
{
	return play_judge_number(p, "the drift counted", node(p).drift_count, at);
}

static bool judge_commits(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of commits", p->world.store.batch_count, at);
}

/* rows N: of the last commit that was asked for */
static bool judge_rows(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of rows", p->world.store.last_rows, at);
}

static bool judge_probes(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of probes", p->world.probes.entries.count, at);
}

static bool judge_started(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of starts", p->world.probes.started, at);
}

/* row KIND KEY [TEXT] */
static bool judge_row(struct play *p, size_t at)
{
	const char *value = sim_store_find(&p->world.store, play_word(p, at), play_word(p, at + 1));

	if (!value)
		return play_fault(p, "the store has no such row");
	return strstr(value, play_rest(p, at + 2)) || play_fault(p, "the row is %s", value);
}

static bool judge_no_row(struct play *p, size_t at)
{
	const char *value = sim_store_find(&p->world.store, play_word(p, at), play_word(p, at + 1));

	return !value || play_fault(p, "the row is %s", value);
}

/* table given|refused|pending: what `ask` came to */
static bool judge_table(struct play *p, size_t at)
{
	const char *seen = !p->ask_answered ? "pending" : p->ask_error ? "refused" : "given";

	return play_has(p, at, seen) || play_fault(p, "the table is %s", seen);
}

const struct play_judge play_judges_report[] = {
	{"answer", judge_answer, NULL},
	{"waiting", judge_waiting, NULL},
	{"confirm", judge_confirm, judge_no_confirm},
	{"confirmed", judge_confirmed, NULL},
	{"plan", judge_plan, NULL},
	{"event", judge_event, judge_no_event},
	{"events", judge_events, NULL},
	{"data", judge_data, NULL},
	{"severity", judge_severity, NULL},
	{"dropped", judge_dropped, NULL},
	{"applied", judge_applied, judge_not_applied},
	{"node", judge_node, NULL},
	{"store", judge_store, NULL},
	{"revision", judge_revision, NULL},
	{"drift", judge_drift, NULL},
	{"commits", judge_commits, NULL},
	{"rows", judge_rows, NULL},
	{"probes", judge_probes, NULL},
	{"started", judge_started, NULL},
	{"row", judge_row, judge_no_row},
	{"table", judge_table, NULL},
	{NULL, NULL, NULL},
};

bool play_expect(struct play *p, size_t at)
{
	const struct play_judge *tables[] = {play_judges_state, play_judges_report,
					     play_judges_zone, play_judges_crowd,
					     play_judges_override};
	bool no = play_has(p, at, "no");
	const char *name = play_word(p, no ? at + 1 : at);

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct play_judge *j = tables[t]; j->name; j++) {
			if (strcmp(j->name, name) != 0 || (no && !j->no))
				continue;
			return no ? j->no(p, at + 2) : j->yes(p, at + 1);
		}
	}
	return play_fault(p, "\"%s%s\" cannot be expected", no ? "no " : "", name);
}
