/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What nobody can guess, for ids and tokens of probes: a system call for many of them, as each one costs about as much as the
 * sending of a packet. */
#ifndef ZG_PROBE_PROBE_RANDOM_H
#define ZG_PROBE_PROBE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#define PROBE_RANDOM_SIZE 256 /* up to that getrandom() gives all or nothing */

/* Zeroed: nothing is left. */
struct probe_random {
	uint8_t bytes[PROBE_RANDOM_SIZE];
	size_t left; /* of the beginning; what was taken is wiped */
};

/* 0 or a negative errno; at most PROBE_RANDOM_SIZE octets. */
int probe_random_take(struct probe_random *p, void *ret_bytes, size_t size);

/* The id of a query; 0 when the kernel has nothing yet. */
uint16_t probe_random_take_id(struct probe_random *p);

#endif
