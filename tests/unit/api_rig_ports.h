/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other ports of the engine of the API rig: kernel, probes, DNS, events. */
#ifndef ZG_TESTS_API_RIG_PORTS_H
#define ZG_TESTS_API_RIG_PORTS_H

#include "api_rig_state.h"

static inline bool rig_probe_once(void *ctx, const struct probe_target *t,
				  void (*done)(void *done_ctx, const struct probe_target *t,
					       const struct probe_result *r, int error),
				  void *done_ctx)
{
	struct rig *rig = ctx;
	struct rig_event *ev;

	if (rig->probe_error == -EAGAIN)
		return false;
	if (rig->hold_probes) {
		ev = mem_new(struct rig_event);
		ev->next = rig->held;
		rig->held = ev;
	} else {
		ev = rig_push(rig, RIG_PROBE);
	}
	ev->target = *t;
	ev->probed = done;
	ev->ctx = done_ctx;
	return true;
}

static inline void rig_publish_dns(void *ctx, const struct view *v)
{
	(void)ctx;
	(void)v;
}

static inline int rig_link_carrier(void *ctx)
{
	(void)ctx;
	return 1;
}

static inline void rig_submit(void *ctx, struct plan_ops *ops)
{
	rig_push(ctx, RIG_OPS)->ops = *ops;
	*ops = (struct plan_ops){0};
}

static inline void rig_request_table(void *ctx)
{
	if (!((struct rig *)ctx)->hold_tables)
		rig_push(ctx, RIG_TABLE);
}

static inline void rig_request_service(void *ctx, const struct plan_key *key)
{
	rig_push(ctx, RIG_SERVICE)->key = *key;
}

static inline void rig_request_ruleset(void *ctx)
{
	rig_push(ctx, RIG_RULESET);
}

/* Lists and their counters are as good as in the kernel at once. */
static inline void rig_guard(void *ctx, struct plan_ops *ops)
{
	rig_push(ctx, RIG_GUARD)->ops = *ops;
	*ops = (struct plan_ops){0};
}

static inline void rig_fill(void *ctx, struct plan_ops *ops)
{
	rig_push(ctx, RIG_FILL)->ops = *ops;
	*ops = (struct plan_ops){0};
}

static inline void rig_request_hits(void *ctx, uint64_t uid)
{
	rig_push(ctx, RIG_HITS)->uid = uid;
}

static inline void rig_request_filters(void *ctx)
{
	rig_push(ctx, RIG_FILTERS);
}

static inline size_t rig_addresses(void *ctx, const struct addr **ret_addresses)
{
	(void)ctx;
	*ret_addresses = NULL;
	return 0;
}

static inline size_t rig_mark_uses(void *ctx, struct mark_space *ret_uses, size_t size)
{
	(void)ctx;
	(void)ret_uses;
	(void)size;
	return 0;
}

static inline int rig_sysctl(void *ctx, const char *name)
{
	(void)name;
	return !((const struct rig *)ctx)->sysctls_unset;
}

static inline const char *rig_advise(void *ctx, const struct plan_op *op, char *buf, size_t size)
{
	(void)ctx;
	snprintf(buf, size, "the fake kernel refused %s", plan_op_name(op->kind));
	return buf;
}

static inline void *rig_probe_add(void *ctx, const struct probe_target *t, void *ref,
				  usec_t first_start)
{
	struct rig *rig = ctx;
	struct rig_event *ev;

	(void)first_start;
	if (rig->judge_vips && !rig->leave_vips &&
	    (t->check->type == CHECK_ICMP || health_check_passes_late(t->check))) {
		ev = rig_push(rig, RIG_VIP);
		ev->target = *t;
		ev->ref = ref;
	}
	return ref;
}

static inline void rig_probe_remove(void *ctx, void *probe)
{
	for (struct rig_event *ev = ((struct rig *)ctx)->first; ev; ev = ev->next) {
		if (ev->ref == probe)
			ev->ref = NULL;
	}
}

static inline void rig_retarget(void *ctx, void *probe, const struct health_check *check)
{
	(void)ctx;
	(void)probe;
	(void)check;
}

static inline void rig_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg),
			       void *arg)
{
	(void)ctx;
	work(arg);
	done(arg);
}

static inline void rig_wake_at(void *ctx, usec_t at)
{
	struct rig *rig = ctx;
	usec_t now = time_monotonic();

	ev_timer_stop(rig->loop, &rig->wake);
	if (at == USEC_NEVER)
		return;
	ev_timer_set(&rig->wake, at > now ? (double)(at - now) / 1e6 : 0., 0.);
	ev_timer_start(rig->loop, &rig->wake);
}

static inline void rig_event(void *ctx, const struct engine_event *ev)
{
	(void)ctx;
	(void)ev;
}

static inline void rig_publish_event(void *ctx, const struct event_record *r)
{
	struct rig *rig = ctx;

	if (rig->api)
		api_note_event(rig->api, r);
}

#endif
