/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users and tokens of api_rig.h: what is written is durable at once, passwords are hashed at once. */
#ifndef ZG_TESTS_RIG_ACCESS_H
#define ZG_TESTS_RIG_ACCESS_H

#include <sys/random.h>

#include "access/access.h"

static inline usec_t rig_access_now(void *ctx)
{
	(void)ctx;
	return time_monotonic();
}

static inline usec_t rig_access_wall(void *ctx)
{
	(void)ctx;
	return time_wall();
}

static inline void rig_access_random(void *ctx, void *bytes, size_t size)
{
	(void)ctx;
	assert_int_equal(getrandom(bytes, size, 0), size);
}

static inline void rig_access_commit(void *ctx, const struct store_row *rows, size_t count,
				     access_commit_fn *done, void *done_ctx)
{
	(void)ctx;
	(void)rows;
	(void)count;
	done(done_ctx, 0, NULL);
}

static inline void rig_access_offload(void *ctx, void (*work)(void *arg), void (*done)(void *arg),
				      void *arg)
{
	(void)ctx;
	work(arg);
	done(arg);
}

static inline void rig_access_login_failed(void *ctx, const char *user, const char *source,
					   const char *why)
{
	(void)ctx;
	(void)user;
	(void)source;
	(void)why;
}

static inline struct access *rig_access_new(void)
{
	return access_new(&(struct access_ports){.now = rig_access_now,
						 .wall = rig_access_wall,
						 .random = rig_access_random,
						 .commit = rig_access_commit,
						 .offload = rig_access_offload,
						 .login_failed = rig_access_login_failed});
}

#endif
