/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes written as text: printable ASCII stands for itself, `\XX` (two hex digits) for any byte, `\\` for a backslash. What
 * UDP checks send and compare with. */
#ifndef ZG_MODEL_ESCAPE_H
#define ZG_MODEL_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#define ESCAPE_BYTES_MAX 512 /* of a request or an expected reply, after unescaping */
#define ESCAPE_QUOTE_MAX 80

/* The first place of `text` that stands for nothing, or NULL. */
const char *escape_find_fault(const char *text);

/* Writes what a faultless `text` stands for, at most `size` bytes of it (`bytes` may be NULL with 0). Returns the length of
 * the whole. */
size_t escape_decode_text(const char *text, uint8_t *bytes, size_t size);

/* The other way, for evidence: as many of the `count` bytes as fit, "..." after them if not all. Returns `buf`. */
const char *escape_format_bytes(const uint8_t *bytes, size_t count, char buf[ESCAPE_QUOTE_MAX]);

#endif
