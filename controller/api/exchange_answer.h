/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer of an exchange, whose request is replied to: by the library, or around it. */
#ifndef ZG_API_EXCHANGE_ANSWER_H
#define ZG_API_EXCHANGE_ANSWER_H

#include "api/exchange.h"

/* Gives it to the library, a stream too. */
enum MHD_Result exchange_answer_send(struct exchange *x);
/* Around the library, which would answer at the end of the body only. The client gets a moment to read. */
void exchange_answer_outside(struct exchange *x);

#endif
