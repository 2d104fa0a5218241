/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The API with a real engine, a kernel and a store in memory, in a thread of its own; and a client that speaks raw HTTP. */
#ifndef ZG_TESTS_API_RIG_H
#define ZG_TESTS_API_RIG_H

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
	enum { RIG_COMMIT, RIG_OPS, RIG_TABLE, RIG_SERVICE, RIG_QUERY, RIG_PROBE, RIG_VIP } kind;
	uint64_t token;
	struct plan_ops ops;
	struct plan_key key;
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
	unsigned commits;
	double delay;                  /* of the fakes' answers, seconds */
	bool refuse_ops;               /* the kernel says EINVAL to everything */
	bool hold_tables;              /* tables never come */
	bool busy;                     /* every destination has a flow */
	bool fail_commits;             /* the store is full */
	bool linger;                   /* the loop goes on after api_stop() */
	bool fail_queries;             /* the store cannot be read */
	bool hold_probes;              /* probes on demand never end */
	int probe_error;               /* they cannot be started */
	bool kernel_off;               /* [kernel] ipvs = off */
	bool leave_vips;               /* with that their probes never end */
	bool judge_vips;               /* VIPs answer, */
	const char *vip_down;          /* but for this one */
	enum evidence_silence silence; /* of the probes that pass */
	json_t *journal; /* of the store: {id, kind, key, wall, value}, oldest first */
	struct fake_history history;
	usec_t heartbeat;         /* of streams, 0 = the default */
	struct api_notify notify; /* webhooks */
	const char *status_line;  /* what probes on demand get */
	unsigned port;
};

/* ---- fakes ---- */

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

/* An entry of the journal, as the daemon would write it. Before rig_start(), or from the loop. */
static inline void rig_note(struct rig *rig, const char *kind, const char *key, usec_t wall,
			    const char *value)
{
	if (!rig->journal)
		rig->journal = json_array();
	json_array_append_new(rig->journal,
			      json_pack("{s:I, s:s, s:s, s:I, s:s}", "id",
					strcmp(kind, STORE_EVENT_KIND) == 0
						? (json_int_t)strtoull(key, NULL, 10)
						: (json_int_t)json_array_size(rig->journal) + 1,
					"kind", kind, "key", key, "wall", (json_int_t)wall, "value",
					value));
}

static inline void rig_commit(void *ctx, struct batch *b, const struct store_row *rows,
			      size_t count, uint64_t token)
{
	struct rig *rig = ctx;

	if (b && !rig->fail_commits)
		fake_history_note(&rig->history, b);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].wall)
			rig_note(rig, rows[i].kind, rows[i].key, rows[i].wall, rows[i].value);
	}
	rig_push(ctx, RIG_COMMIT)->token = token;
}

static inline bool rig_matches_event(const struct store_query *q, const json_t *entry)
{
	json_t *event = json_loads(json_string_value(json_object_get(entry, "value")), 0, NULL);
	json_int_t id = json_integer_value(json_object_get(entry, "id"));
	bool matches = strcmp(json_string_value(json_object_get(entry, "kind")),
			      STORE_EVENT_KIND) == 0 &&
		       (!q->before || id < (json_int_t)q->before) && id >= (json_int_t)q->after &&
		       engine_event_matches(q->events.types,
					    json_string_value(json_object_get(event, "type"))) &&
		       engine_event_concerns(q->events.object,
					     json_string_value(json_object_get(event, "object")));

	json_decref(event);
	return matches;
}

/* Whether an entry (newest first) is one that is asked for. */
static inline bool rig_matches(const struct store_query *q, const json_t *entry)
{
	if (q->what == STORE_EVENTS)
		return rig_matches_event(q, entry);
	if (q->before && (uint64_t)json_integer_value(json_object_get(entry, "id")) >= q->before)
		return false;
	if (q->what == STORE_AUDIT && q->audit.actor &&
	    !strstr(json_string_value(json_object_get(entry, "value")), q->audit.actor))
		return false;
	return strcmp(json_string_value(json_object_get(entry, "kind")),
		      q->what == STORE_AUDIT ? STORE_AUDIT_KIND : q->kind) == 0 &&
	       (!q->key || strcmp(json_string_value(json_object_get(entry, "key")), q->key) == 0);
}

static inline void rig_query(void *ctx, const struct store_query *q, store_items_fn *done,
			     void *done_ctx)
{
	struct rig *rig = ctx;
	struct rig_event *ev = rig_push(rig, RIG_QUERY);

	ev->give = done;
	ev->ctx = done_ctx;
	if (rig->fail_queries) {
		err_set(&ev->fault, ERR_UNAVAILABLE, "", "the disk is gone");
		return;
	}
	if (q->what != STORE_JOURNAL && q->what != STORE_AUDIT && q->what != STORE_EVENTS) {
		ev->items = fake_history_query(&rig->history, q, &ev->fault);
		return;
	}
	ev->items = json_array();
	for (size_t i = json_array_size(rig->journal); i > 0; i--) {
		json_t *entry = json_array_get(rig->journal,
					       q->events.forward ? json_array_size(rig->journal) - i
								 : i - 1);

		if (rig_matches(q, entry) && json_array_size(ev->items) < q->limit)
			json_array_append(ev->items, entry);
	}
}

static inline bool rig_probe_once(void *ctx, const struct probe_target *t,
				  void (*done)(void *done_ctx, const struct probe_target *t,
					       const struct probe_result *r, int error),
				  void *done_ctx)
{
	struct rig *rig = ctx;
	struct rig_event *ev;

	if (rig->probe_error == -EAGAIN)
		return false;
	if (rig->hold_probes) {
		ev = mem_new(struct rig_event);
		ev->next = rig->held;
		rig->held = ev;
	} else {
		ev = rig_push(rig, RIG_PROBE);
	}
	ev->target = *t;
	ev->probed = done;
	ev->ctx = done_ctx;
	return true;
}

static inline void rig_publish_dns(void *ctx, const struct view *v)
{
	(void)ctx;
	(void)v;
}

static inline int rig_link_carrier(void *ctx)
{
	(void)ctx;
	return 1;
}

static inline void rig_submit(void *ctx, struct plan_ops *ops)
{
	rig_push(ctx, RIG_OPS)->ops = *ops;
	*ops = (struct plan_ops){0};
}

static inline void rig_request_table(void *ctx)
{
	if (!((struct rig *)ctx)->hold_tables)
		rig_push(ctx, RIG_TABLE);
}

static inline void rig_request_service(void *ctx, const struct plan_key *key)
{
	rig_push(ctx, RIG_SERVICE)->key = *key;
}

static inline size_t rig_addresses(void *ctx, const struct addr **ret_addresses)
{
	(void)ctx;
	*ret_addresses = NULL;
	return 0;
}

static inline int rig_sysctl(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return 1;
}

static inline const char *rig_advise(void *ctx, const struct plan_op *op, char *buf, size_t size)
{
	(void)ctx;
	snprintf(buf, size, "the fake kernel refused %s", plan_op_name(op->kind));
	return buf;
}

static inline void *rig_probe_add(void *ctx, const struct probe_target *t, void *ref,
				  usec_t first_start)
{
	struct rig *rig = ctx;
	struct rig_event *ev;

	(void)first_start;
	if (rig->judge_vips && !rig->leave_vips &&
	    (t->check->type == CHECK_ICMP || health_check_passes_late(t->check))) {
		ev = rig_push(rig, RIG_VIP);
		ev->target = *t;
		ev->ref = ref;
	}
	return ref;
}

static inline void rig_probe_remove(void *ctx, void *probe)
{
	for (struct rig_event *ev = ((struct rig *)ctx)->first; ev; ev = ev->next) {
		if (ev->ref == probe)
			ev->ref = NULL;
	}
}

static inline void rig_retarget(void *ctx, void *probe, const struct health_check *check)
{
	(void)ctx;
	(void)probe;
	(void)check;
}

static inline void rig_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg),
			       void *arg)
{
	(void)ctx;
	work(arg);
	done(arg);
}

static inline void rig_wake_at(void *ctx, usec_t at)
{
	struct rig *rig = ctx;
	usec_t now = time_monotonic();

	ev_timer_stop(rig->loop, &rig->wake);
	if (at == USEC_NEVER)
		return;
	ev_timer_set(&rig->wake, at > now ? (double)(at - now) / 1e6 : 0., 0.);
	ev_timer_start(rig->loop, &rig->wake);
}

static inline void rig_event(void *ctx, const struct engine_event *ev)
{
	(void)ctx;
	(void)ev;
}

static inline void rig_publish_event(void *ctx, const struct event_record *r)
{
	struct rig *rig = ctx;

	if (rig->api)
		api_note_event(rig->api, r);
}

static inline struct plan_table *rig_copy_table(const struct plan_table *t)
{
	struct plan_table *copy = mem_new(struct plan_table);

	copy->services = mem_alloc_array(t->count + 1, sizeof(*t->services));
	copy->count = t->count;
	for (size_t i = 0; i < t->count; i++) {
		plan_service_copy(&t->services[i], &copy->services[i]);
		copy->services[i].counts = mem_alloc_array(t->services[i].dest_count + 1,
							   sizeof(struct plan_dest_counts));
	}
	return copy;
}

static inline struct plan_table *rig_copy_service(const struct plan_table *t,
						  const struct plan_key *k)
{
	struct plan_service *s = plan_table_find(t, k);
	struct plan_table one = {.services = s, .count = 1};

	return s ? rig_copy_table(&one) : NULL;
}

/* A refusal after 0.4 ms, or a wrong status with its line. */
static inline void rig_give_probe(struct rig *rig, struct rig_event *ev)
{
	struct probe_result r = {
		.health = {.verdict = PROBE_FAIL_ACTIVE, .reason = REASON_CONNECT_REFUSED},
		.evidence = {.started_wall = time_wall(),
			     .duration_usec = 417,
			     .error = ECONNREFUSED},
	};

	if (rig->status_line) {
		r.health.reason = REASON_HTTP_STATUS_MISMATCH;
		r.evidence.http_status = 503;
		snprintf(r.evidence.text, sizeof(r.evidence.text), "%s", rig->status_line);
	}
	ev->probed(ev->ctx, &ev->target, rig->probe_error ? NULL : &r, rig->probe_error);
}

/* Enough of the same for a verdict. */
static inline void rig_give_vip(struct rig *rig, const struct rig_event *ev)
{
	struct probe_result r = {.evidence = {.started_wall = time_wall(),
					      .duration_usec = 300,
					      .silence = rig->silence}};
	char text[ADDR_TEXT_MAX];

	if (rig->vip_down && strcmp(addr_format(&ev->target.address, text), rig->vip_down) == 0)
		r.health = (struct health_result){.verdict = PROBE_FAIL_SILENT,
						  .reason = REASON_ICMP_NO_REPLY};
	for (unsigned i = 0; i < 3 && ev->ref; i++) {
		r.health.planned = r.health.ended = time_monotonic();
		engine_note_result(rig->engine, ev->ref, &r);
	}
}

static inline void rig_give(struct rig *rig, struct rig_event *ev)
{
	AUTO_ERR struct err full = {0};
	struct plan_table *one;

	switch (ev->kind) {
	case RIG_COMMIT:
		if (rig->fail_commits)
			err_set(&full, ERR_UNAVAILABLE, "", "no space left on the device");
		engine_note_commit(rig->engine, ev->token, rig->fail_commits ? -ENOSPC : 0, &full);
		break;
	case RIG_OPS:
		for (size_t i = 0; i < ev->ops.count; i++)
			ev->ops.ops[i].result = rig->refuse_ops ? -EINVAL
								: diff_apply_op(rig->kernel,
										&ev->ops.ops[i]);
		engine_note_ops(rig->engine, &ev->ops);
		plan_ops_clear(&ev->ops);
		break;
	case RIG_TABLE:
		one = rig_copy_table(rig->kernel);
		one->timeouts = rig->kernel->timeouts;
		engine_note_table(rig->engine, one, 0);
		break;
	case RIG_QUERY:
		ev->give(ev->ctx, ev->items, &ev->fault);
		err_clear(&ev->fault);
		break;
	case RIG_VIP:
		rig_give_vip(rig, ev);
		break;
	case RIG_PROBE:
		rig_give_probe(rig, ev);
		break;
	case RIG_SERVICE:
		one = rig_copy_service(rig->kernel, &ev->key);
		for (size_t i = 0; rig->busy && one && i < one->services[0].dest_count; i++)
			one->services[0].counts[i].active = 1;
		engine_note_service(rig->engine, &ev->key, one, one ? 0 : -ESRCH);
		break;
	}
}

static inline void rig_on_answer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct rig *rig = timer->data;
	struct rig_event *ev = rig->first;

	(void)loop;
	(void)events;
	rig->first = NULL;
	rig->end = &rig->first;
	while (ev) {
		struct rig_event *next = ev->next;

		rig_give(rig, ev);
		free(ev);
		ev = next;
	}
}

static inline void rig_on_wake(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

static inline void rig_on_prepare(struct ev_loop *loop, ev_prepare *watcher, int events)
{
	(void)loop;
	(void)events;
	engine_settle(((struct rig *)watcher->data)->engine);
}

static inline void rig_on_stop(struct ev_loop *loop, ev_async *watcher, int events)
{
	struct rig *rig = watcher->data;

	(void)events;
	api_stop(rig->api);
	if (!rig->linger)
		ev_break(loop, EVBREAK_ALL);
}

static inline void *rig_main(void *arg)
{
	ev_run(((struct rig *)arg)->loop, 0);
	return NULL;
}

/* ---- life ---- */

static inline void rig_make_files(struct rig *rig)
{
	FILE *f;

	snprintf(rig->folder, sizeof(rig->folder), "/tmp/zonegate-api-XXXXXX");
	assert_non_null(mkdtemp(rig->folder));
	snprintf(rig->socket, sizeof(rig->socket), "%s/api.sock", rig->folder);
	snprintf(rig->token_file, sizeof(rig->token_file), "%s/token", rig->folder);
	f = fopen(rig->token_file, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", RIG_TOKEN);
	fclose(f);
	assert_int_equal(chmod(rig->token_file, 0600), 0);
}

static inline void rig_make_engine(struct rig *rig)
{
	const struct engine_settings s = {
		.node_name = "rig",
		/* VIPs of this node itself would be looked at and not probed. */
		.kernel_off = rig->kernel_off || rig->judge_vips,
		.audit_interval = 3600 * USEC_PER_SEC};
	const struct engine_ports ports = {
		.ctx = rig,
		.now = rig_now,
		.wall = rig_wall,
		.random = rig_random,
		.commit = rig_commit,
		.kernel_submit = rig_submit,
		.kernel_request_table = rig_request_table,
		.kernel_request_service = rig_request_service,
		.kernel_addresses = rig_addresses,
		.kernel_read_sysctl = rig_sysctl,
		.kernel_advise = rig_advise,
		.probe_add = rig_probe_add,
		.probe_remove = rig_probe_remove,
		.probe_retarget = rig_retarget,
		.query = rig_query,
		.probe_once = rig_probe_once,
		.publish_dns = rig_publish_dns,
		.link_carrier = rig_link_carrier,
		.offload = rig_offload,
		.wake_at = rig_wake_at,
		.event = rig_event,
		.publish = rig_publish_event,
	};

	rig->kernel = mem_new(struct plan_table);
	rig->kernel->timeouts = (struct plan_timeouts){{900, 120, 300}};
	rig->engine = engine_new(&s, &ports, snapshot_new());
	for (size_t i = 0; i < json_array_size(rig->journal); i++) {
		const json_t *entry = json_array_get(rig->journal, i);

		if (strcmp(json_string_value(json_object_get(entry, "kind")), STORE_EVENT_KIND) ==
		    0)
			engine_load_event_number(
				rig->engine,
				(uint64_t)json_integer_value(json_object_get(entry, "id")));
	}
	engine_note_availability(rig->engine, 0);
}

/* `timeout` of a request, 0 = the default. Options of `rig` set before stand. */
static inline void rig_start(struct rig *rig, usec_t timeout)
{
	AUTO_ERR struct err e = {0};
	struct api_settings s = {.socket_fd = -1,
				 .listen = {"127.0.0.1:0"},
				 .listen_count = 1,
				 .version = "0.0.0-test"};

	rig_make_files(rig);
	rig->loop = ev_loop_new(0);
	rig->end = &rig->first;
	ev_timer_init(&rig->answer, rig_on_answer, 0., 0.);
	ev_timer_init(&rig->wake, rig_on_wake, 0., 0.);
	ev_prepare_init(&rig->prepare, rig_on_prepare);
	ev_async_init(&rig->stop, rig_on_stop);
	rig->answer.data = rig->prepare.data = rig->stop.data = rig;
	ev_prepare_start(rig->loop, &rig->prepare);
	ev_async_start(rig->loop, &rig->stop);
	rig_make_engine(rig);
	s.socket_path = rig->socket;
	s.token_file = rig->token_file;
	s.access = rig->access = rig_access_new();
	s.request_timeout = timeout;
	s.heartbeat = rig->heartbeat;
	s.notify = rig->notify;
	s.stats = rig->stats;
	if (api_new(rig->loop, &s, rig->engine, &e, &rig->api))
		fail_msg("%s", err_first(&e));
	rig->port = api_port(rig->api, 0);
	assert_int_equal(pthread_create(&rig->thread, NULL, rig_main, rig), 0);
}

static inline void rig_end_held(struct rig *rig)
{
	while (rig->held) {
		struct rig_event *ev = rig->held;

		rig->held = ev->next;
		ev->probed(ev->ctx, &ev->target, NULL, -ECANCELED);
		free(ev);
	}
}

static inline void rig_end(struct rig *rig)
{
	ev_async_send(rig->loop, &rig->stop);
	pthread_join(rig->thread, NULL);
	assert_int_equal(access(rig->socket, F_OK), -1);
	api_free(rig->api);
	access_free(rig->access);
	rig_end_held(rig);
	engine_free(rig->engine);
	while (rig->first) {
		struct rig_event *ev = rig->first;

		rig->first = ev->next;
		plan_ops_clear(&ev->ops);
		json_decref(ev->items);
		err_clear(&ev->fault);
		free(ev);
	}
	json_decref(rig->journal);
	fake_history_clear(&rig->history);
	plan_table_free(rig->kernel);
	ev_loop_destroy(rig->loop);
	unlink(rig->token_file);
	rmdir(rig->folder);
}

#include "api_client.h"

#endif
