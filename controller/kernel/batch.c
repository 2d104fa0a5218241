// SPDX-License-Identifier: GPL-2.0-or-later
// Only refusals are answered one by one; whatever was not refused when the ACK of the last message comes has succeeded.
#include "kernel/batch.h"

#include "base/mem.h"
#include "base/time.h"

#define BATCH_MAX       256
#define BATCH_MIN       16
#define BATCH_SLOW_USEC 2000 /* a system call that took longer halves the next datagram */
#define BATCH_FAST_USEC 1000
#define BATCH_TRUSTED \
	3 /* full datagrams sent unmeasured after a fast one: the clock can be a system call */
#define RESULT_PENDING 1

static void batch_send(struct batch *b);

static void batch_on_error(void *ctx, uint32_t index, int error)
{
	struct batch *b = ctx;

	b->ops[b->next - b->sent + index].result = error;
}

static void batch_on_end(void *ctx, int error)
{
	struct batch *b = ctx;

	for (size_t i = b->next - b->sent; i < b->next; i++) {
		if (b->ops[i].result == RESULT_PENDING)
			b->ops[i].result = error;
		b->note(b->ctx, &b->ops[i]);
	}
	b->sent = 0;
	if (b->next < b->count)
		batch_send(b);
	else
		b->done(b->ctx);
}

static void batch_adapt(struct batch *b, usec_t took)
{
	if (took < BATCH_FAST_USEC && b->sent == BATCH_MAX)
		b->unmeasured = BATCH_TRUSTED;
	if (took > BATCH_SLOW_USEC && b->limit > BATCH_MIN)
		b->limit /= 2;
	else if (took < BATCH_FAST_USEC && b->limit < BATCH_MAX)
		b->limit *= 2;
}

static void batch_put(struct batch *b, struct netmsg *m)
{
	struct plan_op *op = &b->ops[b->next++];

	b->put(b->ctx, m, op);
	op->result = RESULT_PENDING;
	b->sent++;
}

static void batch_send(struct batch *b)
{
	const struct channel_events events = {
		.ctx = b, .error = batch_on_error, .end = batch_on_end};
	struct netmsg *m = channel_begin(b->channel);
	bool aside = b->may_load(b->ctx, &b->ops[b->next]);
	usec_t start;

	do {
		batch_put(b, m);
	} while (!aside && b->next < b->count && b->sent < b->limit && netmsg_has_room(m) &&
		 !b->may_load(b->ctx, &b->ops[b->next]));
	netmsg_add_flags(m, NLM_F_ACK);
	if (aside) {
		channel_send_aside(b->channel, &events);
		return;
	}
	if (b->unmeasured) {
		b->unmeasured--;
		channel_send(b->channel, &events);
		return;
	}
	start = time_monotonic();
	channel_send(b->channel, &events);
	batch_adapt(b, time_monotonic() - start);
}

void batch_start(struct batch *b, struct plan_op *ops, size_t count)
{
	assert(count && !b->sent);
	if (!b->limit)
		b->limit = BATCH_MAX;
	b->ops = ops;
	b->count = count;
	b->next = 0;
	b->unmeasured = 0; /* other operations may take longer */
	batch_send(b);
}
