/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The API with a real engine, a kernel and a store in memory, in a thread of its own; and a client that speaks raw HTTP. */
#ifndef ZG_TESTS_API_RIG_H
#define ZG_TESTS_API_RIG_H

#include "api_rig_answers.h"
#include "api_rig_ports.h"
#include "api_rig_state.h"
#include "api_rig_store.h"

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
	struct engine_settings s = {
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
		.kernel_request_ruleset = rig_request_ruleset,
		.kernel_guard = rig_guard,
		.kernel_fill = rig_fill,
		.kernel_request_hits = rig_request_hits,
		.kernel_request_filters = rig_request_filters,
		.kernel_addresses = rig_addresses,
		.kernel_read_sysctl = rig_sysctl,
		.kernel_mark_uses = rig_mark_uses,
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

	if (rig->peer)
		assert_int_equal(addr_parse(rig->peer, &s.peers[s.peer_count++]), 0);
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
	if (rig->former)
		engine_load_row(
			rig->engine,
			&(struct store_row){.kind = "told", .key = "daemon", .value = rig->former});
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
	if (rig->former) {
		engine_settle(rig->engine);
		engine_tell_started(rig->engine, "it runs");
	}
	s.socket_path = rig->socket;
	s.token_file = rig->token_file;
	s.access = rig->access = rig_access_new();
	s.request_timeout = timeout;
	s.heartbeat = rig->heartbeat;
	s.answers_max = rig->answers_max;
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
