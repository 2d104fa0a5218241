/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between handlers_kernel.c and handlers_drift.c. */
#ifndef ZG_API_HANDLERS_KERNEL_H
#define ZG_API_HANDLERS_KERNEL_H

struct request;

/* The table could not be read: 503. */
void handlers_kernel_fail(struct request *r, int error);
/* While there is no IPVS the engine would answer only when it comes. Replies and returns -EAGAIN then. */
int handlers_kernel_check(struct request *r);

#endif
