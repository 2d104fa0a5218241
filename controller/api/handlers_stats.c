// SPDX-License-Identifier: GPL-2.0-or-later
// GET /stats: rates of the last five minutes or hour. Summing many series takes long, so it is done on the worker.
#include "api/handlers.h"

#include "api/context.h"
#include "api/request.h"
#include "api/stats_json.h"
#include "api/status_json.h"
#include "api/worker.h"
#include "base/mem.h"
#include "engine/status.h"

#include <errno.h>
#include <string.h>

#define STATS_LIMITS_MAX 100 /* listeners whose drops are told */

struct stats_job {
	struct worker_job job;
	struct request *request; /* NULL: nobody waits any more */
	struct stats *stats;
	struct stats_filter filter; /* its texts are the job's own */
	enum stats_window window;
	json_t *limits; /* taken before it works; NULL: of servers */
	char *text;
};

static void stats_job_free(struct stats_job *j)
{
	const char *const texts[] = {j->filter.lb, j->filter.listener, j->filter.zone,
				     j->filter.server_group, j->filter.server};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)(uintptr_t)texts[i]);
	json_decref(j->limits);
	free(j->text);
	free(j);
}

static void stats_job_forget(void *operation)
{
	struct stats_job *j = operation;

	worker_drop(j->request->api->worker, &j->job);
	j->request = NULL;
}

static const char *stats_job_fault(const struct stats_state *state)
{
	if (state->known)
		return NULL;
	if (state->error == 0)
		return "the kernel has not been looked at yet";
	return state->error == -ENOENT ? "IPVS is not available: modprobe ip_vs"
				       : strerrordesc_np(-state->error);
}

static void stats_job_work(struct worker_job *job)
{
	struct stats_job *j = (struct stats_job *)job;
	struct stats_history h;
	struct stats_state state;
	const char *fault;
	json_t *json;

	stats_history_read(j->stats, &j->filter, j->window, &h);
	stats_read_state(j->stats, &state);
	json = stats_json_history(&h, &j->filter, time_wall());
	if (j->limits)
		json_object_set(json, "limits", j->limits);
	fault = stats_job_fault(&state);
	if (fault) { /* the past is told all the same */
		json_object_set_new(json, "available", json_false());
		json_object_set_new(json, "unavailable_because", json_string(fault));
	}
	j->text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
	stats_history_clear(&h);
}

static void stats_job_done(struct worker_job *job)
{
	struct stats_job *j = (struct stats_job *)job;

	if (j->request) {
		request_reply_text(j->request, 200, "application/json", j->text, strlen(j->text));
		j->text = NULL;
	}
	stats_job_free(j);
}

/* ---- what is asked ---------------------------------------------------------------------------- */

static const char *stats_query(const struct request *r, const char *name)
{
	const char *value = uri_query(&r->uri, name);

	return value && *value ? value : NULL;
}

static bool stats_read_window(struct request *r, struct err *faults, enum stats_window *ret_window)
{
	const char *window = stats_query(r, "window");

	*ret_window = STATS_FIVE_MINUTES;
	if (!window || strcmp(window, "5m") == 0)
		return true;
	*ret_window = STATS_ONE_HOUR;
	if (strcmp(window, "1h") == 0)
		return true;
	err_set(faults, ERR_SYNTAX, "", "query parameter window: \"5m\" or \"1h\"");
	return false;
}

static void stats_read_filter(const struct request *r, struct err *faults,
			      struct stats_filter *ret_filter)
{
	*ret_filter = (struct stats_filter){.lb = stats_query(r, "lb"),
					    .listener = stats_query(r, "listener"),
					    .zone = stats_query(r, "zone"),
					    .server_group = stats_query(r, "server_group"),
					    .server = stats_query(r, "server")};
	if (ret_filter->server_group && (ret_filter->lb || ret_filter->listener))
		err_set(faults, ERR_SYNTAX, "",
			"query parameters: either listeners (lb, listener) or servers "
			"(server_group, server)");
	if (ret_filter->server && !ret_filter->server_group)
		err_set(faults, ERR_SYNTAX, "", "query parameter server: needs server_group");
}

static bool stats_has_listener(const struct load_balancer *lb, const char *name)
{
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (strcmp(l->o.name, name) == 0)
			return true;
	}
	return false;
}

static bool stats_knows_listener(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->load_balancers.count; i++)
		if (stats_has_listener(s->load_balancers.items[i], name))
			return true;
	return false;
}

/* A name that is nowhere is a mistake, not a chart of zeros. */
static bool stats_is_known(struct request *r, const struct stats_filter *f)
{
	const struct snapshot *s = engine_snapshot(r->api->engine);
	const struct server_group *g = f->server_group ? snapshot_find_group(s, f->server_group)
						       : NULL;
	const struct load_balancer *lb = f->lb ? snapshot_find_lb(s, f->lb) : NULL;

	if (f->lb && !lb)
		request_fail(r, PROBLEM_NOT_FOUND, "there is no load balancer %.63s", f->lb);
	else if (lb && f->listener && !stats_has_listener(lb, f->listener))
		request_fail(r, PROBLEM_NOT_FOUND, "load balancer %.63s has no listener %.63s",
			     f->lb, f->listener);
	else if (f->listener && !stats_knows_listener(s, f->listener))
		request_fail(r, PROBLEM_NOT_FOUND, "there is no listener %.63s", f->listener);
	else if (f->zone && !snapshot_find_zone(s, f->zone))
		request_fail(r, PROBLEM_NOT_FOUND, "there is no zone %.63s", f->zone);
	else if (f->server_group && !g)
		request_fail(r, PROBLEM_NOT_FOUND, "there is no server group %.63s",
			     f->server_group);
	else if (f->server && !snapshot_find_server(g, f->server))
		request_fail(r, PROBLEM_NOT_FOUND, "server group %.63s has no server %.63s",
			     f->server_group, f->server);
	else
		return true;
	return false;
}

/* What was dropped for the limits of the listeners that are asked for; NULL: servers are. */
static json_t *stats_list_limits(const struct engine *e, const struct stats_filter *f)
{
	const struct vec *lbs = &engine_snapshot(e)->load_balancers;
	json_t *list = f->server_group ? NULL : json_array();

	for (size_t i = 0; list && i < lbs->count; i++) {
		const struct load_balancer *lb = lbs->items[i];

		for (size_t j = 0; j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];

			if ((!l->rate_limit && !l->max_connections) ||
			    (f->lb && strcmp(f->lb, lb->o.name) != 0) ||
			    (f->listener && strcmp(f->listener, l->o.name) != 0) ||
			    json_array_size(list) == STATS_LIMITS_MAX)
				continue;
			json_t *one = json_pack("{s:s, s:s}", "load_balancer", lb->o.name,
						"listener", l->o.name);
			status_json_drops(e, lb->o.name, l, one);
			json_array_append_new(list, one);
		}
	}
	return list;
}

static const char *stats_copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

void handlers_stats_get(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct stats_filter f;
	enum stats_window window;
	struct stats_job *j;

	stats_read_window(r, &faults, &window);
	stats_read_filter(r, &faults, &f);
	if (err_any(&faults)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (!stats_is_known(r, &f))
		return;
	if (!r->api->stats) {
		request_reply_json(
			r, 200,
			stats_json_nothing(&f, window, "[kernel] ipvs = off: no kernel counts"));
		return;
	}
	j = mem_new(struct stats_job);
	j->job.work = stats_job_work;
	j->job.done = stats_job_done;
	j->request = r;
	j->stats = r->api->stats;
	j->window = window;
	j->limits = stats_list_limits(r->api->engine, &f);
	j->filter = (struct stats_filter){stats_copy(f.lb), stats_copy(f.listener),
					  stats_copy(f.zone), stats_copy(f.server_group),
					  stats_copy(f.server)};
	request_wait(r, j, stats_job_forget);
	worker_submit(r->api->worker, &j->job);
}
