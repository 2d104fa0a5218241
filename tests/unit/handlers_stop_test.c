// SPDX-License-Identifier: GPL-2.0-or-later
// A stop does not make what nobody waits for any more: with a worker of its own, that can be held, in the place of api/worker.c.
#include "api/handlers.h"

#include "api_rig.h"

#include "api/worker.h"
#include "unit/stats_fixture.h"

#include <stdatomic.h>

struct worker {
	struct ev_loop *loop;
	ev_timer kick;
	struct worker_job *first;
};

/* Of the worker that there is in a test. */
struct hold {
	atomic_bool on;       /* what comes stays in the queue */
	atomic_uint waiting;  /* so much is in it */
	atomic_uint at_end;   /* was there when the worker ended, … */
	atomic_uint for_none; /* … and had to be worked on */
};

static struct hold *hold(void)
{
	static struct hold one;

	return &one;
}

static void worker_turn(struct worker *w)
{
	struct worker_job *job = w->first;

	w->first = job->next;
	atomic_fetch_sub(&hold()->waiting, 1);
	if (!job->dropped)
		job->work(job);
	job->done(job);
}

static void worker_on_kick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct worker *w = timer->data;

	(void)loop;
	(void)events;
	while (w->first)
		worker_turn(w);
}

struct worker *worker_new(struct ev_loop *loop, usec_t trim_after)
{
	struct worker *w = mem_new(struct worker);

	(void)trim_after;
	w->loop = loop;
	ev_timer_init(&w->kick, worker_on_kick, 0., 0.);
	w->kick.data = w;
	return w;
}

void worker_free(struct worker *w)
{
	ev_timer_stop(w->loop, &w->kick);
	while (w->first) {
		atomic_fetch_add(&hold()->at_end, 1);
		atomic_fetch_add(&hold()->for_none, w->first->dropped ? 0 : 1);
		worker_turn(w);
	}
	free(w);
}

void worker_submit(struct worker *w, struct worker_job *job)
{
	struct worker_job **end = &w->first;

	while (*end)
		end = &(*end)->next;
	job->next = NULL;
	*end = job;
	atomic_fetch_add(&hold()->waiting, 1);
	if (!atomic_load(&hold()->on))
		ev_timer_start(w->loop, &w->kick);
}

void worker_submit_write(struct worker *w, struct worker_job *job)
{
	worker_submit(w, job);
}

void worker_submit_beside(struct worker *w, struct worker_job *job)
{
	worker_submit(w, job);
}

void worker_drop(struct worker *w, struct worker_job *job)
{
	(void)w;
	job->dropped = true;
}

/* 250 load balancers of two zones, and 300 servers. Caller frees. */
static char *large_document(void)
{
	json_t *document = rig_many_balancers(250);
	AUTO_FREE char *more = rig_big_document(300);
	json_t *big = json_loads(more, 0, NULL);
	char *text;

	json_object_update(json_object_get(document, "server_groups"),
			   json_object_get(big, "server_groups"));
	text = json_dumps(document, 0);
	json_decref(document);
	json_decref(big);
	return text;
}

/* False: it was answered before it came to the worker. */
static bool comes_to_the_worker(const struct rig *rig, const char *bytes, int *ret_fd)
{
	unsigned before = atomic_load(&hold()->waiting);
	struct pollfd p = {.fd = rig_connect(rig), .events = POLLIN};

	rig_send(p.fd, bytes, strlen(bytes));
	*ret_fd = p.fd;
	while (atomic_load(&hold()->waiting) == before) {
		if (poll(&p, 1, 5) != 0)
			return false;
	}
	return true;
}

#define HOST  " HTTP/1.1\r\nHost: x\r\n"
#define SHIFT "{\"zone\":\"za\",\"load_balancer\":\"*\",\"expires_in\":\"1h\",\"comment\":\"c\"}"

static void a_stop_makes_nothing_for_nobody(void **state)
{
	static const char *const asks[] = {
		"GET /api/v1/config" HOST "\r\n",
		"GET /api/v1/server-groups/big" HOST "\r\n",
		"GET /api/v1/kernel" HOST "\r\n",
		"GET /api/v1/system/doctor" HOST "\r\n",
		"GET /api/v1/stats?lb=n000" HOST "\r\n",
		"GET /openapi.json" HOST "\r\n",
		"GET /metrics" HOST "\r\n",
		"GET /api/v1/config/revisions/1/diff" HOST "\r\n",
		"POST /api/v1/config/validate" HOST "Content-Length: 2\r\n\r\n{}",
		"POST /api/v1/zone-shifts?dry_run=true" HOST "Content-Length: 65\r\n\r\n" SHIFT,
	};
	enum { ASKS = sizeof(asks) / sizeof(asks[0]) };
	AUTO_FREE char *document = large_document();
	struct stats *stats = stats_new(NULL, 0);
	struct rig rig = {.stats = stats};
	int fds[ASKS];

	(void)state;
	stats_follow(stats, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	atomic_store(&hold()->on, true);
	for (size_t i = 0; i < ASKS; i++) {
		if (!comes_to_the_worker(&rig, asks[i], &fds[i]))
			fail_msg("%s: not on the worker: %s", asks[i], rig_read(fds[i], 100).text);
	}
	rig_end(&rig);
	assert_int_equal(atomic_load(&hold()->at_end), ASKS);
	assert_int_equal(atomic_load(&hold()->for_none), 0);
	for (size_t i = 0; i < ASKS; i++)
		close(fds[i]);
	stats_free(stats);
}

/* Each may hold the worker for seconds: who comes when four wait is refused at once. */
static void the_doctor_is_asked_by_few_at_once(void **state)
{
	enum { VISITS = 4 };
	static const char ask[] = "GET /api/v1/system/doctor" HOST "\r\n";
	struct rig rig = {0};
	int fds[VISITS];

	(void)state;
	atomic_store(&hold()->on, false);
	rig_start(&rig, 0);
	rig_load(&rig);
	atomic_store(&hold()->on, true);
	for (size_t i = 0; i < VISITS; i++)
		assert_true(comes_to_the_worker(&rig, ask, &fds[i]));
	AUTO_REPLY struct answer fifth = rig_get(&rig, "/api/v1/system/doctor");
	assert_int_equal(fifth.status, 503);
	assert_string_equal(answer_text(&fifth, "detail"),
			    "the doctor is asked by too many at once");
	rig_end(&rig);
	for (size_t i = 0; i < VISITS; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_makes_nothing_for_nobody),
		cmocka_unit_test(the_doctor_is_asked_by_few_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
