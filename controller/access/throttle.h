/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures by key (a source address, an account): after so many within a window the key has to wait, longer each time. Memory is
 * bounded: the key that failed longest ago is forgotten first. */
#ifndef ZG_ACCESS_THROTTLE_H
#define ZG_ACCESS_THROTTLE_H

#include <stddef.h>

#include "base/time.h"

struct throttle;

#define THROTTLE_FAILURES_MAX 32

struct throttle_rules {
	unsigned failures; /* within … */
	usec_t window;     /* … make it wait, */
	usec_t first_wait; /* so long, and twice that after each failure more, */
	usec_t longest_wait;
	size_t capacity; /* keys */
	uint64_t seed;   /* random: keys are chosen by others */
};

enum throttle_outcome { THROTTLE_SUCCEEDED, THROTTLE_FAILED, THROTTLE_UNKNOWN };

struct throttle *throttle_new(const struct throttle_rules *rules);
void throttle_free(struct throttle *t); /* NULL-safe */

/* How long the key has to wait; 0 = not at all. */
usec_t throttle_wait(struct throttle *t, const char *key, usec_t now);

/* An attempt begins, unless (result not 0) it has to wait; those under way count as failures until they end. */
usec_t throttle_begin(struct throttle *t, const char *key, usec_t now);
void throttle_end(struct throttle *t, const char *key, enum throttle_outcome outcome, usec_t now);

/* A failure without an attempt. */
void throttle_fail(struct throttle *t, const char *key, usec_t now);

size_t throttle_count(const struct throttle *t); /* of keys that are remembered */

#endif
