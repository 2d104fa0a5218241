// SPDX-License-Identifier: GPL-2.0-or-later
// Connection tracking: how full its table is, what probes and balanced flows take of it, and whether it forgets flows before IPVS does.
#include "plan/doctor_rules.h"

#include <linux/ip_vs.h>

#include "base/buf.h"
#include "base/mem.h"

#define LASTS_S         120 /* of an entry of a closed TCP connection, as Linux has it by default */
#define PERCENT_ERROR   95
#define PERCENT_WARNING 75

double doctor_tracked_probes(double probes_per_second, const struct doctor_value *lasts_s)
{
	double lasts = lasts_s && !lasts_s->error && lasts_s->value > 0 ? (double)lasts_s->value
									: LASTS_S;

	return probes_per_second * lasts;
}

bool doctor_probes_crowd(double tracked, long long max)
{
	return max > 0 && tracked * 4 > (double)max;
}

static void judge_fill(const struct doctor_case *c)
{
	const struct doctor_value *max = &c->facts->sysctls[DOCTOR_TRACK_MAX];
	const struct doctor_value *count = &c->facts->sysctls[DOCTOR_TRACK_COUNT];
	struct doctor_finding *f;
	long long percent;

	if (count->error || max->value <= 0)
		return;
	percent = count->value * 100 / max->value;
	if (percent < PERCENT_WARNING)
		return;
	f = doctor_add(c, percent < PERCENT_ERROR ? DOCTOR_WARNING : DOCTOR_ERROR, "conntrack_full",
		       doctor_sysctl_name(DOCTOR_TRACK_MAX));
	f->what = mem_printf("%lld of the %lld entries of connection tracking are taken",
			     count->value, max->value);
	f->why = mem_strdup("when it is full, packets of new connections are dropped, probes too");
	f->mend = mem_printf("sysctl -w %s=%lld", doctor_sysctl_name(DOCTOR_TRACK_MAX),
			     max->value * 2);
}

static void judge_probes(const struct doctor_case *c)
{
	long long max = c->facts->sysctls[DOCTOR_TRACK_MAX].value;
	double tracked = doctor_tracked_probes(c->node->probes_per_second,
					       &c->facts->sysctls[DOCTOR_TRACK_LASTS]);
	struct doctor_finding *f;

	if (!doctor_probes_crowd(tracked, max))
		return;
	f = doctor_add(c, DOCTOR_WARNING, "conntrack_probes", doctor_sysctl_name(DOCTOR_TRACK_MAX));
	f->what = mem_printf(
		"%.0f probes a second can take %.0f of the %lld entries of connection tracking",
		c->node->probes_per_second, tracked, max);
	f->why = mem_strdup(
		"they crowd out connections of clients. A fwmark of the health checks can keep them out: "
		"iptables -t raw -A OUTPUT -m mark --mark MARK -j CT --notrack");
	f->mend = mem_printf("sysctl -w %s=%.0f", doctor_sysctl_name(DOCTOR_TRACK_MAX),
			     (double)max + tracked * 4);
}

/* ---- what is forgotten first ---- */

static const struct {
	enum plan_timeout ipvs;
	enum doctor_sysctl tracking;
	enum protocol protocol;
} ages[] = {
	{PLAN_TIMEOUT_TCP, DOCTOR_TRACK_TCP, PROTOCOL_TCP},
	{PLAN_TIMEOUT_TCP_FIN, DOCTOR_TRACK_FIN, PROTOCOL_TCP},
	{PLAN_TIMEOUT_UDP, DOCTOR_TRACK_UDP, PROTOCOL_UDP},
	{PLAN_TIMEOUT_UDP, DOCTOR_TRACK_STREAM, PROTOCOL_UDP},
};

static bool is_of_protocol(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	(void)lb;
	return l->protocol == *(const enum protocol *)ctx;
}

/* Flows of IPVS that are tracked, and silent for longer than connection tracking waits. */
static void judge_ages(const struct doctor_case *c)
{
	AUTO_BUF struct buf_writer what = {0}, mend = {0};
	struct doctor_finding *f;

	buf_writer_init(&what, 1024);
	buf_writer_init(&mend, 1024);
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		const struct doctor_value *v = &c->facts->sysctls[ages[i].tracking];
		const char *name = doctor_sysctl_name(ages[i].tracking);
		uint32_t ipvs = c->node->timeouts.s[ages[i].ipvs];
		enum protocol protocol = ages[i].protocol;

		if (v->error || v->value <= 0 || v->value >= ipvs ||
		    !doctor_uses_walk(c->node, is_of_protocol, &protocol))
			continue;
		buf_write_format(&what, "%s %s is %lld s (IPVS: %s %u)", what.size ? "," : "", name,
				 v->value, plan_timeout_name(ages[i].ipvs), ipvs);
		buf_write_format(&mend, " %s=%u", name, ipvs);
	}
	if (!what.size)
		return;
	f = doctor_add(c, DOCTOR_WARNING, "conntrack_forgets_first", "/settings/timeouts");
	f->what = mem_printf("connection tracking forgets silent flows before IPVS does:%s",
			     buf_text(&what));
	f->why = mem_strdup(
		"what a server sends after such a silence is lost where snat is in force, and what counts flows "
		"takes the next packet for a new one");
	f->mend = mem_printf("sysctl -w%s", buf_text(&mend));
}

/* What the daemon sets net.ipv4.vs.conntrack for, and FTP in a range to servers behind NAT: see doctor_ftp.c. */
static bool needs_tracking(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	const bool ftp = l->protocol == PROTOCOL_TCP && l->ports.to && l->ports.from <= 21 &&
			 21 <= l->ports.to;

	return (ftp && doctor_uses_listener_forwards(ctx, l, IP_VS_CONN_F_MASQ)) ||
	       lb->snat != SNAT_OFF || l->max_connections ||
	       (l->rate_limit && l->protocol == PROTOCOL_UDP);
}

static void tell_cost(const struct doctor_case *c)
{
	static const char why[] =
		"each connection of a client takes an entry of connection tracking, too: its table "
		"(net.netfilter.nf_conntrack_max) bounds what this node can carry";

	if (doctor_uses_walk(c->node, needs_tracking, (void *)(uintptr_t)c))
		doctor_add_info(
			c, "flows_tracked", "flows of IPVS are tracked (net.ipv4.vs.conntrack = 1)",
			why,
			"sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max  # how much is taken");
	else
		doctor_add_info(
			c, "flows_tracked",
			"flows of IPVS are tracked (net.ipv4.vs.conntrack = 1), and no listener needs that now",
			why, "sysctl -w net.ipv4.vs.conntrack=0  # unless rules of others need it");
}

void doctor_tracking_judge(const struct doctor_case *c)
{
	if (c->facts->sysctls[DOCTOR_TRACK_MAX].error)
		return;
	judge_fill(c);
	judge_probes(c);
	if (c->node->kernel_off || !doctor_sysctl_is(c->facts, DOCTOR_VS_CONNTRACK, 1))
		return;
	judge_ages(c);
	tell_cost(c);
}
