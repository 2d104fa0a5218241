// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of the answers of servers behind NAT in FORWARD where its policy is DROP. An answer goes through the rules as the kernel
// takes it, but for what they ask that is not known here: what such a rule might accept is told as not known, never as lost.
#include "plan/doctor_rules.h"

#include <linux/ip_vs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/doctor_chains.h"

#define SERVERS_NAMED 16 /* in a command */
#define DEPTH_MAX     16 /* of jumps: XT_MAX_JUMPS would be more than anybody has */
#define STEPS_MAX \
	1000000 /* rules that are looked at for all servers together; behind that nothing is known */

/* ---- one rule ---- */

enum match { MATCH_NO, MATCH_UNKNOWN, MATCH_YES };

/* An answer of a server to a client that the default route leads to. */
struct answer {
	const struct doctor_facts *facts;
	const struct server *server;
	enum protocol protocol;
	const char *in; /* links; "" = not known */
	const char *out;
	enum match established; /* for connection tracking */
};

static enum match match_of(bool holds)
{
	return holds ? MATCH_YES : MATCH_NO;
}

static enum match match_address(const struct addr *a, const char *value)
{
	struct addr net;
	uint8_t length;

	if (addr_parse_prefix(value, &net, &length) < 0)
		return MATCH_UNKNOWN;
	return match_of(addr_in_prefix(a, &net, length));
}

/* Clients: a single one is not all of them, and of a network it is not known whether they are in it. */
static enum match match_clients(const struct answer *a, const char *value)
{
	struct addr net;
	uint8_t length;

	if (addr_parse_prefix(value, &net, &length) < 0)
		return MATCH_UNKNOWN;
	return length == (a->server->address.family == AF_INET6 ? 128 : 32) ? MATCH_NO
									    : MATCH_UNKNOWN;
}

/* "back0", or "back+" for all that begin so. */
static bool link_is(const char *link, const char *value)
{
	const size_t length = strlen(value);

	return length && value[length - 1] == '+' ? strncmp(link, value, length - 1) == 0
						  : strcmp(link, value) == 0;
}

/* Where the link of an answer is not known, still none goes by one that this host does not have. */
static enum match match_link(const struct answer *a, const char *link, const char *value)
{
	const struct doctor_facts *f = a->facts;

	if (*link)
		return match_of(link_is(link, value));
	for (size_t i = 0; i < f->link_count; i++)
		if (link_is(f->links[i].name, value))
			return MATCH_UNKNOWN;
	return f->links_error || !f->link_count ? MATCH_UNKNOWN : MATCH_NO;
}

static enum match match_protocol(const struct answer *a, const char *value)
{
	static const char *const names[] = {
		[PROTOCOL_TCP] = "tcp", [PROTOCOL_UDP] = "udp", [PROTOCOL_SCTP] = "sctp"};

	return match_of(strcmp(value, names[a->protocol]) == 0 || strcmp(value, "all") == 0);
}

/* "80", "80:90"; a server without a port has that of the client's packet. */
static enum match match_port(const struct answer *a, const char *value)
{
	char *end;
	unsigned long from = strtoul(value, &end, 10);
	unsigned long to = *end == ':' ? strtoul(end + 1, NULL, 10) : from;

	if (!a->server->port)
		return MATCH_UNKNOWN;
	return match_of(from <= a->server->port && a->server->port <= to);
}

/* "RELATED,ESTABLISHED" */
static enum match match_state(const struct answer *a, const char *value)
{
	static const char *const others[] = {"NEW", "INVALID", "UNTRACKED", "SNAT", "DNAT"};

	if (strstr(value, "ESTABLISHED") && a->established != MATCH_NO)
		return a->established;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(value, others[i]))
			return a->established == MATCH_YES ? MATCH_NO : MATCH_UNKNOWN;
	return MATCH_NO;
}

static enum match match_option(const struct answer *a, const char *option, const char *value)
{
	static const char *const plain[] = {"tcp", "udp", "sctp", "conntrack", "state"};

	if (strcmp(option, "-s") == 0)
		return match_address(&a->server->address, value);
	if (strcmp(option, "-d") == 0)
		return match_clients(a, value);
	if (strcmp(option, "-i") == 0)
		return match_link(a, a->in, value);
	if (strcmp(option, "-o") == 0)
		return match_link(a, a->out, value);
	if (strcmp(option, "-p") == 0)
		return match_protocol(a, value);
	if (strcmp(option, "--sport") == 0)
		return match_port(a, value);
	if (strcmp(option, "--ctstate") == 0 || strcmp(option, "--state") == 0)
		return match_state(a, value);
	for (size_t i = 0; strcmp(option, "-m") == 0 && i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(value, plain[i]) == 0)
			return MATCH_YES;
	return MATCH_UNKNOWN;
}

/* Each of its conditions must hold. */
static enum match match_rule(const struct answer *a, const struct chain_rule *r)
{
	enum match all = MATCH_YES;

	for (size_t i = 0; i < r->words.count; i++) {
		const char *word = r->words.items[i];
		bool negated = strcmp(word, "!") == 0;
		enum match one;

		if (strcmp(word, "-j") == 0 || strcmp(word, "-g") == 0)
			break;
		if (negated && i + 1 < r->words.count)
			word = r->words.items[++i];
		one = MATCH_UNKNOWN;
		if (*word == '-' && i + 1 < r->words.count &&
		    *(const char *)r->words.items[i + 1] != '-')
			one = match_option(a, word, r->words.items[++i]);
		if (negated && one != MATCH_UNKNOWN)
			one = match_of(one == MATCH_NO);
		if (one < all)
			all = one;
	}
	return all;
}

/* ---- all of them ---- */

enum verdict { VERDICT_NONE, VERDICT_ACCEPT, VERDICT_DROP };

struct walk {
	const struct answer *answer;
	size_t *steps;
	size_t unclear; /* rules that might accept it */
};

static bool is_passed_over(const char *target)
{
	static const char *const names[] = {
		"",      "LOG",   "NFLOG",    "MARK", "CONNMARK", "TCPMSS",   "TOS",     "DSCP",
		"TRACE", "AUDIT", "CHECKSUM", "SET",  "TTL",      "CLASSIFY", "SECMARK", "HL"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(target, names[i]) == 0)
			return true;
	return false;
}

/* Of a target that is no chain. An accept that is not certain is counted, and it goes on. */
static enum verdict judge_target(struct walk *w, const char *target, bool certain)
{
	if (is_passed_over(target))
		return VERDICT_NONE;
	if (strcmp(target, "DROP") == 0 || strcmp(target, "REJECT") == 0)
		return certain ? VERDICT_DROP : VERDICT_NONE;
	if (strcmp(target, "ACCEPT") == 0 && certain)
		return VERDICT_ACCEPT;
	w->unclear++;
	return VERDICT_NONE;
}

/* VERDICT_NONE: it comes back, to where it jumped from or to the policy. Recursive; bounded by DEPTH_MAX. */
static enum verdict walk_chain(struct walk *w, const struct chain *c, size_t depth, bool certain)
{
	for (size_t i = 0; i < c->rules.count; i++) {
		const struct chain_rule *r = c->rules.items[i];
		enum match m = match_rule(w->answer, r);
		bool sure = certain && m == MATCH_YES;
		enum verdict v = VERDICT_NONE;

		if (++*w->steps > STEPS_MAX || depth > DEPTH_MAX) {
			w->unclear++;
			return VERDICT_NONE;
		}
		if (m == MATCH_NO)
			continue;
		if (r->to)
			v = walk_chain(w, r->to, depth + 1, sure);
		else if (strcmp(r->target, "RETURN") != 0)
			v = judge_target(w, r->target, sure);
		if (v != VERDICT_NONE)
			return v;
		if (r->gone || strcmp(r->target, "RETURN") == 0) {
			if (m == MATCH_YES)
				return VERDICT_NONE;
			certain = false; /* it may have left */
		}
	}
	return VERDICT_NONE;
}

/* ---- servers ---- */

/* Servers of which the same is said. */
struct forward_servers {
	const struct doctor_use *first;
	const char *link; /* to it */
	size_t count;
	struct buf_writer names; /* of the first ones, for a command */
};

struct forward_view {
	const struct doctor_case *c;
	const struct doctor_rules *rules;
	const struct chain *chain;
	size_t steps;
	size_t unclear; /* rules, for the first server of which it cannot be told */
	struct forward_servers lost, unknown;
};

static const char *who_drops(const char *text)
{
	return strstr(text, "\n:DOCKER") ? " (Docker)" : strstr(text, "\n:ufw-") ? " (ufw)" : "";
}

static const char *link_of(const struct doctor_case *c, const struct doctor_route *r)
{
	const struct doctor_link *l = r && !r->error ? doctor_find_link(c->facts, r->link) : NULL;

	return l ? l->name : "";
}

static void servers_note(struct forward_servers *s, const struct doctor_use *use, const char *link)
{
	char text[ADDR_TEXT_MAX];

	if (!s->first) {
		s->first = use;
		s->link = *link ? link : "LINK";
	}
	if (s->count++ < SERVERS_NAMED)
		buf_write_format(&s->names, "%s%s", s->names.size ? "," : "",
				 addr_format(&use->server->address, text));
}

/* With net.ipv4.vs.conntrack IPVS has its flows tracked; without it their entries are dropped, but those of FTP. */
static enum match established(const struct doctor_facts *f, const struct server *s)
{
	if (doctor_sysctl_is(f, DOCTOR_VS_CONNTRACK, 1))
		return MATCH_YES;
	return doctor_sysctl_is(f, DOCTOR_VS_CONNTRACK, 0) && s->port && s->port != 21
		       ? MATCH_NO
		       : MATCH_UNKNOWN;
}

static void forward_note(struct forward_view *v, const struct doctor_use *use)
{
	const struct doctor_facts *f = v->c->facts;
	const struct doctor_route *r = doctor_find_route(f, &use->server->address);
	const bool v6 = v->rules->family == RULESET_V6;
	const struct answer a = {.facts = f,
				 .server = use->server,
				 .protocol = use->group->protocol,
				 .in = link_of(v->c, r),
				 .out = link_of(v->c, &f->clients[v6]),
				 .established = established(f, use->server)};
	struct walk w = {.answer = &a, .steps = &v->steps};
	enum verdict verdict;

	if (use->dest.forward != IP_VS_CONN_F_MASQ || (r && r->local) ||
	    ruleset_family_of(&use->server->address) != v->rules->family)
		return;
	verdict = walk_chain(&w, v->chain, 1, true);
	if (verdict == VERDICT_ACCEPT)
		return;
	if (w.unclear && !v->unknown.first)
		v->unclear = w.unclear;
	servers_note(w.unclear ? &v->unknown : &v->lost, use, a.in);
}

static struct doctor_finding *forward_add(const struct forward_view *v,
					  const struct forward_servers *s,
					  enum doctor_severity severity, const char *code)
{
	AUTO_FREE char *object = mem_printf("/server_groups/%s/servers/%s", s->first->group->o.name,
					    s->first->server->o.name);

	return doctor_add(v->c, severity, code, object);
}

static void lost_tell(const struct forward_view *v)
{
	const struct forward_servers *s = &v->lost;
	const char *program = v->rules->program;
	struct doctor_finding *f = forward_add(v, s, DOCTOR_WARNING, "forward_policy_drop");

	f->what = mem_printf("the policy of FORWARD is DROP (%s)%s, and no rule there accepts "
			     "what %zu server%s behind NAT answer%s",
			     program, who_drops(v->rules->text), s->count, TEXT_S(s->count),
			     TEXT_FORM(s->count, "s", ""));
	f->why = mem_strdup(
		"answers of servers pass FORWARD before IPVS sees them, and are dropped "
		"there unless a rule accepts them; for netfilter they are ESTABLISHED only with net.ipv4.vs.conntrack = 1");
	f->mend = s->count <= SERVERS_NAMED
			  ? mem_printf("%s -I FORWARD -s %s -j ACCEPT", program,
				       buf_text(&s->names))
			  : mem_printf("%s -I FORWARD -i %s -j ACCEPT", program, s->link);
}

static void unknown_tell(const struct forward_view *v)
{
	const struct forward_servers *s = &v->unknown;
	struct doctor_finding *f = forward_add(v, s, DOCTOR_INFO, "forward_policy_unclear");

	f->what = mem_printf("the policy of FORWARD is DROP (%s)%s, and whether its rules accept "
			     "what %zu server%s behind NAT answer%s cannot be told: %zu rule%s may",
			     v->rules->program, who_drops(v->rules->text), s->count,
			     TEXT_S(s->count), TEXT_FORM(s->count, "s", ""), v->unclear,
			     TEXT_S(v->unclear));
	f->why = mem_strdup(
		"they ask for more than the doctor knows of an answer (a set, a client, a mark); answers that none "
		"accepts are dropped before IPVS sees them");
	f->mend = mem_printf("%s -vnL FORWARD", v->rules->program);
}

void doctor_forward_judge(const struct doctor_case *c, const struct doctor_rules *r,
			  const struct vec *chains)
{
	struct forward_view v = {
		.c = c, .rules = r, .chain = doctor_chains_find(chains, "filter", "FORWARD")};

	if (!v.chain || !v.chain->drops)
		return;
	buf_writer_init(&v.lost.names, 2048);
	buf_writer_init(&v.unknown.names, 2048);
	for (size_t i = 0; i < c->uses->count; i++)
		forward_note(&v, &c->uses->items[i]);
	if (v.lost.first)
		lost_tell(&v);
	if (v.unknown.first)
		unknown_tell(&v);
	buf_writer_free(&v.lost.names);
	buf_writer_free(&v.unknown.names);
}
