// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `icmp_udp`: an echo request and a datagram together. The verdict falls at the end of T: the echo reply came, and no
// ICMP error for the datagram did. An error ends it at once.
#include "probe/probe_datagram.h"
#include "probe/probe_echo.h"
#include "probe/probe_io.h"
#include "probe/probe_raw.h"
#include "probe/probe_silence.h"

#include <sys/epoll.h>

struct probe_icmp_udp {
	struct probe_run run;
	struct probe_echo echo;
	struct probe_silence *asked; /* the host, about a closed port; or NULL */
	uint32_t replied_usec;       /* since the start, of the echo; 0 = not yet */
	bool heard;                  /* a datagram came back */
};

static struct probe_icmp_udp *probe_icmp_udp_of(struct probe_run *r)
{
	return (struct probe_icmp_udp *)(void *)r;
}

static void probe_icmp_udp_cancel(struct probe_run *r)
{
	struct probe_icmp_udp *p = probe_icmp_udp_of(r);

	probe_echo_forget(&p->echo);
	probe_silence_cancel(p->asked);
	probe_datagram_close(r);
}

static void probe_icmp_udp_end(struct probe_run *r, const struct probe_outcome *o)
{
	probe_icmp_udp_cancel(r);
	probe_run_end(r, o);
}

static void probe_icmp_udp_replied(struct probe_run *r)
{
	probe_icmp_udp_of(r)->replied_usec = r->first_byte_usec;
}

static void probe_icmp_udp_failed(struct probe_run *r, const struct icmp_error *e)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	if (icmp_error_judge(e, r->target, text, &o))
		probe_icmp_udp_end(r, &o);
}

static void probe_icmp_udp_start(struct probe_run *r)
{
	struct probe_icmp_udp *p = probe_icmp_udp_of(r);
	uint8_t request[ESCAPE_BYTES_MAX];
	uint16_t id = probe_random_take_id(&r->io->random);
	size_t size = probe_datagram_write_request(r->target->check, id, request);
	int error;

	p->echo.run = r;
	p->echo.replied = probe_icmp_udp_replied;
	p->echo.failed = probe_icmp_udp_failed;
	if (!probe_echo_send(&p->echo))
		return;
	error = probe_datagram_open(r, request, size);
	if (!error) {
		p->asked = probe_silence_ask(r);
		return;
	}
	probe_echo_forget(&p->echo);
	probe_raw_fail(r, -error, PROBE_SEND_MEND);
}

/* Returns false when the run has ended. */
static bool probe_icmp_udp_note(struct probe_run *r, enum datagram_kind kind,
				const struct datagram *d)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	if (kind == DATAGRAM_REPLY)
		probe_icmp_udp_of(r)->heard = true;
	if (!probe_datagram_judge(r, kind, d, text, &o))
		return true;
	if (o.reason == REASON_ICMP_PORT_UNREACHABLE)
		probe_silence_doubt(r);
	probe_icmp_udp_end(r, &o);
	return false;
}

/* One reply says it all: what follows it is looked at for errors only, of which the kernel tells. */
static bool probe_icmp_udp_is_curious(struct probe_run *r, uint32_t events)
{
	return !probe_icmp_udp_of(r)->heard || events & EPOLLERR;
}

static void probe_icmp_udp_ready(struct probe_run *r, uint32_t events)
{
	for (int i = 0; i < DATAGRAMS_A_RUN && probe_icmp_udp_is_curious(r, events); i++) {
		struct datagram d;
		enum datagram_kind kind = probe_datagram_next(r, events, &d);

		if (kind == DATAGRAM_NONE || !probe_icmp_udp_note(r, kind, &d))
			return;
	}
}

static void probe_icmp_udp_expire(struct probe_run *r)
{
	struct probe_icmp_udp *p = probe_icmp_udp_of(r);
	struct probe_outcome o = {.verdict = PROBE_FAIL_SILENT, .reason = REASON_ICMP_NO_REPLY};

	if (p->replied_usec) {
		o = (struct probe_outcome){.verdict = PROBE_PASS};
		r->first_byte_usec = p->replied_usec;
		r->silence = p->heard ? EVIDENCE_HEARD : probe_silence_judge(r, p->asked);
		if (!p->heard)
			p->asked = NULL;
	}
	probe_icmp_udp_end(r, &o);
}

const struct probe_kind probe_icmp_udp_kind = {
	.size = sizeof(struct probe_icmp_udp),
	.start = probe_icmp_udp_start,
	.ready = probe_icmp_udp_ready,
	.expire = probe_icmp_udp_expire,
	.cancel = probe_icmp_udp_cancel,
};
