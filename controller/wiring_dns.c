// SPDX-License-Identifier: GPL-2.0-or-later
// From the settings of [dns] to the DNS server: addresses, prefixes and names as text become values.
#include "wiring_dns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dnsio/dnsd.h"
#include "settings.h"

#define DNS_PORT  53
#define RRL_SLIP  2 /* of what is limited, one in two is answered "truncated" */
#define RRL_BURST 5 /* seconds of the rate */

/* Splits "ADDRESS", "ADDRESS:PORT" or "[ADDRESS]:PORT" in place. */
static const char *split_port(char *text, char **ret_address)
{
	char *end;

	*ret_address = text;
	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end)
			return NULL;
		*ret_address = text + 1;
		*end = '\0';
		return end[1] == ':' ? end + 2 : (end[1] ? NULL : "53");
	}
	end = strchr(text, ':');
	if (!end || strchr(end + 1, ':')) /* none, or an IPv6 address by itself */
		return "53";
	*end = '\0';
	return end + 1;
}

static int parse_listen(const char *text, struct dnsd_listen *ret)
{
	char *copy AUTO_FREE = mem_strdup(text);
	char *address;
	char *end;
	const char *port = split_port(copy, &address);
	unsigned long number;

	if (!port || addr_parse(address, &ret->address) != 0)
		return -EINVAL;
	number = strtoul(port, &end, 10);
	if (!port[0] || *end || number == 0 || number > 65535)
		return -EINVAL;
	ret->port = (uint16_t)number;
	return 0;
}

static int fill(const struct settings *s, struct dnsd_settings *d, struct err *e)
{
	const char *nsid = s->dns_nsid ? s->dns_nsid : s->node_name;
	size_t before = e->total;

	dnsd_settings_init(d);
	if (s->dns_listen.count > DNSD_LISTEN_MAX)
		return err_set(e, ERR_LIMIT, "[dns] listen", "at most %d addresses",
			       DNSD_LISTEN_MAX);
	for (size_t i = 0; i < s->dns_listen.count; i++) {
		if (parse_listen(s->dns_listen.items[i], &d->listen[d->listen_count]) != 0)
			err_set(e, ERR_FORMAT, "[dns] listen",
				"\"%s\" is not ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT",
				s->dns_listen.items[i]);
		else
			d->listen_count++;
	}
	d->rrl.rate = s->dns_rrl;
	d->rrl.burst = s->dns_rrl * RRL_BURST;
	d->rrl.slip = RRL_SLIP;
	for (size_t i = 0; i < s->dns_rrl_exempt.count && i < RRL_EXEMPT_MAX; i++) {
		struct rrl_prefix *p = &d->rrl.exempt[d->rrl.exempt_count];

		if (addr_parse_prefix(s->dns_rrl_exempt.items[i], &p->net, &p->length) != 0)
			err_set(e, ERR_FORMAT, "[dns] rrl_exempt",
				"\"%s\" is not a prefix like 10.0.0.0/8",
				s->dns_rrl_exempt.items[i]);
		else
			d->rrl.exempt_count++;
	}
	if (strlen(nsid) > ANSWER_NSID_MAX)
		return err_set(e, ERR_LIMIT, "[dns] nsid", "is longer than %d bytes",
			       ANSWER_NSID_MAX);
	d->answer.nsid_size = (uint8_t)strlen(nsid);
	memcpy(d->answer.nsid, nsid, d->answer.nsid_size);
	return e->total == before ? 0 : -EINVAL;
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
