/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of kernel.c, for the files that it was split into: the queue and its jobs. */
#ifndef ZG_KERNEL_KERNEL_PARTS_H
#define ZG_KERNEL_KERNEL_PARTS_H

#include <ev.h>

#include "kernel/batch.h"
#include "kernel/dump.h"
#include "kernel/find.h"
#include "kernel/ipvs.h"
#include "kernel/kernel.h"
#include "kernel/kernel_memory.h"
#include "kernel/link_watch.h"
#include "kernel/rules.h"
#include "kernel/sets.h"
#include "kernel/vip.h"

enum job_kind {
	JOB_OPS,
	JOB_TABLE,
	JOB_SERVICE,
	JOB_DEVICE,
	/* of the other lane */
	JOB_GUARD,
	JOB_RULESET,
	JOB_FILL,
	JOB_HITS
};

struct job {
	struct job *next;
	enum job_kind kind;
	struct plan_ops ops;
	size_t position;     /* the first operation that has not run */
	size_t running;      /* operations given away, from `position` on */
	usec_t given;        /* when */
	struct plan_key key; /* JOB_SERVICE */
	uint64_t uid;        /* JOB_HITS */
};

/* Jobs one after the other, in the order in which they came. */
struct kernel_lane {
	struct ev_loop *loop;
	struct job *first; /* the running one, if `busy` */
	struct job **last;
	bool busy;            /* an exchange runs whose end goes on with the queue */
	struct ev_timer kick; /* the queue goes on in the next turn of the loop */
};

struct kernel {
	struct ev_loop *loop;
	struct kernel_settings settings;
	struct kernel_callbacks cb;
	struct kernel_lane table; /* IPVS, addresses, sysctls */
	struct kernel_lane
		guard; /* sets and rules: a program may take its time, and nothing of the table waits for it */
	bool search; /* look for IPVS before the next job of the table */
	int availability;
	uint16_t family;
	struct ev_timer retry; /* looks for IPVS again */

	struct channel *commands;
	struct channel *dumps;
	struct channel *links; /* NULL without a VIP device */
	struct find find;
	struct batch batch;
	struct dump dump;
	struct vip vip; /* without a device only the list of addresses */
	struct link_watch watch;
	int device_error;      /* as it was told */
	size_t addresses_seen; /* before the look at the device that runs */
	struct ipvs_modules modules;
	struct kernel_memory memory;

	struct sets *sets;
	struct rules rules;
	struct kernel_guard_look {
		struct ruleset *found;
		struct rules_place at; /* whose rules are read */
	} look;
	struct kernel_show {
		bool running;
		struct ev_timer start; /* in the next turn of the loop */
		struct netfilter *found;
		struct rules rules;
		struct rules_place at; /* whose rules are read */
	} show;
};

/* kernel.c: the queues */
void kernel_kick(struct kernel_lane *l);
struct job *kernel_push(struct kernel_lane *l, enum job_kind kind);
struct job *kernel_pop(struct kernel_lane *l); /* takes the running one out; the caller frees it */
void kernel_free_job(struct job *j);
/* Whether the last job is of this kind and has not started: then it answers for one more. */
bool kernel_waits(const struct kernel_lane *l, enum job_kind kind);
void kernel_announce(struct kernel *k, int error);

/* kernel_run.c: the first job is a list of operations; ready() sets up what it runs with */
void kernel_run_ready(struct kernel *k);
void kernel_run_ops(struct kernel *k);
void kernel_run_memory(struct kernel *k);
void kernel_run_on_end(void *ctx);                     /* the end of a run that was given away */
void kernel_run_prepared(struct kernel *k, int error); /* the VIP device was looked at for it */

/* kernel_read.c: the first job is to read */
void kernel_read_ready(struct kernel *k);
void kernel_read_start(struct kernel *k);
void kernel_read_memory(struct kernel *k);
void kernel_read_prepared(struct kernel *k); /* the VIP device was looked at before */

/* kernel_guard.c: sets and rules, the jobs of the other lane */
void kernel_guard_ready(struct kernel *k);
void kernel_guard_start(struct kernel *k); /* its first job */
void kernel_guard_close(struct kernel *k);

/* kernel_show.c: what is there, to be shown */
void kernel_show_ready(struct kernel *k);
void kernel_show_on_sets(void *ctx, struct netfilter *f, int error);
void kernel_show_close(struct kernel *k);

/* kernel_device.c: the VIP device */
int kernel_device_open(struct kernel *k);
void kernel_device_start(struct kernel *k);

#endif
