/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a probe is aimed at and what it saw, as data, and the sentence a person reads. */
#ifndef ZG_HEALTH_EVIDENCE_H
#define ZG_HEALTH_EVIDENCE_H

#include "base/addr.h"
#include "health/health.h"
#include "model/model.h"

/* `check` belongs to the target's owner and outlives it. Two targets are identical (and are probed once) when every member of
 * the check, address and effective port are equal. */
struct probe_target {
	const struct health_check *check;
	struct addr address;
	uint16_t port; /* the effective one: the check's, or the server's, or the listener's */
};

#define PROBE_EVIDENCE_MAX 120

/* What a pass of a check that waits for no "port unreachable" is worth. */
enum evidence_silence {
	EVIDENCE_HEARD,    /* something came back, or the check asks for an answer anyway */
	SILENCE_UNTESTED,  /* nobody knows whether the host ever says "port unreachable" */
	SILENCE_TELLING,   /* it does so for a port that is surely closed */
	SILENCE_UNTELLING, /* it does not: its silence proves nothing */
};

struct probe_evidence {
	usec_t started_wall;
	uint32_t connect_usec;    /* 0 = did not get there */
	uint32_t tls_usec;        /* to the end of the handshake; 0 = did not get there */
	uint32_t first_byte_usec; /* since the start; 0 = none */
	uint32_t duration_usec;
	uint16_t http_status; /* 0 = none */
	int16_t error;        /* errno, 0 = none */
	enum evidence_silence silence;
	bool reused; /* on the connection of an earlier probe: connect_usec is 0 */
	/* What came back, printable: "HTTP/1.1 503 Service Unavailable"; "" = nothing. */
	char text[PROBE_EVIDENCE_MAX];
};

struct probe_result {
	struct health_result health;
	struct probe_evidence evidence; /* valid during the callback */
};

/* The sentence for a result, without the count of results: "10.0.1.11:8080 refused the connection after 0.3 ms". */
const char *evidence_describe(const struct probe_target *t, enum health_reason reason,
			      const struct probe_evidence *ev, char *buf, size_t size);
/* What a person can try against it, in words of the check's type; constant. */
const char *evidence_remedy(const struct health_check *c, enum health_reason reason);

#endif
