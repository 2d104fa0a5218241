// SPDX-License-Identifier: GPL-2.0-or-later
// Commands of a play that make time pass and things happen.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play.h"
#include "sim/sim_random.h"

/* advance DURATION */
static bool do_advance(struct play *p)
{
	usec_t d;

	if (!play_parse_duration(p, p->words[1], &d))
		return false;
	sim_world_run_to(&p->world, p->world.now + d);
	return true;
}

/* clock +3600s | -3600s: the wall clock alone */
static bool do_clock(struct play *p)
{
	usec_t d;

	if (!strchr("+-", p->words[1][0]) || !play_parse_duration(p, p->words[1] + 1, &d))
		return play_fault(p, "clock +DURATION or -DURATION");
	p->world.wall_offset += p->words[1][0] == '+' ? d : -d;
	return true;
}

/* probe ENDPOINT BEHAVIOUR [next]: from now on; with "next" a probe under way ends as it would have
 * probe ENDPOINT then BEHAVIOUR…: of the next probes, one after the other */
static bool do_probe(struct play *p)
{
	struct sim_endpoint at = {0};
	struct sim_behaviour b;
	bool once = strcmp(p->words[2], "then") == 0;
	size_t next = once ? 3 : 2;

	if (!play_parse_endpoint(p, p->words[1], &at.address, &at.port))
		return false;
	while (once && next < p->count) {
		if (!play_parse_behaviour(p, next, &b, &next))
			return false;
		sim_probes_set_once(&p->world.probes, &at, &b);
	}
	if (once)
		return true;
	if (!play_parse_behaviour(p, 2, &at.standing, &next))
		return false;
	sim_probes_set(&p->world.probes, &at,
		       next < p->count && strcmp(p->words[next], "next") == 0 ? SIM_NEXT_PROBE
									      : SIM_ALSO_RUNNING,
		       p->world.now);
	return true;
}

static struct sim_probe *find_probe(struct play *p, const struct addr *a, uint16_t port)
{
	for (size_t i = 0; i < p->world.probes.entries.count; i++) {
		struct sim_probe *probe = p->world.probes.entries.items[i];

		if (probe->target.port == port && addr_compare(&probe->target.address, a) == 0)
			return probe;
	}
	return NULL;
}

/* until-probe ENDPOINT: to the moment at which its next probe has just started */
static bool do_until_probe(struct play *p)
{
	struct addr a;
	uint16_t port;
	usec_t before;
	const struct sim_probe *probe;

	if (!play_parse_endpoint(p, p->words[1], &a, &port))
		return false;
	probe = find_probe(p, &a, port);
	if (!probe)
		return play_fault(p, "nobody probes %s", p->words[1]);
	before = probe->started;
	while (!probe->running || probe->started == before)
		sim_world_run_to(&p->world, probe->running ? probe->ends : probe->next_start);
	return true;
}

static bool check_up(struct play *p, bool up)
{
	if ((p->world.engine != NULL) != up)
		return play_fault(p, up ? "the daemon is down" : "the daemon runs already");
	return true;
}

static bool do_start(struct play *p)
{
	if (!check_up(p, false))
		return false;
	sim_world_start(&p->world);
	sim_world_run(&p->world);
	return true;
}

static bool do_stop(struct play *p)
{
	if (!check_up(p, true))
		return false;
	sim_world_stop(&p->world, SIM_STOP_KEEP);
	return true;
}

static bool do_flush(struct play *p)
{
	if (!check_up(p, true))
		return false;
	sim_world_stop(&p->world, SIM_STOP_FLUSH);
	return true;
}

static bool do_kill(struct play *p)
{
	struct play_write *w = play_last_write(p);

	if (!check_up(p, true))
		return false;
	sim_world_kill(&p->world);
	if (w && !w->judged)
		w->answered = w->judged = true; /* it was answered by the end */
	return true;
}

static bool do_restart(struct play *p)
{
	return do_stop(p) && do_start(p);
}

/* settings no-addresses|no-sysctls|sysctls|kernel-off|second-boot|third-boot|
 * descriptors N|audit DURATION|marks VALUE/MASK: before the start */
static bool do_settings(struct play *p)
{
	struct engine_settings *s = &p->world.settings;
	const char *word = p->words[1];

	if (!check_up(p, false))
		return false;
	if (strcmp(word, "no-addresses") == 0)
		s->manage_addresses = false;
	else if (strcmp(word, "no-sysctls") == 0)
		s->manage_sysctls = false;
	else if (strcmp(word, "sysctls") == 0)
		s->manage_sysctls = true;
	else if (strcmp(word, "kernel-off") == 0)
		s->kernel_off = true;
	else if (strcmp(word, "descriptors") == 0 && p->count > 2)
		p->world.probe_capacity = strtoul(p->words[2], NULL, 10);
	else if (strcmp(word, "second-boot") == 0)
		s->boot_id = "the second boot";
	else if (strcmp(word, "third-boot") == 0)
		s->boot_id = "the third boot";
	else if (strcmp(word, "audit") == 0 && p->count > 2)
		return play_parse_duration(p, p->words[2], &s->audit_interval);
	else if (strcmp(word, "marks") == 0 && p->count > 2)
		return marks_parse_space(p->words[2], &s->marks) ||
		       play_fault(p, "\"%s\" is no VALUE/MASK", p->words[2]);
	else
		return play_fault(p, "\"%s\" is no setting", word);
	return true;
}

/* ip-rule VALUE/MASK|none: the mark that a rule of routing looks at from now on */
static bool do_ip_rule(struct play *p)
{
	struct mark_space use = {0};
	bool read = strcmp(p->words[1], "none") == 0 ||
		    sscanf(p->words[1], "%x/%x", &use.value, &use.mask) == 2;

	p->world.mark_use = use;
	return read || play_fault(p, "\"%s\" is no VALUE/MASK", p->words[1]);
}

/* zones za|zb|all: what the node programs, from the next start on */
static bool do_zones(struct play *p)
{
	static const char *const names[] = {"za", "zb", "zc"};
	struct engine_settings *s = &p->world.settings;

	s->zone_count = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(p->words[1], names[i]) == 0)
			s->zones[s->zone_count++] = names[i];
	return s->zone_count || strcmp(p->words[1], "all") == 0
		       ? check_up(p, false)
		       : play_fault(p, "zones za, zb, zc or all");
}

/* store ok | store fail [TIMES] | store delay DURATION | store early */
static bool do_store(struct play *p)
{
	struct sim_store *s = &p->world.store;
	uint64_t times = SIM_FOREVER;

	if (strcmp(p->words[1], "delay") == 0 && p->count > 2)
		return play_parse_duration(p, p->words[2], &s->delay);
	if (strcmp(p->words[1], "early") == 0) {
		s->early = true;
		return true;
	}
	if (strcmp(p->words[1], "ok") == 0)
		times = 0;
	else if (strcmp(p->words[1], "fail") != 0)
		return play_fault(p, "store ok, fail, delay or early");
	if (p->count > 2 && !play_parse_number(p, p->words[2], &times))
		return false;
	s->fail_count = (uint32_t)times;
	return true;
}

/* What is counted and collected begins anew. */
static bool do_forget(struct play *p)
{
	sim_kernel_clear_counts(&p->world.kernel);
	sim_world_clear_events(&p->world);
	sim_world_clear_views(&p->world);
	p->world.store.batch_count = 0;
	p->world.probes.started = 0;
	return true;
}

static void on_table(void *ctx, const struct plan_table *t, int error)
{
	struct play *p = ctx;

	(void)t;
	p->asks--;
	p->ask_error = error;
	p->ask_answered = true;
}

/* ask: for the kernel's table, as the API does */
static bool do_ask(struct play *p)
{
	p->asks++;
	p->ask_answered = false;
	engine_request_table(p->world.engine, on_table, p);
	engine_settle(p->world.engine);
	sim_world_run(&p->world);
	return true;
}

static bool do_kernel(struct play *p)
{
	for (const struct play_command *c = play_kernel; c->name; c++) {
		if (strcmp(c->name, p->words[1]) != 0)
			continue;
		if (p->count < c->words)
			return play_fault(p, "kernel %s wants more words", c->name);
		return c->run(p);
	}
	return play_fault(p, "\"kernel %s\" is no command", p->words[1]);
}

static bool do_expect(struct play *p)
{
	return play_expect(p, 1);
}

/* after DURATION EXPECTATION: it does not hold 1 us before, and holds then */
static bool do_after(struct play *p)
{
	usec_t d;
	usec_t end;

	if (!play_parse_duration(p, p->words[1], &d) || d == 0)
		return play_fault(p, "after DURATION EXPECTATION");
	end = p->world.now + d;
	sim_world_run_to(&p->world, end - 1);
	if (play_expect(p, 2))
		return play_fault(p, "holds already 1 us before %s", p->words[1]);
	p->fault[0] = '\0';
	sim_world_run_to(&p->world, end);
	return play_expect(p, 2);
}

/* within DURATION EXPECTATION: comes to hold, looked at every millisecond */
static bool do_within(struct play *p)
{
	usec_t d;
	usec_t end;

	if (!play_parse_duration(p, p->words[1], &d))
		return false;
	for (end = p->world.now + d; !play_expect(p, 2); p->fault[0] = '\0') {
		if (p->world.now >= end)
			return false;
		sim_world_run_to(&p->world, p->world.now + USEC_PER_MS);
	}
	return true;
}

/* meanwhile DURATION EXPECTATION: holds now, at the end and at every millisecond between */
static bool do_meanwhile(struct play *p)
{
	usec_t d;
	usec_t end;

	if (!play_parse_duration(p, p->words[1], &d))
		return false;
	for (end = p->world.now + d; p->world.now < end;) {
		if (!play_expect(p, 2))
			return false;
		sim_world_run_to(&p->world, p->world.now + USEC_PER_MS);
	}
	return play_expect(p, 2);
}

/* random STEPS [SEED] [SECONDS] */
static bool do_random(struct play *p)
{
	struct sim_random_plan plan = {.steps = 0, .seed = 1, .seconds = 60};
	char why[PLAY_FAULT_MAX / 2];

	if (!play_parse_number(p, p->words[1], &plan.steps) ||
	    (p->count > 2 && !play_parse_number(p, p->words[2], &plan.seed)) ||
	    (p->count > 3 && !play_parse_number(p, p->words[3], &plan.seconds)))
		return false;
	if (sim_random_run(&plan, why, sizeof(why)))
		return true;
	return play_fault(p, "%s", why);
}

const struct play_command play_actions[] = {
	{"advance", 2, do_advance}, {"clock", 2, do_clock},
	{"probe", 3, do_probe},     {"until-probe", 2, do_until_probe},
	{"start", 1, do_start},     {"stop", 1, do_stop},
	{"flush", 1, do_flush},     {"kill", 1, do_kill},
	{"restart", 1, do_restart}, {"settings", 2, do_settings},
	{"ip-rule", 2, do_ip_rule}, {"zones", 2, do_zones},
	{"store", 2, do_store},     {"forget", 1, do_forget},
	{"ask", 1, do_ask},         {"kernel", 2, do_kernel},
	{"expect", 2, do_expect},   {"after", 3, do_after},
	{"within", 3, do_within},   {"meanwhile", 3, do_meanwhile},

	{"random", 2, do_random},   {NULL, 0, NULL},
};
