/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the scheduler and the kinds of probes: one attempt in flight, and the vtable of a kind. A kind is one file and
 * one row of the table in probe_kind.c. */
#ifndef ZG_PROBE_PROBE_KIND_H
#define ZG_PROBE_PROBE_KIND_H

#include <stddef.h>

#include "health/evidence.h"

struct probe_io;
struct probe_run;
struct probe_tls;
struct probe_hold;

/* How an attempt ended. */
struct probe_outcome {
	enum probe_verdict verdict;
	enum health_reason reason;
	int error;            /* errno, 0 = none */
	unsigned http_status; /* 0 = none */
	const char *text;     /* what came back; NULL = nothing */
};

/* A kind's own struct begins with this one. The scheduler makes it (zeroed), sets what is here and releases it. */
struct probe_run {
	const struct probe_kind *kind;
	const struct probe_target *target; /* its check may be replaced by an equal one meanwhile */
	struct probe_io *io;
	void *owner; /* the scheduler's */
	usec_t started;
	usec_t stalled; /* reading of the probe clock's stalls that the deadline takes into account */
	uint32_t serial; /* of the descriptor's registration */
	uint32_t connect_usec;
	uint32_t tls_usec;
	uint32_t first_byte_usec;
	enum evidence_silence silence; /* of a pass */
	int fd;                        /* -1 = none */
	bool reused; /* the connection is that of an earlier probe; connect_usec tells nothing */
	struct probe_tls *tls;   /* the session, once there is one: probe_tls */
	struct probe_hold *hold; /* of the target, if its check holds connections: probe_hold */
};

/* Each function may end the run by probe_run_end(), and `expire` must. After that the run is gone. */
struct probe_kind {
	size_t size;
	bool tls;    /* the connection is not made before a TLS handshake: probe_conn_open() */
	bool speaks; /* a request goes out at once when the connection stands */
	void (*start)(struct probe_run *r);
	void (*ready)(struct probe_run *r, uint32_t events); /* of epoll, edge-triggered */
	void (*expire)(struct probe_run *r);                 /* T has run out */
	void (*cancel)(struct probe_run *r); /* releases what it holds; reports nothing */
};

/* The kind for a check as a whole: its type, and how it is to be done. NULL: it cannot be probed (yet). */
const struct probe_kind *probe_kind_choose(const struct health_check *check);

/* NULL: this kind cannot be probed (yet). */
const struct probe_kind *probe_kind_find(enum check_type type);

/* Reports the one result of the run, and releases it. Called by kinds, implemented by the scheduler. */
void probe_run_end(struct probe_run *r, const struct probe_outcome *o);

/* When T runs out: the stalls of the loop so far are taken into account. Implemented by the scheduler. */
usec_t probe_run_deadline(const struct probe_run *r);

/* The watched connection to a target broke: its next probe starts at once. Called by probe_hold, implemented by the
 * scheduler. */
void probe_target_hurry(struct probe_io *io, void *owner);

/* Microseconds since the start, at least 1. */
uint32_t probe_run_elapsed(const struct probe_run *r);

extern const struct probe_kind probe_tcp_kind;
extern const struct probe_kind probe_syn_kind; /* tcp, half-open */
extern const struct probe_kind probe_http_kind;
extern const struct probe_kind probe_https_kind;
extern const struct probe_kind probe_tls_kind;
extern const struct probe_kind probe_grpc_kind;
extern const struct probe_kind probe_udp_kind;
extern const struct probe_kind probe_icmp_kind;
extern const struct probe_kind probe_icmp_udp_kind;
extern const struct probe_kind probe_dns_kind;

#endif
