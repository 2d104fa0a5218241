// SPDX-License-Identifier: GPL-2.0-or-later
// Examples of objects: two web servers behind two zones. Answers are made of the bodies.
#include "api/openapi_examples.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define JSON(...) #__VA_ARGS__

// clang-format off
#define ZONE JSON({"description": "Hall 1"})
#define SERVER JSON({"address": "10.0.1.11", "port": 8080, "zone": "zone-a"})
#define SERVERS \
	"{\"web-1\":" SERVER ",\"web-2\":{\"address\":\"10.0.2.12\",\"port\":8080,\"zone\":\"zone-b\"}}"
#define GROUP \
	"{\"protocol\":\"tcp\",\"health_check\":{\"type\":\"http\",\"path\":\"/healthz\"},\"servers\":" SERVERS "}"
#define LB_ZONE JSON({"vip4": "192.0.2.10"})
#define LISTENER JSON({"protocol": "tcp", "port": 80, "server_group": "web"})
#define BALANCER \
	"{\"dns_name\":\"shop.lb.example.net\",\"zones\":{\"zone-a\":" LB_ZONE \
	",\"zone-b\":{\"vip4\":\"198.51.100.10\"}},\"listeners\":{\"http\":" LISTENER "}}"
#define ACCESS_LIST JSON({"default_action": "deny", "description": "Who may come in", \
	"entries": [{"cidr": "198.51.100.0/24", "action": "allow", "comment": "office"}]})
#define CONFIG \
	"{\"zones\":{\"zone-a\":" ZONE ",\"zone-b\":{\"description\":\"Hall 2\"}},\"server_groups\":{\"web\":" GROUP \
	"},\"load_balancers\":{\"shop\":" BALANCER "},\"access_lists\":{\"office\":" ACCESS_LIST "}}"

#define SERVICES JSON({"services": 1, "programmed": 1, "planned": 0, "with_servers": 1, \
	"min_healthy_breached": 0, "checking": 0, "fault": null})
#define SERVER_STATE JSON({"state": "healthy", "reason_code": "none", "detail": "healthy for 3 h", \
	"since": "2026-03-01T10:00:06.400Z", "in_service": true})
#define GROUP_STATE JSON({"servers": 2, "healthy": 2, "unhealthy": 0, "initial": 0, "unchecked": 0, "weight_zero": 0, \
	"disabled": 0, "draining": 0, "used": true})
#define BALANCER_STATE JSON({"services": 2, "programmed": 2, "planned": 0, "with_servers": 2, \
	"min_healthy_breached": 0, "checking": 0, "fault": null, "addresses_published": 2, \
	"addresses_left_out": 0, "addresses_withdrawn": 0, "addresses_undecided": 0, "fail_open": false, \
	"fail_open_family": null, "no_address": false, "drained": false, "backup_serves": false})
#define HEADS JSON({"uid": "ff29e0f7bd98556b", "revision": 12, "created_at": "2026-03-01T10:00:00.000Z", \
	"updated_at": "2026-03-01T10:00:00.000Z"})

static const struct {
	const char *schema;
	const char *name;
	const char *body;
	const char *patch;
	const char *status;
} body_objects[] = {
	{"Zone", "zone-a", ZONE, JSON({"description": "Hall 1, new switch"}), "{}"},
	{"Server", "web-1", SERVER, JSON({"weight": 10}), SERVER_STATE},
	{"ServerGroup", "web", GROUP, JSON({"health_check": {"interval_ms": 2000}}), GROUP_STATE},
	{"LoadBalancerZone", "zone-a", LB_ZONE, JSON({"publish4": "203.0.113.10"}), SERVICES},
	{"Listener", "http", LISTENER, JSON({"scheduler": "wlc"}), SERVICES},
	{"LoadBalancer", "shop", BALANCER, JSON({"dns_ttl_s": 30}), BALANCER_STATE},
	{"AccessList", "office", ACCESS_LIST, JSON({"default_action": "allow"}),
	 JSON({"entries_v4": 1, "entries_v6": 0})},
	{"Settings", "", JSON({"timeouts": {"tcp_s": 900}}), JSON({"timeouts": {"udp_s": 60}}),
	 JSON({"timeouts_in_force": {"tcp_s": 900, "tcp_fin_s": 120, "udp_s": 300}})},
};
#define BODY_OBJECTS (sizeof(body_objects) / sizeof(body_objects[0]))
// clang-format on

static json_t *bodies_load(const char *text)
{
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert(json); /* our own */
	return json;
}

/* Whether the schema is that of the object with this ending. */
static bool bodies_is(const char *schema, const char *object, const char *ending)
{
	size_t length = strlen(object);

	return strncmp(schema, object, length) == 0 && strcmp(schema + length, ending) == 0;
}

json_t *openapi_bodies_request(const char *schema)
{
	for (size_t i = 0; i < BODY_OBJECTS; i++) {
		if (strcmp(schema, body_objects[i].schema) == 0)
			return bodies_load(body_objects[i].body);
		if (bodies_is(schema, body_objects[i].schema, "Patch"))
			return bodies_load(body_objects[i].patch);
	}
	if (strcmp(schema, "Config") == 0)
		return bodies_load(CONFIG);
	return strcmp(schema, "ServerMap") == 0 ? bodies_load(SERVERS) : NULL;
}

/* An object with what only readers get. */
static json_t *bodies_object(size_t i)
{
	json_t *object = bodies_load(body_objects[i].body), *heads = bodies_load(HEADS);

	json_object_update(object, heads);
	json_object_set_new(object, "status", bodies_load(body_objects[i].status));
	json_decref(heads);
	return object;
}

json_t *openapi_bodies_answer(const char *schema)
{
	for (size_t i = 0; i < BODY_OBJECTS; i++) {
		json_t *item;

		if (strcmp(schema, body_objects[i].schema) == 0)
			return bodies_object(i);
		if (!bodies_is(schema, body_objects[i].schema, "List"))
			continue;
		item = bodies_object(i);
		json_object_set_new(item, "name", json_string(body_objects[i].name));
		return json_pack("{s:[o], s:n}", "items", item, "next_cursor");
	}
	return strcmp(schema, "Config") == 0 ? bodies_load(CONFIG) : NULL;
}
