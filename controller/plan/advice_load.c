// SPDX-License-Identifier: GPL-2.0-or-later
// Probes that one backend gets from one gateway: those of all groups that have a server at its address, each distinct probe once.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/health_check.h"
#include "plan/advice_rules.h"

#define MANY_PROBES_PER_S 5
/* With more servers in the document than these the group is judged by itself: no answer waits for a walk over all. */
#define SERVERS_WALKED_MAX 5000

struct load_probe {
	const struct health_check *check;
	uint32_t port;
	struct load_probe *next;
};

struct load_backend {
	const struct addr *address;
	struct load_probe *probes;
	size_t count;
	double rate; /* probes/s */
};

struct load {
	struct arena *arena;
	struct table backends; /* addresses of the group */
};

static bool same_backend(const void *key, const void *item)
{
	return addr_compare(key, ((const struct load_backend *)item)->address) == 0;
}

static struct load_backend *find_backend(const struct load *l, const struct addr *a)
{
	return table_find(&l->backends, addr_hash(a, 0), a, same_backend);
}

static void add_probe(struct load *l, struct load_backend *b, const struct health_check *check,
		      uint32_t port)
{
	for (const struct load_probe *p = b->probes; p; p = p->next) {
		if (p->port == port && health_check_equal(p->check, check))
			return;
	}
	struct load_probe *p = arena_alloc(l->arena, sizeof(*p));
	*p = (struct load_probe){.check = check, .port = port, .next = b->probes};
	b->probes = p;
	b->count++;
	b->rate += 1000.0 / check->interval_ms;
}

/* Disabled ones are probed, too: what they would do is known when they are enabled. */
static void add_servers(struct load *l, const struct server_group *g)
{
	const struct health_check *check = &g->health_check;
	for (size_t i = 0; check->enabled && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		struct load_backend *b = find_backend(l, &s->address);
		uint32_t port = check->port ? check->port : s->port;
		if (b)
			add_probe(l, b, check, health_check_has_port(check->type) ? port : 0);
	}
}

static struct load_backend *add_backend(struct load *l, const struct addr *a)
{
	struct load_backend *b = arena_alloc(l->arena, sizeof(*b));
	*b = (struct load_backend){.address = a};
	table_add(&l->backends, addr_hash(a, 0), b);
	return b;
}

static void collect_backends(struct load *l, const struct server_group *g)
{
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		if (!find_backend(l, &s->address))
			add_backend(l, &s->address);
	}
}

static size_t count_servers(const struct snapshot *s)
{
	size_t count = 0;
	for (size_t i = 0; i < s->server_groups.count; i++)
		count += ((const struct server_group *)s->server_groups.items[i])->servers.count;
	return count;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct advice_used advice_list_used(const struct snapshot *s, struct arena *arena)
{
	size_t count = 0;
	for (size_t i = 0; i < s->load_balancers.count; i++)
		count +=
			((const struct load_balancer *)s->load_balancers.items[i])->listeners.count;
	const char **names = arena_alloc(arena, (2 * count + 1) * sizeof(*names));
	count = 0;
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		for (size_t j = 0; j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];
			const struct server_group *g = snapshot_find_group(s, l->server_group);
			if (!g)
				continue;
			names[count++] = g->o.name;
			if (g->when_none_healthy == NONE_HEALTHY_BACKUP && g->backup_group)
				names[count++] = g->backup_group;
		}
	}
	qsort(names, count, sizeof(*names), compare_names);
	return (struct advice_used){names, count};
}

bool advice_is_used(const struct advice_used *used, const char *group)
{
	return bsearch(&group, used->names, used->count, sizeof(*used->names), compare_names);
}

/* Those in use, without `g`. */
static void add_other_groups(struct load *l, const struct snapshot *s, const struct server_group *g)
{
	const struct advice_used used = advice_list_used(s, l->arena);
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *other = s->server_groups.items[i];
		if (other != g && advice_is_used(&used, other->o.name))
			add_servers(l, other);
	}
}

void advice_probe_load(const struct snapshot *s, const struct addr *a, struct advice_load *ret_load)
{
	AUTO_ARENA struct arena *arena = arena_new(0);
	struct load l = {.arena = arena};
	const struct load_backend *b = add_backend(&l, a);
	add_other_groups(&l, s, NULL);
	*ret_load = (struct advice_load){.per_second = b->rate, .different = b->count};
	table_clear(&l.backends);
}

static const struct load_backend *find_busiest(const struct load *l)
{
	const struct load_backend *busiest = NULL;
	size_t cursor = 0;
	for (struct load_backend *b; (b = table_next(&l->backends, &cursor));) {
		bool more = !busiest || b->rate > busiest->rate;
		bool first = busiest && b->rate >= busiest->rate &&
			     addr_compare(b->address, busiest->address) < 0;
		if (more || first)
			busiest = b;
	}
	return busiest;
}

bool advice_load_is_high(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = &s->group->health_check;
	if (!h->enabled)
		return false;
	if (!s->at || count_servers(s->at->snapshot) > SERVERS_WALKED_MAX)
		return MANY_PROBES_PER_S * h->interval_ms < 1000 &&
		       advice_say(text,
				  "every gateway sends each server %.1f probes/s (interval %u ms)",
				  1000.0 / h->interval_ms, h->interval_ms);
	AUTO_ARENA struct arena *arena = arena_new(0);
	struct load l = {.arena = arena};
	collect_backends(&l, s->group);
	add_servers(&l, s->group);
	add_other_groups(&l, s->at->snapshot, s->group);
	const struct load_backend *b = find_busiest(&l);
	char address[ADDR_TEXT_MAX];
	bool high = b && b->rate > MANY_PROBES_PER_S &&
		    advice_say(
			    text,
			    "every gateway sends %s %.1f probes/s, by %zu different probe%s (this "
			    "group's interval is %u ms)",
			    addr_format(b->address, address), b->rate, b->count, TEXT_S(b->count),
			    h->interval_ms);
	table_clear(&l.backends);
	return high;
}
