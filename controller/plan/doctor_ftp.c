// SPDX-License-Identifier: GPL-2.0-or-later
// FTP behind NAT: client and server tell each other addresses in the control connection, and the kernel's ip_vs_ftp rewrites them: those
// of PORT alone, and those of the answer to PASV by connection tracking. For a service of port 21 IPVS itself has such connections tracked,
// whatever net.ipv4.vs.conntrack is; for a firewall mark it does not.
#include "plan/doctor_rules.h"

#include <errno.h>
#include <linux/ip_vs.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "plan/doctor_chains.h"

#define FTP_PORT 21

static bool has_port(const struct listener *l)
{
	return l->protocol == PROTOCOL_TCP &&
	       (l->port == FTP_PORT ||
		(l->ports.to && l->ports.from <= FTP_PORT && FTP_PORT <= l->ports.to));
}

/* What is more specific wins. */
static bool is_first(const struct load_balancer *lb, const struct listener *l)
{
	for (size_t i = 0; !l->port && i < lb->listeners.count; i++) {
		const struct listener *other = lb->listeners.items[i];

		if (other != l && has_port(other) &&
		    (other->port ||
		     other->ports.to - other->ports.from < l->ports.to - l->ports.from))
			return false;
	}
	return true;
}

/* Addresses in its sessions are to be rewritten: not by the range in which another listener has the port. */
static bool is_rewritten(const struct doctor_case *c, const struct load_balancer *lb,
			 const struct listener *l)
{
	return has_port(l) && is_first(lb, l) &&
	       doctor_uses_listener_forwards(c, l, IP_VS_CONN_F_MASQ);
}

struct ftp_place {
	const struct load_balancer *lb;
	const struct listener *listener; /* NULL: there is none */
};

struct ftp_search {
	const struct doctor_case *c;
	struct ftp_place first;
	struct ftp_place ranged; /* the first one over a range */
};

static bool ftp_note(void *ctx, const struct load_balancer *lb, const struct listener *l)
{
	struct ftp_search *s = ctx;

	if (!is_rewritten(s->c, lb, l))
		return false;
	if (!s->first.listener)
		s->first = (struct ftp_place){lb, l};
	if (!l->port && !s->ranged.listener)
		s->ranged = (struct ftp_place){lb, l};
	return false;
}

static struct doctor_finding *ftp_add(const struct ftp_search *s, const char *code,
				      enum doctor_severity severity, const struct ftp_place *p)
{
	AUTO_FREE char *object = mem_printf("/load_balancers/%s/listeners/%s", p->lb->o.name,
					    p->listener->o.name);

	return doctor_add(s->c, severity, code, object);
}

static bool module_looks_at_port(const struct doctor_facts *f)
{
	for (size_t i = 0; i < f->ftp_port_count; i++)
		if (f->ftp_ports[i] == FTP_PORT)
			return true;
	return false;
}

static void judge_module(const struct ftp_search *s)
{
	const struct doctor_facts *facts = s->c->facts;
	AUTO_BUF struct buf_writer ports = {0};
	struct doctor_finding *f;

	if (facts->ftp_error == -ENOENT && !doctor_has_name(&facts->modules, "ip_vs_ftp")) {
		f = ftp_add(s, "ftp_module_missing", DOCTOR_ERROR, &s->first);
		f->what = mem_printf("%s/%s takes FTP to servers behind NAT, and the module "
				     "ip_vs_ftp is not in the kernel",
				     s->first.lb->o.name, s->first.listener->o.name);
		f->why = mem_strdup(
			"sessions begin, and no list and no file comes: what client and server tell each other of "
			"their addresses is not rewritten");
		f->mend = mem_strdup("modprobe ip_vs_ftp");
		return;
	}
	if (facts->ftp_error || module_looks_at_port(facts))
		return;
	buf_writer_init(&ports, 128);
	/* Of those that it has the last may not find room. */
	for (size_t i = 0; i < facts->ftp_port_count && i < DOCTOR_FTP_MAX - 1; i++)
		buf_write_format(&ports, ",%u", facts->ftp_ports[i]);
	f = ftp_add(s, "ftp_port_unwatched", DOCTOR_ERROR, &s->first);
	f->what = mem_printf("ip_vs_ftp looks at the ports %s, and not at %d of %s/%s",
			     facts->ftp_port_count ? buf_text(&ports) + 1 : "of nobody", FTP_PORT,
			     s->first.lb->o.name, s->first.listener->o.name);
	f->why = mem_strdup("sessions begin, and no list and no file comes");
	f->mend = mem_printf("modprobe -r ip_vs_ftp && modprobe ip_vs_ftp ports=%d%s"
			     "  # once its sessions have ended",
			     FTP_PORT, facts->ftp_port_count ? buf_text(&ports) : "");
}

static bool has_listener(const struct load_balancer *lb, const char *name)
{
	for (size_t i = 0; i < lb->listeners.count; i++)
		if (strcmp(((const struct listener *)lb->listeners.items[i])->o.name, name) == 0)
			return true;
	return false;
}

/* A rule with one of these has the kernel track connections of its family, as long as it stands. */
static bool rule_tracks(const struct chain_rule *r)
{
	static const char *const modules[] = {"conntrack", "state",     "connmark", "connlimit",
					      "connbytes", "connlabel", "helper"};
	static const char *const targets[] = {"MASQUERADE", "SNAT",     "DNAT",    "REDIRECT",
					      "NETMAP",     "CONNMARK", "SYNPROXY"};

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(r->target, targets[i]) == 0)
			return true;
	for (size_t i = 0; i + 1 < r->words.count; i++)
		for (size_t m = 0; strcmp(r->words.items[i], "-m") == 0 &&
				   m < sizeof(modules) / sizeof(modules[0]);
		     m++)
			if (strcmp(r->words.items[i + 1], modules[m]) == 0)
				return true;
	return false;
}

static bool chain_tracks(const struct chain *c)
{
	for (size_t i = 0; i < c->rules.count; i++)
		if (rule_tracks(c->rules.items[i]))
			return true;
	return false;
}

/* Answers to PASV have an address of IPv4 (RFC 959). */
static bool rules_track(const struct doctor_facts *f)
{
	bool found = false;

	for (size_t i = 0; i < f->rules.count && !found; i++) {
		const struct doctor_rules *r = f->rules.items[i];
		struct vec chains;

		if (r->family != RULESET_V4)
			continue;
		doctor_chains_read(r->text, &chains);
		for (size_t j = 0; j < chains.count && !found; j++)
			found = chain_tracks(chains.items[j]);
		doctor_chains_clear(&chains);
	}
	return found;
}

/* A listener of its own for the port, with what keeps clients out of the range: that of the range does not hold for it. */
static char *own_listener(const struct ftp_place *p)
{
	const struct listener *l = p->listener;
	const bool taken = has_listener(p->lb, "ftp");
	AUTO_BUF struct buf_writer w = {0};

	buf_writer_init(&w, 128);
	buf_write_format(&w, "zonegate listener set %s/%s%s protocol=tcp port=%d server_group=%s",
			 p->lb->o.name, taken ? l->o.name : "ftp", taken ? "-ftp" : "", FTP_PORT,
			 l->server_group);
	if (l->access_list)
		buf_write_format(&w, " access_list=%s", l->access_list);
	if (l->rate_limit)
		buf_write_format(&w, " rate_limit=%u", l->rate_limit);
	if (l->max_connections)
		buf_write_format(&w, " max_connections=%u", l->max_connections);
	return buf_take(&w);
}

/* Only for a service of port 21 does IPVS itself switch connection tracking on. That nothing is tracked now is no sign that nothing would
 * be; where there is no connection tracking at all it is sure. */
static void judge_range(const struct ftp_search *s)
{
	const struct doctor_value *count = &s->c->facts->sysctls[DOCTOR_TRACK_COUNT];
	const bool sure = count->error == -ENOENT &&
			  !doctor_has_module(s->c->facts, "nf_conntrack");
	struct doctor_finding *f;

	if (!s->ranged.listener || (!count->error && count->value > 0) || rules_track(s->c->facts))
		return;
	f = ftp_add(s, "ftp_range_untracked", sure ? DOCTOR_WARNING : DOCTOR_INFO, &s->ranged);
	f->what = mem_printf(
		sure ? "port %d is in the range of %s/%s, and nothing has its connections tracked"
		     : "port %d is in the range of %s/%s; nothing is tracked at the moment, and whether its "
		       "connections would be cannot be seen from here",
		FTP_PORT, s->ranged.lb->o.name, s->ranged.listener->o.name);
	f->why = mem_strdup(
		"for a firewall mark IPVS does not see to that: answers to PASV of connections that are not tracked "
		"keep the server's own address");
	f->mend = own_listener(&s->ranged);
}

void doctor_ftp_judge(const struct doctor_case *c)
{
	struct ftp_search s = {.c = c};

	doctor_uses_walk(c->node, ftp_note, &s);
	if (!s.first.listener)
		return;
	judge_module(&s);
	judge_range(&s);
}
