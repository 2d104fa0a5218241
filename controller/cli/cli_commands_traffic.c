// SPDX-License-Identifier: GPL-2.0-or-later
// Commands: where traffic goes: DNS, figures, times to failover, probes, the kernel.
#include "cli/cli_command_rows.h"

#include <stdint.h>

#include "cli/cli_commands.h"

const struct cli_command cli_commands_traffic[] = {
	{{"dns", "preview"},
	 "NAME [--type A|AAAA] [--client IP]",
	 1,
	 1,
	 OPTION_TYPE | OPTION_CLIENT,
	 cli_dns_preview,
	 "the DNS answer for a name now, and what is left out",
	 "With --client what that address would get, where it makes a difference (client_affinity)."},
	{{"dns", "records"},
	 "",
	 0,
	 0,
	 0,
	 cli_view_records,
	 "all records that DNS answers from now",
	 NULL},
	{{"stats", NULL},
	 "[LB[/LISTENER]] [--watch]",
	 0,
	 1,
	 OPTION_WATCH,
	 cli_stats_show,
	 "connections, packets and bits a second of listeners",
	 "Of each listener at the VIP of each zone. ACTIVE are established ones; INACTIVE are opening, closing, or UDP, and stay until their "
	 "timeout; SINCE START are those that came since the daemon started. With --watch again every second; with -o json with the arrays of the last five "
	 "minutes. Ends with 1 when no kernel counts."},
	{{"failover-time", NULL},
	 "LB",
	 1,
	 1,
	 0,
	 cli_failover_show,
	 "how long clients of a load balancer's name may be sent to a zone that is gone",
	 "At worst, by the settings and the TTL in force, part by part, and what to change first. Ends with 1 when nothing would "
	 "take over, by the settings or now."},
	{{"check", "estimate"},
	 "[MEMBER=VALUE…]",
	 0,
	 SIZE_MAX,
	 0,
	 cli_check_estimate,
	 "how soon a health check would notice a failure, and advice",
	 "Members are those of health_check, and protocol and d_ms (time to an answer): zonegate check estimate interval_ms=50000 "
	 "unhealthy_threshold=2"},
	{{"doctor", NULL},
	 "",
	 0,
	 0,
	 0,
	 cli_doctor_show,
	 "what of the gateway stands in the way of packets, why, and the command that mends it",
	 "Modules, sysctls, routes and tunnels as the configuration needs them, connection tracking, who answers for a VIP, other programs. What cannot "
	 "be seen is told, too. Ends with 1 when there is an error."},
	{{"kernel", "show"},
	 "[--foreign]",
	 0,
	 0,
	 OPTION_FOREIGN,
	 cli_kernel_show,
	 "the kernel's IPVS table, and the sets and rules before it, read now",
	 "A service that a load balancer wants and that is not there stands as missing, with what the kernel said. With --foreign also "
	 "what does not belong to Zonegate."},
	{{"kernel", "drift"},
	 "",
	 0,
	 0,
	 0,
	 cli_view_drift,
	 "where the kernel (IPVS, sets, rules) differs from what should be",
	 "Ends with 2 where it does, also where a service could not be made: it is named with what the kernel said; and where not all could "
	 "be read. The daemon mends the rest by itself."},
	{{"kernel", "reconcile"},
	 "[--dry-run]",
	 0,
	 0,
	 OPTION_DRY_RUN,
	 cli_kernel_reconcile,
	 "compares the kernel (IPVS, sets, rules) with what should be, now, and mends it",
	 "Waits for it, up to 10 s. Ends with 1 when it could not be mended, or not all could be read, and with --dry-run then and when "
	 "something differs with 2."},
	{.words = {NULL, NULL}},
};
