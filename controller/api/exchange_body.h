/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of an exchange, within the limits of all of them together. */
#ifndef ZG_API_EXCHANGE_BODY_H
#define ZG_API_EXCHANGE_BODY_H

#include "api/exchange.h"

/* A body that is refused is read to its end, if it is no larger. */
#define EXCHANGE_DRAIN_MAX (64U * 1024)

/* A piece has come. */
void exchange_body_take(struct exchange *x, const char *data, size_t size);
/* It is complete, or not wanted: calls the handler of the route, now or when the worker has read it. */
void exchange_body_hand_over(struct exchange *x);
/* How many bytes of one a route (NULL: none) takes. */
unsigned exchange_body_most(const struct route *route);
/* It is answered, or nobody waits: what was made of it goes, if no operation keeps it. */
void exchange_body_settle(struct exchange *x);
/* Its bytes are not needed any more. */
void exchange_body_drop(struct exchange *x);
/* Nobody waits for what the worker has of it. */
void exchange_body_abandon(struct exchange *x);

#endif
