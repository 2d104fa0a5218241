/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's switches in this network namespace. Those below net.ipv4.vs exist once ip_vs is loaded. */
#ifndef ZG_KERNEL_SYSCTL_H
#define ZG_KERNEL_SYSCTL_H

/* NAME is of a-z, digits, "_" and ".": below net.ipv4.vs, or in full if it has a dot. The value, or a negative errno. */
int sysctl_read(const char *name);
/* Returns 0 or a negative errno. With "*" in the place of a device it is sysctl_raise_all(). */
int sysctl_write(const char *name, int value);

/* FOLDER/…/NAME becomes `value` wherever it is one less, and stays as it is elsewhere. 0, also if there is none, or the last negative
 * errno. */
int sysctl_raise_all(const char *folder, const char *name, int value);

#endif
