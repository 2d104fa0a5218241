// SPDX-License-Identifier: GPL-2.0-or-later
// What stands before IPVS: are sets and rules in force, and which backend sets them?
#include "plan/doctor_rules.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/* ---- in force ---- */

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

/* ---- which backend ---- */

const char *doctor_backend_of(const struct doctor_node *n, enum ruleset_family f)
{
	return strstr(n->backends[f], "legacy") ? "legacy"
	       : strstr(n->backends[f], "nft")  ? "nft"
						: "";
}

/* The command of that name shows another's rules than ours. */
static void judge_command(const struct doctor_case *c, const char *backend)
{
	struct doctor_finding *f;

	if (!*backend || !c->facts->iptables[0] || strcmp(backend, c->facts->iptables) == 0)
		return;
	f = doctor_add(c, DOCTOR_INFO, "iptables_command", "iptables");
	f->what = mem_printf(
		"rules are set by the %s backend, and the command iptables is that of %s", backend,
		c->facts->iptables);
	f->why = mem_strdup(
		"what iptables -S shows are not the rules before the VIPs, and what is set "
		"with it stands in other tables");
	f->mend = mem_printf("update-alternatives --set iptables /usr/sbin/iptables-%s && "
			     "update-alternatives --set ip6tables /usr/sbin/ip6tables-%s",
			     backend, backend);
}

static void judge_backend(const struct doctor_case *c)
{
	const char *backend = doctor_backend_of(c->node, RULESET_V4);
	const char *command = c->facts->iptables;
	struct doctor_finding *f;

	if (!*backend)
		backend = doctor_backend_of(c->node, RULESET_V6);
	judge_command(c, backend);
	f = doctor_add(c, DOCTOR_INFO, "iptables_backend", "");
	if (*backend) {
		f->what = mem_printf(
			"rules are set by the %s backend of iptables, which works here", backend);
		f->mend = mem_printf("iptables-%s -S ZONEGATE", backend);
	} else if (*command) {
		f->what = mem_printf(
			"no rule was needed yet, so none was tried; the command iptables "
			"is that of the %s backend",
			command);
		f->mend = mem_printf("iptables-%s -S", command);
	} else {
		f->what = mem_strdup("which backend iptables has cannot be told: none was found");
		f->mend = mem_strdup("apt-get install iptables");
	}
	f->why = mem_strdup(
		"rules of the other backend, if there are any, hold and are not shown by it");
}

void doctor_filters_judge(const struct doctor_case *c)
{
	judge_backend(c);
	judge_guard_fault(c);
	judge_guard(c);
	judge_ranges(c);
}
