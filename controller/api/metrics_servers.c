// SPDX-License-Identifier: GPL-2.0-or-later
// Eleven series a server: labels are printed once for each, numbers without printf.
#include "api/metrics_servers.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "stats/stats.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define LABELS_MAX    (256U * 1024 * 1024)
#define METRICS_PIECE 1024U /* rows, a fraction of a millisecond */

/* ---- on the loop ------------------------------------------------------------------------------ */

void metrics_servers_note(struct metrics_servers *m, const struct service_figures *s)
{
	const struct server_group *g = snapshot_find_group(m->snapshot, s->group);
	struct metrics_service *to;

	if (!g || !s->expected || s->expected->dest_count == 0)
		return;
	if (m->service_count == m->service_capacity) {
		m->service_capacity = m->service_capacity ? 2 * m->service_capacity : 16;
		m->services = mem_realloc_array(m->services, m->service_capacity,
						sizeof(*m->services));
	}
	to = &m->services[m->service_count++];
	to->group = g;
	to->port = s->expected->key.port;
	to->dest_count = s->expected->dest_count;
	to->dests = mem_alloc_array(to->dest_count, sizeof(*to->dests));
	memcpy(to->dests, s->expected->dests, to->dest_count * sizeof(*to->dests));
}

void metrics_servers_init(struct metrics_servers *m, const struct snapshot *snapshot)
{
	m->snapshot = snapshot;
	for (size_t i = 0; i < snapshot->server_groups.count; i++) {
		const struct server_group *g = snapshot->server_groups.items[i];

		m->server_count += g->servers.count;
	}
	m->serves = mem_alloc_array(m->server_count, sizeof(*m->serves));
}

void metrics_servers_clear(struct metrics_servers *m)
{
	for (size_t i = 0; i < m->service_count; i++)
		free(m->services[i].dests);
	free(m->services);
	free(m->serves);
	*m = (struct metrics_servers){0};
}

/* ---- weights ---------------------------------------------------------------------------------- */

struct metrics_weight {
	const struct server_group *group;
	struct addr address;
	uint16_t port; /* 0 = the listener's */
	uint32_t weight;
};

struct metrics_weights {
	struct table table;
	struct metrics_weight *all;
	size_t count;
};

static bool metrics_weight_equal(const void *key, const void *item)
{
	const struct metrics_weight *a = key, *b = item;

	return a->port == b->port && a->group == b->group &&
	       addr_compare(&a->address, &b->address) == 0;
}

static uint64_t metrics_weight_hash(const struct metrics_weight *w)
{
	return hash_bytes(&w->group, sizeof(w->group), addr_hash(&w->address, w->port));
}

static void metrics_weights_note(struct metrics_weights *weights, const struct metrics_weight *w)
{
	uint64_t hash = metrics_weight_hash(w);
	struct metrics_weight *known = table_find(&weights->table, hash, w, metrics_weight_equal);

	if (!known) {
		known = &weights->all[weights->count++];
		*known = *w;
		table_add(&weights->table, hash, known);
	} else if (w->weight > known->weight) {
		known->weight = w->weight;
	}
}

/* The largest weight of each destination, under the port that its server has in the document too. */
static void metrics_weights_fill(struct metrics_weights *weights, const struct metrics_servers *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->service_count; i++)
		count += m->services[i].dest_count;
	weights->all = mem_alloc_array(2 * count, sizeof(*weights->all));
	for (size_t i = 0; i < m->service_count; i++) {
		const struct metrics_service *s = &m->services[i];

		for (size_t j = 0; j < s->dest_count; j++) {
			const struct plan_dest *d = &s->dests[j];
			struct metrics_weight w = {s->group, d->address, d->port, d->weight};

			metrics_weights_note(weights, &w);
			w.port = 0;
			if (d->port == s->port)
				metrics_weights_note(weights, &w);
		}
	}
}

static uint32_t metrics_weights_find(const struct metrics_weights *weights,
				     const struct server_group *g, const struct server *server)
{
	const struct metrics_weight key = {g, server->address, (uint16_t)server->port, 0};
	const struct metrics_weight *w = table_find(&weights->table, metrics_weight_hash(&key),
						    &key, metrics_weight_equal);

	return w ? w->weight : 0;
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* What is written of one server or listener. */
struct metrics_row {
	size_t labels; /* where its labels begin in the text of all labels, with the braces */
	size_t labels_size;
	bool serves;
	uint32_t weight;
	uint32_t weight_configured;
	struct stats_now now;
};

struct metrics_rows {
	struct metrics_row *rows;
	size_t count;
	size_t capacity;
	struct buf_writer labels;
};

/* One metric of the rows. */
struct metrics_column {
	const char *name;
	uint64_t (*read)(const struct metrics_row *r);
};

static uint64_t metrics_read_serves(const struct metrics_row *r)
{
	return r->serves;
}
static uint64_t metrics_read_weight(const struct metrics_row *r)
{
	return r->weight;
}
static uint64_t metrics_read_configured(const struct metrics_row *r)
{
	return r->weight_configured;
}
static uint64_t metrics_read_active(const struct metrics_row *r)
{
	return r->now.active;
}
static uint64_t metrics_read_inactive(const struct metrics_row *r)
{
	return r->now.inactive;
}
static uint64_t metrics_read_connections(const struct metrics_row *r)
{
	return r->now.total.connections;
}
static uint64_t metrics_read_bytes_in(const struct metrics_row *r)
{
	return r->now.total.bytes_in;
}
static uint64_t metrics_read_bytes_out(const struct metrics_row *r)
{
	return r->now.total.bytes_out;
}
static uint64_t metrics_read_packets_in(const struct metrics_row *r)
{
	return r->now.total.packets_in;
}
static uint64_t metrics_read_packets_out(const struct metrics_row *r)
{
	return r->now.total.packets_out;
}

static const struct metrics_column metrics_server_columns[] = {
	{"zonegate_server_up", metrics_read_serves},
	{"zonegate_server_weight", metrics_read_weight},
	{"zonegate_server_weight_configured", metrics_read_configured},
};

static const struct metrics_column metrics_server_counts[] = {
	{"zonegate_server_connections_active", metrics_read_active},
	{"zonegate_server_connections_inactive", metrics_read_inactive},
	{"zonegate_server_connections_total", metrics_read_connections},
	{"zonegate_server_bytes_in_total", metrics_read_bytes_in},
	{"zonegate_server_bytes_out_total", metrics_read_bytes_out},
	{"zonegate_server_packets_in_total", metrics_read_packets_in},
	{"zonegate_server_packets_out_total", metrics_read_packets_out},
};

static const struct metrics_column metrics_listener_counts[] = {
	{"zonegate_listener_connections_active", metrics_read_active},
	{"zonegate_listener_connections_total", metrics_read_connections},
	{"zonegate_listener_bytes_in_total", metrics_read_bytes_in},
	{"zonegate_listener_bytes_out_total", metrics_read_bytes_out},
	{"zonegate_listener_packets_in_total", metrics_read_packets_in},
	{"zonegate_listener_packets_out_total", metrics_read_packets_out},
};

/* " 1234\n" */
static void metrics_write_number(struct buf_writer *w, uint64_t value)
{
	char text[24];
	size_t at = sizeof(text);

	text[--at] = '\n';
	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text[--at] = ' ';
	buf_write(w, text + at, sizeof(text) - at);
}

/* Under a real-time policy nobody takes the processor away from the worker, and probes would wait for all of a scrape. */
static void metrics_let_others(size_t row)
{
	if (row % METRICS_PIECE == 0)
		(void)sched_yield();
}

static void metrics_write_columns(struct buf_writer *w, const struct metrics_column *columns,
				  size_t count, const struct metrics_rows *rows)
{
	for (size_t i = 0; i < count; i++) {
		const struct metrics_column *c = &columns[i];
		size_t name_size = strlen(c->name);

		metrics_write_head(w, c->name);
		for (size_t j = 0; j < rows->count; j++) {
			const struct metrics_row *r = &rows->rows[j];

			metrics_let_others(j);
			buf_write(w, c->name, name_size);
			buf_write(w, rows->labels.data + r->labels, r->labels_size);
			metrics_write_number(w, c->read(r));
		}
	}
}

static struct metrics_row *metrics_rows_push(struct metrics_rows *rows)
{
	struct metrics_row *r;

	if (rows->count == rows->capacity) {
		rows->capacity = rows->capacity ? 2 * rows->capacity : 64;
		rows->rows = mem_realloc_array(rows->rows, rows->capacity, sizeof(*rows->rows));
	}
	r = &rows->rows[rows->count++];
	*r = (struct metrics_row){.labels = rows->labels.size};
	return r;
}

static void metrics_rows_clear(struct metrics_rows *rows)
{
	free(rows->rows);
	buf_writer_free(&rows->labels);
}

/* ---- servers and listeners -------------------------------------------------------------------- */

/* The labels of a server up to their end: without printf, which would be most of the work. */
static void metrics_write_server_labels(struct buf_writer *w, const struct server_group *g,
					const struct server *server)
{
	buf_write_text(w, "{server_group=\"");
	buf_write_text(w, g->o.name);
	buf_write_text(w, "\",server=\"");
	buf_write_text(w, server->o.name);
	buf_write_text(w, "\",zone=\"");
	buf_write_text(w, server->zone ? server->zone : "");
	buf_write_text(w, "\"");
}

static void metrics_write_server_info(struct buf_writer *w, const struct server_group *g,
				      const struct server *server)
{
	char address[ADDR_TEXT_MAX];

	buf_write_text(w, "zonegate_server_info");
	metrics_write_server_labels(w, g, server);
	buf_write_format(w, ",address=\"%s\",port=\"%u\"} 1\n",
			 addr_format(&server->address, address), server->port);
}

static void metrics_add_server(const struct metrics_servers *m,
			       const struct metrics_weights *weights, const struct server_group *g,
			       const struct server *server, struct metrics_rows *rows)
{
	size_t index = rows->count;
	struct metrics_row *r = metrics_rows_push(rows);

	metrics_let_others(index);
	metrics_write_server_labels(&rows->labels, g, server);
	buf_write_text(&rows->labels, "}");
	r->labels_size = rows->labels.size - r->labels;
	r->serves = m->serves[index];
	r->weight = metrics_weights_find(weights, g, server);
	r->weight_configured = server->weight;
	if (m->stats)
		stats_find_server(m->stats, g->o.name, server->o.name, &r->now);
}

#define METRICS_COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void metrics_write_servers(const struct metrics_servers *m, struct buf_writer *w)
{
	struct metrics_rows rows = {0};
	struct metrics_weights weights = {0};

	buf_writer_init(&rows.labels, LABELS_MAX);
	metrics_weights_fill(&weights, m);
	metrics_write_head(w, "zonegate_server_info");
	for (size_t i = 0; i < m->snapshot->server_groups.count; i++) {
		const struct server_group *g = m->snapshot->server_groups.items[i];

		for (size_t j = 0; j < g->servers.count; j++) {
			metrics_add_server(m, &weights, g, g->servers.items[j], &rows);
			metrics_write_server_info(w, g, g->servers.items[j]);
		}
	}
	metrics_write_columns(w, metrics_server_columns, METRICS_COUNT(metrics_server_columns),
			      &rows);
	if (m->stats)
		metrics_write_columns(w, metrics_server_counts,
				      METRICS_COUNT(metrics_server_counts), &rows);
	metrics_rows_clear(&rows);
	table_clear(&weights.table);
	free(weights.all);
}

struct metrics_listeners {
	struct metrics_rows rows;
	struct buf_writer infos;
};

static void metrics_on_listener(void *ctx, const struct stats_listener *l)
{
	static const char *const protocols[] = {
		[PROTOCOL_TCP] = "tcp", [PROTOCOL_UDP] = "udp", [PROTOCOL_SCTP] = "sctp"};
	struct metrics_listeners *all = ctx;
	struct metrics_row *r = metrics_rows_push(&all->rows);
	char address[ADDR_TEXT_MAX];
	char port[16];

	if (l->ports.to)
		snprintf(port, sizeof(port), "%u-%u", l->ports.from, l->ports.to);
	else
		snprintf(port, sizeof(port), "%u", l->port);
	buf_write_format(&all->rows.labels,
			 "{lb=\"%s\",listener=\"%s\",zone=\"%s\",family=\"%d\",proto=\"%s\"}",
			 l->lb, l->listener, l->zone, l->family == AF_INET6 ? 6 : 4,
			 protocols[l->protocol]);
	r->labels_size = all->rows.labels.size - r->labels;
	r->now = l->now;
	buf_write_format(
		&all->infos,
		"zonegate_listener_info{lb=\"%s\",listener=\"%s\",zone=\"%s\",family=\"%d\",proto=\"%s\",address=\"%s\",port=\"%s\"} 1\n",
		l->lb, l->listener, l->zone, l->family == AF_INET6 ? 6 : 4, protocols[l->protocol],
		addr_format(&l->address, address), port);
}

static void metrics_write_listeners(struct stats *stats, struct buf_writer *w)
{
	struct metrics_listeners all = {0};

	buf_writer_init(&all.rows.labels, LABELS_MAX);
	buf_writer_init(&all.infos, LABELS_MAX);
	stats_each_listener(stats, NULL, metrics_on_listener, &all);
	metrics_write_head(w, "zonegate_listener_info");
	buf_write(w, all.infos.data, all.infos.size);
	metrics_write_columns(w, metrics_listener_counts, METRICS_COUNT(metrics_listener_counts),
			      &all.rows);
	metrics_rows_clear(&all.rows);
	buf_writer_free(&all.infos);
}

static void metrics_write_state(struct stats *stats, struct buf_writer *w)
{
	struct stats_state s;

	stats_read_state(stats, &s);
	metrics_write_head(w, "zonegate_statistics_up");
	buf_write_format(w, "zonegate_statistics_up %d\n", s.known);
	metrics_write_head(w, "zonegate_statistics_histories");
	buf_write_format(w, "zonegate_statistics_histories %zu\n", s.rings);
	metrics_write_head(w, "zonegate_kernel_connections");
	buf_write_format(w, "zonegate_kernel_connections %llu\n",
			 (unsigned long long)s.connections);
	if (!s.table_size)
		return;
	metrics_write_head(w, "zonegate_kernel_connection_table_size");
	buf_write_format(w, "zonegate_kernel_connection_table_size %u\n", s.table_size);
}

void metrics_servers_write(const struct metrics_servers *m, struct buf_writer *w)
{
	metrics_write_servers(m, w);
	if (!m->stats)
		return;
	metrics_write_listeners(m->stats, w);
	metrics_write_state(m->stats, w);
}
