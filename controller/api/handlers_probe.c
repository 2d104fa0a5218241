// SPDX-License-Identifier: GPL-2.0-or-later
// One probe of a server now. It counts for nothing: the schedule and the state stay as they are.
#include "api/handlers.h"

#include "api/absent.h"
#include "api/context.h"
#include "api/health_json.h"
#include "api/reply.h"
#include "base/mem.h"
#include "model/health_check.h"

#include <errno.h>
#include <string.h>

#define PROBES_PER_CLIENT 4
#define PROBES_MAX        32

struct probe_op {
	struct probe_op *next;   /* in the context, until it has ended */
	struct api_context *api; /* NULL: the API has ended */
	struct request *request; /* NULL: nobody waits any more */
	char who[AUTH_NAME_MAX];
	char group[MODEL_NAME_MAX + 1];
	char server[MODEL_NAME_MAX + 1];
};

static void probe_op_forget(void *operation)
{
	((struct probe_op *)operation)->request = NULL;
}

static void probe_op_free(struct probe_op *op)
{
	struct probe_op **at = op->api ? &op->api->probes : NULL;

	while (at && *at != op)
		at = &(*at)->next;
	if (at)
		*at = op->next;
	free(op);
}

void handlers_probe_close(struct api_context *api)
{
	for (struct probe_op *op = api->probes; op; op = op->next)
		op->api = NULL;
	api->probes = NULL;
}

static json_t *probe_result(const struct probe_op *op, const struct probe_target *t,
			    const struct probe_result *r)
{
	json_t *json = health_json_probe(t, r->health.reason, &r->evidence);
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];

	json_object_set_new(json, "server_group", json_string(op->group));
	json_object_set_new(json, "server", json_string(op->server));
	json_object_set_new(json, "endpoint",
			    json_string(addr_format_endpoint(&t->address, t->port, endpoint)));
	if (t->check)
		json_object_set_new(json, "type",
				    json_string(health_check_type_name(t->check->type)));
	return json;
}

static void probe_on_result(void *ctx, const struct probe_target *t, const struct probe_result *r,
			    int error)
{
	struct probe_op *op = ctx;

	if (op->request && r)
		request_reply_json(op->request, 200, probe_result(op, t, r));
	else if (op->request)
		request_fail(op->request, PROBLEM_INTERNAL, "the probe could not be started: %s",
			     strerror(error < 0 ? -error : error));
	probe_op_free(op);
}

/* Replies and returns false if there are enough already. */
static bool probe_admit(struct request *r)
{
	unsigned own = 0, all = 0;

	for (const struct probe_op *op = r->api->probes; op; op = op->next) {
		own += strcmp(op->who, r->who) == 0;
		all++;
	}
	if (own < PROBES_PER_CLIENT && all < PROBES_MAX)
		return true;
	request_fail(r, PROBLEM_TOO_MANY_REQUESTS,
		     "at most %d probes on demand at a time for one client, %d in all",
		     PROBES_PER_CLIENT, PROBES_MAX);
	return false;
}

void handlers_probe_server(struct request *r)
{
	struct object_path path;
	struct probe_op *op;
	int result;

	if (reply_find_path(r, &path) || !probe_admit(r))
		return;
	op = mem_new(struct probe_op);
	op->api = r->api;
	op->request = r;
	memcpy(op->who, r->who, sizeof(op->who));
	strcpy(op->group, path.parent); /* names that can be */
	strcpy(op->server, path.name);
	op->next = r->api->probes;
	r->api->probes = op;
	request_wait(r, op, probe_op_forget);
	result = engine_probe_now(r->api->engine, op->group, op->server, probe_on_result, op);
	if (result == 0)
		return;
	if (result == -ENOTSUP)
		request_fail(r, PROBLEM_REFUSED,
			     "server group %s is not checked (health_check.enabled is false)",
			     op->group);
	else if (result == -EAGAIN)
		request_fail(r, PROBLEM_TOO_MANY_REQUESTS,
			     "too many probes on demand are under way; try again");
	else
		absent_refuse(r, &path);
	probe_op_free(op);
}
