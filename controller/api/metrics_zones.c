// SPDX-License-Identifier: GPL-2.0-or-later
// Objects come one by one and /metrics goes metric by metric: each metric has a text of its own until the end.
#include "api/metrics_zones.h"

#include "api/publication_json.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "engine/drops.h"
#include "engine/figures.h"
#include "engine/shifts.h"
#include "engine/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define SERIES_MAX (256U * 1024 * 1024)

static const char *const metrics_families[FAMILY_COUNT] = {
	[FAMILY_GROUP_SERVERS] = "zonegate_server_group_servers",
	[FAMILY_GROUP_FAIL_OPEN] = "zonegate_server_group_fail_open",
	[FAMILY_CHECK_DURATION] = "zonegate_health_check_duration_seconds",
	[FAMILY_VIP_UP] = "zonegate_zone_vip_up",
	[FAMILY_PUBLISHED] = "zonegate_zone_published",
	[FAMILY_FAIL_OPEN] = "zonegate_zone_fail_open",
	[FAMILY_SHIFT_ACTIVE] = "zonegate_zone_shift_active",
	[FAMILY_SHIFT_EXPIRY] = "zonegate_zone_shift_expiry_timestamp_seconds",
	[FAMILY_ZONE_INFO] = "zonegate_zone_info",
	[FAMILY_DROPPED] = "zonegate_listener_dropped_total",
};

static int metrics_compare_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

void metrics_zones_note(struct metrics_zones *z, const struct service_figures *s)
{
	const struct server_group *g = s->open ? snapshot_find_group(z->snapshot, s->group) : NULL;
	size_t index;

	if (g && !vec_find(&z->open_groups, g->o.name, metrics_compare_name, &index))
		vec_insert(&z->open_groups, index, g->o.name);
}

void metrics_zones_init(struct metrics_zones *z, const struct snapshot *snapshot)
{
	*z = (struct metrics_zones){.snapshot = snapshot};
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		buf_writer_init(&z->series[i], SERIES_MAX);
}

void metrics_zones_clear(struct metrics_zones *z)
{
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		buf_writer_free(&z->series[i]);
	vec_clear(&z->open_groups);
}

/* ---- groups ----------------------------------------------------------------------------------- */

static void metrics_add_durations(struct metrics_zones *z, const struct engine *e,
				  const struct server_group *g)
{
	struct check_durations d;
	struct metrics_histogram h = {.name = metrics_families[FAMILY_CHECK_DURATION],
				      .bounds = engine_check_bounds,
				      .buckets = d.buckets,
				      .count = CHECK_DURATION_BUCKETS};
	char labels[MODEL_NAME_MAX + 20];

	if (!g->health_check.enabled || engine_check_durations(e, g->o.name, &d))
		return;
	h.sum_usec = d.sum_usec;
	snprintf(labels, sizeof(labels), "server_group=\"%s\"", g->o.name);
	metrics_write_histogram(&z->series[FAMILY_CHECK_DURATION], &h, labels);
}

void metrics_zones_add_group(struct metrics_zones *z, const struct engine *e,
			     const struct server_group *g)
{
	struct group_status s;

	if (engine_group_status(e, g->o.name, &s))
		return; /* gone meanwhile */
	const struct {
		const char *state;
		unsigned count;
	} states[] = {{"healthy", s.healthy},   {"unhealthy", s.unhealthy},
		      {"initial", s.initial},   {"unchecked", s.unchecked},
		      {"disabled", s.disabled}, {"draining", s.draining}};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		buf_write_format(
			&z->series[FAMILY_GROUP_SERVERS],
			"zonegate_server_group_servers{server_group=\"%s\",state=\"%s\"} %u\n",
			g->o.name, states[i].state, states[i].count);
	buf_write_format(&z->series[FAMILY_GROUP_FAIL_OPEN],
			 "zonegate_server_group_fail_open{server_group=\"%s\"} %d\n", g->o.name,
			 vec_find(&z->open_groups, g->o.name, metrics_compare_name, NULL) != NULL);
	metrics_add_durations(z, e, g);
}

/* ---- zones ------------------------------------------------------------------------------------ */

static void metrics_write_zone(struct metrics_zones *z, enum metrics_family f,
			       const struct zone_publication *p, bool value)
{
	buf_write_format(&z->series[f], "%s{lb=\"%s\",zone=\"%s\",family=\"%u\"} %d\n",
			 metrics_families[f], p->lb, p->zone, p->family == AF_INET6 ? 6U : 4U,
			 value);
}

struct metrics_expiry {
	const char *id;
	usec_t wall; /* 0 = no such shift */
};

static void metrics_on_shift(void *ctx, const struct shift_status *s)
{
	struct metrics_expiry *e = ctx;

	if (strcmp(s->id, e->id) == 0)
		e->wall = s->expires_wall;
}

/* A shift is of the zone, whatever families it has: one series. */
static void metrics_write_shift(struct metrics_zones *z, const struct engine *e,
				const struct zone_publication *p)
{
	struct metrics_expiry expiry = {.id = p->shift};

	buf_write_format(&z->series[FAMILY_SHIFT_ACTIVE],
			 "zonegate_zone_shift_active{lb=\"%s\",zone=\"%s\"} %d\n", p->lb, p->zone,
			 p->shift != NULL);
	if (!p->shift)
		return;
	engine_each_shift(e, metrics_on_shift, &expiry);
	if (expiry.wall)
		buf_write_format(
			&z->series[FAMILY_SHIFT_EXPIRY],
			"zonegate_zone_shift_expiry_timestamp_seconds{lb=\"%s\",zone=\"%s\"} %.3f\n",
			p->lb, p->zone, (double)expiry.wall / 1e6);
}

static void metrics_write_info(struct metrics_zones *z, const struct zone_publication *p)
{
	char address[ADDR_TEXT_MAX];

	buf_write_format(
		&z->series[FAMILY_ZONE_INFO],
		"zonegate_zone_info{lb=\"%s\",zone=\"%s\",family=\"%u\",address=\"%s\"} 1\n", p->lb,
		p->zone, p->family == AF_INET6 ? 6U : 4U, addr_format(&p->vip, address));
}

static void metrics_write_drops(struct metrics_zones *z, const struct engine *e, const char *lb,
				const struct listener *l)
{
	struct drop_status d;

	for (enum drop_reason r = 0; r < DROP_REASON_COUNT; r++)
		if (engine_dropped(e, lb, l, r, &d))
			buf_write_format(
				&z->series[FAMILY_DROPPED],
				"zonegate_listener_dropped_total{lb=\"%s\",listener=\"%s\",reason=\"%s\"} %" PRIu64
				"\n",
				lb, l->o.name, engine_drop_reason_name(r), d.packets);
}

/* What has no name is not in DNS: its VIP is not probed, and there is nothing to say of what is handed out. */
void metrics_zones_add_lb(struct metrics_zones *z, const struct engine *e,
			  const struct load_balancer *lb)
{
	struct publication_list all;

	for (size_t i = 0; i < lb->listeners.count; i++)
		metrics_write_drops(z, e, lb->o.name, lb->listeners.items[i]);
	publication_json_collect(e, lb->o.name, &all);
	for (size_t i = 0; i < all.count; i++) {
		const struct zone_publication *p = &all.list[i];

		metrics_write_info(z, p);
		if (!lb->dns_name)
			continue;
		metrics_write_zone(z, FAMILY_VIP_UP, p, strcmp(p->vip_state, "healthy") == 0);
		metrics_write_zone(z, FAMILY_PUBLISHED, p, p->published);
		metrics_write_zone(z, FAMILY_FAIL_OPEN, p, p->fail_open);
		if (i == 0 || strcmp(all.list[i - 1].zone, p->zone) != 0)
			metrics_write_shift(z, e, p);
	}
	free(all.list);
}

void metrics_zones_write(const struct metrics_zones *z, struct buf_writer *w)
{
	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		metrics_write_head(w, metrics_families[i]);
		buf_write(w, z->series[i].data, z->series[i].size);
	}
}
