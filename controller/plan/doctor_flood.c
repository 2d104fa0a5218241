// SPDX-License-Identifier: GPL-2.0-or-later
// What IPVS does when a flood of SYN takes its memory: drop_entry, secure_tcp and drop_packet, and when each is of use.
#include "plan/doctor_rules.h"

#include "base/mem.h"

/* The kernel itself goes from 1 to 2 and back, as memory is short or not. */
enum { DEFENCE_OFF, DEFENCE_AUTOMATIC, DEFENCE_ACTIVE, DEFENCE_ALWAYS };

static const struct {
	enum doctor_sysctl sysctl;
	const char *does; /* while it is in force */
} defences[] = {
	{DOCTOR_VS_DROP_ENTRY, "connections that are half open are dropped at random"},
	{DOCTOR_VS_SECURE_TCP,
	 "connections count as established only when their handshake is complete, so that more of them are half open"},
	{DOCTOR_VS_DROP_PACKET, "packets of clients are dropped, whoever they are"},
};
#define DEFENCES (sizeof(defences) / sizeof(defences[0]))

static bool takes_syn(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	(void)ctx;
	(void)lb;
	return l->protocol == PROTOCOL_TCP;
}

static void judge_absence(const struct doctor_case *c)
{
	const struct doctor_value *pages = &c->facts->sysctls[DOCTOR_VS_AMEMTHRESH];
	struct doctor_finding *f;

	if (!doctor_sysctl_is(c->facts, DOCTOR_VS_DROP_ENTRY, DEFENCE_OFF) ||
	    !doctor_sysctl_is(c->facts, DOCTOR_VS_SECURE_TCP, DEFENCE_OFF))
		return;
	f = doctor_add(c, DOCTOR_INFO, "flood_defence_off",
		       doctor_sysctl_name(DOCTOR_VS_DROP_ENTRY));
	f->what = mem_printf("nothing is done against a flood of SYN: %s and %s are 0",
			     doctor_sysctl_name(DOCTOR_VS_DROP_ENTRY),
			     doctor_sysctl_name(DOCTOR_VS_SECURE_TCP));
	f->why = mem_printf(
		"each SYN takes an entry of IPVS for a minute, a forged one, too. With 1 both act only while fewer "
		"than amemthresh pages (%lld) are free: drop_entry drops half-open connections at random, and "
		"secure_tcp lets those through NAT count as established only after their handshake, so that it "
		"can. drop_packet=1 drops packets of all clients then: only if these two were not enough. A "
		"rate_limit of the listener holds sources that are not forged",
		pages->error ? 0 : pages->value);
	f->mend = mem_printf("sysctl -w %s=$(($(getconf _PHYS_PAGES)/20)) %s=1 %s=1",
			     doctor_sysctl_name(DOCTOR_VS_AMEMTHRESH),
			     doctor_sysctl_name(DOCTOR_VS_DROP_ENTRY),
			     doctor_sysctl_name(DOCTOR_VS_SECURE_TCP));
}

static void judge_defence(const struct doctor_case *c, size_t i)
{
	const char *name = doctor_sysctl_name(defences[i].sysctl);
	struct doctor_finding *f;

	if (doctor_sysctl_is(c->facts, defences[i].sysctl, DEFENCE_ACTIVE)) {
		f = doctor_add(c, DOCTOR_WARNING, "flood_defence_active", name);
		f->what = mem_printf(
			"the kernel is short of memory and defends itself: %s is 2 (it was 1)",
			name);
		f->why = mem_strdup(defences[i].does);
		f->mend = mem_strdup(
			"grep -c SYN_RECV /proc/net/ip_vs_conn  # many: a flood; few: give the host memory, or lower "
			"net.ipv4.vs.amemthresh");
	} else if (doctor_sysctl_is(c->facts, defences[i].sysctl, DEFENCE_ALWAYS)) {
		f = doctor_add(c, DOCTOR_WARNING, "flood_defence_always", name);
		f->what = mem_printf("%s is 3: always, not only while memory is short", name);
		f->why = mem_strdup(defences[i].does);
		f->mend = mem_printf("sysctl -w %s=1", name);
	}
}

void doctor_flood_judge(const struct doctor_case *c)
{
	if (!doctor_uses_walk(c->node, takes_syn, NULL))
		return;
	judge_absence(c);
	for (size_t i = 0; i < DEFENCES; i++)
		judge_defence(c, i);
}
