/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an ICMP error means for the server whose probe it answers. */
#ifndef ZG_PROBE_ICMP_ERROR_H
#define ZG_PROBE_ICMP_ERROR_H

#include "probe/probe_kind.h"

struct icmp_error {
	uint8_t family;
	uint8_t type;
	uint8_t code;
	struct addr from; /* who says so; may be unset */
};

/* Fills the outcome, its text in `text`. Returns false, and leaves both, if the error says nothing about the server (a packet
 * too big for the path, types that are unknown). */
bool icmp_error_judge(const struct icmp_error *e, const struct probe_target *t,
		      char text[PROBE_EVIDENCE_MAX], struct probe_outcome *ret_outcome);

#endif
