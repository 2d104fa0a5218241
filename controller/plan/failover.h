/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a client that asks for a load balancer's name may be sent to a zone that is gone, by the settings alone: until the
 * fault is seen, until DNS answers without the zone, until the client asks again. The one place of this sum. */
#ifndef ZG_PLAN_FAILOVER_H
#define ZG_PLAN_FAILOVER_H

#include "model/snapshot.h"

/* From a verdict to answers that follow it, at worst. */
#define FAILOVER_PUBLICATION (10 * USEC_PER_MS)
#define FAILOVER_TEXT_MAX    600

enum failover_part {
	FAILOVER_VIP, /* a VIP that is gone is seen by its probe */
	FAILOVER_SERVER, /* a silent server is seen by its check; one that is refused, where silence passes */
	FAILOVER_PUBLICATION_PART,
	FAILOVER_TTL,
	FAILOVER_PARTS
};

struct failover {
	bool possible;                /* there is a name, and another zone to go to */
	usec_t worst[FAILOVER_PARTS]; /* of each part */
	const struct server_group
		*slow; /* of FAILOVER_SERVER; NULL: none is probed. Of the snapshot */
	const struct server_group
		*deaf; /* the first whose check takes silence for a pass; NULL: none does */
	enum failover_part detection; /* the slower of the first two */
	enum failover_part dominant;  /* the longest of all that count */
	usec_t total;                 /* detection, publication and TTL */
	uint32_t ttl_now;             /* seconds: shorter than dns_ttl_s while a zone is left out */
};

/* "vip_probe" … */
const char *failover_part_name(enum failover_part p);

/* From the state in which all zones are handed out: with dns_ttl_s. `ttl_now_s`: the TTL of the answers now, which is told beside it. */
struct failover failover_estimate(const struct snapshot *s, const struct load_balancer *lb,
				  uint32_t ttl_now_s);

/* What a part stands for, with its settings; and which part to change, and how. They return `text`. */
const char *failover_describe(const struct failover *f, const struct load_balancer *lb,
			      enum failover_part p, char text[FAILOVER_TEXT_MAX]);
const char *failover_advise(const struct failover *f, const struct load_balancer *lb,
			    char text[FAILOVER_TEXT_MAX]);

/* The answers of DNS now. */
struct failover_family {
	size_t zones;     /* that are enabled and have an address of it */
	size_t answered;  /* of these: handed out, */
	size_t healthy;   /* as they are healthy */
	bool fail_open;   /* as none is known to be; else none has a verdict yet */
	const char *zone; /* the last of the healthy */
};
struct failover_now {
	size_t ready;     /* zones that are healthy and handed out in one family at least */
	const char *zone; /* the last of them */
	struct failover_family families[2]; /* IPv4, IPv6 */
};

/* What stands in the way of a failover now, though the settings allow it; NULL: nothing. Returns `text`. */
const char *failover_warn(const struct failover *f, const struct failover_now *now,
			  char text[FAILOVER_TEXT_MAX]);

/* The TTL (seconds) that is no longer than the failover it hides. */
uint32_t failover_fitting_ttl(const struct failover *f);

#endif
