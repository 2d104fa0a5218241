/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be said of a health check as a whole. */
#ifndef ZG_MODEL_HEALTH_CHECK_H
#define ZG_MODEL_HEALTH_CHECK_H

#include "model/model.h"

/* Every member equal. */
bool health_check_equal(const struct health_check *a, const struct health_check *b);
/* The same for checks that are equal. */
uint64_t health_check_hash(const struct health_check *c, uint64_t seed);

/* "icmp_udp" … */
const char *health_check_type_name(enum check_type type);
bool health_check_has_port(enum check_type type);
/* The question of a dns check: "example.com", "A". */
const char *health_check_dns_name(const struct health_check *c);
const char *health_check_dns_type(const struct health_check *c);
/* Whether a server that says nothing at all passes. */
bool health_check_takes_silence(const struct health_check *c);
/* Whether a pass is known only when the timeout has run out. */
bool health_check_passes_late(const struct health_check *c);

#endif
