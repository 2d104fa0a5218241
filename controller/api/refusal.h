/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that go around the HTTP library, with "Connection: close": before it knows a connection, and while a body still comes
 * in, when it would answer at its end only. */
#ifndef ZG_API_REFUSAL_H
#define ZG_API_REFUSAL_H

#include "api/problem.h"
#include "late/late_gnutls.h"

struct request;

/* A problem without a request. Shuts down the sending side of the descriptor; reading goes on. */
void refusal_send(int fd, enum problem_kind kind, const char *detail);

/* Where an answer goes. */
struct refusal_to {
	int fd;
	gnutls_session_t tls; /* NULL: in the clear */
};

/* The reply that stands in a request, headers and all. `method` as sent: the answer to HEAD has no body. */
void refusal_send_reply(const struct refusal_to *to, const struct request *r, const char *method);

#endif
