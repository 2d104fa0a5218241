/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands: each reads its arguments from `cli`, prints, and says how it ended. */
#ifndef ZG_CLI_CLI_COMMANDS_H
#define ZG_CLI_CLI_COMMANDS_H

#include <jansson.h>

#include "cli/cli.h"

struct cli_command;

/* All of them, in the order of the help. The list is the caller's to free, the texts in it are not. */
struct cli_command *cli_commands_list(size_t *ret_count);

/* cli_status.c */
enum cli_exit cli_status_show(struct cli *cli);

/* cli_config.c */
enum cli_exit cli_config_export(struct cli *cli);
enum cli_exit cli_config_diff(struct cli *cli);
enum cli_exit cli_config_apply(struct cli *cli);

/* cli_history.c */
enum cli_exit cli_history_list(struct cli *cli);
enum cli_exit cli_history_show(struct cli *cli);
enum cli_exit cli_history_diff(struct cli *cli);
enum cli_exit cli_history_rollback(struct cli *cli);
enum cli_exit cli_history_confirm(struct cli *cli);
enum cli_exit cli_history_plan(struct cli *cli);

/* cli_settings.c */
enum cli_exit cli_settings_show(struct cli *cli);
enum cli_exit cli_settings_set(struct cli *cli);

/* cli_server.c */
enum cli_exit cli_server_list(struct cli *cli);
enum cli_exit cli_server_why(struct cli *cli);
enum cli_exit cli_server_probe(struct cli *cli);
enum cli_exit cli_server_history(struct cli *cli);

/* cli_shift.c, cli_shift_change.c */
enum cli_exit cli_shift_start(struct cli *cli);
enum cli_exit cli_shift_return(struct cli *cli);
enum cli_exit cli_shift_extend(struct cli *cli);

/* cli_override.c */
enum cli_exit cli_override_list(struct cli *cli);

/* cli_drain.c */
enum cli_exit cli_drain_begin(struct cli *cli);
enum cli_exit cli_drain_end(struct cli *cli);
enum cli_exit cli_drain_show(struct cli *cli);
enum cli_exit cli_drain_weigh(struct cli *cli);

/* cli_events.c */
enum cli_exit cli_events_show(struct cli *cli);

/* cli_notify.c */
enum cli_exit cli_notify_show(struct cli *cli);
enum cli_exit cli_notify_test(struct cli *cli);

/* cli_audit.c */
enum cli_exit cli_audit_list(struct cli *cli);

/* cli_view.c */
enum cli_exit cli_view_records(struct cli *cli);
enum cli_exit cli_view_drift(struct cli *cli);
enum cli_exit cli_view_shifts(struct cli *cli);
enum cli_exit cli_view_show(struct cli *cli); /* shift, token */
enum cli_exit cli_view_validate(struct cli *cli);
enum cli_exit cli_view_set_servers(struct cli *cli);

/* cli_flush.c: needs no way to the daemon; becomes zonegated itself */
enum cli_exit cli_flush_run(struct cli *cli);

/* cli_access.c */
enum cli_exit cli_access_setup(struct cli *cli);
enum cli_exit cli_access_whoami(struct cli *cli);
enum cli_exit cli_access_list_users(struct cli *cli);
enum cli_exit cli_access_show_user(struct cli *cli);
enum cli_exit cli_access_set_user(struct cli *cli);
enum cli_exit cli_access_delete_user(struct cli *cli);
enum cli_exit cli_access_set_password(struct cli *cli);

/* cli_token.c */
enum cli_exit cli_token_create(struct cli *cli);
enum cli_exit cli_token_list(struct cli *cli);
enum cli_exit cli_token_revoke(struct cli *cli);
enum cli_exit cli_token_list_sessions(struct cli *cli);
enum cli_exit cli_token_end_session(struct cli *cli);

/* cli_complete.c */
enum cli_exit cli_complete_run(struct cli *cli);
enum cli_exit cli_complete_script(struct cli *cli);

/* cli_lb.c */
enum cli_exit cli_lb_status(struct cli *cli);

/* cli_stats.c */
enum cli_exit cli_stats_show(struct cli *cli);
enum cli_exit cli_stats_servers(struct cli *cli);

/* cli_failover.c */
enum cli_exit cli_failover_show(struct cli *cli);

/* cli_dns.c */
enum cli_exit cli_dns_preview(struct cli *cli);

/* cli_check.c */
enum cli_exit cli_check_estimate(struct cli *cli);

/* cli_doctor.c */
enum cli_exit cli_doctor_show(struct cli *cli);

/* cli_kernel.c */
enum cli_exit cli_kernel_show(struct cli *cli);
enum cli_exit cli_kernel_reconcile(struct cli *cli);
/* A line for each service that is wanted and not in the kernel as it should be, with what the kernel said. */
void cli_kernel_print_lacking(const json_t *answer);
/* Why sets and rules could not be compared, if they could not. */
void cli_kernel_print_fault(const json_t *answer);

/* cli_raw.c */
enum cli_exit cli_raw_call(struct cli *cli);
enum cli_exit cli_raw_version(struct cli *cli);

/* cli_object.c: lb, lb-zone, listener, group, server, zone, access. */
enum cli_exit cli_object_list_lb_zones(struct cli *cli);
enum cli_exit cli_object_list_lbs(struct cli *cli);
enum cli_exit cli_object_list_listeners(struct cli *cli);
enum cli_exit cli_object_list_groups(struct cli *cli);
enum cli_exit cli_object_list_zones(struct cli *cli);
enum cli_exit cli_object_list_lists(struct cli *cli);
enum cli_exit cli_object_show(struct cli *cli);
enum cli_exit cli_object_set(struct cli *cli);
enum cli_exit cli_object_delete(struct cli *cli);

/* cli_lists.c */
enum cli_exit cli_lists_add(struct cli *cli); /* allow, deny */
enum cli_exit cli_lists_remove(struct cli *cli);
enum cli_exit cli_lists_import(struct cli *cli);
enum cli_exit cli_lists_export(struct cli *cli);
enum cli_exit cli_lists_check(struct cli *cli);
enum cli_exit cli_lists_hits(struct cli *cli);

/* What an empty list says. */
#define CLI_NO_LBS    "No load balancers yet: zonegate lb set NAME zones.ZONE.vip4=ADDRESS"
#define CLI_NO_GROUPS "No server groups yet: zonegate group set NAME protocol=tcp"
#define CLI_NO_ZONES  "No zones yet: zonegate zone set NAME description=TEXT"
#define CLI_NO_LISTS  "No access lists yet: zonegate access set NAME default_action=deny"

#endif
