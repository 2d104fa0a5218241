/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's side: runs ordered lists of operations over netlink, reads the table back. Decides nothing. Never blocks the
 * loop: requests are queued and pipelined on non-blocking sockets, answers come by callback from the loop. */
#ifndef ZG_KERNEL_KERNEL_H
#define ZG_KERNEL_KERNEL_H

#include "plan/hits.h"
#include "plan/netfilter.h"
#include "plan/ops.h"

struct ev_loop;
struct kernel;

enum kernel_mode {
	KERNEL_AUTO,
	KERNEL_OFF /* in memory: operations are kept in a table, never sent */
};

/* Which program sets rules: auto tries what "iptables" is here, then the others. */
enum kernel_iptables { KERNEL_IPTABLES_AUTO, KERNEL_IPTABLES_NFT, KERNEL_IPTABLES_LEGACY };

struct kernel_settings {
	enum kernel_mode mode;
	/* A name that begins with "zonegate": a dummy device that is made when missing. Another: a device that must exist; it is
	 * never made, set up or removed, and new addresses are announced on its link. "": none, address operations succeed
	 * without effect. */
	char vip_device[16];
	enum kernel_iptables iptables;
	bool by_name; /* a flush: chains of ours in filter are looked for where no set of ours is, too */
};

struct kernel_callbacks {
	void *ctx;
	/* A submitted list is done; each `result` is set. The list is freed after the call. */
	void (*done)(void *ctx, const struct plan_ops *ops);
	/* A requested table: sorted, with counts; owned by the callee from now on (plan_table_free). NULL: could not be read, `error`
	 * is a negative errno. */
	void (*table)(void *ctx, struct plan_table *t, int error);
	/* IPVS became usable (0) or is not (-ENOENT no module, -EPERM no capability). Called once soon after the start and at
	 * changes; while it is not usable it is looked for every second. */
	void (*availability)(void *ctx, int error);
	/* An answer to kernel_request_service(): a table with this service, owned by the callee (plan_table_free). NULL with
	 * -ESRCH if it is not there, or with another negative errno. */
	void (*service)(void *ctx, const struct plan_key *k, struct plan_table *t, int error);
	/* The VIP device cannot be used (-ENODEV: there is none; the mend is kernel_advise_device()), or can be again (0): then
	 * addresses may be missing. At changes only, and with 0 also when addresses vanished from it. */
	void (*device)(void *ctx, int error);
	/* A new address could not be announced on the link. */
	void (*unannounced)(void *ctx, const struct addr *a, int error);
	/* An answer to kernel_request_ruleset(), sorted, the callee's from now on (ruleset_free); NULL and a negative errno. */
	void (*ruleset)(void *ctx, struct ruleset *r, int error);
	/* A list of kernel_guard() is done; each `result` is set. The list is freed after the call. */
	void (*guarded)(void *ctx, const struct plan_ops *ops);
	/* A list of kernel_fill() is done; each `result` is set. The list is freed after the call. */
	void (*filled)(void *ctx, const struct plan_ops *ops);
	/* An answer to kernel_request_hits(), the callee's from now on (hits_free); NULL: there are none, or they could not be read. */
	void (*hits)(void *ctx, uint64_t uid, struct hits *h);
	/* An answer to kernel_request_filters(), the callee's from now on (netfilter_free); or NULL and a negative number as kernel_advise()
	 * takes it. */
	void (*filters)(void *ctx, struct netfilter *f, int error);
	/* A program of iptables did not do what it was asked for, in its own words. */
	void (*complained)(void *ctx, const char *program, const char *text);
};

/* Never fails for want of IPVS. Returns 0 or a negative errno (no sockets). */
int kernel_new(struct ev_loop *loop, const struct kernel_settings *s,
	       const struct kernel_callbacks *cb, struct kernel **ret_kernel);
/* NULL-safe. Not from a callback. Lists that are queued are dropped without `done`. */
void kernel_free(struct kernel *k);

/* Takes the operations out of `ops` (left empty) and runs them in order, behind those already queued. A failed one does not
 * stop the next. Batches of up to 256 messages, fewer where the kernel is slow, ACK asked on the last only; a request without
 * answer for 2 s counts as -ETIMEDOUT. Address operations go to the VIP device, sysctls to /proc/sys. */
void kernel_submit(struct kernel *k, struct plan_ops *ops);

/* One full dump (services and destinations, 64-bit statistics) through `table`. A request while one runs is answered by one
 * more dump that starts afterwards. A dump starts when all operations submitted before it were answered. */
void kernel_request_table(struct kernel *k);

/* Destinations of one service with their counts, through `service`. */
void kernel_request_service(struct kernel *k, const struct plan_key *key);

/* The same with operations on sets and rules, beside that queue: sets go to ipset, rules to iptables-restore, which has 10 s; behind one
 * that took them no other of the list is tried (-ETIMEDOUT). */
void kernel_guard(struct kernel *k, struct plan_ops *ops);

/* Takes PLAN_FILL_SET operations out of `ops` (left empty): begins behind what is queued of sets and rules, and what is queued later does not
 * wait for it. */
void kernel_fill(struct kernel *k, struct plan_ops *ops);

/* The counters of an access list's entries, through `hits`. */
void kernel_request_hits(struct kernel *k, uint64_t uid);
/* What there is of netfilter's, to be shown, through `filters`: beside all others, which do not wait for it. Several requests have one
 * answer. */
void kernel_request_filters(struct kernel *k);

/* What of our sets and rules there is, through `ruleset`. Nothing of netfilter is touched before the first such request or operation. */
void kernel_request_ruleset(struct kernel *k);

/* Addresses on the VIP device, sorted: as read at the start and with every table, plus what operations did since. Borrowed
 * until the next callback. */
size_t kernel_addresses(const struct kernel *k, const struct addr **ret_addresses);

/* As sysctl_read() has it. */
int kernel_read_sysctl(const struct kernel *k, const char *name);

/* Whether an operation failed since somebody else's rule or set names the set. */
bool kernel_is_held(int error);
/* A sentence with the mend for an operation that failed: "Linux has no scheduler \"mh\": modprobe ip_vs_mh"; with what the program
 * said, if one did. */
const char *kernel_advise(const struct plan_op *op, char *buf, size_t size);
/* The same for a VIP device that cannot be used. */
const char *kernel_advise_device(const char *device, int error, char *buf, size_t size);

/* Removes the VIP device if it is a dummy of ours. The last thing that is asked of `k`. Returns 0, also if there is none, or a
 * negative errno. */
int kernel_remove_device(struct kernel *k);

/* Whether a VIP device of this name is ours: a dummy. */
bool kernel_owns_device(const char *name);

#endif
