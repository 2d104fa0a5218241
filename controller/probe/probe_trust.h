/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom TLS probes trust: the certificates of one file, read once, on a thread of their own (the system's hundred and fifty
 * take 15 ms), shared by all sessions and read again when the file has changed. */
#ifndef ZG_PROBE_PROBE_TRUST_H
#define ZG_PROBE_PROBE_TRUST_H

#include "late/late_gnutls.h"
#include "probe/probe_kind.h"

/* Counted. Lives as long as the pool or a session holds it. */
struct probe_trust {
	size_t refs;
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priority; /* the pool's */
};

struct probe_trust_pool;

/* Stands in the list of those that wait for a file. */
struct probe_trust_wait {
	struct probe_run *run;
	struct probe_trust_wait *next;
	struct probe_trust_wait **link; /* NULL = in no list */
};

/* The trust that the check of w->run asks for. 0: *ret_trust is the caller's. -EINPROGRESS: `w` waits, and its run's ready(run, 0) is
 * called when it is worth asking again. Another negative errno is a fault of this host, told in `fault`. */
int probe_trust_take(struct probe_trust_wait *w, char fault[PROBE_EVIDENCE_MAX],
		     struct probe_trust **ret_trust);
void probe_trust_release(struct probe_trust *t); /* NULL-safe */
void probe_trust_forget(struct probe_trust_wait *w);

/* Made with the first probe that needs it; the sched's io holds it. No run may wait any more. NULL-safe. */
void probe_trust_pool_free(struct probe_trust_pool *pool);

#endif
