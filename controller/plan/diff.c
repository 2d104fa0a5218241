// SPDX-License-Identifier: GPL-2.0-or-later
// Desired against actual: one walk over two sorted arrays, whole records compared by the tables below. A new IPVS attribute
// is one row there. What the kernel ignores (a netmask without persistence, a tunnel port without a tunnel) is not compared.
#include "plan/diff.h"

#include <errno.h>
#include <linux/ip_vs.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum diff_when { DIFF_ALWAYS = 1, DIFF_PERSISTENT = 2, DIFF_TUNNEL = 4 };

struct diff_field {
	size_t offset;
	size_t size;
	enum diff_when when; /* judged by the desired record */
	enum plan_change change;
};

#define FIELD(type, member, when, change)                                                       \
	{                                                                                       \
		offsetof(struct type, member), sizeof(((struct type *)0)->member), when, change \
	}

static const struct diff_field diff_service_fields[] = {
	FIELD(plan_service, scheduler, DIFF_ALWAYS, PLAN_CHANGE_SCHEDULER),
	FIELD(plan_service, engine, DIFF_ALWAYS, PLAN_CHANGE_ENGINE),
	FIELD(plan_service, flags, DIFF_ALWAYS, PLAN_CHANGE_FLAGS),
	FIELD(plan_service, timeout, DIFF_PERSISTENT, PLAN_CHANGE_FLAGS),
	FIELD(plan_service, netmask, DIFF_PERSISTENT, PLAN_CHANGE_NETMASK),
};

static const struct diff_field diff_dest_fields[] = {
	FIELD(plan_dest, forward, DIFF_ALWAYS, PLAN_CHANGE_FORWARD),
	FIELD(plan_dest, tunnel_type, DIFF_TUNNEL, PLAN_CHANGE_FORWARD),
	FIELD(plan_dest, tunnel_port, DIFF_TUNNEL, PLAN_CHANGE_TUNNEL),
	FIELD(plan_dest, tunnel_flags, DIFF_TUNNEL, PLAN_CHANGE_TUNNEL),
	FIELD(plan_dest, weight, DIFF_ALWAYS, PLAN_CHANGE_WEIGHT),
	FIELD(plan_dest, upper, DIFF_ALWAYS, PLAN_CHANGE_LIMITS),
	FIELD(plan_dest, lower, DIFF_ALWAYS, PLAN_CHANGE_LIMITS),
};

/* What differs: enum plan_change; 0 = nothing. */
static uint8_t diff_fields_compare(const struct diff_field *fields, size_t count, unsigned when,
				   const void *a, const void *b)
{
	unsigned changes = 0;

	for (size_t i = 0; i < count; i++) {
		const struct diff_field *f = &fields[i];

		if ((f->when & when) &&
		    memcmp((const char *)a + f->offset, (const char *)b + f->offset, f->size) != 0)
			changes |= f->change;
	}
	return (uint8_t)changes;
}

static uint8_t diff_services_compare(const struct plan_service *desired,
				     const struct plan_service *actual)
{
	unsigned when = DIFF_ALWAYS |
			(desired->flags & IP_VS_SVC_F_PERSISTENT ? DIFF_PERSISTENT : 0);

	return diff_fields_compare(diff_service_fields,
				   sizeof(diff_service_fields) / sizeof(diff_service_fields[0]),
				   when, desired, actual);
}

static uint8_t diff_dests_compare(const struct plan_dest *desired, const struct plan_dest *actual)
{
	unsigned when = DIFF_ALWAYS | (desired->forward == IP_VS_CONN_F_TUNNEL ? DIFF_TUNNEL : 0);

	return diff_fields_compare(diff_dest_fields,
				   sizeof(diff_dest_fields) / sizeof(diff_dest_fields[0]), when,
				   desired, actual);
}

/* Where operations go: what adds at once, what takes away to the end. */
struct diff_output {
	struct plan_ops *ops;
	struct plan_ops deletions;
};

static struct plan_op *diff_push(struct plan_ops *ops, enum plan_op_kind kind,
				 const struct plan_service *s)
{
	struct plan_op *op = plan_ops_push(ops, kind);

	op->service = *s;
	op->service.dests = NULL;
	op->service.counts = NULL;
	op->service.dest_count = 0;
	op->service.stats = (struct plan_stats){0};
	return op;
}

static void diff_append(struct diff_output *out)
{
	for (size_t i = 0; i < out->deletions.count; i++)
		*plan_ops_push(out->ops, out->deletions.ops[i].kind) = out->deletions.ops[i];
	plan_ops_clear(&out->deletions);
}

static void diff_edit_dest(const struct plan_service *s, const struct plan_dest *desired,
			   const struct plan_dest *actual, struct diff_output *out)
{
	const uint8_t changes = diff_dests_compare(desired, actual);
	struct plan_op *op;

	if (!changes)
		return;
	op = diff_push(out->ops, PLAN_EDIT_DEST, s);
	op->dest = *desired;
	op->changes = changes;
}

static void diff_walk_dests(const struct plan_service *desired, const struct plan_service *actual,
			    struct diff_output *out)
{
	size_t actual_count = actual ? actual->dest_count : 0;
	size_t i = 0;
	size_t j = 0;

	while (i < desired->dest_count || j < actual_count) {
		int order = i == desired->dest_count ? 1
			    : j == actual_count
				    ? -1
				    : plan_dest_compare(&desired->dests[i], &actual->dests[j]);

		if (order < 0)
			diff_push(out->ops, PLAN_ADD_DEST, desired)->dest = desired->dests[i];
		else if (order > 0)
			diff_push(&out->deletions, PLAN_DELETE_DEST, desired)->dest =
				actual->dests[j];
		else
			diff_edit_dest(desired, &desired->dests[i], &actual->dests[j], out);
		i += order <= 0;
		j += order >= 0;
	}
}

static void diff_walk_service(const struct plan_service *desired, const struct plan_service *actual,
			      struct diff_output *out)
{
	if (!desired) {
		if (actual)
			diff_push(&out->deletions, PLAN_DELETE_SERVICE, actual);
		return;
	}
	const uint8_t changes = actual ? diff_services_compare(desired, actual) : 0;

	if (!actual)
		diff_push(out->ops, PLAN_ADD_SERVICE, desired);
	else if (changes)
		diff_push(out->ops, PLAN_EDIT_SERVICE, desired)->changes = changes;
	diff_walk_dests(desired, actual, out);
}

void diff_service(const struct plan_service *desired, const struct plan_service *actual,
		  struct plan_ops *ops)
{
	struct diff_output out = {.ops = ops};

	assert(!desired || !actual || !plan_key_compare(&desired->key, &actual->key));
	diff_walk_service(desired, actual, &out);
	diff_append(&out);
}

void diff_tables(const struct plan_table *desired, const struct plan_table *actual,
		 diff_owned_fn *owned, void *ctx, struct plan_ops *ops)
{
	struct diff_output out = {.ops = ops};
	size_t i = 0;
	size_t j = 0;

	while (i < desired->count || j < actual->count) {
		const struct plan_service *d = i < desired->count ? &desired->services[i] : NULL;
		const struct plan_service *a = j < actual->count ? &actual->services[j] : NULL;
		int order = !d ? 1 : !a ? -1 : plan_key_compare(&d->key, &a->key);

		if (order <= 0)
			diff_walk_service(d, order ? NULL : a, &out);
		else if (owned(ctx, &a->key))
			diff_walk_service(NULL, a, &out);
		i += order <= 0;
		j += order >= 0;
	}
	diff_append(&out);
}

/* ---- operations on a table in memory ------------------------------------------------------- */

/* Where a service with this key belongs. */
static size_t diff_service_place(const struct plan_table *t, const struct plan_key *k)
{
	size_t low = 0;
	size_t high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plan_key_compare(&t->services[middle].key, k) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t diff_dest_place(const struct plan_service *s, const struct plan_dest *d)
{
	size_t low = 0;
	size_t high = s->dest_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plan_dest_compare(&s->dests[middle], d) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int diff_apply_service(struct plan_table *t, const struct plan_op *op)
{
	size_t place = diff_service_place(t, &op->service.key);
	struct plan_service *s;

	t->services = mem_realloc_array(t->services, t->count + 1, sizeof(*t->services));
	s = t->services + place;
	memmove(s + 1, s, (t->count - place) * sizeof(*s));
	plan_service_copy(&op->service, s);
	t->count++;
	return 0;
}

static void diff_apply_edit(struct plan_service *s, const struct plan_service *to)
{
	memcpy(s->scheduler, to->scheduler, sizeof(s->scheduler));
	memcpy(s->engine, to->engine, sizeof(s->engine));
	s->flags = to->flags;
	s->timeout = to->timeout;
	s->netmask = to->netmask;
}

static void diff_apply_delete(struct plan_table *t, struct plan_service *s)
{
	size_t place = (size_t)(s - t->services);

	plan_service_clear(s);
	t->count--;
	memmove(s, s + 1, (t->count - place) * sizeof(*s));
}

static void diff_insert_dest(struct plan_service *s, const struct plan_dest *d)
{
	size_t place = diff_dest_place(s, d);

	s->dests = mem_realloc_array(s->dests, s->dest_count + 1, sizeof(*s->dests));
	memmove(s->dests + place + 1, s->dests + place,
		(s->dest_count - place) * sizeof(*s->dests));
	s->dests[place] = *d;
	if (s->counts) {
		s->counts = mem_realloc_array(s->counts, s->dest_count + 1, sizeof(*s->counts));
		memmove(s->counts + place + 1, s->counts + place,
			(s->dest_count - place) * sizeof(*s->counts));
		s->counts[place] = (struct plan_dest_counts){0};
	}
	s->dest_count++;
}

static void diff_remove_dest(struct plan_service *s, struct plan_dest *d)
{
	size_t place = (size_t)(d - s->dests);

	s->dest_count--;
	memmove(d, d + 1, (s->dest_count - place) * sizeof(*d));
	if (s->counts)
		memmove(s->counts + place, s->counts + place + 1,
			(s->dest_count - place) * sizeof(*s->counts));
}

static int diff_apply_dest(struct plan_service *s, const struct plan_op *op)
{
	struct plan_dest *d = plan_service_find(s, &op->dest.address, op->dest.port);

	if (op->kind == PLAN_ADD_DEST) {
		if (d)
			return -EEXIST;
		diff_insert_dest(s, &op->dest);
		return 0;
	}
	if (!d)
		return -ENOENT;
	if (op->kind == PLAN_EDIT_DEST)
		*d = op->dest;
	else
		diff_remove_dest(s, d);
	return 0;
}

int diff_apply_op(struct plan_table *t, const struct plan_op *op)
{
	struct plan_service *s = plan_table_find(t, &op->service.key);

	switch (op->kind) {
	case PLAN_SET_TIMEOUTS:
		for (size_t i = 0; i < PLAN_TIMEOUTS; i++)
			if (op->timeouts.s[i])
				t->timeouts.s[i] = op->timeouts.s[i];
		return 0;
	case PLAN_SET_SYSCTL:
	case PLAN_ADD_ADDRESS:
	case PLAN_DELETE_ADDRESS:
	case PLAN_FILL_SET:
	case PLAN_ADD_SET:
	case PLAN_ADD_ENTRY:
	case PLAN_SET_RULES:
	case PLAN_DELETE_RULES:
	case PLAN_DELETE_ENTRY:
	case PLAN_DELETE_SET:
	case PLAN_OP_KIND_COUNT:
		return 0;
	case PLAN_ADD_SERVICE:
		return s ? -EEXIST : diff_apply_service(t, op);
	case PLAN_EDIT_SERVICE:
		if (s)
			diff_apply_edit(s, &op->service);
		break;
	case PLAN_DELETE_SERVICE:
		if (s)
			diff_apply_delete(t, s);
		break;
	case PLAN_ADD_DEST:
	case PLAN_EDIT_DEST:
	case PLAN_DELETE_DEST:
		if (s)
			return diff_apply_dest(s, op);
		break;
	}
	return s ? 0 : -ESRCH;
}
