// SPDX-License-Identifier: GPL-2.0-or-later
// Names and addresses by which this node is asked for.
#include "api/tls_names.h"

#include "api/api.h"
#include "base/endpoint.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

static void tls_names_add(struct tls_names *n, const char *name)
{
	if (!name || !*name || strlen(name) >= TLS_NAME_MAX || n->count == TLS_NAMES_MAX)
		return;
	for (size_t i = 0; i < n->count; i++) {
		if (strcasecmp(n->list[i], name) == 0)
			return;
	}
	snprintf(n->list[n->count++], TLS_NAME_MAX, "%s", name);
}

static void tls_names_add_address(struct tls_names *n, const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	tls_names_add(n, addr_format(a, text));
}

/* Those of one family that others can reach us by. */
static void tls_names_add_interfaces(struct tls_names *n, uint8_t family)
{
	struct ifaddrs *list = NULL;
	struct addr a;
	uint16_t port;

	if (getifaddrs(&list) != 0)
		return;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (i->ifa_addr && i->ifa_addr->sa_family == family &&
		    addr_from_sockaddr(i->ifa_addr, &a, &port) == 0 && !addr_special_kind(&a))
			tls_names_add_address(n, &a);
	}
	freeifaddrs(list);
}

void tls_names_collect(struct tls_names *n, const struct api_settings *s)
{
	static const struct endpoint_rule rule = {"[api] tls_listen", 0, 0};
	AUTO_ERR struct err ignored = {0};
	struct endpoint p;

	tls_names_add(n, s->node_name);
	for (size_t i = 0; i < s->host_count; i++)
		tls_names_add(n, s->hosts[i]);
	tls_names_add(n, "localhost");
	tls_names_add(n, "127.0.0.1");
	tls_names_add(n, "::1");
	for (size_t i = 0; i < s->tls_listen_count; i++) {
		const char *kind;

		if (endpoint_parse(s->tls_listen[i], &rule, &ignored, &p) != 0)
			continue;
		kind = addr_special_kind(&p.address);
		if (kind && strcmp(kind, "unspecified") == 0)
			tls_names_add_interfaces(n, p.address.family);
		else
			tls_names_add_address(n, &p.address);
	}
}
