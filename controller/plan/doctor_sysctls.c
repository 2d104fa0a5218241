// SPDX-License-Identifier: GPL-2.0-or-later
// Sysctls: forwarding, reverse path filters, and what IPVS does with connections whose server is gone or drained.
#include "plan/doctor_rules.h"

#include <errno.h>
#include <linux/ip_vs.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "plan/desired.h"

#define SYSCTL_NAME_MAX 80

static void report(const struct doctor_case *c, enum doctor_severity severity, const char *code,
		   enum doctor_sysctl which, int wanted, const char *why)
{
	const char *name = doctor_sysctl_name(which);
	struct doctor_finding *f = doctor_add(c, severity, code, name);

	f->what = mem_printf("%s is %lld", name, c->facts->sysctls[which].value);
	f->why = mem_strdup(why);
	f->mend = mem_printf("sysctl -w %s=%d", name, wanted);
}

static void judge_forwarding(const struct doctor_case *c)
{
	static const char why[] =
		"the kernel drops what servers behind NAT answer: connections open and nothing comes back";

	if (doctor_uses_forward(c->uses, IP_VS_CONN_F_MASQ, AF_INET) &&
	    doctor_sysctl_is(c->facts, DOCTOR_FORWARD4, 0))
		report(c, DOCTOR_ERROR, "forwarding_off", DOCTOR_FORWARD4, 1, why);
	if (doctor_uses_forward(c->uses, IP_VS_CONN_F_MASQ, AF_INET6) &&
	    doctor_sysctl_is(c->facts, DOCTOR_FORWARD6, 0))
		report(c, DOCTOR_ERROR, "forwarding_off", DOCTOR_FORWARD6, 1, why);
}

/* ---- reverse paths ---- */

#define RP_STRICT 1
#define RP_LOOSE  2
#define RP_WHY                                                                                      \
	"a packet is dropped unless the route back leads out where it came in: answers of servers " \
	"behind NAT, and requests of clients whose answers a tunnel's servers send another way"

/* Servers or strangers are behind it. */
static bool link_carries(const struct doctor_facts *f, uint32_t index)
{
	for (size_t i = 0; i < f->route_count; i++)
		if (f->routes[i].error == 0 && !f->routes[i].local && f->routes[i].link == index)
			return true;
	return f->clients[0].error == 0 && f->clients[0].link == index;
}

static void judge_link_filter(const struct doctor_case *c, const struct doctor_link *l)
{
	char name[SYSCTL_NAME_MAX];
	struct doctor_finding *f;

	if (l->rp_filter.error || l->rp_filter.value != RP_STRICT ||
	    !link_carries(c->facts, l->index))
		return;
	snprintf(name, sizeof(name), "net.ipv4.conf.%s.rp_filter", l->name);
	f = doctor_add(c, DOCTOR_WARNING, "rp_filter_strict", name);
	f->what = mem_printf("%s is %d (strict)", name, RP_STRICT);
	f->why = mem_strdup(RP_WHY);
	f->mend = mem_printf("sysctl -w net/ipv4/conf/%s/rp_filter=%d", l->name, RP_LOOSE);
}

/* The larger of `all` and the device's own counts. */
static void judge_filters(const struct doctor_case *c)
{
	size_t before = c->report->findings.count;

	if (!doctor_uses_forward(c->uses, IP_VS_CONN_F_MASQ, AF_INET) &&
	    !doctor_uses_forward(c->uses, IP_VS_CONN_F_TUNNEL, 0))
		return;
	if (doctor_sysctl_is(c->facts, DOCTOR_RP_ALL, RP_LOOSE))
		return;
	if (doctor_sysctl_is(c->facts, DOCTOR_RP_ALL, RP_STRICT)) {
		report(c, DOCTOR_WARNING, "rp_filter_strict", DOCTOR_RP_ALL, RP_LOOSE, RP_WHY);
		return;
	}
	for (size_t i = 0; i < c->facts->link_count; i++)
		judge_link_filter(c, &c->facts->links[i]);
	if (c->report->findings.count == before &&
	    doctor_sysctl_is(c->facts, DOCTOR_RP_DEFAULT, RP_STRICT))
		report(c, DOCTOR_INFO, "rp_filter_default", DOCTOR_RP_DEFAULT, RP_LOOSE,
		       "network devices that come later have a strict reverse path filter");
}

/* ---- IPVS ---- */

static bool release_before(const struct doctor_facts *f, unsigned major, unsigned minor)
{
	return f->release[0] &&
	       (f->release[0] < major || (f->release[0] == major && f->release[1] < minor));
}

static void judge_reuse(const struct doctor_case *c)
{
	if (doctor_sysctl_is(c->facts, DOCTOR_VS_REUSE, 0))
		report(c, DOCTOR_WARNING, "connection_reuse_off", DOCTOR_VS_REUSE, 1,
		       "a client that uses a port again is sent to the server of its former connection, even "
		       "if that is drained or has failed");
	else if (c->facts->sysctls[DOCTOR_VS_REUSE].error == 0 &&
		 doctor_sysctl_is(c->facts, DOCTOR_VS_CONNTRACK, 1) &&
		 release_before(c->facts, 5, 9))
		report(c, DOCTOR_WARNING, "connection_reuse_slow", DOCTOR_VS_CONNTRACK, 0,
		       "before Linux 5.9 the first packet of a client that uses a port again is dropped while "
		       "flows of IPVS are tracked: such connections take a second longer");
}

static bool listener_cuts(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	const struct doctor_node *n = ctx;

	(void)lb;
	return desired_cuts_flows(n->snapshot, l);
}

static bool listener_persists(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	(void)ctx;
	(void)lb;
	return l->persistence_s > 0;
}

static void judge_expiry(const struct doctor_case *c)
{
	struct doctor_node node = *c->node;

	if (doctor_sysctl_is(c->facts, DOCTOR_VS_NODEST, 0) &&
	    doctor_uses_walk(c->node, listener_cuts, &node))
		report(c, DOCTOR_WARNING, "removed_server_keeps_flows", DOCTOR_VS_NODEST, 1,
		       "flows of a server that was removed hang until the client gives up, instead of being cut");
	if (doctor_sysctl_is(c->facts, DOCTOR_VS_QUIESCENT, 0) &&
	    doctor_uses_walk(c->node, listener_persists, NULL))
		report(c, DOCTOR_WARNING, "persistence_ignores_weight", DOCTOR_VS_QUIESCENT, 1,
		       "persistence goes on sending clients to a server of weight 0: it is never drained, and a "
		       "failed one keeps its clients");
}

/* ---- tracked flows ---- */

struct tracking_need {
	const struct doctor_case *c;
	char *object;
	const char *what;
	const char *why;
};

static bool listener_needs_tracking(void *ctx, const struct load_balancer *lb,
				    const struct listener *l)
{
	struct tracking_need *n = ctx;

	if (lb->snat != SNAT_OFF && doctor_uses_listener_forwards(n->c, l, IP_VS_CONN_F_MASQ)) {
		n->what = "snat";
		n->why =
			"nothing is masqueraded: servers answer past the gateway, and clients drop that";
	} else if (l->max_connections) {
		n->what = "max_connections";
		n->why = "connections are not counted: no source is held back";
	} else if (l->rate_limit && l->protocol == PROTOCOL_UDP) {
		n->what = "rate_limit with UDP";
		n->why = "each packet counts as a new flow: those under way lose packets";
	} else {
		return false;
	}
	n->object = mem_printf("/load_balancers/%s/listeners/%s", lb->o.name, l->o.name);
	return true;
}

/* It was set back, or the daemon may not set it. */
static void judge_tracking(const struct doctor_case *c)
{
	struct tracking_need need = {.c = c};
	AUTO_FREE char *object = NULL;
	struct doctor_finding *f;

	if (!doctor_sysctl_is(c->facts, DOCTOR_VS_CONNTRACK, 0) ||
	    !doctor_uses_walk(c->node, listener_needs_tracking, &need))
		return;
	object = need.object;
	f = doctor_add(c, DOCTOR_ERROR, "conntrack_off", object);
	f->what = mem_printf("%s is 0, and %s needs 1", doctor_sysctl_name(DOCTOR_VS_CONNTRACK),
			     need.what);
	f->why = mem_strdup(need.why);
	f->mend = mem_printf("sysctl -w %s=1", doctor_sysctl_name(DOCTOR_VS_CONNTRACK));
}

/* ---- what cannot be seen ---- */

/* Where a sysctl may be missing: nothing is behind it then. */
static bool may_be_missing(const struct doctor_case *c, enum doctor_sysctl which)
{
	switch (which) {
	case DOCTOR_FORWARD6:
		return !doctor_uses_forward(c->uses, IP_VS_CONN_F_MASQ, AF_INET6);
	case DOCTOR_VS_REUSE:
	case DOCTOR_VS_NODEST:
	case DOCTOR_VS_QUIESCENT:
	case DOCTOR_VS_SECURE_TCP:
	case DOCTOR_VS_DROP_ENTRY:
	case DOCTOR_VS_DROP_PACKET:
	case DOCTOR_VS_AMEMTHRESH:
		return c->node->kernel_error != 0; /* which is said */
	case DOCTOR_VS_CONNTRACK:
	case DOCTOR_TRACK_MAX:
	case DOCTOR_TRACK_COUNT:
	case DOCTOR_TRACK_LASTS:
	case DOCTOR_TRACK_TCP:
	case DOCTOR_TRACK_FIN:
	case DOCTOR_TRACK_UDP:
	case DOCTOR_TRACK_STREAM:
		return true;
	case DOCTOR_FORWARD4:
	case DOCTOR_RP_ALL:
	case DOCTOR_RP_DEFAULT:
	case DOCTOR_SYSCTLS:
		break;
	}
	return false;
}

static void judge_unseen(const struct doctor_case *c)
{
	AUTO_BUF struct buf_writer w = {0};
	struct doctor_finding *f;

	buf_writer_init(&w, 1024);
	for (enum doctor_sysctl i = 0; i < DOCTOR_SYSCTLS; i++) {
		int error = c->facts->sysctls[i].error;

		if (error && !(error == -ENOENT && may_be_missing(c, i)))
			buf_write_format(&w, "%s%s", w.size ? ", " : "", doctor_sysctl_name(i));
	}
	if (!w.size)
		return;
	f = doctor_add(c, DOCTOR_INFO, "sysctls_unseen", "");
	f->what = mem_printf("cannot be seen: %s", buf_text(&w));
	f->why = mem_strdup("whether they stand in the way is not known");
	f->mend = mem_printf("ls /proc/sys/net  # as the daemon's user, in its network namespace");
}

void doctor_sysctls_judge(const struct doctor_case *c)
{
	judge_forwarding(c);
	judge_filters(c);
	judge_reuse(c);
	judge_expiry(c);
	judge_tracking(c);
	judge_unseen(c);
}
