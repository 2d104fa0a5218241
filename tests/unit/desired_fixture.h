/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The document and the states that the tests of plan/desired.c build services of. */
#ifndef ZG_TESTS_UNIT_DESIRED_FIXTURE_H
#define ZG_TESTS_UNIT_DESIRED_FIXTURE_H

#include "plan/desired.h"
#include "unit/model_fixture.h"

/* Group web: w1 (za), w2 (zb), w3 (no zone), w4 (no zone, disabled), weights 100 50 10 10; its backup may be spare: s1, s2. */
#define DOCUMENT                                                                             \
	"{'zones':{'za':{},'zb':{}},'server_groups':{"                                       \
	"'web':{'protocol':'tcp','servers':{"                                                \
	"'w1':{'address':'10.0.0.1','port':80,'weight':100,'zone':'za'},"                    \
	"'w2':{'address':'10.0.0.2','port':80,'weight':50,'zone':'zb'},"                     \
	"'w3':{'address':'10.0.0.3','port':80,'weight':10},"                                 \
	"'w4':{'address':'10.0.0.4','port':80,'weight':10,'enabled':false}}},"               \
	"'spare':{'protocol':'tcp','servers':{"                                              \
	"'s1':{'address':'10.0.1.1','port':80,'weight':7},"                                  \
	"'s2':{'address':'10.0.1.2','port':80,'weight':8}}}},"                               \
	"'load_balancers':{'shop':{'zones':{'za':{'vip4':'192.0.2.1','vip6':'2001:db8::1'}," \
	"'zb':{'vip4':'192.0.2.2'}},"                                                        \
	"'listeners':{'http':{'protocol':'tcp','port':80,'server_group':'web'}}}}}"

#define WEB(members)       "{'server_groups':{'web':{" members "}}}"
#define BOTH(g, l)         "{'server_groups':{'web':{" g "}},'load_balancers':{'shop':{" l "}}}"
#define HTTP(members)      "'listeners':{'http':{" members "}}"
#define HTTP_ONLY(members) "{'load_balancers':{'shop':{" HTTP(members) "}}}"
#define MIN(c, p)                                                                     \
	"'min_healthy':{'count':" #c ",'percent':" #p "},'dns_min_healthy':{'count':" \
	"10,'percent':100}"

struct world {
	struct snapshot *s;
	struct desired_input in;
	const char *
		states; /* "w1=H w2=U4 w3=H@7 w4=H:d": H healthy, U unhealthy, I initial, T trusted; tenths of a
			 * ramp; @ a weight override; :d drained by hand, :g and gone */
};

static inline void state_of(void *ctx, const struct server_group *g, size_t index,
			    struct desired_state *ret_state)
{
	const struct world *w = ctx;
	const struct server *s = g->servers.items[index];
	char name[80];
	const char *at;

	snprintf(name, sizeof(name), "%s=", s->o.name);
	at = strstr(w->states, name);
	*ret_state = (struct desired_state){
		.health = HEALTH_INITIAL, .ramp = DESIRED_RAMP_FULL, .weight = s->weight};
	if (!at)
		return;
	at += strlen(name);
	ret_state->trusted = *at == 'T';
	ret_state->health = *at == 'H'   ? HEALTH_HEALTHY
			    : *at == 'U' ? HEALTH_UNHEALTHY
					 : HEALTH_INITIAL;
	if (at[1] >= '1' && at[1] <= '9')
		ret_state->ramp = (unsigned)(at[1] - '0');
	at += strcspn(at, "@: ");
	if (*at == '@')
		ret_state->weight = (uint32_t)strtoul(at + 1, NULL, 10);
}

static inline enum desired_drained drained_of(void *ctx, const struct desired_place *p,
					      const struct server_group *g, const struct server *s,
					      const struct plan_dest *dest)
{
	const struct world *w = ctx;
	char held[80];
	char gone[80];

	(void)p;
	(void)g;
	(void)dest;
	snprintf(held, sizeof(held), "%s=H:d", s->o.name);
	snprintf(gone, sizeof(gone), "%s=H:g", s->o.name);
	if (strstr(w->states, held))
		return DESIRED_HELD;
	return strstr(w->states, gone) ? DESIRED_GONE : DESIRED_SERVES;
}

static inline void world_open(struct world *w, const char *patch, const char *zone)
{
	json_t *document = fixture_json(DOCUMENT);
	json_t *p = fixture_json(patch);
	struct object_path path = {OBJECT_LB_ZONE, "shop", zone};

	memset(w, 0, sizeof(*w));
	fixture_merge(document, p);
	json_decref(p);
	w->s = fixture_snapshot(document);
	w->states = "";
	w->in.snapshot = w->s;
	w->in.place.lb = snapshot_find_lb(w->s, "shop");
	w->in.place.zone = (const struct lb_zone *)(void *)snapshot_find(w->s, &path);
	path = (struct object_path){OBJECT_LISTENER, "shop", "http"};
	w->in.place.listener = (const struct listener *)(void *)snapshot_find(w->s, &path);
	w->in.place.family = AF_INET;
	w->in.state = state_of;
	w->in.ctx = w;
	w->in.drained = drained_of;
	w->in.drained_ctx = w;
}

/* "1=100 2=0 …": the last byte of each address and its weight, in the table's order; then the verdict. */
static inline char *world_describe(struct world *w)
{
	struct plan_service service;
	struct desired_verdict v;
	char *text = mem_strdup("");
	char *longer;

	desired_build_service(&w->in, &service, &v);
	for (size_t i = 0; i < service.dest_count; i++) {
		const struct plan_dest *d = &service.dests[i];
		unsigned last = d->address.family == AF_INET ? d->address.bytes[3]
							     : d->address.bytes[15];

		last += d->address.family == AF_INET && d->address.bytes[2] == 1 ? 10 : 0;
		longer = mem_printf("%s%u=%u ", text, last, d->weight);
		free(text);
		text = longer;
	}
	longer = mem_printf("%s%u/%u%s", text, v.in_service, v.eligible, v.breached ? "!" : "");
	free(text);
	plan_service_clear(&service);
	return longer;
}

struct rule_case {
	const char *patch;
	const char *states;
	const char *expected;
};

static inline void judge(const struct rule_case *c, const char *zone)
{
	struct world w;
	char *seen;

	world_open(&w, c->patch, zone);
	w.states = c->states;
	seen = world_describe(&w);
	if (strcmp(seen, c->expected) != 0)
		fail_msg("%s with %s in %s\nexpected: %s\nfound:    %s", c->patch, c->states, zone,
			 c->expected, seen);
	free(seen);
	snapshot_unref(w.s);
}

#define JUDGE_ALL(cases, zone)                                          \
	for (size_t i = 0; i < sizeof(cases) / sizeof((cases)[0]); i++) \
	judge(&(cases)[i], zone)

#endif
