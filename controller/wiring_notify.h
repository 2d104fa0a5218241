/* SPDX-License-Identifier: GPL-2.0-or-later */
/* [notify]: from the settings to the webhooks, and from them to the API. */
#ifndef ZG_WIRING_NOTIFY_H
#define ZG_WIRING_NOTIFY_H

#include "base/err.h"

struct api_notify;
struct event_record;
struct settings;
struct wiring;

/* Faults of the settings. */
int wiring_notify_check(const struct settings *s, struct err *e);

/* Reads how far each URL was told, and begins. With no URL there is nothing. Returns 0 or -EINVAL with the reason. */
int wiring_notify_start(struct wiring *w, struct err *e);

/* What the API may ask; `ctx` NULL: there is nothing. */
void wiring_notify_fill(struct wiring *w, struct api_notify *ret_notify);

#endif
