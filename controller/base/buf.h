/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bounded cursors over bytes, with a sticky error: read or write as long as you like, ask once at the end. */
#ifndef ZG_BASE_BUF_H
#define ZG_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reader over memory that the caller keeps. */
struct buf_reader {
	const uint8_t *data;
	size_t size;
	size_t pos;
	bool failed; /* a read went past the end: all later reads give 0 */
};

/* Reads `size` octets at `data`, which stay the caller's. Numbers are in network order. */
static inline void buf_reader_init(struct buf_reader *r, const void *data, size_t size)
{
	*r = (struct buf_reader){.data = data, .size = size};
}
static inline size_t buf_left(const struct buf_reader *r)
{
	return r->failed ? 0 : r->size - r->pos;
}
/* NULL and failed if there are fewer. */
static inline const uint8_t *buf_read_bytes(struct buf_reader *r, size_t size)
{
	size_t at = r->pos;

	if (r->failed || size > r->size - at) {
		r->failed = true;
		return NULL;
	}
	r->pos += size;
	return r->data + at;
}
uint8_t buf_read_u8(struct buf_reader *r);
uint16_t buf_read_be16(struct buf_reader *r);
uint32_t buf_read_be32(struct buf_reader *r);
void buf_skip(struct buf_reader *r, size_t size);

/* Growing text/byte writer with an upper bound; beyond it `failed` is set and nothing more is written. */
struct buf_writer {
	uint8_t *data; /* always NUL-terminated beyond `size` once something was written */
	size_t size;
	size_t capacity;
	size_t limit;
	bool failed;
};

/* Empty, with no memory yet; `limit` in octets. */
void buf_writer_init(struct buf_writer *w, size_t limit);
void buf_writer_free(struct buf_writer *w); /* NULL-safe; usable as a cleanup */
/* Makes room for `size` more octets and the NUL. False, and failed, beyond the limit. */
bool buf_reserve(struct buf_writer *w, size_t size);
static inline void buf_write(struct buf_writer *w, const void *data, size_t size)
{
	/* Room that is there is seen here: a DNS answer is written in three pieces. */
	bool fits = !w->failed && size <= w->limit - w->size && w->size + size < w->capacity;

	if (!fits && !buf_reserve(w, size))
		return;
	if (size)
		memcpy(w->data + w->size, data, size);
	w->size += size;
	w->data[w->size] = '\0';
}
void buf_write_text(struct buf_writer *w, const char *text);
void buf_write_format(struct buf_writer *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_write_u8(struct buf_writer *w, uint8_t v);
void buf_write_be16(struct buf_writer *w, uint16_t v);
void buf_write_be32(struct buf_writer *w, uint32_t v);
/* The bytes as text ("" if nothing was written); owned by `w`. */
const char *buf_text(const struct buf_writer *w);
/* Takes the memory out of `w` (caller frees). */
char *buf_take(struct buf_writer *w);

#define AUTO_BUF __attribute__((cleanup(buf_writer_free)))

#endif
