// SPDX-License-Identifier: GPL-2.0-or-later
// Who refers to a zone, a group or an access list: what stands in the way of deleting it.
#include "base/buf.h"

#include <string.h>

#include "model/validate.h"

#define USERS_SHOWN 20

struct users {
	struct buf_writer text;
	size_t count;
};

static void add_user(struct users *u, enum object_kind kind, const char *parent, const char *name)
{
	char path[OBJECT_PATH_MAX];
	struct object_path p = {.kind = kind, .parent = parent, .name = name};
	if (u->count++ < USERS_SHOWN)
		buf_write_format(&u->text, "%s%s", u->count > 1 ? ", " : "",
				 object_path_format(&p, path));
}

static void find_zone_users(const struct snapshot *s, const char *zone, struct users *u)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		if (snapshot_find(s, &(struct object_path){OBJECT_LB_ZONE, lb->o.name, zone}))
			add_user(u, OBJECT_LB_ZONE, lb->o.name, zone);
	}
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *g = s->server_groups.items[i];
		for (size_t k = 0; k < g->servers.count; k++) {
			const struct server *server = g->servers.items[k];
			if (server->zone && strcmp(server->zone, zone) == 0)
				add_user(u, OBJECT_SERVER, g->o.name, server->o.name);
		}
	}
}

static void find_group_users(const struct snapshot *s, const char *group, struct users *u)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		for (size_t k = 0; k < lb->listeners.count; k++) {
			const struct listener *l = lb->listeners.items[k];
			if (strcmp(l->server_group, group) == 0)
				add_user(u, OBJECT_LISTENER, lb->o.name, l->o.name);
		}
	}
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *g = s->server_groups.items[i];
		if (g->backup_group && strcmp(g->backup_group, group) == 0 &&
		    strcmp(g->o.name, group) != 0)
			add_user(u, OBJECT_SERVER_GROUP, NULL, g->o.name);
	}
}

static void find_list_users(const struct snapshot *s, const char *list, struct users *u)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		for (size_t k = 0; k < lb->listeners.count; k++) {
			const struct listener *l = lb->listeners.items[k];
			if (l->access_list && strcmp(l->access_list, list) == 0)
				add_user(u, OBJECT_LISTENER, lb->o.name, l->o.name);
		}
	}
}

int validate_unused(const struct snapshot *s, const struct object_path *p, struct err *e)
{
	struct users u = {.count = 0};
	buf_writer_init(&u.text, (USERS_SHOWN + 1) * OBJECT_PATH_MAX);
	if (p->kind == OBJECT_ZONE)
		find_zone_users(s, p->name, &u);
	if (p->kind == OBJECT_SERVER_GROUP)
		find_group_users(s, p->name, &u);
	if (p->kind == OBJECT_ACCESS_LIST)
		find_list_users(s, p->name, &u);
	int result = 0;
	if (u.count > USERS_SHOWN)
		result = err_set(e, ERR_IN_USE, "", "is used by %s and %zu more", buf_text(&u.text),
				 u.count - USERS_SHOWN);
	else if (u.count > 0)
		result = err_set(e, ERR_IN_USE, "", "is used by %s", buf_text(&u.text));
	buf_writer_free(&u.text);
	return result;
}
