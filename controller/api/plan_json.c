// SPDX-License-Identifier: GPL-2.0-or-later
// JSON of the plan layer's values.
#include "api/plan_json.h"

#include "base/mem.h"

#include <linux/ip_vs.h>
#include <string.h>

static void plan_json_add_warnings(json_t *list, const char *code, const struct err *warnings)
{
	for (size_t i = 0; warnings && i < warnings->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "code", code, "pointer",
						      warnings->faults[i].pointer, "detail",
						      warnings->faults[i].detail));
}

json_t *plan_json_warnings(const struct err *warnings)
{
	json_t *list;

	if (!warnings || !err_any(warnings))
		return NULL;
	list = json_array();
	plan_json_add_warnings(list, "kernel_apply_failed", warnings);
	return list;
}

json_t *plan_json_foreseen(const struct err *warnings, const struct err *starved,
			   const struct dns_changes *changes)
{
	json_t *list = json_array();

	plan_json_add_warnings(list, "kernel_apply_failed", warnings);
	plan_json_add_warnings(list, "nobody_left", starved);
	for (size_t i = 0; changes && i < changes->count && i < PLAN_JSON_LIST_MAX; i++) {
		const struct dns_change *c = &changes->items[i];

		if (!c->after.unanswered || c->before.count == 0)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o}", "code", "name_without_address", "pointer",
				  json_sprintf("/load_balancers/%s/zones", c->after.unanswered),
				  "detail",
				  json_sprintf("DNS would answer %s %s with no address: its other "
					       "zones are shifted away or disabled",
					       c->name, c->family == AF_INET ? "A" : "AAAA")));
	}
	return list;
}

json_t *plan_json_ops(const struct plan_ops *ops)
{
	json_t *list = json_array();
	char text[256];

	for (size_t i = 0; ops && i < ops->count && i < PLAN_JSON_LIST_MAX; i++)
		json_array_append_new(
			list, json_string(plan_op_format(&ops->ops[i], text, sizeof(text))));
	return list;
}

/* ---- changes ---------------------------------------------------------------------------------- */

/* Members of `b` that `a` has not, or has otherwise. */
static json_t *plan_json_members(const json_t *a, json_t *b)
{
	json_t *only = json_object(), *value;
	const char *name;

	json_object_foreach (b, name, value) {
		if (!json_equal(json_object_get(a, name), value))
			json_object_set(only, name, value);
	}
	return only;
}

static json_t *plan_json_path(const struct change *c)
{
	char path[OBJECT_PATH_MAX];

	return json_sprintf(
		"/%s",
		object_path_format(&(struct object_path){c->kind, c->parent, c->name}, path));
}

json_t *plan_json_difference(json_t *path, json_t *old, json_t *new)
{
	json_t *change = NULL;

	if (!old || !new)
		change = json_pack("{s:s, s:O, s:O?, s:O?}", "action", old ? "delete" : "create",
				   "path", path, "old", old, "new", new);
	else if (!json_equal(old, new))
		change = json_pack("{s:s, s:O, s:o, s:o}", "action", "update", "path", path, "old",
				   plan_json_members(new, old), "new", plan_json_members(old, new));
	json_decref(path);
	json_decref(old);
	json_decref(new);
	return change;
}

/* Of an access list as the history has it: with its entries, if they are few. */
static json_t *plan_json_row(const struct object *o)
{
	AUTO_FREE char *text = NULL;

	if (!o || o->kind != OBJECT_ACCESS_LIST)
		return o ? object_encode_row(o) : NULL;
	text = object_write_row(o);
	return json_loads(text, 0, NULL);
}

/* NULL for a parent that was only touched. */
static json_t *plan_json_change(const struct change *c)
{
	return plan_json_difference(plan_json_path(c), plan_json_row(c->old_object),
				    plan_json_row(c->new_object));
}

static json_t *plan_json_set(const struct dns_record_set *set)
{
	json_t *list = json_array();
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < set->count; i++)
		json_array_append_new(list, json_string(addr_format(&set->addresses[i], text)));
	return list;
}

static json_t *plan_json_ttl(const struct dns_record_set *set)
{
	return set->ttl ? json_integer(set->ttl) : json_null();
}

json_t *plan_json_dns(const struct dns_changes *changes)
{
	json_t *list = json_array();

	for (size_t i = 0; changes && i < changes->count && i < PLAN_JSON_LIST_MAX; i++) {
		const struct dns_change *c = &changes->items[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", c->name,
						"type", c->family == AF_INET ? "A" : "AAAA",
						"before", plan_json_set(&c->before), "after",
						plan_json_set(&c->after), "ttl_before_s",
						plan_json_ttl(&c->before), "ttl_after_s",
						plan_json_ttl(&c->after)));
	}
	return list;
}

json_t *plan_json_dry_run(const struct proposal_result *result)
{
	json_t *diff = json_array();
	size_t total = 0, ops = result->ops ? result->ops->count : 0;
	size_t names = result->dns_changes ? result->dns_changes->count : 0;

	for (size_t i = 0; result->batch && i < result->batch->count; i++) {
		json_t *change = plan_json_change(&result->batch->changes[i]);

		if (!change)
			continue;
		if (total++ < PLAN_JSON_LIST_MAX)
			json_array_append_new(diff, change);
		else
			json_decref(change);
	}
	return json_pack("{s:o, s:I, s:o, s:I, s:o, s:I, s:o}", "diff", diff, "diff_total",
			 (json_int_t)total, "kernel_ops", plan_json_ops(result->ops),
			 "kernel_ops_total", (json_int_t)ops, "dns_changes",
			 plan_json_dns(result->dns_changes), "dns_changes_total", (json_int_t)names,
			 "warnings",
			 plan_json_foreseen(result->warnings, NULL, result->dns_changes));
}

/* ---- tables ----------------------------------------------------------------------------------- */

static const char *plan_json_protocol(uint8_t protocol)
{
	if (protocol == IPPROTO_TCP)
		return "tcp";
	return protocol == IPPROTO_UDP ? "udp" : "sctp";
}

json_t *plan_json_key(const struct plan_key *k)
{
	char text[PLAN_KEY_TEXT_MAX], address[ADDR_TEXT_MAX];
	json_t *json = json_pack("{s:s, s:i}", "service", plan_key_format(k, text), "family",
				 k->family == AF_INET6 ? 6 : 4);

	if (k->fwmark) {
		json_object_set_new(json, "fwmark", json_integer(k->fwmark));
		return json;
	}
	json_object_set_new(json, "protocol", json_string(plan_json_protocol(k->protocol)));
	json_object_set_new(json, "address", json_string(addr_format(&k->address, address)));
	json_object_set_new(json, "port", json_integer(k->port));
	return json;
}

static json_t *plan_json_stats(const struct plan_stats *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "connections", (json_int_t)s->connections,
			 "packets_in", (json_int_t)s->packets_in, "packets_out",
			 (json_int_t)s->packets_out, "bytes_in", (json_int_t)s->bytes_in,
			 "bytes_out", (json_int_t)s->bytes_out);
}

static const char *plan_json_forward(uint8_t forward)
{
	switch (forward) {
	case IP_VS_CONN_F_MASQ:
		return "nat";
	case IP_VS_CONN_F_DROUTE:
		return "direct";
	case IP_VS_CONN_F_TUNNEL:
		return "tunnel";
	case IP_VS_CONN_F_LOCALNODE:
		return "local";
	default:
		return "other";
	}
}

static const char *plan_json_tunnel(uint8_t type)
{
	switch (type) {
	case IP_VS_CONN_F_TUNNEL_TYPE_IPIP:
		return "ipip";
	case IP_VS_CONN_F_TUNNEL_TYPE_GUE:
		return "gue";
	case IP_VS_CONN_F_TUNNEL_TYPE_GRE:
		return "gre";
	default:
		return "other";
	}
}

static json_t *plan_json_dest(const struct plan_dest *d, const struct plan_dest_counts *counts)
{
	char address[ADDR_TEXT_MAX];
	json_t *json = json_pack("{s:s, s:i, s:s, s:I, s:I, s:I}", "address",
				 addr_format(&d->address, address), "port", (int)d->port,
				 "forward_method", plan_json_forward(d->forward), "weight",
				 (json_int_t)d->weight, "upper", (json_int_t)d->upper, "lower",
				 (json_int_t)d->lower);

	if (d->forward == IP_VS_CONN_F_TUNNEL) {
		json_object_set_new(json, "tunnel_type",
				    json_string(plan_json_tunnel(d->tunnel_type)));
		json_object_set_new(json, "tunnel_port", json_integer(d->tunnel_port));
	}
	if (counts) {
		json_object_set_new(json, "active", json_integer(counts->active));
		json_object_set_new(json, "inactive", json_integer(counts->inactive));
		json_object_set_new(json, "persistent", json_integer(counts->persistent));
		json_object_set_new(json, "stats", plan_json_stats(&counts->stats));
	}
	return json;
}

json_t *plan_json_service(const struct plan_service *s)
{
	json_t *json = plan_json_key(&s->key), *dests = json_array();

	json_object_set_new(json, "scheduler", json_string(s->scheduler));
	json_object_set_new(json, "flags", json_integer(s->flags));
	if (s->flags & IP_VS_SVC_F_PERSISTENT)
		json_object_set_new(json, "persistence_s", json_integer(s->timeout));
	if (s->engine[0])
		json_object_set_new(json, "persistence_engine", json_string(s->engine));
	if (s->counts)
		json_object_set_new(json, "stats", plan_json_stats(&s->stats));
	for (size_t i = 0; i < s->dest_count; i++)
		json_array_append_new(
			dests, plan_json_dest(&s->dests[i], s->counts ? &s->counts[i] : NULL));
	json_object_set_new(json, "destinations", dests);
	return json;
}

void plan_json_add_nothing(json_t *answer)
{
	json_t *nothing = json_pack("{s:[], s:i, s:[], s:i, s:[], s:i, s:[]}", "diff", "diff_total",
				    0, "kernel_ops", "kernel_ops_total", 0, "dns_changes",
				    "dns_changes_total", 0, "warnings");

	json_object_update_missing(answer, nothing);
	json_decref(nothing);
}
