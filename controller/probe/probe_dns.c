// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `dns`: one query over UDP; an answer with an accepted response code passes. Datagrams with another id are none.
#include "base/text.h"
#include "model/health_check.h"
#include "probe/dns_question.h"
#include "probe/probe_datagram.h"
#include "probe/probe_io.h"

struct probe_dns {
	struct probe_run run;
	size_t size;
	uint8_t query[DNS_QUESTION_MAX];
};

static struct probe_dns *probe_dns_of(struct probe_run *r)
{
	return (struct probe_dns *)(void *)r;
}

static void probe_dns_start(struct probe_run *r)
{
	const struct health_check *check = r->target->check;
	struct probe_dns *p = probe_dns_of(r);

	p->size = dns_question_write(p->query, probe_random_take_id(&r->io->random),
				     health_check_dns_name(check), (uint16_t)check->dns_qtype);
	probe_datagram_start(r, p->query, p->size);
}

static void probe_dns_end(struct probe_run *r, const struct probe_outcome *o)
{
	probe_datagram_close(r);
	probe_run_end(r, o);
}

/* "NOERROR, 2 records" */
static void probe_dns_describe(const struct dns_answer *a, char text[PROBE_EVIDENCE_MAX])
{
	char *p = text_append(text, dns_question_rcode_name(a->rcode));

	p = text_append_number(text_append(p, ", "), a->answers);
	*text_append(p, a->answers == 1 ? " record" : " records") = '\0';
}

static void probe_dns_judge(struct probe_run *r, enum dns_match match, const struct dns_answer *a)
{
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o = {.verdict = PROBE_PASS, .text = a->fault};

	if (match != DNS_MATCH_BROKEN) {
		probe_dns_describe(a, text);
		o.text = text;
	}
	if (match == DNS_MATCH_BROKEN ||
	    !(r->target->check->dns_accepted_rcodes & 1U << a->rcode)) {
		o.verdict = PROBE_FAIL_ACTIVE;
		o.reason = REASON_DNS_ERROR;
	}
	probe_dns_end(r, &o);
}

/* Returns false when the run has ended. */
static bool probe_dns_note(struct probe_run *r, enum datagram_kind kind, const struct datagram *d)
{
	const struct probe_dns *p = probe_dns_of(r);
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;
	struct dns_answer answer;
	enum dns_match match;

	if (kind != DATAGRAM_REPLY) {
		if (!probe_datagram_judge(r, kind, d, text, &o))
			return true;
		probe_dns_end(r, &o);
		return false;
	}
	match = dns_question_match(d->bytes,
				   d->size < sizeof(d->bytes) ? d->size : sizeof(d->bytes),
				   p->query, p->size, &answer);
	if (match == DNS_MATCH_OTHER)
		return true;
	probe_dns_judge(r, match, &answer);
	return false;
}

static void probe_dns_ready(struct probe_run *r, uint32_t events)
{
	for (int i = 0; i < DATAGRAMS_A_RUN; i++) {
		struct datagram d;
		enum datagram_kind kind = probe_datagram_next(r, events, &d);

		if (kind == DATAGRAM_NONE || !probe_dns_note(r, kind, &d))
			return;
	}
}

static void probe_dns_expire(struct probe_run *r)
{
	static const struct probe_outcome silence = {.verdict = PROBE_FAIL_SILENT,
						     .reason = REASON_UDP_NO_REPLY};

	probe_dns_end(r, &silence);
}

const struct probe_kind probe_dns_kind = {
	.size = sizeof(struct probe_dns),
	.start = probe_dns_start,
	.ready = probe_dns_ready,
	.expire = probe_dns_expire,
	.cancel = probe_datagram_close,
};
