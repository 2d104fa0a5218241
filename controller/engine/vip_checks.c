// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the VIP of a zone is reachable: a probe from nodes that do not hold it, a look at itself on one that does.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/zones.h"
#include "health/window.h"

#define VIP_KEY_MAX 160

static bool holds(const struct engine *e, const char *zone)
{
	return !e->settings.kernel_off && services_has_zone(e, zone);
}

static const char *check_key(const struct engine_vip_check *c, char buf[VIP_KEY_MAX])
{
	snprintf(buf, VIP_KEY_MAX, "%s/%s/%s", c->lb->lb->o.name, c->zone,
		 c->family == AF_INET ? "v4" : "v6");
	return buf;
}

static void fill_check(const struct load_balancer *lb, struct health_check *h,
		       struct health_settings *s)
{
	const struct vip_probe *p = &lb->vip_probe;

	memset(h, 0, sizeof(*h));
	h->enabled = true;
	h->type = p->type == VIP_PROBE_TCP ? CHECK_TCP : CHECK_ICMP;
	h->port = p->port;
	h->interval_ms = p->interval_ms;
	h->timeout_ms = p->timeout_ms;
	h->healthy_threshold = p->healthy_threshold;
	h->unhealthy_threshold = p->unhealthy_threshold;
	h->fast_retry = true;
	*s = window_vip_settings(p);
}

static void check_stop(struct engine *e, struct engine_vip_check *c)
{
	if (c->probe)
		e->ports.probe_remove(e->ports.ctx, c->probe);
	c->probe = NULL;
	c->running = false;
	c->next = USEC_NEVER;
}

void vip_checks_stop(struct engine *e, struct engine_lb_zone *z)
{
	check_stop(e, &z->checks[ZONE_V4]);
	check_stop(e, &z->checks[ZONE_V6]);
}

/* The row that was kept of this VIP, or NULL; takes it out of those that were loaded. */
static json_t *take_loaded(struct engine *e, const struct engine_vip_check *c)
{
	char key[VIP_KEY_MAX];

	check_key(c, key);
	for (size_t i = e->loaded_vip_health.count; i-- > 0;) {
		struct engine_row *r = e->loaded_vip_health.items[i];
		struct vec one = {0};
		json_t *json;

		if (strcmp(r->key, key) != 0)
			continue;
		json = json_loads(r->value, 0, NULL);
		vec_remove(&e->loaded_vip_health, i);
		vec_push(&one, r);
		rows_free(&one);
		return json;
	}
	return NULL;
}

/* The last state of before a restart: a VIP that was down is not handed out again because nobody has looked yet. */
static void load_state(struct engine *e, struct engine_vip_check *c)
{
	char address[ADDR_TEXT_MAX];
	json_t *json = take_loaded(e, c);
	const char *vip = json_string_value(json_object_get(json, "vip"));
	const char *state = json_string_value(json_object_get(json, "state"));

	addr_format(&c->vip, address);
	c->saved = json != NULL;
	if (vip && state && strcmp(vip, address) == 0) {
		bool up = strcmp(state, health_state_name(HEALTH_HEALTHY)) == 0;

		health_init(&c->health, up ? HEALTH_HEALTHY : HEALTH_UNHEALTHY);
		c->since_wall = (usec_t)json_integer_value(json_object_get(json, "since"));
	}
	json_decref(json);
}

static void forget_state(struct engine *e, struct engine_vip_check *c)
{
	char key[VIP_KEY_MAX];

	if (!c->saved)
		return;
	c->saved = false;
	rows_put(e, "vip_health", check_key(c, key), NULL);
}

void vip_checks_forget(struct engine *e, struct engine_lb_zone *z)
{
	for (size_t f = 0; !e->flushing && f < ZONE_FAMILIES; f++)
		forget_state(e, &z->checks[f]);
}

void vip_checks_drop_loaded(struct engine *e)
{
	for (size_t i = 0; i < e->loaded_vip_health.count; i++) {
		const struct engine_row *r = e->loaded_vip_health.items[i];

		rows_put(e, "vip_health", r->key, NULL);
	}
	rows_free(&e->loaded_vip_health);
}

static void check_start(struct engine *e, struct engine_vip_check *c, bool first)
{
	usec_t now = e->ports.now(e->ports.ctx);
	struct probe_target target = {
		.check = &c->check, .address = c->vip, .port = (uint16_t)c->check.port};

	health_init(&c->health, HEALTH_INITIAL);
	c->since_wall = e->ports.wall(e->ports.ctx);
	c->has_last = false;
	c->self_fault[0] = '\0';
	c->running = true;
	if (first)
		load_state(e, c);
	else
		forget_state(e, c);
	e->vip_tick_at = 0;
	if (c->self)
		c->next = now;
	else
		c->probe = e->ports.probe_add(e->ports.ctx, &target, c, now);
}

static bool settings_equal(const struct health_check *a, const struct health_check *b)
{
	return a->type == b->type && a->port == b->port && a->interval_ms == b->interval_ms &&
	       a->timeout_ms == b->timeout_ms && a->healthy_threshold == b->healthy_threshold &&
	       a->unhealthy_threshold == b->unhealthy_threshold;
}

bool vip_checks_same(const struct engine_vip_check *c, const struct load_balancer *lb,
		     const struct addr *vip)
{
	struct health_check check;
	struct health_settings settings;

	fill_check(lb, &check, &settings);
	return c->running && addr_compare(vip, &c->vip) == 0 && settings_equal(&check, &c->check);
}

static void sync_one(struct engine *e, struct engine_lb *lb, struct engine_lb_zone *z,
		     enum zone_family f)
{
	struct engine_vip_check *c = &z->checks[f];
	const struct addr *vip = zones_vip(z->zone, f);
	/* Nobody asks whether a VIP that is in no answer can be reached. */
	bool wanted = lb->lb->dns_name && addr_is_set(vip) && lb->lb->enabled && z->zone->enabled &&
		      !shifts_find_cover(e, lb->lb->o.name, z->zone->o.name);
	struct health_check check;
	struct health_settings settings;

	c->ref = REF_VIP;
	c->lb = lb;
	c->zone = z->zone->o.name;
	c->family = f == ZONE_V4 ? AF_INET : AF_INET6;
	fill_check(lb->lb, &check, &settings);
	if (wanted && vip_checks_same(c, lb->lb, vip) && c->self == holds(e, c->zone))
		return;
	check_stop(e, c);
	c->vip = *vip;
	c->self = holds(e, c->zone);
	c->check = check;
	c->settings = settings;
	if (wanted)
		check_start(e, c, !e->planned_snapshot);
}

void vip_checks_sync(struct engine *e, struct engine_lb *lb, struct engine_lb_zone *z)
{
	sync_one(e, lb, z, ZONE_V4);
	sync_one(e, lb, z, ZONE_V6);
}

enum zone_verdict vip_checks_verdict(const struct engine_vip_check *c)
{
	if (!c->running || c->health.state == HEALTH_INITIAL)
		return ZONE_UNDECIDED;
	return c->health.state == HEALTH_HEALTHY ? ZONE_HEALTHY : ZONE_UNHEALTHY;
}

/* ---- results ---- */

static void save_state(struct engine *e, struct engine_vip_check *c)
{
	char key[VIP_KEY_MAX];
	char address[ADDR_TEXT_MAX];

	c->saved = true;
	rows_put(e, "vip_health", check_key(c, key),
		 mem_printf("{\"vip\":\"%s\",\"state\":\"%s\",\"since\":%llu}",
			    addr_format(&c->vip, address), health_state_name(c->health.state),
			    (unsigned long long)c->since_wall));
}

static usec_t step(struct engine *e, struct engine_vip_check *c, const struct health_result *r,
		   const char *detail)
{
	const char *old = health_state_name(c->health.state);
	char path[OBJECT_PATH_MAX];
	char address[ADDR_TEXT_MAX];
	struct object_path p = {
		.kind = OBJECT_LB_ZONE, .parent = c->lb->lb->o.name, .name = c->zone};
	usec_t next;

	if (health_step(&c->health, &c->settings, r, &next) == HEALTH_EDGE_NONE)
		return next;
	c->since_wall = e->ports.wall(e->ports.ctx);
	engine_emit_with(
		e,
		&(struct emission){.id = EVENT_ZONE_VIP_CHANGED,
				   .object = object_path_format(&p, path),
				   .bad = c->health.state == HEALTH_UNHEALTHY,
				   .data = json_pack("{s:s, s:s, s:s}", "vip",
						     addr_format(&c->vip, address), "from", old,
						     "to", health_state_name(c->health.state))},
		"VIP %s: %s -> %s: %s", address, old, health_state_name(c->health.state), detail);
	save_state(e, c);
	zones_mark_lb(e, c->lb);
	return next;
}

usec_t vip_checks_note_result(struct engine *e, struct engine_vip_check *c,
			      const struct probe_result *r)
{
	struct probe_target target = {
		.check = &c->check, .address = c->vip, .port = (uint16_t)c->check.port};
	char detail[200];

	c->last = r->evidence;
	c->has_last = true;
	c->last_reason = r->health.verdict == PROBE_PASS ? REASON_NONE : r->health.reason;
	evidence_describe(&target, c->last_reason, &c->last, detail, sizeof(detail));
	return step(e, c, &r->health, detail);
}

/* ---- a look at itself ---- */

static const struct lb_zone *check_zone(const struct engine_vip_check *c)
{
	const struct load_balancer *lb = c->lb->lb;

	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *zone = lb->zones.items[i];

		if (strcmp(zone->o.name, c->zone) == 0)
			return zone;
	}
	return NULL;
}

/* The services of the VIP are those of its load balancer's listeners: nobody else's are looked through. */
static bool services_in_order(const struct engine *e, const struct engine_vip_check *c)
{
	const struct load_balancer *lb = c->lb->lb;
	const struct lb_zone *zone = check_zone(c);

	for (size_t i = 0; zone && i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		const struct desired_place place = {
			.lb = lb,
			.zone = zone,
			.listener = l,
			.family = c->family,
			.mark = snapshot_find_mark(e->snapshot, lb, zone, l)};
		const struct engine_service *s;
		struct plan_key key;

		if (!desired_place_key(&place, &key))
			return false;
		s = services_find(e, &key);
		if (!s || s->fault || !s->present || s->lack.kind == LACK_MARK)
			return false;
	}
	return true;
}

static void look(struct engine *e, struct engine_vip_check *c)
{
	char address[ADDR_TEXT_MAX];
	int carrier = e->ports.link_carrier ? e->ports.link_carrier(e->ports.ctx) : 1;

	c->self_fault[0] = '\0';
	addr_format(&c->vip, address);
	if (!e->kernel_known)
		snprintf(c->self_fault, sizeof(c->self_fault),
			 "IPVS is not available on this node: modprobe ip_vs");
	else if (e->settings.manage_addresses && !vips_is_present(e, &c->vip))
		snprintf(c->self_fault, sizeof(c->self_fault),
			 "the address %s is not on the VIP device of this node", address);
	else if (carrier == 0)
		snprintf(
			c->self_fault, sizeof(c->self_fault),
			"the link on which clients' packets arrive ([node] vip_link) has no carrier");
	else if (carrier < 0)
		snprintf(c->self_fault, sizeof(c->self_fault),
			 "the link of [node] vip_link is not there: %s", strerror(-carrier));
	else if (!services_in_order(e, c))
		snprintf(
			c->self_fault, sizeof(c->self_fault),
			"the kernel does not hold the virtual services of %s as it should, or not the rules that "
			"lead packets to them",
			address);
}

static void tick_one(struct engine *e, struct engine_vip_check *c, usec_t now)
{
	struct health_result r = {.planned = c->next, .ended = now};

	if (!e->availability_known || (e->kernel_available && !e->kernel_known)) {
		c->next = now + 100 * USEC_PER_MS; /* nothing is known of the kernel yet */
		return;
	}
	look(e, c);
	r.verdict = c->self_fault[0] ? PROBE_FAIL_ACTIVE : PROBE_PASS;
	r.reason = c->self_fault[0] ? REASON_CONNECT_UNREACHABLE : REASON_NONE;
	c->next = step(e, c, &r, c->self_fault[0] ? c->self_fault : "in order");
	if (c->next <= now)
		c->next = now + c->settings.interval;
}

/* Looks in one step: below half a millisecond. One that changes the verdict, which is told and stored, costs as much as these. */
#define LOOK_BATCH 400
#define EDGE_COST  10

/* True: it changed the verdict. */
static bool tick_counts(struct engine *e, struct engine_vip_check *c, usec_t now)
{
	const enum health_state before = c->health.state;

	tick_one(e, c, now);
	return c->health.state != before;
}

/* What is due and not looked at in this step keeps its time, which is past: the loop comes back at once. */
usec_t vip_checks_tick(struct engine *e, usec_t now)
{
	usec_t next = USEC_NEVER;

	if (now < e->vip_tick_at)
		return e->vip_tick_at;
	for (size_t i = 0; i < e->lbs.count; i++) {
		struct engine_lb *lb = e->lbs.items[i];

		for (size_t k = 0; k < lb->zones.count * ZONE_FAMILIES; k++) {
			struct engine_lb_zone *z = lb->zones.items[k / ZONE_FAMILIES];
			struct engine_vip_check *c = &z->checks[k % ZONE_FAMILIES];

			if (!c->running || !c->self)
				continue;
			if (now >= c->next && e->vip_looks < LOOK_BATCH)
				e->vip_looks += tick_counts(e, c, now) ? EDGE_COST : 1;
			if (c->next < next)
				next = c->next;
		}
	}
	e->vip_tick_at = next;
	return next;
}

void vip_checks_load_row(struct engine *e, const struct store_row *row)
{
	rows_add(&e->loaded_vip_health, row->kind, row->key, mem_strdup(row->value));
}
