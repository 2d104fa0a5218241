/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The only mutable state of the daemon: the snapshot in force, health, what the kernel acknowledged, drains. Edges tell it what
 * happened (`engine_note_…`, engine_propose()), which marks; engine_settle() acts, once an iteration of the loop. */
#ifndef ZG_ENGINE_ENGINE_H
#define ZG_ENGINE_ENGINE_H

#include "engine/ports.h"
#include "model/change.h"
#include "plan/guard.h"

struct engine;
struct dns_changes;

#define ENGINE_ZONES_MAX  64
#define ENGINE_APEXES_MAX 16
#define ENGINE_NS_MAX     13

#define ENGINE_NS_ADDRESSES_MAX 8
#define ENGINE_OWN_PORTS_MAX    256
#define ENGINE_PEERS_MAX        64
#define ENGINE_NS_NAME_MAX      256

struct engine_name_server {
	char name[ENGINE_NS_NAME_MAX];
	struct addr addresses[ENGINE_NS_ADDRESSES_MAX]; /* answered where the name is served */
	size_t address_count;
};

struct engine_settings {
	const char *node_name;
	const char *zones[ENGINE_ZONES_MAX]; /* zones whose VIPs this node programs; none = all */
	size_t zone_count;
	bool kernel_off;       /* [kernel] ipvs = off: writes are never refused for want of IPVS */
	bool manage_addresses; /* vip_device is not none */
	const char *vip_device;
	bool vip_device_is_dummy; /* ours: VIPs on it must be routed to this host */
	bool manage_sysctls;
	usec_t audit_interval;
	const char *
		boot_id; /* of the running kernel, NULL = unknown: a monotonic time of another boot means nothing */
	const char *dns_apexes[ENGINE_APEXES_MAX];
	size_t dns_apex_count;
	struct engine_name_server dns_ns[ENGINE_NS_MAX];
	size_t dns_ns_count;
	/* Where this daemon itself listens: the guard of the VIPs lets it be. */
	struct guard_port own_ports[ENGINE_OWN_PORTS_MAX];
	size_t own_port_count;
	struct mark_space marks;             /* [kernel] marks */
	struct addr peers[ENGINE_PEERS_MAX]; /* other gateways, which probe the VIPs of this one */
	size_t peer_count;
	const char *dns_hostmaster; /* NULL = hostmaster under each apex */
};

/* `snapshot` (reference taken over) and the rows are what the store held. Nothing is done before the first settle. */
struct engine *engine_new(const struct engine_settings *s, const struct engine_ports *ports,
			  struct snapshot *snapshot);
/* The kinds of rows that it keeps, one after the other; NULL at the end. All of them are to be loaded. */
const char *engine_row_kind(size_t index);
void engine_load_row(struct engine *e, const struct store_row *row); /* before the first settle */
void engine_free(struct engine *e);

/* Walks the steps whose bit is marked, in order: checks, plan, kernel, store. Cheap when nothing is marked. */
void engine_settle(struct engine *e);

/* Asks for the removal of everything the daemon made (on_stop = flush): services, addresses, sysctls put
 * back. `engine_idle()` tells when the kernel has answered. Before the first settle: of what a daemon before this one made; nothing
 * is put into the kernel first, and what is ours by its name (sets, chains, addresses on a dummy device of ours) goes even if no
 * row tells of it. */
void engine_flush(struct engine *e);
/* After that: whether it is certain that nothing is left. */
bool engine_flushed(const struct engine *e);
/* The same of what does not need IPVS: sets, rules, sysctls of the host. */
bool engine_flushed_without_ipvs(const struct engine *e);
/* The same of all but sets and rules; of what there is where IPVS is not. */
bool engine_flushed_table(const struct engine *e);
bool engine_idle(const struct engine *e);
/* What it waits for, in a few words; NULL: it is idle. */
const char *engine_busy_with(const struct engine *e);

/* Notes last states for the next start (clean stop). Commits through the port. */
void engine_save_health(struct engine *e);

/* Changes of settings that SIGHUP allows. */
void engine_set_audit_interval(struct engine *e, usec_t interval);

/* From the edges. */
usec_t engine_note_result(struct engine *e, void *ref,
			  const struct probe_result *r); /* the next start */
void engine_note_commit(struct engine *e, uint64_t token, int result, const struct err *err);
void engine_note_ops(struct engine *e, const struct plan_ops *ops);
void engine_note_table(struct engine *e, struct plan_table *t, int error); /* takes the table */
void engine_note_service(struct engine *e, const struct plan_key *k, struct plan_table *t,
			 int error);                                      /* takes the table */
void engine_note_ruleset(struct engine *e, struct ruleset *r, int error); /* takes the ruleset */
void engine_note_guarded(struct engine *e, const struct plan_ops *ops);
void engine_note_filled(struct engine *e, const struct plan_ops *ops);
void engine_note_hits(struct engine *e, uint64_t uid, struct hits *h); /* takes the hits */
void engine_note_availability(struct engine *e, int error);
/* Takes the filters; NULL with a negative number: they could not be read. */
void engine_note_filters(struct engine *e, struct netfilter *f, int error);
/* The VIP device cannot be used, with the mend as a sentence; or is back (0): addresses may be missing. */
void engine_note_device(struct engine *e, int error, const char *mend);

/* The networks that this host is on (its own addresses with their prefixes), sorted and distinct; at the start and when they change.
 * Borrowed. */
void engine_note_networks(struct engine *e, const struct model_prefix *list, size_t count);

/* A write. Everything in it belongs to the caller and lives until `done`, which is called exactly once, later, from the loop. */
struct proposal_result {
	const struct err *faults;   /* any: nothing was changed */
	const struct err *warnings; /* committed, but the kernel refused: pointers and sentences */
	const struct snapshot *snapshot; /* in force now (refused: the one it was compared with) */
	uint64_t revision;               /* the one that the write made or found to be the same */
	bool changed;                    /* a new revision was made */
	bool created;                    /* PUT made the object that it names */
	const struct plan_ops *ops;      /* dry run: what would be done; else NULL */
	const struct batch *batch;       /* dry run: what would change; else NULL */
	const struct snapshot *foreseen; /* dry run: what would be in force; NULL: nothing new */
	const struct dns_changes *dns_changes; /* dry run: in the answers of DNS; else NULL */
};

/* What a commit is about to make. */
struct proposal_outlook {
	uint64_t before; /* revisions */
	uint64_t after;
	bool created;
	bool removed;
	bool draining; /* what is removed keeps its connections a while */
};

struct proposal {
	struct change_request request; /* `wall` and `uid_seed` are filled in by the engine */
	const char *who;
	const char *via;
	const char *comment;   /* or NULL */
	bool dry_run;          /* stop before the first effect */
	usec_t confirm_within; /* undone unless confirmed in so long: confirm.h; 0 = it stays */
	bool returns;          /* to what was in force before: this node's limits are not asked */
	void *ctx;
	/* The entry of the audit that is committed with it (memory of malloc()); NULL = none. */
	char *(*record)(const struct proposal *p, const struct proposal_outlook *o);
	void (*done)(struct proposal *p, const struct proposal_result *r);
	struct proposal *next; /* the engine's */
};

void engine_propose(struct engine *e, struct proposal *p);
/* What a proposal is judged by beside the model: the settings of this node, by change_build(); then, of what has no fault, its
 * descriptors and sysctls. */
void engine_judge(const struct engine *e, struct change_request *r);
void engine_check_document(struct engine *e, const struct snapshot *s, struct err *err);

/* An entry of the audit (STORE_AUDIT_…) with what is committed next; takes the text. While the store fails the newest are kept. */
void engine_audit(struct engine *e, const char *key, char *value);

#endif
