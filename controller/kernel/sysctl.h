/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The switches below net.ipv4.vs: they exist once ip_vs is loaded, one set a network namespace. */
#ifndef ZG_KERNEL_SYSCTL_H
#define ZG_KERNEL_SYSCTL_H

/* `name` is of a-z, digits and "_". The value, or a negative errno. */
int sysctl_read(const char *name);
/* Returns 0 or a negative errno. */
int sysctl_write(const char *name, int value);

#endif
