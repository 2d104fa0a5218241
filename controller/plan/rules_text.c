// SPDX-License-Identifier: GPL-2.0-or-later
// The rules are few and change seldom: what changes is in the sets that they look into.
#include "plan/rules_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

/* Nothing opens a TCP connection without this, so answers to connections of this host's own pass. */
#define SYN_FLAGS " --tcp-flags FIN,SYN,RST,ACK SYN"
#define SYN       "-p tcp -m tcp" SYN_FLAGS

/* The first packet of a flow: until IPVS has sent it on. */
#define FIRST_OF_FLOW " -m conntrack ! --ctstatus CONFIRMED"

#define CHAIN_PREFIX RULES_TEXT_CHAIN "-"
#define CHAIN_MARKS  CHAIN_PREFIX "MARKS"

static const struct {
	const char *name;
	const char *hook;
} rules_tables[RULESET_TABLE_COUNT] = {
	[RULESET_FILTER] = {"filter", "INPUT"},
	[RULESET_NAT] = {"nat", "POSTROUTING"},
};

const char *rules_text_table(enum ruleset_table t)
{
	assert(t < RULESET_TABLE_COUNT);
	return rules_tables[t].name;
}

const char *rules_text_hook(enum ruleset_table t)
{
	assert(t < RULESET_TABLE_COUNT);
	return rules_tables[t].hook;
}

/* ---- the rules ---- */

/* In the text: @ is 4 or 6, % what ICMP calls itself in the family. */
static const char *const rules_guard[] = {
	"-m set --match-set zg@-open dst,dst -j RETURN",
	"-p tcp -m tcp --dport 1024:65535 -m set --match-set zg@-ftp dst -j RETURN",
	SYN " -m set --match-set zg@-drop dst -j DROP",
	"-p udp -m set --match-set zg@-drop dst -j DROP",
	"-p sctp -m set --match-set zg@-drop dst -j DROP",
	SYN " -m set --match-set zg@-reject dst -j REJECT --reject-with tcp-reset",
	"-p udp -m set --match-set zg@-reject dst -j REJECT --reject-with %-port-unreachable",
	"-p sctp -m set --match-set zg@-reject dst -j REJECT --reject-with %-port-unreachable",
};

/* Without its end. */
static void rules_text_write_rule_of(struct buf_writer *w, const char *rule, enum ruleset_family f)
{
	buf_write_text(w, "-A " RULES_TEXT_CHAIN " ");
	for (const char *p = rule; *p; p++) {
		if (*p == '@')
			buf_write_text(w, f == RULESET_V4 ? "4" : "6");
		else if (*p == '%')
			buf_write_text(w, f == RULESET_V4 ? "icmp" : "icmp6");
		else
			buf_write(w, p, 1);
	}
}

static void rules_text_write_rule(struct buf_writer *w, const char *rule, enum ruleset_family f)
{
	rules_text_write_rule_of(w, rule, f);
	buf_write_text(w, "\n");
}

static bool rules_text_marks(const struct rules_plan *p, enum ruleset_family f)
{
	for (size_t i = 0; i < p->mark_count; i++)
		if (p->marks[i].families & 1U << f)
			return true;
	return false;
}

/* The words of a set of the family. */
static const char *rules_text_set(enum ruleset_kind kind, enum ruleset_family f, uint64_t uid,
				  char buf[RULESET_NAME_MAX])
{
	return ruleset_format_id(&(struct ruleset_id){.kind = kind, .family = f, .uid = uid}, buf);
}

/* The end of a rule that asks the list: whoever it is but another gateway that probes the VIP. */
static void rules_text_write_asked(struct buf_writer *w, uint64_t uid, enum ruleset_family f)
{
	char peers[RULESET_NAME_MAX], list[RULESET_NAME_MAX];

	buf_write_format(w,
			 " -m set ! --match-set %s dst,dst,src -m set --match-set %s src -j DROP\n",
			 rules_text_set(RULESET_PEERS, f, 0, peers),
			 rules_text_set(RULESET_LIST, f, uid, list));
}

/* Where the list is asked and says no. ICMP has no port, so it passes. */
static void rules_text_write_list(struct buf_writer *w, uint64_t uid, enum ruleset_family f)
{
	char at[RULESET_NAME_MAX];

	buf_write_format(w, "-A " RULES_TEXT_CHAIN " -m set --match-set %s dst,dst",
			 rules_text_set(RULESET_AT, f, uid, at));
	rules_text_write_asked(w, uid, f);
}

/* Only the last match counts: what is dropped. Room for 262,144 sources that were seen within two seconds, when all of them have their
 * burst back. */
#define LIMIT_TABLE                                                                       \
	"--hashlimit-htable-size 16384 --hashlimit-htable-max 262144 --hashlimit-htable-" \
	"expire 2000"

static void rules_text_write_limit(struct buf_writer *w, const struct ruleset_id *id)
{
	const bool udp = id->kind == RULESET_LIMIT_UDP;
	char set[RULESET_NAME_MAX];

	ruleset_format_id(id, set);
	buf_write_format(w,
			 "-A " RULES_TEXT_CHAIN
			 " %s -m set --match-set %s dst,dst ! --update-counters%s "
			 "-m hashlimit --hashlimit-above %" PRIu64 "/sec --hashlimit-burst %" PRIu64
			 " --hashlimit-mode srcip,dstip,dstport%s --hashlimit-name %s " LIMIT_TABLE
			 " -m set --match-set %s dst,dst -j DROP\n",
			 udp ? "-p udp" : SYN, set, udp ? FIRST_OF_FLOW : "", id->uid, id->uid,
			 id->family == RULESET_V6 ? " --hashlimit-srcmask 64" : "", set, set);
}

/* Counts what is tracked, by the rule: so each listener has one of its own. */
static void rules_text_write_ceiling(struct buf_writer *w, const struct rules_ceiling *c)
{
	char set[RULESET_NAME_MAX];

	ruleset_format_id(&c->set, set);
	buf_write_format(w,
			 "-A " RULES_TEXT_CHAIN
			 " %s -m set --match-set %s dst,dst ! --update-counters%s "
			 "-m connlimit --connlimit-above %u --connlimit-mask %u --connlimit-saddr "
			 "-m set --match-set %s dst,dst -j DROP\n",
			 c->set.kind == RULESET_MAX_UDP ? "-p udp" : SYN, set,
			 c->set.kind == RULESET_MAX_UDP ? FIRST_OF_FLOW : "", c->connections,
			 c->set.family == RULESET_V6 ? 64U : 32U, set);
}

static const char *const rules_ports[] = {[PROTOCOL_TCP] = "-p tcp -m tcp --dport",
					  [PROTOCOL_UDP] = "-p udp -m udp --dport",
					  [PROTOCOL_SCTP] = "-p sctp -m multiport --dports"};

/* Which packets get the mark. */
static void rules_text_write_marked(struct buf_writer *w, const struct rules_mark *m,
				    enum ruleset_family f)
{
	char vips[RULESET_NAME_MAX];

	buf_write_format(w, " %s %u:%u -m set --match-set %s dst", rules_ports[m->protocol],
			 m->ports.from, m->ports.to,
			 rules_text_set(RULESET_MARK, f, m->mark, vips));
}

/* As those of listeners with one port, but that all ports count together. The table of sources goes by its name, and keeps the rate that
 * it was made with: so the rate is in it. */
static void rules_text_write_bound(struct buf_writer *w, const struct rules_bound *b)
{
	const bool v6 = b->set.family == RULESET_V6;
	char set[RULESET_NAME_MAX];

	ruleset_format_id(&b->set, set);
	buf_write_format(w,
			 "-A " CHAIN_MARKS
			 " ! -i lo %s %u:%u%s -m set --match-set %s dst ! --update-counters%s",
			 rules_ports[b->protocol], b->ports.from, b->ports.to,
			 b->protocol == PROTOCOL_TCP ? SYN_FLAGS : "", set,
			 b->protocol == PROTOCOL_UDP ? FIRST_OF_FLOW : "");
	if (b->set.kind == RULESET_LIMIT_RANGE)
		buf_write_format(
			w,
			" -m hashlimit --hashlimit-above %u/sec --hashlimit-burst %u "
			"--hashlimit-mode srcip,dstip%s --hashlimit-name %s-%x " LIMIT_TABLE,
			b->most, b->most, v6 ? " --hashlimit-srcmask 64" : "", set, b->most);
	else
		buf_write_format(w,
				 " -m connlimit --connlimit-above %u --connlimit-mask %u "
				 "--connlimit-saddr",
				 b->most, v6 ? 64U : 32U);
	buf_write_format(w, " -m set --match-set %s dst -j DROP\n", set);
}

static void rules_text_write_bounds(struct buf_writer *w, const struct rules_plan *p,
				    enum ruleset_family f, enum ruleset_kind kind)
{
	for (size_t i = 0; i < p->bound_count; i++)
		if (p->bounds[i].set.family == f && p->bounds[i].set.kind == kind)
			rules_text_write_bound(w, &p->bounds[i]);
}

/* " -m mark --mark 0x5a000000/0xfffff000" */
static void rules_text_write_ours(struct buf_writer *w, const struct rules_plan *p,
				  const char * not )
{
	buf_write_format(w, " -m mark%s --mark 0x%x/0x%x", not, p->space.value, p->space.mask);
}

/* For IPVS, which compares all bits of a mark: so all of them are set. What comes with one of ours has it from somebody else, and neither
 * the guard nor IPVS shall take it for one that was set here. Lists and limits of a range are asked here, since other ports of its VIPs
 * have returned; the host itself is not asked. */
static void rules_text_write_marks(struct buf_writer *w, const struct rules_plan *p,
				   enum ruleset_family f)
{
	buf_write_text(w, "-N " CHAIN_MARKS "\n-A " CHAIN_MARKS);
	rules_text_write_ours(w, p, "");
	buf_write_text(w, " -j MARK --set-xmark 0x0/0xffffffff\n");
	buf_write_format(w, "-A " CHAIN_MARKS " -m set --match-set zg%c-single dst,dst -j RETURN\n",
			 f == RULESET_V4 ? '4' : '6');
	for (size_t i = 0; i < p->mark_count; i++) {
		if (!p->marks[i].list || !(p->marks[i].families & 1U << f))
			continue;
		buf_write_text(w, "-A " CHAIN_MARKS " ! -i lo");
		rules_text_write_marked(w, &p->marks[i], f);
		rules_text_write_asked(w, p->marks[i].list, f);
	}
	rules_text_write_bounds(w, p, f, RULESET_LIMIT_RANGE);
	rules_text_write_bounds(w, p, f, RULESET_MAX_RANGE);
	for (size_t i = 0; i < p->mark_count; i++) {
		if (!(p->marks[i].families & 1U << f))
			continue;
		buf_write_text(w, "-A " CHAIN_MARKS);
		rules_text_write_marked(w, &p->marks[i], f);
		buf_write_format(w, " -j MARK --set-xmark 0x%x/0xffffffff\n", p->marks[i].mark);
	}
}

static bool rules_text_ceilings(const struct rules_plan *p, enum ruleset_family f)
{
	for (size_t i = 0; i < p->ceiling_count; i++)
		if (p->ceilings[i].set.family == f)
			return true;
	return false;
}

/* What comes first decides: the host itself, then who may come in and how often, last what is open at all (its rules return). */
static void rules_text_write_filter(struct buf_writer *w, const struct rules_plan *p,
				    enum ruleset_family f)
{
	bool marks = rules_text_marks(p, f);

	buf_write_text(w, "-N " RULES_TEXT_CHAIN "\n");
	if (marks) /* clients on the host itself */
		rules_text_write_rule(w, "-i lo -m set --match-set zg@-ranged dst -j " CHAIN_MARKS,
				      f);
	rules_text_write_rule(w, "-i lo -j RETURN", f);
	for (size_t i = 0; i < p->list_count; i++)
		rules_text_write_list(w, p->lists[i], f);
	for (size_t i = 0; i < p->limit_count; i++)
		rules_text_write_limit(w, &p->limits[i]);
	for (size_t i = 0; i < p->ceiling_count; i++)
		if (p->ceilings[i].set.family == f)
			rules_text_write_ceiling(w, &p->ceilings[i]);
	if (marks)
		rules_text_write_rule(w, "-m set --match-set zg@-ranged dst -j " CHAIN_MARKS, f);
	if (marks && p->guard) {
		rules_text_write_rule_of(w, "-m set --match-set zg@-ranged dst", f);
		rules_text_write_ours(w, p, "");
		buf_write_text(w, " -j RETURN\n");
	}
	for (size_t i = 0; p->guard && i < sizeof(rules_guard) / sizeof(rules_guard[0]); i++)
		rules_text_write_rule(w, rules_guard[i], f);
	if (marks)
		rules_text_write_marks(w, p, f);
}

/* Of a client on the network with the server the answer would go straight to it, from an address that it does not know. */
static void rules_text_write_network(struct buf_writer *w, const struct model_prefix *n,
				     enum ruleset_family f)
{
	char net[ADDR_TEXT_MAX];

	if (ruleset_family_of(&n->net) != f)
		return;
	addr_format(&n->net, net);
	buf_write_format(w,
			 "-A " RULES_TEXT_CHAIN " -s %s/%u -d %s/%u -m ipvs --ipvs -j MASQUERADE\n",
			 net, n->length, net, n->length);
}

/* A server as a client of its own group is answered straight by another one, and by itself not at all. */
static void rules_text_write_hairpin(struct buf_writer *w, const struct rules_plan *p,
				     const struct ruleset_id *id)
{
	const bool keeps = id->kind == RULESET_AUTO_KEEP_TO;
	char to[RULESET_NAME_MAX], from[RULESET_NAME_MAX];

	buf_write_text(w, "-A " RULES_TEXT_CHAIN " -m ipvs --ipvs");
	if (keeps)
		rules_text_write_ours(w, p, "");
	buf_write_format(w, " -m set --match-set %s %s -m set --match-set %s src -j MASQUERADE\n",
			 ruleset_format_id(id, to), keeps ? "dst" : "dst,dst",
			 rules_text_set(RULESET_AUTO_FROM, id->family, id->uid, from));
}

/* What is not for such a server returns: neither one with the port, nor one of a range that keeps the port. */
static void rules_text_write_others(struct buf_writer *w, const struct rules_plan *p,
				    enum ruleset_family f)
{
	static const char other[] = "-m set ! --match-set zg@-auto dst,dst";

	rules_text_write_rule_of(w, other, f);
	if (p->auto_keep) {
		rules_text_write_ours(w, p, " !");
		buf_write_text(w, " -j RETURN\n");
		rules_text_write_rule_of(w, other, f);
		buf_write_format(w, " -m set ! --match-set zg%c-auto-keep dst",
				 f == RULESET_V4 ? '4' : '6');
	}
	buf_write_text(w, " -j RETURN\n");
}

/* Only the first packet of a connection meets these. That of a range has its mark yet: so servers that keep its port are told from such
 * as somebody else's service sends to. */
static void rules_text_write_nat(struct buf_writer *w, const struct rules_plan *p,
				 enum ruleset_family f)
{
	if (!p->snat && !p->snat_auto)
		return;
	buf_write_text(w, "-N " RULES_TEXT_CHAIN "\n");
	if (p->snat)
		rules_text_write_rule(
			w, "-m ipvs --ipvs -m set --match-set zg@-snat dst,dst -j MASQUERADE", f);
	if (p->snat_keep) {
		buf_write_text(w, "-A " RULES_TEXT_CHAIN " -m ipvs --ipvs");
		rules_text_write_ours(w, p, "");
		buf_write_format(w, " -m set --match-set zg%c-snat-keep dst -j MASQUERADE\n",
				 f == RULESET_V4 ? '4' : '6');
	}
	if (!p->snat_auto)
		return;
	rules_text_write_others(w, p, f);
	for (size_t i = 0; i < p->network_count; i++)
		rules_text_write_network(w, &p->networks[i], f);
	for (size_t i = 0; i < p->snat_group_count; i++)
		rules_text_write_hairpin(w, p, &p->snat_groups[i]);
}

void rules_text_write(struct buf_writer *w, const struct rules_plan *p, enum ruleset_family f,
		      enum ruleset_table t)
{
	switch (t) {
	case RULESET_FILTER:
		if (p->guard || p->list_count || p->limit_count || rules_text_ceilings(p, f) ||
		    rules_text_marks(p, f))
			rules_text_write_filter(w, p, f);
		return;
	case RULESET_NAT:
		rules_text_write_nat(w, p, f);
		return;
	case RULESET_TABLE_COUNT:
		return;
	}
}

/* ---- changes ---- */

/* The line behind this one. */
static const char *rules_text_next(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* Whether the text makes this chain: `name` ends with its line. */
static bool rules_text_makes(const char *text, const char *name, size_t length)
{
	for (const char *line = text; *line; line = rules_text_next(line))
		if (strncmp(line, "-N ", 3) == 0 && strncmp(line + 3, name, length) == 0 &&
		    (line[3 + length] == '\n' || line[3 + length] == '\0'))
			return true;
	return false;
}

/* Each chain of `text` that is not in `other`, between two texts. */
static void rules_text_write_chains(struct buf_writer *w, const char *text, const char *other,
				    const char *const around[2])
{
	for (const char *line = text; *line; line = rules_text_next(line)) {
		size_t length = strcspn(line, "\n");

		if (strncmp(line, "-N ", 3) != 0 || rules_text_makes(other, line + 3, length - 3))
			continue;
		buf_write_text(w, around[0]);
		buf_write(w, line + 3, length - 3);
		buf_write_text(w, around[1]);
	}
}

void rules_text_write_change(struct buf_writer *w, const struct rules_change *c)
{
	static const char *const make[2] = {":", " - [0:0]\n"};
	static const char *const drop[2] = {"-X ", "\n"};
	const char *hook = rules_text_hook(c->table);

	buf_write_format(w, "*%s\n", rules_text_table(c->table));
	rules_text_write_chains(w, c->wanted, "", make);
	rules_text_write_chains(w, c->present, c->wanted, make); /* empties them */
	for (const char *line = c->wanted; *line; line = rules_text_next(line))
		if (strncmp(line, "-A ", 3) == 0)
			buf_write(w, line, (size_t)(rules_text_next(line) - line));
	if (*c->wanted && !c->jumps)
		buf_write_format(w, "-I %s -j " RULES_TEXT_CHAIN "\n", hook);
	if (!*c->wanted && c->jumps)
		buf_write_format(w, "-D %s -j " RULES_TEXT_CHAIN "\n", hook);
	rules_text_write_chains(w, c->present, c->wanted, drop);
	buf_write_text(w, "COMMIT\n");
}

/* ---- what was read ---- */

/* The chain of ours that the rule goes to: its place in the line, or NULL. */
static const char *rules_text_target(const char *line, size_t length)
{
	for (size_t i = 0; i + 4 + strlen(CHAIN_PREFIX) <= length; i++)
		if ((strncmp(line + i, " -j ", 4) == 0 || strncmp(line + i, " -g ", 4) == 0) &&
		    strncmp(line + i + 4, CHAIN_PREFIX, strlen(CHAIN_PREFIX)) == 0)
			return line + i + 4;
	return NULL;
}

bool rules_text_find_chain(const char *text, char ret_chain[RULES_CHAIN_MAX])
{
	for (const char *line = text; *line; line = rules_text_next(line)) {
		size_t length = strcspn(line, "\n");
		const char *name = rules_text_target(line, length);
		size_t size = name ? strcspn(name, " \n") : 0;

		if (!name || size >= RULES_CHAIN_MAX || rules_text_makes(text, name, size))
			continue;
		memcpy(ret_chain, name, size);
		ret_chain[size] = '\0';
		return true;
	}
	return false;
}
