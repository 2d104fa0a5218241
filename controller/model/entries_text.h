/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of access lists as people write them. */
#ifndef ZG_MODEL_ENTRIES_TEXT_H
#define ZG_MODEL_ENTRIES_TEXT_H

#include "base/err.h"
#include "model/entries.h"

#define ENTRIES_CIDR_MAX 56 /* "2001:db8::/32" */

/* "198.51.100.0/24", or an address for itself alone, into net and length of `x`; the rest of it is left. Returns 0, or -EINVAL with one
 * fault at `pointer`, which names the mend: bits beyond the length, a prefix that is everything. */
int entries_parse_cidr(const char *text, const char *pointer, struct err *e, struct entry *ret_x);
const char *entries_format_cidr(const struct entry *x, char buf[ENTRIES_CIDR_MAX]);

const char *entries_action_name(enum access_action action);

/* ---- a list as text: entries_read.c ---- */

/* "CIDR allow|deny [# comment]", one a line in any order; lines that are empty or begin with "#" say nothing. */
#define ENTRIES_TEXT_MAX (64U * 1024 * 1024) /* bytes */
#define ENTRIES_LINE_MAX 512                 /* bytes, without what ends it */

struct buf_writer;

/* Reads such a text as it comes, in pieces. */
struct entries_reader;
struct entries_reader *entries_reader_new(void);
void entries_reader_free(struct entries_reader *r); /* NULL-safe */
void entries_reader_take(struct entries_reader *r, const char *data, size_t size);
/* The list, or NULL with every fault in `e`; a pointer is the number of the line: "/17". */
struct entries *entries_reader_finish(struct entries_reader *r, struct err *e);
/* The same at once. */
struct entries *entries_read_text(const char *data, size_t size, struct err *e);

/* The text of all of them, or of one chunk. */
void entries_write_text(const struct entries *e, struct buf_writer *w);
void entries_write_chunk(const struct entries_chunk *c, struct buf_writer *w);
/* Bytes that `count` of them may take. */
size_t entries_text_bound(size_t count);

#endif
