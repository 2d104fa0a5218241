// SPDX-License-Identifier: GPL-2.0-or-later
// The sum of a failover by DNS, and its sentences.
#include "plan/failover.h"

#include <stdio.h>

#include "base/text.h"
#include "health/window.h"
#include "model/health_check.h"

const char *failover_part_name(enum failover_part p)
{
	static const char *const names[] = {
		[FAILOVER_VIP] = "vip_probe",
		[FAILOVER_SERVER] = "health_check",
		[FAILOVER_PUBLICATION_PART] = "publication",
		[FAILOVER_TTL] = "dns_ttl",
	};
	_Static_assert(sizeof(names) / sizeof(names[0]) == FAILOVER_PARTS, "a name for each part");
	return names[p];
}

static size_t count_zones(const struct load_balancer *lb)
{
	size_t count = 0;
	for (size_t i = 0; i < lb->zones.count; i++)
		count += ((const struct lb_zone *)lb->zones.items[i])->enabled;
	return count;
}

/* Clients of a family have another zone to go to only among those with an address of it. */
static bool has_another_zone(const struct load_balancer *lb)
{
	size_t counts[2] = {0};

	for (size_t i = 0; i < lb->zones.count; i++) {
		const struct lb_zone *z = lb->zones.items[i];

		counts[0] += z->enabled && addr_is_set(&z->vip4);
		counts[1] += z->enabled && addr_is_set(&z->vip6);
	}
	return counts[0] > 1 || counts[1] > 1;
}

static void find_slowest_group(const struct snapshot *s, const struct load_balancer *lb,
			       struct failover *f)
{
	for (size_t i = 0; i < lb->listeners.count; i++) {
		const struct listener *l = lb->listeners.items[i];
		const struct server_group *g = snapshot_find_group(s, l->server_group);
		if (!g || !g->health_check.enabled)
			continue;
		bool deaf = health_check_takes_silence(&g->health_check);
		struct health_settings settings = window_settings(&g->health_check);
		usec_t d = window_answer(&g->health_check, 0);
		usec_t worst = deaf ? window_refused(&g->health_check, d).worst
				    : window_silent(&settings, d).worst;
		if (deaf && !f->deaf)
			f->deaf = g;
		if (worst > f->worst[FAILOVER_SERVER]) {
			f->worst[FAILOVER_SERVER] = worst;
			f->slow = g;
		}
	}
}

struct failover failover_estimate(const struct snapshot *s, const struct load_balancer *lb,
				  uint32_t ttl_now_s)
{
	struct failover f = {.possible = lb->dns_name && lb->enabled && has_another_zone(lb),
			     .ttl_now = ttl_now_s};
	struct health_settings vip = window_vip_settings(&lb->vip_probe);

	f.worst[FAILOVER_VIP] = window_silent(&vip, 0).worst;
	f.worst[FAILOVER_PUBLICATION_PART] = FAILOVER_PUBLICATION;
	f.worst[FAILOVER_TTL] = lb->dns_ttl_s * USEC_PER_SEC;
	find_slowest_group(s, lb, &f);
	f.detection = f.worst[FAILOVER_SERVER] > f.worst[FAILOVER_VIP] ? FAILOVER_SERVER
								       : FAILOVER_VIP;
	f.dominant = f.worst[FAILOVER_TTL] > f.worst[f.detection] ? FAILOVER_TTL : f.detection;
	f.total = f.worst[f.detection] + f.worst[FAILOVER_PUBLICATION_PART] + f.worst[FAILOVER_TTL];
	return f;
}

uint32_t failover_fitting_ttl(const struct failover *f)
{
	usec_t seen = f->worst[f->detection];
	uint32_t ttl = (uint32_t)(seen / USEC_PER_SEC);
	return ttl > 0 ? ttl : 1;
}

static double seconds(usec_t usec)
{
	return (double)usec / (double)USEC_PER_SEC;
}

static void describe_server(const struct failover *f, char text[FAILOVER_TEXT_MAX])
{
	const struct health_check *h = &f->slow->health_check;

	snprintf(
		text, FAILOVER_TEXT_MAX,
		"%s servers of group %s%s: a probe every %u ms, at most %u ms each, %u failure%s%s",
		health_check_takes_silence(h) ? "refused" : "silent", f->slow->o.name,
		health_check_takes_silence(h) ? " (an ICMP error comes)" : "", h->interval_ms,
		h->timeout_ms, h->unhealthy_threshold, TEXT_S(h->unhealthy_threshold),
		h->fast_retry ? "" : ", no fast retry");
}

static void describe_ttl(const struct failover *f, const struct load_balancer *lb,
			 char text[FAILOVER_TEXT_MAX])
{
	int length = snprintf(text, FAILOVER_TEXT_MAX,
			      "resolvers and clients keep an answer for dns_ttl_s");

	if (f->ttl_now < lb->dns_ttl_s)
		snprintf(text + length, FAILOVER_TEXT_MAX - (size_t)length,
			 "; answers have %u s now, while a zone is left out", f->ttl_now);
}

const char *failover_describe(const struct failover *f, const struct load_balancer *lb,
			      enum failover_part p, char text[FAILOVER_TEXT_MAX])
{
	const struct vip_probe *v = &lb->vip_probe;

	switch (p) {
	case FAILOVER_VIP:
		snprintf(text, FAILOVER_TEXT_MAX,
			 "a dead VIP: %s probe every %u ms, at most %u ms each, %u failure%s",
			 v->type == VIP_PROBE_TCP ? "tcp" : "icmp", v->interval_ms, v->timeout_ms,
			 v->unhealthy_threshold, TEXT_S(v->unhealthy_threshold));
		break;
	case FAILOVER_SERVER:
		if (f->slow)
			describe_server(f, text);
		else
			snprintf(text, FAILOVER_TEXT_MAX,
				 "no server is probed: dead ones are not seen");
		break;
	case FAILOVER_PUBLICATION_PART:
		snprintf(text, FAILOVER_TEXT_MAX,
			 "from the verdict to the first answer without the zone");
		break;
	case FAILOVER_TTL:
		describe_ttl(f, lb, text);
		break;
	case FAILOVER_PARTS:
		text[0] = '\0';
		break;
	}
	return text;
}

static void advise_impossible(const struct load_balancer *lb, char text[FAILOVER_TEXT_MAX])
{
	if (!lb->dns_name)
		snprintf(
			text, FAILOVER_TEXT_MAX,
			"it has no dns_name: clients use an address, and nothing takes them elsewhere");
	else if (!lb->enabled)
		snprintf(text, FAILOVER_TEXT_MAX, "it is disabled: its name has no address");
	else if (count_zones(lb) > 1)
		snprintf(
			text, FAILOVER_TEXT_MAX,
			"no two of its %zu enabled zones have an address of one family: clients of either "
			"have no other to go to; give them vip4 or vip6",
			count_zones(lb));
	else
		snprintf(text, FAILOVER_TEXT_MAX,
			 "it has %zu enabled zone%s: there is no other to go to; add one",
			 count_zones(lb), TEXT_S(count_zones(lb)));
}

const char *failover_advise(const struct failover *f, const struct load_balancer *lb,
			    char text[FAILOVER_TEXT_MAX])
{
	char head[120];
	char tail[200] = "";

	if (!f->possible) {
		advise_impossible(lb, text);
		return text;
	}
	if (f->deaf)
		snprintf(tail, sizeof(tail),
			 ". Silent servers of group %s pass its check and are never left out",
			 f->deaf->o.name);
	snprintf(head, sizeof(head), "%s is %.1f s of %.1f s", failover_part_name(f->dominant),
		 seconds(f->worst[f->dominant]), seconds(f->total));
	if (f->dominant == FAILOVER_TTL)
		snprintf(
			text, FAILOVER_TEXT_MAX,
			"%s: lower dns_ttl_s (%u) to %u, and clients keep a dead address for %u s at most once "
			"it is out of the answers; they ask DNS more often for it%s",
			head, lb->dns_ttl_s, failover_fitting_ttl(f), failover_fitting_ttl(f),
			tail);
	else if (f->dominant == FAILOVER_SERVER && f->slow)
		snprintf(text, FAILOVER_TEXT_MAX,
			 "%s: lower interval_ms, timeout_ms or unhealthy_threshold of group %s's "
			 "health_check%s",
			 head, f->slow->o.name, tail);
	else
		snprintf(text, FAILOVER_TEXT_MAX,
			 "%s: lower interval_ms, timeout_ms or unhealthy_threshold of vip_probe%s",
			 head, tail);
	return text;
}

/* Of a family without a healthy zone, or with one only: what its clients get. */
static size_t warn_family(const struct failover_family *f, const char *head,
			  char text[FAILOVER_TEXT_MAX], size_t used)
{
	char *at = text + used;
	const size_t room = FAILOVER_TEXT_MAX - used;
	int length;

	if (f->healthy > 0)
		length = snprintf(
			at, room,
			"%sonly zone %s is healthy and handed out: when it fails, clients have nowhere to "
			"go by it until another zone is",
			head, f->zone);
	else if (f->answered == 0)
		length = snprintf(
			at, room,
			"%sDNS hands out no zone: clients have nowhere to go until one is", head);
	else if (f->fail_open)
		length = snprintf(
			at, room,
			"%sno zone is known to be healthy, so DNS hands out %zu zone%s all the same "
			"(fail-open): clients have no healthy one to go to until one is",
			head, f->answered, TEXT_S(f->answered));
	else
		length = snprintf(
			at, room,
			"%sno zone has its first verdict yet, so DNS hands out %zu zone%s all the "
			"same: whether clients have one to go to is not known until then",
			head, f->answered, TEXT_S(f->answered));
	return used + (size_t)length;
}

static bool is_lacking(const struct failover_family *f)
{
	return f->zones > 0 && f->healthy == 0;
}

const char *failover_warn(const struct failover *f, const struct failover_now *now,
			  char text[FAILOVER_TEXT_MAX])
{
	static const char *const heads[] = {"IPv4: ", "IPv6: "};
	const struct failover_family *v4 = &now->families[0], *v6 = &now->families[1];
	const bool alike = is_lacking(v4) && is_lacking(v6) && v4->answered == v6->answered &&
			   v4->fail_open == v6->fail_open;
	size_t used = 0;

	text[0] = '\0';
	if (!f->possible)
		return NULL;
	if (now->ready == 1)
		used = (size_t)snprintf(
			text, FAILOVER_TEXT_MAX,
			"only zone %s is healthy and handed out: when it fails, clients have nowhere to "
			"go until another zone is",
			now->zone);
	for (size_t i = 0; i < (alike ? 1U : 2U); i++) {
		const bool only = alike || now->families[1 - i].zones == 0;
		const bool alone = now->ready > 1 && now->families[i].zones > 1 &&
				   now->families[i].healthy == 1;

		if (!alone && !is_lacking(&now->families[i]))
			continue;
		if (used)
			used += (size_t)snprintf(text + used, FAILOVER_TEXT_MAX - used, "; ");
		used = warn_family(&now->families[i], only ? "" : heads[i], text, used);
	}
	return used ? text : NULL;
}
