/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the API rig, and how its fakes answer from the loop. */
#ifndef ZG_TESTS_API_RIG_STATE_H
#define ZG_TESTS_API_RIG_STATE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ev.h>
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/api.h"
#include "base/mem.h"
#include "engine/events.h"
#include "engine/status.h"
#include "model/health_check.h"
#include "plan/diff.h"
#include "rig_access.h"

#include "fake_history.h"

#define RIG_TOKEN "a-token-of-the-tests-0123456789"

struct rig_event { /* an answer of a fake, given from the loop */
	struct rig_event *next;
	enum {
		RIG_COMMIT,
		RIG_OPS,
		RIG_TABLE,
		RIG_SERVICE,
		RIG_RULESET,
		RIG_GUARD,
		RIG_FILL,
		RIG_HITS,
		RIG_FILTERS,
		RIG_QUERY,
		RIG_PROBE,
		RIG_VIP
	} kind;
	uint64_t token;
	struct plan_ops ops;
	struct plan_key key;
	uint64_t uid;     /* of the list whose hits are asked for */
	json_t *items;    /* of a query */
	struct err fault; /* why there are none */
	void *ref;        /* of a VIP's check; NULL: it has ended */
	store_items_fn *give;
	struct probe_target target;
	void (*probed)(void *ctx, const struct probe_target *t, const struct probe_result *r,
		       int error);
	void *ctx;
};

struct rig {
	struct stats *stats; /* set before rig_start(); NULL = none */
	atomic_uint dropped; /* for rate_limit 5 of shop/http in za */
	char folder[64];
	char socket[96];
	char token_file[96];
	struct ev_loop *loop;
	struct engine *engine;
	struct access *access;
	struct api *api;
	pthread_t thread;
	ev_prepare prepare;
	ev_timer wake;
	ev_timer answer;
	ev_async stop;
	struct rig_event *first, **end;
	struct rig_event *held; /* probes on demand that never end by themselves */
	struct plan_table *kernel;
	struct netfilter *filters; /* what the next asker gets; NULL = nothing is there */
	const char *peer;          /* [node] peers; NULL = none */
	int filters_error;         /* … or this */
	struct hits *hits;         /* what the next asker gets; NULL = none */
	unsigned commits;
	unsigned looks;                /* at the flows of a busy service */
	double delay;                  /* of the fakes' answers, seconds */
	_Atomic bool hold_answers;     /* they wait until it is false again */
	bool refuse_ops;               /* the kernel says EINVAL to everything */
	unsigned refuse_lists;         /* to so many lists of operations */
	bool hold_tables;              /* tables never come */
	bool busy;                     /* every destination has a flow, */
	unsigned closes;               /* closed after so many looks at it; 0 = never */
	bool fail_commits;             /* the store is full */
	bool linger;                   /* the loop goes on after api_stop() */
	bool fail_queries;             /* the store cannot be read */
	bool hold_probes;              /* probes on demand never end */
	int probe_error;               /* they cannot be started */
	bool kernel_off;               /* [kernel] ipvs = off */
	bool sysctls_unset;            /* all of them are 0, and stay so */
	bool leave_vips;               /* with that their probes never end */
	bool judge_vips;               /* VIPs answer, */
	const char *vip_down;          /* but for this one */
	enum evidence_silence silence; /* of the probes that pass */
	json_t *journal; /* of the store: {id, kind, key, wall, value}, oldest first */
	struct fake_history history;
	usec_t heartbeat;         /* of streams, 0 = the default */
	size_t answers_max;       /* bytes, 0 = the default */
	struct api_notify notify; /* webhooks */
	const char *status_line;  /* what probes on demand get */
	const char *
		former; /* what the run before told of itself last; not NULL: this one tells, too */
	unsigned port;
};

static inline usec_t rig_now(void *ctx)
{
	(void)ctx;
	return time_monotonic();
}

static inline usec_t rig_wall(void *ctx)
{
	(void)ctx;
	return time_wall();
}

static inline uint64_t rig_random(void *ctx)
{
	struct rig *rig = ctx;

	return ++rig->commits * 0x9e3779b97f4a7c15U;
}

static inline struct rig_event *rig_push(struct rig *rig, int kind)
{
	struct rig_event *ev = mem_new(struct rig_event);

	ev->kind = (unsigned)kind;
	*rig->end = ev;
	rig->end = &ev->next;
	if (!ev_is_active(&rig->answer)) {
		ev_timer_set(&rig->answer, rig->delay, 0.);
		ev_timer_start(rig->loop, &rig->answer);
	}
	return ev;
}

#endif
