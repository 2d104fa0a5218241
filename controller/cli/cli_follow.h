/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream of events (text/event-stream) out of the pieces it comes in. Pure. */
#ifndef ZG_CLI_CLI_FOLLOW_H
#define ZG_CLI_CLI_FOLLOW_H

#include "base/buf.h"

#define CLI_FOLLOW_NAME_MAX 64
#define CLI_FOLLOW_DATA_MAX (256U * 1024)

struct cli_follow {
	struct buf_writer line;
	struct buf_writer data;
	char event[CLI_FOLLOW_NAME_MAX];
	char last_id[24]; /* to go on behind it; "" = none yet */
	/* An event is complete. */
	void (*on_event)(void *ctx, const char *event, const char *data);
	void *ctx;
};

void cli_follow_init(struct cli_follow *f,
		     void (*on_event)(void *ctx, const char *event, const char *data), void *ctx);
void cli_follow_clear(struct cli_follow *f);
/* A new connection: what was half read is void, the id stays. */
void cli_follow_restart(struct cli_follow *f);
/* False: a line is too long to be one. */
bool cli_follow_take(struct cli_follow *f, const char *data, size_t size);

#endif
