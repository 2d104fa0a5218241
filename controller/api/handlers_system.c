// SPDX-License-Identifier: GPL-2.0-or-later
// The node itself: version, readiness, and the description of the API.
#include "api/handlers.h"

#include "api/api.h"
#include "api/context.h"
#include "api/kernel_facts.h"
#include "api/openapi.h"
#include "api/readiness.h"
#include "api/request.h"
#include "api/revision_json.h"
#include "api/status_json.h"
#include "api/tls.h"
#include "api/worker.h"
#include "base/mem.h"
#include "host/procfs.h"
#include "plan/doctor.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define SYSTEM_TLS_SOON (30 * 86400 * USEC_PER_SEC)

/* The size of the table of connection tracking; 0: it is not loaded. */
static long long system_read_conntrack(void)
{
	long long max = 0;

	procfs_read_sysctl(KERNEL_FACTS_SYSCTLS, doctor_sysctl_name(DOCTOR_TRACK_MAX), &max);
	return max;
}

static double system_conntrack_taken(const struct node_status *n)
{
	struct doctor_value lasts = {0};

	lasts.error = procfs_read_sysctl(KERNEL_FACTS_SYSCTLS,
					 doctor_sysctl_name(DOCTOR_TRACK_LASTS), &lasts.value);
	return doctor_tracked_probes(n->probes_per_second, &lasts);
}

/* Where connection tracking is loaded every probe takes an entry of its table for minutes. NULL: it is not. */
static json_t *system_conntrack(const struct node_status *n)
{
	long long max = system_read_conntrack();

	if (!max)
		return NULL;
	return json_pack("{s:I, s:I}", "max", (json_int_t)max, "taken_by_probes",
			 (json_int_t)system_conntrack_taken(n));
}

/* NULL: nothing to say. Caller frees. */
static char *system_conntrack_advice(const struct node_status *n)
{
	long long max = system_read_conntrack();
	double taken = system_conntrack_taken(n);

	if (!doctor_probes_crowd(taken, max))
		return NULL;
	return mem_printf(
		"connection tracking is loaded, and the probes can take %.0f of its %lld "
		"entries: give the health checks a fwmark and keep them out with "
		"\"iptables -t raw -A OUTPUT -m mark --mark MARK -j CT --notrack\" (and the "
		"answers in PREROUTING), or raise net.netfilter.nf_conntrack_max",
		taken, max);
}

static json_t *system_kernel(const struct node_status *n)
{
	json_t *json = json_pack("{s:s, s:b, s:b}", "ipvs", status_json_ipvs(n), "available",
				 n->kernel_available && !n->kernel_off, "known",
				 n->kernel_known && !n->kernel_off);
	struct utsname name;
	json_t *conntrack;

	if (!n->kernel_off && !n->kernel_available)
		json_object_set_new(
			json, "detail",
			json_sprintf(
				"%s: modprobe ip_vs, and see that the daemon has CAP_NET_ADMIN",
				strerror(n->kernel_error < 0 ? -n->kernel_error
							     : n->kernel_error)));
	if (n->vip_device)
		json_object_set_new(json, "vip_device", json_string(n->vip_device));
	if (n->vip_device_fault)
		json_object_set_new(json, "vip_device_fault", json_string(n->vip_device_fault));
	if (n->guard_fault)
		json_object_set_new(json, "guard_fault", json_string(n->guard_fault));
	if (uname(&name) == 0)
		json_object_set_new(json, "release", json_string(name.release));
	conntrack = system_conntrack(n);
	if (conntrack)
		json_object_set_new(json, "conntrack", conntrack);
	json_object_set_new(json, "modules", kernel_facts_modules(NULL));
	json_object_set_new(json, "sysctls", kernel_facts_sysctls(NULL));
	return json;
}

/* `detail` while it does not take commits: why, and the mend. */
static json_t *system_store(const struct node_status *n)
{
	return json_pack("{s:b, s:s*}", "ok", n->store_ok, "detail", n->store_fault);
}

/* NULL: no other server is kept equal. */
static json_t *system_update(const struct request *r)
{
	struct update_status u;

	engine_update_status(r->api->engine, &u);
	if (!u.server)
		return NULL;
	return json_pack("{s:s, s:s?, s:s, s:b, s:I, s:i, s:o, s:o, s:s}", "server", u.server,
			 "zone", u.zone, "phase", u.phase, "in_sync", u.in_sync, "record_sets",
			 (json_int_t)u.records, "failures", (int)u.failures, "last_success",
			 status_json_time(u.success_wall), "last_failure",
			 status_json_time(u.failure_wall), "error", u.error);
}

/* What to do about a certificate, or NULL. Caller frees. */
static char *system_tls_advice(const struct tls_status *st)
{
	usec_t now = time_wall();

	if (st->fault)
		return mem_printf(
			"the certificate was not replaced, the old one holds: %s. Mend it "
			"and reload zonegated",
			st->fault);
	if (st->not_after_wall < now)
		return mem_strdup("the certificate has ended: replace it and reload zonegated");
	if (st->not_after_wall < now + SYSTEM_TLS_SOON)
		return mem_strdup(
			"the certificate ends soon: replace it (one that zonegated made is "
			"made anew) and reload zonegated");
	return NULL;
}

/* NULL: no listener speaks TLS. */
static json_t *system_tls(const struct request *r)
{
	struct tls_status st;

	if (!r->api->tls)
		return NULL;
	tls_read_status(r->api->tls, &st);
	return json_pack("{s:s, s:s, s:o, s:b}", "fingerprint_sha256", st.fingerprint, "subject",
			 st.subject, "not_after", status_json_time(st.not_after_wall),
			 "self_signed", st.self_signed);
}

static void system_advise(json_t *list, const char *code, const char *pointer, const char *detail)
{
	if (detail)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "code", code, "pointer",
						      pointer, "detail", detail));
}

/* A line for each webhook that takes no events now. */
static void system_advise_webhooks(const struct request *r, json_t *list)
{
	const struct api_notify *n = r->api->notify;
	json_t *status = n->ctx ? n->status(n->ctx) : NULL;
	const json_t *url;
	size_t i;

	json_array_foreach (json_object_get(status, "urls"), i, url) {
		const char *error = json_string_value(json_object_get(url, "error"));
		const json_int_t pending = json_integer_value(json_object_get(url, "pending"));
		const bool behind = json_is_true(
			json_object_get(url, "behind")); /* of more than are counted */
		AUTO_FREE char *text = mem_printf(
			"the webhook %s fails (%s), %" JSON_INTEGER_FORMAT
			"%s event%s: zonegate notify status, and zonegate notify test once it is mended",
			json_string_value(json_object_get(url, "url")),
			error ? error : "no reason is known", pending, behind ? "+" : "",
			pending == 1 && !behind ? " waits" : "s wait");

		if (json_integer_value(json_object_get(url, "failures")) > 0)
			system_advise(list, "webhook", "/notify", text);
	}
	json_decref(status);
}

/* All that this node should be told of, in one place. */
static json_t *system_advice(const struct request *r, const struct node_status *n)
{
	AUTO_FREE char *conntrack = system_conntrack_advice(n), *certificate = NULL;
	json_t *list = json_array();
	struct tls_status st;

	if (r->api->tls) {
		tls_read_status(r->api->tls, &st);
		certificate = system_tls_advice(&st);
	}
	system_advise(list, "vip_device", "/kernel/vip_device", n->vip_device_advice);
	system_advise(list, "unknown_zones", "/node", n->zones_advice);
	system_advise(list, "connection_tracking", "/kernel/conntrack", conntrack);
	system_advise(list, "certificate", "/api/tls", certificate);
	system_advise_webhooks(r, list);
	return list;
}

/* NULL: no change waits for its confirmation. */
static json_t *system_unconfirmed(const struct request *r)
{
	struct confirm_status s;

	return engine_confirm_status(r->api->engine, &s) ? revision_json_confirm(&s) : NULL;
}

void handlers_system_get(struct request *r)
{
	char instance[REQUEST_INSTANCE_MAX];
	struct readiness ready;
	struct node_status n;

	request_print_instance(r->api, instance);
	readiness_judge(r->api->engine, &ready);
	engine_node_status(r->api->engine, &n);
	request_reply_json(
		r, 200,
		json_pack(
			"{s:s, s:s?, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:{s:I, s:o}, s:o*, s:o*, s:{s:o*}, s:o}",
			"state", readiness_word(&ready), "node", n.node_name, "instance", instance,
			"version", r->api->version, "started",
			status_json_time(n.started_wall ? n.started_wall : r->api->started_wall),
			"kernel", system_kernel(&n), "store", system_store(&n), "revision",
			(json_int_t)n.revision, "applied_revision", (json_int_t)n.applied_revision,
			"services", (json_int_t)n.services, "probes", (json_int_t)n.probes, "drift",
			"repaired_since_start", (json_int_t)n.drift_count, "last_audit",
			status_json_time(n.last_audit_wall), "dns_update", system_update(r),
			"unconfirmed", system_unconfirmed(r), "api", "tls", system_tls(r), "advice",
			system_advice(r, &n)));
}

void handlers_system_livez(struct request *r)
{
	request_reply_json(r, 200, json_pack("{s:s}", "status", "ok"));
}

void handlers_system_readyz(struct request *r)
{
	AUTO_ERR struct err faults = {0};
	struct readiness ready;
	bool verbose;
	json_t *json;

	readiness_judge(r->api->engine, &ready);
	if (request_query_bool(r, "verbose", &faults, &verbose)) {
		request_fail_faults(r, &faults);
		return;
	}
	if (verbose && r->role < ROLE_VIEWER) {
		request_fail(r, PROBLEM_FORBIDDEN, "only who may read the status gets the checks");
		return;
	}
	json = json_pack("{s:s}", "status", readiness_word(&ready));
	if (verbose)
		json_object_set_new(json, "checks", readiness_json(&ready));
	request_reply_json(r, ready.state == READINESS_NONE ? 503 : 200, json);
}

/* The description is long: it is printed on the worker. */
struct openapi_job {
	struct worker_job job;
	struct request *request; /* NULL: nobody waits any more */
	const char *version;
	char *text;
};

static void openapi_job_forget(void *operation)
{
	struct openapi_job *j = operation;

	worker_drop(j->request->api->worker, &j->job);
	j->request = NULL;
}

static void openapi_job_work(struct worker_job *job)
{
	struct openapi_job *j = (struct openapi_job *)job;
	json_t *json = openapi_build(j->version);

	j->text = json_dumps(json, REQUEST_JSON_FLAGS);
	json_decref(json);
}

static void openapi_job_done(struct worker_job *job)
{
	struct openapi_job *j = (struct openapi_job *)job;

	if (j->request)
		request_reply_text(j->request, 200, "application/json", j->text, strlen(j->text));
	else
		free(j->text);
	free(j);
}

void handlers_system_openapi(struct request *r)
{
	struct openapi_job *j = mem_new(struct openapi_job);

	j->job.work = openapi_job_work;
	j->job.done = openapi_job_done;
	j->request = r;
	j->version = r->api->version;
	request_wait(r, j, openapi_job_forget);
	worker_submit(r->api->worker, &j->job);
}
