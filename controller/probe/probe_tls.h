/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TLS on the connection of a probe: a fresh handshake each time, which is the check. Nothing here ends a run; probe_conn
 * does. */
#ifndef ZG_PROBE_PROBE_TLS_H
#define ZG_PROBE_PROBE_TLS_H

#include <sys/types.h>

#include "probe/probe_kind.h"

/* A step of the handshake on r->fd, which is connected. 0: it is complete; -EAGAIN: not yet, go on when the kind is called
 * ready; -EPROTO: it failed by the rules of TLS; another negative errno: of the net or, if probe_tls_is_local(), of this
 * host. */
int probe_tls_shake(struct probe_run *r);

/* As send() and recv() on a socket that does not block, with a negative errno for errors and 0 for the end. What is
 * received must be read until -EAGAIN. */
ssize_t probe_tls_send(struct probe_run *r, const void *data, size_t size);
ssize_t probe_tls_recv(struct probe_run *r, void *data, size_t size);

/* What went wrong, for a person; "" = nothing, or what the errno says. In `buf`. */
const char *probe_tls_fault(const struct probe_run *r, char buf[PROBE_EVIDENCE_MAX]);
bool probe_tls_is_local(const struct probe_run *r);

/* What was agreed on: "(TLS1.3)-(ECDHE-X25519)-…". In `buf`. */
const char *probe_tls_describe(const struct probe_run *r, char buf[PROBE_EVIDENCE_MAX]);

/* Says goodbye on the wire. */
void probe_tls_bye(struct probe_run *r);
/* Releases the session. No harm if there is none. */
void probe_tls_free(struct probe_run *r);

#endif
