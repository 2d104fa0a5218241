/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that somebody else named: only regular ones are opened, so that no FIFO, terminal or device is waited for. */
#ifndef ZG_BASE_FILE_H
#define ZG_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Looks, without opening, whether `path` (links are followed) is a regular file of at most `size_max` bytes (0 = any). Returns
 * 0, -EMEDIUMTYPE (not a regular file), -EFBIG, or what stat(2) said. */
int file_check(const char *path, size_t size_max);

/* Reads it whole; what grows beyond `size_max` meanwhile is -EFBIG. The text ends with a NUL that `ret_size` does not count;
 * the caller frees. Errors as above, and those of open(2) and read(2). */
int file_read(const char *path, size_t size_max, char **ret_text, size_t *ret_size);

/* Whether everybody may read or write it. False also if it cannot be looked at: whoever opens it says why. */
bool file_is_open_to_all(const char *path);

/* What stands there instead of a regular file: "a FIFO", "a device" and so on. */
const char *file_kind(const char *path);

#define FILE_FAULT_MAX 160

/* The sentence for such an error, with the mend: "is a FIFO: name a regular file". `size_max` as it was given. */
const char *file_describe_fault(const char *path, size_t size_max, int error,
				char buf[FILE_FAULT_MAX]);

#endif
