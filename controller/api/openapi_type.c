// SPDX-License-Identifier: GPL-2.0-or-later
// Schemas from short text. Every object that is made here is closed: a member that is not told is none.
#include "api/openapi_type.h"

#include "base/mem.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* ---- types ------------------------------------------------------------------------------------ */

static const struct {
	const char *word;
	const char *type;
	const char *format; /* or NULL */
} type_words[] = {
	{"string", "string", NULL},   {"time", "string", "date-time"},
	{"integer", "integer", NULL}, {"address", "string", "ip-address"},
	{"number", "number", NULL},   {"boolean", "boolean", NULL},
	{"object", "object", NULL},   {"array", "array", NULL},
};

static json_t *type_word(const char *word)
{
	for (size_t i = 0; i < sizeof(type_words) / sizeof(type_words[0]); i++) {
		if (strcmp(type_words[i].word, word) == 0)
			return json_pack("{s:s, s:s*}", "type", type_words[i].type, "format",
					 type_words[i].format);
	}
	assert(isupper((unsigned char)word[0])); /* our own tables */
	return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", word));
}

static json_t *type_values(const char *text)
{
	AUTO_FREE char *copy = mem_strdup(text);
	json_t *list = json_array();
	char *rest = copy, *value;

	while ((value = strsep(&rest, "|")))
		json_array_append_new(list, json_string(value));
	return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

json_t *openapi_type_nullable(json_t *schema)
{
	json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum");

	if (!type)
		return json_pack("{s:[o, {s:s}]}", "anyOf", schema, "type", "null");
	if (json_is_string(type))
		json_object_set_new(schema, "type", json_pack("[O, s]", type, "null"));
	if (values)
		json_array_append_new(values, json_null());
	return schema;
}

json_t *openapi_type_schema(const char *type)
{
	AUTO_FREE char *inner = mem_strdup(type + 1);
	size_t length = strlen(type);

	if (type[length - 1] == '?') {
		AUTO_FREE char *sure = mem_printf("%.*s", (int)length - 1, type);

		return openapi_type_nullable(openapi_type_schema(sure));
	}
	if (type[0] == '=')
		return type_values(inner);
	if (type[0] != '[' && type[0] != '{')
		return type_word(type);
	inner[length - 2] = '\0';
	return json_pack("{s:s, s:o}", "type", type[0] == '[' ? "array" : "object",
			 type[0] == '[' ? "items" : "additionalProperties",
			 openapi_type_schema(inner));
}

json_t *openapi_type_members(const char *members)
{
	AUTO_FREE char *copy = mem_strdup(members);
	json_t *properties = json_object(), *required = json_array();
	char *rest = copy, *name;

	while ((name = strsep(&rest, " "))) {
		char *type = strchr(name, ':');

		if (!type) /* two blanks in a row */
			continue;
		*type++ = '\0';
		if (name[strlen(name) - 1] == '?')
			name[strlen(name) - 1] = '\0';
		else
			json_array_append_new(required, json_string(name));
		json_object_set_new(properties, name, openapi_type_schema(type));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			 "required", required, "additionalProperties", 0);
}

/* ---- merge patches ---------------------------------------------------------------------------- */

/* The children of an object are patched like the object. */
static void type_patch_children(json_t *schema)
{
	json_t *children = json_object_get(schema, "additionalProperties");
	const char *ref = json_string_value(json_object_get(children, "$ref"));

	if (ref)
		json_object_set_new(schema, "additionalProperties",
				    openapi_type_nullable(json_pack("{s:o}", "$ref",
								    json_sprintf("%sPatch", ref))));
}

json_t *openapi_type_patch(const json_t *schema)
{
	json_t *patch = json_deep_copy(schema), *properties, *member;
	const char *name;
	void *next;

	json_object_del(patch, "required");
	json_object_del(patch, "default");
	type_patch_children(patch);
	properties = json_object_get(patch, "properties");
	json_object_foreach_safe(properties, next, name, member)
	{
		if (!json_is_true(json_object_get(member, "readOnly")))
			json_object_set_new(properties, name,
					    openapi_type_nullable(openapi_type_patch(member)));
	}
	return patch;
}

/* ---- pieces ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *description;
	const char *members;
} type_pieces[] = {
	{"Advice", "A thought about what was written: `pointer` names the place",
	 "code:string pointer:string detail:string"},
	{"Warning",
	 "Committed, but not in force: why, and of what. Of a dry run also what it would leave without a server (nobody_left) or without an address in DNS (name_without_address), and what follows the end of a shift (checked_first, still_shifted)",
	 "code:string pointer:string detail:string"},
	{"Warnings", "A write with Prefer: return=minimal that is not in force",
	 "warnings:[Warning]"},
	{"Fault", "One thing that is wrong, with the JSON pointer of its place",
	 "pointer:string code:string detail:string"},
	{"Changed", "Who was faster",
	 "revision?:integer at:time? who:string? via?:string? comment:string?"},
	{"DiffEntry", "A change of an object: its members as they were and as they become",
	 "action:=create|update|delete path:string old:object? new:object?"},
	{"DnsChange",
	 "What a name is answered with before and after; the TTL is null where there is no answer",
	 "name:string type:=A|AAAA before:[address] after:[address] ttl_before_s:integer? ttl_after_s:integer?"},
	{"Removed", "A removed server whose connections may finish; `active` of them are open",
	 "load_balancer:string listener:string server_group:string server:string endpoint:string started:time? "
	 "deadline:time? connections:integer active:integer"},
	{"PendingChange", "A change that undoes itself unless it is confirmed",
	 "revision:integer who:string via:string comment:string? made_at:time? undone_at:time? left_s:integer"},
	{"ChangeCounts", "How many objects a revision changed",
	 "created:integer updated:integer deleted:integer"},
	{"RevisionHead", "Who changed the configuration, when and why",
	 "revision:integer at:time? who:string? via:string? comment:string? changes?:ChangeCounts"},
	{"Event",
	 "What happened, once for each transition; `data` has its facts: from, to, reason_code and others",
	 "id:string at:time type:string object:string severity:=error|warning|notice|info detail:string data:object"},
	{"NotifyUrl",
	 "A webhook: scheme and host of its URL; `behind`: more events wait in the store",
	 "url:string pending:integer behind:boolean delivered:integer failures:integer last_success:time? "
	 "last_failure:time? error:string?"},
	{"NotifyResult", "What came of one call",
	 "url:string ok:boolean status:integer? detail:string duration_ms:integer"},
	{"AuditEntry", "An attempt to change something, or one that was refused",
	 "id:string at:time? request_id:string? actor:string? via:string token:string? source:string? "
	 "method:string path:string object:string? revision_before:integer? revision_after:integer? "
	 "status:integer result:string dry_run:boolean count?:integer first_at?:time last_at?:time"},
	{"Timeouts", "Of IPVS, in seconds", "tcp_s:integer tcp_fin_s:integer udp_s:integer"},
	{"SettingsState", "What the kernel has, whoever set it; null: not known",
	 "timeouts_in_force?:Timeouts?"},
	{"AccessListState",
	 "How many entries it has of each family; read by itself, what to think about",
	 "entries_v4:integer entries_v6:integer advice?:[Advice]"},
	{"AccessHit", "An entry and what it decided, since its list was last filled anew",
	 "cidr:string action:string? comment:string packets:integer bytes:integer"},
	{"AccessCounts", "What no entry decided", "packets:integer bytes:integer"},
	{"AccessEntry", "Clients of a network, and whether they may come in",
	 "cidr:string action:=deny|allow comment?:string"},
	{"ZoneState", "Nothing is observed of a zone by itself", ""},
	{"ServerState", "What is observed of a server",
	 "state?:string reason_code?:string detail?:string since?:time? in_service?:boolean"},
	{"ServerGroupState",
	 "How many servers are in which state; `unchecked` are in service, as the health check of the group is off; of the healthy and unchecked ones "
	 "`weight_zero` get nothing, as their weight is 0",
	 "servers?:integer healthy?:integer unhealthy?:integer initial?:integer unchecked?:integer weight_zero?:integer "
	 "disabled?:integer draining?:integer used?:boolean advice?:[Advice]"},
	{"ListenerState",
	 "Virtual services of a listener, and with a rate_limit or max_connections the connections that this node has dropped for it, all and (recent) those since an earlier look; null: not counted yet",
	 "services?:integer programmed?:integer planned?:integer with_servers?:integer "
	 "min_healthy_breached?:integer checking?:integer fault?:string? rate_limit_dropped?:integer? "
	 "rate_limit_dropped_recent?:integer? rate_limit_counted_at?:time? max_connections_dropped?:integer? "
	 "max_connections_dropped_recent?:integer? max_connections_counted_at?:time?"},
	{"ServicesState", "Virtual services of a zone of a load balancer",
	 "services?:integer programmed?:integer planned?:integer with_servers?:integer "
	 "min_healthy_breached?:integer checking?:integer fault?:string?"},
	{"LoadBalancerState",
	 "Virtual services of a load balancer, and its addresses in DNS; with limits of its listeners what they have dropped, all and within "
	 "the last dropped_recent_s. Of those left out `addresses_withdrawn` are withdrawn by themselves (VIP or servers unhealthy), the "
	 "others are disabled, shifted away or undecided; of `addresses_undecided` the first verdict is not there yet, handed out or not",
	 "services?:integer programmed?:integer planned?:integer with_servers?:integer "
	 "min_healthy_breached?:integer checking?:integer fault?:string? addresses_published?:integer "
	 "addresses_left_out?:integer addresses_withdrawn?:integer addresses_undecided?:integer fail_open?:boolean "
	 "fail_open_family?:integer? no_address?:boolean drained?:boolean backup_serves?:boolean dropped?:integer? dropped_recent?:integer? "
	 "dropped_recent_s?:integer?"},
	{"Service", "A virtual service that should be: a listener at one address",
	 "load_balancer:string zone:string listener:string server_group:string family:integer "
	 "programmed:boolean planned:boolean fault:string? eligible:integer in_service:integer "
	 "initial:integer min_healthy_breached:boolean none_healthy:string service?:string weight?:integer? left_out?:string? traffic?:StatsNow?"},
	{"VipHealth", "What is known of an address, and who says so",
	 "state:string? source:string? detail:string since:time?"},
	{"Publication", "Whether DNS hands out an address, and why",
	 "family:integer published:boolean reason_code:string detail:string server_group:string? "
	 "shift:string? fail_open:boolean vip:address address:address vip_health:VipHealth "
	 "servers_eligible:integer servers_in_service:integer"},
	{"StatusZone", "A zone of a load balancer",
	 "zone:string enabled:boolean vip4:address? vip6:address? publication:[Publication] services:[Service]"},
	{"StatusListener", "A listener of a load balancer",
	 "listener:string protocol:string port?:integer port_range?:[integer] server_group:string services:[Service] drain:Drain? rate_limit_dropped?:integer? rate_limit_dropped_recent?:integer? "
	 "rate_limit_counted_at?:time? max_connections_dropped?:integer? max_connections_dropped_recent?:integer? "
	 "max_connections_counted_at?:time?"},
	{"StatsLimit",
	 "What the limits of a listener dropped, all and (recent) since an earlier look; null: not counted yet",
	 "load_balancer:string listener:string rate_limit_dropped?:integer? rate_limit_dropped_recent?:integer? "
	 "rate_limit_counted_at?:time? max_connections_dropped?:integer? max_connections_dropped_recent?:integer? "
	 "max_connections_counted_at?:time?"},
	{"StatusGroup", "A server group of a load balancer; of a large one not all servers",
	 "server_group:string summary?:ServerGroupState servers:[GroupServer] servers_total:integer"},
	{"GroupServer",
	 "A server with its state; with slow_start_ms its weight in the kernel is weight_factor times the configured one. `left_out` "
	 "is why no service gives it connections where it is in service and not weighted 0 by hand",
	 "server_group:string server:string address:address port:integer zone:string? state:string "
	 "reason_code:string detail:string since:time? in_service:boolean trusted:boolean "
	 "rests_on_silence:boolean passes:integer failures:integer weight_configured:integer "
	 "weight:integer weight_factor?:integer left_out?:string? last_probe:Evidence? recent?:[Result] traffic:StatsNow?"},
	{"Range", "At best and at worst", "best_ms:integer worst_ms:integer"},
	{"Windows", "How long a change takes to be seen",
	 "detection_silent:Range? detection_active:Range recovery:Range silence?:string"},
	{"Evidence", "What a probe met",
	 "started:time? result:=pass|fail|error reason_code:string duration_ms:number received:string "
	 "connect_ms?:number tls_ms?:number reused_connection?:boolean first_byte_ms?:number "
	 "http_status?:integer error?:string sent?:string detail?:string"},
	{"Result", "A result without its evidence",
	 "result:=pass|fail|error reason_code:string duration_ms:number"},
	{"CheckInForce", "How a server is probed",
	 "endpoint:string type:string interval_ms:integer timeout_ms:integer healthy_threshold:integer "
	 "unhealthy_threshold:integer fast_retry:boolean"},
	{"HealthEvent", "A transition, or a start or stop of the daemon",
	 "at:time? event:string from?:string to?:string reason_code?:string detail?:string "
	 "lasted_ms?:integer recent?:[Result] unclean?:boolean"},
	{"OverrideNote", "Who changed it and why",
	 "at:time? who?:string? comment?:string? expires_at?:time?"},
	{"ShiftEffect", "What a shift does to a load balancer",
	 "load_balancer:string dns_name:string? zones_left:integer servers_moved:integer "
	 "share_percent:integer answers_before:[address] answers_after:[address]"},
	{"OverrideItem", "Something that is not as configured; which members it has goes by `kind`",
	 "kind:=unconfirmed_change|zone_shift|drain|weight_override|removal id:string? object:string who:string? "
	 "comment:string? created_at:time? changed_at?:time? expires_at?:time? detail?:string "
	 "zone?:string? load_balancer?:string? listener?:string? server_group?:string? server?:string? "
	 "endpoint?:string evacuate_servers?:boolean forced?:boolean state?:=draining|finished "
	 "timeout_ms?:integer deadline_at?:time? time_left_ms?:integer finished_at?:time? "
	 "connections?:integer active?:integer destinations?:integer weight?:integer weight_configured?:integer revision?:integer"},
	{"PreviewAddress", "An address, handed out or left out",
	 "address:address zone:string? published:boolean share_percent:integer reason_code:string? "
	 "server_group:string? shift:string? detail:string"},
	{"RecordSet", "Records of one name and type",
	 "name:string type:string ttl_s:integer data:[string] load_balancer:string? zone:string?"},
	{"FailoverPart", "What takes time in a failover",
	 "part:string worst_ms:integer counted:boolean detail:string"},
	{"TrafficCounts", "Counters of the kernel",
	 "connections:integer packets_in:integer packets_out:integer bytes_in:integer bytes_out:integer"},
	{"KernelDestination", "A destination of a virtual service",
	 "address:address port:integer forward_method:string weight:integer upper:integer lower:integer "
	 "tunnel_type?:string tunnel_port?:integer active?:integer inactive?:integer persistent?:integer "
	 "stats?:TrafficCounts"},
	{"KernelService", "A virtual service of the kernel, and whose it is",
	 "service:string family:integer fwmark?:integer protocol?:string address?:address port?:integer "
	 "scheduler:string flags:integer persistence_s?:integer persistence_engine?:string "
	 "stats?:TrafficCounts destinations:[KernelDestination] owner:=zonegate|foreign "
	 "load_balancer?:string zone?:string listener?:string"},
	{"KernelLacking",
	 "A service that the document wants and that is not in the kernel (`missing`), or not as it should be. `fault`: what the kernel "
	 "said, with what mends it; null where it was not asked yet",
	 "service:string load_balancer:string zone:string listener:string missing:boolean fault:string?"},
	{"KernelFilters",
	 "What stands before IPVS: the sets of everybody and our rules. `in_force`: all of ours is as it should be; `fault`: why not all "
	 "could be read; what was not is not listed",
	 "in_force:boolean fault:string? sets:[KernelSet] sets_left_out:integer rules:[KernelRules]"},
	{"KernelSet",
	 "A set (ipset). Of ours: what it is for, and whether it is as it should be; one that is missing has no entries",
	 "name:string owner:=zonegate|foreign type:string family:=ipv4|ipv6? entries:integer memory_bytes:integer references:integer "
	 "use?:string state?:=in_force|missing|changed|unwanted access_list?:string"},
	{"KernelRules",
	 "Our chains in a table of iptables, and the program that sets them (null: none has yet)",
	 "family:=ipv4|ipv6 table:string program:string? chains:[string] rules:integer "
	 "state:=in_force|missing|changed|unwanted"},
	{"StatsNow",
	 "The newest figures; null where no kernel counts. `active`: established connections; `inactive`: those that open or close, and all of "
	 "UDP, which stay until their timeout, also from before the daemon; `connections`, packets and bytes: what came since the daemon "
	 "started, up to two seconds late",
	 "active:integer inactive:integer connections_per_s:number packets_per_s:number bits_per_s:number connections:integer "
	 "packets_in:integer packets_out:integer bytes_in:integer bytes_out:integer"},
	{"StatsTotal", "The sum of all series that were asked for",
	 "now:StatsNow connections_per_s:[number?] packets_per_s:[number?] bits_per_s:[number?] active:[number?]"},
	{"StatsSeries", "A listener at the VIP of a zone, or a server in all services",
	 "load_balancer?:string listener?:string family?:integer protocol?:string server_group?:string server?:string "
	 "zone:string? now:StatsNow connections_per_s:[number?] packets_per_s:[number?] bits_per_s:[number?] active:[number?]"},
	{"ConnectionTracking",
	 "Room for connections of the host, and how much of it the probes can take",
	 "max:integer taken_by_probes:integer"},
	{"ProbeLoad",
	 "Probes a second that each gateway sends to the address, of all groups, and how many different ones they are",
	 "per_second:number different:integer"},
	{"Sysctl", "A setting of the kernel that bears on balancing", "name:string value:integer"},
	{"SystemKernel", "IPVS and the device of the addresses",
	 "ipvs:=auto|off available:boolean known:boolean detail?:string vip_device?:string "
	 "vip_device_fault?:string guard_fault?:string release?:string conntrack?:ConnectionTracking "
	 "modules:[string] sysctls:[Sysctl]"},
	{"SystemStore", "Whether the store takes commits", "ok:boolean detail?:string"},
	{"SystemTls", "The certificate of the listener",
	 "fingerprint_sha256:string subject:string not_after:time? self_signed:boolean"},
	{"SystemApi", "How this API is listened for", "tls?:SystemTls"},
	{"SystemDrift", "What was mended in the kernel",
	 "repaired_since_start:integer last_audit:time?"},
	{"SystemUpdate", "The other name server that is kept equal",
	 "server:string zone:string? phase:string in_sync:boolean record_sets:integer failures:integer "
	 "last_success:time? last_failure:time? error:string"},
	{"DoctorFinding",
	 "What was found, why it hurts, and the command that mends it (empty: nothing to do), run `where`; `object` is an object of "
	 "the document, a sysctl, a module or another thing of the host",
	 "code:string severity:=error|warning|info what:string why:string mend:string where:=gateway|servers|network object?:string"},
	{"ReadyCheck", "One check; only those that decide make the node not ready",
	 "check:string ok:boolean decides:boolean detail:string"},
};

void openapi_type_add_pieces(json_t *schemas)
{
	for (size_t i = 0; i < sizeof(type_pieces) / sizeof(type_pieces[0]); i++) {
		json_t *schema = openapi_type_members(type_pieces[i].members);

		json_object_set_new(schema, "description", json_string(type_pieces[i].description));
		json_object_set_new(schemas, type_pieces[i].name, schema);
	}
}
