/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a probe sends. */
#ifndef ZG_HEALTH_EVIDENCE_SENT_H
#define ZG_HEALTH_EVIDENCE_SENT_H

#include "model/model.h"

#define EVIDENCE_SENT_MAX (2 * MODEL_TEXT_MAX + 64)

/* "GET /up HTTP/1.1, Host shop.example.net"; in `buf` or constant. A datagram is escaped, a long one cut. */
const char *evidence_sent(const struct health_check *c, char buf[EVIDENCE_SENT_MAX]);

#endif
