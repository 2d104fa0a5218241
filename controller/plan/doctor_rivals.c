// SPDX-License-Identifier: GPL-2.0-or-later
// Others on this host and its links who want the same: programs that manage IPVS or forwarding, and machines that answer for a VIP.
#include "plan/doctor_rules.h"

#include <errno.h>
#include <linux/ip_vs.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define INTRUDERS_SHOWN 10
#define ANSWERS_SHOWN   10
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

/* Not in its IPVS mode, in which it has the device. */
static void judge_kube_process(const struct doctor_case *c)
{
	struct doctor_finding *f;

	if (kube_device(c->facts))
		return;
	f = doctor_add(c, DOCTOR_INFO, "kube_proxy_beside", "kube-proxy");
	f->what = mem_strdup("kube-proxy runs here, in its iptables or nftables mode");
	f->why = mem_strdup(
		"both may run: it does not touch IPVS. But it masquerades what has the mark 0x4000 and drops what "
		"has 0x8000, and a cluster address that is a VIP of ours goes to its pods");
	f->mend = mem_strdup(
		"kubectl -n kube-system get configmap kube-proxy -o yaml  # mode must not become ipvs");
}

static void judge_firewalld(const struct doctor_case *c)
{
	const char *link = "LINK";
	struct doctor_finding *f;

	for (size_t i = 0; i < c->uses->count; i++) {
		const struct doctor_use *u = &c->uses->items[i];
		const struct doctor_route *r = doctor_find_route(c->facts, &u->server->address);
		const struct doctor_link *l = r ? doctor_find_link(c->facts, r->link) : NULL;

		if (u->dest.forward == IP_VS_CONN_F_MASQ && l && !r->local) {
			link = l->name;
			break;
		}
	}
	if (!doctor_uses_forward(c->uses, IP_VS_CONN_F_MASQ, 0))
		return;
	f = doctor_add(c, DOCTOR_INFO, "firewalld_beside", "firewalld");
	f->what = mem_strdup("firewalld runs here, and its rules cannot be seen from here");
	f->why = mem_strdup(
		"it rejects what is forwarded between zones, as answers of servers behind NAT "
		"are, unless their link is in a zone that accepts it");
	f->mend = mem_printf("firewall-cmd --permanent --zone=trusted --change-interface=%s && "
			     "firewall-cmd --reload",
			     link);
}

/* The two mend each other's work away. */
static void judge_other_daemon(const struct doctor_case *c)
{
	struct doctor_finding *f;

	if (!c->facts->other_daemon)
		return;
	f = doctor_add(c, DOCTOR_ERROR, "second_daemon", "zonegated");
	f->what = mem_printf("another zonegated runs in this network namespace (process %d)",
			     c->facts->other_daemon);
	f->why = mem_strdup(
		"sets, chains and the device of VIPs have the same names for both: each removes "
		"what the other makes");
	f->mend = mem_printf("kill %d  # or start it in a network namespace of its own",
			     c->facts->other_daemon);
}

static void judge_processes(const struct doctor_case *c)
{
	const struct vec *all = &c->facts->processes;
	bool others = c->node->foreign || c->node->intruders.count;

	if (c->facts->processes_error)
		doctor_add_info(
			c, "processes_unseen", "other users' processes cannot be seen",
			"whether keepalived or another program manages IPVS, too, is not known",
			"ps -C keepalived,ldirectord,kube-proxy,kube-router,zonegated,firewalld");
	for (size_t i = 0; i < all->count; i++) {
		const char *name = all->items[i];
		struct doctor_finding *f;

		if (strcmp(name, "kube-proxy") == 0) {
			judge_kube_process(c);
			continue;
		}
		if (strcmp(name, "firewalld") == 0) {
			judge_firewalld(c);
			continue;
		}
		f = doctor_add(c, others ? DOCTOR_WARNING : DOCTOR_INFO, "rival_process", name);
		f->what = mem_printf("%s runs here", name);
		f->why = mem_strdup(
			others ? "the table holds services that are not ours: two programs on the same VIP undo each other"
			       : "it can program IPVS, too; as long as it does not name our VIPs, both may run");
		f->mend = others ? mem_printf("systemctl stop %s", name)
				 : mem_strdup("zonegate kernel show --foreign");
	}
}

/* The server of that hardware address, or NULL. */
static const struct doctor_use *server_of(const struct doctor_case *c,
					  const struct doctor_neighbour *n)
{
	for (size_t i = 0; i < c->facts->neighbour_count; i++) {
		const struct doctor_neighbour *other = &c->facts->neighbours[i];

		if (other->link != n->link || strcmp(other->mac, n->mac) != 0)
			continue;
		for (size_t j = 0; j < c->uses->count; j++)
			if (addr_compare(&c->uses->items[j].server->address, &other->address) == 0)
				return &c->uses->items[j];
	}
	return NULL;
}

static bool is_vip(const struct doctor_case *c, const struct addr *a)
{
	for (size_t i = 0; i < c->uses->vip_count; i++)
		if (addr_compare(&c->uses->vips[i], a) == 0)
			return true;
	return false;
}

/* `more`: how many others are not told. */
static void report_answer(const struct doctor_case *c, const struct doctor_neighbour *n,
			  size_t more)
{
	const struct doctor_link *l = doctor_find_link(c->facts, n->link);
	const struct doctor_use *use = server_of(c, n);
	char vip[ADDR_TEXT_MAX];
	struct doctor_finding *f = doctor_add(c, DOCTOR_WARNING, "vip_answered_elsewhere",
					      addr_format(&n->address, vip));
	AUTO_FREE char *rest = more ? mem_printf("; and so do %zu more", more) : mem_strdup("");

	f->where = DOCTOR_SERVERS;
	if (use)
		f->what = mem_printf("the server %s/%s (%s) answers for the VIP %s on %s%s",
				     use->group->o.name, use->server->o.name, n->mac, vip,
				     l ? l->name : "a link", rest);
	else
		f->what = mem_printf("%s answers for the VIP %s on %s%s", n->mac, vip,
				     l ? l->name : "a link", rest);
	f->why = mem_strdup(
		"clients of that link go there and not to this gateway: a server with the VIP answers "
		"ARP for it, or another host has the address");
	f->mend = mem_strdup(
		"sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2");
}

/* Ours, but another machine says that it has it. */
static void judge_neighbours(const struct doctor_case *c)
{
	const struct doctor_neighbour *shown[ANSWERS_SHOWN];
	size_t count = 0;

	if (c->facts->neighbours_error)
		doctor_add_info(c, "neighbours_unseen", "the neighbour table cannot be read",
				"whether another machine answers for a VIP is not known",
				"ip neighbour show");
	for (size_t i = 0; i < c->facts->neighbour_count; i++)
		if (is_vip(c, &c->facts->neighbours[i].address) && count++ < ANSWERS_SHOWN)
			shown[count - 1] = &c->facts->neighbours[i];
	for (size_t i = 0; i < count && i < ANSWERS_SHOWN; i++)
		report_answer(c, shown[i], i + 1 == ANSWERS_SHOWN ? count - ANSWERS_SHOWN : 0);
}

/* With forward_method direct each server has the VIP, and may say so. */
static void judge_arp(const struct doctor_case *c)
{
	struct doctor_finding *f;
	struct doctor_arp arp;

	if (!c->facts->arp_error || !doctor_list_arp(c->node, c->facts, &arp))
		return;
	const struct doctor_link *l = doctor_find_link(c->facts, arp.links[0]);
	char vip[ADDR_TEXT_MAX];

	f = doctor_add(c, DOCTOR_INFO, "arp_unasked", addr_format(&arp.vips[0], vip));
	f->what = mem_printf("ARP could not be asked who has the VIP %s", vip);
	f->why = mem_strdup("a server that answers for it takes clients away from the gateway, and "
			    "that was not looked for");
	f->mend = mem_printf("arping -D -c 2 -I %s %s", l ? l->name : "LINK", vip);
}

void doctor_rivals_judge(const struct doctor_case *c)
{
	judge_intruders(c);
	judge_foreign(c);
	judge_kube(c);
	judge_processes(c);
	judge_other_daemon(c);
	judge_neighbours(c);
	judge_arp(c);
}
