/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks for IPVS in the kernel: the number of its netlink family, and whether we may use it. */
#ifndef ZG_KERNEL_FIND_H
#define ZG_KERNEL_FIND_H

#include "kernel/channel.h"

struct find {
	/* Set by the owner. */
	struct channel *channel;
	const char *module; /* is there while IPVS is loaded; NULL: nobody knows */
	void *ctx;
	/* 0 and the number; -ENOENT (no ip_vs, and modprobe did not bring it), -EPERM (no CAP_NET_ADMIN), or another error. */
	void (*done)(void *ctx, int error, uint16_t family);
	/* Its own. */
	uint16_t family;
	int error;
};

void find_start(struct find *f);

#endif
