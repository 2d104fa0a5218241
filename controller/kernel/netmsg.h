/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes netlink messages one behind the other into a datagram. (libnl builds one message an allocation.) */
#ifndef ZG_KERNEL_NETMSG_H
#define ZG_KERNEL_NETMSG_H

#include <stddef.h>
#include <stdint.h>

struct netmsg {
	uint8_t *data;
	size_t size;
	size_t capacity;
	size_t start;   /* of the message being written */
	uint32_t count; /* messages */
	uint32_t first; /* sequence number of the first; the others follow it */
};

/* No message of ours is longer. */
#define NETMSG_MESSAGE_MAX 512

/* An empty datagram for at most `capacity` octets; netmsg_free() releases it. */
void netmsg_init(struct netmsg *m, size_t capacity);
void netmsg_free(struct netmsg *m);
/* Empties the datagram; the next message gets sequence number `first`. */
void netmsg_reset(struct netmsg *m, uint32_t first);
/* Whether one more message has room. */
int netmsg_has_room(const struct netmsg *m);

/* A message: begin with the family's own header, put attributes, end. */
void netmsg_begin(struct netmsg *m, uint16_t type, uint16_t flags);
void netmsg_put_head(struct netmsg *m, const void *head, size_t size);
void netmsg_put(struct netmsg *m, uint16_t type, const void *value, size_t size);
void netmsg_put_u8(struct netmsg *m, uint16_t type, uint8_t value);
void netmsg_put_u16(struct netmsg *m, uint16_t type, uint16_t value);
void netmsg_put_u32(struct netmsg *m, uint16_t type, uint32_t value);
void netmsg_put_text(struct netmsg *m, uint16_t type, const char *value);
size_t netmsg_begin_nest(struct netmsg *m, uint16_t type); /* returns what end_nest wants */
void netmsg_end_nest(struct netmsg *m, size_t nest);
void netmsg_end(struct netmsg *m);

/* Adds NLM_F_ flags to the message that was ended last. */
void netmsg_add_flags(struct netmsg *m, uint16_t flags);

#endif
