// SPDX-License-Identifier: GPL-2.0-or-later
// Firewall marks of listeners with a range: allotted once, written with the commit that brings the listener, and given back when
// the kernel has nothing of it any more. The table that others look into hangs on the snapshot.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"

#define MARKS_KIND "mark"

/* ---- what is held ---- */

static int fwmarks_number_key(const void *key, const void *item)
{
	const uint32_t number = *(const uint32_t *)key;
	const struct engine_fwmark *m = item;

	return (number > m->m->mark) - (number < m->m->mark);
}

static struct engine_fwmark *fwmarks_find_number(const struct engine *e, uint32_t number)
{
	return vec_find(&e->fwmarks.items, &number, fwmarks_number_key, NULL);
}

bool fwmarks_hold(const struct engine *e, uint32_t number)
{
	return fwmarks_find_number(e, number) != NULL;
}

static uint64_t fwmarks_hash(const struct mark *m)
{
	return hash_text(m->listener, hash_text(m->zone, hash_text(m->lb, 0)));
}

static bool fwmarks_same_name(const void *key, const void *item)
{
	return marks_compare(key, ((const struct engine_fwmark *)item)->m) == 0;
}

/* One that [kernel] marks has no room for any more only waits for its end. */
static void fwmarks_add(struct engine *e, const struct mark *m)
{
	struct engine_fwmark *item = mem_new(struct engine_fwmark);
	size_t index;

	item->m = marks_copy_mark(m);
	vec_find(&e->fwmarks.items, &m->mark, fwmarks_number_key, &index);
	vec_insert(&e->fwmarks.items, index, item);
	item->named = marks_within(&e->settings.marks, m->mark) &&
		      !table_find(&e->fwmarks.by_name, fwmarks_hash(m), m, fwmarks_same_name);
	if (item->named)
		table_add(&e->fwmarks.by_name, fwmarks_hash(m), item);
}

static void fwmarks_remove(struct engine *e, size_t index)
{
	struct engine_fwmark *item = e->fwmarks.items.items[index];

	vec_remove(&e->fwmarks.items, index);
	if (item->named)
		table_remove(&e->fwmarks.by_name, fwmarks_hash(item->m), item->m,
			     fwmarks_same_name);
	marks_free_mark(item->m);
	free(item);
}

void fwmarks_free(struct engine *e)
{
	while (e->fwmarks.items.count)
		fwmarks_remove(e, e->fwmarks.items.count - 1);
	vec_clear(&e->fwmarks.items);
	table_clear(&e->fwmarks.by_name);
	free(e->fwmarks.foreign);
}

/* ---- allotment ---- */

struct fwmarks_work {
	const struct engine *e;
	const struct snapshot *snapshot;
	struct vec list;    /* struct mark */
	uint32_t index;     /* the next one to be tried */
	struct err *faults; /* NULL: who gets none goes without */
};

static int fwmarks_compare_numbers(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a;
	const uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static bool fwmarks_is_foreign(const struct engine *e, uint32_t number)
{
	const struct engine_fwmarks *m = &e->fwmarks;

	for (size_t i = 0; i < m->use_count; i++) {
		const struct mark_space *use = &m->uses[i];

		if (((number ^ use->value) & use->mask) == 0)
			return true;
	}
	return m->foreign_count && bsearch(&number, m->foreign, m->foreign_count,
					   sizeof(*m->foreign), fwmarks_compare_numbers);
}

/* The lowest one that is free; 0 = there is none. */
static uint32_t fwmarks_take(struct fwmarks_work *w)
{
	const struct mark_space *space = &w->e->settings.marks;

	while (w->index < marks_count(space)) {
		uint32_t number = marks_at(space, w->index++);

		if (!fwmarks_hold(w->e, number) && !fwmarks_is_foreign(w->e, number))
			return number;
	}
	return 0;
}

/* Whether the document has a listener with a range of that name. */
static bool fwmarks_is_asked(const struct snapshot *s, const struct mark *m)
{
	const struct object_path path = {
		.kind = OBJECT_LISTENER, .parent = m->lb, .name = m->listener};
	const struct listener *l = (const struct listener *)snapshot_find(s, &path);

	return l && l->ports.to;
}

/* One that the document gives up, and that is held until the kernel has nothing of it. */
static const struct mark *fwmarks_find_leaving(const struct fwmarks_work *w)
{
	for (size_t i = 0; i < w->e->fwmarks.items.count; i++) {
		const struct engine_fwmark *item = w->e->fwmarks.items.items[i];

		if (item->named && !fwmarks_is_asked(w->snapshot, item->m))
			return item->m;
	}
	return NULL;
}

static void fwmarks_fault(struct fwmarks_work *w, const struct mark *m)
{
	const struct mark *leaving = fwmarks_find_leaving(w);
	char pointer[ERR_POINTER_MAX];

	if (!w->faults)
		return;
	snprintf(pointer, sizeof(pointer), "/load_balancers/%s/listeners/%s/port_range", m->lb,
		 m->listener);
	if (leaving) {
		err_set(w->faults, ERR_LIMIT, pointer,
			"no firewall mark is free for it: that of load_balancers/%s/listeners/%s is, once the "
			"kernel has nothing of it any more; take its range away first, by a change of its own, "
			"and then make this one",
			leaving->lb, leaving->listener);
		return;
	}
	err_set(w->faults, ERR_LIMIT, pointer,
		"no firewall mark is left for it: [kernel] marks of this node has %u, and each listener "
		"with a range takes one in each zone; give it a mask with fewer bits",
		marks_count(&w->e->settings.marks));
}

static void fwmarks_place(struct fwmarks_work *w, const struct load_balancer *lb,
			  const struct lb_zone *z, const struct listener *l)
{
	struct mark key = {.lb = lb->o.name, .zone = z->o.name, .listener = l->o.name};
	const struct engine_fwmark *known = table_find(&w->e->fwmarks.by_name, fwmarks_hash(&key),
						       &key, fwmarks_same_name);

	key.mark = known ? known->m->mark : fwmarks_take(w);
	if (key.mark)
		vec_push(&w->list, marks_copy_mark(&key));
	else
		fwmarks_fault(w, &key);
}

static void fwmarks_place_lb(struct fwmarks_work *w, const struct load_balancer *lb)
{
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		for (size_t j = 0; l->ports.to && j < lb->zones.count; j++) {
			const struct lb_zone *z = lb->zones.items[j];

			if (services_has_zone(w->e, z->o.name))
				fwmarks_place(w, lb, z, l);
		}
	}
}

/* Those of a document: of a disabled load balancer too, which keeps its own. NULL: it has none. */
static struct marks *fwmarks_make(const struct engine *e, const struct snapshot *s,
				  struct err *faults)
{
	struct fwmarks_work w = {.e = e, .snapshot = s, .faults = faults};

	for (size_t i = 0; i < s->load_balancers.count; i++)
		fwmarks_place_lb(&w, s->load_balancers.items[i]);
	return w.list.count ? marks_new(&w.list) : NULL;
}

void fwmarks_check(const struct engine *e, const struct snapshot *s, struct err *err)
{
	marks_unref(fwmarks_make(e, s, err));
}

void fwmarks_attach(const struct engine *e, struct snapshot *s)
{
	snapshot_set_marks(s, fwmarks_make(e, s, NULL));
}

static bool fwmarks_are_equal(const struct marks *a, const struct marks *b)
{
	if (!a || !b)
		return a == b;
	if (a->items.count != b->items.count)
		return false;
	for (size_t i = 0; i < a->items.count; i++) {
		const struct mark *x = a->items.items[i];
		const struct mark *y = b->items.items[i];

		if (x->mark != y->mark || marks_compare(x, y) != 0)
			return false;
	}
	return true;
}

/* Others may hold the snapshot in force already: one with other marks is another one. */
static void fwmarks_renew(struct engine *e)
{
	const struct batch none = {.revision = e->snapshot->revision,
				   .wall = e->snapshot->updated_wall};
	struct marks *next = fwmarks_make(e, e->snapshot, NULL);
	struct snapshot *old = e->snapshot;

	if (fwmarks_are_equal(old->marks, next)) {
		marks_unref(next);
		return;
	}
	e->snapshot = snapshot_apply(old, &none);
	snapshot_set_marks(e->snapshot, next);
	snapshot_unref(old);
}

/* ---- rows ---- */

static void fwmarks_key(uint32_t number, char buf[16])
{
	snprintf(buf, 16, "%u", number);
}

static char *fwmarks_value(const struct mark *m)
{
	return mem_printf("{\"lb\":\"%s\",\"zone\":\"%s\",\"listener\":\"%s\"}", m->lb, m->zone,
			  m->listener);
}

void fwmarks_note_candidates(const struct engine *e, const struct snapshot *s, struct vec *rows)
{
	char key[16];

	for (size_t i = 0; s->marks && i < s->marks->items.count; i++) {
		const struct mark *m = s->marks->items.items[i];

		if (fwmarks_hold(e, m->mark))
			continue;
		fwmarks_key(m->mark, key);
		rows_add(rows, MARKS_KIND, key, fwmarks_value(m));
	}
}

static char *fwmarks_member(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return (char *)(uintptr_t)text; /* borrowed: only read */
}

void fwmarks_load_row(struct engine *e, const struct store_row *row)
{
	json_t *json = row->value ? json_loads(row->value, 0, NULL) : NULL;
	const struct mark m = {.lb = fwmarks_member(json, "lb"),
			       .zone = fwmarks_member(json, "zone"),
			       .listener = fwmarks_member(json, "listener"),
			       .mark = (uint32_t)strtoul(row->key, NULL, 10)};

	if (m.lb && m.zone && m.listener && m.mark && !fwmarks_hold(e, m.mark))
		fwmarks_add(e, &m);
	json_decref(json);
}

/* ---- the ways of a mark ---- */

/* Not by a commit, which writes the row itself: the zones of the node or its marks were changed. */
static void fwmarks_get(struct engine *e, const struct mark *m)
{
	char key[16];

	if (fwmarks_hold(e, m->mark))
		return;
	fwmarks_add(e, m);
	fwmarks_key(m->mark, key);
	rows_put(e, MARKS_KIND, key, fwmarks_value(m));
}

void fwmarks_sync(struct engine *e)
{
	const struct marks *now;

	fwmarks_renew(e);
	now = e->snapshot->marks;
	for (size_t i = 0; i < e->fwmarks.items.count; i++)
		((struct engine_fwmark *)e->fwmarks.items.items[i])->wanted = false;
	for (size_t i = 0; now && i < now->items.count; i++) {
		const struct mark *m = now->items.items[i];
		struct engine_fwmark *item;

		fwmarks_get(e, m);
		item = fwmarks_find_number(e, m->mark);
		item->wanted = true;
		item->leaving = false;
	}
}

void fwmarks_plan(struct engine *e)
{
	for (size_t i = 0; i < e->fwmarks.items.count; i++) {
		struct engine_fwmark *m = e->fwmarks.items.items[i];

		if (m->wanted || m->leaving)
			continue;
		m->leaving = true;
		m->leave_after = e->lists_submitted + (e->ops.count ? 1 : 0);
	}
}

/* Whether something of it is still known here, and so in the kernel. */
static bool fwmarks_serves(const struct engine *e, uint32_t number)
{
	const struct plan_key v4 = {.family = AF_INET, .fwmark = number};
	const struct plan_key v6 = {.family = AF_INET6, .fwmark = number};

	return services_find(e, &v4) || services_find(e, &v6);
}

void fwmarks_finish(struct engine *e)
{
	char key[16];

	for (size_t i = e->fwmarks.items.count; i-- > 0;) {
		const struct engine_fwmark *m = e->fwmarks.items.items[i];

		if (m->wanted || !m->leaving || e->lists_done < m->leave_after || e->failing ||
		    e->guards.failing || fwmarks_serves(e, m->m->mark))
			continue;
		fwmarks_key(m->m->mark, key);
		if (!e->flushing)
			rows_put(e, MARKS_KIND, key, NULL);
		fwmarks_remove(e, i);
	}
}

void fwmarks_claim(struct engine *e, const struct ruleset *r)
{
	char nobody[] = "";
	bool any = false;

	for (size_t i = 0; i < r->set_count; i++) {
		const struct ruleset_id *id = &r->sets[i].id;
		const struct mark m = {.lb = nobody,
				       .zone = nobody,
				       .listener = nobody,
				       .mark = (uint32_t)id->uid};

		if (id->kind != RULESET_MARK || !m.mark || fwmarks_hold(e, m.mark))
			continue;
		fwmarks_add(e, &m);
		any = true;
	}
	if (any)
		acks_request_table(e); /* once more: now their services are found */
}

const struct mark_space *engine_mark_space(const struct engine *e)
{
	return &e->settings.marks;
}

size_t engine_mark_uses(const struct engine *e, struct mark_space *ret_uses, size_t size)
{
	return e->ports.kernel_mark_uses(e->ports.ctx, ret_uses, size);
}

void fwmarks_read_uses(struct engine *e)
{
	e->fwmarks.use_count = engine_mark_uses(e, e->fwmarks.uses, ENGINE_MARK_USES_MAX);
}

/* What others have taken is left to them. */
void fwmarks_note_table(struct engine *e, const struct plan_table *t)
{
	struct engine_fwmarks *m = &e->fwmarks;

	fwmarks_read_uses(e);
	m->foreign_count = 0;
	for (size_t i = 0; i < t->count; i++) {
		uint32_t number = t->services[i].key.fwmark;

		if (!number || fwmarks_hold(e, number))
			continue;
		m->foreign = mem_realloc_array(m->foreign, m->foreign_count + 1,
					       sizeof(*m->foreign));
		m->foreign[m->foreign_count++] = number;
	}
	if (m->foreign_count > 1)
		qsort(m->foreign, m->foreign_count, sizeof(*m->foreign), fwmarks_compare_numbers);
}
