// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `udp`: one datagram. With expect `reply` an answer within T passes; with `no_unreachable` nobody need answer, and T
// must run out without an ICMP error: a verdict that rests on silence, and says so.
#include "probe/probe_datagram.h"
#include "probe/probe_io.h"
#include "probe/probe_silence.h"

#include <string.h>

struct probe_udp {
	struct probe_run run;
	struct probe_silence *asked; /* the host, about a closed port; or NULL */
};

static struct probe_udp *probe_udp_of(struct probe_run *r)
{
	return (struct probe_udp *)(void *)r;
}

static void probe_udp_cancel(struct probe_run *r)
{
	probe_silence_cancel(probe_udp_of(r)->asked);
	probe_datagram_close(r);
}

static void probe_udp_end(struct probe_run *r, const struct probe_outcome *o)
{
	probe_udp_cancel(r);
	probe_run_end(r, o);
}

static void probe_udp_start(struct probe_run *r)
{
	const struct health_check *check = r->target->check;
	uint8_t request[ESCAPE_BYTES_MAX];
	uint16_t id = probe_random_take_id(&r->io->random);
	size_t size = probe_datagram_write_request(check, id, request);

	if (probe_datagram_start(r, request, size) && check->expect == EXPECT_NO_UNREACHABLE)
		probe_udp_of(r)->asked = probe_silence_ask(r);
}

static bool probe_udp_is_expected(const struct health_check *check, const struct datagram *d)
{
	uint8_t expected[ESCAPE_BYTES_MAX];
	size_t size;

	if (!check->expected_reply)
		return true;
	size = escape_decode_text(check->expected_reply, expected, sizeof(expected));
	return d->size == size && memcmp(d->bytes, expected, size) == 0;
}

static void probe_udp_judge(struct probe_run *r, const struct datagram *d)
{
	char text[ESCAPE_QUOTE_MAX];
	struct probe_outcome o = {.verdict = PROBE_PASS, .text = text};

	escape_format_bytes(d->bytes, d->size < sizeof(d->bytes) ? d->size : sizeof(d->bytes),
			    text);
	if (!probe_udp_is_expected(r->target->check, d)) {
		o.verdict = PROBE_FAIL_ACTIVE;
		o.reason = REASON_UDP_REPLY_MISMATCH;
	}
	probe_udp_end(r, &o);
}

/* Returns false when the run has ended. */
static bool probe_udp_note(struct probe_run *r, enum datagram_kind kind, const struct datagram *d)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	if (kind == DATAGRAM_REPLY) {
		if (r->target->check->expect == EXPECT_NO_UNREACHABLE)
			return true; /* noted as heard; the verdict still falls at the end of T */
		probe_udp_judge(r, d);
		return false;
	}
	if (!probe_datagram_judge(r, kind, d, text, &o))
		return true;
	if (o.reason == REASON_ICMP_PORT_UNREACHABLE)
		probe_silence_doubt(r);
	probe_udp_end(r, &o);
	return false;
}

static void probe_udp_ready(struct probe_run *r, uint32_t events)
{
	for (int i = 0; i < DATAGRAMS_A_RUN; i++) {
		struct datagram d;
		enum datagram_kind kind = probe_datagram_next(r, events, &d);

		if (kind == DATAGRAM_NONE || !probe_udp_note(r, kind, &d))
			return;
	}
}

static void probe_udp_expire(struct probe_run *r)
{
	struct probe_udp *u = probe_udp_of(r);
	struct probe_outcome o = {.verdict = PROBE_FAIL_SILENT, .reason = REASON_UDP_NO_REPLY};

	if (r->target->check->expect == EXPECT_NO_UNREACHABLE) {
		o = (struct probe_outcome){.verdict = PROBE_PASS};
		r->silence = r->first_byte_usec ? EVIDENCE_HEARD : probe_silence_judge(r, u->asked);
		if (!r->first_byte_usec)
			u->asked = NULL;
	}
	probe_udp_end(r, &o);
}

const struct probe_kind probe_udp_kind = {
	.size = sizeof(struct probe_udp),
	.start = probe_udp_start,
	.ready = probe_udp_ready,
	.expire = probe_udp_expire,
	.cancel = probe_udp_cancel,
};
