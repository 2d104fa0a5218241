// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/document_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ev.h>
#include <pthread.h>
#include <string.h>

#include "api/body_charge.h"
#include "api/context.h"
#include "api/worker.h"
#include "base/mem.h"

/* A worker whose first job holds it until the gate is opened. */
struct bench {
	struct api_context api;
	struct worker_job gate;
	pthread_mutex_t closed;
	struct snapshot *snapshot;
};

static void gate_work(struct worker_job *job)
{
	struct bench *b = (struct bench *)((char *)job - offsetof(struct bench, gate));

	pthread_mutex_lock(&b->closed);
	pthread_mutex_unlock(&b->closed);
}

static void gate_done(struct worker_job *job)
{
	(void)job;
}

static void bench_start(struct bench *b)
{
	*b = (struct bench){.gate = {.work = gate_work, .done = gate_done}};
	b->api.loop = ev_loop_new(0);
	b->api.worker = worker_new(b->api.loop, USEC_PER_SEC);
	b->api.answers = body_budget_new(1 << 20);
	b->snapshot = snapshot_new();
	b->snapshot->revision = 7;
	pthread_mutex_init(&b->closed, NULL);
	pthread_mutex_lock(&b->closed);
	worker_submit(b->api.worker, &b->gate);
}

static void bench_end(struct bench *b)
{
	assert_null(b->api.texts);
	worker_free(b->api.worker);
	assert_int_equal(body_budget_used(b->api.answers), 0);
	body_budget_unref(b->api.answers);
	ev_loop_destroy(b->api.loop);
	assert_int_equal(b->snapshot->refs, 1);
	snapshot_unref(b->snapshot);
	pthread_mutex_destroy(&b->closed);
}

static struct request *ask(struct bench *b, enum document_view view)
{
	struct request *r = request_new(&b->api, "/api/v1/config");

	r->method = METHOD_GET;
	document_text_reply(r, b->snapshot, view);
	return r;
}

/* Runs the loop until it is replied to, a thousand turns at most. */
static void wait_for(const struct bench *b, const struct request *r)
{
	for (int i = 0; i < 1000 && !r->replied; i++)
		ev_run(b->api.loop, EVRUN_ONCE);
	assert_true(r->replied);
	assert_int_equal(r->status, 200);
	assert_string_equal(r->content_type, "application/json");
	assert_int_equal(r->body_size, strlen(r->body));
}

static void document_text_is_shared(void **state)
{
	struct bench b;
	struct request *first, *second, *config, *late;

	(void)state;
	bench_start(&b);
	first = ask(&b, DOCUMENT_HEADS);
	second = ask(&b, DOCUMENT_HEADS);
	config = ask(&b, DOCUMENT_CONFIG);
	assert_false(first->replied || second->replied);
	pthread_mutex_unlock(&b.closed);
	wait_for(&b, first);
	wait_for(&b, second);
	wait_for(&b, config);
	assert_ptr_equal(first->body, second->body);
	assert_ptr_not_equal(first->body, config->body);
	assert_int_equal(b.snapshot->refs, 1);
	/* Who comes while one is still being sent has it at once. */
	request_free(first);
	late = ask(&b, DOCUMENT_HEADS);
	assert_true(late->replied);
	assert_ptr_equal(late->body, second->body);
	request_free(second);
	assert_true(late->body_size > 2 && late->body[0] == '{');
	request_free(late);
	request_free(config);
	bench_end(&b);
}

static void document_text_is_of_one_revision(void **state)
{
	struct bench b;
	struct request *old, *new;

	(void)state;
	bench_start(&b);
	pthread_mutex_unlock(&b.closed);
	old = ask(&b, DOCUMENT_HEADS);
	wait_for(&b, old);
	b.snapshot->revision++;
	new = ask(&b, DOCUMENT_HEADS);
	assert_false(new->replied);
	wait_for(&b, new);
	assert_ptr_not_equal(old->body, new->body);
	request_free(old);
	request_free(new);
	bench_end(&b);
}

/* One of two who wait goes; then both, and who comes then does not join what is dropped. */
static void document_text_outlives_who_asked(void **state)
{
	struct bench b;
	struct request *first, *second;

	(void)state;
	bench_start(&b);
	first = ask(&b, DOCUMENT_HEADS);
	second = ask(&b, DOCUMENT_HEADS);
	request_free(first);
	assert_non_null(b.api.texts);
	request_free(second);
	assert_null(b.api.texts);
	first = ask(&b, DOCUMENT_HEADS);
	second = ask(&b, DOCUMENT_HEADS);
	request_free(second);
	pthread_mutex_unlock(&b.closed);
	wait_for(&b, first);
	request_free(first);
	/* Nobody is left when the worker ends. */
	request_free(ask(&b, DOCUMENT_CONFIG));
	bench_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(document_text_is_shared),
		cmocka_unit_test(document_text_is_of_one_revision),
		cmocka_unit_test(document_text_outlives_who_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
