// SPDX-License-Identifier: GPL-2.0-or-later
// What readers see: states with their reasons as sentences, services, drains, the node. Changes nothing.
#include "engine/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "dns/view.h"
#include "engine/override_parts.h"
#include "model/health_check.h"
#include "plan/diff.h"

const struct snapshot *engine_snapshot(const struct engine *e)
{
	return e->snapshot;
}

/* ---- one server ---- */

static void fill_target(const struct engine_server *s, struct probe_target *t)
{
	const struct health_check *c = &s->group->group->health_check;

	memset(t, 0, sizeof(*t));
	if (!runtime_is_checked(s))
		return;
	t->check = c;
	t->address = s->server->address;
	t->port = (uint16_t)(c->port ? c->port : s->server->port);
}

static const char *time_in_state(const struct engine *e, const struct engine_server *s,
				 char buf[TIME_TEXT_MAX])
{
	return time_format_span(e->ports.now(e->ports.ctx) - s->since, buf);
}

/* The least time from one start to the next, on the way to the other state. */
static usec_t least_pace(const struct health_settings *set, bool up)
{
	usec_t pace = set->interval;

	if (up || !set->fast_retry)
		return pace;
	if (pace > HEALTH_ACTIVE_RETRY)
		pace = HEALTH_ACTIVE_RETRY;
	return pace < set->timeout ? pace : set->timeout;
}

static void write_next_change(const struct engine *e, const struct engine_server *s,
			      struct server_status *st)
{
	const struct health_settings *set = &s->group->settings;
	unsigned left = health_results_to_edge(&s->health, set);
	usec_t now = e->ports.now(e->ports.ctx);
	usec_t wait = s->next_start > now ? s->next_start - now : 0;
	bool up = s->health.state != HEALTH_HEALTHY;

	if (!st->target.check || left == 0)
		return;
	wait += (left - 1) * least_pace(set, up);
	snprintf(st->next_change, sizeof(st->next_change),
		 "%s after %u more %s in a row, in %.1f s at the earliest",
		 up ? "healthy" : "unhealthy", left,
		 up ? TEXT_FORM(left, "pass", "passes") : TEXT_FORM(left, "failure", "failures"),
		 (double)wait / (double)USEC_PER_SEC);
}

/* "", or how far its slow start is. Returns `buf`. */
static const char *describe_ramp(const struct engine *e, const struct engine_server *s, char *buf,
				 size_t size)
{
	const usec_t length = s->group->group->slow_start_ms * USEC_PER_MS;
	const usec_t past = e->ports.now(e->ports.ctx) - s->ramp_start;
	char span[TIME_TEXT_MAX], end[TIME_TEXT_MAX];

	buf[0] = '\0';
	if (s->ramp_start && past < length)
		snprintf(
			buf, size,
			", in slow start: at %u %% of its weight, at all of it in %s, at %.19s UTC",
			(unsigned)(1 + past * DESIRED_RAMP_FULL / length) * 100 / DESIRED_RAMP_FULL,
			time_format_span(length - past, span),
			time_format_wall(e->ports.wall(e->ports.ctx) + (length - past), end));
	return buf;
}

static void write_healthy(const struct engine *e, const struct engine_server *s,
			  struct server_status *st)
{
	char evidence[200] = "not probed yet since the start", span[TIME_TEXT_MAX];
	char ramp[120];

	if (st->last)
		evidence_describe(&st->target, s->last_reason, st->last, evidence,
				  sizeof(evidence));
	describe_ramp(e, s, ramp, sizeof(ramp));
	if (s->health.failures)
		snprintf(st->sentence, sizeof(st->sentence),
			 "healthy for %s%s, but the last %s failed: %s", time_in_state(e, s, span),
			 ramp, TEXT_FORM(s->health.failures, "probe", "probes"), evidence);
	else
		snprintf(st->sentence, sizeof(st->sentence), "healthy for %s%s; last probe: %s",
			 time_in_state(e, s, span), ramp, evidence);
	if (overrides_weight(e, s->group->group, s->server) == 0 && s->server->weight == 0) {
		st->reason_code = health_reason_name(REASON_WEIGHT_ZERO);
		snprintf(st->sentence, sizeof(st->sentence),
			 "healthy, but its configured weight is 0: it gets no new flows");
		snprintf(st->advice, sizeof(st->advice), "%s",
			 health_reason_remedy(REASON_WEIGHT_ZERO));
	}
}

static void write_initial(const struct engine_server *s, struct server_status *st)
{
	unsigned h = s->group->settings.healthy_threshold;
	enum health_reason r = s->has_last ? REASON_INITIAL_CHECKING
					   : REASON_REGISTRATION_IN_PROGRESS;
	char evidence[200] = "";

	if (st->last)
		evidence_describe(&st->target, s->last_reason, st->last, evidence,
				  sizeof(evidence));
	if (s->health.trusted)
		r = REASON_TRUSTED_UNTIL_CHECKED;
	st->reason_code = health_reason_name(r);
	snprintf(st->sentence, sizeof(st->sentence),
		 "%s: %u of %u pass%s, %u failure%s in a row%s%s",
		 s->health.trusted
			 ? "was in service before and keeps its weight until its first verdict"
			 : "not yet in service, its first probes are under way",
		 s->health.passes, h, TEXT_FORM(h, "", "es"), s->health.failures,
		 TEXT_S(s->health.failures), evidence[0] ? "; last probe: " : "", evidence);
}

static void write_unhealthy(const struct engine *e, const struct engine_server *s,
			    struct server_status *st)
{
	char evidence[200] = "failed before this daemon started", span[TIME_TEXT_MAX];

	if (st->last_failure)
		evidence_describe(&st->target, s->last_failure_reason, st->last_failure, evidence,
				  sizeof(evidence));
	if (s->health.reason == REASON_FAILING_INTERMITTENTLY)
		snprintf(st->sentence, sizeof(st->sentence),
			 "unhealthy for %s: %u of the last %u probe%s failed, the last failure: %s",
			 time_in_state(e, s, span),
			 health_window_failures(&s->health, &s->group->settings),
			 s->group->settings.window_of, TEXT_S(s->group->settings.window_of),
			 evidence);
	else if (s->health.failures)
		snprintf(st->sentence, sizeof(st->sentence),
			 "unhealthy for %s: %s (%u%s failure%s in a row)",
			 time_in_state(e, s, span), evidence, s->health.failures,
			 s->health.failures >= 255 ? " or more" : "", TEXT_S(s->health.failures));
	else
		snprintf(st->sentence, sizeof(st->sentence),
			 "unhealthy for %s, recovering: %u of %u pass%s; the last failure: %s",
			 time_in_state(e, s, span), s->health.passes,
			 s->group->settings.healthy_threshold,
			 TEXT_FORM(s->group->settings.healthy_threshold, "", "es"), evidence);
	/* Of one that comes back there is nothing left to try. */
	if (s->health.passes == 0 || s->health.reason == REASON_FAILING_INTERMITTENTLY)
		snprintf(st->advice, sizeof(st->advice), "%s",
			 evidence_remedy(&s->group->group->health_check,
					 s->last_failure ? s->last_failure_reason
							 : s->health.reason));
}

static void write_probed(const struct engine *e, const struct engine_server *s,
			 struct server_status *st)
{
	st->state = health_state_name(s->health.state);
	st->reason_code = health_reason_name(s->health.reason);
	st->rests_on_silence = s->health.state == HEALTH_HEALTHY && !s->heard &&
			       health_check_passes_late(&s->group->group->health_check);
	switch (s->health.state) {
	case HEALTH_HEALTHY:
		write_healthy(e, s, st);
		break;
	case HEALTH_INITIAL:
		write_initial(s, st);
		break;
	case HEALTH_UNHEALTHY:
		write_unhealthy(e, s, st);
		break;
	case HEALTH_STATE_COUNT:
		break;
	}
	if (st->last && st->last->silence == SILENCE_UNTELLING)
		snprintf(
			st->advice, sizeof(st->advice), "%s",
			"nobody knows whether the service lives: let the host send \"port unreachable\", or use expect \"reply\"");
	if (s->has_last && s->last_reason == REASON_PROBER_ERROR)
		snprintf(st->advice, sizeof(st->advice), "%s",
			 health_reason_remedy(REASON_PROBER_ERROR));
	write_next_change(e, s, st);
}

static void write_fixed(struct server_status *st, const char *state, enum health_reason r,
			const char *sentence)
{
	st->state = state;
	st->reason_code = health_reason_name(r);
	snprintf(st->sentence, sizeof(st->sentence), "%s", sentence);
	snprintf(st->advice, sizeof(st->advice), "%s", health_reason_remedy(r));
}

/* Its health goes on beside that; the state is as old as the last change of the configuration at most. */
static void write_disabled(const struct engine_server *s, struct server_status *st)
{
	write_fixed(st, "disabled", REASON_DISABLED,
		    "disabled by the configuration: it gets no new flows");
	if (s->server->o.updated_wall > st->since_wall)
		st->since_wall = s->server->o.updated_wall;
}

static void write_evidence(const struct engine_server *s, struct server_status *st)
{
	if (s->has_last) {
		evidence_recall(&s->last, &st->seen[0]);
		st->last = &st->seen[0];
	}
	if (s->last_failure) {
		evidence_recall(s->last_failure, &st->seen[1]);
		st->last_failure = &st->seen[1];
	}
	st->last_reason = s->last_reason;
	st->last_failure_reason = s->last_failure_reason;
}

int engine_server_status(const struct engine *e, const char *group, const char *server,
			 struct server_status *ret_status)
{
	const struct engine_group *g = runtime_find_group(e, group);
	const struct engine_server *s = g ? runtime_find_server(g, server) : NULL;
	struct server_status *st = ret_status;
	struct desired_state state;

	if (!s)
		return -ENOENT;
	memset(st, 0, sizeof(*st));
	fill_target(s, &st->target);
	state = (struct desired_state){.health = s->health.state, .trusted = s->health.trusted};
	st->in_service = g->used && s->server->enabled && desired_in_service(g->group, &state) &&
			 overrides_weight(e, g->group, s->server) > 0;
	st->trusted = s->health.trusted;
	st->passes = s->health.passes;
	st->failures = s->health.failures;
	st->since_wall = s->since_wall;
	st->weight_configured = s->server->weight;
	write_evidence(s, st);
	if (!g->used)
		write_fixed(st, "unused", REASON_NOT_IN_USE,
			    "no listener uses its group: it is not probed and not in the kernel");
	else if (!s->server->enabled)
		write_disabled(s, st);
	else if (!g->group->health_check.enabled)
		write_fixed(st, "unavailable", REASON_HEALTH_CHECK_DISABLED,
			    "its group is not checked: it counts as healthy everywhere");
	else
		write_probed(e, s, st);
	overrides_write_server(e, s, st);
	return 0;
}

size_t engine_recent_results(const struct engine *e, const char *group, const char *server,
			     struct recent_result ret_results[RECENT_RESULTS])
{
	const struct engine_group *g = runtime_find_group(e, group);
	const struct engine_server *s = g ? runtime_find_server(g, server) : NULL;

	return s ? results_recent(&s->recent, ret_results) : 0;
}

void engine_query(struct engine *e, const struct store_query *q, store_items_fn *done, void *ctx)
{
	e->ports.query(e->ports.ctx, q, done, ctx);
}

static void count_server(const struct engine *e, const struct engine_server *s,
			 struct group_status *st)
{
	const unsigned before = st->unchecked + st->healthy;
	struct desired_state state = {.health = s->health.state, .trusted = s->health.trusted};

	st->servers++;
	if (!s->server->enabled)
		st->disabled++;
	else if (overrides_find_drain(e, s->group->group, s->server))
		st->draining++;
	else if (!s->group->group->health_check.enabled)
		st->unchecked++;
	else if (desired_in_service(s->group->group, &state))
		st->healthy++;
	else if (s->health.state == HEALTH_UNHEALTHY)
		st->unhealthy++;
	else
		st->initial++;
	if (st->unchecked + st->healthy > before &&
	    overrides_weight(e, s->group->group, s->server) == 0)
		st->weight_zero++;
}

int engine_group_status(const struct engine *e, const char *group, struct group_status *ret_status)
{
	const struct engine_group *g = runtime_find_group(e, group);

	if (!g)
		return -ENOENT;
	memset(ret_status, 0, sizeof(*ret_status));
	ret_status->used = g->used;
	for (size_t i = 0; i < g->servers.count; i++)
		count_server(e, g->servers.items[i], ret_status);
	return 0;
}

/* ---- services ---- */

static int service_order(const void *a, const void *b)
{
	const struct desired_place *x = &((const struct engine_service *)a)->place;
	const struct desired_place *y = &((const struct engine_service *)b)->place;
	int order = strcmp(x->lb->o.name, y->lb->o.name);

	if (!order)
		order = strcmp(x->zone->o.name, y->zone->o.name);
	if (!order)
		order = strcmp(x->listener->o.name, y->listener->o.name);
	return order ? order : (int)x->family - (int)y->family;
}

static const char *none_healthy_name(const struct engine *e, const struct engine_service *s)
{
	static const char *const names[] = {[NONE_HEALTHY_CLOSED] = "closed",
					    [NONE_HEALTHY_OPEN] = "open",
					    [NONE_HEALTHY_BACKUP] = "backup"};
	const struct server_group *g = snapshot_find_group(e->snapshot,
							   s->place.listener->server_group);

	return s->verdict.breached && g ? names[g->when_none_healthy] : "";
}

void engine_each_service(const struct engine *e, const char *lb, engine_service_fn *fn, void *ctx)
{
	struct vec list = {0};

	for (size_t i = 0; i < e->services.count; i++) {
		struct engine_service *s = e->services.items[i];

		if (s->place.lb && (!lb || strcmp(s->place.lb->o.name, lb) == 0))
			vec_push(&list, s);
	}
	vec_sort(&list, service_order);
	for (size_t i = 0; i < list.count; i++) {
		const struct engine_service *s = list.items[i];
		const bool there = s->present && !s->fault && s->lack.kind != LACK_MARK;
		struct service_status st = {.lb = s->place.lb->o.name,
					    .zone = s->place.zone->o.name,
					    .listener = s->place.listener->o.name,
					    .group = s->place.listener->server_group,
					    .family = s->key.family,
					    .protocol = s->place.listener->protocol,
					    .vip = *desired_place_vip(&s->place),
					    .ports = s->place.port ? (struct model_range){0}
								   : s->place.listener->ports,
					    .expected = s->present ? &s->expected : NULL,
					    .fault = s->fault ? s->fault : s->lack.text,
					    .programmed = there && !e->settings.kernel_off,
					    .planned = there && e->settings.kernel_off,
					    .eligible = s->verdict.eligible,
					    .in_service = s->verdict.in_service,
					    .initial = s->verdict.initial,
					    .min_healthy_breached = s->verdict.breached,
					    .none_healthy = none_healthy_name(e, s)};

		fn(ctx, &st);
	}
	vec_clear(&list);
}

void engine_each_drain(const struct engine *e, engine_drain_fn *fn, void *ctx)
{
	for (size_t i = 0; i < e->drains.count; i++) {
		const struct engine_drain *d = e->drains.items[i];
		struct drain_status st = {.lb = d->lb,
					  .listener = d->listener,
					  .address = d->dest.address,
					  .port = d->dest.port,
					  .group = d->group,
					  .server = d->server,
					  .started_wall = d->started_wall,
					  .deadline_wall = d->deadline_wall,
					  .connections = d->connections,
					  .active = d->active};

		fn(ctx, &st);
	}
}

/* ---- the node ---- */

static size_t count_probes(const struct engine *e, double *ret_per_second)
{
	size_t n = 0;

	*ret_per_second = 0;
	for (size_t i = 0; i < e->groups.count; i++) {
		const struct engine_group *g = e->groups.items[i];

		if (!g->used || !g->group->health_check.enabled)
			continue;
		n += g->servers.count;
		*ret_per_second += (double)g->servers.count * (double)USEC_PER_SEC /
				   (double)g->settings.interval;
	}
	return n;
}

void engine_update_status(const struct engine *e, struct update_status *ret_status)
{
	memset(ret_status, 0, sizeof(*ret_status));
	if (e->ports.update_status)
		e->ports.update_status(e->ports.ctx, ret_status);
}

void engine_dns_status(const struct engine *e, struct dns_status *ret_status)
{
	memset(ret_status, 0, sizeof(*ret_status));
	if (e->ports.dns_status)
		e->ports.dns_status(e->ports.ctx, ret_status);
	ret_status->serial = e->dns_view ? view_serial(e->dns_view) : 0;
}

void engine_node_status(const struct engine *e, struct node_status *ret_status)
{
	*ret_status = (struct node_status){
		.node_name = e->settings.node_name,
		.zones = e->settings.zones,
		.zone_count = e->settings.zone_count,
		.dns_apex_count = e->settings.dns_apex_count,
		.kernel_off = e->settings.kernel_off,
		.kernel_available = e->kernel_available,
		.kernel_error = e->kernel_error,
		.kernel_known = e->kernel_known,
		.vip_device = e->settings.manage_addresses ? e->settings.vip_device : NULL,
		.vip_device_is_dummy = e->settings.vip_device_is_dummy,
		.vip_device_fault = e->device_fault,
		.guard_fault = guards_find_fault(e)->text,
		.guard_error = guards_find_fault(e)->error,
		.vip_device_advice = vips_advise(e),
		.zones_advice = e->zones_advice,
		.store_ok = e->store_ok,
		.store_fault = e->store_fault,
		.revision = e->snapshot->revision,
		.applied_revision = e->applied_revision,
		.started_wall = e->started_wall,
		.drift_count = e->drift_count,
		.last_audit_wall = e->last_audit_wall,
		.services = e->services.count,
	};
	ret_status->probes = count_probes(e, &ret_status->probes_per_second);
}

/* ---- the kernel's table ---- */

static void add_asker(struct engine *e, engine_table_fn *fn, void *ctx)
{
	struct engine_asker *a = mem_new(struct engine_asker);

	a->fn = fn;
	a->ctx = ctx;
	vec_push(&e->askers, a);
}

void engine_request_table(struct engine *e, engine_table_fn *fn, void *ctx)
{
	add_asker(e, fn, ctx);
	acks_request_read(e);
}

void engine_request_audit(struct engine *e, engine_table_fn *fn, void *ctx)
{
	add_asker(e, fn, ctx);
	acks_request_table(e); /* one that is under way began before: another one follows */
}

void engine_cancel_table(struct engine *e, void *ctx)
{
	for (size_t i = e->askers.count; i-- > 0;) {
		struct engine_asker *a = e->askers.items[i];

		if (a->ctx != ctx)
			continue;
		vec_remove(&e->askers, i);
		free(a);
	}
}

bool engine_owns(const struct engine *e, const struct plan_key *k, const char **ret_lb,
		 const char **ret_zone, const char **ret_listener)
{
	const struct engine_service *s = services_find(e, k);

	*ret_lb = *ret_zone = *ret_listener = NULL;
	if (s && s->place.lb) {
		*ret_lb = s->place.lb->o.name;
		*ret_zone = s->place.zone->o.name;
		*ret_listener = s->place.listener->o.name;
	}
	return s != NULL || services_owned(e, k);
}
