/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people write and others read on their terminals. */
#ifndef ZG_BASE_TEXT_H
#define ZG_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether it holds no control character: none of C0, not DEL, none of C1 (in UTF-8 C2 80 to C2 9F). */
bool text_is_clean(const char *text);

/* For a text that may have been cut: takes off a character of UTF-8 of which the end is missing. Returns `text`. */
char *text_trim(char *text);

/* A copy of `text` that ends with "…" where it was cut, at a character's border. Returns `buf`. */
char *text_shorten(const char *text, char *buf, size_t size);

/* For what another program said: each byte that is not part of a character of UTF-8 becomes "?". Returns `text`. */
char *text_make_utf8(char *text);

/* Put a text or a number where `p` points, without an end, for what is written so often that printf would be felt. The room is
 * the caller's care: a number takes TEXT_NUMBER_MAX at most. Return where they end. */
#define TEXT_NUMBER_MAX 10
char *text_append(char *p, const char *text);
char *text_append_number(char *p, unsigned n);

/* The form of a word that goes with a count, whatever the type of that is: "%zu server%s", n, TEXT_S(n). */
#define TEXT_FORM(count, one, many) ((count) == 1 ? (one) : (many))
#define TEXT_S(count)               TEXT_FORM(count, "", "s")

/* What is left to end: of `all` that the kernel holds, those that are open, which people wait for, and the rest, which it forgets by
 * itself in a while: "3 open connections left, and 12 closing, UDP or remembered ones". Returns `buf`. */
#define TEXT_LEFT_MAX 120
const char *text_left(uint64_t all, uint64_t open, char buf[TEXT_LEFT_MAX]);

#endif
