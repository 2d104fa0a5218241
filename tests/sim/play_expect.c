// SPDX-License-Identifier: GPL-2.0-or-later
// What a play expects of the kernel, the states and the node. Each says what it saw when it is not so.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/left_out.h"
#include "plan/diff.h"
#include "sim/play_judge.h"

/* ---- the kernel ---- */

static void describe_service(const struct plan_service *s, char *buf, size_t size)
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; s && i < s->dest_count && used + 80 < size; i++) {
		addr_format_endpoint(&s->dests[i].address, s->dests[i].port, endpoint);
		used += (size_t)snprintf(buf + used, size - used, "%s %s weight %u", i ? "," : "",
					 endpoint, s->dests[i].weight);
	}
}

static bool judge_dest(struct play *p, const struct plan_service *s, size_t at)
{
	struct addr a;
	uint16_t port;
	uint64_t weight;
	const struct plan_dest *d;
	char seen[1024];

	if (!play_parse_endpoint(p, p->words[at], &a, &port))
		return false;
	d = plan_service_find(s, &a, port);
	describe_service(s, seen, sizeof(seen));
	if (!d)
		return play_fault(p, "%s is not in the kernel; there are:%s", p->words[at], seen);
	if (!play_has(p, at + 1, "weight"))
		return true;
	if (!play_parse_number(p, play_word(p, at + 2), &weight))
		return false;
	if (d->weight != weight)
		return play_fault(p, "%s has weight %u instead of %s; all:%s", p->words[at],
				  d->weight, p->words[at + 2], seen);
	return true;
}

static bool judge_service_member(struct play *p, const struct plan_service *s, size_t at)
{
	uint64_t n;
	const struct {
		const char *name;
		uint64_t seen;
	} members[] = {{"dests", s->dest_count},
		       {"persistent", s->timeout},
		       {"flags", s->flags},
		       {"forward", s->dest_count ? s->dests[0].forward : 0}};

	if (play_has(p, at, "scheduler")) {
		if (strcmp(s->scheduler, play_word(p, at + 1)) != 0)
			return play_fault(p, "the scheduler is %s", s->scheduler);
		return true;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!play_has(p, at, members[i].name))
			continue;
		if (!play_parse_number(p, play_word(p, at + 1), &n))
			return false;
		if (members[i].seen != n)
			return play_fault(p, "%s is %llu", members[i].name,
					  (unsigned long long)members[i].seen);
		return true;
	}
	return judge_dest(p, s, at);
}

static bool judge_ipvs(struct play *p, size_t at)
{
	struct plan_key key;
	const struct plan_service *s;

	if (!play_parse_key(p, play_word(p, at), &key))
		return false;
	s = plan_table_find(&p->world.kernel.table, &key);
	if (!s)
		return play_fault(p, "service %s is not in the kernel, which has %zu services",
				  p->words[at], p->world.kernel.table.count);
	return at + 1 == p->count || judge_service_member(p, s, at + 1);
}

static bool judge_no_ipvs(struct play *p, size_t at)
{
	struct plan_key key;
	struct addr a;
	uint16_t port;
	const struct plan_service *s;

	if (!play_parse_key(p, play_word(p, at), &key))
		return false;
	s = plan_table_find(&p->world.kernel.table, &key);
	if (at + 1 < p->count) {
		if (!play_parse_endpoint(p, p->words[at + 1], &a, &port))
			return false;
		if (s && plan_service_find(s, &a, port))
			return play_fault(p, "%s is in the kernel", p->words[at + 1]);
		return true;
	}
	return s ? play_fault(p, "service %s is in the kernel", p->words[at]) : true;
}

static bool judge_address(struct play *p, size_t at)
{
	struct addr a;

	if (!play_parse_address(p, play_word(p, at), &a))
		return false;
	return sim_kernel_has_address(&p->world.kernel, &a) ||
	       play_fault(p, "%s is not on the device", p->words[at]);
}

static bool judge_no_address(struct play *p, size_t at)
{
	struct addr a;

	if (!play_parse_address(p, play_word(p, at), &a))
		return false;
	return !sim_kernel_has_address(&p->world.kernel, &a) ||
	       play_fault(p, "%s is on the device", p->words[at]);
}

static bool judge_sysctl(struct play *p, size_t at)
{
	const int *value = sim_kernel_find_sysctl(&p->world.kernel, play_word(p, at));

	return value && play_judge_number(p, p->words[at], (uint64_t)*value, at + 1);
}

/* timeouts TCP TCP_FIN UDP */
static bool judge_timeouts(struct play *p, size_t at)
{
	for (enum plan_timeout t = 0; t < PLAN_TIMEOUTS; t++)
		if (!play_judge_number(p, plan_timeout_name(t), p->world.kernel.table.timeouts.s[t],
				       at + t))
			return false;
	return true;
}

static bool judge_ops(struct play *p, size_t at)
{
	const struct sim_kernel *k = &p->world.kernel;
	uint64_t seen = sim_kernel_count_ops(k);
	enum plan_op_kind kind;
	char text[200];
	char all[2048] = "";
	size_t used = 0;

	if (at + 1 < p->count) {
		if (!play_parse_op_kind(p, p->words[at], &kind))
			return false;
		seen = k->ops_by_kind[kind];
		at++;
	}
	if (play_judge_number(p, "the number of operations", seen, at))
		return true;
	for (size_t i = 0; i < k->log.count && used + sizeof(text) < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "\n    %s",
					 plan_op_format(&k->log.ops[i], text, sizeof(text)));
	used = strlen(p->fault);
	snprintf(p->fault + used, sizeof(p->fault) - used, "%s", all);
	return false;
}

static bool judge_dumps(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of dumps", p->world.kernel.dumps, at);
}

/* ---- servers, services, drains ---- */

static bool find_server(struct play *p, size_t at, struct server_status *ret_status)
{
	char *copy AUTO_FREE = mem_strdup(play_word(p, at));
	char *slash = strchr(copy, '/');

	if (!slash)
		return play_fault(p, "GROUP/SERVER is wanted");
	*slash = '\0';
	if (engine_server_status(p->world.engine, copy, slash + 1, ret_status) != 0)
		return play_fault(p, "there is no server %s", p->words[at]);
	return true;
}

static bool judge_state(struct play *p, size_t at)
{
	struct server_status st;

	if (!find_server(p, at, &st))
		return false;
	if (!play_has(p, at + 1, st.state) ||
	    (at + 2 < p->count && !play_has(p, at + 2, st.reason_code)))
		return play_fault(p, "%s is %s %s: %s", p->words[at], st.state, st.reason_code,
				  st.sentence);
	return true;
}

static bool judge_sentence(struct play *p, size_t at)
{
	struct server_status st;

	if (!find_server(p, at, &st))
		return false;
	return strstr(st.sentence, play_rest(p, at + 1)) ||
	       play_fault(p, "the sentence is \"%s\"", st.sentence);
}

static bool judge_next_change(struct play *p, size_t at)
{
	struct server_status st;

	if (!find_server(p, at, &st))
		return false;
	return strstr(st.next_change, play_rest(p, at + 1)) ||
	       play_fault(p, "the next change is \"%s\"", st.next_change);
}

/* recent SERVER NUMBER | recent SERVER REASON…: the last results, newest first */
static bool judge_recent(struct play *p, size_t at)
{
	struct recent_result list[RECENT_RESULTS];
	struct server_status st;
	char name[64];
	const char *slash;
	size_t count;

	if (!find_server(p, at, &st))
		return false;
	slash = strchr(p->words[at], '/');
	snprintf(name, sizeof(name), "%.*s", (int)(slash - p->words[at]), p->words[at]);
	count = engine_recent_results(p->world.engine, name, slash + 1, list);
	if (strtoul(play_word(p, at + 1), NULL, 10))
		return play_judge_number(p, "the number of results", count, at + 1);
	for (size_t i = 0; i < count; i++)
		if (!play_has(p, at + 1 + i, health_reason_name(list[i].reason)))
			return play_fault(p, "result %zu of %zu is %s", i + 1, count,
					  health_reason_name(list[i].reason));
	return at + 1 + count == p->count || play_fault(p, "there are %zu results", count);
}

struct service_search {
	struct plan_key key;
	struct service_status found;
	const struct sim_world *world;
	bool is_found;
};

static void on_service(void *ctx, const struct service_status *s)
{
	struct service_search *search = ctx;
	const char *lb;
	const char *zone;
	const char *listener;

	if (!engine_owns(search->world->engine, &search->key, &lb, &zone, &listener) || !lb)
		return;
	if (strcmp(lb, s->lb) != 0 || strcmp(zone, s->zone) != 0 ||
	    strcmp(listener, s->listener) != 0 || s->family != search->key.family)
		return;
	search->found = *s;
	search->is_found = true;
}

static bool find_service(struct play *p, size_t at, struct service_search *search)
{
	search->world = &p->world;
	if (!play_parse_key(p, play_word(p, at), &search->key))
		return false;
	engine_each_service(p->world.engine, NULL, on_service, search);
	return search->is_found || play_fault(p, "%s is no service of this node", p->words[at]);
}

/* verdict KEY ELIGIBLE IN-SERVICE fine|closed|open|backup */
static bool judge_verdict(struct play *p, size_t at)
{
	struct service_search s = {0};
	char seen[80];
	char wanted[80];

	if (!find_service(p, at, &s))
		return false;
	snprintf(seen, sizeof(seen), "%u %u %s", s.found.eligible, s.found.in_service,
		 s.found.min_healthy_breached ? s.found.none_healthy : "fine");
	snprintf(wanted, sizeof(wanted), "%s %s %s", play_word(p, at + 1), play_word(p, at + 2),
		 play_word(p, at + 3));
	return strcmp(seen, wanted) == 0 || play_fault(p, "the verdict is %s", seen);
}

/* left-out KEY GROUP/SERVER [TEXT]: all of what is said; none: nothing */
static bool judge_left_out(struct play *p, size_t at)
{
	struct service_search s = {0};
	char text[LEFT_OUT_MAX], name[64];
	const char *slash = strchr(play_word(p, at + 1), '/');
	const struct server_group *g;
	const struct server *server;

	if (!find_service(p, at, &s))
		return false;
	snprintf(name, sizeof(name), "%.*s", slash ? (int)(slash - p->words[at + 1]) : 0,
		 play_word(p, at + 1));
	g = snapshot_find_group(engine_snapshot(p->world.engine), name);
	server = g ? snapshot_find_server(g, slash + 1) : NULL;
	if (!server)
		return play_fault(p, "there is no server %s", play_word(p, at + 1));
	engine_tell_left_out(p->world.engine, &s.found, g, server, text);
	return strcmp(text, play_rest(p, at + 2)) == 0 ||
	       play_fault(p, "what is said is \"%s\"", text);
}

static bool judge_fault(struct play *p, size_t at)
{
	struct service_search s = {0};

	if (!find_service(p, at, &s))
		return false;
	return (s.found.fault && strstr(s.found.fault, play_rest(p, at + 1))) ||
	       play_fault(p, "its fault is %s", s.found.fault ? s.found.fault : "none");
}

static bool judge_no_fault(struct play *p, size_t at)
{
	struct service_search s = {0};

	if (!find_service(p, at, &s))
		return false;
	return !s.found.fault || play_fault(p, "its fault is %s", s.found.fault);
}

struct drain_search {
	struct addr address;
	uint16_t port;
	uint32_t connections;
	size_t count; /* that match */
	size_t all;
};

static void on_drain(void *ctx, const struct drain_status *d)
{
	struct drain_search *s = ctx;

	s->all++;
	if (addr_compare(&d->address, &s->address) != 0 || d->port != s->port)
		return;
	s->count++;
	s->connections = d->connections;
}

/* drain ENDPOINT [CONNECTIONS] */
static bool judge_drain(struct play *p, size_t at)
{
	struct drain_search s = {0};

	if (!play_parse_endpoint(p, play_word(p, at), &s.address, &s.port))
		return false;
	engine_each_drain(p->world.engine, on_drain, &s);
	if (!s.count)
		return play_fault(p, "%s does not drain (%zu do)", p->words[at], s.all);
	return at + 1 == p->count || play_judge_number(p, "connections", s.connections, at + 1);
}

static bool judge_drains(struct play *p, size_t at)
{
	struct drain_search s = {0};

	engine_each_drain(p->world.engine, on_drain, &s);
	return play_judge_number(p, "the number of drains", s.all, at);
}

/* entry SET WHAT */
static bool judge_entry(struct play *p, size_t at)
{
	struct ruleset_entry e;

	if (!play_parse_entry(p, at, &e))
		return false;
	return ruleset_has_entry(&p->world.kernel.ruleset, &e) ||
	       play_fault(p, "%s is not in %s", play_word(p, at + 1), play_word(p, at));
}

static bool judge_no_entry(struct play *p, size_t at)
{
	struct ruleset_entry e;

	if (!play_parse_entry(p, at, &e))
		return false;
	return !ruleset_has_entry(&p->world.kernel.ruleset, &e) ||
	       play_fault(p, "%s is in %s", play_word(p, at + 1), play_word(p, at));
}

static bool judge_entries(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of entries", p->world.kernel.ruleset.count, at);
}

static bool judge_looks(struct play *p, size_t at)
{
	return play_judge_number(p, "the number of looks", p->world.kernel.looks, at);
}

/* chain 4|6 absent|right|wrong: none; one with rules; not what was ever asked for */
static bool judge_chain(struct play *p, size_t at)
{
	enum ruleset_family f = play_word(p, at)[0] == '4' ? RULESET_V4 : RULESET_V6;
	const char *rules = p->world.kernel.ruleset.rules[f][RULESET_FILTER];
	const char *seen = !rules ? "absent" : *rules ? "right" : "wrong";

	return strcmp(seen, play_word(p, at + 1)) == 0 || play_fault(p, "it is %s", seen);
}

const struct play_judge play_judges_state[] = {
	{"entry", judge_entry, judge_no_entry},
	{"entries", judge_entries, NULL},
	{"looks", judge_looks, NULL},
	{"chain", judge_chain, NULL},
	{"ipvs", judge_ipvs, judge_no_ipvs},
	{"address", judge_address, judge_no_address},
	{"timeouts", judge_timeouts, NULL},
	{"sysctl", judge_sysctl, NULL},
	{"ops", judge_ops, NULL},
	{"dumps", judge_dumps, NULL},
	{"state", judge_state, NULL},
	{"sentence", judge_sentence, NULL},
	{"next-change", judge_next_change, NULL},
	{"recent", judge_recent, NULL},
	{"verdict", judge_verdict, NULL},
	{"left-out", judge_left_out, NULL},
	{"fault", judge_fault, judge_no_fault},
	{"drain", judge_drain, NULL},
	{"drains", judge_drains, NULL},
	{NULL, NULL, NULL},
};
