// SPDX-License-Identifier: GPL-2.0-or-later
// Every rule of a group, case by case: what the virtual service of a zone holds for given states of its servers.
#include "plan/desired.h"

#include <linux/ip_vs.h>

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

static void state_of(void *ctx, const struct server_group *g, size_t index,
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

static enum desired_drained drained_of(void *ctx, const struct desired_place *p,
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

static void world_open(struct world *w, const char *patch, const char *zone)
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
static char *world_describe(struct world *w)
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

static void judge(const struct rule_case *c, const char *zone)
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

static void weights_follow_states(void **state)
{
	static const struct rule_case cases[] = {
		{"{}", "", "1=0 2=0 3=0 4=0 0/3!"},
		{"{}", "w1=H w2=H w3=H w4=H", "1=100 2=50 3=10 4=0 3/3"},
		{"{}", "w1=H w2=U w3=I w4=H", "1=100 2=0 3=0 4=0 1/3"},
		{"{}", "w1=T w2=U", "1=100 2=0 3=0 4=0 1/3"},
		{WEB("'health_check':{'enabled':false}"), "w1=U", "1=100 2=50 3=10 4=0 3/3"},
		{WEB("'servers':{'w1':{'weight':0}}"), "w1=H w2=H", "1=0 2=50 3=0 4=0 1/2"},
		{WEB("'servers':{'w4':{'enabled':true,'weight':65535}}"), "w4=H",
		 "1=0 2=0 3=0 4=65535 1/4"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void scope_is_by_zone_and_family(void **state)
{
	static const struct rule_case za[] = {
		/* Cross-zone: those of enabled zones and those without one. */
		{"{'load_balancers':{'shop':{'zones':{'zb':{'enabled':false}}}}}", "w1=H w2=H w3=H",
		 "1=100 3=10 4=0 2/2"},
		{"{'load_balancers':{'shop':{'zones':{'zb':null}}}}", "w1=H w2=H w3=H",
		 "1=100 3=10 4=0 2/2"},
		/* Off: those of this zone; no server may be without one then. */
		{BOTH("'servers':{'w3':null,'w4':null}", "'cross_zone':false"), "w1=H w2=H",
		 "1=100 1/1"},
	};
	static const struct rule_case zb[] = {
		{BOTH("'servers':{'w3':null,'w4':null}", "'cross_zone':false"), "w1=H w2=H",
		 "2=50 1/1"},
		{BOTH("'servers':{'w2':null,'w3':null,'w4':null}", "'cross_zone':false"), "w1=H",
		 "0/0!"},
	};
	struct world w;
	char *seen;

	(void)state;
	JUDGE_ALL(za, "za");
	JUDGE_ALL(zb, "zb");

	world_open(&w, WEB("'servers':{'w6':{'address':'2001:db8:1::6','port':80}}"), "za");
	w.states = "w1=H w6=H";
	w.in.place.family = AF_INET6;
	seen = world_describe(&w);
	assert_string_equal(seen, "6=100 1/1");
	free(seen);
	snapshot_unref(w.s);
	/* A tunnel carries either family. */
	world_open(&w, WEB("'forward_method':'tunnel'"), "za");
	w.states = "w1=H";
	w.in.place.family = AF_INET6;
	seen = world_describe(&w);
	assert_string_equal(seen, "1=100 2=0 3=0 4=0 1/3");
	free(seen);
	snapshot_unref(w.s);
}

static void min_healthy_is_count_or_percent(void **state)
{
	static const struct rule_case cases[] = {
		{WEB(MIN(1, 0)), "w1=H", "1=100 2=0 3=0 4=0 1/3"},
		{WEB(MIN(2, 0)), "w1=H", "1=100 2=0 3=0 4=0 1/3!"},
		{WEB(MIN(0, 0)), "", "1=0 2=0 3=0 4=0 0/3"},
		/* Rounded up: 34 % of 3 are 2, 33 % are 1, 1 % is 1, 67 % are 3. */
		{WEB(MIN(0, 33)), "w1=H", "1=100 2=0 3=0 4=0 1/3"},
		{WEB(MIN(0, 34)), "w1=H", "1=100 2=0 3=0 4=0 1/3!"},
		{WEB(MIN(0, 1)), "", "1=0 2=0 3=0 4=0 0/3!"},
		{WEB(MIN(0, 66)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3"},
		{WEB(MIN(0, 67)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3!"},
		{WEB(MIN(0, 100)), "w1=H w2=H w3=H", "1=100 2=50 3=10 4=0 3/3"},
		/* Either one missed. */
		{WEB(MIN(3, 1)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3!"},
		{WEB(MIN(1, 100)), "w1=H w2=H", "1=100 2=50 3=0 4=0 2/3!"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void open_adds_the_unhealthy(void **state)
{
#define OPEN "'when_none_healthy':'open'"
	static const struct rule_case cases[] = {
		{WEB(OPEN), "w1=U w2=U w3=I w4=U", "1=100 2=50 3=0 4=0 0/3!"},
		{WEB(OPEN), "w1=U w2=H w3=I", "1=0 2=50 3=0 4=0 1/3"},
		{WEB(OPEN "," MIN(2, 0)), "w1=U w2=H w3=I", "1=100 2=50 3=0 4=0 1/3!"},
		{WEB(OPEN ",'servers':{'w1':{'weight':0}}"), "w1=U w2=U w3=U",
		 "1=0 2=50 3=10 4=0 0/2!"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void backup_adds_those_in_service(void **state)
{
#define BACKUP "'when_none_healthy':'backup','backup_group':'spare'"
	static const struct rule_case cases[] = {
		{WEB(BACKUP), "w1=H s1=H s2=H", "1=100 2=0 3=0 4=0 11=0 12=0 1/3"},
		{WEB(BACKUP), "w1=U s1=H s2=U", "1=0 2=0 3=0 4=0 11=7 12=0 0/3!"},
		{WEB(BACKUP), "w1=U s1=T s2=I", "1=0 2=0 3=0 4=0 11=7 12=0 0/3!"},
		/* They count in no threshold, and those in service keep their weight. */
		{WEB(BACKUP "," MIN(2, 0)), "w1=H s1=H s2=H", "1=100 2=0 3=0 4=0 11=7 12=8 1/3!"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void terminated_ones_leave(void **state)
{
#define CUT "'on_unhealthy':'terminate'"
	static const struct rule_case cases[] = {
		{WEB(CUT), "w1=H w2=U w3=I", "1=100 3=0 4=0 1/3"},
		/* Not when it serves for want of a better one. */
		{WEB(CUT "," OPEN), "w1=U w2=U w3=U", "1=100 2=50 3=10 4=0 0/3!"},
		{WEB(CUT ",'health_check':{'enabled':false}"), "w1=U", "1=100 2=50 3=10 4=0 3/3"},
		{BOTH("", HTTP("'scheduler':'dh'")), "w1=H w2=U w3=I", "1=100 1/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void slow_start_steps(void **state)
{
#define SLOW "'slow_start_ms':10000"
	static const struct rule_case cases[] = {
		/* One factor for all: 10 here. */
		{WEB(SLOW), "w1=H w2=H w3=H", "1=1000 2=500 3=100 4=0 3/3"},
		{WEB(SLOW), "w1=H w2=H w3=H1", "1=1000 2=500 3=10 4=0 3/3"},
		{WEB(SLOW), "w1=H5 w2=H w3=H9", "1=500 2=500 3=90 4=0 3/3"},
		/* The only one in service does not ramp. */
		{WEB(SLOW), "w1=H1 w2=U w3=U", "1=1000 2=0 3=0 4=0 1/3"},
		/* 65535 / 10000 = 6: no weight leaves its bounds, a step of a small weight is at least 1. */
		{WEB(SLOW ",'servers':{'w1':{'weight':10000},'w3':{'weight':1}}"),
		 "w1=H w2=H w3=H1", "1=60000 2=300 3=1 4=0 3/3"},
		{WEB(SLOW ",'servers':{'w1':{'weight':65535},'w3':{'weight':1}}"),
		 "w1=H5 w2=H w3=H", "1=32767 2=50 3=1 4=0 3/3"},
		/* Off: neither factor nor ramp. */
		{"{}", "w1=H1 w2=H w3=H", "1=100 2=50 3=10 4=0 3/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void sh_weights_are_reduced(void **state)
{
#define SH HTTP("'scheduler':'sh'")
	static const struct rule_case cases[] = {
		{BOTH("", SH), "w1=H w2=H w3=H", "1=10 2=5 3=1 4=0 3/3"},
		/* A dead one is in the sum still: no other is rewritten. */
		{BOTH("", SH), "w1=U w2=H w3=H", "1=0 2=5 3=1 4=0 2/3"},
		{BOTH("'servers':{'w1':{'weight':3000},'w2':{'weight':2999},'w3':{'weight':1}}",
		      SH),
		 "w1=H w2=H w3=H", "1=128 2=127 3=1 4=0 3/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void reduction_holds_256_slots(void **state)
{
	uint32_t weights[256];
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < 256; i++)
		weights[i] = i == 0 ? 65535 : 1;
	desired_reduce_sh(weights, 256);
	for (size_t i = 0; i < 256; i++) {
		assert_true(weights[i] >= 1);
		sum += weights[i];
	}
	assert_true(sum <= 256);

	uint32_t zero[] = {0, 0};
	desired_reduce_sh(zero, 2);
	assert_int_equal(zero[0] + zero[1], 0);
	uint32_t two[] = {0, 300};
	desired_reduce_sh(two, 2);
	assert_int_equal(two[1], 1);
	uint32_t coprime[] = {129, 128};
	desired_reduce_sh(coprime, 2);
	assert_true(coprime[0] + coprime[1] <= 256 && coprime[0] >= coprime[1] && coprime[1] > 120);
	desired_reduce_sh(NULL, 0);
}

static void drains_stay_at_weight_0(void **state)
{
	struct desired_drain drains[4] = {
		{.lb = "shop", .listener = "http", .family = AF_INET, .dest.port = 80},
		{.lb = "shop", .listener = "http", .family = AF_INET, .dest.port = 80},
		{.lb = "shop", .listener = "other", .family = AF_INET, .dest.port = 80},
		{.lb = "shop", .listener = "http", .family = AF_INET6, .dest.port = 80},
	};
	struct world w;
	char *seen;

	(void)state;
	world_open(&w, "{}", "za");
	w.states = "w1=H";
	addr_parse("10.0.0.9", &drains[0].dest.address);
	addr_parse("10.0.0.1",
		   &drains[1].dest.address); /* a member again: the member's weight holds */
	addr_parse("10.0.0.7", &drains[2].dest.address);
	addr_parse("10.0.0.8", &drains[3].dest.address);
	w.in.drains = drains;
	w.in.drain_count = 4;
	seen = world_describe(&w);
	assert_string_equal(seen, "1=100 2=0 3=0 4=0 9=0 1/3");
	free(seen);
	snapshot_unref(w.s);
}

static void evacuated_zones_get_nothing(void **state)
{
	struct world w;
	struct zone_count count;
	char *seen;

	(void)state;
	world_open(&w, WEB(OPEN "," MIN(2, 0)), "za");
	w.in.evacuated[0] = "zb";
	w.in.evacuated_count = 1;
	w.states = "w1=U w2=H w3=U";
	seen = world_describe(&w);
	/* Left out of the counts, and fail-open does not bring them back. */
	assert_string_equal(seen, "1=100 2=0 3=10 4=0 0/2!");
	free(seen);
	w.states = "w1=U w2=U w3=U";
	seen = world_describe(&w);
	assert_string_equal(seen, "1=100 2=0 3=10 4=0 0/2!");
	free(seen);
	w.states = "w1=H w2=H w3=I";
	desired_count_scope(&w.in, &count);
	assert_int_equal(count.eligible, 2);
	assert_int_equal(count.in_service, 1);
	assert_int_equal(count.initial, 1);
	snapshot_unref(w.s);
	/* In its own zone they go on. */
	world_open(&w, "{}", "zb");
	w.in.evacuated[0] = "zb";
	w.in.evacuated_count = 1;
	w.states = "w2=H";
	seen = world_describe(&w);
	assert_string_equal(seen, "1=0 2=50 3=0 4=0 1/3");
	free(seen);
	snapshot_unref(w.s);
}

static void build(const char *patch, uint8_t family, struct plan_service *ret_service)
{
	struct desired_verdict v;
	struct world w;

	world_open(&w, patch, "za");
	w.in.place.family = family;
	desired_build_service(&w.in, ret_service, &v);
	snapshot_unref(w.s);
}

/* At weight 0 until they leave; they count nowhere, and nothing brings them back. */
static void drained_by_hand_they_leave(void **state)
{
	static const struct rule_case cases[] = {
		{"{}", "w1=H:d w2=H w3=H", "1=0 2=50 3=10 4=0 2/2"},
		{"{}", "w1=H:g w2=H w3=H", "2=50 3=10 4=0 2/2"},
		{"{}", "w1=H:d w2=H:d w3=H:d", "1=0 2=0 3=0 4=0 0/0!"},
		{WEB("'when_none_healthy':'open'"), "w1=H:d w2=U w3=U", "1=0 2=50 3=10 4=0 0/2!"},
		{WEB("'when_none_healthy':'backup','backup_group':'spare'"),
		 "w1=H:d w2=H:d w3=H:d s1=H s2=H:d", "1=0 2=0 3=0 4=0 11=7 12=0 0/0!"},
		{HTTP_ONLY("'scheduler':'dh'"), "w1=H:d w2=H w3=H", "2=50 3=10 2/2"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

/* The override stands where the configured weight stood. */
static void weights_are_overridden(void **state)
{
	static const struct rule_case cases[] = {
		{"{}", "w1=H@7 w2=H w3=U@9", "1=7 2=50 3=0 4=0 2/3"},
		{"{}", "w1=H@0 w2=H w3=H", "1=0 2=50 3=10 4=0 2/2"},
		{WEB("'servers':{'w1':{'weight':0}}"), "w1=H@5 w2=H w3=H", "1=5 2=50 3=10 4=0 3/3"},
		{WEB("'slow_start_ms':10000"), "w1=H@7 w2=H3 w3=H", "1=70 2=150 3=100 4=0 3/3"},
		{WEB("'slow_start_ms':10000"), "w1=H@65535 w2=H w3=H", "1=65535 2=50 3=10 4=0 3/3"},
	};

	(void)state;
	JUDGE_ALL(cases, "za");
}

static void scopes_count_without_drained(void **state)
{
	struct zone_count count;
	struct world w;

	(void)state;
	world_open(&w, "{}", "za");
	w.states = "w1=H w2=H w3=H";
	desired_count_scope(&w.in, &count);
	assert_int_equal(count.eligible, 3);
	w.states = "w1=H:d w2=H:g w3=H@0";
	desired_count_scope(&w.in, &count);
	assert_int_equal(count.eligible, 0);
	snapshot_unref(w.s);
}

static void settings_reach_the_service(void **state)
{
	struct plan_service s;

	(void)state;
	build(BOTH("", HTTP("'scheduler':'wlc'")), AF_INET, &s);
	assert_string_equal(s.scheduler, "wlc");
	assert_int_equal(s.flags, 0);
	assert_int_equal(s.timeout, 0);
	assert_int_equal(s.netmask, 0xffffffff);
	assert_int_equal(s.key.port, 80);
	assert_int_equal(s.key.protocol, IPPROTO_TCP);
	plan_service_clear(&s);
	build(BOTH("", HTTP("'persistence_s':60,'persistence_netmask':'255.255.255.0',"
			    "'persistence_prefix':64")),
	      AF_INET, &s);
	assert_int_equal(s.flags, IP_VS_SVC_F_PERSISTENT);
	assert_int_equal(s.timeout, 60);
	assert_int_equal(s.netmask, htonl(0xffffff00));
	plan_service_clear(&s);
	build(BOTH("", HTTP("'persistence_s':60,'persistence_prefix':64")), AF_INET6, &s);
	assert_int_equal(s.netmask, 64);
	assert_int_equal(s.key.family, AF_INET6);
	plan_service_clear(&s);
	build(BOTH("", HTTP("'scheduler':'sh'")), AF_INET, &s);
	assert_int_equal(s.flags, IP_VS_SVC_F_SCHED_SH_FALLBACK);
	plan_service_clear(&s);
	build(BOTH("", HTTP("'scheduler':'mh','scheduler_flags':['mh-fallback','mh-port']")),
	      AF_INET, &s);
	assert_int_equal(s.flags, IP_VS_SVC_F_SCHED1 | IP_VS_SVC_F_SCHED2);
	plan_service_clear(&s);
}

static void entries_carry_method_port_and_thresholds(void **state)
{
	static const struct {
		const char *patch;
		uint8_t forward;
		uint8_t tunnel;
		uint16_t tunnel_port;
		uint16_t tunnel_flags;
	} cases[] = {
		{"{}", IP_VS_CONN_F_MASQ, 0, 0, 0},
		{WEB("'forward_method':'direct'"), IP_VS_CONN_F_DROUTE, 0, 0, 0},
		{WEB("'forward_method':'tunnel'"), IP_VS_CONN_F_TUNNEL,
		 IP_VS_CONN_F_TUNNEL_TYPE_IPIP, 0, IP_VS_TUNNEL_ENCAP_FLAG_NOCSUM},
		{WEB("'forward_method':'tunnel','tunnel':{'type':'gue','port':5555,"
		     "'checksum':'remcsum'}"),
		 IP_VS_CONN_F_TUNNEL, IP_VS_CONN_F_TUNNEL_TYPE_GUE, 5555,
		 IP_VS_TUNNEL_ENCAP_FLAG_REMCSUM},
		{WEB("'forward_method':'tunnel','tunnel':{'type':'gre','checksum':'csum'}"),
		 IP_VS_CONN_F_TUNNEL, IP_VS_CONN_F_TUNNEL_TYPE_GRE, 0,
		 IP_VS_TUNNEL_ENCAP_FLAG_CSUM},
		/* A server's own method. */
		{WEB("'servers':{'w1':{'forward_method':'direct'}}"), IP_VS_CONN_F_DROUTE, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plan_service s;

		build(cases[i].patch, AF_INET, &s);
		assert_int_equal(s.dests[0].forward, cases[i].forward);
		assert_int_equal(s.dests[0].tunnel_type, cases[i].tunnel);
		assert_int_equal(s.dests[0].tunnel_port, cases[i].tunnel_port);
		assert_int_equal(s.dests[0].tunnel_flags, cases[i].tunnel_flags);
		plan_service_clear(&s);
	}

	struct plan_service s;

	build(BOTH("'health_check':{'port':8080},'servers':{'w1':{'port':0,'max_connections':{"
		   "'upper':20,'lower':10}}}",
		   HTTP("'port':8000")),
	      AF_INET, &s);
	assert_int_equal(s.dests[0].port, 8000);
	assert_int_equal(s.dests[0].upper, 20);
	assert_int_equal(s.dests[0].lower, 10);
	assert_int_equal(s.dests[1].port, 80);
	plan_service_clear(&s);
}

static void a_place_without_vip_has_no_key(void **state)
{
	struct plan_key key;
	struct world w;

	(void)state;
	world_open(&w, "{}", "zb");
	assert_true(desired_place_key(&w.in.place, &key));
	w.in.place.family = AF_INET6;
	assert_false(desired_place_key(&w.in.place, &key));
	snapshot_unref(w.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_follow_states),
		cmocka_unit_test(scope_is_by_zone_and_family),
		cmocka_unit_test(min_healthy_is_count_or_percent),
		cmocka_unit_test(open_adds_the_unhealthy),
		cmocka_unit_test(backup_adds_those_in_service),
		cmocka_unit_test(terminated_ones_leave),
		cmocka_unit_test(slow_start_steps),
		cmocka_unit_test(sh_weights_are_reduced),
		cmocka_unit_test(reduction_holds_256_slots),
		cmocka_unit_test(drains_stay_at_weight_0),
		cmocka_unit_test(evacuated_zones_get_nothing),
		cmocka_unit_test(drained_by_hand_they_leave),
		cmocka_unit_test(weights_are_overridden),
		cmocka_unit_test(scopes_count_without_drained),
		cmocka_unit_test(settings_reach_the_service),
		cmocka_unit_test(entries_carry_method_port_and_thresholds),
		cmocka_unit_test(a_place_without_vip_has_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
