// SPDX-License-Identifier: GPL-2.0-or-later
// Others on this host and its links who want the same: programs that manage IPVS, machines that answer for a VIP, and who rules
// netfilter.
#include "plan/doctor_rules.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define INTRUDERS_SHOWN 10
#define KUBE_DEVICE     "kube-ipvs0"

static void judge_intruders(const struct doctor_case *c)
{
	const struct vec *all = &c->node->intruders;
	char text[PLAN_KEY_TEXT_MAX];

	for (size_t i = 0; i < all->count && i < INTRUDERS_SHOWN; i++) {
		const struct plan_key *k = all->items[i];
		const char *name = plan_key_format(k, text);
		struct doctor_finding *f = doctor_add(c, DOCTOR_WARNING, "service_of_others", name);

		f->what = mem_printf(
			"another program made the service %s on a VIP of ours (%zu such)", name,
			all->count);
		f->why = mem_strdup(
			"services of our VIPs are ours: it is removed, and if its program makes it again the "
			"two fight for ever");
		f->mend = mem_strdup("zonegate kernel reconcile  # and stop that program");
	}
}

static void judge_foreign(const struct doctor_case *c)
{
	struct doctor_finding *f;

	if (!c->node->foreign)
		return;
	f = doctor_add(c, DOCTOR_INFO, "services_foreign", "");
	f->what = mem_printf("%zu service%s to other programs", c->node->foreign,
			     TEXT_FORM(c->node->foreign, " of IPVS belongs", "s of IPVS belong"));
	f->why = mem_strdup(
		"they are never touched; but sysctls below net.ipv4.vs hold for them, too");
	f->mend = mem_strdup("zonegate kernel show --foreign");
}

static const struct doctor_link *kube_device(const struct doctor_facts *f)
{
	for (size_t i = 0; i < f->link_count; i++)
		if (strcmp(f->links[i].name, KUBE_DEVICE) == 0)
			return &f->links[i];
	return NULL;
}

static void judge_kube(const struct doctor_case *c)
{
	struct doctor_finding *f;

	if (!kube_device(c->facts))
		return;
	f = doctor_add(c, DOCTOR_WARNING, "kube_proxy", KUBE_DEVICE);
	f->what = mem_strdup("kube-proxy runs here in its IPVS mode (device " KUBE_DEVICE ")");
	f->why = mem_strdup(
		"it removes every service of IPVS that it does not know, ours too, unless their addresses are "
		"excluded (ipvs.excludeCIDRs)");
	f->mend = mem_strdup("kubectl -n kube-system edit configmap kube-proxy");
}

static void judge_processes(const struct doctor_case *c)
{
	const struct vec *all = &c->facts->processes;
	bool others = c->node->foreign || c->node->intruders.count;

	if (c->facts->processes_error)
		doctor_add_text(
			c, DOCTOR_INFO, "processes_unseen", "other users' processes cannot be seen",
			"whether keepalived or another program manages IPVS, too, is not known");
	for (size_t i = 0; i < all->count; i++) {
		const char *name = all->items[i];
		struct doctor_finding *f;

		if (strcmp(name, "kube-proxy") == 0) /* in its IPVS mode it has the device */
			continue;
		f = doctor_add(c, others ? DOCTOR_WARNING : DOCTOR_INFO, "rival_process", name);
		f->what = mem_printf("%s runs here", name);
		f->why = mem_strdup(
			others ? "the table holds services that are not ours: two programs on the same VIP undo each other"
			       : "it can program IPVS, too; as long as it does not name our VIPs, both may run");
		f->mend = others ? mem_printf("systemctl stop %s", name)
				 : mem_strdup("zonegate kernel show --foreign");
	}
}

/* Ours, but another machine says that it has it. */
static void judge_neighbours(const struct doctor_case *c)
{
	if (c->facts->neighbours_error)
		doctor_add_text(c, DOCTOR_INFO, "neighbours_unseen",
				"the neighbour table cannot be read",
				"whether another machine answers for a VIP is not known");
	for (size_t i = 0; i < c->facts->neighbour_count; i++) {
		const struct doctor_neighbour *n = &c->facts->neighbours[i];
		const struct doctor_link *l = doctor_find_link(c->facts, n->link);
		char vip[ADDR_TEXT_MAX];
		struct doctor_finding *f = doctor_add(c, DOCTOR_WARNING, "vip_answered_elsewhere",
						      addr_format(&n->address, vip));

		f->where = DOCTOR_SERVERS;
		f->what = mem_printf("%s answers for the VIP %s on %s", n->mac, vip,
				     l ? l->name : "a link");
		f->why = mem_strdup(
			"clients of that link go there and not to this gateway: a server with the VIP answers "
			"ARP for it, or another host has the address");
		f->mend = mem_strdup(
			"sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2");
	}
}

/* The command that mends what was told of it. */
static const char *guard_mend(int error)
{
	switch (-error) {
	case ENOENT:
		return "apt-get install iptables";
	case EOPNOTSUPP:
		return "modprobe -a ip_tables iptable_filter ip6table_filter  # or: modprobe -a nf_tables nft_compat";
	case EACCES:
		return "systemd-tmpfiles --create zonegate.conf";
	case EPERM:
		return "systemctl restart zonegate";
	case EBUSY:
	case ETIMEDOUT:
		return "fuser -v /run/xtables.lock";
	case EINVAL:
	case EPROTONOSUPPORT:
		return "modprobe -a ip_set ip_set_hash_ip ip_set_hash_ipport ip_set_hash_ipportip ip_set_hash_net";
	default:
		return "journalctl -u zonegate";
	}
}

/* What should stand before the VIPs could not be put there: that of the daemon itself, not a guess from what is installed. */
static void judge_guard_fault(const struct doctor_case *c)
{
	struct doctor_finding *f;

	if (!c->node->guard_fault)
		return;
	f = doctor_add(c, DOCTOR_ERROR, "netfilter_not_in_force", "");
	f->what = mem_printf("sets or rules before the VIPs are not as they should be: %s",
			     c->node->guard_fault);
	f->why = mem_strdup(
		"until they are, a vip_guard, an access list or a limit that is new lets everybody in, and a listener "
		"with a range of ports that is new gets no packets; the status of its load balancer names it");
	f->mend = mem_strdup(guard_mend(c->node->guard_error));
}

/* The guard is in the document, and nothing can set its rules. */
static void judge_guard(const struct doctor_case *c)
{
	const struct snapshot *s = c->node->snapshot;

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		char *object AUTO_FREE = mem_printf("/load_balancers/%s", lb->o.name);
		struct doctor_finding *f;

		if (!lb->enabled || lb->vip_guard == VIP_GUARD_OFF || c->facts->iptables[0] ||
		    c->node->kernel_off)
			continue;
		f = doctor_add(c, DOCTOR_ERROR, "guard_without_iptables", object);
		f->what = mem_printf("%s has a vip_guard, and there is no iptables on this host",
				     lb->o.name);
		f->why = mem_strdup("ports of the gateway, as that of sshd, are open on its VIPs");
		f->mend = mem_strdup("apt-get install iptables");
		return;
	}
}

static bool has_range(const struct load_balancer *lb)
{
	for (size_t i = 0; i < lb->listeners.count; i++)
		if (((const struct listener *)lb->listeners.items[i])->ports.to)
			return true;
	return false;
}

/* Nothing marks the packets that are to find a listener by their mark. */
static void judge_ranges(const struct doctor_case *c)
{
	const struct snapshot *s = c->node->snapshot;

	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];
		char *object AUTO_FREE = mem_printf("/load_balancers/%s", lb->o.name);
		struct doctor_finding *f;

		if (!lb->enabled || !has_range(lb) || c->facts->iptables[0] || c->node->kernel_off)
			continue;
		f = doctor_add(c, DOCTOR_ERROR, "range_without_iptables", object);
		f->what = mem_printf(
			"%s has a listener with a range of ports, and there is no iptables on this host",
			lb->o.name);
		f->why = mem_strdup(
			"nothing sets the firewall mark of its packets: they are refused");
		f->mend = mem_strdup("apt-get install iptables");
		return;
	}
}

static void judge_iptables(const struct doctor_case *c)
{
	const char *backend = c->facts->iptables;
	bool legacy_rules = doctor_has_name(&c->facts->modules, "iptable_filter") ||
			    doctor_has_name(&c->facts->modules, "iptable_nat");
	struct doctor_finding *f;

	f = doctor_add(c, DOCTOR_INFO, "iptables_backend", "");
	f->what = *backend
			  ? mem_printf("the program iptables is that of the %s backend here",
				       backend)
			  : mem_strdup("which backend iptables has cannot be told: none was found");
	f->why = mem_strdup(
		strcmp(backend, "nft") == 0 && legacy_rules
			? "tables of the legacy backend are loaded beside it: rules of both hold, and this one "
			  "does not show the others"
			: "rules of the other backend, if there are any, hold and are not shown by it");
	f->mend = mem_strdup(strcmp(backend, "nft") == 0 && legacy_rules ? "iptables-legacy-save"
									 : "");
}

void doctor_rivals_judge(const struct doctor_case *c)
{
	judge_intruders(c);
	judge_foreign(c);
	judge_kube(c);
	judge_processes(c);
	judge_neighbours(c);
	judge_iptables(c);
	judge_guard_fault(c);
	judge_guard(c);
	judge_ranges(c);
}
