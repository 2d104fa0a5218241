// SPDX-License-Identifier: GPL-2.0-or-later
// /metrics: the process's figures, then the series of objects. Written in slices, one an iteration of the loop, so that no
// probe waits for a scrape of many servers. A server that is down keeps its series.
#include "api/handlers.h"

#include "api/context.h"
#include "api/metrics_dns.h"
#include "api/publication_json.h"
#include "api/reply.h"
#include "api/status_json.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics.h"

#include <ev.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#define METRICS_SLICE    100 /* servers */
#define METRICS_SIZE_MAX (256U * 1024 * 1024)

#define METRICS_LB_COST 10 /* servers that the zones of a load balancer count as */

enum {
	SERIES_UP,
	SERIES_WEIGHT,
	SERIES_CONFIGURED,
	SERIES_PUBLISHED,
	SERIES_SHIFTED,
	SERIES_FAIL_OPEN,
	SERIES_COUNT
};

struct metrics_weight {
	const char *group; /* of the snapshot */
	struct addr address;
	uint16_t port;
	uint32_t weight;
};

struct metrics_job {
	struct request *request;
	struct snapshot *snapshot;
	ev_timer next;
	size_t group; /* the next server to write */
	size_t server;
	size_t lb; /* the next load balancer, after all servers */
	struct buf_writer series[SERIES_COUNT];
	struct buf_writer groups;
	struct table
		weights; /* struct metrics_weight: the largest weight of a destination, for each group */
};

static void metrics_job_free(struct metrics_job *j)
{
	size_t cursor = 0;
	void *item;

	ev_timer_stop(j->request->api->loop, &j->next);
	for (size_t i = 0; i < SERIES_COUNT; i++)
		buf_writer_free(&j->series[i]);
	buf_writer_free(&j->groups);
	while ((item = table_next(&j->weights, &cursor)))
		free(item);
	table_clear(&j->weights);
	snapshot_unref(j->snapshot);
	free(j);
}

static void metrics_job_cancel(void *operation)
{
	metrics_job_free(operation);
}

/* ---- weights ---------------------------------------------------------------------------------- */

static bool metrics_weight_equal(const void *key, const void *item)
{
	const struct metrics_weight *a = key, *b = item;

	return a->port == b->port && addr_compare(&a->address, &b->address) == 0 &&
	       strcmp(a->group, b->group) == 0;
}

static uint64_t metrics_weight_hash(const struct metrics_weight *w)
{
	return hash_text(w->group, addr_hash(&w->address, w->port));
}

static void metrics_note_weight(struct metrics_job *j, const struct metrics_weight *w)
{
	uint64_t hash = metrics_weight_hash(w);
	struct metrics_weight *known = table_find(&j->weights, hash, w, metrics_weight_equal);

	if (!known)
		table_add(&j->weights, hash, mem_dup(w, sizeof(*w)));
	else if (w->weight > known->weight)
		known->weight = w->weight;
}

/* Under the port that the server has in the document too: 0 = the listener's. */
static void metrics_on_service(void *ctx, const struct service_status *s)
{
	struct metrics_job *j = ctx;
	const struct server_group *g = snapshot_find_group(j->snapshot, s->group);

	for (size_t i = 0; g && s->expected && i < s->expected->dest_count; i++) {
		const struct plan_dest *d = &s->expected->dests[i];
		struct metrics_weight w = {g->o.name, d->address, d->port, d->weight};

		metrics_note_weight(j, &w);
		w.port = 0;
		if (d->port == s->expected->key.port)
			metrics_note_weight(j, &w);
	}
}

static uint32_t metrics_find_weight(const struct metrics_job *j, const struct server_group *g,
				    const struct server *server)
{
	const struct metrics_weight key = {g->o.name, server->address, (uint16_t)server->port, 0};
	const struct metrics_weight *w = table_find(&j->weights, metrics_weight_hash(&key), &key,
						    metrics_weight_equal);

	return w ? w->weight : 0;
}

/* ---- series ----------------------------------------------------------------------------------- */

static void metrics_write_server(struct buf_writer *w, const char *name,
				 const struct server_group *g, const struct server *server)
{
	buf_write_format(w, "%s{server_group=\"%s\",server=\"%s\",zone=\"%s\"} ", name, g->o.name,
			 server->o.name, server->zone ? server->zone : "");
}

static void metrics_add_server(struct metrics_job *j, const struct server_group *g,
			       const struct server *server)
{
	struct server_status s;

	if (engine_server_status(j->request->api->engine, g->o.name, server->o.name, &s))
		return; /* gone meanwhile */
	metrics_write_server(&j->series[SERIES_UP], "zonegate_server_up", g, server);
	buf_write_format(&j->series[SERIES_UP], "%d\n", s.in_service);
	metrics_write_server(&j->series[SERIES_WEIGHT], "zonegate_server_weight", g, server);
	buf_write_format(&j->series[SERIES_WEIGHT], "%" PRIu32 "\n",
			 metrics_find_weight(j, g, server));
	metrics_write_server(&j->series[SERIES_CONFIGURED], "zonegate_server_weight_configured", g,
			     server);
	buf_write_format(&j->series[SERIES_CONFIGURED], "%" PRIu32 "\n", server->weight);
}

static void metrics_add_group(struct metrics_job *j, const struct server_group *g)
{
	struct group_status s;

	if (engine_group_status(j->request->api->engine, g->o.name, &s))
		return;
	const struct {
		const char *state;
		unsigned count;
	} states[] = {{"healthy", s.healthy},
		      {"unhealthy", s.unhealthy},
		      {"initial", s.initial},
		      {"disabled", s.disabled},
		      {"draining", s.draining}};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		buf_write_format(
			&j->groups,
			"zonegate_server_group_servers{server_group=\"%s\",state=\"%s\"} %u\n",
			g->o.name, states[i].state, states[i].count);
}

static void metrics_write_zone(struct buf_writer *w, const char *name,
			       const struct zone_publication *p, bool value)
{
	buf_write_format(w, "%s{load_balancer=\"%s\",zone=\"%s\",family=\"%u\"} %d\n", name, p->lb,
			 p->zone, p->family == AF_INET6 ? 6U : 4U, value);
}

/* What has no name is not in DNS: there is nothing to say of it. */
static void metrics_add_lb(struct metrics_job *j, const struct load_balancer *lb)
{
	struct publication_list all;

	if (!lb->dns_name)
		return;
	publication_json_collect(j->request->api->engine, lb->o.name, &all);
	for (size_t i = 0; i < all.count; i++) {
		const struct zone_publication *p = &all.list[i];

		metrics_write_zone(&j->series[SERIES_PUBLISHED], "zonegate_zone_published", p,
				   p->published);
		metrics_write_zone(&j->series[SERIES_SHIFTED], "zonegate_zone_shifted", p,
				   p->shift != NULL);
	}
	buf_write_format(&j->series[SERIES_FAIL_OPEN],
			 "zonegate_load_balancer_fail_open{load_balancer=\"%s\"} %d\n", lb->o.name,
			 publication_json_fail_open(&all));
	free(all.list);
}

/* One slice. Returns false when nothing is left. */
static bool metrics_step(struct metrics_job *j)
{
	for (int budget = METRICS_SLICE; budget > 0; budget--) {
		const struct server_group *g;

		if (j->group == j->snapshot->server_groups.count) {
			if (j->lb == j->snapshot->load_balancers.count)
				return false;
			metrics_add_lb(j, j->snapshot->load_balancers.items[j->lb++]);
			budget -= METRICS_LB_COST - 1;
			continue;
		}
		g = j->snapshot->server_groups.items[j->group];
		if (j->server == 0)
			metrics_add_group(j, g);
		if (j->server < g->servers.count)
			metrics_add_server(j, g, g->servers.items[j->server]);
		if (++j->server >= g->servers.count) {
			j->group++;
			j->server = 0;
		}
	}
	return true;
}

static void metrics_append(struct buf_writer *w, const char *name, const char *help,
			   const struct buf_writer *series)
{
	metrics_write_head(w, name, "gauge", help);
	buf_write(w, series->data, series->size);
}

static void metrics_finish(struct metrics_job *j)
{
	struct request *r = j->request;
	struct update_status update;
	struct dns_status dns;
	struct buf_writer w;
	size_t size;

	buf_writer_init(&w, METRICS_SIZE_MAX);
	metrics_write(&w);
	metrics_write_head(&w, "zonegate_build_info", "gauge",
			   "Always 1; what runs is in the labels");
	buf_write_format(&w, "zonegate_build_info{version=\"%s\"} 1\n", r->api->version);
	metrics_append(&w, "zonegate_server_group_servers", "Servers of a group by state",
		       &j->groups);
	metrics_append(&w, "zonegate_server_up", "Whether a server is in service",
		       &j->series[SERIES_UP]);
	metrics_append(
		&w, "zonegate_server_weight",
		"Weight of a server in the kernel (with ipvs = off the planned one), the largest of its services",
		&j->series[SERIES_WEIGHT]);
	metrics_append(&w, "zonegate_server_weight_configured",
		       "Weight of a server in the configuration", &j->series[SERIES_CONFIGURED]);
	metrics_append(&w, "zonegate_zone_published",
		       "Whether DNS hands out the address of a zone of a load balancer",
		       &j->series[SERIES_PUBLISHED]);
	metrics_append(&w, "zonegate_zone_shifted", "Whether a zone shift holds it out of DNS",
		       &j->series[SERIES_SHIFTED]);
	metrics_append(&w, "zonegate_load_balancer_fail_open",
		       "Whether no zone is healthy and all are handed out",
		       &j->series[SERIES_FAIL_OPEN]);
	engine_dns_status(r->api->engine, &dns);
	engine_update_status(r->api->engine, &update);
	metrics_dns_write(&w, &dns, &update);
	metrics_job_free(j);
	size = w.size;
	request_reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", buf_take(&w), size);
}

static void metrics_on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct metrics_job *j = timer->data;

	(void)events;
	if (metrics_step(j))
		ev_timer_start(loop, &j->next);
	else
		metrics_finish(j);
}

void handlers_metrics_get(struct request *r)
{
	struct metrics_job *j = mem_new(struct metrics_job);

	j->request = r;
	j->snapshot = reply_hold(engine_snapshot(r->api->engine));
	for (size_t i = 0; i < SERIES_COUNT; i++)
		buf_writer_init(&j->series[i], METRICS_SIZE_MAX);
	buf_writer_init(&j->groups, METRICS_SIZE_MAX);
	engine_each_service(r->api->engine, NULL, metrics_on_service, j);
	ev_timer_init(&j->next, metrics_on_next, 0., 0.);
	j->next.data = j;
	request_wait(r, j, metrics_job_cancel);
	if (metrics_step(j))
		ev_timer_start(r->api->loop, &j->next);
	else
		metrics_finish(j);
}
