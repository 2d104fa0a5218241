/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for kernel/channel.c: a test sees what was sent and answers by itself. Include it in one file of a program; the
 * archive's own channel is then not linked. */
#ifndef ZG_TESTS_FAKE_CHANNEL_H
#define ZG_TESTS_FAKE_CHANNEL_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernel/channel.h"

struct channel {
	int protocol;
	struct netmsg out;
	struct channel_events events;
	int busy;
	int aside;             /* the last one was sent aside */
	unsigned sends;        /* datagrams so far */
	unsigned sleep_usec;   /* how long the system call takes */
	struct netmsg answers; /* room for messages to answer with */
};

/* Those that were opened, in order. */
static struct channel *fake_channels[8];
static size_t fake_channel_count;

int channel_new(struct ev_loop *loop, int protocol, struct channel **ret_channel)
{
	struct channel *c = mem_new(struct channel);

	(void)loop;
	assert(fake_channel_count < sizeof(fake_channels) / sizeof(fake_channels[0]));
	fake_channels[fake_channel_count++] = c;
	c->protocol = protocol;
	netmsg_init(&c->out, 96 * 1024);
	netmsg_init(&c->answers, 16 * 1024);
	netmsg_reset(&c->out, 1);
	*ret_channel = c;
	return 0;
}

void channel_free(struct channel *c)
{
	if (!c)
		return;
	netmsg_free(&c->out);
	netmsg_free(&c->answers);
	free(c);
}

struct netmsg *channel_begin(struct channel *c)
{
	assert(!c->busy);
	netmsg_reset(&c->out, c->out.first + c->out.count);
	return &c->out;
}

void channel_send(struct channel *c, const struct channel_events *e)
{
	assert(!c->busy && c->out.count);
	if (c->sleep_usec)
		usleep(c->sleep_usec);
	c->events = *e;
	c->busy = 1;
	c->aside = 0;
	c->sends++;
}

void channel_send_aside(struct channel *c, const struct channel_events *e)
{
	channel_send(c, e);
	c->aside = 1;
}

/* Message `index` of what was sent last. */
static inline const struct nlmsghdr *fake_sent(const struct channel *c, uint32_t index)
{
	const uint8_t *p = c->out.data;

	assert(index < c->out.count);
	while (index--)
		p += NLMSG_ALIGN(((const struct nlmsghdr *)(const void *)p)->nlmsg_len);
	return (const struct nlmsghdr *)(const void *)p;
}

/* A refusal of message `index`; the exchange goes on. */
static inline void fake_refuse(struct channel *c, uint32_t index, int error)
{
	assert(c->busy && index < c->out.count);
	c->events.error(c->events.ctx, index, error);
}

static inline void fake_end(struct channel *c, int error)
{
	const struct channel_events e = c->events;

	assert(c->busy);
	c->busy = 0;
	e.end(e.ctx, error);
}

/* The messages that a test wrote into `answers`, as data. */
static inline void fake_answer(struct channel *c)
{
	size_t pos = 0;

	assert(c->busy);
	while (pos < c->answers.size) {
		const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)(c->answers.data +
										   pos);

		if (c->events.data)
			c->events.data(c->events.ctx, m);
		pos += NLMSG_ALIGN(m->nlmsg_len);
	}
	netmsg_reset(&c->answers, 0);
}

#endif
