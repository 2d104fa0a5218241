// SPDX-License-Identifier: GPL-2.0-or-later
// From the settings and the store's rows to the engine.
#include "wiring_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/endpoint.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "kernel/kernel.h"
#include "settings.h"
#include "store/store.h"
#include "wiring_dns.h"

/* Identity of this boot of the kernel: monotonic times of another one mean nothing. */
static void read_boot_id(struct wiring *w)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file)
		return;
	if (!fgets(w->boot_id, sizeof(w->boot_id), file))
		w->boot_id[0] = '\0';
	w->boot_id[strcspn(w->boot_id, "\n")] = '\0';
	fclose(file);
}

static void on_row(void *ctx, const struct store_row *row)
{
	struct wiring *w = ctx;

	engine_load_row(w->engine, row);
}

static void own_ports_add(struct engine_settings *es, const struct settings_list *list,
			  const struct endpoint_rule *rule, uint8_t protocol)
{
	for (size_t i = 0; i < list->count; i++) {
		struct err ignored AUTO_ERR = {0}; /* a fault is told by who listens there */
		struct endpoint at;

		if (es->own_port_count == ENGINE_OWN_PORTS_MAX ||
		    endpoint_parse(list->items[i], rule, &ignored, &at) != 0)
			continue;
		es->own_ports[es->own_port_count++] = (struct guard_port){
			.address = at.address, .port = at.port, .protocol = protocol};
	}
}

static void fill_own_ports(struct engine_settings *es, const struct settings *s)
{
	static const struct endpoint_rule dns = {.place = "[dns] listen", .port = 53};
	static const struct endpoint_rule api = {.place = "[api] listen", .lowest_port = 1};

	own_ports_add(es, &s->dns_listen, &dns, IPPROTO_UDP);
	own_ports_add(es, &s->dns_listen, &dns, IPPROTO_TCP);
	own_ports_add(es, &s->api_listen, &api, IPPROTO_TCP);
	own_ports_add(es, &s->api_tls_listen, &api, IPPROTO_TCP);
}

static void new_engine(struct wiring *w, struct snapshot *snapshot)
{
	const struct settings *s = w->settings;
	struct engine_settings es = {
		.node_name = s->node_name,
		.kernel_off = s->kernel_ipvs == 1,
		.manage_addresses = strcmp(s->kernel_vip_device, "none") != 0,
		.vip_device = s->kernel_vip_device,
		.vip_device_is_dummy = kernel_owns_device(s->kernel_vip_device),
		.manage_sysctls = s->kernel_manage_sysctls == 0,
		.audit_interval = s->kernel_audit_interval_s * USEC_PER_SEC};
	struct engine_ports ports;

	read_boot_id(w);
	wiring_ports_fill(w, &ports);
	es.boot_id = w->boot_id[0] ? w->boot_id : NULL;
	for (size_t i = 0; i < s->node_zones.count && i < ENGINE_ZONES_MAX; i++)
		es.zones[es.zone_count++] = s->node_zones.items[i];
	for (size_t i = 0; i < s->dns_apex.count && i < ENGINE_APEXES_MAX; i++)
		es.dns_apexes[es.dns_apex_count++] = s->dns_apex.items[i];
	for (size_t i = 0; i < s->dns_ns.count && i < ENGINE_NS_MAX; i++)
		(void)wiring_dns_parse_ns(s->dns_ns.items[i], &es.dns_ns[es.dns_ns_count++]);
	fill_own_ports(&es, s);
	for (size_t i = 0; i < s->node_peers.count && i < ENGINE_PEERS_MAX; i++)
		if (addr_parse(s->node_peers.items[i], &es.peers[es.peer_count]) == 0)
			es.peer_count++;
	es.dns_hostmaster = s->dns_hostmaster;
	(void)marks_parse_space(s->kernel_marks, &es.marks); /* settings.c has judged it */
	w->engine = engine_new(&es, &ports, snapshot);
}

void wiring_engine_start(struct wiring *w, struct snapshot *snapshot)
{
	new_engine(w, snapshot);
	engine_load_event_number(w->engine, store_last_event(w->store));
	for (size_t i = 0; engine_row_kind(i); i++)
		store_load_rows(w->store, engine_row_kind(i), on_row, w);
}

void wiring_engine_start_flush(struct wiring *w, struct snapshot *snapshot)
{
	/* What is not loaded is not forgotten: shifts, drains and the health of servers stay for the next start. */
	static const char *const kinds[] = {"vip", "mark", "sysctl", "timeout", "guard", "told"};

	new_engine(w, snapshot);
	engine_load_event_number(w->engine, store_last_event(w->store));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		store_load_rows(w->store, kinds[i], on_row, w);
}
