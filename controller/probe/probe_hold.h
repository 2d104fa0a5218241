/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections that a target has beside its probes: one kept from probe to probe (reuse_connection), and one that is only
 * watched (watch). Each takes a descriptor; beyond a limit none is held, and probes go on without. */
#ifndef ZG_PROBE_PROBE_HOLD_H
#define ZG_PROBE_PROBE_HOLD_H

#include "probe/probe_kind.h"

struct http_parse;

/* Whether the check keeps a connection beside its probes: reused, or watched. */
bool probe_hold_is_wanted(const struct health_check *c);

/* `t` outlives it; `owner` is what probe_target_hurry() gets. */
struct probe_hold *probe_hold_new(struct probe_io *io, const struct probe_target *t, void *owner);
void probe_hold_free(struct probe_hold *h); /* closes; NULL-safe */

/* Gives the kept connection to the run: connected, watched, marked as reused. False when there is none that still stands. */
bool probe_hold_take(struct probe_run *r);
/* Takes the connection of a run that is about to end. `rest`: NULL, or the parser of an answer that has not ended yet; the
 * connection is of use again once it has. */
void probe_hold_keep(struct probe_run *r, const struct http_parse *rest);

/* After each result: the watched connection is made after a pass, and given up after a failure. */
void probe_hold_note(struct probe_hold *h, enum probe_verdict verdict);

/* The watched connection broke while a probe was in flight: the next is to start at once. Says so once. */
void probe_hold_set_hurry(struct probe_hold *h);
bool probe_hold_take_hurry(struct probe_hold *h);

#endif
