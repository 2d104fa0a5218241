/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules over the whole document: references, addresses, uniqueness, members that cannot go together. */
#ifndef ZG_MODEL_VALIDATE_H
#define ZG_MODEL_VALIDATE_H

#include "model/snapshot.h"

/* Adds every fault of the document to `e`, with its document pointer ("/server_groups/web/servers/web-1/port"). Returns 0
 * or -EINVAL. */
int validate_document(const struct snapshot *s, struct err *e);

/* The same of what a batch makes of `base`, which is without a fault: groups that it cannot have made faulty are passed over, so
 * that the write of one server does not walk all. */
int validate_change(const struct snapshot *base, const struct batch *b, const struct snapshot *s,
		    struct err *e);

/* Whether anything refers to the object: then ERR_IN_USE at "" with the list of users, and -EINVAL. */
int validate_unused(const struct snapshot *s, const struct object_path *p, struct err *e);

/* The rules that a health check keeps by itself; `pointer` is its place ("/health_check"). */
void validate_health_check(const struct health_check *h, const char *pointer, struct err *e);

/* "200-299,301": whether `status` is in the list; validate_status_list() whether the text is such a list. */
bool validate_status_list(const char *text);
bool validate_status_in_list(const char *text, unsigned status);

#endif
