/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a write would change in the answers of DNS, told by its dry run. */
#ifndef ZG_ENGINE_DNS_CHANGES_H
#define ZG_ENGINE_DNS_CHANGES_H

#include "model/model.h"

struct engine;
struct snapshot;

/* The addresses of one name in one family. */
struct dns_record_set {
	struct addr addresses[MODEL_LB_ZONES_MAX];
	size_t count;
	uint32_t ttl; /* 0: the name is not there */
	const char *
		unanswered; /* no address, though its load balancer is enabled: the name of that; borrowed of the snapshot */
};

struct dns_change {
	char *name;
	uint8_t family;
	struct dns_record_set before;
	struct dns_record_set after;
};

struct dns_changes {
	struct dns_change *items; /* sorted by name and family */
	size_t count;
};

/* All names with what is answered for them, as verdicts are now. */
struct dns_picture;
struct dns_picture *dns_changes_capture(struct engine *e, const struct snapshot *s);
/* Takes both pictures. The caller clears the changes. */
void dns_changes_compare(struct dns_picture *before, struct dns_picture *after,
			 struct dns_changes *ret_changes);

/* As verdicts are now: what is new in `next` counts as undecided. The caller clears. */
void dns_changes_list(struct engine *e, const struct snapshot *next,
		      struct dns_changes *ret_changes);
void dns_changes_clear(struct dns_changes *c);

#endif
