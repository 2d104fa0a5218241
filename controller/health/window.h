/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long detection and recovery take, at best and at worst, from the moment of the failure or recovery. The one place of
 * these formulas: API, CLI and UI print what this gives. */
#ifndef ZG_HEALTH_WINDOW_H
#define ZG_HEALTH_WINDOW_H

#include "health/health.h"
#include "model/model.h"

struct window_range {
	usec_t best;
	usec_t worst;
};

/* The settings of a check in `usec_t`, as the decisions take them; that of a VIP likewise. */
struct health_settings window_settings(const struct health_check *c);
struct health_settings window_vip_settings(const struct vip_probe *p);
/* `d` brought within bounds; T for checks that pass at the end of T. */
usec_t window_answer(const struct health_check *c, usec_t d);

/* `d`: time to an answer, 0 <= d <= T; T for kinds that pass at the end of T. */
struct window_range window_silent(const struct health_settings *s, usec_t d);
struct window_range window_active(const struct health_settings *s, usec_t d);
/* window_active() of a check. One that passes at the end of T may still be refused at once. */
struct window_range window_refused(const struct health_check *c, usec_t d);
struct window_range window_recovery(const struct health_settings *s, usec_t d);

#endif
