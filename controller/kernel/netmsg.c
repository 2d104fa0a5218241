// SPDX-License-Identifier: GPL-2.0-or-later
// The room for a message is asked for before it is begun, so that writing itself cannot fail.
#include "kernel/netmsg.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void netmsg_init(struct netmsg *m, size_t capacity)
{
	*m = (struct netmsg){.data = mem_alloc(capacity), .capacity = capacity};
}

void netmsg_free(struct netmsg *m)
{
	free(m->data);
	*m = (struct netmsg){0};
}

void netmsg_reset(struct netmsg *m, uint32_t first)
{
	m->size = 0;
	m->count = 0;
	m->first = first;
}

int netmsg_has_room(const struct netmsg *m)
{
	return m->capacity - m->size >= NETMSG_MESSAGE_MAX;
}

/* Room, aligned as netlink wants it; what is beyond `size` is zero. */
static inline uint8_t *netmsg_take(struct netmsg *m, size_t size)
{
	static const uint8_t padding[NLMSG_ALIGNTO];
	size_t aligned = NLMSG_ALIGN(size);
	uint8_t *p = m->data + m->size;

	assert(m->capacity - m->size >= aligned);
	if (aligned != size)
		memcpy(p + aligned - sizeof(padding), padding, sizeof(padding));
	m->size += aligned;
	return p;
}

static struct nlmsghdr *netmsg_header(struct netmsg *m)
{
	return (struct nlmsghdr *)(void *)(m->data + m->start);
}

void netmsg_begin(struct netmsg *m, uint16_t type, uint16_t flags)
{
	const struct nlmsghdr h = {.nlmsg_type = type,
				   .nlmsg_flags = flags | NLM_F_REQUEST,
				   .nlmsg_seq = m->first + m->count};

	assert(netmsg_has_room(m));
	m->start = m->size;
	memcpy(netmsg_take(m, sizeof(h)), &h, sizeof(h));
	m->count++;
}

void netmsg_put_head(struct netmsg *m, const void *head, size_t size)
{
	memcpy(netmsg_take(m, size), head, size);
}

/* Small enough to become a few moves where the size is known: thousands are written at once. */
static inline void netmsg_put_value(struct netmsg *m, uint16_t type, const void *value, size_t size)
{
	const struct nlattr a = {.nla_len = (uint16_t)(sizeof(struct nlattr) + size),
				 .nla_type = type};
	uint8_t *p = netmsg_take(m, sizeof(struct nlattr) + size);

	memcpy(p, &a, sizeof(a));
	memcpy(p + sizeof(struct nlattr), value, size);
}

void netmsg_put(struct netmsg *m, uint16_t type, const void *value, size_t size)
{
	netmsg_put_value(m, type, value, size);
}

void netmsg_put_u8(struct netmsg *m, uint16_t type, uint8_t value)
{
	netmsg_put_value(m, type, &value, sizeof(value));
}

void netmsg_put_u16(struct netmsg *m, uint16_t type, uint16_t value)
{
	netmsg_put_value(m, type, &value, sizeof(value));
}

void netmsg_put_u32(struct netmsg *m, uint16_t type, uint32_t value)
{
	netmsg_put_value(m, type, &value, sizeof(value));
}

void netmsg_put_text(struct netmsg *m, uint16_t type, const char *value)
{
	netmsg_put(m, type, value, strlen(value) + 1);
}

size_t netmsg_begin_nest(struct netmsg *m, uint16_t type)
{
	const struct nlattr a = {.nla_type = type | NLA_F_NESTED};
	size_t nest = m->size;

	memcpy(netmsg_take(m, sizeof(struct nlattr)), &a, sizeof(a));
	return nest;
}

void netmsg_end_nest(struct netmsg *m, size_t nest)
{
	struct nlattr *a = (struct nlattr *)(void *)(m->data + nest);

	a->nla_len = (uint16_t)(m->size - nest);
}

void netmsg_end(struct netmsg *m)
{
	netmsg_header(m)->nlmsg_len = (uint32_t)(m->size - m->start);
	assert(m->size - m->start <= NETMSG_MESSAGE_MAX);
}

void netmsg_add_flags(struct netmsg *m, uint16_t flags)
{
	assert(m->count);
	netmsg_header(m)->nlmsg_flags |= flags;
}
