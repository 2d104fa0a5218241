// SPDX-License-Identifier: GPL-2.0-or-later
// What should stand before the VIPs, worked out listener by listener from the document: sets with what is in them, and the words that
// the rules must have.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/ruleset.h"
#include "sim/sim_oracle_parts.h"

/* Kinds whose entries are all known here. */
#define SNAT_KINDS \
	(1U << RULESET_SNAT | 1U << RULESET_AUTO | 1U << RULESET_AUTO_TO | 1U << RULESET_AUTO_FROM)
#define KNOWN_KINDS                                                                               \
	(RULESET_GUARD_KINDS | 1U << RULESET_MARK | 1U << RULESET_RANGED | 1U << RULESET_SINGLE | \
	 1U << RULESET_AT | 1U << RULESET_LIMIT_TCP | 1U << RULESET_LIMIT_UDP |                   \
	 1U << RULESET_LIMIT_RANGE | 1U << RULESET_MAX_TCP | 1U << RULESET_MAX_UDP |              \
	 1U << RULESET_MAX_RANGE | SNAT_KINDS)

struct filters {
	struct oracle *o;
	const struct ruleset *actual;
	size_t entries; /* that there should be, of KNOWN_KINDS */
	struct ruleset
		snat; /* what there should be of SNAT_KINDS; servers may come several times */
	bool rules[RULESET_FAMILY_COUNT];
};

static bool expect_entry(struct filters *f, const struct ruleset_id *id, const struct addr *vip,
			 const struct listener *l)
{
	struct ruleset_entry e = {.set = *id, .address = *vip};
	char name[RULESET_NAME_MAX];
	char text[ADDR_TEXT_MAX];

	if (l) {
		e.protocol = l->protocol == PROTOCOL_UDP ? IPPROTO_UDP : IPPROTO_TCP;
		e.port = (uint16_t)l->port;
	}
	f->entries++;
	f->rules[id->family] = true;
	return ruleset_has_entry(f->actual, &e) ||
	       oracle_say(f->o, "the set %s lacks %s port %u", ruleset_format_id(id, name),
			  addr_format(vip, text), e.port);
}

static bool expect_words(struct filters *f, enum ruleset_family family, const char *words)
{
	const char *rules = f->actual->rules[family][RULESET_FILTER];

	return (rules && strstr(rules, words)) ||
	       oracle_say(f->o, "the rules of family %u lack \"%s\"", family, words);
}

/* ---- access lists ---- */

static bool check_list(struct filters *f, const struct access_list *a, enum ruleset_family family)
{
	const struct ruleset_id id = {.kind = RULESET_LIST, .family = family, .uid = a->o.uid};
	const struct ruleset_set *s = ruleset_find_set(f->actual, &id);

	if (!s)
		return oracle_say(f->o, "there is no set of list %s", a->o.name);
	if (!s->list.entries || !entries_equal(s->list.entries, a->entries) ||
	    s->list.fallback != a->default_action)
		return oracle_say(f->o, "the set of list %s is not what the list says", a->o.name);
	return true;
}

static bool check_listed(struct filters *f, const struct addr *vip, const struct listener *l)
{
	const struct access_list *a = snapshot_find_access_list(
		engine_snapshot(f->o->world->engine), l->access_list);
	struct ruleset_id id = {
		.kind = RULESET_AT, .family = ruleset_family_of(vip), .uid = a->o.uid};
	char words[64];

	snprintf(words, sizeof(words), "--match-set zg%c-%" PRIx64 " src -j DROP",
		 id.family == RULESET_V4 ? '4' : '6', a->o.uid);
	return check_list(f, a, id.family) && expect_words(f, id.family, words) &&
	       (l->port == 0 || expect_entry(f, &id, vip, l));
}

/* ---- ranges ---- */

bool oracle_find_mark(const struct oracle *o, const struct addr *vip, struct plan_key *ret_key)
{
	const struct sim_kernel *k = &o->world->kernel;

	for (size_t i = 0; i < k->table.count; i++) {
		const struct plan_key *key = &k->table.services[i].key;
		const struct ruleset_entry e = {.set = {.kind = RULESET_MARK,
							.family = ruleset_family_of(vip),
							.uid = key->fwmark},
						.address = *vip};

		if (key->fwmark && key->family == vip->family &&
		    ruleset_has_entry(&k->ruleset, &e)) {
			*ret_key = *key;
			return true;
		}
	}
	return false;
}

static bool check_range(struct filters *f, const struct addr *vip, const struct listener *l)
{
	struct ruleset_id id = {.kind = RULESET_MARK, .family = ruleset_family_of(vip)};
	struct plan_key key;
	char words[160];
	char name[RULESET_NAME_MAX];

	if (!oracle_find_mark(f->o, vip, &key))
		return oracle_say(f->o, "no mark is set for the range of %s", l->o.name);
	id.uid = key.fwmark;
	snprintf(words, sizeof(words), "--dport %u:%u -m set --match-set %s dst -j MARK",
		 l->ports.from, l->ports.to, ruleset_format_id(&id, name));
	return expect_entry(f, &id, vip, NULL) && expect_words(f, id.family, words);
}

static bool check_ranged(struct filters *f, const struct addr *vip, const struct load_balancer *lb)
{
	struct ruleset_id id = {.family = ruleset_family_of(vip), .kind = RULESET_RANGED};
	bool fine = expect_entry(f, &id, vip, NULL);

	id.kind = RULESET_SINGLE;
	for (size_t i = 0; fine && i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		fine = l->port ? expect_entry(f, &id, vip, l) : check_range(f, vip, l);
	}
	return fine;
}

/* ---- limits ---- */

/* A listener with one port stands in the set with it, one with a range by its VIP alone. */
static bool check_limit(struct filters *f, const struct ruleset_id *id, const struct addr *vip,
			const struct listener *l, const char *words)
{
	return expect_entry(f, id, vip, l->port ? l : NULL) && expect_words(f, id->family, words);
}

static bool check_limits(struct filters *f, const struct addr *vip, const struct listener *l)
{
	const bool udp = l->protocol == PROTOCOL_UDP;
	struct ruleset_id rate = {.family = ruleset_family_of(vip), .uid = l->rate_limit};
	struct ruleset_id most = {.family = rate.family, .uid = l->o.uid};
	char words[160];
	char name[RULESET_NAME_MAX];

	rate.kind = udp ? RULESET_LIMIT_UDP : RULESET_LIMIT_TCP;
	most.kind = udp ? RULESET_MAX_UDP : RULESET_MAX_TCP;
	if (!l->port) {
		rate.kind = RULESET_LIMIT_RANGE;
		rate.uid = l->o.uid;
		most.kind = RULESET_MAX_RANGE;
	}
	snprintf(words, sizeof(words),
		 "%s ! --update-counters%s -m hashlimit --hashlimit-above %u/sec",
		 l->port ? "dst,dst" : "dst", udp ? " -m conntrack ! --ctstatus CONFIRMED" : "",
		 l->rate_limit);
	if (l->rate_limit && !check_limit(f, &rate, vip, l, words))
		return false;
	snprintf(words, sizeof(words),
		 "%s %s ! --update-counters%s -m connlimit --connlimit-above %u ",
		 ruleset_format_id(&most, name), l->port ? "dst,dst" : "dst",
		 udp ? " -m conntrack ! --ctstatus CONFIRMED" : "", l->max_connections);
	return !l->max_connections || check_limit(f, &most, vip, l, words);
}

/* ---- snat ---- */

static void want_server(struct filters *f, enum ruleset_kind kind, uint64_t uid,
			const struct ruleset_entry *server)
{
	struct ruleset_entry *e = ruleset_push(&f->snat);

	*e = *server;
	e->set = (struct ruleset_id){
		.kind = kind, .family = ruleset_family_of(&server->address), .uid = uid};
}

static void want_group(struct filters *f, const struct load_balancer *lb,
		       const struct server_group *g, uint64_t uid)
{
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		const struct ruleset_entry alone = {.address = s->address};
		struct ruleset_entry at = alone;

		at.protocol = g->protocol == PROTOCOL_UDP ? IPPROTO_UDP : IPPROTO_TCP;
		at.port = (uint16_t)s->port;
		if (lb->snat == SNAT_ON) {
			want_server(f, RULESET_SNAT, 0, &at);
			continue;
		}
		want_server(f, RULESET_AUTO, 0, &at);
		want_server(f, RULESET_AUTO_TO, uid, &at);
		want_server(f, RULESET_AUTO_FROM, uid, &alone);
	}
}

static void want_snat(struct filters *f, const struct load_balancer *lb)
{
	const struct snapshot *s = engine_snapshot(f->o->world->engine);

	for (size_t i = 0; lb->snat != SNAT_OFF && i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		const struct server_group *g = snapshot_find_group(s, l->server_group);

		want_group(f, lb, g, g->o.uid);
		if (g->when_none_healthy == NONE_HEALTHY_BACKUP)
			want_group(f, lb, snapshot_find_group(s, g->backup_group), g->o.uid);
	}
}

/* Each is there, and rules of nat are there for them and for nothing else. */
static bool check_snat(struct filters *f)
{
	bool rules[RULESET_FAMILY_COUNT] = {false};
	char name[RULESET_NAME_MAX];
	char text[ADDR_TEXT_MAX];

	ruleset_sort(&f->snat);
	f->entries += f->snat.count;
	for (size_t i = 0; i < f->snat.count; i++) {
		const struct ruleset_entry *e = &f->snat.entries[i];

		rules[e->set.family] = true;
		if (!ruleset_has_entry(f->actual, e))
			return oracle_say(f->o, "the set %s lacks %s port %u",
					  ruleset_format_id(&e->set, name),
					  addr_format(&e->address, text), e->port);
	}
	for (enum ruleset_family i = 0; i < RULESET_FAMILY_COUNT; i++)
		if ((f->actual->rules[i][RULESET_NAT] != NULL) != rules[i])
			return oracle_say(f->o, "family %u %s rules of nat", i,
					  rules[i] ? "lacks" : "still has");
	return true;
}

/* ---- a VIP ---- */

static bool check_guard(struct filters *f, const struct addr *vip, const struct load_balancer *lb)
{
	struct ruleset_id id = {.family = ruleset_family_of(vip),
				.kind = lb->vip_guard == VIP_GUARD_DROP ? RULESET_DROP
									: RULESET_REJECT};
	bool fine = expect_entry(f, &id, vip, NULL);

	id.kind = RULESET_OPEN;
	for (size_t i = 0; fine && i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		if (l->port)
			fine = expect_entry(f, &id, vip, l);
	}
	return fine;
}

static bool check_vip(struct filters *f, const struct addr *vip, const struct load_balancer *lb)
{
	bool ranged = false;

	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];

		ranged |= l->port == 0;
		if ((l->access_list && !check_listed(f, vip, l)) || !check_limits(f, vip, l))
			return false;
	}
	return (lb->vip_guard == VIP_GUARD_OFF || check_guard(f, vip, lb)) &&
	       (!ranged || check_ranged(f, vip, lb));
}

/* ---- nothing else ---- */

static bool list_is_used(const struct filters *f, const struct ruleset_id *id)
{
	for (size_t i = 0; i < f->actual->set_count; i++) {
		const struct ruleset_id *at = &f->actual->sets[i].id;
		const char *rules = f->actual->rules[id->family][RULESET_FILTER];
		char words[64];

		snprintf(words, sizeof(words), "-%" PRIx64 " src", id->uid);
		if (at->kind == RULESET_LIST && ruleset_compare_ids(at, id) == 0)
			return rules && strstr(rules, words);
	}
	return false;
}

static bool check_rest(struct filters *f)
{
	size_t entries = 0;
	char name[RULESET_NAME_MAX];

	for (size_t i = 0; i < f->actual->count; i++)
		entries += (KNOWN_KINDS & 1U << f->actual->entries[i].set.kind) != 0;
	if (entries != f->entries)
		return oracle_say(f->o, "the sets have %zu entries instead of %zu", entries,
				  f->entries);
	for (size_t i = 0; i < f->actual->set_count; i++) {
		const struct ruleset_id *id = &f->actual->sets[i].id;

		const bool nat = (SNAT_KINDS & 1U << id->kind) != 0;

		if (id->kind == RULESET_TEMP ||
		    (nat ? !f->actual->rules[id->family][RULESET_NAT] : !f->rules[id->family]) ||
		    (id->kind == RULESET_LIST && !list_is_used(f, id)))
			return oracle_say(f->o, "the set %s is there for nothing",
					  ruleset_format_id(id, name));
	}
	for (enum ruleset_family i = 0; i < RULESET_FAMILY_COUNT; i++)
		if ((f->actual->rules[i][RULESET_FILTER] != NULL) != f->rules[i])
			return oracle_say(f->o, "family %u %s rules", i,
					  f->rules[i] ? "lacks" : "still has");
	return true;
}

static bool check_all(struct filters *f)
{
	const struct snapshot *s = engine_snapshot(f->o->world->engine);

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		if (lb->enabled && lb->zones.count)
			want_snat(f, lb);
		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			const struct lb_zone *z = lb->zones.items[j];

			if ((addr_is_set(&z->vip4) && !check_vip(f, &z->vip4, lb)) ||
			    (addr_is_set(&z->vip6) && !check_vip(f, &z->vip6, lb)))
				return false;
		}
	}
	return check_snat(f) && check_rest(f);
}

bool oracle_check_filters(struct oracle *o)
{
	struct filters f = {.o = o, .actual = &o->world->kernel.ruleset};
	bool fine = check_all(&f);

	ruleset_clear(&f.snat);
	return fine;
}
