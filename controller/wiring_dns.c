// SPDX-License-Identifier: GPL-2.0-or-later
// From the settings of [dns] to the DNS server: addresses, prefixes and names as text become values.
#include "wiring_dns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/endpoint.h"
#include "base/mem.h"
#include "dns/dns_name.h"
#include "dnsio/dnsd.h"
#include "engine/engine.h"
#include "engine/status.h"
#include "settings.h"

#define DNS_PORT  53
#define RRL_SLIP  2 /* of what is limited, one in two is answered "truncated" */
#define RRL_BURST 5 /* seconds of the rate */

static bool listens_twice(const struct dnsd_settings *d, const struct endpoint *p)
{
	for (size_t i = 0; i < d->listen_count; i++)
		if (d->listen[i].port == p->port &&
		    addr_compare(&d->listen[i].address, &p->address) == 0)
			return true;
	return false;
}

static void fill_listen(const struct settings_list *list, struct dnsd_settings *d, struct err *e)
{
	static const struct endpoint_rule rule = {"[dns] listen", DNS_PORT, 1};

	for (size_t i = 0; i < list->count; i++) {
		struct endpoint p;

		if (endpoint_parse(list->items[i], &rule, e, &p) != 0)
			continue;
		if (listens_twice(d, &p))
			err_set(e, ERR_DUPLICATE, rule.place, "%s stands there twice",
				list->items[i]);
		else if (d->listen_count == DNSD_LISTEN_MAX)
			err_set(e, ERR_LIMIT, rule.place, "at most %d addresses", DNSD_LISTEN_MAX);
		else
			d->listen[d->listen_count++] = (struct dnsd_listen){.address = p.address,
									    .port = p.port};
	}
}

static void fill_exempt(const struct settings_list *list, struct rrl_settings *r, struct err *e)
{
	for (size_t i = 0; i < list->count; i++) {
		struct rrl_prefix p;

		if (addr_parse_prefix(list->items[i], &p.net, &p.length) != 0)
			err_set(e, ERR_FORMAT, "[dns] rrl_exempt",
				"\"%s\" is not a prefix like 10.0.0.0/8", list->items[i]);
		else if (r->exempt_count == RRL_EXEMPT_MAX)
			err_set(e, ERR_LIMIT, "[dns] rrl_exempt", "at most %d networks",
				RRL_EXEMPT_MAX);
		else
			r->exempt[r->exempt_count++] = p;
	}
}

/* The names of one key so far: the view is built of them without a word about those that are none. */
struct name_check {
	const char *place;
	struct dns_name names[SETTINGS_LIST_MAX];
	size_t count;
};

static void check_name(struct name_check *c, const char *text, struct err *e)
{
	struct dns_name *name = &c->names[c->count];

	if (dns_name_parse(text, name) != 0) {
		err_set(e, ERR_FORMAT, c->place, "\"%s\" is no domain name", text);
		return;
	}
	dns_name_lower(name);
	for (size_t k = 0; k < c->count; k++)
		if (dns_name_equal(&c->names[k], name))
			err_set(e, ERR_DUPLICATE, c->place, "%s stands there twice", text);
	c->count++;
}

static void check_apexes(const struct settings_list *list, struct err *e)
{
	struct name_check c = {.place = "[dns] apex"};

	if (list->count > ENGINE_APEXES_MAX)
		err_set(e, ERR_LIMIT, c.place, "at most %d names", ENGINE_APEXES_MAX);
	for (size_t i = 0; i < list->count; i++)
		check_name(&c, list->items[i], e);
}

int wiring_dns_parse_ns(const char *text, struct engine_name_server *ret_ns)
{
	char *copy AUTO_FREE = mem_strdup(text);
	char *next = copy;
	const char *name = strsep(&next, "=");
	const char *address;

	memset(ret_ns, 0, sizeof(*ret_ns));
	strncpy(ret_ns->name, name, sizeof(ret_ns->name) - 1);
	if (strlen(name) >= sizeof(ret_ns->name))
		return -EINVAL;
	while ((address = strsep(&next, "="))) {
		struct addr *a = &ret_ns->addresses[ret_ns->address_count];

		if (ret_ns->address_count == ENGINE_NS_ADDRESSES_MAX || addr_parse(address, a) != 0)
			return -EINVAL;
		for (size_t i = 0; i < ret_ns->address_count; i++)
			if (addr_compare(&ret_ns->addresses[i], a) == 0)
				return -EINVAL;
		ret_ns->address_count++;
	}
	return 0;
}

static void check_name_servers(const struct settings_list *list, struct err *e)
{
	struct name_check c = {.place = "[dns] ns"};
	struct engine_name_server ns;

	if (list->count > ENGINE_NS_MAX)
		err_set(e, ERR_LIMIT, c.place, "at most %d names", ENGINE_NS_MAX);
	for (size_t i = 0; i < list->count; i++) {
		if (wiring_dns_parse_ns(list->items[i], &ns) != 0)
			err_set(e, ERR_FORMAT, c.place,
				"\"%s\" is not NAME or NAME=ADDRESS=ADDRESS, with up to %d different "
				"addresses",
				list->items[i], ENGINE_NS_ADDRESSES_MAX);
		else
			check_name(&c, ns.name, e);
	}
}

/* "hostmaster@example.net", or the domain name of RFC 1035 with a dot for the @. */
static void check_hostmaster(const char *text, struct err *e)
{
	const char *at = strchr(text, '@');
	struct dns_name n;

	if ((at && (at == text || at - text > DNS_NAME_LABEL_MAX)) ||
	    dns_name_parse(at ? at + 1 : text, &n) != 0)
		err_set(e, ERR_FORMAT, "[dns] hostmaster",
			"\"%s\" is no mailbox like hostmaster@example.net", text);
}

static int fill(const struct settings *s, struct dnsd_settings *d, struct err *e)
{
	const char *nsid = s->dns_nsid ? s->dns_nsid : s->node_name;
	size_t before = e->total;

	dnsd_settings_init(d);
	fill_listen(&s->dns_listen, d, e);
	d->rrl.rate = s->dns_rrl;
	d->rrl.burst = s->dns_rrl * RRL_BURST;
	d->rrl.slip = RRL_SLIP;
	fill_exempt(&s->dns_rrl_exempt, &d->rrl, e);
	check_apexes(&s->dns_apex, e);
	check_name_servers(&s->dns_ns, e);
	if (s->dns_hostmaster)
		check_hostmaster(s->dns_hostmaster, e);
	if (strlen(nsid) > ANSWER_NSID_MAX)
		err_set(e, ERR_LIMIT, "[dns] nsid", "is longer than %d bytes", ANSWER_NSID_MAX);
	if (e->total != before)
		return -EINVAL;
	d->answer.nsid_size = (uint8_t)strlen(nsid);
	memcpy(d->answer.nsid, nsid, d->answer.nsid_size);
	return 0;
}

int wiring_dns_check(const struct settings *s, struct err *e)
{
	struct dnsd_settings *d AUTO_FREE = mem_new(struct dnsd_settings);

	return fill(s, d, e);
}

int wiring_dns_start(const struct settings *s, const struct view *view, struct err *e,
		     struct dnsd **ret_dnsd)
{
	struct dnsd_settings *d AUTO_FREE = mem_new(struct dnsd_settings);

	*ret_dnsd = NULL;
	if (fill(s, d, e) != 0)
		return -EINVAL;
	if (d->listen_count == 0)
		return 0;
	return dnsd_new(d, view, e, ret_dnsd) == 0 ? 0 : -EINVAL;
}

/* Counters without a name are of what never happens. */
static void read_counters(const char *const *names, const uint64_t *values, size_t count,
			  struct dns_counters *ret_counters)
{
	for (size_t i = 0; i < count && ret_counters->count < DNS_COUNTERS_MAX; i++)
		if (names[i])
			ret_counters->items[ret_counters->count++] = (struct dns_counter){
				names[i], values[i]};
}

/* Also those that did not come yet: who computes rates needs their 0. */
static void read_queries(const struct dnsd_stats *s, struct dns_status *ret_status)
{
	for (size_t i = 0; i < sizeof(s->queries) / sizeof(uint64_t); i++) {
		size_t transport = i % DNSD_TRANSPORT_COUNT;
		size_t rcode = i / DNSD_TRANSPORT_COUNT % DNSD_RCODE_COUNT;
		size_t qtype = i / DNSD_TRANSPORT_COUNT / DNSD_RCODE_COUNT;
		uint64_t value = s->queries[qtype][rcode][transport];

		if (dnsd_rcode_names[rcode] && ret_status->query_count < DNS_QUERY_COUNTERS_MAX)
			ret_status->queries[ret_status->query_count++] = (struct dns_query_counter){
				dnsd_qtype_names[qtype], dnsd_rcode_names[rcode],
				dnsd_transport_names[transport], value};
	}
}

_Static_assert(DNSD_LATENCY_COUNT <= DNS_COUNTERS_MAX, "all buckets are shown");

void wiring_dns_read(const struct dnsd *d, struct dns_status *ret_status)
{
	struct dnsd_stats s;

	memset(ret_status, 0, sizeof(*ret_status));
	if (!d)
		return;
	dnsd_read_stats(d, &s);
	ret_status->served = true;
	read_queries(&s, ret_status);
	read_counters(dnsd_event_names, s.events, DNSD_EVENT_COUNT, &ret_status->events);
	ret_status->latency_bounds = dnsd_latency_bounds;
	memcpy(ret_status->latency, s.latency, sizeof(s.latency));
	ret_status->latency_count = DNSD_LATENCY_COUNT;
	ret_status->latency_sum_usec = s.latency_sum_usec;
	ret_status->tcp_connections = s.tcp_connections;
}
