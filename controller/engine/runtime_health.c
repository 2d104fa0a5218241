// SPDX-License-Identifier: GPL-2.0-or-later
// What is kept of a server's health over a restart: a row each in the store, "group/server", void when it has moved.
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "engine/parts.h"

#define HEALTH_KEY_MAX 160

static const char *health_key(const struct engine_server *s, char buf[HEALTH_KEY_MAX])
{
	snprintf(buf, HEALTH_KEY_MAX, "%s/%s", s->group->group->o.name, s->server->o.name);
	return buf;
}

static void health_target(const struct engine_server *s, char buf[ADDR_ENDPOINT_TEXT_MAX])
{
	addr_format_endpoint(&s->server->address, (uint16_t)s->server->port, buf);
}

void runtime_save_server(struct engine *e, const struct engine_server *s)
{
	char key[HEALTH_KEY_MAX];
	char target[ADDR_ENDPOINT_TEXT_MAX];
	char *recent AUTO_FREE = NULL;

	if (s->health.state == HEALTH_INITIAL)
		return;
	health_target(s, target);
	recent = results_encode(&s->recent);
	rows_put(e, "health", health_key(s, key),
		 mem_printf("{\"target\":\"%s\",\"state\":\"%s\",\"reason\":\"%s\",\"since\":%llu,"
			    "\"window\":\"%llx\",\"count\":%u,\"recent\":%s}",
			    target, health_state_name(s->health.state),
			    health_reason_name(s->health.reason), (unsigned long long)s->since_wall,
			    (unsigned long long)s->health.window_bits, s->health.window_count,
			    recent));
}

static bool row_equal(const void *key, const void *item)
{
	const struct engine_row *r = item;

	return strcmp(key, r->key) == 0;
}

void runtime_load_health(struct engine *e, const struct store_row *row)
{
	struct engine_row *r = mem_new(struct engine_row);

	r->key = mem_strdup(row->key);
	r->value = mem_strdup(row->value);
	table_add(&e->loaded_health, hash_text(row->key, 0), r);
}

static void apply_loaded(struct engine *e, struct engine_server *s, const json_t *json)
{
	usec_t wall = e->settle_wall;
	char target[ADDR_ENDPOINT_TEXT_MAX];
	const char *state = json_string_value(json_object_get(json, "state"));
	const char *reason = json_string_value(json_object_get(json, "reason"));
	const char *saved = json_string_value(json_object_get(json, "target"));
	const char *window = json_string_value(json_object_get(json, "window"));

	health_target(s, target);
	if (!state || !saved || strcmp(saved, target) != 0)
		return;
	if (strcmp(state, health_state_name(HEALTH_HEALTHY)) == 0)
		health_init(&s->health, HEALTH_HEALTHY);
	else if (strcmp(state, health_state_name(HEALTH_UNHEALTHY)) == 0)
		health_init(&s->health, HEALTH_UNHEALTHY);
	else
		return;
	if (s->health.state == HEALTH_UNHEALTHY && reason)
		health_reason_parse(reason, &s->health.reason);
	s->health.window_bits = window ? strtoull(window, NULL, 16) : 0;
	s->health.window_count = (unsigned)json_integer_value(json_object_get(json, "count")) &
				 127U;
	if (s->health.window_count > 64)
		s->health.window_count = 64;
	s->since_wall = (usec_t)json_integer_value(json_object_get(json, "since"));
	s->since = e->settle_now - (wall > s->since_wall ? wall - s->since_wall : 0);
	results_decode(&s->recent, json_object_get(json, "recent"));
	s->quiet_start = false;
}

void runtime_take_health(struct engine *e, struct engine_server *s)
{
	char key[HEALTH_KEY_MAX];
	struct engine_row *r;

	health_key(s, key);
	r = table_remove(&e->loaded_health, hash_text(key, 0), key, row_equal);
	if (!r)
		return;

	json_t *json = json_loads(r->value, 0, NULL);

	apply_loaded(e, s, json);
	json_decref(json);
	free(r->key);
	free(r->value);
	free(r);
}

void runtime_drop_health(struct engine *e)
{
	struct engine_row *r;
	size_t cursor = 0;

	while ((r = table_next(&e->loaded_health, &cursor))) {
		rows_put(e, "health", r->key, NULL);
		free(r->key);
		free(r->value);
		free(r);
	}
	table_clear(&e->loaded_health);
}

void runtime_forget_health(struct engine *e, const struct engine_server *s)
{
	char key[HEALTH_KEY_MAX];

	rows_put(e, "health", health_key(s, key), NULL);
}
