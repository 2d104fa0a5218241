// SPDX-License-Identifier: GPL-2.0-or-later
// Copies one array a figure out of the rings, under their lock: seconds or steps, and which of them are known.
#include "stats/stats_history.h"

#include <string.h>

#include "base/mem.h"
#include "stats/stats_parts.h"

struct history_reading {
	struct stats_history *history;
	const struct stats_filter *filter;
	enum stats_window window;
	uint64_t first; /* tick or step of the first point */
};

static bool history_is(const char *wanted, const char *name)
{
	return !wanted || (name && strcmp(wanted, name) == 0);
}

static void history_add_now(struct stats_now *sum, const struct stats_now *n)
{
	sum->total.connections += n->total.connections;
	sum->total.packets_in += n->total.packets_in;
	sum->total.packets_out += n->total.packets_out;
	sum->total.bytes_in += n->total.bytes_in;
	sum->total.bytes_out += n->total.bytes_out;
	sum->active += n->active;
	sum->inactive += n->inactive;
	for (unsigned i = 0; i < STATS_FIGURE_COUNT; i++)
		sum->rates.figures[i] += n->rates.figures[i];
}

static void history_read_point(const struct history_reading *r, const struct stats_ring *ring,
			       size_t index, struct stats_point *ret_point)
{
	if (r->window == STATS_FIVE_MINUTES)
		stats_ring_get(ring, r->first + index, ret_point);
	else
		stats_ring_get_step(ring, r->first + index, ret_point);
}

static void history_add_series(const struct history_reading *r, const struct stats_series *series,
			       const struct stats_line *names)
{
	struct stats_history *h = r->history;
	struct stats_line *line = NULL;

	h->matches++;
	history_add_now(&h->now, &series->now);
	if (h->line_count < STATS_SERIES_MAX) {
		line = &h->lines[h->line_count++];
		*line = *names;
		for (size_t i = 0; i < 3; i++)
			line->names[i] = names->names[i] ? mem_strdup(names->names[i]) : NULL;
		line->now = series->now;
		line->points = mem_alloc_array(h->count, sizeof(*line->points));
	}
	for (size_t i = 0; series->ring && i < h->count; i++) {
		struct stats_point p;

		if (!h->known[i])
			continue;
		history_read_point(r, series->ring, i, &p);
		for (unsigned f = 0; f < STATS_FIGURE_COUNT; f++)
			h->sum[i].figures[f] += p.figures[f];
		if (line)
			line->points[i] = p;
	}
}

static void history_read_listeners(struct stats *s, const struct history_reading *r)
{
	const struct stats_filter *f = r->filter;

	for (size_t i = 0; i < s->place_count; i++) {
		const struct stats_place *p = s->places[i];
		const struct stats_line names = {.names = {p->place.lb->o.name,
							   p->place.listener->o.name,
							   p->place.zone->o.name},
						 .family = p->place.family,
						 .protocol = p->place.listener->protocol};

		if (history_is(f->lb, names.names[0]) && history_is(f->listener, names.names[1]) &&
		    history_is(f->zone, names.names[2]))
			history_add_series(r, &p->series, &names);
	}
}

static void history_read_servers(struct stats *s, const struct history_reading *r)
{
	const struct stats_filter *f = r->filter;

	for (size_t i = 0; i < s->group_count; i++) {
		const struct stats_group *g = &s->groups[i];

		if (!history_is(f->server_group, g->group->o.name))
			continue;
		for (size_t j = 0; j < g->group->servers.count; j++) {
			const struct server *server = g->group->servers.items[j];
			const struct stats_line names = {
				.names = {g->group->o.name, server->o.name, server->zone}};

			if (history_is(f->server, server->o.name) &&
			    history_is(f->zone, server->zone))
				history_add_series(r, &g->servers[j], &names);
		}
	}
}

/* The second that runs is whole with the look that ends it: the last look's is the newest. Of the steps the one that runs is left
 * out. */
static void history_begin(struct stats *s, struct history_reading *r)
{
	struct stats_history *h = r->history;
	bool fine = r->window == STATS_FIVE_MINUTES;
	uint64_t last = fine ? s->tick : s->tick / STATS_STEP_SECONDS - 1;

	h->step_s = fine ? 1 : STATS_STEP_SECONDS;
	h->count = fine ? STATS_SECONDS : STATS_STEPS;
	if (!s->tick) { /* no look yet */
		h->count = 0;
		return;
	}
	r->first = last + 1 - h->count;
	h->age_s = fine ? 0 : s->tick - (last + 1) * STATS_STEP_SECONDS;
	for (size_t i = 0; i < h->count; i++)
		h->known[i] = fine ? s->seconds[(r->first + i) % STATS_SECONDS]
				   : s->steps[(r->first + i) % STATS_STEPS];
}

void stats_history_read(struct stats *s, const struct stats_filter *f, enum stats_window w,
			struct stats_history *ret_history)
{
	struct history_reading r = {ret_history, f, w, 0};

	memset(ret_history, 0, sizeof(*ret_history));
	ret_history->lines = mem_alloc_array(STATS_SERIES_MAX, sizeof(*ret_history->lines));
	stats_lock(s);
	history_begin(s, &r);
	if (f->server_group)
		history_read_servers(s, &r);
	else
		history_read_listeners(s, &r);
	stats_unlock(s);
}

void stats_history_clear(struct stats_history *h)
{
	for (size_t i = 0; i < h->line_count; i++) {
		for (size_t j = 0; j < 3; j++)
			free(h->lines[i].names[j]);
		free(h->lines[i].points);
	}
	free(h->lines);
	h->lines = NULL;
	h->line_count = 0;
}
