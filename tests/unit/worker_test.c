// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ev.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
	struct worker_job job;
	struct ev_loop *loop;
	pthread_t main_thread;
	int number;
	int *order;
	int *done;
	bool elsewhere;
};

static void work(struct worker_job *job)
{
	struct job *j = (struct job *)job;

	j->elsewhere = !pthread_equal(pthread_self(), j->main_thread);
	usleep(1000);
}

static void done(struct worker_job *job)
{
	struct job *j = (struct job *)job;

	assert_true(j->elsewhere);
	assert_true(pthread_equal(pthread_self(), j->main_thread));
	j->order[(*j->done)++] = j->number;
	if (j->loop && *j->done == 5)
		ev_break(j->loop, EVBREAK_ALL);
}

static void submit(struct worker *w, struct job *jobs, int *order, int *count, struct ev_loop *loop)
{
	for (int i = 0; i < 5; i++) {
		jobs[i] = (struct job){
			{.work = work, .done = done}, loop, pthread_self(), i, order, count, false};
		worker_submit(w, &jobs[i].job);
	}
}

static void worker_works_in_order(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct worker *w = worker_new(loop, WORKER_TRIM_AFTER);
	struct job jobs[5];
	int order[5], count = 0;

	(void)state;
	submit(w, jobs, order, &count, loop);
	ev_run(loop, 0);
	assert_int_equal(count, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(order[i], i);
	worker_free(w);
	ev_loop_destroy(loop);
}

static void worker_finishes_before_it_ends(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct worker *w = worker_new(loop, WORKER_TRIM_AFTER);
	struct job jobs[5];
	int order[5], count = 0;

	(void)state;
	submit(w, jobs, order, &count, NULL);
	worker_free(w);
	assert_int_equal(count, 5);
	worker_free(NULL);
	ev_loop_destroy(loop);
}

struct gated_job {
	struct worker_job job;
	pthread_mutex_t *gate;
	bool worked;
	bool done;
};

static void work_at_gate(struct worker_job *job)
{
	struct gated_job *j = (struct gated_job *)job;

	pthread_mutex_lock(j->gate);
	pthread_mutex_unlock(j->gate);
	j->worked = true;
}

static void done_at_gate(struct worker_job *job)
{
	((struct gated_job *)job)->done = true;
}

static void worker_leaves_out_what_is_dropped(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct worker *w = worker_new(loop, WORKER_TRIM_AFTER);
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct gated_job jobs[3];

	(void)state;
	pthread_mutex_lock(&gate); /* the first one stays at it */
	for (int i = 0; i < 3; i++) {
		jobs[i] = (struct gated_job){
			{.work = work_at_gate, .done = done_at_gate}, &gate, false, false};
		worker_submit(w, &jobs[i].job);
	}
	worker_drop(w, &jobs[1].job);
	pthread_mutex_unlock(&gate);
	worker_free(w);
	for (int i = 0; i < 3; i++) {
		assert_true(jobs[i].done);
		assert_int_equal(jobs[i].worked, i != 1);
	}
	ev_loop_destroy(loop);
}

static void worker_takes_its_queues_in_turns(void **state)
{
	struct ev_loop *loop = ev_loop_new(0);
	struct worker *w = worker_new(loop, WORKER_TRIM_AFTER);
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct gated_job first = {
		{.work = work_at_gate, .done = done_at_gate}, &gate, false, false};
	struct job jobs[7];
	int order[7], count = 0;

	(void)state;
	pthread_mutex_lock(&gate);
	worker_submit(w, &first.job);
	submit(w, jobs, order, &count, NULL);
	jobs[5] = (struct job){
		{.work = work, .done = done}, NULL, pthread_self(), 5, order, &count, false};
	worker_submit_beside(w, &jobs[5].job);
	jobs[6] = jobs[5];
	jobs[6].number = 6;
	worker_submit_write(w, &jobs[6].job);
	pthread_mutex_unlock(&gate);
	worker_free(w);
	assert_int_equal(count, 7);
	/* Not behind the five before them, and not behind each other's. */
	assert_true(order[0] == 5 || order[1] == 5 || order[2] == 5);
	assert_true(order[0] == 6 || order[1] == 6 || order[2] == 6);
	ev_loop_destroy(loop);
}

#define BLOCKS 40000
#define KEPT   64 /* one in so many stays, so that nothing goes back by itself */

static long resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size = 0, pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld %ld", &size, &pages), 2);
	fclose(f);
	return pages;
}

/* Of the sanitizer: its allocator keeps what is freed, and gives nothing back on request. */
extern void __asan_init(void) __attribute__((weak));

static void worker_gives_memory_back(void **state)
{
	static void *blocks[BLOCKS];
	struct ev_loop *loop = ev_loop_new(0);
	struct worker *w = worker_new(loop, 50000);
	struct job jobs[5];
	int order[5];
	int count = 0;
	long full;

	(void)state;
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = calloc(1, 1000);
	for (size_t i = 0; i < BLOCKS; i++)
		if (i % KEPT)
			free(blocks[i]);
	full = resident_pages();
	/* Work that ends after the blocks were freed: the idle time counts from there, however slow this was. */
	submit(w, jobs, order, &count, NULL);
	for (int tries = 0; tries < (__asan_init ? 5 : 100) && resident_pages() > full / 2; tries++)
		usleep(20000);
	assert_true(__asan_init || resident_pages() <= full / 2);
	for (size_t i = 0; i < BLOCKS; i += KEPT)
		free(blocks[i]);
	worker_free(w);
	ev_loop_destroy(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_works_in_order),
		cmocka_unit_test(worker_finishes_before_it_ends),
		cmocka_unit_test(worker_leaves_out_what_is_dropped),
		cmocka_unit_test(worker_takes_its_queues_in_turns),
		cmocka_unit_test(worker_gives_memory_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
