// SPDX-License-Identifier: GPL-2.0-or-later
// Modules of the kernel that the configuration needs, and only these: schedulers and persistence engines, and what stands before IPVS.
#include "plan/doctor_rules.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/scheduler.h"

/* ---- of IPVS ---- */

struct module_need {
	char *module;
	/* The first listener that needs it. */
	const struct load_balancer *lb;
	const struct listener *listener;
	bool scheduler;
};

static void need(struct vec *needs, const char *prefix, const char *name,
		 const struct load_balancer *lb, const struct listener *l)
{
	char *module = mem_printf("%s%s", prefix, name);
	struct module_need *n;

	for (size_t i = 0; i < needs->count; i++) {
		if (strcmp(((struct module_need *)needs->items[i])->module, module) == 0) {
			free(module);
			return;
		}
	}
	n = mem_new(struct module_need);
	*n = (struct module_need){module, lb, l, strcmp(prefix, "ip_vs_") == 0};
	vec_push(needs, n);
}

static bool need_of_listener(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	need(ctx, "ip_vs_", l->scheduler, lb, l);
	if (l->persistence_engine == ENGINE_SIP)
		need(ctx, "ip_vs_pe_", "sip", lb, l);
	return false;
}

static bool module_is_there(const struct doctor_case *c, const struct module_need *n)
{
	return doctor_has_module(c->facts, n->module) ||
	       (n->scheduler &&
		doctor_has_name(&c->node->schedulers, n->module + strlen("ip_vs_")));
}

static const char cannot_be_programmed[] =
	"the listener cannot be programmed: its clients are refused, or go as they went before";

/* No module of Linux brings it. */
static void report_unknown(const struct doctor_case *c, const struct module_need *n,
			   enum doctor_severity severity, const char *object)
{
	const char *name = n->listener->scheduler, *nearest = scheduler_nearest(name);
	char hint[SCHEDULER_HINT_MAX];
	struct doctor_finding *f = doctor_add(c, severity, "scheduler_unknown", object);

	f->what = mem_printf("Linux itself has no scheduler \"%s\"%s", name,
			     scheduler_hint(name, hint));
	f->why = mem_strdup(cannot_be_programmed);
	f->mend = nearest ? mem_printf("zonegate listener set %s/%s scheduler=%s", n->lb->o.name,
				       n->listener->o.name, nearest)
			  : mem_printf("modprobe %s  # if it is of a module that is not of Linux",
				       n->module);
}

static void report_module(const struct doctor_case *c, const struct module_need *n)
{
	const bool lists = c->facts->modules_error == 0 && c->facts->builtin_error == 0;
	const bool sure = lists || (n->scheduler && c->node->table_error == 0);
	AUTO_FREE char *object = mem_printf("/load_balancers/%s/listeners/%s", n->lb->o.name,
					    n->listener->o.name);
	struct doctor_finding *f;

	if (n->scheduler && !scheduler_is_of_linux(n->listener->scheduler)) {
		report_unknown(c, n, sure ? DOCTOR_ERROR : DOCTOR_INFO, object);
		return;
	}
	if (sure) {
		f = doctor_add(c, DOCTOR_ERROR, "module_missing", object);
		f->what = mem_printf("the module %s is not in the kernel", n->module);
		f->why = mem_strdup(cannot_be_programmed);
	} else {
		f = doctor_add(c, DOCTOR_INFO, "module_unseen", object);
		f->what = mem_printf("whether %s is in the kernel cannot be seen", n->module);
		f->why = mem_strdup(
			"it is not loaded as a module, and what is built in cannot be read (/lib/modules)");
	}
	f->mend = mem_printf("modprobe %s", n->module);
}

static void judge_ipvs_modules(const struct doctor_case *c)
{
	struct vec needs = {0};

	doctor_uses_walk(c->node, need_of_listener, &needs);
	for (size_t i = 0; i < needs.count; i++) {
		struct module_need *n = needs.items[i];

		if (!module_is_there(c, n))
			report_module(c, n);
		free(n->module);
		free(n);
	}
	vec_clear(&needs);
}

/* ---- before IPVS ---- */

enum want {
	WANT_GUARD = 1, /* its rules refuse, too, whatever a load balancer wants */
	WANT_LIST = 2,
	WANT_RANGE = 4,
	WANT_LIMIT = 8,
	WANT_CEILING = 16,
	WANT_FLOWS = 32, /* first packets of UDP are told apart */
	WANT_SNAT = 64,
	WANT_SCTP_RANGE = 128,
	WANT_FILTER = WANT_GUARD | WANT_LIST | WANT_RANGE | WANT_LIMIT | WANT_CEILING,
	WANT_ANY = WANT_FILTER | WANT_SNAT,
};

#define LEGACY_ANY UINT8_MAX

static const struct {
	const char *name;
	unsigned wants;
	uint8_t legacy; /* the address family in which that backend alone needs it; 0 = both backends do */
} filter_modules[] = {
	{"ip_set", WANT_ANY, 0},
	{"ip_set_hash_ip", WANT_GUARD | WANT_RANGE | WANT_SNAT, 0},
	{"ip_set_hash_ipport", WANT_ANY, 0},
	{"ip_set_hash_ipportip", WANT_LIST, 0},
	{"ip_set_hash_net", WANT_LIST, 0},
	{"xt_set", WANT_ANY, 0},
	{"xt_mark", WANT_RANGE, 0},
	{"xt_multiport", WANT_SCTP_RANGE, 0},
	{"xt_hashlimit", WANT_LIMIT, 0},
	{"xt_connlimit", WANT_CEILING, 0},
	{"xt_conntrack", WANT_FLOWS, 0},
	{"xt_ipvs", WANT_SNAT, 0},
	{"xt_MASQUERADE", WANT_SNAT, 0},
	{"xt_tcpudp", WANT_GUARD | WANT_RANGE | WANT_LIMIT | WANT_CEILING, LEGACY_ANY},
	{"ipt_REJECT", WANT_GUARD, AF_INET},
	{"ip6t_REJECT", WANT_GUARD, AF_INET6},
	{"iptable_filter", WANT_FILTER, AF_INET},
	{"ip6table_filter", WANT_FILTER, AF_INET6},
	{"iptable_nat", WANT_SNAT, AF_INET},
	{"ip6table_nat", WANT_SNAT, AF_INET6},
};

static bool want_of_listener(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	unsigned *wants = ctx;

	*wants |= (lb->vip_guard != VIP_GUARD_OFF ? WANT_GUARD : 0U) |
		  (lb->snat != SNAT_OFF ? WANT_SNAT : 0U) | (l->access_list ? WANT_LIST : 0U) |
		  (l->ports.to ? WANT_RANGE : 0U) | (l->rate_limit ? WANT_LIMIT : 0U) |
		  (l->max_connections ? WANT_CEILING : 0U);
	if (l->protocol == PROTOCOL_UDP && (l->rate_limit || l->max_connections))
		*wants |= WANT_FLOWS;
	if (l->protocol == PROTOCOL_SCTP && l->ports.to)
		*wants |= WANT_SCTP_RANGE;
	return false;
}

/* What went wrong can be for want of a module. */
static bool may_want_modules(int error)
{
	return error == -EINVAL || error == -EPROTONOSUPPORT || error == -EOPNOTSUPP ||
	       error == -EPROTO || error == -ENOENT;
}

static bool has_family(const struct doctor_uses *u, uint8_t family)
{
	for (size_t i = 0; i < u->vip_count; i++)
		if (family == LEGACY_ANY || u->vips[i].family == family)
			return true;
	return false;
}

static bool is_missing(const struct doctor_case *c, size_t i, unsigned wants, bool nft)
{
	const char *name = filter_modules[i].name;
	uint8_t legacy = filter_modules[i].legacy;

	return filter_modules[i].wants & wants &&
	       (!legacy || (!nft && has_family(c->uses, legacy))) &&
	       !doctor_has_module(c->facts, name);
}

/* Rules that were set have all that they need; so it is asked only before, and when they could not be. */
static void judge_filter_modules(const struct doctor_case *c)
{
	const struct doctor_node *n = c->node;
	const struct doctor_facts *facts = c->facts;
	bool nft = strcmp(doctor_backend_of(n, RULESET_V4), "nft") == 0;
	AUTO_BUF struct buf_writer names = {0};
	unsigned wants = 0;
	struct doctor_finding *f;

	if (facts->modules_error || !facts->iptables[0] ||
	    (n->guard_fault ? !may_want_modules(n->guard_error) : *n->backends[RULESET_V4]))
		return;
	doctor_uses_walk(n, want_of_listener, &wants);
	nft = nft || (!*n->backends[RULESET_V4] && doctor_has_name(&facts->modules, "nf_tables"));
	buf_writer_init(&names, 1024);
	for (size_t i = 0; i < sizeof(filter_modules) / sizeof(filter_modules[0]); i++)
		if (is_missing(c, i, wants, nft))
			buf_write_format(&names, " %s", filter_modules[i].name);
	if (!names.size)
		return;
	f = doctor_add(c,
		       facts->builtin_error ? DOCTOR_INFO
		       : n->guard_fault     ? DOCTOR_ERROR
					    : DOCTOR_WARNING,
		       "netfilter_modules_missing", "");
	f->what = mem_printf("modules that the configuration needs before IPVS are not loaded%s:%s",
			     facts->builtin_error ? ", unless they are built in (/lib/modules "
						    "cannot be read)"
						  : "",
			     buf_text(&names));
	f->why = mem_strdup(
		"a kernel that does not load them by itself refuses the sets and rules of "
		"guards, access lists, ranges, limits and snat");
	f->mend = mem_printf("modprobe -a%s", buf_text(&names));
}

void doctor_modules_judge(const struct doctor_case *c)
{
	if (!c->node->kernel_error)
		judge_ipvs_modules(c);
	judge_filter_modules(c);
}
