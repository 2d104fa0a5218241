// SPDX-License-Identifier: GPL-2.0-or-later
// The route table and its dispatch. A route that is not in it answers 404 and is not in openapi.json.
#include "api/router.h"

#include "api/handlers.h"
#include "api/ui.h"

#include <stdio.h>
#include <string.h>

#define BASE "/api/v1"

/* The five routes of one kind of object. */
#define OBJECT_ROUTES(collection, item, kind, schema, noun, nouns)                         \
	{METHOD_GET,   BASE collection,      ROLE_VIEWER,    ROUTE_PAGED | ROUTE_VIEW,     \
	 kind,         handlers_object_list, "Lists " nouns, NULL,                         \
	 schema "List"},                                                                   \
		{METHOD_GET,          BASE collection item, ROLE_VIEWER, ROUTE_VIEW, kind, \
		 handlers_object_get, "Shows a " noun,      NULL,        schema},          \
		{METHOD_PUT,                                                               \
		 BASE collection item,                                                     \
		 ROLE_EDITOR,                                                              \
		 ROUTE_BODY | ROUTE_LARGE | ROUTE_DRY_RUN,                                 \
		 kind,                                                                     \
		 handlers_write_object,                                                    \
		 "Creates or replaces a " noun,                                            \
		 schema,                                                                   \
		 schema},                                                                  \
		{METHOD_PATCH,                                                             \
		 BASE collection item,                                                     \
		 ROLE_EDITOR,                                                              \
		 ROUTE_BODY | ROUTE_LARGE | ROUTE_DRY_RUN,                                 \
		 kind,                                                                     \
		 handlers_write_object,                                                    \
		 "Changes members of a " noun " (JSON Merge Patch)",                       \
		 schema "Patch",                                                           \
		 schema},                                                                  \
	{                                                                                  \
		METHOD_DELETE, BASE collection item, ROLE_EDITOR, ROUTE_DRY_RUN, kind,     \
			handlers_write_object, "Removes a " noun, NULL, NULL               \
	}

/* What stands beside the configuration of one object. */
#define OVERRIDE_ROUTES(path, kind, handler, schema, put, get, end)                              \
	{METHOD_PUT,    BASE path,                                                               \
	 ROLE_OPERATOR, ROUTE_BODY | ROUTE_OVERRIDE | ROUTE_CONDITION,                           \
	 kind,          handlers_override_##handler,                                             \
	 put,           schema "Wish",                                                           \
	 schema},                                                                                \
		{METHOD_GET, BASE path, ROLE_VIEWER, 0, kind, handlers_override_get_##handler,   \
		 get,        NULL,      schema},                                                 \
	{                                                                                        \
		METHOD_DELETE, BASE path, ROLE_OPERATOR, ROUTE_OVERRIDE | ROUTE_CONDITION, kind, \
			handlers_override_##handler, end, NULL, NULL                             \
	}

static const struct route router_rows[] = {
	OBJECT_ROUTES("/zones", "/{zone}", OBJECT_ZONE, "Zone", "zone", "zones"),
	OBJECT_ROUTES("/load-balancers", "/{load_balancer}", OBJECT_LOAD_BALANCER, "LoadBalancer",
		      "load balancer", "load balancers"),
	OBJECT_ROUTES("/load-balancers/{load_balancer}/zones", "/{zone}", OBJECT_LB_ZONE,
		      "LoadBalancerZone", "zone of a load balancer", "zones of a load balancer"),
	OBJECT_ROUTES("/load-balancers/{load_balancer}/listeners", "/{listener}", OBJECT_LISTENER,
		      "Listener", "listener", "listeners"),
	OBJECT_ROUTES("/server-groups", "/{server_group}", OBJECT_SERVER_GROUP, "ServerGroup",
		      "server group", "server groups"),
	OBJECT_ROUTES("/server-groups/{server_group}/servers", "/{server}", OBJECT_SERVER, "Server",
		      "server", "servers"),
	{METHOD_PUT, BASE "/server-groups/{server_group}/servers", ROLE_EDITOR,
	 ROUTE_BODY | ROUTE_LARGE | ROUTE_DRY_RUN, OBJECT_SERVER_GROUP, handlers_write_servers,
	 "Replaces all servers of a group at once: a map by name, or the list as it is read",
	 "ServerMap|ServerList", "ServerGroup"},
	OBJECT_ROUTES("/access-lists", "/{access_list}", OBJECT_ACCESS_LIST, "AccessList",
		      "list of clients that may come in", "access lists"),
	{METHOD_GET, BASE "/access-lists/{access_list}/entries", ROLE_VIEWER, 0, OBJECT_ACCESS_LIST,
	 handlers_entries_get,
	 "All entries of an access list: CIDR allow|deny [# comment], one a line", NULL,
	 "AccessText"},
	{METHOD_PUT, BASE "/access-lists/{access_list}/entries", ROLE_EDITOR,
	 ROUTE_TEXT | ROUTE_DRY_RUN, OBJECT_ACCESS_LIST, handlers_entries_write,
	 "Replaces all entries of an access list, in any order; a pointer in a fault is the number of the line",
	 "AccessText", "AccessEntries"},
	{METHOD_PATCH, BASE "/access-lists/{access_list}/entries", ROLE_EDITOR,
	 ROUTE_BODY | ROUTE_LARGE | ROUTE_DRY_RUN, OBJECT_ACCESS_LIST, handlers_entries_write,
	 "Adds and removes entries of an access list, all or none; one that is added replaces that of its network",
	 "AccessEntriesPatch", "AccessEntries"},
	{METHOD_GET, BASE "/access-lists/{access_list}/hits", ROLE_VIEWER, 0, OBJECT_ACCESS_LIST,
	 handlers_hits_get,
	 "How many packets the entries of an access list have decided on this node, most first",
	 NULL, "AccessHits"},
	{METHOD_GET, BASE "/load-balancers/{load_balancer}/listeners/{listener}/access",
	 ROLE_VIEWER, ROUTE_CLIENT, OBJECT_LISTENER, handlers_entries_check,
	 "Whether a client may come in to a listener, and by which entry of its access list", NULL,
	 "AccessVerdict"},
	{METHOD_GET, BASE "/settings", ROLE_VIEWER, ROUTE_VIEW, OBJECT_SETTINGS,
	 handlers_settings_get, "Shows the settings of IPVS, and what is in force", NULL,
	 "Settings"},
	{METHOD_PUT, BASE "/settings", ROLE_EDITOR, ROUTE_BODY | ROUTE_DRY_RUN, OBJECT_SETTINGS,
	 handlers_settings_write, "Replaces the settings of IPVS", "Settings", "Settings"},
	{METHOD_PATCH, BASE "/settings", ROLE_EDITOR, ROUTE_BODY | ROUTE_DRY_RUN, OBJECT_SETTINGS,
	 handlers_settings_write, "Changes settings of IPVS (JSON Merge Patch)", "SettingsPatch",
	 "Settings"},
	{METHOD_GET, BASE "/config", ROLE_VIEWER, ROUTE_VIEW, OBJECT_KIND_COUNT,
	 handlers_config_get, "Shows the whole document", NULL, "Config"},
	{METHOD_PUT, BASE "/config", ROLE_EDITOR,
	 ROUTE_BODY | ROUTE_LARGE | ROUTE_DRY_RUN | ROUTE_REPEATS, OBJECT_KIND_COUNT,
	 handlers_write_config, "Replaces the whole document; If-Match is required", "Config",
	 "Config"},
	{METHOD_POST, BASE "/config/validate", ROLE_VIEWER, ROUTE_BODY | ROUTE_LARGE | ROUTE_READS,
	 OBJECT_KIND_COUNT, handlers_config_validate, "Judges a document and changes nothing",
	 "Config", "Validation"},
	{METHOD_POST, BASE "/config/plan", ROLE_VIEWER, ROUTE_BODY | ROUTE_LARGE | ROUTE_READS,
	 OBJECT_KIND_COUNT, handlers_write_plan,
	 "What putting a document would change, in the kernel and in DNS; changes nothing",
	 "Config", "DryRun"},
	{METHOD_GET, BASE "/config/confirm", ROLE_VIEWER, 0, OBJECT_KIND_COUNT,
	 handlers_confirm_get, "The change that waits for its confirmation, if one does", NULL,
	 "Confirm"},
	{METHOD_POST, BASE "/config/confirm", ROLE_EDITOR, ROUTE_TRIAL | ROUTE_CONDITION,
	 OBJECT_KIND_COUNT, handlers_confirm_post,
	 "Confirms the change that waits, so that it stays; If-Match may say which document is meant",
	 NULL, "Confirmed"},
	{METHOD_GET, BASE "/config/revisions", ROLE_VIEWER, ROUTE_PAGED, OBJECT_KIND_COUNT,
	 handlers_revisions_list, "Lists the revisions that are kept, newest first", NULL,
	 "RevisionList"},
	{METHOD_GET, BASE "/config/revisions/{revision}", ROLE_VIEWER, 0, OBJECT_KIND_COUNT,
	 handlers_revisions_get, "Shows a revision with what it changed", NULL, "Revision"},
	{METHOD_GET, BASE "/config/revisions/{revision}/diff", ROLE_VIEWER, ROUTE_TO | ROUTE_PAGED,
	 OBJECT_KIND_COUNT, handlers_revisions_diff,
	 "What turns the document of a revision into that of another; behind a page ask with the `to` of the answer",
	 NULL, "RevisionDiff"},
	{METHOD_POST, BASE "/config/revisions/{revision}/rollback", ROLE_EDITOR,
	 ROUTE_BODY | ROUTE_DRY_RUN, OBJECT_KIND_COUNT, handlers_revisions_rollback,
	 "Makes a new revision with the document of an old one; If-Match is required",
	 "RollbackRequest", "Rollback"},
	{METHOD_GET, BASE "/load-balancers/{load_balancer}/status", ROLE_VIEWER, 0,
	 OBJECT_LOAD_BALANCER, handlers_status_lb,
	 "The tree of a load balancer: zones, listeners, groups, servers", NULL,
	 "LoadBalancerStatus"},
	{METHOD_GET, BASE "/load-balancers/{load_balancer}/failover-time", ROLE_VIEWER, 0,
	 OBJECT_LOAD_BALANCER, handlers_failover_time,
	 "How long clients of its name may be sent to a zone that is gone, part by part", NULL,
	 "FailoverTime"},
	{METHOD_GET, BASE "/server-groups/{server_group}/health", ROLE_VIEWER,
	 ROUTE_PAGED | ROUTE_SERVERS, OBJECT_SERVER_GROUP, handlers_status_group,
	 "States of the servers of a group, with reasons", NULL, "GroupHealth"},
	{METHOD_GET, BASE "/server-groups/{server_group}/servers/{server}/health", ROLE_VIEWER, 0,
	 OBJECT_SERVER, handlers_status_server,
	 "State of a server: reason, evidence, weights, next change", NULL, "ServerHealth"},
	{METHOD_GET, BASE "/server-groups/{server_group}/servers/{server}/health/history",
	 ROLE_VIEWER, ROUTE_PAGED, OBJECT_SERVER, handlers_history_server,
	 "Transitions of a server, newest first, and when the daemon started and stopped between them",
	 NULL, "HealthHistory"},
	{METHOD_POST, BASE "/server-groups/{server_group}/servers/{server}/probe", ROLE_OPERATOR, 0,
	 OBJECT_SERVER, handlers_probe_server, "Probes a server once, now; changes no state", NULL,
	 "Probe"},
	{METHOD_GET, BASE "/zone-shifts", ROLE_VIEWER, ROUTE_PAGED, OBJECT_KIND_COUNT,
	 handlers_shift_list, "Lists zone shifts, oldest first", NULL, "ZoneShiftList"},
	{METHOD_POST, BASE "/zone-shifts", ROLE_OPERATOR, ROUTE_BODY | ROUTE_OVERRIDE,
	 OBJECT_KIND_COUNT, handlers_shift_start,
	 "Takes a zone out of DNS for one load balancer or all, until a time", "ZoneShiftStart",
	 "ZoneShift"},
	{METHOD_GET, BASE "/zone-shifts/{shift}", ROLE_VIEWER, 0, OBJECT_KIND_COUNT,
	 handlers_shift_get, "Shows a zone shift", NULL, "ZoneShift"},
	{METHOD_PATCH, BASE "/zone-shifts/{shift}", ROLE_OPERATOR,
	 ROUTE_BODY | ROUTE_OVERRIDE | ROUTE_CONDITION, OBJECT_KIND_COUNT, handlers_shift_change,
	 "Changes expiry (counted from now) or comment of a zone shift", "ZoneShiftChange",
	 "ZoneShift"},
	{METHOD_DELETE, BASE "/zone-shifts/{shift}", ROLE_OPERATOR,
	 ROUTE_OVERRIDE | ROUTE_CONDITION, OBJECT_KIND_COUNT, handlers_shift_cancel,
	 "Ends a zone shift", NULL, NULL},
	OVERRIDE_ROUTES("/server-groups/{server_group}/servers/{server}/drain", OBJECT_SERVER,
			drain, "Drain",
			"Drains a server: no new flows, and out of the kernel when they have ended",
			"Shows the drain of a server, with the connections left",
			"Undrains a server: it gets its weight back"),
	OVERRIDE_ROUTES("/server-groups/{server_group}/zones/{zone}/drain", OBJECT_SERVER_GROUP,
			drain, "Drain",
			"Drains the servers that a group has in a zone, later ones too",
			"Shows the drain of a group's servers in a zone",
			"Undrains a group's servers in a zone"),
	OVERRIDE_ROUTES("/load-balancers/{load_balancer}/listeners/{listener}/drain",
			OBJECT_LISTENER, drain, "Drain",
			"Drains a listener: all of its servers get no new flows there",
			"Shows the drain of a listener", "Undrains a listener"),
	OVERRIDE_ROUTES("/load-balancers/{load_balancer}/drain", OBJECT_LOAD_BALANCER, drain,
			"Drain", "Drains all listeners of a load balancer",
			"Shows the drain of a load balancer", "Undrains a load balancer"),
	OVERRIDE_ROUTES(
		"/server-groups/{server_group}/servers/{server}/weight-override", OBJECT_SERVER,
		weight, "WeightOverride",
		"Gives a server another weight than the configured one, until a time or for good",
		"Shows the weight override of a server",
		"Ends a weight override: the configured weight holds again"),
	{METHOD_GET, BASE "/overrides", ROLE_VIEWER, ROUTE_PAGED, OBJECT_KIND_COUNT,
	 handlers_override_list, "Everything that is not as configured: who, why, until when", NULL,
	 "OverrideList"},
	{METHOD_GET, BASE "/dns/preview", ROLE_VIEWER, ROUTE_QUESTION, OBJECT_KIND_COUNT,
	 handlers_dns_preview, "The DNS answer for a name now, with what is left out and why", NULL,
	 "DnsPreview"},
	{METHOD_GET, BASE "/dns/records", ROLE_VIEWER, ROUTE_PAGED, OBJECT_KIND_COUNT,
	 handlers_dns_records, "All records that DNS answers from now", NULL, "DnsRecords"},
	{METHOD_POST, BASE "/tools/detection-time", ROLE_VIEWER, ROUTE_BODY | ROUTE_READS,
	 OBJECT_KIND_COUNT, handlers_tools_detection_time,
	 "How long a health check takes to see a failure and a recovery, and advice",
	 "DetectionTimeQuestion", "DetectionTime"},
	{METHOD_GET, BASE "/kernel", ROLE_VIEWER, ROUTE_OWNER, OBJECT_KIND_COUNT,
	 handlers_kernel_table,
	 "The kernel's IPVS table, sets and rules as read now, ours and foreign", NULL,
	 "KernelTable"},
	{METHOD_GET, BASE "/kernel/drift", ROLE_VIEWER, 0, OBJECT_KIND_COUNT, handlers_kernel_drift,
	 "Where the kernel (IPVS, sets, rules) differs from what should be", NULL, "KernelDrift"},
	{METHOD_GET, BASE "/events", ROLE_VIEWER, ROUTE_PAGED | ROUTE_EVENTS, OBJECT_KIND_COUNT,
	 handlers_events_get,
	 "Events, newest first; with Accept: text/event-stream those to come, behind Last-Event-ID",
	 NULL, "EventList"},
	{METHOD_GET, BASE "/notify", ROLE_VIEWER, 0, OBJECT_KIND_COUNT, handlers_notify_get,
	 "Webhooks: what waits, when the last call succeeded, what the last failure was", NULL,
	 "Notify"},
	{METHOD_POST, BASE "/notify/test", ROLE_OPERATOR, 0, OBJECT_KIND_COUNT,
	 handlers_notify_test, "Calls every webhook once with an event that says so", NULL,
	 "NotifyTest"},
	{METHOD_GET, BASE "/audit", ROLE_ADMIN, ROUTE_PAGED | ROUTE_AUDIT, OBJECT_KIND_COUNT,
	 handlers_audit_list,
	 "Every attempt to change something, and every refused one: who, from where, what, result",
	 NULL, "Audit"},
	{METHOD_POST, BASE "/kernel/reconcile", ROLE_OPERATOR, ROUTE_TRIAL, OBJECT_KIND_COUNT,
	 handlers_kernel_reconcile,
	 "Compares the kernel (IPVS, sets, rules) with what should be, now, and mends what differs",
	 NULL, "Reconciliation"},
	{METHOD_GET, BASE "/stats", ROLE_VIEWER, ROUTE_STATS, OBJECT_KIND_COUNT, handlers_stats_get,
	 "Connections, packets and bits a second of listeners or servers: five minutes or an hour",
	 NULL, "Stats"},
	{METHOD_GET, BASE "/system", ROLE_VIEWER, 0, OBJECT_KIND_COUNT, handlers_system_get,
	 "Version, revision, kernel and store of this node", NULL, "System"},
	{METHOD_GET, BASE "/system/doctor", ROLE_VIEWER, 0, OBJECT_KIND_COUNT, handlers_doctor_get,
	 "What of this host stands in the way of packets, why, and the command that mends it", NULL,
	 "Doctor"},
	{METHOD_POST, BASE "/auth/login", ROLE_NOBODY, ROUTE_BODY, OBJECT_KIND_COUNT,
	 handlers_auth_login, "Signs a user in: sets the cookie of a session", "Login", "Identity"},
	{METHOD_POST, BASE "/auth/logout", ROLE_NOBODY, 0, OBJECT_KIND_COUNT, handlers_auth_logout,
	 "Ends the session of the cookie", NULL, NULL},
	{METHOD_GET, BASE "/auth/session", ROLE_VIEWER, 0, OBJECT_KIND_COUNT, handlers_auth_session,
	 "Who one is: by session, token or socket", NULL, "Identity"},
	{METHOD_POST, BASE "/auth/password", ROLE_VIEWER, ROUTE_BODY, OBJECT_KIND_COUNT,
	 handlers_auth_password, "Changes the password of who is signed in; his sessions end",
	 "PasswordChange", NULL},
	{METHOD_POST, BASE "/auth/setup", ROLE_ADMIN, 0, OBJECT_KIND_COUNT, handlers_auth_setup,
	 "Unix socket only: a one-time code for /auth/first-user", NULL, "SetupCode"},
	{METHOD_POST, BASE "/auth/first-user", ROLE_NOBODY, ROUTE_BODY, OBJECT_KIND_COUNT,
	 handlers_auth_first_user, "Makes an admin with a one-time code and signs him in",
	 "FirstUser", "Identity"},
	{METHOD_GET, BASE "/users", ROLE_ADMIN, ROUTE_PAGED, OBJECT_KIND_COUNT, handlers_users_list,
	 "Lists users", NULL, "UserList"},
	{METHOD_GET, BASE "/users/{user}", ROLE_ADMIN, 0, OBJECT_KIND_COUNT, handlers_users_get,
	 "Shows a user", NULL, "User"},
	{METHOD_PUT, BASE "/users/{user}", ROLE_ADMIN, ROUTE_BODY | ROUTE_TRIAL | ROUTE_CONDITION,
	 OBJECT_KIND_COUNT, handlers_users_write,
	 "Creates a user, or sets his role and (if given) password; a change ends his sessions",
	 "UserWish", "User"},
	{METHOD_PATCH, BASE "/users/{user}", ROLE_ADMIN, ROUTE_BODY | ROUTE_TRIAL | ROUTE_CONDITION,
	 OBJECT_KIND_COUNT, handlers_users_write,
	 "Changes role or password of a user; a change ends his sessions", "UserPatch", "User"},
	{METHOD_DELETE, BASE "/users/{user}", ROLE_ADMIN, ROUTE_TRIAL | ROUTE_CONDITION,
	 OBJECT_KIND_COUNT, handlers_users_delete, "Removes a user and ends his sessions", NULL,
	 NULL},
	{METHOD_GET, BASE "/tokens", ROLE_ADMIN, ROUTE_PAGED, OBJECT_KIND_COUNT,
	 handlers_tokens_list, "Lists bearer tokens, oldest first", NULL, "TokenList"},
	{METHOD_POST, BASE "/tokens", ROLE_ADMIN, ROUTE_BODY | ROUTE_TRIAL, OBJECT_KIND_COUNT,
	 handlers_tokens_add, "Makes a bearer token, which this answer alone shows", "TokenWish",
	 "NewToken"},
	{METHOD_GET, BASE "/tokens/{token}", ROLE_ADMIN, 0, OBJECT_KIND_COUNT, handlers_tokens_get,
	 "Shows a bearer token: whose, from where, used when", NULL, "Token"},
	{METHOD_DELETE, BASE "/tokens/{token}", ROLE_ADMIN, ROUTE_TRIAL | ROUTE_CONDITION,
	 OBJECT_KIND_COUNT, handlers_tokens_revoke, "Revokes a bearer token at once", NULL, NULL},
	{METHOD_GET, BASE "/sessions", ROLE_VIEWER, ROUTE_PAGED, OBJECT_KIND_COUNT,
	 handlers_auth_sessions, "Lists one's sessions; an admin's list has all", NULL,
	 "SessionList"},
	{METHOD_DELETE, BASE "/sessions/{session}", ROLE_VIEWER, ROUTE_TRIAL, OBJECT_KIND_COUNT,
	 handlers_auth_end_session, "Ends a session: one's own, or (admin) anybody's", NULL, NULL},
	{METHOD_GET, "/livez", ROLE_NOBODY, 0, OBJECT_KIND_COUNT, handlers_system_livez,
	 "Whether the daemon runs", NULL, "Live"},
	{METHOD_GET, "/readyz", ROLE_NOBODY, ROUTE_VERBOSE, OBJECT_KIND_COUNT,
	 handlers_system_readyz,
	 "Whether this node can be relied upon: 503 without IPVS or without its store", NULL,
	 "Ready"},
	{METHOD_GET, "/metrics", ROLE_METRICS, 0, OBJECT_KIND_COUNT, handlers_metrics_get,
	 "Prometheus text exposition", NULL, "Metrics"},
	{METHOD_GET, "/openapi.json", ROLE_VIEWER, 0, OBJECT_KIND_COUNT, handlers_system_openapi,
	 "This description", NULL, "OpenApi"},
};

const struct route *router_table(size_t *ret_count)
{
	*ret_count = sizeof(router_rows) / sizeof(router_rows[0]);
	return router_rows;
}

/* Whether the path is of the pattern; fills the params. */
static bool router_match(const char *pattern, const struct uri *uri,
			 const char *ret_params[REQUEST_PARAMS_MAX])
{
	size_t params = 0;

	for (size_t i = 0; i < uri->segment_count; i++) {
		size_t length;

		if (*pattern != '/')
			return false;
		pattern++;
		length = strcspn(pattern, "/");
		if (*pattern == '{') {
			if (!*uri->segments[i]) /* /zones/ is no zone without a name */
				return false;
			ret_params[params++] = uri->segments[i];
		} else if (strlen(uri->segments[i]) != length ||
			   memcmp(pattern, uri->segments[i], length) != 0) {
			return false;
		}
		pattern += length;
	}
	return *pattern == '\0';
}

const struct route *router_find(enum request_method method, const struct uri *uri,
				const char *ret_params[REQUEST_PARAMS_MAX], unsigned *ret_allowed)
{
	unsigned allowed = 0;

	for (size_t i = 0; i < sizeof(router_rows) / sizeof(router_rows[0]); i++) {
		const char *params[REQUEST_PARAMS_MAX] = {NULL};

		if (!router_match(router_rows[i].pattern, uri, params))
			continue;
		allowed |= 1U << router_rows[i].method;
		if (router_rows[i].method == method) {
			memcpy(ret_params, params, sizeof(params));
			return &router_rows[i];
		}
	}
	*ret_allowed = allowed;
	return NULL;
}

/* Any of the flags: a route knows the parameter. */
static const struct {
	unsigned flags;
	const char *name;
} router_queries[] = {
	{ROUTE_DRY_RUN | ROUTE_OVERRIDE | ROUTE_TRIAL, "dry_run"},
	{ROUTE_DRY_RUN, "comment"},
	{ROUTE_DRY_RUN, "confirm_within_s"},
	{ROUTE_TO, "to"},
	{ROUTE_PAGED, "limit"},
	{ROUTE_PAGED, "cursor"},
	{ROUTE_VIEW, "view"},
	{ROUTE_OWNER, "owner"},
	{ROUTE_OWNER, "services_only"},
	{ROUTE_VERBOSE, "verbose"},
	{ROUTE_QUESTION, "name"},
	{ROUTE_QUESTION, "type"},
	{ROUTE_QUESTION | ROUTE_CLIENT, "client"},
	{ROUTE_STATS, "window"},
	{ROUTE_STATS, "lb"},
	{ROUTE_STATS, "listener"},
	{ROUTE_STATS, "zone"},
	{ROUTE_STATS, "server_group"},
	{ROUTE_STATS | ROUTE_SERVERS, "server"},
	{ROUTE_SERVERS, "recent"},
	{ROUTE_EVENTS, "type"},
	{ROUTE_EVENTS, "last_event_id"},
	{ROUTE_AUDIT, "actor"},
	{ROUTE_AUDIT | ROUTE_EVENTS, "object"},
	{ROUTE_AUDIT, "method"},
	{ROUTE_AUDIT, "result"},
	{ROUTE_AUDIT | ROUTE_EVENTS, "since"},
	{ROUTE_AUDIT | ROUTE_EVENTS, "until"},
};

bool router_knows_query(const struct route *route, const char *name)
{
	for (size_t i = 0; i < sizeof(router_queries) / sizeof(router_queries[0]); i++) {
		if ((router_queries[i].flags & route->flags) &&
		    strcmp(router_queries[i].name, name) == 0)
			return true;
	}
	return false;
}

const char *router_format_query(const struct route *route, char buf[ROUTER_QUERY_MAX])
{
	size_t length = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(router_queries) / sizeof(router_queries[0]); i++) {
		if (router_queries[i].flags & route->flags)
			length += (size_t)snprintf(buf + length, ROUTER_QUERY_MAX - length, "%s%s",
						   length ? ", " : "", router_queries[i].name);
	}
	return buf;
}

const char *router_format_allow(unsigned allowed, char buf[ROUTER_ALLOW_MAX])
{
	size_t length = 0;

	buf[0] = '\0';
	for (enum request_method m = METHOD_GET; m < METHOD_OTHER; m++) {
		if (allowed & 1U << m)
			length += (size_t)snprintf(buf + length, ROUTER_ALLOW_MAX - length,
						   "%s%s%s", length ? ", " : "",
						   request_method_name(m),
						   m == METHOD_GET ? ", HEAD" : "");
	}
	return buf;
}

static void router_refuse_method(struct request *r, unsigned allowed)
{
	char allow[ROUTER_ALLOW_MAX];

	request_header(r, "Allow", router_format_allow(allowed, allow));
	request_fail(r, PROBLEM_METHOD_NOT_ALLOWED, "%s allows %s", r->uri.path, allow);
}

static void router_refuse_unknown(struct request *r)
{
	request_header(r, "WWW-Authenticate", "Bearer realm=\"zonegate\"");
	request_fail(
		r, PROBLEM_UNAUTHORIZED,
		"send \"Authorization: Bearer TOKEN\", or sign in. A token that is not known, has expired or is not good from this address is none. "
		"Tokens come from `zonegate token create`, the first admin of a browser from `zonegate setup`: as root on the gateway, where the unix socket asks for no token");
}

static void router_refuse_role(struct request *r, const struct route *route)
{
	if (r->wait)
		request_fail_wait(r, r->wait,
				  "too many tokens that are not known came from this address");
	else if (r->way == ACCESS_NO_WAY && r->trust != FRONT_UNIX)
		router_refuse_unknown(r);
	else if (r->way == ACCESS_NO_WAY)
		request_fail(
			r, PROBLEM_FORBIDDEN,
			"%s is %s here; %s is needed. On the local socket only root and the daemon's own user are known",
			r->who, role_name(r->role), role_name(route->role));
	else
		request_fail(r, PROBLEM_FORBIDDEN, "%s is %s; %s is needed", r->who,
			     role_name(r->role), role_name(route->role));
}

/* A parameter that is misspelt, or given twice, would silently do something else than was meant. */
static bool router_check_query(struct request *r, const struct route *route)
{
	AUTO_ERR struct err faults = {0};
	char known[ROUTER_QUERY_MAX];

	router_format_query(route, known);
	for (size_t i = 0; i < r->uri.query_count; i++) {
		const char *name = r->uri.query[i].name;

		if (!router_knows_query(route, name))
			err_set(&faults, ERR_SYNTAX, "",
				"query parameter %.60s: not one of this path, which knows %s", name,
				*known ? known : "none");
		else if (uri_query(&r->uri, name) != r->uri.query[i].value)
			err_set(&faults, ERR_SYNTAX, "", "query parameter %s: given more than once",
				name);
	}
	if (err_any(&faults))
		request_fail_faults(r, &faults);
	return !err_any(&faults);
}

void router_enter(struct request *r)
{
	const struct route *route;
	unsigned allowed = 0;

	if (r->uri_long) {
		request_fail(r, PROBLEM_TARGET_TOO_LONG,
			     "the request target has more than %d bytes, %d path segments or %d "
			     "query parameters",
			     URI_SIZE_MAX, URI_SEGMENTS_MAX, URI_QUERY_MAX);
		return;
	}
	if (!r->uri_valid) {
		request_fail(r, PROBLEM_BAD_REQUEST, "the path or query is badly encoded");
		return;
	}
	if (ui_serve(r))
		return;
	route = router_find(r->method, &r->uri, r->params, &allowed);
	if (!route && allowed)
		router_refuse_method(r, allowed);
	else if (!route)
		request_fail(r, PROBLEM_NOT_FOUND,
			     "there is nothing at %s; GET /openapi.json lists what there is",
			     r->uri.path);
	else if (r->role < route->role)
		router_refuse_role(r, route);
	else if (router_check_query(r, route))
		r->route = route;
}
