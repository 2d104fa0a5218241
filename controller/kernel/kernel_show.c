// SPDX-License-Identifier: GPL-2.0-or-later
// What there is of netfilter, to be shown: beside the queue, with programs of its own. It changes nothing, and nothing waits for it.
#include "kernel/kernel_parts.h"

#include <errno.h>

#include "base/mem.h"

static void kernel_show_end(struct kernel *k, int error)
{
	struct netfilter *f = k->show.found;

	k->show.found = NULL;
	k->show.running = false;
	for (enum ruleset_family i = 0; f && i < RULESET_FAMILY_COUNT; i++)
		if (!rules_backend(&k->rules, i, f->backends[i]))
			rules_backend(&k->show.rules, i, f->backends[i]);
	k->cb.filters(k->cb.ctx, f, error);
}

static void kernel_show_next(struct rules_place *at)
{
	if (++at->table < RULESET_TABLE_COUNT)
		return;
	at->table = 0;
	at->family++;
}

static void kernel_show_go_on(struct kernel *k)
{
	struct kernel_show *s = &k->show;

	while (s->at.family < RULESET_FAMILY_COUNT &&
	       !ruleset_may_have_rules(&s->found->ruleset, s->at.family, s->at.table))
		kernel_show_next(&s->at);
	if (s->at.family == RULESET_FAMILY_COUNT)
		kernel_show_end(k, 0);
	else
		rules_start(&s->rules, RULES_READ, &s->at, NULL);
}

static void kernel_show_on_rules(void *ctx, enum rules_work work, const char *text, int error)
{
	struct kernel *k = ctx;
	struct kernel_show *s = &k->show;

	(void)work;
	if (error) {
		const char *words = rules_words(&s->rules, s->at.family);

		s->found->rules_words = words ? mem_strdup(words) : NULL;
		s->found->rules_error = error;
		s->found->rules_family = s->at.family;
		kernel_show_end(k, 0);
		return;
	}
	ruleset_set_rules(&s->found->ruleset, s->at.family, s->at.table,
			  rules_in_own_words(&k->rules, &s->at, text));
	kernel_show_next(&s->at);
	kernel_show_go_on(k);
}

/* It is told where the rules are set. */
static void kernel_show_on_complaint(void *ctx, const char *program, const char *text)
{
	(void)ctx;
	(void)program;
	(void)text;
}

void kernel_show_on_sets(void *ctx, struct netfilter *f, int error)
{
	struct kernel *k = ctx;

	k->show.found = f;
	k->show.at = (struct rules_place){0};
	if (error) {
		kernel_show_end(k, error);
		return;
	}
	for (enum ruleset_family i = 0; i < RULESET_FAMILY_COUNT; i++)
		k->show.rules.backends[i] = k->rules.backends[i];
	kernel_show_go_on(k);
}

static void kernel_show_memory(struct kernel *k)
{
	struct netfilter *f = mem_new(struct netfilter);

	ruleset_copy(&k->memory.ruleset, &f->ruleset);
	netfilter_take_memory(f);
	k->show.found = f;
	kernel_show_end(k, 0);
}

static void kernel_show_on_start(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct kernel *k = w->data;
	int error;

	(void)loop;
	(void)revents;
	if (k->settings.mode == KERNEL_OFF) {
		kernel_show_memory(k);
		return;
	}
	error = sets_show(k->sets);
	if (error)
		kernel_show_on_sets(k, NULL, error);
}

void kernel_request_filters(struct kernel *k)
{
	if (k->show.running)
		return;
	k->show.running = true;
	ev_timer_set(&k->show.start, 0., 0.);
	ev_timer_start(k->loop, &k->show.start);
}

void kernel_show_ready(struct kernel *k)
{
	ev_timer_init(&k->show.start, kernel_show_on_start, 0., 0.);
	k->show.start.data = k;
	k->show.rules = (struct rules){.loop = k->loop,
				       .iptables = k->settings.iptables,
				       .ctx = k,
				       .done = kernel_show_on_rules,
				       .complained = kernel_show_on_complaint};
}

void kernel_show_close(struct kernel *k)
{
	ev_timer_stop(k->loop, &k->show.start);
	rules_clear(&k->show.rules);
	netfilter_free(k->show.found);
}
