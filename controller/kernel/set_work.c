// SPDX-License-Identifier: GPL-2.0-or-later
// Entries go many in a message; when one of them is refused, those of its message are done again one by one, which does no harm.
#include "kernel/set_work.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "kernel/set_fill.h"
#include "kernel/set_parse.h"
#include "kernel/setlib.h"

#define ELEMENTS_MAX 1048576
/* Until all of a long list is compared with the kernel's again: a million entries take a second. */
#define CHECK_WHOLE_AFTER (600 * USEC_PER_SEC)
#define WORK_TOGETHER     1024 /* entries whose results are known together */

/* ---- operations ----------------------------------------------------------------------------- */

static bool set_work_is_entry(const struct plan_op *op)
{
	return op->kind == PLAN_ADD_ENTRY || op->kind == PLAN_DELETE_ENTRY;
}

static int set_work_entry(struct setlib *l, const struct plan_op *op, uint32_t number)
{
	const struct ruleset_entry *entry = &op->entry;
	const struct setlib_element e = {.address = &entry->address,
					 .peer = addr_is_set(&entry->peer) ? &entry->peer : NULL,
					 .protocol = entry->protocol,
					 .port = entry->port};
	char name[RULESET_NAME_MAX];

	return setlib_change(l, op->kind == PLAN_ADD_ENTRY ? SETLIB_ADD : SETLIB_DELETE,
			     ruleset_format_id(&op->entry.set, name), &e, number);
}

static void set_work_singly(struct setlib *l, struct plan_op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ops[i].result = set_work_entry(l, &ops[i], 1);
		if (!ops[i].result)
			ops[i].result = setlib_flush(l);
	}
}

static void set_work_together(struct setlib *l, struct plan_op *ops, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		ops[i].result = 0;
		r = set_work_entry(l, &ops[i], (uint32_t)i + 1);
	}
	if (!r)
		r = setlib_flush(l);
	if (r)
		set_work_singly(l, ops, count);
}

static int set_work_set(struct setlib *l, const struct plan_op *op)
{
	const struct ruleset_id *id = &op->entry.set;
	const struct setlib_type type = {.type = ruleset_type_of(id->kind),
					 .family = id->family,
					 .elements_max = ELEMENTS_MAX};
	char name[RULESET_NAME_MAX];

	ruleset_format_id(id, name);
	return op->kind == PLAN_ADD_SET ? setlib_create(l, name, &type) : setlib_destroy(l, name);
}

void set_work_run(struct set_work *w, struct plan_op *ops, size_t count)
{
	struct setlib *l = w->lib;

	for (size_t i = 0; i < count;) {
		size_t n = 0;

		while (i + n < count && n < WORK_TOGETHER && set_work_is_entry(&ops[i + n]))
			n++;
		if (n) {
			set_work_together(l, &ops[i], n);
			i += n;
		} else {
			set_known_drop(&w->known, &ops[i].entry.set);
			ops[i].result = set_work_set(l, &ops[i]);
			i++;
		}
	}
}

/* ---- the look ------------------------------------------------------------------------------- */

struct set_look {
	struct set_work *work;
	struct ruleset found;
	struct ruleset_id id; /* that is read */
	bool other;           /* it is of another type */
};

/* The temporary set of a fill under way is no leftover. */
static bool set_work_is_busy(const struct set_work *w, const struct ruleset_id *id)
{
	return w->filling && id->kind == RULESET_TEMP && w->filling->uid == id->uid &&
	       w->filling->family == id->family;
}

static int set_work_on_name(void *ctx, const char *line)
{
	struct set_look *look = ctx;
	struct ruleset_id id;

	if (ruleset_parse_id(line, &id) && !set_work_is_busy(look->work, &id))
		ruleset_push_set(&look->found, &id);
	return 0;
}

static int set_work_on_line(void *ctx, const char *line)
{
	struct set_look *look = ctx;
	struct ruleset_entry *e;
	struct set_line l;
	int r = look->other ? 0 : set_parse_line(line, look->id.family, &l);

	if (r || look->other)
		return r;
	if (l.creates) {
		look->other = strcmp(l.type, ruleset_type_name(ruleset_type_of(look->id.kind))) !=
			      0;
		return 0;
	}
	e = ruleset_push(&look->found);
	e->set = look->id;
	e->address = l.address;
	e->peer = l.peer;
	e->protocol = l.protocol;
	e->port = l.port;
	e->packets = l.packets;
	return 0;
}

/* The reference that was put into it, if that is still in it. */
static int set_work_read_list(struct set_work *w, struct ruleset_set *s)
{
	struct set_known_item *known = set_known_find(&w->known, &s->id);
	struct set_fill fill = {.lib = w->lib, .id = s->id};
	enum set_fill_extent extent;
	usec_t now = time_monotonic();
	int r;

	if (!known)
		return 0;
	fill.to = &known->list;
	extent = now - known->checked < CHECK_WHOLE_AFTER ? FILL_CHECK_LENGTH : FILL_CHECK_ALL;
	r = set_fill_check(&fill, extent);
	if (r == 0 && extent == FILL_CHECK_ALL)
		known->checked = now;
	if (r == 0)
		s->list = (struct ruleset_list){.entries = entries_ref(known->list.entries),
						.fallback = known->list.fallback};
	else
		set_known_drop(&w->known, &s->id);
	return r == -ESTALE ? 0 : r;
}

static int set_work_read_set(struct set_look *look, struct ruleset_set *s)
{
	char name[RULESET_NAME_MAX];

	look->id = s->id;
	look->other = false;
	if (s->id.kind == RULESET_TEMP)
		return 0; /* it shall go, whatever is in it */
	if (s->id.kind == RULESET_LIST)
		return set_work_read_list(look->work, s);
	return setlib_list(look->work->lib, ruleset_format_id(&s->id, name), set_work_on_line,
			   look);
}

/* Reads them one after the other; those that are gone meanwhile, or not ours, are dropped. */
static int set_work_read(struct set_look *look)
{
	struct ruleset *r = &look->found;
	size_t kept = 0;
	int error = 0;

	for (size_t i = 0; i < r->set_count && !error; i++) {
		struct ruleset_set s = r->sets[i];

		error = set_work_read_set(look, &s);
		if (!error && !look->other)
			r->sets[kept++] = s;
		if (error == -ENOENT)
			error = 0;
	}
	r->set_count = kept;
	return error;
}

int set_work_look(struct set_work *w, struct ruleset *ret_found)
{
	struct set_look look = {.work = w};
	int r = setlib_list_names(w->lib, set_work_on_name, &look);

	if (!r)
		r = set_work_read(&look);
	if (r) {
		ruleset_clear(&look.found);
		return r;
	}
	ruleset_sort(&look.found);
	*ret_found = look.found;
	return 0;
}

/* ---- what is shown -------------------------------------------------------------------------- */

struct set_heads {
	struct netfilter *filters;
	struct netfilter_set *last; /* whose lines come; NULL: it is left out */
};

static int set_work_on_head(void *ctx, const char *line)
{
	struct set_heads *h = ctx;

	if (set_parse_head_name(line))
		h->last = netfilter_push(h->filters);
	if (h->last)
		set_parse_head(line, h->last);
	return 0;
}

int set_work_show(struct set_work *w, struct netfilter **ret_filters)
{
	struct set_heads h = {.filters = mem_new(struct netfilter)};
	int r = set_work_look(w, &h.filters->ruleset);

	if (!r)
		r = setlib_list_heads(w->lib, NULL, set_work_on_head, &h);
	if (r) {
		netfilter_free(h.filters);
		return r;
	}
	netfilter_sort(h.filters);
	*ret_filters = h.filters;
	return 0;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void set_work_fill_one(struct set_work *w, struct plan_op *op)
{
	const struct ruleset_id *id = &op->entry.set;
	const struct set_known_item *known = set_known_find(&w->known, id);
	struct ruleset_list from = known ? known->list : (struct ruleset_list){0};
	const struct set_fill fill = {.lib = w->lib,
				      .id = *id,
				      .from = known ? &from : NULL,
				      .to = &op->list,
				      .rest = w->rest,
				      .ctx = w->ctx};

	w->filling = id;
	op->result = set_fill_run(&fill);
	w->filling = NULL;
	if (op->result)
		set_known_drop(&w->known, id);
	else
		set_known_put(&w->known, id, &op->list, time_monotonic());
}

void set_work_fill(struct set_work *w, struct plan_op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		set_work_fill_one(w, &ops[i]);
}

struct set_count {
	struct hits *hits;
	enum ruleset_family family;
};

static int set_work_on_hit(void *ctx, const char *line)
{
	struct set_count *c = ctx;
	struct set_line l;
	int r = set_parse_line(line, c->family, &l);
	struct hit *h;

	if (r || l.creates)
		return r;
	h = hits_push(c->hits);
	*h = (struct hit){
		.net = l.address, .length = l.length, .packets = l.packets, .bytes = l.bytes};
	return 0;
}

struct hits *set_work_count(struct set_work *w, uint64_t uid)
{
	struct set_count c = {.hits = mem_new(struct hits)};
	bool any = false;
	int r = 0;

	for (c.family = 0; c.family < RULESET_FAMILY_COUNT && !r; c.family++) {
		const struct ruleset_id id = {.kind = RULESET_LIST, .family = c.family, .uid = uid};
		char name[RULESET_NAME_MAX];

		r = setlib_list(w->lib, ruleset_format_id(&id, name), set_work_on_hit, &c);
		any |= !r;
		if (r == -ENOENT)
			r = 0;
	}
	if (!any || r) {
		hits_free(c.hits);
		return NULL;
	}
	hits_sort(c.hits);
	return c.hits;
}

void set_work_clear(struct set_work *w)
{
	setlib_free(w->lib);
	set_known_clear(&w->known);
}
