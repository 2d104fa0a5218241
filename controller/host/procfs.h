/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and lists in the files of /proc and /sys. They never block. */
#ifndef ZG_HOST_PROCFS_H
#define ZG_HOST_PROCFS_H

#include "base/vec.h"

/* The number that a file begins with. 0, or a negative errno: -EINVAL when it begins with none. */
int procfs_read_number(const char *path, long long *ret_value);

/* The same of a sysctl by its name ("net.ipv4.ip_forward") below FOLDER (/proc/sys). */
int procfs_read_sysctl(const char *folder, const char *name, long long *ret_value);

/* The first word of each line of a file, as in /proc/modules; strings that the caller frees are pushed. 0, or a negative errno. */
int procfs_list_words(const char *path, struct vec *ret_words);

#endif
