// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `icmp`: one echo request; the reply within T passes.
#include "probe/probe_echo.h"

struct probe_icmp {
	struct probe_run run;
	struct probe_echo echo;
};

static struct probe_icmp *probe_icmp_of(struct probe_run *r)
{
	return (struct probe_icmp *)(void *)r;
}

static void probe_icmp_cancel(struct probe_run *r)
{
	probe_echo_forget(&probe_icmp_of(r)->echo);
}

static void probe_icmp_end(struct probe_run *r, const struct probe_outcome *o)
{
	probe_icmp_cancel(r);
	probe_run_end(r, o);
}

static void probe_icmp_replied(struct probe_run *r)
{
	static const struct probe_outcome pass = {.verdict = PROBE_PASS};

	probe_icmp_end(r, &pass);
}

static void probe_icmp_failed(struct probe_run *r, const struct icmp_error *e)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	if (icmp_error_judge(e, r->target, text, &o))
		probe_icmp_end(r, &o);
}

static void probe_icmp_start(struct probe_run *r)
{
	struct probe_echo *e = &probe_icmp_of(r)->echo;

	e->run = r;
	e->replied = probe_icmp_replied;
	e->failed = probe_icmp_failed;
	probe_echo_send(e);
}

/* The echoes share a socket: nothing is ready for one run alone. */
static void probe_icmp_ready(struct probe_run *r, uint32_t events)
{
	(void)r;
	(void)events;
}

static void probe_icmp_expire(struct probe_run *r)
{
	static const struct probe_outcome silence = {.verdict = PROBE_FAIL_SILENT,
						     .reason = REASON_ICMP_NO_REPLY};

	probe_icmp_end(r, &silence);
}

const struct probe_kind probe_icmp_kind = {
	.size = sizeof(struct probe_icmp),
	.start = probe_icmp_start,
	.ready = probe_icmp_ready,
	.expire = probe_icmp_expire,
	.cancel = probe_icmp_cancel,
};
