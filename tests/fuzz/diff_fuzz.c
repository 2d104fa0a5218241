// SPDX-License-Identifier: GPL-2.0-or-later
// Two tables from the bytes: what diff makes of them must turn one into the other and leave foreign services alone. Also
// service by service, on the table as it was read, whose counts of connections must stay with their servers.
#include "unit/plan_tables.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A server that was there before has its counts still; a new one begins with none. */
static void check_counts(const struct plan_service *before, const struct plan_service *after)
{
	assert(!after->dest_count || after->counts || !before);
	for (size_t i = 0; after->counts && i < after->dest_count; i++) {
		const struct plan_dest *d = &after->dests[i];
		struct plan_service search = before ? *before : (struct plan_service){0};
		const struct plan_dest *was = plan_service_find(&search, &d->address, d->port);

		assert(after->counts[i].active == (was ? was->weight : 0));
	}
}

static void apply_all(struct plan_table *t, const struct plan_ops *ops)
{
	for (size_t i = 0; i < ops->count; i++)
		assert(diff_apply_op(t, &ops->ops[i]) == 0);
}

/* Once more: what adds and what takes away is refused, what sets changes nothing. */
static void check_again(struct plan_table *t, const struct plan_ops *ops)
{
	static const int refused[PLAN_OP_KIND_COUNT] = {
		[PLAN_ADD_SERVICE] = -EEXIST,
		[PLAN_ADD_DEST] = -EEXIST,
		[PLAN_DELETE_SERVICE] = -ESRCH,
		[PLAN_DELETE_DEST] = -ENOENT,
	};

	for (size_t i = 0; i < ops->count; i++)
		assert(diff_apply_op(t, &ops->ops[i]) == refused[ops->ops[i].kind]);
}

static void check_service(const struct plan_service *desired, const struct plan_table *before,
			  struct plan_table *actual)
{
	struct plan_ops ops = {0};
	const struct plan_service *after;

	diff_service(desired, plan_table_find(actual, &desired->key), &ops);
	apply_all(actual, &ops);
	after = plan_table_find(actual, &desired->key);
	assert(after && tables_same_service(desired, after));
	check_counts(plan_table_find(before, &desired->key), after);
	check_again(actual, &ops);
	plan_ops_clear(&ops);
	diff_service(desired, after, &ops);
	assert(ops.count == 0);
}

/* Those that are in the way alone are deleted one by one. */
static void check_deletion(const struct plan_table *desired, const struct plan_table *before,
			   struct plan_table *actual)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct plan_key *key = &before->services[i].key;
		struct plan_ops ops = {0};

		if (plan_table_find(desired, key))
			continue;
		diff_service(NULL, plan_table_find(actual, key), &ops);
		assert(ops.count == 1);
		apply_all(actual, &ops);
		assert(!plan_table_find(actual, key));
		check_again(actual, &ops);
		plan_ops_clear(&ops);
	}
	assert(actual->count == desired->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf_reader r;
	struct plan_table *desired;
	struct plan_table *actual;
	struct plan_table *before;

	buf_reader_init(&r, data, size);
	desired = tables_read(&r);
	actual = tables_read(&r);
	before = tables_copy(actual);
	tables_check_property(desired, actual);
	for (size_t i = 0; i < desired->count; i++)
		check_service(&desired->services[i], before, actual);
	check_deletion(desired, before, actual);
	plan_table_free(desired);
	plan_table_free(actual);
	plan_table_free(before);
	return 0;
}
