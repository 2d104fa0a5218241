// SPDX-License-Identifier: GPL-2.0-or-later
// Bodies as they come in, and what is made of them: here if they are small, else on the worker.
#include "api/exchange_body.h"

#include "api/body.h"
#include "api/context.h"
#include "api/exchange_answer.h"
#include "api/handlers.h"
#include "api/router.h"
#include "api/worker.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <stdlib.h>
#include <string.h>

/* A body on the worker. `exchange` is NULL when nobody waits any more. */
struct body_job {
	struct worker_job job;
	struct exchange *exchange;
	char *data;
	size_t size;
	json_t *json;
	struct err faults;
	bool digest_first;      /* and no more, if it is … */
	struct same_body known; /* … this one */
	uint8_t digest[SAME_BODY_DIGEST];
	bool repeated;
};

/* A body may hold a password. NULL-safe. */
static void exchange_body_wipe(char *data, size_t size)
{
	if (data)
		explicit_bzero(data, size);
	free(data);
}

void exchange_body_drop(struct exchange *x)
{
	x->list->held -= x->capacity;
	exchange_body_wipe(x->data, x->size);
	x->data = NULL;
	x->size = x->capacity = 0;
}

void exchange_body_abandon(struct exchange *x)
{
	if (!x->parsing)
		return;
	worker_drop(x->list->settings->context->worker, &x->parsing->job);
	x->parsing->exchange = NULL;
	x->parsing = NULL;
}

static void exchange_body_grow(struct exchange *x, size_t need)
{
	size_t capacity = x->capacity ? x->capacity : 4096;

	while (capacity < need)
		capacity *= 2;
	if (capacity == x->capacity)
		return;
	x->data = mem_realloc_array(x->data, capacity, 1);
	x->list->held += capacity - x->capacity;
	x->capacity = capacity;
}

/* False: the body is not wanted, or no more of it. */
static bool exchange_body_wants(struct exchange *x, size_t size)
{
	if (x->draining) {
		x->size += size;
		if (x->size > EXCHANGE_DRAIN_MAX)
			exchange_answer_outside(x);
		return false;
	}
	if (size > BODY_SIZE_MAX - x->size)
		request_fail(x->request, PROBLEM_TOO_LARGE, "at most %u bytes of body are taken",
			     BODY_SIZE_MAX);
	else if (x->list->held + size > HTTPD_BODIES_MAX)
		request_fail(x->request, PROBLEM_BUSY, "too many large bodies at once");
	else
		return true;
	metrics_add(METRIC_HTTP_REJECTED, 1);
	exchange_answer_outside(x);
	return false;
}

void exchange_body_take(struct exchange *x, const char *data, size_t size)
{
	if (x->discarding || !exchange_body_wants(x, size))
		return;
	exchange_body_grow(x, x->size + size);
	memcpy(x->data + x->size, data, size);
	x->size += size;
}

static void exchange_body_serve(struct exchange *x, const struct err *faults)
{
	if (err_any(faults))
		request_fail_faults(x->request, faults);
	else
		x->request->route->handler(x->request);
}

static void exchange_body_work(struct worker_job *job)
{
	struct body_job *b = (struct body_job *)job;

	if (b->digest_first) {
		same_body_digest(b->data, b->size, b->digest);
		b->repeated = same_body_holds(&b->known, b->digest, b->known.revision);
	}
	if (b->repeated)
		return;
	body_parse(b->data, b->size, &b->faults, &b->json);
}

/* False: what was known of the document when it was given to the worker is no longer so. */
static bool exchange_body_take_digest(struct exchange *x, const struct body_job *b)
{
	struct request *r = x->request;

	memcpy(r->digest, b->digest, sizeof(r->digest));
	r->digested = b->digest_first;
	r->repeated = b->repeated;
	return !b->repeated || handlers_write_repeats(r);
}

static void exchange_body_done(struct worker_job *job)
{
	struct body_job *b = (struct body_job *)job;

	if (b->exchange && !exchange_body_take_digest(b->exchange, b)) {
		b->repeated = b->known.known = false;
		request_submit(b->exchange->request, &b->job);
		return;
	}
	if (b->exchange) {
		b->exchange->parsing = NULL;
		b->exchange->request->json = b->json;
		exchange_body_serve(b->exchange, &b->faults);
	} else {
		json_decref(b->json);
	}
	exchange_body_wipe(b->data, b->size);
	err_clear(&b->faults);
	free(b);
}

static void exchange_body_parse_later(struct exchange *x)
{
	struct body_job *b = mem_new(struct body_job);

	b->job.work = exchange_body_work;
	b->job.done = exchange_body_done;
	b->exchange = x;
	b->data = x->data;
	b->size = x->size;
	/* It comes back as values, which are larger: they count for no less. */
	x->charged = x->capacity;
	x->data = NULL;
	x->size = x->capacity = 0;
	b->digest_first = (x->request->route->flags & ROUTE_REPEATS) != 0;
	b->known = x->list->settings->context->document;
	x->parsing = b;
	request_submit(x->request, &b->job);
}

void exchange_body_hand_over(struct exchange *x)
{
	AUTO_ERR struct err faults = {0};
	struct request *r = x->request;

	if ((r->route->flags & ROUTE_BODY) && x->size > BODY_INLINE_MAX) {
		exchange_body_parse_later(x);
		return;
	}
	if (r->route->flags & ROUTE_BODY)
		body_parse(x->data, x->size, &faults, &r->json);
	exchange_body_drop(x);
	exchange_body_serve(x, &faults);
}
