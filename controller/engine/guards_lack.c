// SPDX-License-Identifier: GPL-2.0-or-later
// Which listener misses what, while sets or rules are not in force: what the kernel has acknowledged is compared with what is wanted, for
// the entries of the listener and the lines of rules that look into their sets.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "plan/ceilings.h"
#include "plan/limit_sets.h"

const char *guards_lack_text(enum guards_lack l)
{
	static const char *const texts[] = {
		[LACK_NONE] = "",
		[LACK_MARK] = "it does not serve: its packets do not get their firewall mark",
		[LACK_LIST] = "its access list is not in force as it stands",
		[LACK_LIMIT] = "its rate_limit is not in force",
		[LACK_CEILING] = "its max_connections is not in force",
		[LACK_GUARD] =
			"ports of its VIP without a listener are open: vip_guard is not in force",
		[LACK_SNAT] =
			"snat is not in force: servers that do not route back through here are not heard",
	};
	_Static_assert(sizeof(texts) / sizeof(texts[0]) == LACK_COUNT, "a text for each");

	return texts[l];
}

/* ---- lines that are missing ---- */

/* Sets that lines look into which are wanted and not there: lines that set marks, and all others. A line that names the VIPs of a mark
 * is missing to that mark alone, any other to each of its sets. */
struct lack_lines {
	struct ruleset marks;
	struct ruleset others;
};

static int lack_compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a copy of the text, sorted; NULL: none. The text is cut into pieces. */
static char **lack_split(char *text, size_t *ret_count)
{
	size_t capacity = 1;
	size_t count = 0;
	char **lines;

	for (const char *c = text; *c; c++)
		capacity += *c == '\n';
	lines = mem_alloc_array(capacity, sizeof(*lines));
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (*line)
			lines[count++] = line;
	if (count > 1)
		qsort(lines, count, sizeof(*lines), lack_compare_lines);
	*ret_count = count;
	return lines;
}

static void lack_note_sets(struct ruleset *r, const char *line)
{
	static const char option[] = "--match-set ";

	for (const char *p = strstr(line, option); p; p = strstr(p, option)) {
		char name[RULESET_NAME_MAX];
		struct ruleset_id id;

		p += strlen(option);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, " "), p);
		if (ruleset_parse_id(name, &id))
			ruleset_push_set(r, &id);
	}
}

static void lack_note_line(struct lack_lines *l, const char *line)
{
	struct ruleset *r = strstr(line, " -j MARK ") ? &l->marks : &l->others;
	size_t first = r->set_count;

	lack_note_sets(r, line);
	for (size_t i = first; i < r->set_count; i++) {
		if (r->sets[i].id.kind != RULESET_MARK)
			continue;
		r->sets[first] = r->sets[i];
		r->set_count = first + 1;
	}
}

static void lack_compare(struct lack_lines *l, const char *wanted, const char *present)
{
	char *wanted_text AUTO_FREE = mem_strdup(wanted);
	char *present_text AUTO_FREE = mem_strdup(present ? present : "");
	size_t wanted_count, present_count;
	char **all AUTO_FREE = lack_split(wanted_text, &wanted_count);
	char **there AUTO_FREE = lack_split(present_text, &present_count);

	for (size_t i = 0; i < wanted_count; i++)
		if (!present_count ||
		    !bsearch(&all[i], there, present_count, sizeof(*there), lack_compare_lines))
			lack_note_line(l, all[i]);
}

static void lack_find_lines(const struct engine_guards *g, struct lack_lines *ret_lines)
{
	*ret_lines = (struct lack_lines){0};
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++) {
		const char *wanted = g->desired.rules[f][RULESET_FILTER];
		const char *present = g->expected.rules[f][RULESET_FILTER];

		if (wanted && !ruleset_equal_rules(wanted, present))
			lack_compare(ret_lines, wanted, present);
	}
	ruleset_sort(&ret_lines->marks);
	ruleset_sort(&ret_lines->others);
}

static void lack_clear(struct lack_lines *l)
{
	ruleset_clear(&l->marks);
	ruleset_clear(&l->others);
}

/* ---- one listener ---- */

struct lack_case {
	const struct engine *e;
	const struct desired_place *place;
	const struct lack_lines *lines;
};

/* An entry of the listener that is wanted, and not in the kernel or not looked for. */
static bool lack_misses(const struct lack_case *c, const struct ruleset *lines,
			const struct ruleset_id *set, const struct ruleset_entry *place)
{
	const struct engine_guards *g = &c->e->guards;
	struct ruleset_entry key = *place;

	key.set = *set;
	return ruleset_has_entry(&g->desired, &key) &&
	       (!ruleset_has_entry(&g->expected, &key) || ruleset_find_set(lines, set));
}

static bool lack_list_is_old(const struct lack_case *c, const struct ruleset_id *id)
{
	const struct ruleset_set *wanted = ruleset_find_set(&c->e->guards.desired, id);
	const struct ruleset_set *present = ruleset_find_set(&c->e->guards.expected, id);

	return wanted && (!present || !ruleset_same_list(&wanted->list, &present->list));
}

static enum guards_lack lack_of_list(const struct lack_case *c, const struct ruleset_entry *vip,
				     const struct ruleset_entry *port,
				     const struct ruleset_id *mark)
{
	const char *name = c->place->listener->access_list;
	const struct access_list *list = name ? snapshot_find_access_list(c->e->snapshot, name)
					      : NULL;
	struct ruleset_id id = {.kind = RULESET_LIST, .family = mark->family};

	if (!list)
		return LACK_NONE;
	id.uid = list->o.uid;
	if (lack_list_is_old(c, &id))
		return LACK_LIST;
	id.kind = RULESET_AT;
	return lack_misses(c, &c->lines->others, &id, port) ||
			       lack_misses(c, &c->lines->others, mark, vip)
		       ? LACK_LIST
		       : LACK_NONE;
}

static enum guards_lack lack_of_limits(const struct lack_case *c, const struct addr *vip)
{
	const struct listener *l = c->place->listener;
	const struct ruleset_entry at = limit_sets_entry(l, vip);
	const enum ruleset_family f = ruleset_family_of(vip);
	const struct ruleset_id ceiling = ceilings_id(l, f);

	if (l->rate_limit) {
		const struct ruleset_id limit = limit_sets_id(l, f);

		if (lack_misses(c, &c->lines->others, &limit, &at))
			return LACK_LIMIT;
	}
	return l->max_connections && lack_misses(c, &c->lines->others, &ceiling, &at) ? LACK_CEILING
										      : LACK_NONE;
}

static bool lack_of_snat(const struct lack_case *c, enum ruleset_family f)
{
	const struct engine_guards *g = &c->e->guards;

	return c->place->lb->snat != SNAT_OFF && g->desired.rules[f][RULESET_NAT] &&
	       !ruleset_equal_rules(g->desired.rules[f][RULESET_NAT],
				    g->expected.rules[f][RULESET_NAT]);
}

/* The worst. */
static enum guards_lack lack_judge(const struct lack_case *c)
{
	const struct desired_place *p = c->place;
	const struct addr *address = desired_place_vip(p);
	struct ruleset_entry vip = {.address = *address};
	struct ruleset_entry port = {.address = *address,
				     .protocol = desired_protocol_number(p->listener->protocol),
				     .port = (uint16_t)p->listener->port};
	enum ruleset_family f = ruleset_family_of(address);
	const struct ruleset_id mark = {.kind = RULESET_MARK, .family = f, .uid = p->mark};
	const struct ruleset_id ranged = {.kind = RULESET_RANGED, .family = f};
	struct ruleset_id closes = {.kind = RULESET_DROP, .family = f};
	enum guards_lack limit;

	if (p->mark && (lack_misses(c, &c->lines->marks, &mark, &vip) ||
			lack_misses(c, &c->lines->others, &ranged, &vip)))
		return LACK_MARK;
	if (lack_of_list(c, &vip, &port, &mark) != LACK_NONE)
		return LACK_LIST;
	if ((limit = lack_of_limits(c, address)) != LACK_NONE)
		return limit;
	if (lack_misses(c, &c->lines->others, &closes, &vip))
		return LACK_GUARD;
	closes.kind = RULESET_REJECT;
	if (lack_misses(c, &c->lines->others, &closes, &vip))
		return LACK_GUARD;
	return lack_of_snat(c, f) ? LACK_SNAT : LACK_NONE;
}

bool guards_marks(const struct engine *e, const struct desired_place *p)
{
	struct lack_lines lines;
	struct lack_case c = {e, p, &lines};
	bool marks;

	if (!e->guards.known)
		return false;
	lack_find_lines(&e->guards, &lines);
	marks = lack_judge(&c) != LACK_MARK;
	lack_clear(&lines);
	return marks;
}

/* ---- all of them ---- */

static int lack_compare_listeners(const void *key, const void *item)
{
	const uintptr_t a = (uintptr_t)key, b = (uintptr_t)item;

	return (a > b) - (a < b);
}

/* Whether it is the first of the services of its listener, of which there is one for each zone and family. */
static bool lack_is_first(struct vec *told, const struct engine_service *s)
{
	const struct listener *l = s->place.listener;
	size_t index;

	if (vec_find(told, l, lack_compare_listeners, &index))
		return false;
	vec_insert(told, index, (void *)(uintptr_t)l);
	return true;
}

/* `told`: listeners of which it was. */
static void lack_tell(struct engine *e, const struct engine_service *s, struct vec *told)
{
	char pointer[ERR_POINTER_MAX];

	snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s", s->place.lb->o.name,
		 s->place.listener->o.name);
	propose_note_guard_failure(e, pointer, s->lack.text);
	if (s->lack.kind != LACK_MARK || !lack_is_first(told, s))
		return; /* that much was told of the node */
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_CONFIG_FAILED,
					    .object = pointer + 1,
					    .data = json_pack("{s:s}", "error", s->lack.text)},
			 "%s", s->lack.text);
}

/* A service that stands in for a range lacks nothing: the one of the range does. */
static void lack_put(struct engine *e, struct engine_service *s, enum guards_lack l,
		     struct vec *told)
{
	char *text = l ? mem_printf("%s: %s", guards_lack_text(l), guards_find_fault(e)->text)
		       : NULL;
	bool news = text && s->lack.kind != l;

	free(s->lack.text);
	s->lack.text = text;
	s->lack.kind = l;
	e->guards.lacking |= l != LACK_NONE;
	if (news)
		lack_tell(e, s, told);
}

void guards_find_lacks(struct engine *e)
{
	struct engine_guards *g = &e->guards;
	const bool faulty = guards_find_fault(e)->text != NULL;
	struct lack_lines lines;
	struct vec told = {0};

	if (!g->lacking && !faulty)
		return;
	g->lacking = false;
	lack_find_lines(g, &lines);
	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];
		const struct lack_case c = {e, &s->place, &lines};
		bool judged = s->place.lb && !s->place.port && faulty;

		lack_put(e, s, judged ? lack_judge(&c) : LACK_NONE, &told);
	}
	vec_clear(&told);
	lack_clear(&lines);
}
