/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the names of the view in another server too, by RFC 2136 through nsupdate(1): only differences, read back afterwards,
 * again with back-off when it fails. Runs in the loop and never holds it. Names that vanished while the daemon was not running
 * are removed if the caller has kept what `names` told. */
#ifndef ZG_DNSIO_NSUPDATE_H
#define ZG_DNSIO_NSUPDATE_H

#include "base/addr.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>

struct ev_loop;
struct view;
struct nsupdate;

struct nsupdate_settings {
	struct addr server;
	uint16_t port;        /* 0 = 53 */
	const char *zone;     /* as the other server calls it */
	const char *key_file; /* for nsupdate -k; NULL = unsigned */
	const char *program;  /* NULL = "nsupdate" */
	unsigned check_s;     /* all is read again after so long; 0 = 300 */
};

enum nsupdate_phase {
	NSUPDATE_IDLE, /* nothing was published yet, or the other server has it all */
	NSUPDATE_READING,
	NSUPDATE_SENDING,
	NSUPDATE_VERIFYING,
	NSUPDATE_WAITING, /* after a failure, until `retry_at` */
	NSUPDATE_PHASE_COUNT
};
extern const char *const nsupdate_phase_names[NSUPDATE_PHASE_COUNT];

#define NSUPDATE_ERROR_MAX 512

struct nsupdate_state {
	enum nsupdate_phase phase;
	uint32_t serial;        /* of the view last published here */
	uint32_t synced_serial; /* of the one that the other server is known to have whole */
	bool synced;            /* ever */
	size_t records;         /* names and types that are kept there */
	uint64_t updates;       /* runs of nsupdate so far */
	unsigned failures;      /* in a row */
	usec_t retry_at;        /* monotonic, with NSUPDATE_WAITING */
	usec_t success_wall;    /* 0 = never */
	usec_t failure_wall;
	char error[NSUPDATE_ERROR_MAX]; /* of the last failure; "" = none so far */
};

struct nsupdate_callbacks {
	void *ctx;
	/* After each success and each failure. The state is valid during the call. */
	void (*ended)(void *ctx, const struct nsupdate_state *s);
	/* When other names than before are kept, or still have to go: all of them, separated by blanks. From the loop, soon after
	 * the call that changed them. May be NULL. */
	void (*names)(void *ctx, const char *names);
};

/* `loop` is libev's default loop. All text is copied. Returns 0, or -EINVAL: the zone is no name. */
int nsupdate_new(struct ev_loop *loop, const struct nsupdate_settings *s,
		 const struct nsupdate_callbacks *cb, struct nsupdate **ret_nsupdate);
void nsupdate_free(struct nsupdate *n); /* NULL-safe; not from within `ended` */

/* Before the first view: the names of an earlier run. What is no name, or not in the zone, is passed over. */
void nsupdate_remember(struct nsupdate *n, const char *names);

/* From now on this is to be there. Keeps no reference. */
void nsupdate_publish(struct nsupdate *n, const struct view *v);

/* How it stands now; a copy. */
void nsupdate_read_state(const struct nsupdate *n, struct nsupdate_state *ret_state);

#endif
