/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What another server is to hold and what it is known to hold, record set by record set, and the difference as input for
 * nsupdate(1). No I/O. */
#ifndef ZG_DNSIO_NSUPDATE_RECORDS_H
#define ZG_DNSIO_NSUPDATE_RECORDS_H

#include "base/buf.h"
#include "dns/view.h"
#include "dns/wire_reply.h"

#define NSUPDATE_ADDRESSES_MAX 12 /* of one set; a load balancer has fewer zones */

struct nsupdate_set {
	uint32_t ttl;
	size_t count; /* 0: the set does not exist; over the limit: the other server has more than are kept here */
	struct addr addresses[NSUPDATE_ADDRESSES_MAX];
};

/* One name and type. */
struct nsupdate_record {
	struct dns_name name;
	enum view_family family;
	bool wanted; /* the view has this name */
	bool known;  /* `have` was read, and nothing was sent since */
	struct nsupdate_set want;
	struct nsupdate_set have;
};

struct nsupdate_records;

/* For the names beneath (or at) `zone`. */
struct nsupdate_records *nsupdate_records_new(const struct dns_name *zone);
void nsupdate_records_free(struct nsupdate_records *r); /* NULL-safe */

/* Sets what is wanted: names of load balancers and of their zones. Names that were in an earlier view and are in this one no
 * more are wanted empty, until the server is known not to have them. */
void nsupdate_records_want(struct nsupdate_records *r, const struct view *v);

/* A name that an earlier run kept there: wanted empty until a view has it, or the server is known not to have it. */
void nsupdate_records_remember(struct nsupdate_records *r, const struct dns_name *name);

/* Rises when a name comes or goes. */
uint64_t nsupdate_records_version(const struct nsupdate_records *r);
/* All names, each once, separated by blanks. */
void nsupdate_records_write_names(const struct nsupdate_records *r, struct buf_writer *w);

/* Records (a name and a type each), and one by its index; valid until names come or go. */
size_t nsupdate_records_count(const struct nsupdate_records *r);
struct nsupdate_record *nsupdate_records_at(struct nsupdate_records *r, size_t index);

/* What the server answered. Returns 0, or -EBADMSG: it is no answer with authority to this question. */
int nsupdate_records_take(struct nsupdate_record *record, const struct wire_reply *reply);

/* Known, and other than wanted. */
bool nsupdate_records_differs(const struct nsupdate_record *record);

/* Everything is to be read again. */
void nsupdate_records_forget(struct nsupdate_records *r);

/* Forgets names that are neither wanted nor there. */
void nsupdate_records_prune(struct nsupdate_records *r);

struct nsupdate_target {
	const char *zone;
	struct addr server;
	uint16_t port;
};

/* Writes the commands for all differences, and marks these records as no longer known. A set is changed within one message.
 * Returns how many records differ. */
size_t nsupdate_records_write(struct nsupdate_records *r, const struct nsupdate_target *t,
			      struct buf_writer *w);

#endif
