// SPDX-License-Identifier: GPL-2.0-or-later
// How often the entries of an access list decided, as this node's kernel counts it.
#include "api/handlers.h"

#include "api/absent.h"
#include "api/context.h"
#include "api/reply.h"
#include "api/router.h"
#include "base/mem.h"
#include "engine/status.h"
#include "model/entries_text.h"
#include "plan/hits.h"

#include <stdlib.h>
#include <string.h>

#define HITS_SHOWN_MAX 1000

struct hits_op {
	struct request *request; /* NULL: nobody waits any more */
	struct api_context *api;
	struct entries *entries; /* as they were when it was asked */
};

static void hits_op_free(struct hits_op *op)
{
	entries_unref(op->entries);
	free(op);
}

static void hits_op_forget(void *operation)
{
	struct hits_op *op = operation;

	engine_cancel_hits(op->api->engine, op);
	hits_op_free(op);
}

static int hits_compare(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return (x->packets < y->packets) - (x->packets > y->packets);
}

/* Those that were hit, the most packets first. Caller frees. */
static struct hit *hits_rank(const struct hits *h, size_t *ret_count)
{
	struct hit *ranked = mem_alloc_array(h->count + 1, sizeof(*ranked));
	size_t count = 0;

	for (size_t i = 0; i < h->count; i++)
		if (h->items[i].packets > 0)
			ranked[count++] = h->items[i];
	qsort(ranked, count, sizeof(*ranked), hits_compare);
	*ret_count = count;
	return ranked;
}

/* One that was changed meanwhile has no action any more. */
static json_t *hits_encode(const struct hits_op *op, const struct hit *hit)
{
	const struct entry key = {.net = hit->net, .length = hit->length};
	const struct entry *x = entries_find(op->entries, &hit->net, hit->length);
	char cidr[ENTRIES_CIDR_MAX];

	return json_pack("{s:s, s:s?, s:s, s:I, s:I}", "cidr", entries_format_cidr(&key, cidr),
			 "action", x ? entries_action_name((enum access_action)x->action) : NULL,
			 "comment", x ? x->comment : "", "packets", (json_int_t)hit->packets,
			 "bytes", (json_int_t)hit->bytes);
}

static json_t *hits_encode_all(const struct hits_op *op, const struct hits *h)
{
	static const struct hits none;
	const struct hits *shown = h ? h : &none;
	json_t *items = json_array();
	AUTO_FREE struct hit *ranked = NULL;
	size_t count;

	ranked = hits_rank(shown, &count);
	for (size_t i = 0; i < count && i < HITS_SHOWN_MAX; i++)
		json_array_append_new(items, hits_encode(op, &ranked[i]));
	return json_pack("{s:b, s:o, s:I, s:{s:I, s:I}}", "available", h != NULL, "entries", items,
			 "entries_total", (json_int_t)count, "default", "packets",
			 (json_int_t)shown->default_packets, "bytes",
			 (json_int_t)shown->default_bytes);
}

static void hits_op_on_hits(void *ctx, const struct hits *h)
{
	struct hits_op *op = ctx;

	request_reply_json(op->request, 200, hits_encode_all(op, h));
	hits_op_free(op);
}

void handlers_hits_get(struct request *r)
{
	const struct access_list *a;
	struct object_path path;
	struct hits_op *op;

	if (reply_find_path(r, &path))
		return;
	a = snapshot_find_access_list(engine_snapshot(r->api->engine), path.name);
	if (!a) {
		absent_refuse(r, &path);
		return;
	}
	op = mem_new(struct hits_op);
	op->request = r;
	op->api = r->api;
	op->entries = entries_ref(a->entries);
	request_wait(r, op, hits_op_forget);
	engine_request_hits(r->api->engine, a->o.uid, hits_op_on_hits, op);
}
