// SPDX-License-Identifier: GPL-2.0-or-later
// /metrics: what the engine knows is taken in slices, one an iteration of the loop, so that no probe waits for a scrape of many
// servers; the text is made on the worker. A server that is down keeps its series.
#include "api/handlers.h"

#include "api/context.h"
#include "api/metrics_dns.h"
#include "api/metrics_process.h"
#include "api/metrics_servers.h"
#include "api/metrics_zones.h"
#include "api/reply.h"
#include "api/tls.h"
#include "api/worker.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "engine/figures.h"

#include <ev.h>
#include <inttypes.h>

#define METRICS_SLICE    2000 /* servers */
#define METRICS_SIZE_MAX (1024U * 1024 * 1024)

/* How many servers a group and the zones of a load balancer count as. */
#define METRICS_GROUP_COST 40
#define METRICS_LB_COST    100

struct metrics_job {
	struct worker_job job;
	struct api_context *api;
	struct request *request; /* NULL: nobody waits any more */
	bool openmetrics;
	bool working; /* on the worker, which ends it */
	struct snapshot *snapshot;
	ev_timer next;
	size_t service; /* the next one to look at */
	size_t group;   /* the next server, after all services */
	size_t server;
	size_t place; /* of that server among all */
	size_t lb;    /* the next load balancer, after all servers */
	struct metrics_servers servers;
	struct metrics_zones zones;
	struct buf_writer text; /* of the process, then of all */
};

static void metrics_job_free(struct metrics_job *j)
{
	ev_timer_stop(j->api->loop, &j->next);
	metrics_servers_clear(&j->servers);
	metrics_zones_clear(&j->zones);
	buf_writer_free(&j->text);
	snapshot_unref(j->snapshot);
	free(j);
}

static void metrics_job_forget(void *operation)
{
	struct metrics_job *j = operation;

	j->request = NULL;
	if (j->working)
		worker_drop(j->api->worker, &j->job);
	else
		metrics_job_free(j);
}

/* ---- on the worker ---------------------------------------------------------------------------- */

static void metrics_job_work(struct worker_job *job)
{
	struct metrics_job *j = (struct metrics_job *)job;
	struct buf_writer plain;

	metrics_process_write(&j->text, j->api->version, j->api->started_wall);
	metrics_zones_write(&j->zones, &j->text);
	metrics_servers_write(&j->servers, &j->text);
	if (!j->openmetrics)
		return;
	plain = j->text;
	buf_writer_init(&j->text, METRICS_SIZE_MAX);
	metrics_convert_openmetrics(buf_text(&plain), plain.size, &j->text);
	buf_writer_free(&plain);
}

static void metrics_job_done(struct worker_job *job)
{
	struct metrics_job *j = (struct metrics_job *)job;

	if (j->request) {
		size_t size = j->text.size;

		request_reply_text(
			j->request, 200,
			j->openmetrics
				? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				: "text/plain; version=0.0.4; charset=utf-8",
			buf_take(&j->text), size);
	}
	metrics_job_free(j);
}

/* ---- on the loop ------------------------------------------------------------------------------ */

static void metrics_write_failures(struct buf_writer *w, const struct engine *e)
{
	metrics_write_head(w, "zonegate_health_failures_total");
	for (unsigned r = REASON_NONE + 1; r < REASON_COUNT; r++) {
		uint64_t count = engine_check_failures(e, (enum health_reason)r);

		/* Those before are of states, not of checks. */
		if (r >= REASON_CONNECT_TIMEOUT || count)
			buf_write_format(
				w, "zonegate_health_failures_total{reason=\"%s\"} %" PRIu64 "\n",
				health_reason_name((enum health_reason)r), count);
	}
}

static void metrics_write_certificate(struct buf_writer *w, const struct tls *tls)
{
	struct tls_status st;

	if (!tls)
		return;
	tls_read_status(tls, &st);
	metrics_write_head(w, "zonegate_tls_certificate_expiry_timestamp_seconds");
	buf_write_format(w, "zonegate_tls_certificate_expiry_timestamp_seconds %.0f\n",
			 (double)st.not_after_wall / 1e6);
}

static void metrics_write_node(struct buf_writer *w, const struct engine *e)
{
	struct node_status st;

	engine_node_status(e, &st);
	metrics_write_head(w, "zonegate_kernel_available");
	buf_write_format(w, "zonegate_kernel_available %d\n",
			 st.kernel_available && !st.kernel_off);
	metrics_write_head(w, "zonegate_store_ok");
	buf_write_format(w, "zonegate_store_ok %d\n", st.store_ok);
	metrics_write_head(w, "zonegate_services");
	buf_write_format(w, "zonegate_services %zu\n", st.services);
	metrics_write_head(w, "zonegate_probes");
	buf_write_format(w, "zonegate_probes %zu\n", st.probes);
}

/* What is small. */
static void metrics_write_rest(struct metrics_job *j)
{
	struct update_status update;
	struct dns_status *dns AUTO_FREE = mem_new(struct dns_status);

	metrics_write(&j->text);
	metrics_write_failures(&j->text, j->api->engine);
	metrics_write_node(&j->text, j->api->engine);
	metrics_write_certificate(&j->text, j->api->tls);
	http_counts_write(&j->api->http, &j->text);
	engine_dns_status(j->api->engine, dns);
	engine_update_status(j->api->engine, &update);
	metrics_dns_write(&j->text, dns, &update);
}

static void metrics_on_service(void *ctx, const struct service_figures *s)
{
	struct metrics_job *j = ctx;

	metrics_servers_note(&j->servers, s);
	metrics_zones_note(&j->zones, s);
}

/* Servers of the group that it stands at. Returns how many were looked at. */
static size_t metrics_step_group(struct metrics_job *j, size_t most)
{
	const struct server_group *g = j->snapshot->server_groups.items[j->group];
	size_t count = g->servers.count - j->server;

	if (count > most)
		count = most;
	if (j->server == 0)
		metrics_zones_add_group(&j->zones, j->api->engine, g);
	engine_list_in_service(j->api->engine, g, j->server, count, j->servers.serves + j->place);
	j->place += count;
	j->server += count;
	if (j->server == g->servers.count) {
		j->group++;
		j->server = 0;
	}
	return count;
}

/* One slice. Returns false when nothing is left. */
static bool metrics_step(struct metrics_job *j)
{
	for (size_t spent = 0; spent < METRICS_SLICE;) {
		if (j->service != FIGURES_END) {
			j->service = engine_next_services(j->api->engine, j->service,
							  METRICS_SLICE - spent, metrics_on_service,
							  j);
			spent = j->service == FIGURES_END ? spent + METRICS_GROUP_COST
							  : METRICS_SLICE;
		} else if (j->group < j->snapshot->server_groups.count) {
			spent += METRICS_GROUP_COST;
			spent += metrics_step_group(j, METRICS_SLICE);
		} else if (j->lb < j->snapshot->load_balancers.count) {
			metrics_zones_add_lb(&j->zones, j->api->engine,
					     j->snapshot->load_balancers.items[j->lb++]);
			spent += METRICS_LB_COST;
		} else {
			return false;
		}
	}
	return true;
}

static void metrics_go_on(struct metrics_job *j)
{
	if (metrics_step(j)) {
		ev_timer_start(j->api->loop, &j->next);
		return;
	}
	metrics_write_rest(j);
	j->working = true;
	worker_submit_beside(j->api->worker,
			     &j->job); /* a scrape has no time for many large documents */
}

static void metrics_on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	metrics_go_on(timer->data);
}

void handlers_metrics_get(struct request *r)
{
	struct metrics_job *j = mem_new(struct metrics_job);

	j->job.work = metrics_job_work;
	j->job.done = metrics_job_done;
	j->api = r->api;
	j->request = r;
	j->openmetrics = r->openmetrics;
	j->snapshot = reply_hold(engine_snapshot(r->api->engine));
	buf_writer_init(&j->text, METRICS_SIZE_MAX);
	j->servers.stats = r->api->stats;
	metrics_servers_init(&j->servers, j->snapshot);
	metrics_zones_init(&j->zones, j->snapshot);
	ev_timer_init(&j->next, metrics_on_next, 0., 0.);
	j->next.data = j;
	request_wait(r, j, metrics_job_forget);
	metrics_go_on(j);
}
