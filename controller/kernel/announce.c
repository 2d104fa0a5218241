// SPDX-License-Identifier: GPL-2.0-or-later
// One packet socket for both families, opened with the first address; it never receives. The timer walks what is due, a
// bounded number a turn. What becomes of a frame nobody knows: that is why there are three.
#include "kernel/announce.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define ANNOUNCE_TURN 64 /* frames a turn of the loop */
#define ANNOUNCE_NOW  0.001

static const uint8_t announce_broadcast[ANNOUNCE_MAC_SIZE] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t announce_multicast[ANNOUNCE_MAC_SIZE] = {0x33, 0x33, 0, 0, 0, 1};

/* ---- sending -------------------------------------------------------------------------------- */

/* As the kernel does: a host that forwards is a router to its neighbours. */
static uint8_t announce_na_flags(const struct announce *a)
{
	char path[96];
	FILE *file;
	int forwards;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/forwarding", a->link.name);
	file = fopen(path, "re");
	if (!file)
		return ANNOUNCE_NA_OVERRIDE;
	forwards = fgetc(file);
	fclose(file);
	return forwards == '1' || forwards == '2' ? ANNOUNCE_NA_OVERRIDE | ANNOUNCE_NA_ROUTER
						  : ANNOUNCE_NA_OVERRIDE;
}

static int announce_open(struct announce *a)
{
	if (a->fd)
		return 0;
	a->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (a->fd >= 0)
		return 0;
	a->fd = 0;
	return -errno;
}

static int announce_send(struct announce *a, const struct addr *address)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_ifindex = (int)a->link.index,
				 .sll_halen = ANNOUNCE_MAC_SIZE};
	uint8_t frame[ANNOUNCE_FRAME_MAX];
	size_t size;
	int error = announce_open(a);

	if (error)
		return error;
	if (address->family == AF_INET) {
		to.sll_protocol = htons(ETH_P_ARP);
		memcpy(to.sll_addr, announce_broadcast, ANNOUNCE_MAC_SIZE);
		size = announce_frame_arp(address, a->link.mac, frame);
	} else {
		to.sll_protocol = htons(ETH_P_IPV6);
		memcpy(to.sll_addr, announce_multicast, ANNOUNCE_MAC_SIZE);
		size = announce_frame_na(address, a->link.mac, announce_na_flags(a), frame);
	}
	if (sendto(a->fd, frame, size, 0, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	return 0;
}

/* A link that is down or gone is no fault of the announcement: it is repeated when the link comes up. */
static bool announce_is_fault(int error)
{
	return error && error != -ENETDOWN && error != -ENODEV && error != -ENXIO;
}

static void announce_take_turn(struct announce *a, struct announce_entry *entry, usec_t now)
{
	int error = announce_send(a, &entry->address);

	entry->due = now + ANNOUNCE_INTERVAL;
	entry->left--;
	if (announce_is_fault(error) && !entry->left)
		a->failed(a->ctx, &entry->address, error);
}

/* ---- when ----------------------------------------------------------------------------------- */

static void announce_on_timer(struct ev_loop *loop, struct ev_timer *w, int revents);

static void announce_arm(struct announce *a, double seconds)
{
	if (!a->loop || ev_is_active(&a->timer))
		return;
	ev_timer_init(&a->timer, announce_on_timer, seconds, 0.);
	a->timer.data = a;
	ev_timer_start(a->loop, &a->timer);
}

static void announce_on_timer(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct announce *a = w->data;
	usec_t now = time_monotonic();
	usec_t next = USEC_NEVER;
	unsigned sent = 0;

	(void)loop;
	(void)revents;
	for (size_t i = 0; i < a->count; i++) {
		struct announce_entry *entry = &a->entries[i];

		if (entry->left && entry->due <= now && sent < ANNOUNCE_TURN) {
			announce_take_turn(a, entry, now);
			sent++;
		}
		if (entry->left && entry->due < next)
			next = entry->due;
	}
	if (next != USEC_NEVER)
		announce_arm(a, next > now ? (double)(next - now) / USEC_PER_SEC : ANNOUNCE_NOW);
}

/* ---- which ---------------------------------------------------------------------------------- */

static struct announce_entry *announce_find(const struct announce *a, const struct addr *address)
{
	for (size_t i = 0; i < a->count; i++)
		if (!addr_compare(&a->entries[i].address, address))
			return &a->entries[i];
	return NULL;
}

static void announce_drop(struct announce *a, struct announce_entry *entry)
{
	*entry = a->entries[--a->count];
}

static void announce_begin(struct announce *a, struct announce_entry *entry)
{
	entry->left = ANNOUNCE_TIMES;
	entry->due = 0;
	if (a->loop && ev_is_active(&a->timer))
		ev_timer_stop(a->loop, &a->timer);
	announce_arm(a, 0.);
}

void announce_set_link(struct announce *a, const struct announce_link *link)
{
	if (a->link.index != link->index)
		a->count = 0;
	a->link = *link;
}

void announce_add(struct announce *a, const struct addr *address)
{
	struct announce_entry *entry = announce_find(a, address);

	if (!a->link.speaks)
		return;
	if (!entry) {
		a->entries = mem_realloc_array(a->entries, a->count + 1, sizeof(*a->entries));
		entry = &a->entries[a->count++];
		entry->address = *address;
	}
	announce_begin(a, entry);
}

void announce_remove(struct announce *a, const struct addr *address)
{
	struct announce_entry *entry = announce_find(a, address);

	if (entry)
		announce_drop(a, entry);
}

void announce_repeat(struct announce *a)
{
	for (size_t i = 0; i < a->count; i++)
		announce_begin(a, &a->entries[i]);
}

static int announce_compare(const void *x, const void *y)
{
	return addr_compare(x, y);
}

void announce_keep(struct announce *a, const struct addr *addresses, size_t count)
{
	for (size_t i = a->count; i-- > 0;)
		if (!count || !bsearch(&a->entries[i].address, addresses, count, sizeof(*addresses),
				       announce_compare))
			announce_drop(a, &a->entries[i]);
}

void announce_clear(struct announce *a)
{
	if (a->loop && ev_is_active(&a->timer))
		ev_timer_stop(a->loop, &a->timer);
	if (a->fd)
		close(a->fd);
	a->fd = 0;
	free(a->entries);
	a->entries = NULL;
	a->count = 0;
}
