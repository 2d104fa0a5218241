// SPDX-License-Identifier: GPL-2.0-or-later
// IPVS itself: is it there, may we program it, and is its table large enough?
#include "plan/doctor_rules.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/mem.h"

#define CONNECTIONS_A_BUCKET 4 /* on average; beyond that a packet walks a long chain */
#define TABLE_BITS_MAX       20

static void judge_ipvs(const struct doctor_case *c)
{
	struct doctor_finding *f;

	if (c->node->kernel_off) {
		doctor_add_info(
			c, "ipvs_off", "IPVS is switched off ([kernel] ipvs = off)",
			"nothing is forwarded by this node: what concerns packets was not looked at",
			"sed -i 's/^ *ipvs *=.*/ipvs = auto/' /etc/zonegate/zonegate.conf && systemctl restart zonegate");
		return;
	}
	if (!c->node->kernel_error)
		return;
	f = doctor_add(c, DOCTOR_ERROR, "ipvs_unavailable", "ip_vs");
	f->what = mem_printf("IPVS cannot be used: %s", strerror(-c->node->kernel_error));
	f->why = mem_strdup("no load balancer of this node takes a connection");
	f->mend = mem_strdup(c->node->kernel_error == -EPERM
				     ? "systemctl restart zonegate  # its unit gives CAP_NET_ADMIN"
				     : "modprobe ip_vs");
}

/* ---- the VIP device ---- */

static bool link_is_there(const struct doctor_facts *f, const char *name)
{
	for (size_t i = 0; i < f->link_count; i++)
		if (strcmp(f->links[i].name, name) == 0)
			return true;
	return false;
}

static void judge_device(const struct doctor_case *c)
{
	const char *device = c->node->vip_device;
	struct doctor_finding *f;

	/* Without VIPs, or before IPVS came, it need not be there yet. */
	bool missing = device && c->uses->vip_count && !c->node->kernel_error &&
		       !c->facts->links_error && !link_is_there(c->facts, device);

	if (!device || (!c->node->vip_device_fault && !missing))
		return;
	f = doctor_add(c, DOCTOR_ERROR, "vip_device", "/kernel/vip_device");
	f->what = c->node->vip_device_fault ? mem_strdup(c->node->vip_device_fault)
					    : mem_printf("there is no network device %s", device);
	f->why = mem_strdup("VIPs are on no device: packets for them are not taken by this host");
	f->mend = c->node->vip_device_is_dummy ? mem_strdup("modprobe dummy")
					       : mem_printf("ip link show dev %s", device);
}

/* ---- what we may ---- */

static void judge_capability(const struct doctor_case *c, int bit, const char *name,
			     const char *why)
{
	struct doctor_finding *f;

	if (c->facts->capabilities.value >> bit & 1)
		return;
	f = doctor_add(c, DOCTOR_ERROR, "capability_missing", name);
	f->what = mem_printf("the daemon runs without %s", name);
	f->why = mem_strdup(why);
	f->mend = mem_strdup(
		"systemctl restart zonegate  # its unit gives the capabilities; started otherwise: "
		"setcap cap_net_admin,cap_net_raw,cap_net_bind_service+ep /usr/sbin/zonegated");
}

static void judge_capabilities(const struct doctor_case *c)
{
	if (c->facts->capabilities.error) {
		doctor_add_info(
			c, "capabilities_unseen", "the capabilities of the daemon cannot be seen",
			"/proc/self/status could not be read",
			"grep ^CapEff /proc/$(pidof -s zonegated)/status  # 3400: all three");
		return;
	}
	if (!c->node->kernel_off)
		judge_capability(c, CAP_NET_ADMIN, "CAP_NET_ADMIN",
				 "it can neither program IPVS nor put VIPs on a device");
	judge_capability(c, CAP_NET_RAW, "CAP_NET_RAW",
			 "checks by ICMP, half-open handshakes and probes of VIPs cannot be sent, "
			 "and new addresses are not announced");
}

/* ---- the table ---- */

static int bits_for(uint64_t connections)
{
	int bits = 8;

	while (bits < TABLE_BITS_MAX && (1ULL << bits) < connections)
		bits++;
	return bits;
}

static void judge_table(const struct doctor_case *c)
{
	const struct doctor_value *bits = &c->facts->table_bits;
	struct doctor_finding *f;

	if (c->node->table_error && !c->node->kernel_error) {
		doctor_add_info(c, "table_unseen", "the kernel's IPVS table could not be read",
				"services of other programs and connections were not looked at",
				"zonegate kernel show");
	}
	if (bits->error == -ENOENT || c->node->table_error)
		return;
	if (bits->error || bits->value < 0 || bits->value > 40) {
		doctor_add_info(c, "table_size_unseen",
				"the size of the IPVS connection table cannot be seen",
				"/sys/module/ip_vs/parameters/conn_tab_bits could not be read",
				"cat /sys/module/ip_vs/parameters/conn_tab_bits");
		return;
	}
	if (c->node->connections <= (uint64_t)CONNECTIONS_A_BUCKET << bits->value)
		return;
	f = doctor_add(c, DOCTOR_WARNING, "connection_table_small", "ip_vs.conn_tab_bits");
	f->what = mem_printf("%llu connections share the %llu buckets of the IPVS table",
			     (unsigned long long)c->node->connections, 1ULL << bits->value);
	f->why = mem_strdup("each packet walks a chain of several connections");
	f->mend = mem_printf("echo options ip_vs conn_tab_bits=%d >/etc/modprobe.d/ip_vs.conf"
			     "  # in force when ip_vs is loaded anew",
			     bits_for(c->node->connections));
}

void doctor_kernel_judge(const struct doctor_case *c)
{
	judge_ipvs(c);
	judge_capabilities(c);
	if (c->node->kernel_off)
		return;
	judge_device(c);
	judge_table(c);
}
