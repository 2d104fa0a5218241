// SPDX-License-Identifier: GPL-2.0-or-later
// What goes to a server, in a few words: that of the check, as no probe sends anything else.
#include "health/evidence_sent.h"

#include "model/health_check.h"

#include <stdio.h>

static const char *evidence_sent_datagram(const struct health_check *c)
{
	return c->request ? c->request : "DNS query example.com A";
}

static void evidence_sent_http(const struct health_check *c, char *buf, size_t size)
{
	static const char *const methods[] = {[HTTP_HEAD] = "HEAD", [HTTP_GET] = "GET"};

	snprintf(buf, size, "%s %s HTTP/1.1%s%s", methods[c->method], c->path,
		 c->host ? ", Host " : "", c->host ? c->host : "");
}

static void evidence_sent_dns(const struct health_check *c, char *buf, size_t size)
{
	snprintf(buf, size, "DNS query %s %s", health_check_dns_name(c), health_check_dns_type(c));
}

const char *evidence_sent(const struct health_check *c, char buf[EVIDENCE_SENT_MAX])
{
	const size_t size = EVIDENCE_SENT_MAX;

	switch (c->type) {
	case CHECK_TCP:
		return c->handshake == HANDSHAKE_HALF_OPEN ? "SYN" : "connect";
	case CHECK_TLS:
		snprintf(buf, size, "TLS handshake%s%s", c->sni ? ", SNI " : "",
			 c->sni ? c->sni : "");
		return buf;
	case CHECK_HTTP:
	case CHECK_HTTPS:
		evidence_sent_http(c, buf, size);
		return buf;
	case CHECK_GRPC:
		snprintf(buf, size, "grpc.health.v1.Health/Check%s%s", c->service ? " " : "",
			 c->service ? c->service : "");
		return buf;
	case CHECK_UDP:
		snprintf(buf, size, "%s", evidence_sent_datagram(c));
		return buf;
	case CHECK_ICMP:
		return "echo request";
	case CHECK_ICMP_UDP:
		snprintf(buf, size, "echo request, %s", evidence_sent_datagram(c));
		return buf;
	case CHECK_DNS:
		evidence_sent_dns(c, buf, size);
		return buf;
	}
	return "";
}
