// SPDX-License-Identifier: GPL-2.0-or-later
// What a look at the kernel says, added up under the names of the document.
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats_parts.h"

#define STATS_HOUR_SECONDS (STATS_STEPS * STATS_STEP_SECONDS)
/* The kernel adds up what its processors counted every two seconds, by a timer that is late by up to 80 ms; looks are a second apart.
 * So what moves is found moved every second or third look. */
#define STATS_PACE_S 2.0
#define STATS_STILL  (5 * USEC_PER_SEC / 2) /* with nothing moved since: it stands still */
#define STATS_SPAN_MAX \
	(7 * USEC_PER_SEC / 2) /* looks were missed: what moved is of all of that time */
#define STATS_PACES 32         /* looks that the pace is learned from */

struct stats *stats_new(const char *const *zones, size_t zone_count)
{
	struct stats *s = mem_new(struct stats);

	pthread_mutex_init(&s->lock, NULL);
	s->zones = mem_alloc_array(zone_count, sizeof(*s->zones));
	s->zone_count = zone_count;
	for (size_t i = 0; i < zone_count; i++)
		s->zones[i] = mem_strdup(zones[i]);
	return s;
}

void stats_drop_ring(struct stats *s, struct stats_series *series)
{
	if (!series->ring)
		return;
	free(series->ring);
	series->ring = NULL;
	s->rings--;
}

void stats_place_free(struct stats *s, struct stats_place *p)
{
	stats_drop_ring(s, &p->series);
	free(p->entries);
	free(p);
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->place_count; i++)
		stats_place_free(s, s->places[i]);
	for (size_t i = 0; i < s->group_count; i++) {
		for (size_t j = 0; j < s->groups[i].group->servers.count; j++)
			stats_drop_ring(s, &s->groups[i].servers[j]);
		free(s->groups[i].servers);
	}
	for (size_t i = 0; i < s->zone_count; i++)
		free(s->zones[i]);
	free(s->zones);
	free(s->places);
	free(s->groups);
	snapshot_unref(s->snapshot);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* ---- a look --------------------------------------------------------------------------------- */

static int stats_compare_place(const void *key, const void *item)
{
	struct stats_place *const *p = item;

	return plan_key_compare(key, &(*p)->key);
}

static struct stats_place *stats_find_place(const struct stats *s, const struct plan_key *k)
{
	struct stats_place **found = s->place_count ? bsearch(k, s->places, s->place_count,
							      sizeof(struct stats_place *),
							      stats_compare_place)
						    : NULL;

	return found ? *found : NULL;
}

void stats_begin(struct stats *s)
{
	s->look++; /* nobody else reads it */
}

bool stats_note_service(struct stats *s, const struct plan_service *service)
{
	struct stats_place *p = stats_find_place(s, &service->key);

	if (!p)
		return false;
	stats_lock(s);
	p->seen = s->look;
	stats_counter_note(&p->counter, &service->stats, &p->series.now.total);
	stats_unlock(s);
	return true;
}

static int stats_compare_entry(const void *key, const void *item)
{
	const struct plan_dest *d = key;
	const struct stats_entry *e = item;
	int order = addr_compare(&d->address, &e->address);

	return order ? order : (d->port > e->port) - (d->port < e->port);
}

static void stats_note_dest(struct stats *s, struct stats_place *p, const struct plan_dest *d,
			    const struct plan_dest_counts *c)
{
	struct stats_entry *e = p->entry_count ? bsearch(d, p->entries, p->entry_count,
							 sizeof(*p->entries), stats_compare_entry)
					       : NULL;

	p->series.active += c->active;
	p->series.inactive += c->inactive;
	if (!e || e->seen == s->look) /* a dump that ran into a change may repeat one */
		return;
	e->seen = s->look;
	stats_counter_note(&e->counter, &c->stats, &e->series->now.total);
	e->series->active += c->active;
	e->series->inactive += c->inactive;
}

void stats_note_dests(struct stats *s, const struct plan_key *k, const struct stats_dests *d)
{
	struct stats_place *p = stats_find_place(s, k);

	for (size_t i = 0; p && i < d->count;) {
		size_t end = i + STATS_TURN < d->count ? i + STATS_TURN : d->count;

		stats_lock(s);
		for (; i < end; i++)
			stats_note_dest(s, p, &d->dests[i], &d->counts[i]);
		stats_unlock(s);
	}
}

/* ---- its end -------------------------------------------------------------------------------- */

struct stats_turn {
	usec_t now;
	uint64_t tick;
	uint64_t step; /* that has become whole */
	unsigned step_known;
	bool has_step;
};

static bool stats_is_busy(const struct stats_point *p)
{
	for (unsigned i = 0; i < STATS_FIGURE_COUNT; i++)
		if (p->figures[i] > 0)
			return true;
	return false;
}

static void stats_put_ring(struct stats *s, struct stats_series *series, const struct stats_turn *t)
{
	bool busy = stats_is_busy(&series->now.rates);

	if (busy)
		series->busy = t->tick;
	if (busy && !series->ring && s->rings < STATS_RINGS_MAX) {
		series->ring = mem_new(struct stats_ring);
		s->rings++;
	}
	if (!series->ring)
		return;
	if (t->has_step)
		stats_ring_put_step(series->ring, t->step, t->step_known);
	stats_ring_put(series->ring, t->tick, &series->now.rates);
	if (t->tick - series->busy > STATS_HOUR_SECONDS)
		stats_drop_ring(s, series);
}

/* Seconds in which what was found moved now has moved. */
static double stats_span(struct stats_series *series, usec_t now)
{
	usec_t since = now - series->moved;

	if (since >= STATS_SPAN_MAX)
		return (double)since / USEC_PER_SEC;
	if (series->pace_s <= 0)
		series->pace_s = STATS_PACE_S;
	else if (series->moving)
		series->pace_s += ((double)since / USEC_PER_SEC - series->pace_s) / STATS_PACES;
	return series->pace_s;
}

static void stats_rate(struct stats_series *series, const struct stats_mark *now, usec_t look)
{
	const struct stats_mark *before = &series->mark;
	double *figures = series->now.rates.figures;
	double span_s = stats_span(series, look);

	figures[STATS_CONNECTIONS] = (double)(now->connections - before->connections) / span_s;
	figures[STATS_PACKETS] = (double)(now->packets - before->packets) / span_s;
	figures[STATS_BITS] = 8 * (double)(now->bytes - before->bytes) / span_s;
	series->mark = *now;
	series->moved = look;
	series->moving = true;
}

static void stats_stand_still(struct stats_series *series, usec_t now)
{
	double *figures = series->now.rates.figures;

	figures[STATS_CONNECTIONS] = figures[STATS_PACKETS] = figures[STATS_BITS] = 0;
	series->moved = now > USEC_PER_SEC ? now - USEC_PER_SEC : 1;
	series->moving = false;
}

static bool stats_has_moved(const struct stats_mark *a, const struct stats_mark *b)
{
	return a->connections != b->connections || a->packets != b->packets || a->bytes != b->bytes;
}

static void stats_end_series(struct stats *s, struct stats_series *series,
			     const struct stats_turn *t)
{
	const struct plan_stats *total = &series->now.total;
	const struct stats_mark now = {total->connections, total->packets_in + total->packets_out,
				       total->bytes_in + total->bytes_out};

	if (!series->moved)
		series->mark = now;
	if (stats_has_moved(&now, &series->mark))
		stats_rate(series, &now, t->now);
	else if (!series->moved || t->now - series->moved >= STATS_STILL)
		stats_stand_still(series, t->now);
	series->now.rates.figures[STATS_ACTIVE] = series->active;
	series->now.active = series->active;
	series->now.inactive = series->inactive;
	series->active = series->inactive = 0;
	stats_put_ring(s, series, t);
}

static void stats_end_place(struct stats *s, struct stats_place *p)
{
	if (p->seen != s->look)
		stats_counter_lose(&p->counter);
	for (size_t i = 0; i < p->entry_count; i++) {
		if (p->entries[i].seen != s->look)
			stats_counter_lose(&p->entries[i].counter);
		if (i % STATS_TURN == STATS_TURN - 1) {
			stats_unlock(s);
			stats_lock(s);
		}
	}
}

static void stats_end_group(struct stats *s, struct stats_group *g, const struct stats_turn *t)
{
	for (size_t i = 0; i < g->group->servers.count; i++) {
		stats_end_series(s, &g->servers[i], t);
		if (i % STATS_TURN == STATS_TURN - 1) {
			stats_unlock(s);
			stats_lock(s);
		}
	}
}

/* Seconds without a look since the last one are not known. */
static void stats_skip_to(struct stats *s, uint64_t tick)
{
	uint64_t from = s->tick + 1;

	if (!s->tick || tick - s->tick >= STATS_HOUR_SECONDS) {
		memset(s->seconds, 0, sizeof(s->seconds));
		memset(s->steps, 0, sizeof(s->steps));
		return;
	}
	if (tick <= s->tick)
		return;
	if (tick - from > STATS_SECONDS)
		from = tick - STATS_SECONDS;
	for (; from < tick; from++)
		s->seconds[from % STATS_SECONDS] = false;
}

static void stats_begin_turn(struct stats *s, usec_t now, struct stats_turn *ret_turn)
{
	/* An hour before the clock's beginning is a tick too. */
	uint64_t tick = now / USEC_PER_SEC + 2 * STATS_HOUR_SECONDS;
	uint64_t last = s->tick / STATS_STEP_SECONDS;
	uint64_t step = tick / STATS_STEP_SECONDS;
	struct stats_turn t = {.tick = tick, .now = now};

	if (s->tick && step != last && step - last < STATS_STEPS) {
		for (unsigned i = 0; i < STATS_STEP_SECONDS; i++)
			if (last * STATS_STEP_SECONDS + i <= s->tick &&
			    s->seconds[(last * STATS_STEP_SECONDS + i) % STATS_SECONDS])
				t.step_known |= 1U << i;
		t.has_step = true;
		t.step = last;
		for (uint64_t i = last + 1; i < step; i++)
			s->steps[i % STATS_STEPS] = false;
		s->steps[last % STATS_STEPS] = t.step_known != 0;
	}
	stats_skip_to(s, tick);
	s->seconds[tick % STATS_SECONDS] = s->looked;
	s->looked = true;
	s->tick = tick;
	*ret_turn = t;
}

void stats_end(struct stats *s, usec_t now)
{
	struct stats_turn t;
	uint64_t connections = 0;

	stats_lock(s);
	stats_begin_turn(s, now, &t);
	for (size_t i = 0; i < s->place_count; i++) {
		stats_end_place(s, s->places[i]);
		connections += s->places[i]->series.active + s->places[i]->series.inactive;
		stats_end_series(s, &s->places[i]->series, &t);
		stats_unlock(s);
		stats_lock(s);
	}
	for (size_t i = 0; i < s->group_count; i++)
		stats_end_group(s, &s->groups[i], &t);
	s->known = true;
	s->error = 0;
	s->known_looks++;
	s->connections = connections;
	stats_unlock(s);
}

/* Half a look would count half of the connections. */
static void stats_forget_look(struct stats *s)
{
	for (size_t i = 0; i < s->place_count; i++) {
		s->places[i]->series.active = s->places[i]->series.inactive = 0;
		s->places[i]->series.now.active = s->places[i]->series.now.inactive = 0;
	}
	for (size_t i = 0; i < s->group_count; i++) {
		for (size_t j = 0; j < s->groups[i].group->servers.count; j++) {
			struct stats_series *series = &s->groups[i].servers[j];

			series->active = series->inactive = 0;
			series->now.active = series->now.inactive = 0;
			series->now.rates = (struct stats_point){0};
		}
	}
}

void stats_fail(struct stats *s, int error)
{
	stats_lock(s);
	if (s->known || error != s->error)
		stats_forget_look(s);
	s->known = false;
	s->error = error;
	s->connections = 0;
	stats_unlock(s);
}

void stats_note_table_size(struct stats *s, uint32_t buckets)
{
	stats_lock(s);
	s->table_size = buckets;
	stats_unlock(s);
}

/* ---- readers -------------------------------------------------------------------------------- */

static int stats_compare_group(const void *key, const void *item)
{
	const struct stats_group *g = item;

	return strcmp(key, g->group->o.name);
}

static int stats_compare_server(const void *key, const void *item)
{
	const struct server *server = item;

	return strcmp(key, server->o.name);
}

struct stats_series *stats_series_of(const struct stats *s, const char *group, const char *server,
				     const struct server **ret_server)
{
	const struct stats_group *g = s->group_count
					      ? bsearch(group, s->groups, s->group_count,
							sizeof(*s->groups), stats_compare_group)
					      : NULL;
	size_t index;
	const struct server *found = g ? vec_find(&g->group->servers, server, stats_compare_server,
						  &index)
				       : NULL;

	if (!found)
		return NULL;
	*ret_server = found;
	return &g->servers[index];
}

bool stats_find_server(struct stats *s, const char *group, const char *server,
		       struct stats_now *ret_now)
{
	const struct server *found;
	const struct stats_series *series;

	*ret_now = (struct stats_now){0};
	stats_lock(s);
	series = stats_series_of(s, group, server, &found);
	if (series)
		*ret_now = series->now;
	stats_unlock(s);
	return series != NULL;
}

void stats_each_listener(struct stats *s, const char *lb, stats_listener_fn *fn, void *ctx)
{
	stats_lock(s);
	for (size_t i = 0; i < s->place_count; i++) {
		const struct stats_place *p = s->places[i];
		const struct stats_listener l = {.lb = p->place.lb->o.name,
						 .listener = p->place.listener->o.name,
						 .zone = p->place.zone->o.name,
						 .family = p->place.family,
						 .protocol = p->place.listener->protocol,
						 .address = *desired_place_vip(&p->place),
						 .port = p->key.port,
						 .ports = p->place.listener->ports,
						 .now = p->series.now};

		if (!lb || strcmp(lb, l.lb) == 0)
			fn(ctx, &l);
	}
	stats_unlock(s);
}

void stats_read_state(struct stats *s, struct stats_state *ret_state)
{
	stats_lock(s);
	*ret_state = (struct stats_state){.known = s->known,
					  .error = s->error,
					  .looks = s->known_looks,
					  .connections = s->connections,
					  .table_size = s->table_size,
					  .rings = s->rings};
	stats_unlock(s);
}
