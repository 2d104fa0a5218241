// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of others: what minds the firewall marks of ranges, and (doctor_forward.c) what drops the answers of servers behind NAT.
#include "plan/doctor_rules.h"

#include <linux/ip_vs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/doctor_chains.h"

#define RULE_SHOWN 160

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
static bool is_ours(const struct chain *chain, const struct chain_rule *r)
{
	return strncmp(chain->name, "ZONEGATE", 8) == 0 || strncmp(r->target, "ZONEGATE", 8) == 0;
}

/* Whether IPVS still sees a mark that is set there: as the rule sets it, or as connection tracking gives it to the next packet. */
static const char *find_set_mark(const struct chain *chain, const struct chain_rule *r)
{
	const unsigned before = CHAIN_PREROUTING | CHAIN_INPUT | CHAIN_OUTPUT;
	const char *kept = doctor_chains_value(r, "CONNMARK", "--set-xmark");

	return kept                    ? kept
	       : chain->hooks & before ? doctor_chains_value(r, "MARK", "--set-xmark")
				       : NULL;
}

/* The mark of ours that the rule looks for behind our own rules, or may set on packets that are not ours; NULL: none. A rule in a chain that
 * no built-in one leads to looks at nothing. */
static const struct mark *find_minded(const struct doctor_case *c, const struct chain *chain,
				      const struct chain_rule *r, struct mark_space *ret_use)
{
	const struct mark_space *ours = &c->node->marks;
	const char *looks, *sets;

	if (!chain->hooks || is_ours(chain, r))
		return NULL;
	sets = find_set_mark(chain, r);
	if (sets && parse_mark(sets, ret_use) && (ret_use->mask & ours->mask) == ours->mask &&
	    (ret_use->value & ours->mask) == ours->value) {
		const struct marks *m = c->node->snapshot->marks;
		const struct mark *same = find_taken(c, ret_use);

		return same ? same : m->items.items[0];
	}
	looks = doctor_chains_value(r, "mark", "--mark");
	return looks && chain->hooks & ~(unsigned)CHAIN_PREROUTING && parse_mark(looks, ret_use)
		       ? find_taken(c, ret_use)
		       : NULL;
}

/* The first such rule of the chain is told. */
static bool judge_chain(const struct doctor_case *c, const struct doctor_rules *rules,
			const struct chain *chain)
{
	for (size_t i = 0; i < chain->rules.count; i++) {
		const struct chain_rule *r = chain->rules.items[i];
		struct mark_space use;
		const struct mark *m = find_minded(c, chain, r, &use);
		char line[RULE_SHOWN];

		if (!m)
			continue;
		AUTO_FREE char *shown = mem_printf("%s %s", rules->program,
						   text_shorten(r->line, line, sizeof(line)));
		AUTO_FREE char *shows = mem_printf("%s-save", rules->program);
		mark_tell(c, m, &use, shown, shows);
		return true;
	}
	return false;
}

static void judge_rules(const struct doctor_case *c, const struct doctor_rules *r, bool marks)
{
	struct vec chains;

	doctor_chains_read(r->text, &chains);
	doctor_forward_judge(c, r, &chains);
	for (size_t i = 0; marks && i < chains.count; i++)
		if (judge_chain(c, r, chains.items[i]))
			break;
	doctor_chains_clear(&chains);
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
	for (size_t i = 0; i < f->rules.count; i++)
		judge_rules(c, f->rules.items[i], has_marks(c));
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
