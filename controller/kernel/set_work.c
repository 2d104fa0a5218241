// SPDX-License-Identifier: GPL-2.0-or-later
// Entries go many in a message; when one of them is refused, those of its message are done again one by one, which does no harm.
#include "kernel/set_work.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/set_parse.h"
#include "kernel/setlib.h"

#define ELEMENTS_MAX  1048576
#define WORK_TOGETHER 1024 /* entries whose results are known together */

/* ---- operations ----------------------------------------------------------------------------- */

static bool set_work_is_entry(const struct plan_op *op)
{
	return op->kind == PLAN_ADD_ENTRY || op->kind == PLAN_DELETE_ENTRY;
}

static int set_work_entry(struct setlib *l, const struct plan_op *op, uint32_t number)
{
	const struct setlib_element e = {.address = &op->entry.address,
					 .protocol = op->entry.protocol,
					 .port = op->entry.port};
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

void set_work_run(struct setlib *l, struct plan_op *ops, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t n = 0;

		while (i + n < count && n < WORK_TOGETHER && set_work_is_entry(&ops[i + n]))
			n++;
		if (n) {
			set_work_together(l, &ops[i], n);
			i += n;
		} else {
			ops[i].result = set_work_set(l, &ops[i]);
			i++;
		}
	}
}

/* ---- the look ------------------------------------------------------------------------------- */

struct set_look {
	struct ruleset found;
	struct ruleset_id id; /* that is read */
	bool other;           /* it is of another type */
};

static int set_work_on_name(void *ctx, const char *line)
{
	struct set_look *look = ctx;
	struct ruleset_id id;

	if (ruleset_parse_id(line, &id))
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
		look->other = strcmp(l.type, setlib_type_name(ruleset_type_of(look->id.kind))) != 0;
		return 0;
	}
	e = ruleset_push(&look->found);
	e->set = look->id;
	e->address = l.address;
	e->protocol = l.protocol;
	e->port = l.port;
	return 0;
}

/* Reads them one after the other; those that are gone meanwhile, or not ours, are dropped. */
static int set_work_read(struct setlib *l, struct set_look *look)
{
	struct ruleset *r = &look->found;
	size_t kept = 0;

	for (size_t i = 0; i < r->set_count; i++) {
		char name[RULESET_NAME_MAX];
		int error;

		look->id = r->sets[i].id;
		look->other = false;
		error = setlib_list(l, ruleset_format_id(&look->id, name), set_work_on_line, look);
		if (error && error != -ENOENT)
			return error;
		if (!error && !look->other)
			r->sets[kept++] = r->sets[i];
	}
	r->set_count = kept;
	return 0;
}

int set_work_look(struct setlib *l, struct ruleset *ret_found)
{
	struct set_look look = {0};
	int r = setlib_list_names(l, set_work_on_name, &look);

	if (!r)
		r = set_work_read(l, &look);
	if (r) {
		ruleset_clear(&look.found);
		return r;
	}
	ruleset_sort(&look.found);
	*ret_found = look.found;
	return 0;
}
