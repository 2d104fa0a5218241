/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the settings of [dns_update] to the client that keeps another name server equal. */
#ifndef ZG_WIRING_UPDATE_H
#define ZG_WIRING_UPDATE_H

#include "base/err.h"

struct engine;
struct ev_loop;
struct nsupdate;
struct settings;
struct update_status;

/* Judges the keys of [dns_update]. Returns 0 or -EINVAL. */
int wiring_update_check(const struct settings *s, struct err *e);

/* Starts the client if [dns_update] names a server (*ret_nsupdate is NULL if not). Each change between success and failure is
 * logged. What is kept there is noted with the engine, which knows it at the next start. */
int wiring_update_start(const struct settings *s, struct ev_loop *loop, struct engine *engine,
			struct err *e, struct nsupdate **ret_nsupdate);

/* What a reader sees of it; `n` may be NULL. Texts are borrowed until the next return to the loop. */
void wiring_update_read(const struct settings *s, const struct nsupdate *n,
			struct update_status *ret_status);

#endif
