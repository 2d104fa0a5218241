/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the settings of [dns] to the DNS server. */
#ifndef ZG_WIRING_DNS_H
#define ZG_WIRING_DNS_H

#include "base/err.h"

struct dns_status;
struct dnsd;
struct engine_name_server;
struct settings;
struct view;

/* Starts the server if [dns] listen names an address (*ret_dnsd is NULL if not). Faults name the key and the mend. */
int wiring_dns_start(const struct settings *s, const struct view *view, struct err *e,
		     struct dnsd **ret_dnsd);

/* "NAME", "NAME=ADDRESS" or "NAME=ADDRESS=ADDRESS…", an item of [dns] ns. Returns 0, or -EINVAL: no address, or too much. The
 * name is not judged; it is in the result in any case. */
int wiring_dns_parse_ns(const char *text, struct engine_name_server *ret_ns);

/* Counters for readers; `d` may be NULL. The names are borrowed for ever. */
void wiring_dns_read(const struct dnsd *d, struct dns_status *ret_status);

/* Judges the keys of [dns] without starting anything. */
int wiring_dns_check(const struct settings *s, struct err *e);

#endif
