// SPDX-License-Identifier: GPL-2.0-or-later
// The report, and what the doctor's rules share. The rules are in the other files of this name.
#include "plan/doctor.h"

#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/doctor_rules.h"

const char *doctor_sysctl_name(enum doctor_sysctl which)
{
	static const char *const names[] = {
		[DOCTOR_FORWARD4] = "net.ipv4.ip_forward",
		[DOCTOR_FORWARD6] = "net.ipv6.conf.all.forwarding",
		[DOCTOR_RP_ALL] = "net.ipv4.conf.all.rp_filter",
		[DOCTOR_RP_DEFAULT] = "net.ipv4.conf.default.rp_filter",
		[DOCTOR_VS_CONNTRACK] = "net.ipv4.vs.conntrack",
		[DOCTOR_VS_REUSE] = "net.ipv4.vs.conn_reuse_mode",
		[DOCTOR_VS_NODEST] = "net.ipv4.vs.expire_nodest_conn",
		[DOCTOR_VS_QUIESCENT] = "net.ipv4.vs.expire_quiescent_template",
		[DOCTOR_VS_SECURE_TCP] = "net.ipv4.vs.secure_tcp",
		[DOCTOR_VS_DROP_ENTRY] = "net.ipv4.vs.drop_entry",
		[DOCTOR_VS_DROP_PACKET] = "net.ipv4.vs.drop_packet",
		[DOCTOR_VS_AMEMTHRESH] = "net.ipv4.vs.amemthresh",
		[DOCTOR_TRACK_MAX] = "net.netfilter.nf_conntrack_max",
		[DOCTOR_TRACK_COUNT] = "net.netfilter.nf_conntrack_count",
		[DOCTOR_TRACK_LASTS] = "net.netfilter.nf_conntrack_tcp_timeout_time_wait",
		[DOCTOR_TRACK_TCP] = "net.netfilter.nf_conntrack_tcp_timeout_established",
		[DOCTOR_TRACK_FIN] = "net.netfilter.nf_conntrack_tcp_timeout_fin_wait",
		[DOCTOR_TRACK_UDP] = "net.netfilter.nf_conntrack_udp_timeout",
		[DOCTOR_TRACK_STREAM] = "net.netfilter.nf_conntrack_udp_timeout_stream",
	};
	_Static_assert(sizeof(names) / sizeof(names[0]) == DOCTOR_SYSCTLS, "a name each");

	return names[which];
}

const char *doctor_severity_name(enum doctor_severity s)
{
	static const char *const names[] = {"error", "warning", "info"};
	_Static_assert(sizeof(names) / sizeof(names[0]) == DOCTOR_SEVERITIES, "a name each");

	return names[s];
}

const char *doctor_where_name(enum doctor_where w)
{
	static const char *const names[] = {"gateway", "servers", "network"};
	_Static_assert(sizeof(names) / sizeof(names[0]) == DOCTOR_WHERES, "a name each");

	return names[w];
}

/* ---- facts ---- */

static void clear_items(struct vec *v)
{
	for (size_t i = 0; i < v->count; i++)
		free(v->items[i]);
	vec_clear(v);
}

void doctor_facts_clear(struct doctor_facts *f)
{
	clear_items(&f->modules);
	clear_items(&f->builtin);
	clear_items(&f->processes);
	for (size_t i = 0; i < f->rules.count; i++)
		free(((struct doctor_rules *)f->rules.items[i])->text);
	clear_items(&f->rules);
	free(f->links);
	free(f->routes);
	free(f->neighbours);
	*f = (struct doctor_facts){0};
}

void doctor_node_clear(struct doctor_node *n)
{
	clear_items(&n->schedulers);
	clear_items(&n->intruders);
	clear_items(&n->returns);
	*n = (struct doctor_node){0};
}

static void note_returns(struct doctor_node *n, const struct plan_service *s)
{
	for (size_t i = 0; s->counts && i < s->dest_count; i++) {
		const struct plan_dest *d = &s->dests[i];
		const struct plan_stats *stats = &s->counts[i].stats;
		bool tcp = s->key.protocol == IPPROTO_TCP;
		struct doctor_return r = {.address = d->address,
					  .port = d->port,
					  .connections = tcp && d->weight ? stats->connections : 0,
					  .packets = stats->packets_out};

		if (d->forward == IP_VS_CONN_F_MASQ && (r.connections || r.packets))
			vec_push(&n->returns, mem_dup(&r, sizeof(r)));
	}
}

void doctor_node_note_service(struct doctor_node *n, const struct plan_service *s,
			      enum doctor_owner owner)
{
	if (!doctor_has_name(&n->schedulers, s->scheduler))
		vec_push(&n->schedulers, mem_strdup(s->scheduler));
	for (size_t i = 0; s->counts && i < s->dest_count; i++)
		n->connections += (uint64_t)s->counts[i].active + s->counts[i].inactive;
	switch (owner) {
	case DOCTOR_OURS:
		note_returns(n, s);
		break;
	case DOCTOR_INTRUDER:
		vec_push(&n->intruders, mem_dup(&s->key, sizeof(s->key)));
		break;
	case DOCTOR_FOREIGN:
		n->foreign++;
		break;
	}
}

bool doctor_sysctl_is(const struct doctor_facts *f, enum doctor_sysctl which, long long value)
{
	return f->sysctls[which].error == 0 && f->sysctls[which].value == value;
}

const struct doctor_link *doctor_find_link(const struct doctor_facts *f, uint32_t index)
{
	for (size_t i = 0; i < f->link_count; i++)
		if (f->links[i].index == index)
			return &f->links[i];
	return NULL;
}

static int route_compare(const void *key, const void *item)
{
	return addr_compare(key, &((const struct doctor_route *)item)->to);
}

const struct doctor_route *doctor_find_route(const struct doctor_facts *f, const struct addr *to)
{
	return f->route_count
		       ? bsearch(to, f->routes, f->route_count, sizeof(f->routes[0]), route_compare)
		       : NULL;
}

bool doctor_has_name(const struct vec *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

bool doctor_has_module(const struct doctor_facts *f, const char *name)
{
	return doctor_has_name(&f->modules, name) || doctor_has_name(&f->builtin, name);
}

/* ---- the report ---- */

struct doctor_finding *doctor_add(const struct doctor_case *c, enum doctor_severity severity,
				  const char *code, const char *object)
{
	struct doctor_finding *f = mem_new(struct doctor_finding);

	f->severity = severity;
	f->where = DOCTOR_GATEWAY;
	f->code = code;
	f->object = mem_strdup(object);
	vec_push(&c->report->findings, f);
	c->report->counts[severity]++;
	return f;
}

void doctor_add_info(const struct doctor_case *c, const char *code, const char *what,
		     const char *why, const char *mend)
{
	struct doctor_finding *f = doctor_add(c, DOCTOR_INFO, code, "");

	f->what = mem_strdup(what);
	f->why = mem_strdup(why);
	f->mend = mem_strdup(mend);
}

/* Errors first; among equals the order in which they were found. */
static void sort_findings(struct doctor_report *r)
{
	struct vec sorted = {0};

	for (enum doctor_severity s = DOCTOR_ERROR; s < DOCTOR_SEVERITIES; s++)
		for (size_t i = 0; i < r->findings.count; i++) {
			struct doctor_finding *f = r->findings.items[i];

			if (f->severity == s)
				vec_push(&sorted, f);
		}
	vec_clear(&r->findings);
	r->findings = sorted;
}

/* Names of links and rules of others may hold any bytes, and JSON takes none but UTF-8. */
static void make_findings_utf8(struct doctor_report *r)
{
	for (size_t i = 0; i < r->findings.count; i++) {
		struct doctor_finding *f = r->findings.items[i];

		text_make_utf8(f->object);
		text_make_utf8(f->what);
		text_make_utf8(f->mend);
	}
}

void doctor_judge(const struct doctor_node *n, const struct doctor_facts *f,
		  struct doctor_report *ret_report)
{
	struct doctor_uses uses;
	const struct doctor_case c = {n, f, &uses, ret_report};

	*ret_report = (struct doctor_report){0};
	doctor_uses_collect(n, &uses);
	doctor_kernel_judge(&c);
	doctor_tracking_judge(&c);
	if (!n->kernel_off) {
		doctor_modules_judge(&c);
		doctor_ftp_judge(&c);
		doctor_sysctls_judge(&c);
		doctor_rivals_judge(&c);
		doctor_filters_judge(&c);
		doctor_foreign_judge(&c);
		doctor_paths_judge(&c);
		doctor_flood_judge(&c);
	}
	doctor_uses_clear(&uses);
	sort_findings(ret_report);
	make_findings_utf8(ret_report);
}

void doctor_report_clear(struct doctor_report *r)
{
	for (size_t i = 0; i < r->findings.count; i++) {
		struct doctor_finding *f = r->findings.items[i];

		free(f->object);
		free(f->what);
		free(f->why);
		free(f->mend);
		free(f);
	}
	vec_clear(&r->findings);
	*r = (struct doctor_report){0};
}
