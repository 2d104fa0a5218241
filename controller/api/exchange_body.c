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
#include "model/entries_text.h"

#include <stdlib.h>
#include <string.h>

/* What is made of a body. */
struct body_made {
	json_t *json;
	struct entries_reader *reader; /* what it is made of, instead of bytes */
	struct entries *entries;
	struct err faults;
	struct body_charge *charge;
	bool busy; /* it has values enough of others */
};

/* What an access list of the largest text takes, as a draft and as a list. */
#define TEXT_CHARGE (64U * 1024 * 1024)
_Static_assert(2 * TEXT_CHARGE <= HTTPD_VALUES_MAX, "two at once");

_Static_assert((size_t)BODY_VALUES_MAX *BODY_VALUE_BYTES <= HTTPD_VALUES_MAX,
	       "what one may send is taken when nobody else sends");

/* A body on the worker. `exchange` is NULL when nobody waits any more. */
struct body_job {
	struct worker_job job;
	struct exchange *exchange;
	struct exchange_list *list;
	char *data;
	size_t size;
	size_t charged; /* when nobody waits any more: else the exchange has it */
	struct body_made made;
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
	entries_reader_free(x->reader);
	x->reader = NULL;
	x->data = NULL;
	x->size = x->capacity = 0;
}

void exchange_body_abandon(struct exchange *x)
{
	if (!x->parsing)
		return;
	worker_drop(x->list->settings->context->worker, &x->parsing->job);
	x->parsing->charged = x->charged;
	x->charged = 0;
	x->parsing->exchange = NULL;
	x->parsing = NULL;
}

void exchange_body_settle(struct exchange *x)
{
	struct request *r = x->request;

	x->list->held -= x->charged;
	x->charged = 0;
	json_decref(r->json);
	r->json = NULL;
	entries_unref(r->entries);
	r->entries = NULL;
	body_charge_unref(r->charge);
	r->charge = NULL;
}

unsigned exchange_body_most(const struct route *route)
{
	if (route && route->flags & ROUTE_TEXT)
		return ENTRIES_TEXT_MAX;
	return route && route->flags & ROUTE_LARGE ? BODY_SIZE_MAX : BODY_INLINE_MAX;
}

static size_t exchange_body_held_by_source(const struct exchange *x)
{
	size_t held = 0;

	for (const struct exchange *other = x->list->first; other; other = other->next)
		if (conns_same_source(other->conn, x->conn))
			held += other->capacity + other->charged;
	return held;
}

/* A small one is always taken; those are as many as there are connections. */
static bool exchange_body_has_room(struct exchange *x, size_t size)
{
	if (x->size + size <= BODY_INLINE_MAX)
		return true;
	if (x->request->route->flags & ROUTE_TEXT) {
		if (!x->request->charge)
			x->request->charge = body_charge_new(x->list->values, TEXT_CHARGE);
		return x->request->charge != NULL;
	}
	return x->list->held + size <= HTTPD_BODIES_MAX &&
	       exchange_body_held_by_source(x) + size <= HTTPD_BODIES_SOURCE_MAX;
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
	unsigned most;

	if (x->draining) {
		x->size += size;
		if (x->size > EXCHANGE_DRAIN_MAX)
			exchange_answer_outside(x);
		return false;
	}
	most = exchange_body_most(x->request->route);
	if (size > most - x->size)
		request_fail(x->request, PROBLEM_TOO_LARGE,
			     "at most %u bytes of body are taken here", most);
	else if (!exchange_body_has_room(x, size))
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
	if (x->request->route && x->request->route->flags & ROUTE_TEXT) {
		if (!x->reader)
			x->reader = entries_reader_new();
		entries_reader_take(x->reader, data, size);
		x->size += size;
		return;
	}
	exchange_body_grow(x, x->size + size);
	memcpy(x->data + x->size, data, size);
	x->size += size;
}

/* On any thread. */
static void exchange_body_make(struct exchange_list *l, const char *data, size_t size,
			       struct body_made *m)
{
	size_t values;

	if (m->reader) {
		m->entries = entries_reader_finish(m->reader, &m->faults);
		entries_reader_free(m->reader);
		m->reader = NULL;
		return;
	}
	if (body_measure(data, size, &m->faults, &values))
		return;
	if (values > BODY_VALUES_SMALL) {
		m->charge = body_charge_new(l->values, values * BODY_VALUE_BYTES);
		m->busy = !m->charge;
	}
	if (!m->busy)
		body_parse(data, size, &m->faults, &m->json);
}

/* Takes what was made. */
static void exchange_body_serve(struct exchange *x, struct body_made *m)
{
	struct request *r = x->request;

	r->json = m->json;
	r->entries = m->entries;
	if (m->charge)
		r->charge = m->charge;
	if (m->busy) {
		metrics_add(METRIC_HTTP_REJECTED, 1);
		request_fail(r, PROBLEM_BUSY, "too many large bodies at once");
	} else if (err_any(&m->faults)) {
		request_fail_faults(r, &m->faults);
	} else {
		r->route->handler(r);
	}
	err_clear(&m->faults);
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
	exchange_body_make(b->list, b->data, b->size, &b->made);
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
		exchange_body_serve(b->exchange, &b->made);
	} else {
		json_decref(b->made.json);
		entries_unref(b->made.entries);
		entries_reader_free(b->made.reader); /* if its work has not begun */
		err_clear(&b->made.faults);
		body_charge_unref(b->made.charge);
		b->list->held -= b->charged;
	}
	exchange_body_wipe(b->data, b->size);
	free(b);
}

static void exchange_body_parse_later(struct exchange *x)
{
	struct body_job *b = mem_new(struct body_job);

	b->job.work = exchange_body_work;
	b->job.done = exchange_body_done;
	b->exchange = x;
	b->list = x->list;
	b->data = x->data;
	b->size = x->size;
	b->made.reader = x->reader;
	x->reader = NULL;
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
	struct body_made made = {0};
	struct request *r = x->request;

	if ((r->route->flags & (ROUTE_BODY | ROUTE_TEXT)) && x->size > BODY_INLINE_MAX) {
		exchange_body_parse_later(x);
		return;
	}
	if (r->route->flags & ROUTE_TEXT) {
		made.reader = x->reader ? x->reader : entries_reader_new();
		x->reader = NULL;
	}
	if (r->route->flags & (ROUTE_BODY | ROUTE_TEXT))
		exchange_body_make(x->list, x->data, x->size, &made);
	exchange_body_drop(x);
	exchange_body_serve(x, &made);
}
