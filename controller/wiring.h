/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins the engine's ports to the edges: store, probes, kernel, API, log. */
#ifndef ZG_WIRING_H
#define ZG_WIRING_H

#include "base/err.h"

struct settings;
struct wiring;

/* Opens everything; the daemon serves from the next iteration of the loop. `settings` belong to the caller and live as long.
 * Errors are for a person. Returns 0 or -EINVAL. */
int wiring_new(struct settings *settings, const char *settings_path, struct err *e,
	       struct wiring **ret_wiring);

/* Until SIGTERM or SIGINT; then stops in order: API, kernel (on_stop), last states to the store. */
void wiring_run(struct wiring *w);
void wiring_free(struct wiring *w); /* NULL-safe */

/* Instead of all that: removes from the kernel what a daemon with these settings made, however it ended, and nothing else; no daemon
 * may run. Serves nobody. Returns 0 (nothing is left), or -EINVAL with the reasons for a person. */
int wiring_flush(struct settings *settings, struct err *e);

#endif
