// SPDX-License-Identifier: GPL-2.0-or-later
// Schemas. A line of the reference is: object, member (dots lead into inner objects), type, bounds, default, help.
#include "api/openapi_schema.h"

#include "api/handlers_write.h"
#include "api/openapi_access.h"
#include "api/openapi_examples.h"
#include "api/openapi_type.h"
#include "base/buf.h"
#include "base/mem.h"
#include "engine/overrides.h"
#include "engine/shifts.h"
#include "model/object.h"

#include <stdio.h>
#include <string.h>

#define REFERENCE_MAX (1024U * 1024)

/* Answers that are no objects of the model: their members at the top. */
struct schema_row {
	const char *name;
	const char *description;
	const char *members; /* "name:type …" */
};

static const struct schema_row schema_rows[] = {
	{"Problem", "RFC 9457",
	 "type:string title:string status:integer detail:string instance:string request_id:string errors?:[Fault] errors_total?:integer changed?:Changed"},
	{"DryRun",
	 "What a write would do; `advice` (of the configuration): what there would be to think about that there is not now",
	 "diff:[DiffEntry] diff_total:integer kernel_ops:[string] kernel_ops_total:integer dns_changes:[DnsChange] "
	 "dns_changes_total:integer warnings:[Warning] advice?:[Advice] ipvs:=auto|off"},
	{"Removal", "What is left of a removed object", "draining?:[Removed] warnings?:[Warning]"},
	{"Validation", "A valid document, and what to think about",
	 "valid:boolean advice:[Advice]"},
	{"Confirm", "The change that waits for its confirmation; null: none does",
	 "pending:PendingChange?"},
	{"Confirmed",
	 "What was confirmed; `confirmed` is false for a dry run, which tells that nothing else changes",
	 "confirmed:boolean change:PendingChange diff?:[DiffEntry] diff_total?:integer kernel_ops?:[string] "
	 "kernel_ops_total?:integer dns_changes?:[DnsChange] dns_changes_total?:integer warnings?:[Warning]"},
	{"RevisionList",
	 "Revisions {revision, at, who, via, comment, changes {created, updated, deleted}}, newest first",
	 "items:[RevisionHead] next_cursor:string?"},
	{"Revision",
	 "A revision and what it changed: {action, path, old, new}, of an update only the members that differ; at most 1000",
	 "revision:integer at:time? who:string? via:string? comment:string? changes:[DiffEntry] changes_total:integer"},
	{"RevisionDiff",
	 "What turns the document of `from` into that of `to`: a page of it, and how much it is in all",
	 "from:integer to:integer diff:[DiffEntry] diff_total:integer next_cursor:string?"},
	{"Rollback",
	 "The revision that has the old document again; `changed` is false if it stood already",
	 "rolled_back_to:integer revision:integer changed:boolean warnings:[Warning]"},
	{"LoadBalancerStatus",
	 "The tree of a load balancer. `fail_open_family`: 4 or 6 where only one of two families has no healthy zone. `no_address`: DNS hands out none of its addresses, as all its zones are shifted away or disabled. `drained`: all that could "
	 "serve are drained by hand; `backup_serves`: backup servers do meanwhile",
	 "load_balancer:string enabled:boolean cross_zone:boolean revision:integer zones:[StatusZone] "
	 "listeners:[StatusListener] server_groups:[StatusGroup] advice:[Advice] draining:[Removed] "
	 "dns_name:string? fail_open:boolean fail_open_family:integer? no_address:boolean drained:boolean backup_serves:boolean drain:Drain?"},
	{"GroupHealth",
	 "Servers of a group with their states; `not_in_force` are services of the group that the kernel refused, 20 at most",
	 "server_group:string summary?:ServerGroupState windows:Windows advice:[Advice] not_in_force:[Service] "
	 "items:[GroupServer] next_cursor:string?"},
	{"ServerHealth",
	 "A server: probe, state, weight. Weights are those of the kernel: with slow_start_ms they are weight_factor times the configured ones",
	 "server_group:string server:string address:address port:integer zone:string? state:string reason_code:string "
	 "detail:string since:time? in_service:boolean trusted:boolean rests_on_silence:boolean passes:integer failures:integer "
	 "weight_configured:integer weight:integer weight_factor?:integer services:[Service] check:CheckInForce? probe_load:ProbeLoad last_probe:Evidence? "
	 "last_failure:Evidence? recent:[Result] next_change:string advice:string windows?:Windows traffic:StatsNow?"},
	{"HealthHistory",
	 "Entries, newest first: `event` is transition (from, to, reason_code, detail, lasted_ms, recent), daemon.started "
	 "(unclean: true after an end without a stop, from when on is not known) or daemon.stopped",
	 "items:[HealthEvent] next_cursor:string?"},
	{"Probe", "One probe that counted for nothing: pass, fail, or error of this host",
	 "server_group:string server:string endpoint:string type?:string started:time? result:=pass|fail|error "
	 "reason_code:string duration_ms:number received:string connect_ms?:number tls_ms?:number "
	 "reused_connection?:boolean first_byte_ms?:number http_status?:integer error?:string sent?:string "
	 "detail?:string"},
	{"ZoneShift",
	 "A zone out of DNS until a time. The answer that starts it has `effects`, too",
	 "id:string zone:string load_balancer:string comment:string? who:string? created_at:time? expires_at:time? "
	 "evacuate_servers:boolean forced:boolean history:[OverrideNote] effects?:[ShiftEffect]"},
	{"ZoneShiftEffects",
	 "What a shift would do to each load balancer that has the zone, and why it would be refused without force",
	 "shift?:ZoneShift effects:[ShiftEffect] refusals:[Fault] diff:[DiffEntry] diff_total:integer "
	 "kernel_ops:[string] kernel_ops_total:integer dns_changes:[DnsChange] dns_changes_total:integer "
	 "warnings:[Warning]"},
	{"ZoneShiftList", "Zone shifts, oldest first", "items:[ZoneShift] next_cursor:string?"},
	{"Drain",
	 "A drain by hand, in force until it is deleted: `state` is draining or finished. `connections` are all that the kernel holds "
	 "of it; `active` of these are open, the others close, are UDP, or keep a client with its server",
	 "kind:string id:string object:string server_group:string? server:string? zone:string? load_balancer:string? listener:string? who:string comment:string created_at:time? changed_at:time? detail:string "
	 "state:=draining|finished timeout_ms:integer deadline_at:time? time_left_ms:integer finished_at:time? "
	 "connections:integer active:integer destinations:integer history?:[OverrideNote]"},
	{"WeightOverride",
	 "A weight instead of the configured one; expires_at null: until it is deleted",
	 "kind:string id:string object:string server_group:string server:string who:string comment:string created_at:time? "
	 "changed_at:time? detail:string weight:integer weight_configured:integer expires_at:time? "
	 "history?:[OverrideNote]"},
	{"OverridePlan",
	 "What a drain or a weight override would do. Of a DELETE that the kernel did not take whole: what was ended, and `warnings`",
	 "override:OverrideItem diff:[DiffEntry] diff_total:integer kernel_ops:[string] kernel_ops_total:integer dns_changes:[DnsChange] "
	 "dns_changes_total:integer warnings:[Warning]"},
	{"OverrideList",
	 "What is not as configured: kind (unconfirmed_change, zone_shift, drain, weight_override, removal), id, object, who, comment, created_at, "
	 "expires_at or deadline_at, and members of the kind",
	 "items:[OverrideItem] next_cursor:string?"},
	{"DnsPreview",
	 "One answer: addresses with their share, those left out with the reason. `detail` says why a name is not answered; `meant` "
	 "is the dns_name of the load balancer of that name",
	 "name:string type:string rcode:string serial:integer ttl_s:integer negative_ttl_s:integer load_balancer:string? "
	 "zone:string? client_affinity:string client_zone:string? scope:integer addresses:[PreviewAddress] detail:string meant:string?"},
	{"DnsRecords", "Record sets {name, type, ttl_s, data}",
	 "serial:integer items:[RecordSet] next_cursor:string?"},
	{"DetectionTime",
	 "A health check spelled out, how long it takes at best and at worst, advice",
	 "health_check:HealthCheck windows:Windows advice:[Advice]"},
	{"FailoverTime",
	 "By the settings, at worst, while all zones are handed out; ttl_s is that of the answers now. `parts` are {part, worst_ms, counted, detail}: of the two detections the "
	 "slower one counts. total_ms is null where there is no failover; `advice` says why, or what to change first. `warning`: why clients would have "
	 "no healthy zone to go to now, and what DNS answers meanwhile",
	 "load_balancer:string dns_name:string? total_ms:integer? ttl_s:integer dominant:string? parts:[FailoverPart] warning:string? advice:string"},
	{"KernelTable",
	 "Virtual services of the kernel with their destinations, and what stands before them; where `ipvs` is off: those that would "
	 "be. And the sysctls that bear on them, as far as the kernel has them. `not_in_force`: what the document wants beside them",
	 "ipvs:=auto|off services:[KernelService] not_in_force:[KernelLacking] not_in_force_total:integer sysctls:[Sysctl] "
	 "filters?:KernelFilters"},
	{"KernelDrift",
	 "Operations that would mend the kernel: services, sets and rules. `not_in_force`: the wanted services among them, with what the "
	 "kernel said. `fault`: why sets and rules could not all be read; then `in_sync` is false, whatever else is in order",
	 "ipvs:=auto|off in_sync:boolean operations:[string] operations_total:integer not_in_force:[KernelLacking] "
	 "not_in_force_total:integer repaired_since_start:integer fault:string?"},
	{"Stats",
	 "Arrays for charts, oldest point first and one each `step_s` seconds up to `end`; null where nothing was read. Of listeners, "
	 "or with server_group of servers; at most 100 in `series`, all `series_total` in `total`. Where no kernel counts, "
	 "`available` is false and the arrays are empty. Rates are over two seconds, the pace of the kernel's numbers. "
	 "`limits`: what the first 100 of these listeners with a rate_limit or max_connections dropped",
	 "available:boolean unavailable_because:string? window:=5m|1h step_s:integer points:integer end:time? total:StatsTotal "
	 "series:[StatsSeries] series_total:integer limits?:[StatsLimit]"},
	{"EventList", "Events, newest first", "items:[Event] next_cursor:string?"},
	{"Notify", "Webhooks; `min_severity` and `types` say which events are sent",
	 "min_severity:=error|warning|notice|info types:string? signed:boolean urls:[NotifyUrl]"},
	{"NotifyTest", "What came of a call to every webhook", "results:[NotifyResult]"},
	{"Audit",
	 "Entries, newest first: id, at, request_id, actor, via, token, source, method, path, object, revision_before, "
	 "revision_after, status, result, dry_run; of repetitions within a minute count, first_at and last_at",
	 "items:[AuditEntry] next_cursor:string?"},
	{"Reconciliation",
	 "Operations that mended the kernel's table (`mended`), or would (dry run); `in_sync`: nothing differed. `not_in_force`: what is "
	 "still not as it should be",
	 "ipvs:=auto|off in_sync:boolean mended:boolean operations:[string] operations_total:integer "
	 "not_in_force:[KernelLacking] not_in_force_total:integer fault:string? "
	 "diff?:[DiffEntry] diff_total?:integer kernel_ops?:[string] kernel_ops_total?:integer "
	 "dns_changes?:[DnsChange] dns_changes_total?:integer warnings?:[Warning]"},
	{"System",
	 "This node; `state` is what /readyz says: ok, degraded or not ready. `instance`: this run of the daemon, with which its request ids begin",
	 "state:string node:string? instance:string version:string started:time? kernel:SystemKernel store:SystemStore revision:integer "
	 "applied_revision:integer services:integer probes:integer drift:SystemDrift "
	 "dns_update?:SystemUpdate unconfirmed?:PendingChange api:SystemApi advice:[Advice]"},
	{"Doctor",
	 "Findings about this host, errors first, and how many there are of each severity. What could not be seen is a finding, too",
	 "ipvs:=auto|off errors:integer warnings:integer infos:integer findings:[DoctorFinding]"},
	{"AccessEntries",
	 "The entries of an access list after a change; `changed` is false if they stood already",
	 "entry_count:integer entries_hash:string revision:integer changed:boolean warnings:[Warning]"},
	{"AccessEntriesPatch",
	 "Entries to put and networks to remove; all of it is done, or with a fault nothing",
	 "add?:[AccessEntry] remove?:[string]"},
	{"AccessHits",
	 "Entries that decided, at most 1000, and how many there are (`entries_total`); `available` is false where the list is not in use "
	 "on this node, or its kernel does not count",
	 "available:boolean entries:[AccessHit] entries_total:integer default:AccessCounts"},
	{"AccessVerdict",
	 "Whether the client may come in: `by` an entry of the list, by its default, because the listener names no list, or as "
	 "another gateway ([node] peers) that probes there: no list is asked",
	 "client:string allowed:boolean by:=entry|default|peer|no_list entry:AccessEntry? access_list:string?"},
	{"Live", "The daemon runs", "status:string"},
	{"Ready",
	 "`not ready` (503): IPVS is missing or was not read yet, or the store takes no commits. `degraded` (200): it serves, but the "
	 "kernel has not taken all of the configuration, or a load balancer fails open; what is refused for one object shall not take "
	 "away all that the node serves. With `verbose` why",
	 "status:string checks?:[ReadyCheck]"},
};

/* Names of the model's objects in the reference and here. */
static const struct {
	const char *object;
	const char *schema;
	const char *children; /* "member=Schema …" */
	const char *state;    /* schema of `status` */
} schema_objects[] = {
	{"zone", "Zone", "", "ZoneState"},
	{"server", "Server", "", "ServerState"},
	{"server_group", "ServerGroup", "servers=Server", "ServerGroupState"},
	{"lb_zone", "LoadBalancerZone", "", "ServicesState"},
	{"listener", "Listener", "", "ListenerState"},
	{"load_balancer", "LoadBalancer", "zones=LoadBalancerZone listeners=Listener",
	 "LoadBalancerState"},
	{"access_list", "AccessList", "", "AccessListState"},
	{"ipvs_settings", "Settings", "", "SettingsState"},
};
#define SCHEMA_OBJECTS (sizeof(schema_objects) / sizeof(schema_objects[0]))

static json_t *schema_ref(const char *name)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", name));
}

static json_t *schema_map(json_t *of)
{
	return json_pack("{s:s, s:o, s:o}", "type", "object", "propertyNames", schema_ref("Name"),
			 "additionalProperties", of);
}

/* ---- members of objects ----------------------------------------------------------------------- */

enum {
	COLUMN_OBJECT,
	COLUMN_MEMBER,
	COLUMN_TYPE,
	COLUMN_BOUNDS,
	COLUMN_DEFAULT,
	COLUMN_HELP,
	COLUMN_COUNT
};

/* "1-300000": bounds of a number or of a text's length. */
static void schema_set_bounds(json_t *schema, const char *bounds, const char *low, const char *high)
{
	unsigned long long min, max;

	if (sscanf(bounds, "%llu-%llu", &min, &max) != 2)
		return;
	json_object_set_new(schema, low, json_integer((json_int_t)min));
	json_object_set_new(schema, high, json_integer((json_int_t)max));
}

/* "tcp | udp": the values. */
static json_t *schema_values(const char *bounds)
{
	AUTO_FREE char *copy = mem_strdup(bounds);
	json_t *list = json_array();
	char *rest = copy, *value;

	while ((value = strsep(&rest, "|"))) {
		value += strspn(value, " ");
		value[strcspn(value, " ")] = '\0';
		json_array_append_new(list, json_string(value));
	}
	return list;
}

static json_t *schema_text(char *const columns[COLUMN_COUNT])
{
	json_t *schema = json_pack("{s:s}", "type", "string");
	unsigned long long low;

	if (strstr(columns[COLUMN_BOUNDS], "unescaped")) /* as it is written it may be longer */
		json_object_set_new(schema, "minLength", json_integer(1));
	else if (sscanf(columns[COLUMN_BOUNDS], "%llu", &low) == 1)
		schema_set_bounds(schema, columns[COLUMN_BOUNDS], "minLength", "maxLength");
	else if (columns[COLUMN_BOUNDS][0])
		json_object_set_new(schema, "enum", schema_values(columns[COLUMN_BOUNDS]));
	return schema;
}

/* Identity and times: settings that nobody has made have none. */
static bool schema_is_of_maker(const char *type)
{
	return strcmp(type, "string") == 0 || strcmp(type, "time") == 0;
}

/* What readers get besides. */
static json_t *schema_read_only(char *const columns[COLUMN_COUNT])
{
	static const struct {
		const char *member;
		const char *type;
	} types[] = {{"uid", "string"},      {"revision", "integer"}, {"created_at", "time"},
		     {"updated_at", "time"}, {"status", NULL},        {"warnings", "[Warning]"}};
	const char *type = "object", *object = columns[COLUMN_OBJECT];
	json_t *schema;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].member, columns[COLUMN_MEMBER]) == 0)
			type = types[i].type;
	}
	for (size_t i = 0; !type && i < SCHEMA_OBJECTS; i++) {
		if (strcmp(schema_objects[i].object, object) == 0)
			type = schema_objects[i].state;
	}
	schema = openapi_type_schema(type);
	if (strcmp(object, "ipvs_settings") == 0 && schema_is_of_maker(type))
		schema = openapi_type_nullable(schema);
	json_object_set_new(schema, "readOnly", json_true());
	return schema;
}

/* Two numbers, the lower one first. */
static json_t *schema_range(const char *bounds)
{
	json_t *number = json_pack("{s:s}", "type", "integer");

	schema_set_bounds(number, bounds, "minimum", "maximum");
	return json_pack("{s:s, s:i, s:i, s:o}", "type", "array", "minItems", 2, "maxItems", 2,
			 "items", number);
}

static json_t *schema_member(char *const columns[COLUMN_COUNT], const char *child)
{
	const char *type = columns[COLUMN_TYPE];
	json_t *schema;

	if (strcmp(type, "objects") == 0)
		return schema_map(child ? schema_ref(child) : json_object());
	if (strcmp(type, "object") == 0)
		return json_pack("{s:s, s:{}, s:b}", "type", "object", "properties",
				 "additionalProperties", 0);
	if (strcmp(type, "boolean") == 0)
		return json_pack("{s:s}", "type", "boolean");
	if (strcmp(type, "array of strings") == 0)
		return json_pack("{s:s, s:{s:s, s:o}}", "type", "array", "items", "type", "string",
				 "enum", schema_values(columns[COLUMN_BOUNDS]));
	if (strcmp(type, "read-only") == 0)
		return schema_read_only(columns);
	if (strcmp(type, "array of prefixes") == 0)
		return openapi_type_schema("[string]");
	if (strcmp(type, "array of entries") == 0)
		return openapi_type_schema("[AccessEntry]");
	if (strcmp(type, "range") == 0)
		return schema_range(columns[COLUMN_BOUNDS]);
	if (strcmp(type, "address") == 0)
		return json_pack("{s:s, s:s}", "type", "string", "format", "ip-address");
	if (strcmp(type, "string") == 0)
		return schema_text(columns);
	schema = json_pack("{s:s}", "type", "integer");
	schema_set_bounds(schema, columns[COLUMN_BOUNDS], "minimum", "maximum");
	return schema;
}

/* A default that is a value; one that hangs on other members is told by the manual only. */
static void schema_set_default(json_t *schema, const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
	json_t *name;
	size_t i;

	json_array_foreach (json_object_get(schema, "enum"), i, name) {
		if (!value && strcmp(json_string_value(name), text) == 0)
			value = json_incref(name);
	}
	if (value)
		json_object_set_new(schema, "default", value);
}

/* "servers=Server …" → the schema of a member, or NULL. Returns `buf`. */
static const char *schema_child(const char *children, const char *member, char buf[64])
{
	size_t length = strlen(member);

	for (const char *at = children; (at = strstr(at, member)); at += length) {
		if (at[length] != '=' || (at > children && at[-1] != ' '))
			continue;
		snprintf(buf, 64, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
		return buf;
	}
	return NULL;
}

static void schema_add_member(json_t *object, const char *children, char *columns[COLUMN_COUNT])
{
	char *path = columns[COLUMN_MEMBER], *dot;
	char child[64];
	json_t *schema;

	while ((dot = strchr(path, '.'))) { /* into the inner object, which has its line before */
		*dot = '\0';
		object = json_object_get(json_object_get(object, "properties"), path);
		path = dot + 1;
	}
	if (!object)
		return;
	schema = schema_member(columns, schema_child(children, path, child));
	if (columns[COLUMN_HELP][0])
		json_object_set_new(schema, "description", json_string(columns[COLUMN_HELP]));
	schema_set_default(schema, columns[COLUMN_DEFAULT]);
	json_object_set_new(json_object_get(object, "properties"), path, schema);
	if (strcmp(columns[COLUMN_DEFAULT], "required") == 0 &&
	    !strstr(columns[COLUMN_HELP], "; only ")) {
		if (!json_object_get(object, "required"))
			json_object_set_new(object, "required", json_array());
		json_array_append_new(json_object_get(object, "required"), json_string(path));
	}
}

static void schema_add_line(json_t *schemas, char *line)
{
	char *columns[COLUMN_COUNT];

	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		columns[i] = strsep(&line, "\t");
		if (!columns[i])
			return;
	}
	for (size_t i = 0; i < SCHEMA_OBJECTS; i++) {
		if (strcmp(schema_objects[i].object, columns[COLUMN_OBJECT]) == 0)
			schema_add_member(json_object_get(schemas, schema_objects[i].schema),
					  schema_objects[i].children, columns);
	}
}

/* What a write committed and the kernel did not take. */
static json_t *schema_warnings(void)
{
	json_t *warnings = openapi_type_schema("[Warning]");

	json_object_set_new(warnings, "readOnly", json_true());
	return warnings;
}

static void schema_add_objects(json_t *schemas)
{
	AUTO_BUF struct buf_writer w;
	char *rest, *line;

	for (size_t i = 0; i < SCHEMA_OBJECTS; i++)
		json_object_set_new(schemas, schema_objects[i].schema,
				    json_pack("{s:s, s:{}, s:b}", "type", "object", "properties",
					      "additionalProperties", 0));
	buf_writer_init(&w, REFERENCE_MAX);
	object_write_reference(&w);
	rest = (char *)w.data;
	while ((line = strsep(&rest, "\n")))
		schema_add_line(schemas, line);
	for (size_t i = 0; i < SCHEMA_OBJECTS; i++) { /* of the answer to a write */
		json_t *object = json_object_get(schemas, schema_objects[i].schema);

		json_object_set_new(json_object_get(object, "properties"), "warnings",
				    schema_warnings());
	}
}

/* ---- answers ---------------------------------------------------------------------------------- */

static json_t *schema_answer(const struct schema_row *row)
{
	json_t *schema = openapi_type_members(row->members);

	json_object_set_new(schema, "description", json_string(row->description));
	return schema;
}

/* What a name stands before in a list. */
static json_t *schema_item(json_t *schemas, const char *name)
{
	json_t *item = json_deep_copy(json_object_get(schemas, name));

	json_object_set_new(json_object_get(item, "properties"), "name", schema_ref("Name"));
	json_object_set_new(item, "description",
			    json_string("An object as in its own answer, with its name"));
	return item;
}

/* Lists and merge patches of the objects. */
static void schema_add_lists(json_t *schemas)
{
	for (size_t i = 0; i < SCHEMA_OBJECTS; i++) {
		const char *name = schema_objects[i].schema;
		AUTO_FREE char *list = mem_printf("%sList", name);
		AUTO_FREE char *item = mem_printf("%sItem", name);
		AUTO_FREE char *patch = mem_printf("%sPatch", name);
		AUTO_FREE char *members = mem_printf("items:[%s] next_cursor:string?", item);

		json_object_set_new(schemas, patch,
				    openapi_type_patch(json_object_get(schemas, name)));
		if (strcmp(name, "Settings") == 0) /* there is one of it */
			continue;
		json_object_set_new(schemas, item, schema_item(schemas, name));
		json_object_set_new(schemas, list, openapi_type_members(members));
	}
}

static json_t *schema_property(const json_t *schemas, const char *schema, const char *name)
{
	return json_object_get(json_object_get(json_object_get(schemas, schema), "properties"),
			       name);
}

/* Bodies of zone shifts. */
static void schema_add_shifts(json_t *schemas)
{
	static const char expiry[] = "From now, at most 72 h: 90s, 30m, 1h30m, 3d";
	json_t *start = json_pack(
		"{s:s, s:{s:o, s:{s:s, s:s}, s:{s:s, s:s, s:s}, s:{s:s, s:i, s:i}, s:{s:s, s:s}, s:{s:s, s:s}}, "
		"s:[s, s, s, s], s:b}",
		"type", "object", "properties", "zone", schema_ref("Name"), "load_balancer", "type",
		"string", "description", "Its name, or * for all, later ones too", "expires_in",
		"type", "string", "pattern", "^([0-9]{1,8}[dhms]){1,4}$", "description", expiry,
		"comment", "type", "string", "minLength", 1, "maxLength", SHIFT_COMMENT_MAX,
		"evacuate_servers", "type", "boolean", "description",
		"With cross_zone: servers of the zone get no new flows in other zones either",
		"force", "type", "boolean", "description",
		"Also if no zone is left, or unhealthy ones only", "required", "zone",
		"load_balancer", "expires_in", "comment", "additionalProperties", 0);

	json_object_set_new(
		schemas, "ZoneShiftChange",
		json_pack("{s:s, s:{s:O, s:O}, s:b}", "type", "object", "properties", "expires_in",
			  json_object_get(json_object_get(start, "properties"), "expires_in"),
			  "comment",
			  json_object_get(json_object_get(start, "properties"), "comment"),
			  "additionalProperties", 0));
	json_object_set_new(schemas, "ZoneShiftStart", start);
}

/* Bodies of drains and weights. */
static void schema_add_overrides(json_t *schemas)
{
	json_t *drain = json_pack(
		"{s:s, s:{s:{s:s, s:i, s:i, s:s}, s:{s:s, s:i, s:i, s:s}}, s:[s], s:b}", "type",
		"object", "properties", "timeout_ms", "type", "integer", "minimum", 0, "maximum",
		OVERRIDE_TIMEOUT_MAX, "description",
		"0: the destinations are removed now; absent: drain_timeout_ms of the group, of several the longest",
		"comment", "type", "string", "minLength", 1, "maxLength", OVERRIDE_COMMENT_MAX,
		"description", "Why", "required", "comment", "additionalProperties", 0);

	json_object_set_new(
		schemas, "WeightOverrideWish",
		json_pack("{s:s, s:{s:{s:s, s:i, s:i}, s:{s:s, s:s, s:s}, s:O}, s:[s, s], s:b}",
			  "type", "object", "properties", "weight", "type", "integer", "minimum", 0,
			  "maximum", OVERRIDE_WEIGHT_MAX, "expires_in", "type", "string", "pattern",
			  "^([0-9]{1,8}[dhms]){1,4}$", "description",
			  "From now: 90s, 30m, 1h30m, 3d; absent: until it is deleted", "comment",
			  json_object_get(json_object_get(drain, "properties"), "comment"),
			  "required", "weight", "comment", "additionalProperties", 0));
	json_object_set_new(schemas, "DrainWish", drain);
}

static json_t *schema_rollback(void)
{
	return json_pack("{s:s, s:{s:{s:s, s:i}, s:{s:s, s:i, s:i, s:s}}, s:[s], s:b}", "type",
			 "object", "properties", "comment", "type", "string", "maxLength",
			 MODEL_TEXT_MAX, "confirm_within_s", "type", "integer", "minimum", 1,
			 "maximum", HANDLERS_WRITE_CONFIRM_MAX, "description",
			 "Unless POST /config/confirm comes in time, it undoes itself", "required",
			 "comment", "additionalProperties", 0);
}

json_t *openapi_schema_all(void)
{
	json_t *schemas = json_object();

	json_object_set_new(schemas, "Name",
			    json_pack("{s:s, s:s}", "type", "string", "pattern",
				      "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"));
	schema_add_objects(schemas);
	schema_add_lists(schemas);
	json_object_set_new(schemas, "ServerMap", schema_map(schema_ref("Server")));
	json_object_set_new(schemas, "Config",
			    json_pack("{s:s, s:{s:o, s:o, s:o, s:o, s:o, s:o}, s:b}", "type",
				      "object", "properties", "access_lists",
				      schema_map(schema_ref("AccessList")), "settings",
				      schema_ref("Settings"), "zones",
				      schema_map(schema_ref("Zone")), "server_groups",
				      schema_map(schema_ref("ServerGroup")), "load_balancers",
				      schema_map(schema_ref("LoadBalancer")), "warnings",
				      schema_warnings(), "additionalProperties", 0));
	json_object_set(schemas, "HealthCheck",
			schema_property(schemas, "ServerGroup", "health_check"));
	json_object_set_new(
		schemas, "DetectionTimeQuestion",
		json_pack("{s:s, s:{s:O, s:O, s:{s:s, s:i, s:s}}, s:b}", "type", "object",
			  "properties", "health_check",
			  schema_property(schemas, "ServerGroup", "health_check"), "protocol",
			  schema_property(schemas, "ServerGroup", "protocol"), "d_ms", "type",
			  "integer", "minimum", 0, "description",
			  "time to an answer, at most timeout_ms", "additionalProperties", 0));
	schema_add_shifts(schemas);
	schema_add_overrides(schemas);
	json_object_set_new(schemas, "RollbackRequest", schema_rollback());
	json_object_set_new(schemas, "Metrics", json_pack("{s:s}", "type", "string"));
	json_object_set_new(schemas, "AccessText", json_pack("{s:s}", "type", "string"));
	for (size_t i = 0; i < sizeof(schema_rows) / sizeof(schema_rows[0]); i++)
		json_object_set_new(schemas, schema_rows[i].name, schema_answer(&schema_rows[i]));
	json_object_set_new(schemas, "OpenApi",
			    json_pack("{s:s, s:[s, s, s]}", "type", "object", "required", "openapi",
				      "info", "paths"));
	openapi_type_add_pieces(schemas);
	openapi_access_add_schemas(schemas);
	openapi_examples_add(schemas);
	return schemas;
}
