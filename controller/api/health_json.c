// SPDX-License-Identifier: GPL-2.0-or-later
// The chain probe → state → weight of a server, as JSON.
#include "api/health_json.h"

#include "api/advice_json.h"
#include "engine/left_out.h"
#include "engine/overrides.h"
#include "health/evidence_sent.h"
#include "health/window.h"
#include "model/health_check.h"

#include <string.h>

json_t *health_json_ms(usec_t usec)
{
	return json_real((double)usec / (double)USEC_PER_MS);
}

static json_t *health_json_range(struct window_range w)
{
	return json_pack("{s:I, s:I}", "best_ms", (json_int_t)(w.best / USEC_PER_MS), "worst_ms",
			 (json_int_t)(w.worst / USEC_PER_MS));
}

/* What silence means to the check, where that is not a failure. */
static const char *health_json_silence(const struct health_check *check)
{
	if (health_check_takes_silence(check))
		return "silence passes: a dead server is noticed only if an ICMP error tells of it";
	if (health_check_passes_late(check))
		return "silence of the port passes: that of the host is noticed, or an ICMP error";
	return NULL;
}

json_t *health_json_windows(const struct health_check *check, usec_t d)
{
	const struct health_settings s = window_settings(check);

	d = window_answer(check, d);
	return json_pack(
		"{s:o, s:o, s:o, s:s*}", "detection_silent",
		health_check_takes_silence(check) ? json_null()
						  : health_json_range(window_silent(&s, d)),
		"detection_active", health_json_range(window_refused(check, d)), "recovery",
		health_json_range(window_recovery(&s, d)), "silence", health_json_silence(check));
}

static const char *health_json_result_name(enum health_reason reason)
{
	if (reason == REASON_NONE)
		return "pass";
	return reason == REASON_PROBER_ERROR ? "error" : "fail";
}

json_t *health_json_probe(const struct probe_target *t, enum health_reason reason,
			  const struct probe_evidence *ev)
{
	char sentence[STATUS_SENTENCE_MAX];
	char sent[EVIDENCE_SENT_MAX];
	json_t *json;

	if (!ev)
		return json_null();
	json = json_pack("{s:o, s:s, s:s, s:o, s:s}", "started", status_json_time(ev->started_wall),
			 "result", health_json_result_name(reason), "reason_code",
			 health_reason_name(reason), "duration_ms",
			 health_json_ms(ev->duration_usec), "received", ev->text);
	if (!json)
		return json_null();
	if (ev->connect_usec)
		json_object_set_new(json, "connect_ms", health_json_ms(ev->connect_usec));
	if (ev->tls_usec)
		json_object_set_new(json, "tls_ms", health_json_ms(ev->tls_usec));
	if (ev->reused)
		json_object_set_new(json, "reused_connection", json_true());
	if (ev->first_byte_usec)
		json_object_set_new(json, "first_byte_ms", health_json_ms(ev->first_byte_usec));
	if (ev->http_status)
		json_object_set_new(json, "http_status", json_integer(ev->http_status));
	if (ev->error)
		json_object_set_new(json, "error",
				    json_string(strerror(ev->error < 0 ? -ev->error : ev->error)));
	if (t->check) {
		json_object_set_new(json, "sent", json_string(evidence_sent(t->check, sent)));
		json_object_set_new(
			json, "detail",
			json_string(evidence_describe(t, reason, ev, sentence, sizeof(sentence))));
	}
	return json;
}

/* Whether the group is the backup of the service's group. */
static bool health_json_backs(const struct engine *e, const struct service_status *s,
			      const struct server_group *backup)
{
	const struct server_group *g = snapshot_find_group(engine_snapshot(e), s->group);

	return g && g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group &&
	       strcmp(g->backup_group, backup->o.name) == 0;
}

void health_json_keep(const struct engine *e, const struct server_group *g,
		      struct status_services *services)
{
	size_t kept = 0;

	for (size_t i = 0; i < services->count; i++) {
		const struct service_status *s = &services->list[i];

		if (strcmp(s->group, g->o.name) == 0 || health_json_backs(e, s, g))
			services->list[kept++] = *s;
	}
	services->count = kept;
}

/* One entry for each virtual service that the server may be in; *ret_most is the largest weight. */
static json_t *health_json_weights(const struct engine *e, const struct server_group *g,
				   const struct server *server,
				   const struct status_services *services, int64_t *ret_most)
{
	json_t *list = json_array();
	int64_t most = 0;

	for (size_t i = 0; i < services->count; i++) {
		const struct service_status *s = &services->list[i];
		int64_t weight = status_json_weight(s, server);
		char why[LEFT_OUT_MAX];
		json_t *entry;

		entry = status_json_service(s);
		json_object_set_new(entry, "weight",
				    weight < 0 ? json_null() : json_integer(weight));
		json_object_set_new(entry, "left_out",
				    weight <= 0 && engine_tell_left_out(e, s, g, server, why)
					    ? json_string(why)
					    : json_null());
		json_array_append_new(list, entry);
		most = weight > most ? weight : most;
	}
	*ret_most = most;
	return list;
}

static int64_t health_json_most(const struct server *server, const struct status_services *services)
{
	int64_t most = 0;

	for (size_t i = 0; i < services->count; i++) {
		int64_t weight = status_json_weight(&services->list[i], server);

		most = weight > most ? weight : most;
	}
	return most;
}

/* Somewhere it gets connections although it is not in service, as no other is. */
static bool health_json_is_opened(const struct server_group *g, const struct server *server,
				  const struct server_status *s,
				  const struct status_services *services)
{
	for (size_t i = 0; !s->in_service && i < services->count; i++) {
		const struct service_status *one = &services->list[i];

		if (strcmp(one->group, g->o.name) == 0 && strcmp(one->none_healthy, "open") == 0 &&
		    status_json_weight(one, server) > 0)
			return true;
	}
	return false;
}

static json_t *health_json_detail(const struct server_group *g, const struct server *server,
				  const struct server_status *s,
				  const struct status_services *services)
{
	if (health_json_is_opened(g, server, s, services))
		return json_sprintf("%s; it gets connections all the same, as fewer than "
				    "min_healthy are in service (when_none_healthy open)",
				    s->sentence);
	return json_string(s->sentence);
}

/* Why none of the services gives it anything, though it is in service: what the kernel refused before what the document says;
 * NULL: for neither. */
static json_t *health_json_left_out(const struct engine *e, const struct server_group *g,
				    const struct server *server,
				    const struct status_services *services)
{
	char why[LEFT_OUT_MAX], first[LEFT_OUT_MAX] = "";

	for (size_t i = 0; i < services->count; i++) {
		const struct service_status *s = &services->list[i];

		if (s->fault)
			return json_sprintf("%s/%s/%s: %s", s->lb, s->zone, s->listener, s->fault);
		if (!*first && engine_tell_left_out(e, s, g, server, why))
			snprintf(first, sizeof(first), "%s", why);
	}
	return *first ? json_string(first) : NULL;
}

static json_t *health_json_common(const struct server_group *g, const struct server *server,
				  const struct server_status *s,
				  const struct status_services *services)
{
	char address[ADDR_TEXT_MAX];

	return json_pack(
		"{s:s, s:s, s:s, s:i, s:s?, s:s, s:s, s:o, s:o, s:b, s:b, s:b, s:i, s:i, s:I}",
		"server_group", g->o.name, "server", server->o.name, "address",
		addr_format(&server->address, address), "port", (int)server->port, "zone",
		server->zone, "state", s->state, "reason_code", s->reason_code, "detail",
		health_json_detail(g, server, s, services), "since",
		status_json_time(s->since_wall), "in_service", s->in_service, "trusted", s->trusted,
		"rests_on_silence", s->rests_on_silence, "passes", (int)s->passes, "failures",
		(int)s->failures, "weight_configured", (json_int_t)s->weight_configured);
}

json_t *health_json_result(enum health_reason reason, usec_t duration)
{
	return json_pack("{s:s, s:s, s:o}", "result", health_json_result_name(reason),
			 "reason_code", health_reason_name(reason), "duration_ms",
			 health_json_ms(duration));
}

json_t *health_json_recent(const struct engine *e, const char *group, const char *server)
{
	struct recent_result list[RECENT_RESULTS];
	size_t count = engine_recent_results(e, group, server, list);
	json_t *json = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(json,
				      health_json_result(list[i].reason, list[i].duration_usec));
	return json;
}

/* As they read beside the configured ones they are divided by it. */
static void health_json_factor(const struct engine *e, const struct server_group *g, json_t *json)
{
	const uint32_t factor = g->slow_start_ms ? engine_weight_factor(e, g) : 1;

	if (factor > 1)
		json_object_set_new(json, "weight_factor", json_integer(factor));
}

json_t *health_json_row(const struct engine *e, const struct server_group *g,
			const struct server *server, const struct status_services *services)
{
	struct server_status s;
	json_t *json;
	int64_t most;

	if (engine_server_status(e, g->o.name, server->o.name, &s))
		return NULL;
	json = health_json_common(g, server, &s, services);
	most = health_json_most(server, services);
	json_object_set_new(json, "weight", json_integer(most));
	health_json_factor(e, g, json);
	if (most == 0 && s.in_service && server->weight > 0)
		json_object_set_new(json, "left_out", health_json_left_out(e, g, server, services));
	json_object_set_new(json, "last_probe",
			    health_json_probe(&s.target, s.last_reason, s.last));
	return json;
}

static json_t *health_json_target(const struct server_status *s)
{
	const struct health_check *c = s->target.check;
	char text[ADDR_ENDPOINT_TEXT_MAX];

	if (!c)
		return json_null();
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:b}", "endpoint",
			 addr_format_endpoint(&s->target.address, s->target.port, text), "type",
			 health_check_type_name(c->type), "interval_ms", (int)c->interval_ms,
			 "timeout_ms", (int)c->timeout_ms, "healthy_threshold",
			 (int)c->healthy_threshold, "unhealthy_threshold",
			 (int)c->unhealthy_threshold, "fast_retry", c->fast_retry);
}

static json_t *health_json_load(const struct engine *e, const struct server *server)
{
	struct advice_load load;

	advice_probe_load(engine_snapshot(e), &server->address, &load);
	return json_pack("{s:f, s:I}", "per_second", load.per_second, "different",
			 (json_int_t)load.different);
}

static void health_json_on_advice(void *ctx, const char *code, const char *pointer,
				  const char *detail)
{
	(void)code;
	(void)pointer;
	json_object_set_new(ctx, "advice", json_string(detail));
}

/* What the document says goes before what the last probe lets one guess. */
static void health_json_advise(const struct engine *e, const struct server_group *g,
			       const struct server *server, const char *guess, json_t *json)
{
	const struct advice_place at = advice_json_place(e);

	json_object_set_new(json, "advice", json_string(guess));
	advice_give_server(&at, g, server, health_json_on_advice, json);
}

json_t *health_json_server(const struct engine *e, const struct server_group *g,
			   const struct server *server, const struct status_services *services)
{
	struct server_status s;
	json_t *json, *weights;
	int64_t most;

	if (engine_server_status(e, g->o.name, server->o.name, &s))
		return NULL;
	json = health_json_common(g, server, &s, services);
	weights = health_json_weights(e, g, server, services, &most);
	json_object_set_new(json, "weight", json_integer(most));
	health_json_factor(e, g, json);
	json_object_set_new(json, "services", weights);
	json_object_set_new(json, "check", health_json_target(&s));
	json_object_set_new(json, "probe_load", health_json_load(e, server));
	json_object_set_new(json, "last_probe",
			    health_json_probe(&s.target, s.last_reason, s.last));
	json_object_set_new(json, "last_failure",
			    health_json_probe(&s.target, s.last_failure_reason, s.last_failure));
	json_object_set_new(json, "recent", health_json_recent(e, g->o.name, server->o.name));
	json_object_set_new(json, "next_change", json_string(s.next_change));
	health_json_advise(e, g, server, s.advice, json);
	if (s.target.check)
		json_object_set_new(
			json, "windows",
			health_json_windows(s.target.check, s.last ? s.last->duration_usec : 0));
	return json;
}
