/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function a kind of route; each replies exactly once, at once or later. */
#ifndef ZG_API_HANDLERS_H
#define ZG_API_HANDLERS_H

#include <stdbool.h>

struct api_context;
struct request;

/* handlers_object.c: objects of the model, by the route's kind. */
void handlers_object_get(struct request *r);
void handlers_object_list(struct request *r);

/* handlers_entries.c */
void handlers_entries_get(struct request *r);
void handlers_entries_write(struct request *r); /* PUT of text, PATCH */
void handlers_entries_check(struct request *r);

/* handlers_hits.c */
void handlers_hits_get(struct request *r);

/* handlers_write.c */
void handlers_write_object(struct request *r); /* PUT, PATCH, DELETE */
void handlers_write_servers(struct request *r);
void handlers_write_config(struct request *r);
void handlers_write_plan(struct request *r);
/* Would a body with the request's digest change nothing, and is nothing but that asked? */
bool handlers_write_repeats(const struct request *r);

/* handlers_revisions.c */
void handlers_revisions_list(struct request *r);
void handlers_revisions_get(struct request *r);
void handlers_revisions_diff(struct request *r);
void handlers_revisions_rollback(struct request *r);

/* handlers_settings.c */
void handlers_settings_get(struct request *r);
void handlers_settings_write(struct request *r); /* PUT, PATCH */

/* handlers_confirm.c */
void handlers_confirm_get(struct request *r);
void handlers_confirm_post(struct request *r);

/* handlers_config.c */
void handlers_config_get(struct request *r);
void handlers_config_validate(struct request *r);

/* handlers_status.c */
void handlers_status_lb(struct request *r);
void handlers_status_group(struct request *r);
void handlers_status_server(struct request *r);

/* handlers_failover.c */
void handlers_failover_time(struct request *r);

/* handlers_history.c */
void handlers_history_server(struct request *r);

/* handlers_probe.c */
void handlers_probe_server(struct request *r);
/* The API ends before the probes on demand do. */
void handlers_probe_close(struct api_context *api);

/* handlers_shift.c */
void handlers_shift_start(struct request *r);
void handlers_shift_change(struct request *r);
void handlers_shift_cancel(struct request *r);
void handlers_shift_get(struct request *r);
void handlers_shift_list(struct request *r);

/* handlers_override.c */
void handlers_override_drain(struct request *r); /* PUT, DELETE */
void handlers_override_weight(struct request *r);
void handlers_override_get_drain(struct request *r);
void handlers_override_get_weight(struct request *r);
void handlers_override_list(struct request *r);

/* handlers_dns.c, handlers_dns_records.c */
void handlers_dns_preview(struct request *r);
void handlers_dns_records(struct request *r);

/* handlers_tools.c */
void handlers_tools_detection_time(struct request *r);

/* handlers_kernel.c */
void handlers_kernel_table(struct request *r);
void handlers_kernel_drift(struct request *r);
void handlers_kernel_reconcile(struct request *r);

/* handlers_doctor.c */
void handlers_doctor_get(struct request *r);

/* handlers_system.c */
void handlers_system_get(struct request *r);
void handlers_system_livez(struct request *r);
void handlers_system_readyz(struct request *r);
void handlers_system_openapi(struct request *r);

/* handlers_auth.c */
void handlers_auth_login(struct request *r);
void handlers_auth_logout(struct request *r);
void handlers_auth_session(struct request *r);
void handlers_auth_password(struct request *r);
void handlers_auth_setup(struct request *r);
void handlers_auth_first_user(struct request *r);
void handlers_auth_sessions(struct request *r);
void handlers_auth_end_session(struct request *r);

/* handlers_users.c, handlers_tokens.c */
void handlers_users_list(struct request *r);
void handlers_users_get(struct request *r);
void handlers_users_write(struct request *r); /* PUT, PATCH */
void handlers_users_delete(struct request *r);
void handlers_tokens_list(struct request *r);
void handlers_tokens_get(struct request *r);
void handlers_tokens_add(struct request *r);
void handlers_tokens_revoke(struct request *r);
/* handlers_audit.c */
void handlers_audit_list(struct request *r);

/* handlers_events.c */
void handlers_events_get(struct request *r);

/* handlers_notify.c */
void handlers_notify_get(struct request *r);
void handlers_notify_test(struct request *r);

/* handlers_stats.c */
void handlers_stats_get(struct request *r);

/* handlers_metrics.c */
void handlers_metrics_get(struct request *r);

#endif
