// SPDX-License-Identifier: GPL-2.0-or-later
// The view that DNS answers from: built of the snapshot and the verdicts, given out when it differs from the one before. It is
// built in several steps, and given out in one; where but a few verdicts are new it is the one before with these. The serial never falls: the store holds a bound that is raised ahead of it.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "dns/dns_name.h"
#include "dns/view_builder.h"
#include "dns/view_patch.h"
#include "engine/zones.h"
#include "model/fields.h"

#define SERIAL_AHEAD 1000U
#define TTL_MIN      5U
#define BUILD_BATCH  100U /* load balancers in one step */
#define BUILD_NODES  4U   /* names that are settled in the time of a load balancer */
#define RESTARTS_MAX \
	3U /* then a view is built in one step: documents that come one upon the other do not put it off for ever */

static uint64_t hash_addr(const struct addr *a, uint64_t seed)
{
	return hash_bytes(a->bytes, sizeof(a->bytes), seed ^ a->family);
}

uint32_t publish_ttl(uint32_t ttl, bool missing)
{
	uint32_t half = ttl / 2 > TTL_MIN ? ttl / 2 : TTL_MIN;

	return missing && half < ttl ? half : ttl;
}

static uint32_t effective_ttl(const struct engine_lb *lb)
{
	bool missing = false;

	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct engine_lb_zone *z = lb->zones.items[i];

		for (size_t f = 0; f < ZONE_FAMILIES; f++)
			if (lb->lb->enabled && z->zone->enabled &&
			    addr_is_set(zones_vip(z->zone, (enum zone_family)f)) &&
			    !z->out[f].published)
				missing = true;
	}
	return publish_ttl(lb->lb->dns_ttl_s, missing);
}

static void fill_zone(const struct engine_lb_zone *z, struct view_builder_zone *out)
{
	out->name = z->zone->o.name;
	for (size_t f = 0; f < ZONE_FAMILIES; f++) {
		if (!addr_is_set(zones_vip(z->zone, (enum zone_family)f)))
			continue;
		out->address[f] = *zones_published_address(z->zone, (enum zone_family)f);
		out->published[f] = z->out[f].published;
		out->reason[f] = zone_reason_name(z->out[f].reason);
	}
}

static uint64_t hash_name(const struct view_builder_name *name, uint64_t seed)
{
	seed = hash_text(name->dns_name, hash_text(name->balancer, seed));
	seed = hash_bytes(&name->ttl, sizeof(name->ttl), seed ^ (uint64_t)name->affinity);
	for (size_t i = 0; i < name->zone_count; i++) {
		const struct view_builder_zone *z = &name->zones[i];

		seed = hash_text(z->name, seed);
		for (size_t f = 0; f < ZONE_FAMILIES; f++) {
			seed = hash_addr(&z->address[f], seed ^ (z->published[f] ? 1 : 0));
			if (z->reason[f])
				seed = hash_text(z->reason[f], seed);
		}
	}
	return seed;
}

/* A name as the builder takes it, with room for its zones. */
struct publish_name {
	struct view_builder_name name;
	struct view_builder_zone zones[MODEL_LB_ZONES_MAX];
};

static void fill_name(const struct engine_lb *lb, struct publish_name *out)
{
	static const enum view_affinity affinities[] = {[AFFINITY_ANY] = VIEW_AFFINITY_ANY,
							[AFFINITY_PARTIAL] = VIEW_AFFINITY_PARTIAL,
							[AFFINITY_ZONE] = VIEW_AFFINITY_ZONE};

	out->name = (struct view_builder_name){.balancer = lb->lb->o.name,
					       .dns_name = lb->lb->dns_name,
					       .ttl = effective_ttl(lb),
					       .affinity = affinities[lb->lb->client_affinity],
					       .zones = out->zones};
	for (size_t i = 0; i < lb->zones.count && i < MODEL_LB_ZONES_MAX; i++) {
		struct view_builder_zone *zone = &out->zones[out->name.zone_count++];

		memset(zone, 0, sizeof(*zone));
		fill_zone(lb->zones.items[i], zone);
	}
}

static uint64_t hash_subnets(const struct engine *e, uint64_t seed)
{
	for (size_t i = 0; i < e->snapshot->zones.count; i++) {
		const struct zone *z = e->snapshot->zones.items[i];

		for (size_t k = 0; k < z->client_subnets.count; k++) {
			const struct model_prefix *p = &z->client_subnets.items[k];

			seed = hash_addr(&p->net, hash_text(z->o.name, seed ^ p->length));
		}
	}
	return seed;
}

uint64_t publish_hash(const struct engine_lb *lb)
{
	struct publish_name p;

	if (!lb->lb->dns_name)
		return 0;
	fill_name(lb, &p);
	return hash_name(&p.name, 1);
}

/* Of all that a view is made of, the settings apart: they stay as they are. */
static uint64_t hash_picture(const struct engine *e)
{
	uint64_t seed = hash_subnets(e, 1);

	for (size_t i = 0; i < e->lbs.count; i++) {
		const struct engine_lb *lb = e->lbs.items[i];

		seed = hash_bytes(&lb->picture, sizeof(lb->picture), seed);
	}
	return seed;
}

static void add_subnets(const struct engine *e, struct view_builder *b)
{
	for (size_t i = 0; i < e->snapshot->zones.count; i++) {
		const struct zone *z = e->snapshot->zones.items[i];

		for (size_t k = 0; k < z->client_subnets.count; k++) {
			const struct model_prefix *p = &z->client_subnets.items[k];

			view_builder_add_subnet(b, &p->net, p->length, z->o.name);
		}
	}
}

/* Raises the bound in the store long before the serial reaches it: the commit takes its time. */
static void raise_serial(struct engine *e)
{
	e->dns_serial++;
	if (e->dns_serial + SERIAL_AHEAD / 2 < e->dns_serial_bound)
		return;
	e->dns_serial_bound = e->dns_serial + SERIAL_AHEAD;
	rows_put(e, "dns", "serial", mem_printf("%u", e->dns_serial_bound));
}

void publish_load_row(struct engine *e, const struct store_row *row)
{
	if (strcmp(row->key, "pushed") == 0) {
		free(e->dns_pushed);
		e->dns_pushed = mem_strdup(row->value);
	}
	if (strcmp(row->key, "serial") != 0)
		return;
	e->dns_serial = (uint32_t)strtoul(row->value, NULL, 10);
	e->dns_serial_bound = e->dns_serial;
}

/* ---- building ---- */

static struct view_builder *make_builder(const struct engine *e)
{
	struct view_builder *b = view_builder_new(e->dns_serial, e->settings.dns_hostmaster);

	for (size_t i = 0; i < e->settings.dns_apex_count; i++)
		view_builder_add_apex(b, e->settings.dns_apexes[i]);
	for (size_t i = 0; i < e->settings.dns_ns_count; i++)
		view_builder_add_ns(b, e->settings.dns_ns[i].name, e->settings.dns_ns[i].addresses,
				    e->settings.dns_ns[i].address_count);
	add_subnets(e, b);
	return b;
}

static void give_out(struct engine *e, struct view *view)
{
	view_unref(e->dns_view);
	e->dns_view = view;
	e->dns_done = e->dns_begun;
	for (size_t i = 0; i < e->lbs.count; i++) {
		struct engine_lb *lb = e->lbs.items[i];

		lb->shown = lb->picture;
	}
	if (e->ports.publish_dns)
		e->ports.publish_dns(e->ports.ctx, e->dns_view);
}

static size_t count_changed(const struct engine *e)
{
	size_t count = 0;

	for (size_t i = 0; i < e->lbs.count; i++) {
		const struct engine_lb *lb = e->lbs.items[i];

		count += lb->picture != lb->shown;
	}
	return count;
}

/* The view in force with what is new: false if it takes a whole one. */
static bool patch(struct engine *e)
{
	struct publish_name p;
	struct view *view;

	if (!e->dns_view || e->dns_moved || count_changed(e) > BUILD_BATCH)
		return false;
	view = view_patch_new(e->dns_view, e->dns_serial);
	for (size_t i = 0; i < e->lbs.count; i++) {
		const struct engine_lb *lb = e->lbs.items[i];

		if (lb->picture == lb->shown)
			continue;
		fill_name(lb, &p);
		if (view_patch_name(view, &p.name) != 0) {
			view_unref(view);
			return false;
		}
	}
	give_out(e, view);
	return true;
}

/* False: DNS has it already, or from now on. */
static bool begin(struct engine *e)
{
	uint64_t hash = hash_picture(e);

	if (e->dns_serial == 0)
		e->dns_serial = (uint32_t)(e->ports.wall(e->ports.ctx) / USEC_PER_SEC);
	e->dns_begun++;
	if (e->dns_view && hash == e->dns_hash && !e->dns_restarts) {
		e->dns_done = e->dns_begun;
		e->dns_moved = false;
		return false;
	}
	raise_serial(e);
	e->dns_hash = hash;
	if (patch(e))
		return false;
	e->dns_builder = make_builder(e);
	e->dns_built = 0;
	e->dns_moved = false;
	return true;
}

/* A step of it. True: nothing is left but to finish it. */
static bool build_some(struct engine *e)
{
	size_t left = BUILD_BATCH;
	struct publish_name p;

	for (; left > 0 && e->dns_built < e->lbs.count; left--) {
		const struct engine_lb *lb = e->lbs.items[e->dns_built++];

		if (!lb->lb->dns_name)
			continue;
		fill_name(lb, &p);
		view_builder_add_name(e->dns_builder, &p.name);
	}
	return left > 0 && !view_builder_settle_some(e->dns_builder, left * BUILD_NODES);
}

void publish_abandon(struct engine *e)
{
	if (!e->dns_builder)
		return;
	view_builder_free(e->dns_builder);
	e->dns_builder = NULL;
	e->dns_restarts++;
}

void publish_view(struct engine *e)
{
	bool at_once = !e->dns_view || e->dns_restarts >= RESTARTS_MAX;
	struct view *view;

	if (e->flushing) /* the stop of one node takes nothing out of DNS */
		return;
	if (e->dns_view && !e->dns_builder && e->marks & MARK_ZONES) { /* not all are judged yet */
		engine_mark(e, MARK_DNS);
		return;
	}
	if (!e->dns_builder && !begin(e))
		return;
	while (!build_some(e))
		if (!at_once) {
			engine_mark(e, MARK_DNS);
			return;
		}
	view_builder_finish(e->dns_builder, &view);
	e->dns_builder = NULL;
	e->dns_restarts = 0;
	give_out(e, view);
}

const struct view *engine_dns_view(const struct engine *e)
{
	return e->dns_view;
}

void engine_note_pushed(struct engine *e, const char *names)
{
	if (strcmp(names, engine_dns_pushed(e)) == 0)
		return;
	free(e->dns_pushed);
	e->dns_pushed = mem_strdup(names);
	rows_put(e, "dns", "pushed", mem_strdup(names));
}

const char *engine_dns_pushed(const struct engine *e)
{
	return e->dns_pushed ? e->dns_pushed : "";
}

void publish_free(struct engine *e)
{
	free(e->dns_pushed);
	e->dns_pushed = NULL;
	view_builder_free(e->dns_builder);
	e->dns_builder = NULL;
	view_unref(e->dns_view);
	e->dns_view = NULL;
}

static bool is_under(const char *name, const char *apex)
{
	struct dns_name n;
	struct dns_name top;

	if (dns_name_parse(name, &n) != 0 || dns_name_parse(apex, &top) != 0)
		return false;
	dns_name_lower(&n);
	dns_name_lower(&top);
	return dns_name_within(&n, &top);
}

/* A name server with addresses of its own: no load balancer can have its name. */
static bool is_name_server(const struct engine *e, const char *name)
{
	struct dns_name n;
	struct dns_name server;

	if (dns_name_parse(name, &n) != 0)
		return false;
	dns_name_lower(&n);
	for (size_t i = 0; i < e->settings.dns_ns_count; i++) {
		const struct engine_name_server *ns = &e->settings.dns_ns[i];

		if (!ns->address_count || dns_name_parse(ns->name, &server) != 0)
			continue;
		dns_name_lower(&server);
		if (dns_name_equal(&n, &server))
			return true;
	}
	return false;
}

/* Its own name, or the derived one of a zone. */
static bool takes_name_server(const struct engine *e, const struct load_balancer *lb)
{
	if (is_name_server(e, lb->dns_name))
		return true;
	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];
		char *name AUTO_FREE = mem_printf("%s.%s", z->o.name, lb->dns_name);

		if (is_name_server(e, name))
			return true;
	}
	return false;
}

/* One that can be judged. */
static bool has_name(const struct load_balancer *lb)
{
	return lb->dns_name && !fields_faulty(&lb->o, "dns_name");
}

static void check_name_servers(const struct engine *e, const struct snapshot *s, struct err *err)
{
	for (size_t i = 0; e->settings.dns_ns_count && i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		char pointer[ERR_POINTER_MAX];

		if (!has_name(lb) || !takes_name_server(e, lb))
			continue;
		snprintf(pointer, sizeof(pointer), "/load_balancers/%s/dns_name", lb->o.name);
		err_set(err, ERR_IN_USE, pointer,
			"%s, or a zone's name below it, is a name server with addresses of its own ([dns] ns): choose another "
			"name",
			lb->dns_name);
	}
}

void publish_check(const void *engine, const struct snapshot *s, struct err *err)
{
	const struct engine *e = engine;

	check_name_servers(e, s, err);
	for (size_t i = 0; e->settings.dns_apex_count && i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		char pointer[ERR_POINTER_MAX];
		bool served = !has_name(lb);

		for (size_t k = 0; k < e->settings.dns_apex_count && !served; k++)
			served = is_under(lb->dns_name, e->settings.dns_apexes[k]);
		if (served)
			continue;
		snprintf(pointer, sizeof(pointer), "/load_balancers/%s/dns_name", lb->o.name);
		err_set(err, ERR_UNSUPPORTED, pointer,
			"%s is under none of the names that this node serves ([dns] apex): choose one under %s",
			lb->dns_name, e->settings.dns_apexes[0]);
	}
}
