// SPDX-License-Identifier: GPL-2.0-or-later
// What a listener or a server gets now, in as few letters as a table has room for. Asks nobody.
#include "cli/cli_traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_print.h"

char *cli_traffic_figure(const json_t *now, const char *member)
{
	static const char units[] = " kMGT";
	double value = json_number_value(json_object_get(now, member));
	size_t unit = 0;

	if (!json_is_object(now))
		return mem_strdup("-");
	while (value >= 10000 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	if (unit)
		return mem_printf("%.1f%c", value, units[unit]);
	return value < 100 && value != (double)(json_int_t)value ? mem_printf("%.1f", value)
								 : mem_printf("%.0f", value);
}

struct cli_traffic cli_traffic_read(const json_t *object)
{
	const json_t *now = json_object_get(object, "traffic");

	return (struct cli_traffic){.active = cli_traffic_figure(now, "active"),
				    .connections = cli_traffic_figure(now, "connections_per_s"),
				    .bits = cli_traffic_figure(now, "bits_per_s")};
}

void cli_traffic_clear(struct cli_traffic *t)
{
	free(t->active);
	free(t->connections);
	free(t->bits);
}

void cli_traffic_print_drops(const json_t *listeners)
{
	static const char *const limits[] = {"rate_limit", "max_connections"};
	const json_t *listener;
	size_t i, told = 0;

	json_array_foreach (listeners, i, listener) {
		for (size_t j = 0; j < sizeof(limits) / sizeof(limits[0]); j++) {
			AUTO_FREE char *all = mem_printf("%s_dropped", limits[j]);
			AUTO_FREE char *recent = mem_printf("%s_dropped_recent", limits[j]);
			AUTO_FREE char *at = mem_printf("%s_counted_at", limits[j]);
			const json_int_t dropped = cli_print_number(listener, all);

			if (dropped > 0)
				printf("%s%s: %s has dropped %" JSON_INTEGER_FORMAT
				       " new connection%s, %" JSON_INTEGER_FORMAT
				       " of them since the look before (counted %s)\n",
				       told++ ? "" : "\n", cli_print_text(listener, "listener"),
				       limits[j], dropped, TEXT_S(dropped),
				       cli_print_number(listener, recent),
				       cli_print_text(listener, at));
		}
	}
}
