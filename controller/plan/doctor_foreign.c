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
	const size_t length = strcspn(line, "\n"), size = strlen(word);
	const char *found = memmem(line, length, word, size);

	return found ? found + size : NULL;
}

static char *copy_line(const char *line)
{
	size_t length = strcspn(line, "\n");

	return text_trim(
		mem_printf("%.*s", (int)(length < RULE_SHOWN ? length : RULE_SHOWN), line));
}

/* ---- answers ---- */

/* What stands between "-A FORWARD " and " -j ACCEPT" if that is a source or a link alone; NULL: the rule minds more, or other things. */
static char *copy_accepted(const char *line)
{
	static const char begin[] = "-A FORWARD ", end[] = " -j ACCEPT";
	const size_t head = sizeof(begin) - 1, tail = sizeof(end) - 1;
	const size_t length = strcspn(line, "\n");
	char *what;

	if (length <= head + 3 + tail || strncmp(line, begin, head) != 0 ||
	    strncmp(line + length - tail, end, tail) != 0)
		return NULL;
	what = mem_printf("%.*s", (int)(length - head - tail), line + head);
	if ((strncmp(what, "-s ", 3) == 0 || strncmp(what, "-i ", 3) == 0) &&
	    !strchr(what + 3, ' '))
		return what;
	free(what);
	return NULL;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Of all plain rules, sorted: each server looks for its own. */
static void list_accepted(const char *text, struct vec *ret_list)
{
	*ret_list = (struct vec){0};
	for (const char *line = strstr(text, "*filter\n");
	     line && *line && strncmp(line, "COMMIT", 6) != 0; line = next_line(line)) {
		char *what = copy_accepted(line);

		if (what)
			vec_push(ret_list, what);
	}
	vec_sort(ret_list, compare_texts);
}

struct forward_view {
	const struct doctor_case *c;
	const struct doctor_rules *rules;
	struct vec accepted;            /* char *: by plain rules */
	const struct doctor_use *first; /* whose answers no plain rule accepts */
	const char *link;               /* to it */
	size_t lost;
	struct buf_writer *servers; /* the first ones of them */
};

/* All that comes from the server, or by its link, whatever it is. */
static bool is_accepted(const struct forward_view *v, const struct addr *server, const char *link)
{
	char from[ADDR_TEXT_MAX], by_address[2 * ADDR_TEXT_MAX], by_link[DOCTOR_LINK_MAX + 4];

	snprintf(by_address, sizeof(by_address), "-s %s/%d", addr_format(server, from),
		 server->family == AF_INET6 ? 128 : 32);
	snprintf(by_link, sizeof(by_link), "-i %s", link);
	return vec_find(&v->accepted, by_address, compare_texts, NULL) ||
	       vec_find(&v->accepted, by_link, compare_texts, NULL);
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
	list_accepted(r->text, &v.accepted);
	for (size_t i = 0; i < c->uses->count; i++)
		forward_note(&v, &c->uses->items[i]);
	for (size_t i = 0; i < v.accepted.count; i++)
		free(v.accepted.items[i]);
	vec_clear(&v.accepted);
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

/* Whether neither `minded` nor a rule of routing takes any of it. */
static bool space_is_free(const struct doctor_case *c, const struct mark_space *space,
			  const struct mark_space *minded)
{
	bool taken = space->value == 0 || space_is_taken(space, minded);

	for (size_t u = 0; u < c->node->mark_use_count; u++)
		taken = taken || space_is_taken(space, &c->node->mark_uses[u]);
	return !taken;
}

/* With this mask. False: there is none. */
static bool find_value(const struct doctor_case *c, const struct mark_space *minded,
		       struct mark_space *space)
{
	for (int i = 0; i < 65536; i++) {
		space->value = ((space->value | ~space->mask) + 1) & space->mask;
		if (space_is_free(c, space, minded))
			return true;
	}
	return false;
}

/* Other [kernel] marks, of the same mask or, where others mind bits that count ours, with these bits fixed, too. False: there are none, or
 * they are too few. */
static bool find_free_space(const struct doctor_case *c, const struct mark_space *minded,
			    struct mark_space *ret_space)
{
	*ret_space = c->node->marks;
	if (find_value(c, minded, ret_space))
		return true;
	*ret_space = c->node->marks;
	ret_space->mask |= minded->mask;
	return ret_space->mask != UINT32_MAX &&
	       marks_count(ret_space) >= c->node->snapshot->marks->items.count &&
	       find_value(c, minded, ret_space);
}

/* `shows`: the command that shows the rule. */
static void mark_tell(const struct doctor_case *c, const struct mark *m,
		      const struct mark_space *use, const char *rule, const char *shows)
{
	AUTO_FREE char *object = mem_printf("/load_balancers/%s/listeners/%s", m->lb, m->listener);
	struct doctor_finding *f = doctor_add(c, DOCTOR_WARNING, "mark_taken", object);
	struct mark_space space;

	f->what = mem_printf(
		"the range of %s/%s has the firewall mark 0x%x, and others mind it: %s", m->lb,
		m->listener, m->mark, rule);
	f->why = mem_strdup(
		"packets of the range are taken for theirs and go where that rule sends "
		"them, or packets that they mark are taken for the range");
	f->mend = find_free_space(c, use, &space)
			  ? mem_printf("printf '[kernel]\\nmarks = 0x%x/0x%x\\n' "
				       ">/etc/zonegate/conf.d/marks.conf && systemctl restart "
				       "zonegate",
				       space.value, space.mask)
			  : mem_printf("%s  # and give it another mark", shows);
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
		mark_tell(c, m, use, rule, "ip rule show");
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
		AUTO_FREE char *shows = mem_printf("%s-save", r->program);
		mark_tell(c, m, &use, shown, shows);
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
