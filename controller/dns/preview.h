/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer as data, for people: which addresses, how often, and what is left out and why. The same lookup and the same
 * choice as in answer.c. Text belongs to the view. */
#ifndef ZG_DNS_PREVIEW_H
#define ZG_DNS_PREVIEW_H

#include "dns/view.h"

#include <stdint.h>

#define PREVIEW_ADDRESSES_MAX 64

struct preview_address {
	const char *zone; /* NULL: of a name server */
	struct addr address;
	bool published;     /* in answers to somebody */
	unsigned share;     /* percent of the answers to this client that hold it */
	const char *reason; /* code of the zone's verdict, or NULL */
};

struct preview {
	uint16_t rcode; /* NOERROR without addresses: the name exists without them */
	uint32_t serial;
	uint32_t ttl;          /* of the addresses */
	uint32_t negative_ttl; /* of an answer without any */
	const char *balancer;  /* NULL: not of a load balancer */
	const char *zone;      /* of a name `<zone>.<dns_name>` */
	enum view_affinity affinity;
	const char *client_zone; /* NULL: none, or no client was given */
	uint8_t scope;           /* prefix length around the client for which this holds */
	size_t count;
	struct preview_address addresses[PREVIEW_ADDRESSES_MAX]; /* by zone, those left out too */
};

/* `client` may be NULL. Returns 0, or -EINVAL: `name` is none. */
int preview_make(const struct view *v, const char *name, enum view_family family,
		 const struct addr *client, struct preview *ret_preview);

#endif
