/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins what the kernel counts to the names of the document in force. */
#ifndef ZG_WIRING_STATS_H
#define ZG_WIRING_STATS_H

struct engine;
struct ev_loop;
struct settings;
struct stats;
struct wiring_stats;

/* Reads and follows the document from now on. With ipvs = off, or without a thread, nothing is read. */
struct wiring_stats *wiring_stats_start(const struct settings *s, struct ev_loop *loop,
					const struct engine *engine);
/* NULL when the kernel is off. */
struct stats *wiring_stats_get(const struct wiring_stats *w);
/* Before engine_free(). NULL-safe. */
void wiring_stats_stop(struct wiring_stats *w);

#endif
