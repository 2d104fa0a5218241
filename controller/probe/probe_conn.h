/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connection under the kinds that have one: connect without waiting, close as the check says, and what an errno means
 * for the server. */
#ifndef ZG_PROBE_PROBE_CONN_H
#define ZG_PROBE_PROBE_CONN_H

#include <sys/types.h>

#include "probe/probe_kind.h"

/* Gives a socket the source and the mark of the check. 0 or a negative errno. */
int probe_conn_set_origin(int fd, const struct health_check *check, uint8_t family);

/* Begins to connect r->fd. 0 or a negative errno of a local call; then nothing is open. */
int probe_conn_begin(struct probe_run *r);

/* The same for a probe. On failure ends the run and returns false. */
bool probe_conn_start(struct probe_run *r);

/* What an event says of a connection that is being made: 0 = made (r->connect_usec is set), -EINPROGRESS = not yet, or
 * another negative errno. */
int probe_conn_check(struct probe_run *r, uint32_t events);

/* Takes the connection a step on, up to the end of the TLS handshake if the kind has one. True once it stands; false if not
 * yet, or the run has ended. */
bool probe_conn_open(struct probe_run *r, uint32_t events);

/* As send() and recv(), through TLS if the kind has it, with negative errnos for probe_conn_fail(). Where there is TLS, what
 * is received must be read until -EAGAIN. */
ssize_t probe_conn_send(struct probe_run *r, const void *data, size_t size);
ssize_t probe_conn_recv(struct probe_run *r, void *data, size_t size);

/* Closes by check.close. No harm if nothing is open. */
void probe_conn_close(struct probe_run *r);

/* The same behind the end of a probe on a connection that stands: the socket may serve others. */
void probe_conn_leave(struct probe_run *r);

/* Does the ACK of the handshake wait for the request? */
bool probe_conn_defers_ack(const struct probe_run *r);

/* Closes, and ends the run with what `error` (a positive errno that came from the net, or EPROTO from TLS) means. `text`: what
 * came back. */
void probe_conn_fail(struct probe_run *r, int error, const char *text);

/* Closes, and ends the run because T has run out. */
void probe_conn_expire(struct probe_run *r, const char *text);

/* Ours or the server's? `error` is a positive errno: of a local call that never left this host, or a report from the net. */
enum probe_conn_origin { CONN_LOCAL, CONN_REMOTE };
void probe_conn_judge(int error, enum probe_conn_origin origin, struct probe_outcome *ret_outcome);

#endif
