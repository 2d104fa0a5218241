// SPDX-License-Identifier: GPL-2.0-or-later
// Many load balancers at once: every view that is handed out is of one moment, and no step does the work of all of them.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "dns/view.h"
#include "sim/play_judge.h"

#define CROWD_MAX 2000

#define BALANCER_MAX 300 /* octets */

static size_t write_balancer(char *text, unsigned n)
{
	unsigned net = n / 200;
	unsigned host = n % 200 + 1;

	return (size_t)snprintf(
		text, BALANCER_MAX,
		"'n%u':{'dns_name':'n%u.example.net','cross_zone':false,'zones':{'za':{'vip4':'192.0.%u.%u'},"
		"'zb':{'vip4':'198.18.%u.%u'}},'listeners':{'l':{'protocol':'tcp','port':80,'server_group':'g'}}},",
		n, n, net, host, net, host);
}

/* crowd N: a document of N load balancers of two zones, n0.example.net onwards. */
static bool do_crowd(struct play *p)
{
	static const char head[] =
		"{'zones':{'za':{},'zb':{}},'server_groups':{'g':{'protocol':'tcp','health_check':{'enabled':false},"
		"'servers':{'a':{'address':'10.0.0.1','port':80,'zone':'za'},'b':{'address':'10.0.0.2','port':80,"
		"'zone':'zb'}}}},'load_balancers':{";
	char *text AUTO_FREE = mem_alloc(sizeof(head) + CROWD_MAX * BALANCER_MAX);
	char *end = text + sizeof(head) - 1;
	uint64_t count;

	if (!play_parse_number(p, p->words[1], &count) || count == 0 || count > CROWD_MAX)
		return play_fault(p, "crowd N, of 1 to %d", CROWD_MAX);
	memcpy(text, head, sizeof(head));
	for (unsigned i = 0; i < count; i++)
		end += write_balancer(end, i);
	memcpy(end - 1, "}}", 3);
	p->world.keep_views = true;
	return play_write_config(p, text);
}

/* turns N: whatever comes next is left alone after so many turns of the loop; "advance" goes on with it. */
static bool do_turns(struct play *p)
{
	return play_parse_number(p, p->words[1], &p->world.turns_left);
}

/* hold GROUP/SERVER: as it is now; "expect held alone" when nobody else has it any more */
static bool do_hold(struct play *p)
{
	char *group = p->words[1];
	char *server = strchr(group, '/');
	const struct server_group *g;
	struct server *s;

	if (!server)
		return play_fault(p, "hold GROUP/SERVER");
	*server++ = '\0';
	g = snapshot_find_group(engine_snapshot(p->world.engine), group);
	s = g ? snapshot_find_server(g, server) : NULL;
	if (!s)
		return play_fault(p, "there is no such server");
	object_unref(p->held);
	p->held = object_ref(&s->o);
	return true;
}

const struct play_command play_crowd[] = {
	{"crowd", 2, do_crowd},
	{"hold", 2, do_hold},
	{"turns", 2, do_turns},
	{NULL, 0, NULL},
};

/* ---- expectations ---- */

/* How many names of load balancers have how many addresses, as "400x2". */
static void describe(const struct view *v, char *text, size_t size)
{
	size_t counts[8] = {0};
	size_t used = 0;

	for (size_t i = 0; i < view_node_count(v); i++) {
		const struct view_node *n = view_node_at(v, i);

		if (n->entry)
			counts[n->sets[VIEW_V4].count & 7]++;
	}
	text[0] = '\0';
	for (size_t i = 0; i < 8 && used < size; i++)
		if (counts[i])
			used += (size_t)snprintf(text + used, size - used, "%s%zux%zu",
						 used ? "+" : "", counts[i], i);
}

/* views [NAMESxADDRESSES[+…]]…: that were handed out since "forget", in their order */
static bool judge_views(struct play *p, size_t at)
{
	char all[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < p->world.views.count && used < sizeof(all) - 64; i++) {
		char one[64];

		describe(p->world.views.items[i], one, sizeof(one));
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? " " : "",
					 one);
	}
	return strcmp(all, play_rest(p, at)) == 0 || play_fault(p, "the views are: %s", all);
}

/* turns at-least N: of the loop since "forget" */
static bool judge_turns(struct play *p, size_t at)
{
	uint64_t least;

	if (!play_has(p, at, "at-least") || !play_parse_number(p, play_word(p, at + 1), &least))
		return play_fault(p, "turns at-least N");
	return p->world.turns >= least ||
	       play_fault(p, "the turns are %llu", (unsigned long long)p->world.turns);
}

static bool judge_held(struct play *p, size_t at)
{
	if (!p->held || !play_has(p, at, "alone"))
		return play_fault(p, "held alone, after hold GROUP/SERVER");
	return p->held->refs == 1 || play_fault(p, "%u others have it", p->held->refs - 1);
}

/* dns NAME A|AAAA [ADDRESS…]: what the view in force hands out */
static bool judge_dns(struct play *p, size_t at)
{
	const struct view *v = engine_dns_view(p->world.engine);
	const struct view_set *set = NULL;
	char all[256] = "";
	struct dns_name name;
	struct view_found found;

	if (!v || dns_name_parse(play_word(p, at), &name) != 0)
		return play_fault(p, "NAME A|AAAA [ADDRESS…]");
	dns_name_lower(&name);
	found = view_find(v, &name);
	if (found.node)
		set = &found.node->sets[play_has(p, at + 1, "AAAA") ? VIEW_V6 : VIEW_V4];
	for (size_t i = 0; set && i < set->count; i++) {
		struct addr a = view_set_address(set, i);
		char text[ADDR_TEXT_MAX];
		size_t used = strlen(all);

		snprintf(all + used, sizeof(all) - used, "%s%s", used ? " " : "",
			 addr_format(&a, text));
	}
	return strcmp(all, play_rest(p, at + 2)) == 0 || play_fault(p, "the answer is: %s", all);
}

const struct play_judge play_judges_crowd[] = {
	{"dns", judge_dns, NULL},     {"held", judge_held, NULL}, {"views", judge_views, NULL},
	{"turns", judge_turns, NULL}, {NULL, NULL, NULL},
};
