// SPDX-License-Identifier: GPL-2.0-or-later
// Arrays of numbers, oldest first; null where nothing was read.
#include "api/stats_json.h"

#include "api/status_json.h"

#include <math.h>
#include <stdio.h>
#include <sys/socket.h>

static const char *const stats_figures[STATS_FIGURE_COUNT] = {
	[STATS_CONNECTIONS] = "connections_per_s",
	[STATS_PACKETS] = "packets_per_s",
	[STATS_BITS] = "bits_per_s",
	[STATS_ACTIVE] = "active"};

/* Whole ones without a point: most of them are 0. */
static json_t *stats_json_number(double value)
{
	double whole = round(value);

	if (fabs(value - whole) < 0.005)
		return json_integer((json_int_t)whole);
	return json_real(round(value * 100) / 100);
}

static void stats_json_add_points(json_t *object, const struct stats_history *h,
				  const struct stats_point *points)
{
	for (unsigned f = 0; f < STATS_FIGURE_COUNT; f++) {
		json_t *list = json_array();

		for (size_t i = 0; i < h->count; i++)
			json_array_append_new(list,
					      h->known[i] ? stats_json_number(points[i].figures[f])
							  : json_null());
		json_object_set_new(object, stats_figures[f], list);
	}
}

json_t *stats_json_now(const struct stats_now *now)
{
	return json_pack(
		"{s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "active",
		(json_int_t)now->active, "inactive", (json_int_t)now->inactive, "connections_per_s",
		stats_json_number(now->rates.figures[STATS_CONNECTIONS]), "packets_per_s",
		stats_json_number(now->rates.figures[STATS_PACKETS]), "bits_per_s",
		stats_json_number(now->rates.figures[STATS_BITS]), "connections",
		(json_int_t)now->total.connections, "packets_in", (json_int_t)now->total.packets_in,
		"packets_out", (json_int_t)now->total.packets_out, "bytes_in",
		(json_int_t)now->total.bytes_in, "bytes_out", (json_int_t)now->total.bytes_out);
}

static json_t *stats_json_line(const struct stats_history *h, const struct stats_line *line,
			       const struct stats_filter *f)
{
	static const char *const protocols[] = {
		[PROTOCOL_TCP] = "tcp", [PROTOCOL_UDP] = "udp", [PROTOCOL_SCTP] = "sctp"};
	json_t *object;

	if (f->server_group)
		object = json_pack("{s:s, s:s, s:s?}", "server_group", line->names[0], "server",
				   line->names[1], "zone", line->names[2]);
	else
		object = json_pack("{s:s, s:s, s:s, s:i, s:s}", "load_balancer", line->names[0],
				   "listener", line->names[1], "zone", line->names[2], "family",
				   line->family == AF_INET6 ? 6 : 4, "protocol",
				   protocols[line->protocol]);
	json_object_set_new(object, "now", stats_json_now(&line->now));
	stats_json_add_points(object, h, line->points);
	return object;
}

json_t *stats_json_history(const struct stats_history *h, const struct stats_filter *f,
			   usec_t now_wall)
{
	json_t *total = json_pack("{s:o}", "now", stats_json_now(&h->now));
	json_t *series = json_array();

	stats_json_add_points(total, h, h->sum);
	for (size_t i = 0; i < h->line_count; i++)
		json_array_append_new(series, stats_json_line(h, &h->lines[i], f));
	return json_pack("{s:b, s:n, s:s, s:i, s:i, s:o, s:o, s:o, s:i}", "available", 1,
			 "unavailable_because", "window", h->step_s == 1 ? "5m" : "1h", "step_s",
			 (int)h->step_s, "points", (int)h->count, "end",
			 status_json_time(now_wall - h->age_s * USEC_PER_SEC), "total", total,
			 "series", series, "series_total", (int)h->matches);
}

json_t *stats_json_nothing(const struct stats_filter *f, enum stats_window w, const char *why)
{
	struct stats_history none = {.step_s = w == STATS_FIVE_MINUTES ? 1 : STATS_STEP_SECONDS};
	json_t *answer = stats_json_history(&none, f, 0);

	json_object_set_new(answer, "available", json_false());
	json_object_set_new(answer, "unavailable_because", json_string(why));
	json_object_set_new(answer, "end", json_null());
	return answer;
}

/* ---- beside the status -------------------------------------------------------------------------- */

static bool stats_json_counts(struct stats *stats)
{
	struct stats_state state;

	if (!stats)
		return false;
	stats_read_state(stats, &state);
	return state.known;
}

json_t *stats_json_server(struct stats *stats, const char *group, const char *server)
{
	struct stats_now now;

	if (!stats_json_counts(stats))
		return json_null();
	(void)stats_find_server(stats, group, server, &now); /* not in the kernel: zeros */
	return stats_json_now(&now);
}

#define STATS_KEY_MAX (2 * MODEL_NAME_MAX + 16)

static const char *stats_json_key(const char *listener, const char *zone, uint8_t family,
				  char buf[STATS_KEY_MAX])
{
	snprintf(buf, STATS_KEY_MAX, "%s/%s/%d", listener, zone, family == AF_INET6 ? 6 : 4);
	return buf;
}

static void stats_json_on_listener(void *ctx, const struct stats_listener *l)
{
	char key[STATS_KEY_MAX];

	json_object_set_new(ctx, stats_json_key(l->listener, l->zone, l->family, key),
			    stats_json_now(&l->now));
}

json_t *stats_json_listeners(struct stats *stats, const char *lb)
{
	json_t *listeners;

	if (!stats_json_counts(stats))
		return NULL;
	listeners = json_object();
	stats_each_listener(stats, lb, stats_json_on_listener, listeners);
	return listeners;
}

json_t *stats_json_find_listener(const json_t *listeners, const char *listener, const char *zone,
				 uint8_t family)
{
	char key[STATS_KEY_MAX];
	json_t *now = json_object_get(listeners, stats_json_key(listener, zone, family, key));

	return now ? json_incref(now) : json_null();
}
