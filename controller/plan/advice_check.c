// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of advice about health checks. Times are those of health/window.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "health/window.h"
#include "model/health_check.h"
#include "plan/advice_rules.h"

#define SLOW_DETECTION   (30 * USEC_PER_SEC)
#define LONG_INTERVAL_MS 10000
#define FAST_INTERVAL_MS 2000
#define MANY_GATEWAYS    3
#define SECONDS_OF_A_DAY 86400
#define DNS_PORT         53

static const struct health_check *check_on(const struct advice_subject *s)
{
	const struct health_check *h = &s->group->health_check;
	return h->enabled ? h : NULL;
}

static unsigned probes_a_day(const struct health_check *h)
{
	return (unsigned)((uint64_t)SECONDS_OF_A_DAY * 1000 / h->interval_ms);
}

bool advice_check_is_off(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	if (s->group->servers.count == 0 && !check_on(s))
		return advice_say(
			text, "nothing is probed: a dead server keeps its share of connections");
	return !check_on(s) &&
	       advice_say(
		       text,
		       "nothing is probed: of %zu server%s a dead one keeps its share of connections",
		       s->group->servers.count, TEXT_S(s->group->servers.count));
}

bool advice_check_is_slow(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	if (!h)
		return false;
	struct health_settings settings = window_settings(h);
	bool deaf = health_check_takes_silence(h);
	usec_t worst = deaf ? window_refused(h, settings.timeout).worst
			    : window_silent(&settings, settings.timeout).worst;
	return worst > SLOW_DETECTION &&
	       advice_say(text,
			  "a server that %s gets connections for up to %.1f s (interval %u "
			  "ms, timeout %u ms, unhealthy_threshold %u%s)",
			  deaf ? "is refused by ICMP errors" : "falls silent",
			  (double)worst / (double)USEC_PER_SEC, h->interval_ms, h->timeout_ms,
			  h->unhealthy_threshold, h->fast_retry ? "" : ", fast_retry off");
}

bool advice_check_timeout_is_long(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	return h && h->timeout_ms >= h->interval_ms &&
	       advice_say(
		       text,
		       "timeout %u ms is not below interval %u ms: a slow server is probed every "
		       "%u ms only",
		       h->timeout_ms, h->interval_ms, h->timeout_ms);
}

bool advice_check_misses_intermittent(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	return h && h->window_failures == 0 && h->unhealthy_threshold > 1 &&
	       h->interval_ms >= LONG_INTERVAL_MS &&
	       advice_say(
		       text,
		       "a server that fails now and then, never %u times in a row, stays healthy; "
		       "with one probe every %u ms and no window nothing catches it",
		       h->unhealthy_threshold, h->interval_ms);
}

// Every gateway probes by itself; there is at least one for each zone.
bool advice_check_has_many_gateways(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	size_t gateways = s->at ? s->at->snapshot->zones.count : 0;
	return h && h->interval_ms < FAST_INTERVAL_MS && gateways >= MANY_GATEWAYS &&
	       advice_say(
		       text,
		       "every gateway probes: with one at least in each of the %zu zones a server "
		       "gets %.1f probes/s (interval %u ms)",
		       gateways, (double)gateways * 1000 / h->interval_ms, h->interval_ms);
}

bool advice_check_rests_on_silence(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	if (!h || !health_check_passes_late(h))
		return false;
	return advice_say(
		text,
		"a server passes when %s: a host that drops such messages, or sends few of "
		"them, looks healthy with nobody listening; expect \"reply\" where the "
		"service answers",
		h->type == CHECK_ICMP_UDP
			? "its host answers the echo and no \"port unreachable\" comes back"
			: "no \"port unreachable\" comes back");
}

// The port that is probed, if it is known; of the servers the first that is not DNS's.
static uint32_t probed_port(const struct server_group *g)
{
	uint32_t port = g->health_check.port;
	for (size_t i = 0; port == 0 && i < g->servers.count; i++) {
		const struct server *s = g->servers.items[i];
		if (s->port != DNS_PORT)
			port = s->port;
	}
	return port;
}

bool advice_check_sends_dns(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	if (!h || h->request || (h->type != CHECK_UDP && h->type != CHECK_ICMP_UDP))
		return false;
	uint32_t port = probed_port(s->group);
	return port != 0 && port != DNS_PORT &&
	       advice_say(
		       text,
		       "port %u is probed with the default datagram, a DNS query for example.com: "
		       "a server that does not speak DNS will hardly answer it; set what it "
		       "answers",
		       port);
}

bool advice_check_has_no_path(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	return h && (h->type == CHECK_HTTP || h->type == CHECK_HTTPS) &&
	       strcmp(h->path, "/") == 0 &&
	       advice_say(
		       text,
		       "the check asks for \"/\", the front page: about %u log lines a day on every "
		       "server (one every %u ms), and it fails with whatever that page needs; give "
		       "a path of its own, keep it out of the log, or use type tcp (handshake "
		       "half_open leaves no trace)",
		       probes_a_day(h), h->interval_ms);
}

bool advice_check_resets(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	bool connects = h && ((h->type == CHECK_TCP && h->handshake == HANDSHAKE_FULL) ||
			      h->type == CHECK_TLS);
	return connects && h->close == CLOSE_RST &&
	       advice_say(text,
			  "probes end in RST, which some servers log: about %u lines a day each; "
			  "\"fin\" closes politely",
			  probes_a_day(h));
}

bool advice_check_trusts_any_name(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	return h && h->verify && !h->sni && !h->host &&
	       advice_say(
		       text,
		       "the certificate is verified without a name: any certificate of a trusted "
		       "issuer passes; set sni to the name that it must be for");
}

bool advice_check_crosses_families(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct server_group *g = s->group;
	const struct health_check *h = check_on(s);
	size_t others = 0;
	if (!h || !addr_is_set(&h->source_address))
		return false;
	for (size_t i = 0; i < g->servers.count; i++) {
		const struct server *server = g->servers.items[i];
		others += server->address.family != h->source_address.family;
	}
	return others > 0 &&
	       advice_say(
		       text,
		       "%zu of %zu server%s %s of the other address family: probes of %s cannot come from it",
		       others, g->servers.count, TEXT_S(g->servers.count),
		       TEXT_FORM(others, "is", "are"), TEXT_FORM(others, "it", "them"));
}

bool advice_check_names_sources(const struct advice_subject *s, char text[ADVICE_TEXT_MAX])
{
	const struct health_check *h = check_on(s);
	char address[ADDR_TEXT_MAX];
	if (!h || s->group->servers.count == 0)
		return false;
	if (addr_is_set(&h->source_address))
		return advice_say(
			text, "the servers must let in probes (%s) from %s, of every gateway",
			health_check_type_name(h->type), addr_format(&h->source_address, address));
	return advice_say(
		text,
		"the servers must let in probes (%s) from the address that each gateway has "
		"towards them; source_address would name one",
		health_check_type_name(h->type));
}
