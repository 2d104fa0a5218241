// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of others: what drops the answers of servers behind NAT, and what minds the firewall marks of ranges. Rules are read as text, and
// only plain ones are understood: where more would be needed the finding says so.
#include "plan/doctor_rules.h"

#include <linux/ip_vs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define SERVERS_NAMED 16 /* in a command */
#define RULE_SHOWN    160

/* ---- text ---- */

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* What stands behind `word` in the line, or NULL. */
static const char *find_behind(const char *line, const char *word)
{
	const size_t length = strcspn(line, "\n");
	const char *found = strstr(line, word);

	return found && (size_t)(found - line) < length ? found + strlen(word) : NULL;
}

static char *copy_line(const char *line)
{
	size_t length = strcspn(line, "\n");

	return mem_printf("%.*s", (int)(length < RULE_SHOWN ? length : RULE_SHOWN), line);
}

/* ---- answers ---- */

/* A rule of FORWARD that accepts all that comes from the server, or by its link, whatever it is. */
static bool rule_accepts(const char *line, const struct addr *server, const char *link)
{
	char from[ADDR_TEXT_MAX], by_address[2 * ADDR_TEXT_MAX], by_link[DOCTOR_LINK_MAX + 40];
	size_t length = strcspn(line, "\n");

	snprintf(by_address, sizeof(by_address), "-A FORWARD -s %s/%d -j ACCEPT",
		 addr_format(server, from), server->family == AF_INET6 ? 128 : 32);
	snprintf(by_link, sizeof(by_link), "-A FORWARD -i %s -j ACCEPT", link);
	return (length == strlen(by_address) && strncmp(line, by_address, length) == 0) ||
	       (length == strlen(by_link) && strncmp(line, by_link, length) == 0);
}

struct forward_view {
	const struct doctor_case *c;
	const struct doctor_rules *rules;
	const struct doctor_use *first; /* whose answers no plain rule accepts */
	const char *link;               /* to it */
	size_t lost;
	struct buf_writer *servers; /* the first ones of them */
};

static bool is_accepted(const struct forward_view *v, const struct addr *server, const char *link)
{
	for (const char *line = strstr(v->rules->text, "*filter\n");
	     line && *line && strncmp(line, "COMMIT", 6) != 0; line = next_line(line))
		if (rule_accepts(line, server, link))
			return true;
	return false;
}

static void forward_note(struct forward_view *v, const struct doctor_use *use)
{
	const struct doctor_route *r = doctor_find_route(v->c->facts, &use->server->address);
	const struct doctor_link *l = r ? doctor_find_link(v->c->facts, r->link) : NULL;
	char text[ADDR_TEXT_MAX];

	if (use->dest.forward != IP_VS_CONN_F_MASQ || (r && r->local) ||
	    ruleset_family_of(&use->server->address) != v->rules->family ||
	    is_accepted(v, &use->server->address, l ? l->name : ""))
		return;
	if (!v->first) {
		v->first = use;
		v->link = l ? l->name : "LINK";
	}
	if (v->lost++ < SERVERS_NAMED)
		buf_write_format(v->servers, "%s%s", v->servers->size ? "," : "",
				 addr_format(&use->server->address, text));
}

static const char *who_drops(const char *text)
{
	return strstr(text, "\n:DOCKER") ? " (Docker)" : strstr(text, "\n:ufw-") ? " (ufw)" : "";
}

static void forward_tell(const struct forward_view *v)
{
	const char *program = v->rules->program;
	AUTO_FREE char *object = mem_printf("/server_groups/%s/servers/%s", v->first->group->o.name,
					    v->first->server->o.name);
	struct doctor_finding *f = doctor_add(v->c, DOCTOR_WARNING, "forward_policy_drop", object);

	f->what = mem_printf(
		"the policy of FORWARD is DROP (%s)%s, and no plain rule there accepts "
		"what %zu server%s behind NAT answer%s",
		program, who_drops(v->rules->text), v->lost, TEXT_FORM(v->lost, "", "s"),
		TEXT_FORM(v->lost, "s", ""));
	f->why = mem_strdup(
		"answers of servers pass FORWARD before IPVS sees them, and are dropped "
		"there unless a rule accepts them; for netfilter they are not ESTABLISHED");
	f->mend = v->lost <= SERVERS_NAMED
			  ? mem_printf("%s -I FORWARD -s %s -j ACCEPT", program,
				       buf_text(v->servers))
			  : mem_printf("%s -I FORWARD -i %s -j ACCEPT", program, v->link);
}

static void judge_forward(const struct doctor_case *c, const struct doctor_rules *r)
{
	AUTO_BUF struct buf_writer servers = {0};
	struct forward_view v = {.c = c, .rules = r, .servers = &servers};

	if (!strstr(r->text, "\n:FORWARD DROP ") || !strstr(r->text, "*filter\n"))
		return;
	buf_writer_init(&servers, 2048);
	for (size_t i = 0; i < c->uses->count; i++)
		forward_note(&v, &c->uses->items[i]);
	if (v.first)
		forward_tell(&v);
}

/* ---- marks ---- */

static bool parse_mark(const char *text, struct mark_space *ret_use)
{
	char *end;

	ret_use->value = (uint32_t)strtoul(text, &end, 0);
	ret_use->mask = *end == '/' ? (uint32_t)strtoul(end + 1, NULL, 0) : UINT32_MAX;
	return end != text && (ret_use->value & ret_use->mask) != 0;
}

/* The first mark of ours that a packet has if it is found so; NULL: none has. */
static const struct mark *find_taken(const struct doctor_case *c, const struct mark_space *use)
{
	const struct marks *m = c->node->snapshot->marks;

	for (size_t i = 0; m && i < m->items.count; i++) {
		const struct mark *one = m->items.items[i];

		if ((one->mark & use->mask) == (use->value & use->mask))
			return one;
	}
	return NULL;
}

static bool space_is_taken(const struct mark_space *space, const struct mark_space *use)
{
	return ((space->value ^ use->value) & use->mask & space->mask) == 0;
}

/* The value of [kernel] marks of which neither `minded` nor a rule of routing takes any; 0: there is none. */
static uint32_t find_free_space(const struct doctor_case *c, const struct mark_space *minded)
{
	struct mark_space space = c->node->marks;
	const uint32_t step = space.mask & (~space.mask + 1); /* the lowest bit that is fixed */

	for (int i = 0; i < 65536; i++) {
		bool taken;

		space.value = (space.value + step) & space.mask;
		taken = space.value == 0 || space_is_taken(&space, minded);
		for (size_t u = 0; u < c->node->mark_use_count; u++)
			taken = taken || space_is_taken(&space, &c->node->mark_uses[u]);
		if (!taken)
			return space.value;
	}
	return 0;
}

static void mark_tell(const struct doctor_case *c, const struct mark *m,
		      const struct mark_space *use, const char *rule)
{
	AUTO_FREE char *object = mem_printf("/load_balancers/%s/listeners/%s", m->lb, m->listener);
	struct doctor_finding *f = doctor_add(c, DOCTOR_WARNING, "mark_taken", object);

	f->what = mem_printf(
		"the range of %s/%s has the firewall mark 0x%x, and others mind it: %s", m->lb,
		m->listener, m->mark, rule);
	f->why = mem_strdup(
		"packets of the range are taken for theirs and go where that rule sends "
		"them, or packets that they mark are taken for the range");
	f->mend = mem_printf("printf '[kernel]\\nmarks = 0x%x/0x%x\\n' "
			     ">/etc/zonegate/conf.d/marks.conf && systemctl restart zonegate",
			     find_free_space(c, use), c->node->marks.mask);
}

static void judge_routing(const struct doctor_case *c)
{
	for (size_t i = 0; i < c->node->mark_use_count; i++) {
		const struct mark_space *use = &c->node->mark_uses[i];
		const struct mark *m = use->value ? find_taken(c, use) : NULL;
		char rule[64];

		if (!m)
			continue;
		snprintf(rule, sizeof(rule), "ip rule … fwmark 0x%x/0x%x", use->value, use->mask);
		mark_tell(c, m, use, rule);
		return;
	}
}

/* Ours begin so, or lead there. */
static bool is_ours(const char *line)
{
	return find_behind(line, "-A ZONEGATE") || find_behind(line, " -j ZONEGATE");
}

/* The mark of ours that the rule looks for behind our own rules, or may set on packets that are not ours; NULL: none. */
static const struct mark *find_minded(const struct doctor_case *c, const char *line,
				      struct mark_space *ret_use)
{
	const struct mark_space *ours = &c->node->marks;
	const char *looks = find_behind(line, " -m mark --mark ");
	const char *sets = find_behind(line, " --set-xmark ");
	if (strncmp(line, "-A ", 3) != 0 || is_ours(line))
		return NULL;
	if (sets && parse_mark(sets, ret_use) && (ret_use->mask & ours->mask) == ours->mask &&
	    (ret_use->value & ours->mask) == ours->value) {
		const struct marks *m = c->node->snapshot->marks;
		const struct mark *same = find_taken(c, ret_use);

		return same ? same : m->items.items[0];
	}
	if (looks && strncmp(line, "-A PREROUTING", 13) != 0 && parse_mark(looks, ret_use))
		return find_taken(c, ret_use);
	return NULL;
}

static void judge_marks(const struct doctor_case *c, const struct doctor_rules *r)
{
	for (const char *line = r->text; *line; line = next_line(line)) {
		struct mark_space use;
		const struct mark *m = find_minded(c, line, &use);

		if (!m)
			continue;
		AUTO_FREE char *rule = copy_line(line);
		AUTO_FREE char *shown = mem_printf("%s %s", r->program, rule);
		mark_tell(c, m, &use, shown);
		return;
	}
}

static bool has_marks(const struct doctor_case *c)
{
	const struct marks *m = c->node->snapshot->marks;

	return m && m->items.count;
}

void doctor_foreign_judge(const struct doctor_case *c)
{
	const struct doctor_facts *f = c->facts;

	if (has_marks(c))
		judge_routing(c);
	for (size_t i = 0; i < f->rules.count; i++) {
		judge_forward(c, f->rules.items[i]);
		if (has_marks(c))
			judge_marks(c, f->rules.items[i]);
	}
	if (f->rules_error &&
	    (has_marks(c) || doctor_uses_forward(c->uses, IP_VS_CONN_F_MASQ, 0))) {
		struct doctor_finding *unseen = doctor_add(c, DOCTOR_INFO, "rules_unseen",
							   f->rules_program);

		unseen->what = mem_printf("%s did not tell all rules: %s", f->rules_program,
					  strerror(-f->rules_error));
		unseen->why = mem_strdup(
			"whether rules of others drop answers of servers, or mind the "
			"marks of ranges, is not known");
		unseen->mend = mem_strdup(f->rules_program);
	}
}
