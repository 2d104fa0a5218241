/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Echo requests of all probes through one raw socket a family, and the ICMP errors that come in there. A reply is one if id,
 * sequence, address and a random token are those of a request in flight: forged and repeated ones meet nobody. */
#ifndef ZG_PROBE_PROBE_ECHO_H
#define ZG_PROBE_PROBE_ECHO_H

#include "probe/icmp_error.h"

#define PROBE_ECHO_TOKEN 16

struct echo_socket;

/* One request in flight, within the run that sent it. */
struct probe_echo {
	struct probe_run *run;
	struct echo_socket *socket; /* NULL = not in flight */
	uint16_t sequence;
	uint8_t token[PROBE_ECHO_TOKEN];
	/* Each may end the run. After either the request is no longer in flight. */
	void (*replied)(struct probe_run *r);
	void (*failed)(struct probe_run *r, const struct icmp_error *e);
};

/* Sends. Returns false when that failed: the run has ended. `e->run` and the functions are set. */
bool probe_echo_send(struct probe_echo *e);

/* Out of flight; nothing if it is not in it. */
void probe_echo_forget(struct probe_echo *e);

/* Whether ICMP errors of a family can be received (they go to the echoes and to half-open handshakes): 0 or a negative errno. */
int probe_echo_listen(struct probe_io *io, uint8_t family);

struct probe_echo_pool;
void probe_echo_free(struct probe_echo_pool *pool); /* NULL-safe; nothing is in flight any more */

#endif
