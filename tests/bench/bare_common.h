/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bare probe programs share: rounds in slots of 10 ms, connections that are fresh for each probe, and the line at
 * the end. No line of the product. */
#ifndef ZG_TESTS_BENCH_BARE_COMMON_H
#define ZG_TESTS_BENCH_BARE_COMMON_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define BARE_SLOT_USEC 10000
#define BARE_FIRST     0x7f010000u /* the first target: 127.1.0.0 */

struct bare_rounds {
	void *ctx;
	void (*slot)(void *ctx, uint64_t slot, uint64_t now); /* its targets start */
	void (*harvest)(void *ctx, int wait_ms);              /* until the next slot at most */
};

/* What the command line asks for, and what came of it so far. */
struct bare_run {
	unsigned kind; /* index of its name */
	int epoll;
	uint16_t port;
	size_t count;   /* targets */
	size_t slots;   /* of one interval */
	double seconds; /* that are measured … */
	double warm;    /* … behind as many that are not */
	uint64_t probes;
	uint64_t failures;
};

/* Reads [KIND] TARGETS INTERVAL_MS SECONDS PORT [WARM_SECONDS]; those in brackets when there are `kinds`, a list that ends with
 * NULL. Returns 0, or the exit status after a word about it. */
int bare_run_begin(struct bare_run *run, const char *const *kinds, int argc, char **argv);

/* Runs the rounds and prints "probes N failures N cpu_usec N.N", the last one a probe. */
void bare_run_measure(struct bare_run *run, const struct bare_rounds *rounds);

uint64_t bare_now_usec(void);
struct sockaddr_in bare_address(const struct bare_run *run, size_t target);
void bare_close_reset(int fd); /* with RST */

struct bare_target {
	int fd;    /* -1 = waits */
	int asked; /* the program's own: 0 at the start */
	uint64_t deadline;
};

struct bare_connects {
	struct bare_run run;
	struct bare_target *targets;
	void (*ready)(struct bare_connects *b, struct bare_target *t);
};

/* The whole program: TARGETS INTERVAL_MS SECONDS PORT. A connection that can be written is `ready`; what the program does not
 * finish within a second has failed. Returns the exit status. */
int bare_probe_connections(int argc, char **argv,
			   void (*ready)(struct bare_connects *b, struct bare_target *t));

/* Closes with RST and counts. */
void bare_finish_target(struct bare_connects *b, struct bare_target *t, int error);

/* What became of the connect: 0 or an errno. */
int bare_connect_error(const struct bare_target *t);

#endif
