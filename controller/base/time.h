/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one unit of time inside the daemon. What decides gets `now` as an argument; only edges read clocks. */
#ifndef ZG_BASE_TIME_H
#define ZG_BASE_TIME_H

#include <stdint.h>

typedef uint64_t
	usec_t; /* microseconds; monotonic unless a name says `wall` (since the epoch, UTC) */

#define USEC_PER_MS  1000ULL
#define USEC_PER_SEC 1000000ULL
#define USEC_NEVER   UINT64_MAX

#define TIME_TEXT_MAX 32

/* CLOCK_MONOTONIC and CLOCK_REALTIME in microseconds. For edges and main only. */
usec_t time_monotonic(void);
usec_t time_wall(void);

/* Writes RFC 3339 UTC with milliseconds ("2026-01-02T03:04:05.678Z") and returns `buf`. */
const char *time_format_wall(usec_t wall, char buf[TIME_TEXT_MAX]);

/* A length of time as a person says it, to two units: "0.4 s", "119.9 s", "2 min", "3 h 20 min", "2 d 4 h". Returns `buf`. */
const char *time_format_span(usec_t span, char buf[TIME_TEXT_MAX]);

/* "90s", "30m", "1h30m", "3d", as bodies and commands say it: units from large to small; at most `most`. 0 or -EINVAL. */
int time_parse_span(const char *text, usec_t most, usec_t *ret_span);

/* Parses RFC 3339 UTC as written by time_format_wall(). Returns 0 or -EINVAL. */
int time_parse_wall(const char *text, usec_t *ret_wall);

#endif
