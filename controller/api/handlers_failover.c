// SPDX-License-Identifier: GPL-2.0-or-later
// The time of a failover by DNS, of one load balancer.
#include "api/handlers.h"

#include "api/absent.h"
#include "api/context.h"
#include "api/reply.h"
#include "dns/preview.h"
#include "engine/shifts.h"
#include "engine/status.h"
#include "plan/failover.h"
#include "zone/zone.h"

#include <string.h>

/* The TTL of the answers now: shorter than configured while a zone is left out. */
static uint32_t failover_ttl(const struct engine *e, const struct load_balancer *lb)
{
	const struct view *view = engine_dns_view(e);
	struct preview p;

	if (!view || !lb->dns_name || preview_make(view, lb->dns_name, VIEW_V4, NULL, &p) ||
	    p.ttl == 0)
		return lb->dns_ttl_s;
	return p.ttl;
}

static json_t *failover_parts(const struct failover *f, const struct load_balancer *lb)
{
	char text[FAILOVER_TEXT_MAX];
	json_t *list = json_array();

	for (enum failover_part p = FAILOVER_VIP; p < FAILOVER_PARTS; p++) {
		bool counted = p > FAILOVER_SERVER || p == f->detection;

		json_array_append_new(list, json_pack("{s:s, s:I, s:b, s:s}", "part",
						      failover_part_name(p), "worst_ms",
						      (json_int_t)(f->worst[p] / USEC_PER_MS),
						      "counted", counted, "detail",
						      failover_describe(f, lb, p, text)));
	}
	return list;
}

static void failover_count(void *ctx, const struct zone_publication *p)
{
	struct failover_now *now = ctx;
	struct failover_family *f = &now->families[p->family == AF_INET6];
	const bool healthy = strcmp(p->reason_code, zone_reason_name(ZONE_REASON_HEALTHY)) == 0;

	if (strcmp(p->reason_code, zone_reason_name(ZONE_REASON_DISABLED)) == 0)
		return;
	f->zones++;
	f->answered += p->published;
	f->healthy += p->published && healthy;
	f->fail_open = f->fail_open || p->fail_open;
	if (p->published && healthy)
		f->zone = p->zone;
	/* They come in the order of zones. */
	if (!p->published || !healthy || (now->zone && strcmp(now->zone, p->zone) == 0))
		return;
	now->ready++;
	now->zone = p->zone;
}

static json_t *failover_show(const struct engine *e, const struct load_balancer *lb)
{
	uint32_t ttl = failover_ttl(e, lb);
	struct failover f = failover_estimate(engine_snapshot(e), lb, ttl);
	char text[FAILOVER_TEXT_MAX], warning[FAILOVER_TEXT_MAX];
	struct failover_now now = {0};

	engine_each_publication(e, lb->o.name, failover_count, &now);
	return json_pack("{s:s, s:s?, s:o, s:I, s:s?, s:o, s:s?, s:s}", "load_balancer", lb->o.name,
			 "dns_name", lb->dns_name, "total_ms",
			 f.possible ? json_integer((json_int_t)(f.total / USEC_PER_MS))
				    : json_null(),
			 "ttl_s", (json_int_t)ttl, "dominant",
			 f.possible ? failover_part_name(f.dominant) : NULL, "parts",
			 failover_parts(&f, lb), "warning", failover_warn(&f, &now, warning),
			 "advice", failover_advise(&f, lb, text));
}

void handlers_failover_time(struct request *r)
{
	const struct engine *e = r->api->engine;
	const struct load_balancer *lb;
	struct object_path path;

	if (reply_find_path(r, &path))
		return;
	lb = snapshot_find_lb(engine_snapshot(e), path.name);
	if (lb)
		request_reply_json(r, 200, failover_show(e, lb));
	else
		absent_refuse(r, &path);
}
