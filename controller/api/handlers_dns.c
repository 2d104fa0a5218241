// SPDX-License-Identifier: GPL-2.0-or-later
// What DNS answers now, for people: one name with what is left out and why.
#include "api/handlers.h"

#include "api/context.h"
#include "api/publication_json.h"
#include "api/request.h"
#include "base/buf.h"
#include "base/mem.h"
#include "dns/preview.h"
#include "dns/wire.h"
#include "engine/status.h"

#include <string.h>
#include <strings.h>

#define PREVIEW_NAMES_SHOWN 5
#define PREVIEW_DETAIL_MAX  4096

struct preview_question {
	const char *name;
	char shown[DNS_NAME_TEXT_MAX]; /* printable, whatever was asked */
	enum view_family family;
	bool has_client;
	struct addr client;
};

/* Every fault of the query is told; 0 or -EINVAL (replied). */
static int preview_read(struct request *r, struct preview_question *ret_question)
{
	const char *type = uri_query(&r->uri, "type"), *client = uri_query(&r->uri, "client");
	AUTO_ERR struct err faults = {0};
	struct dns_name name;
	int result = 0;

	ret_question->name = uri_query(&r->uri, "name");
	if (!ret_question->name)
		result = err_set(&faults, ERR_SYNTAX, "", "query parameter name: is required");
	else if (dns_name_parse(ret_question->name, &name))
		result = err_set(&faults, ERR_SYNTAX, "", "query parameter name: no domain name");
	else
		dns_name_format(&name, ret_question->shown);
	if (type && strcasecmp(type, "AAAA") == 0)
		ret_question->family = VIEW_V6;
	else if (type && strcasecmp(type, "A") != 0)
		result = err_set(&faults, ERR_SYNTAX, "",
				 "query parameter type: A or AAAA is expected");
	ret_question->has_client = client != NULL;
	if (client && addr_parse(client, &ret_question->client))
		result = err_set(&faults, ERR_SYNTAX, "",
				 "query parameter client: an IP address is expected");
	if (result)
		request_fail_faults(r, &faults);
	return result;
}

static const char *preview_rcode(uint16_t rcode)
{
	if (rcode == WIRE_NOERROR)
		return "NOERROR";
	return rcode == WIRE_NXDOMAIN ? "NXDOMAIN" : "REFUSED";
}

static const char *preview_affinity(enum view_affinity a)
{
	switch (a) {
	case VIEW_AFFINITY_ANY:
		return "any";
	case VIEW_AFFINITY_PARTIAL:
		return "partial";
	case VIEW_AFFINITY_ZONE:
		return "zone";
	}
	return "";
}

/* The verdict on a zone as a sentence. A zone's own name is answered whatever that is. */
static char *preview_detail(const struct preview *preview, const struct zone_publication *p)
{
	char sentence[PUBLICATION_TEXT_MAX] = "";

	if (!p)
		return mem_strdup("");
	publication_json_describe(p, sentence);
	if (!preview->zone)
		return mem_strdup(sentence);
	return mem_printf(
		"the name of a zone is always answered; under that of the load balancer: %s",
		sentence);
}

static json_t *preview_address(const struct preview *preview, const struct preview_address *a,
			       const struct publication_list *publications)
{
	const struct zone_publication *p = NULL;
	AUTO_FREE char *detail = NULL;
	char text[ADDR_TEXT_MAX];

	if (a->zone)
		p = publication_json_find(publications, a->zone, a->address.family);
	detail = preview_detail(preview, p);
	return json_pack("{s:s, s:s?, s:b, s:i, s:s?, s:s?, s:s?, s:s}", "address",
			 addr_format(&a->address, text), "zone", a->zone, "published", a->published,
			 "share_percent", (int)a->share, "reason_code", a->reason, "server_group",
			 p ? p->group : NULL, "shift", p ? p->shift : NULL, "detail", detail);
}

static json_t *preview_addresses(const struct engine *e, const struct preview *p)
{
	struct publication_list publications = {0};
	json_t *list = json_array();

	if (p->balancer)
		publication_json_collect(e, p->balancer, &publications);
	for (size_t i = 0; i < p->count; i++)
		json_array_append_new(list, preview_address(p, &p->addresses[i], &publications));
	free(publications.list);
	return list;
}

/* "a, b and 3 more". Caller frees. */
static char *preview_names(const struct snapshot *s)
{
	struct buf_writer w;
	size_t named = 0;

	buf_writer_init(&w, PREVIEW_DETAIL_MAX);
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		if (lb->dns_name && named++ < PREVIEW_NAMES_SHOWN)
			buf_write_format(&w, "%s%s", named > 1 ? ", " : "", lb->dns_name);
	}
	if (named > PREVIEW_NAMES_SHOWN)
		buf_write_format(&w, " and %zu more", named - PREVIEW_NAMES_SHOWN);
	return named > 0 ? buf_take(&w) : NULL;
}

/* Why an answer has nothing to choose from: "" where it has, or where the name is an apex. Caller frees. */
static char *preview_lack(const struct preview_question *q, const struct preview *p,
			  const json_t *addresses)
{
	const int family = q->family == VIEW_V6 ? 6 : 4;

	if (!p->balancer || json_array_size(addresses) > 0)
		return mem_strdup("");
	if (p->zone)
		return mem_printf("zone %s of load balancer %s has no IPv%d address (vip%d)",
				  p->zone, p->balancer, family, family);
	return mem_printf("no zone of load balancer %s has an IPv%d address (vip%d)", p->balancer,
			  family, family);
}

/* Why there is no answer. Caller frees. */
static char *preview_reason(const struct snapshot *s, const struct preview_question *q,
			    const struct preview *p, const struct load_balancer *lb)
{
	AUTO_FREE char *names = NULL;

	if (lb && lb->dns_name)
		return mem_printf("%s is the load balancer; its dns_name is %s", lb->o.name,
				  lb->dns_name);
	if (lb)
		return mem_printf("the load balancer %s has no dns_name: clients use its addresses",
				  lb->o.name);
	names = preview_names(s);
	if (!names)
		return mem_printf("%s is no name of ours: no load balancer has a dns_name",
				  q->shown);
	return mem_printf("%s is the dns_name of no load balancer%s; there are %s", q->shown,
			  p->rcode == WIRE_NXDOMAIN ? ", though under an apex" : "", names);
}

static json_t *preview_show(const struct engine *e, const struct preview_question *q,
			    const struct preview *p)
{
	const struct snapshot *s = engine_snapshot(e);
	const struct load_balancer *lb = p->rcode == WIRE_NOERROR ? NULL
								  : snapshot_find_lb(s, q->name);
	json_t *addresses = preview_addresses(e, p);
	AUTO_FREE char *reason = p->rcode == WIRE_NOERROR ? preview_lack(q, p, addresses)
							  : preview_reason(s, q, p, lb);

	return json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:s?, s:s?, s:s, s:s?, s:i, s:o, s:s, s:s?}",
		"name", q->shown, "type", q->family == VIEW_V6 ? "AAAA" : "A", "rcode",
		preview_rcode(p->rcode), "serial", (json_int_t)p->serial, "ttl_s",
		(json_int_t)p->ttl, "negative_ttl_s", (json_int_t)p->negative_ttl, "load_balancer",
		p->balancer, "zone", p->zone, "client_affinity", preview_affinity(p->affinity),
		"client_zone", p->client_zone, "scope", (int)p->scope, "addresses", addresses,
		"detail", reason, "meant", lb ? lb->dns_name : NULL);
}

void handlers_dns_preview(struct request *r)
{
	const struct view *view = engine_dns_view(r->api->engine);
	struct preview_question q = {.family = VIEW_V4};
	struct preview preview;

	if (preview_read(r, &q))
		return;
	if (!view)
		request_fail(r, PROBLEM_DNS_UNAVAILABLE,
			     "no verdict on any zone was made yet; ask again");
	else if (preview_make(view, q.name, q.family, q.has_client ? &q.client : NULL, &preview))
		request_fail(r, PROBLEM_INTERNAL, "the name was one and is none");
	else
		request_reply_json(r, 200, preview_show(r->api->engine, &q, &preview));
}
