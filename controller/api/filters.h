/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lists of events and of the audit are filtered by: a value that nothing can have is a fault with the known ones, not an
 * empty list. Faults go to `e`. */
#ifndef ZG_API_FILTERS_H
#define ZG_API_FILTERS_H

#include "api/request.h"

/* The parameter, or NULL; a list of types of events and families. */
const char *filters_read_types(const struct request *r, struct err *e);
/* An object as events name it: server_groups/web. */
const char *filters_read_event_object(const struct request *r, struct err *e);
/* An object as the audit names it, by the paths of the API: server-groups/web. */
const char *filters_read_audit_object(const struct request *r, struct err *e);
const char *filters_read_method(const struct request *r, struct err *e);
const char *filters_read_result(const struct request *r, struct err *e);

#endif
