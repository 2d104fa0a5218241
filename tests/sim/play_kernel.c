// SPDX-License-Identifier: GPL-2.0-or-later
// What others do to the kernel of a play, and what it is made to do.
#include <errno.h>
#include <linux/ip_vs.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play.h"

static bool edit(struct play *p, const struct plan_op *op)
{
	int result = sim_kernel_edit(&p->world.kernel, op);

	if (result)
		return play_fault(p, "the kernel refuses it: %s", strerror(-result));
	return true;
}

/* kernel service KEY SCHEDULER */
static bool do_service(struct play *p)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};

	if (!play_parse_key(p, p->words[2], &op.service.key))
		return false;
	strncpy(op.service.scheduler, p->words[3], sizeof(op.service.scheduler) - 1);
	op.service.netmask = op.service.key.family == AF_INET ? UINT32_MAX : 128;
	return edit(p, &op);
}

/* kernel dest KEY ENDPOINT WEIGHT: adds or edits */
static bool do_dest(struct play *p)
{
	struct plan_op op = {.kind = PLAN_ADD_DEST, .dest.forward = IP_VS_CONN_F_MASQ};
	const struct plan_service *s;
	uint64_t weight;

	if (!play_parse_key(p, p->words[2], &op.service.key) ||
	    !play_parse_endpoint(p, p->words[3], &op.dest.address, &op.dest.port) ||
	    !play_parse_number(p, p->words[4], &weight))
		return false;
	op.dest.weight = (uint32_t)weight;
	s = plan_table_find(&p->world.kernel.table, &op.service.key);
	if (s && plan_service_find(s, &op.dest.address, op.dest.port))
		op.kind = PLAN_EDIT_DEST;
	return edit(p, &op);
}

/* kernel delete KEY [ENDPOINT] */
static bool do_delete(struct play *p)
{
	struct plan_op op = {.kind = PLAN_DELETE_SERVICE};

	if (!play_parse_key(p, p->words[2], &op.service.key))
		return false;
	if (p->count > 3) {
		op.kind = PLAN_DELETE_DEST;
		if (!play_parse_endpoint(p, p->words[3], &op.dest.address, &op.dest.port))
			return false;
	}
	return edit(p, &op);
}

static bool do_clear(struct play *p)
{
	sim_kernel_empty(&p->world.kernel);
	return true;
}

/* kernel load|unload */
static bool do_load(struct play *p)
{
	sim_kernel_load(&p->world.kernel, strcmp(p->words[1], "load") == 0);
	sim_world_run(&p->world);
	return true;
}

/* kernel delay DURATION: of all but lists that are filled */
static bool do_delay(struct play *p)
{
	if (!play_parse_duration(p, p->words[2], &p->world.kernel.delay))
		return false;
	p->world.kernel.guard_delay = p->world.kernel.delay;
	return true;
}

/* kernel guard-delay DURATION: of sets and rules alone */
static bool do_guard_delay(struct play *p)
{
	return play_parse_duration(p, p->words[2], &p->world.kernel.guard_delay);
}

/* kernel fill-delay DURATION: of lists that are filled */
static bool do_fill_delay(struct play *p)
{
	return play_parse_duration(p, p->words[2], &p->world.kernel.fill_delay);
}

/* kernel fail KIND ERRNO [TIMES] | kernel fail nothing */
static bool do_fail(struct play *p)
{
	struct sim_kernel *k = &p->world.kernel;
	enum plan_op_kind kind;
	uint64_t times = SIM_FOREVER;

	if (strcmp(p->words[2], "nothing") == 0) {
		memset(k->fail_count, 0, sizeof(k->fail_count));
		k->lose_count = k->dump_errors = 0;
		return true;
	}
	if (p->count < 4 || !play_parse_op_kind(p, p->words[2], &kind) ||
	    !play_parse_errno(p, p->words[3], &k->fail_error[kind]))
		return play_fault(p, "kernel fail KIND ERRNO [TIMES]");
	if (p->count > 4 && !play_parse_number(p, p->words[4], &times))
		return false;
	k->fail_count[kind] = (uint32_t)times;
	return true;
}

/* kernel lose N: operations are done, their answers get lost */
static bool do_lose(struct play *p)
{
	uint64_t n;

	if (!play_parse_number(p, p->words[2], &n))
		return false;
	p->world.kernel.lose_count = (uint32_t)n;
	return true;
}

/* kernel lose-dumps N */
static bool do_lose_dumps(struct play *p)
{
	uint64_t n;

	if (!play_parse_number(p, p->words[2], &n))
		return false;
	p->world.kernel.dump_errors = (uint32_t)n;
	return true;
}

/* kernel address add|remove ADDRESS */
static bool do_address(struct play *p)
{
	struct addr a;

	if (!play_parse_address(p, p->words[3], &a))
		return false;
	sim_kernel_set_address(&p->world.kernel, &a, strcmp(p->words[2], "add") == 0);
	return true;
}

/* kernel device gone|back: the VIP device, and with it its addresses */
static bool do_device(struct play *p)
{
	struct sim_kernel *k = &p->world.kernel;
	bool back = strcmp(p->words[2], "back") == 0;

	while (!back && k->addresses.count)
		sim_kernel_set_address(k, k->addresses.items[0], false);
	k->fail_error[PLAN_ADD_ADDRESS] = ENODEV;
	k->fail_count[PLAN_ADD_ADDRESS] = back ? 0 : SIM_FOREVER;
	engine_note_device(p->world.engine, back ? 0 : -ENODEV, "there is no VIP device");
	sim_world_run(&p->world);
	return true;
}

/* kernel sysctl NAME VALUE */
static bool do_sysctl(struct play *p)
{
	int *at = sim_kernel_find_sysctl(&p->world.kernel, p->words[2]);
	uint64_t value;

	if (!at || !play_parse_number(p, p->words[3], &value))
		return play_fault(p, "no such sysctl");
	*at = (int)value;
	return true;
}

/* kernel timeouts TCP TCP_FIN UDP */
static bool do_timeouts(struct play *p)
{
	for (size_t i = 0; i < PLAN_TIMEOUTS; i++) {
		uint64_t value;

		if (!play_parse_number(p, p->words[2 + i], &value))
			return false;
		p->world.kernel.table.timeouts.s[i] = (uint32_t)value;
	}
	return true;
}

/* kernel flows KEY ENDPOINT COUNT */
static bool do_flows(struct play *p)
{
	struct sim_flows f = {0};
	uint64_t count;

	if (!play_parse_key(p, p->words[2], &f.key) ||
	    !play_parse_endpoint(p, p->words[3], &f.address, &f.port) ||
	    !play_parse_number(p, p->words[4], &count))
		return false;
	f.count = (uint32_t)count;
	sim_kernel_set_flows(&p->world.kernel, &f);
	return true;
}

/* kernel ruleset lost|wrong|blind|seen: somebody removed all of it; another rule is in the chains; looks fail; or no longer */
static bool do_ruleset(struct play *p)
{
	struct sim_kernel *k = &p->world.kernel;

	if (strcmp(p->words[2], "lost") == 0)
		ruleset_clear(&k->ruleset);
	else if (strcmp(p->words[2], "wrong") == 0)
		for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
			ruleset_set_rules(&k->ruleset, f, RULESET_FILTER, RULES_STRANGE);
	else
		k->blind = strcmp(p->words[2], "blind") == 0;
	return true;
}

/* kernel entry add|remove SET WHAT, as in "expect entry" */
static bool do_entry(struct play *p)
{
	bool adds = strcmp(p->words[2], "add") == 0;
	struct plan_op op = {.kind = adds ? PLAN_ADD_ENTRY : PLAN_DELETE_ENTRY};

	if (!play_parse_entry(p, 3, &op.entry))
		return false;
	return edit(p, &op);
}

/* kernel dropped SET WHAT COUNT: so many more packets met the entry */
static bool do_dropped(struct play *p)
{
	struct ruleset *r = &p->world.kernel.ruleset;
	struct ruleset_entry e;
	uint64_t count;

	if (!play_parse_entry(p, 2, &e) || !play_parse_number(p, p->words[4], &count))
		return false;
	for (size_t i = 0; i < r->count; i++) {
		if (ruleset_compare_entries(&r->entries[i], &e) != 0)
			continue;
		r->entries[i].packets += count;
		return true;
	}
	return play_fault(p, "there is no such entry");
}

/* kernel network NETWORK|none: the only one that the host is on */
static bool do_network(struct play *p)
{
	struct model_prefix n = {0};
	bool any = strcmp(p->words[2], "none") != 0;

	if (any && addr_parse_prefix(p->words[2], &n.net, &n.length))
		return play_fault(p, "no such network");
	engine_note_networks(p->world.engine, &n, any);
	engine_settle(p->world.engine);
	sim_world_run(&p->world);
	return true;
}

const struct play_command play_kernel[] = {
	{"network", 3, do_network},
	{"ruleset", 3, do_ruleset},
	{"entry", 5, do_entry},
	{"dropped", 5, do_dropped},
	{"service", 4, do_service},
	{"dest", 5, do_dest},
	{"delete", 3, do_delete},
	{"clear", 2, do_clear},
	{"load", 2, do_load},
	{"unload", 2, do_load},
	{"delay", 3, do_delay},
	{"guard-delay", 3, do_guard_delay},
	{"fill-delay", 3, do_fill_delay},
	{"fail", 3, do_fail},
	{"lose", 3, do_lose},
	{"address", 4, do_address},
	{"sysctl", 4, do_sysctl},
	{"flows", 5, do_flows},
	{"lose-dumps", 3, do_lose_dumps},
	{"device", 3, do_device},
	{"timeouts", 5, do_timeouts},
	{NULL, 0, NULL},
};
