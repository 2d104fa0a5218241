/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells a link's neighbours where an address is now: the bytes behind the Ethernet header. */
#ifndef ZG_KERNEL_ANNOUNCE_FRAME_H
#define ZG_KERNEL_ANNOUNCE_FRAME_H

#include <stddef.h>

#include "base/addr.h"

#define ANNOUNCE_MAC_SIZE  6
#define ANNOUNCE_FRAME_MAX 72

/* Bits of a Neighbor Advertisement (RFC 4861 §4.4). */
#define ANNOUNCE_NA_ROUTER   0x80
#define ANNOUNCE_NA_OVERRIDE 0x20

/* An ARP announcement (RFC 5227 §3): a request whose sender and target are the address. Returns its size. */
size_t announce_frame_arp(const struct addr *a, const uint8_t mac[ANNOUNCE_MAC_SIZE],
			  uint8_t ret_frame[ANNOUNCE_FRAME_MAX]);

/* An unsolicited Neighbor Advertisement (RFC 4861 §7.2.6) from the address to ff02::1, as a whole IPv6 packet. */
size_t announce_frame_na(const struct addr *a, const uint8_t mac[ANNOUNCE_MAC_SIZE],
			 uint8_t na_flags, uint8_t ret_frame[ANNOUNCE_FRAME_MAX]);

#endif
