// SPDX-License-Identifier: GPL-2.0-or-later
// From the settings of [dns_update] to the RFC 2136 client: an address as text becomes a value, failures become log lines.
#include "wiring_update.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/endpoint.h"
#include "base/log.h"
#include "base/text.h"
#include "dns/dns_name.h"
#include "dnsio/nsupdate.h"
#include "engine/shifts.h"
#include "engine/status.h"
#include "settings.h"

#define DNS_PORT 53

static int fill(const struct settings *s, struct nsupdate_settings *n, struct err *e)
{
	static const struct endpoint_rule rule = {"[dns_update] server", DNS_PORT, 1};
	size_t before = e->total;
	struct endpoint server;
	struct dns_name zone;

	memset(n, 0, sizeof(*n));
	if (!s->dns_update_server) {
		if (s->dns_update_zone || s->dns_update_key_file)
			return err_set(e, ERR_MISSING, "[dns_update] server",
				       "is required beside the other keys of its section");
		return 0;
	}
	if (endpoint_parse(s->dns_update_server, &rule, e, &server) == 0) {
		n->server = server.address;
		n->port = server.port;
	}
	if (!s->dns_update_zone)
		err_set(e, ERR_MISSING, "[dns_update] zone",
			"is required: the zone in which the names are kept");
	else if (dns_name_parse(s->dns_update_zone, &zone) != 0)
		err_set(e, ERR_FORMAT, "[dns_update] zone", "\"%s\" is no domain name",
			s->dns_update_zone);
	n->zone = s->dns_update_zone;
	n->key_file = s->dns_update_key_file;
	return e->total == before ? 0 : -EINVAL;
}

int wiring_update_check(const struct settings *s, struct err *e)
{
	struct nsupdate_settings n;

	return fill(s, &n, e);
}

/* Told when it begins to fail, and when it works again. */
static void on_ended(void *ctx, const struct nsupdate_state *s)
{
	(void)ctx;
	if (s->failures == 1)
		log_write(LOG_LEVEL_ERROR,
			  "dns_update.failed: %s; it is tried again with growing pauses", s->error);
	else if (s->failures == 0 && s->failure_wall > 0 && s->updates > 0)
		log_write(LOG_LEVEL_INFO,
			  "dns_update.done: the other server has serial %u, %zu record set%s",
			  s->synced_serial, s->records, TEXT_S(s->records));
}

static void on_names(void *ctx, const char *names)
{
	engine_note_pushed(ctx, names);
}

int wiring_update_start(const struct settings *s, struct ev_loop *loop, struct engine *engine,
			struct err *e, struct nsupdate **ret_nsupdate)
{
	struct nsupdate_settings n;
	struct nsupdate_callbacks cb = {.ctx = engine, .ended = on_ended, .names = on_names};

	*ret_nsupdate = NULL;
	if (fill(s, &n, e) != 0)
		return -EINVAL;
	if (!s->dns_update_server)
		return 0;
	if (nsupdate_new(loop, &n, &cb, ret_nsupdate) != 0)
		return err_set(e, ERR_INTERNAL, "[dns_update] zone", "%s is not taken", n.zone);
	nsupdate_remember(*ret_nsupdate, engine_dns_pushed(engine));
	return 0;
}

void wiring_update_read(const struct settings *s, const struct nsupdate *n,
			struct update_status *ret_status)
{
	struct nsupdate_state st;

	memset(ret_status, 0, sizeof(*ret_status));
	if (!n)
		return;
	nsupdate_read_state(n, &st);
	ret_status->server = s->dns_update_server;
	ret_status->zone = s->dns_update_zone;
	ret_status->phase = nsupdate_phase_names[st.phase];
	ret_status->in_sync = st.synced && st.synced_serial == st.serial;
	ret_status->records = st.records;
	ret_status->failures = st.failures;
	ret_status->success_wall = st.success_wall;
	ret_status->failure_wall = st.failure_wall;
	snprintf(ret_status->error, sizeof(ret_status->error), "%.*s",
		 (int)sizeof(ret_status->error) - 1, st.error);
}
