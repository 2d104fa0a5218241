// SPDX-License-Identifier: GPL-2.0-or-later
// From the settings of [api] to the server of the REST API, and all that it may call: what is not handed over here, no handler reaches.
#include "wiring_parts.h"

#include <errno.h>

#include "api/api.h"
#include "settings.h"
#include "wiring_notify.h"
#include "wiring_stats.h"

int wiring_api_start(struct wiring *w, struct err *e)
{
	const struct settings *s = w->settings;
	struct api_settings as = {.socket_path = s->api_socket,
				  .socket_fd = -1,
				  .access = w->access,
				  .stats = wiring_stats_get(w->stats),
				  .token_file = s->api_token_file,
				  .tls_cert = s->api_tls_cert,
				  .tls_key = s->api_tls_key,
				  .state_folder = s->store_path,
				  .node_name = s->node_name,
				  .version = ZONEGATE_VERSION};

	if (s->api_listen.count > API_LISTEN_MAX)
		return err_set(e, ERR_LIMIT, "[api] listen", "at most %d addresses",
			       API_LISTEN_MAX);
	if (s->api_tls_listen.count > API_LISTEN_MAX)
		return err_set(e, ERR_LIMIT, "[api] tls_listen", "at most %d addresses",
			       API_LISTEN_MAX);
	if (s->api_allowed_hosts.count > API_HOSTS_MAX)
		return err_set(e, ERR_LIMIT, "[api] allowed_hosts", "at most %d names",
			       API_HOSTS_MAX);
	for (size_t i = 0; i < s->api_listen.count; i++)
		as.listen[as.listen_count++] = s->api_listen.items[i];
	for (size_t i = 0; i < s->api_tls_listen.count; i++)
		as.tls_listen[as.tls_listen_count++] = s->api_tls_listen.items[i];
	for (size_t i = 0; i < s->api_allowed_hosts.count; i++)
		as.hosts[as.host_count++] = s->api_allowed_hosts.items[i];
	wiring_notify_fill(w, &as.notify);
	return api_new(w->ev, &as, w->engine, e, &w->api);
}
