// SPDX-License-Identifier: GPL-2.0-or-later
// From a query to a counted reply; and how such a thread starts: without signals, at a lower priority.
#include "dnsio/dnsd_thread.h"

#include <signal.h>
#include <sys/resource.h>

#define STACK_SIZE (256 * 1024)
#define NICE       5 /* a flood of queries may not delay a probe: the loop goes first */

void dnsd_thread_init(struct dnsd_thread *t, struct dnsd_shared *shared, size_t reader)
{
	*t = (struct dnsd_thread){.shared = shared, .reader = reader};
	t->random = shared->random + ((uint64_t)reader << 48);
}

/* SplitMix64: not for secrets, only for whose turn it is. */
static uint64_t dnsd_thread_random(struct dnsd_thread *t)
{
	uint64_t z = t->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static void dnsd_thread_count(struct dnsd_thread *t, const struct dnsd_query *q,
			      const struct answer *a)
{
	struct dnsd_stats *s = &t->stats;

	size_t rcode = a->rcode < DNSD_RCODE_COUNT ? a->rcode : WIRE_SERVFAIL;

	if (a->truncated)
		dnsd_stats_count(&s->events[DNSD_TRUNCATED]);
	dnsd_stats_count(&s->queries[dnsd_stats_qtype(a->query.type)][rcode][q->transport]);
}

/* Who holds a cookie of ours has shown that its address is its own: nothing is reflected. */
static enum rrl_verdict dnsd_thread_limit(struct dnsd_thread *t, const struct dnsd_query *q,
					  const struct answer *a)
{
	const struct answer_request *r = &q->request;

	if (r->transport != ANSWER_UDP || a->cookie == DNS_COOKIE_FRESH ||
	    a->cookie == DNS_COOKIE_AGING)
		return RRL_SEND;
	return rrl_check(t->shared->rrl, &r->client, (uint32_t)(r->random >> 16), q->now);
}

size_t dnsd_thread_answer(struct dnsd_thread *t, const struct view *v, struct dnsd_query *q,
			  struct answer_memory memory)
{
	struct answer_source source = {v, &t->shared->settings.answer};
	enum rrl_verdict verdict;
	struct answer a;
	size_t size;

	q->request.random = dnsd_thread_random(t);
	if (!answer_read(source.settings, &q->request, &a)) {
		dnsd_stats_count(&t->stats.events[DNSD_IGNORED]);
		return 0;
	}
	verdict = dnsd_thread_limit(t, q, &a);
	if (verdict == RRL_DROP) {
		dnsd_stats_count(&t->stats.events[DNSD_LIMITED_DROPPED]);
		return 0;
	}
	size = answer_write(&source, &q->request,
			    verdict == RRL_TRUNCATE ? ANSWER_HEAD_ONLY : ANSWER_WHOLE, &a, memory);
	if (verdict == RRL_TRUNCATE) {
		dnsd_stats_count(&t->stats.events[DNSD_LIMITED_TRUNCATED]);
		a.truncated = false; /* not for its length */
	}
	dnsd_thread_count(t, q, &a);
	return size;
}

int dnsd_thread_start(struct dnsd_thread *t, const char *name, void *(*run)(void *), void *arg)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	r = pthread_create(&t->id, &attributes, run, arg);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		(void)pthread_setname_np(t->id, name);
	return -r;
}

void dnsd_thread_begin(void)
{
	/* On Linux a thread's own; without effect it is only less polite. */
	(void)setpriority(PRIO_PROCESS, 0, NICE);
}
