// SPDX-License-Identifier: GPL-2.0-or-later
// Cursors with a sticky error. Nothing here trusts a length that comes from the bytes themselves.
#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define BUF_FIRST_CAPACITY 256

uint8_t buf_read_u8(struct buf_reader *r)
{
	const uint8_t *p = buf_read_bytes(r, 1);

	return p ? p[0] : 0;
}

uint16_t buf_read_be16(struct buf_reader *r)
{
	const uint8_t *p = buf_read_bytes(r, 2);

	return p ? (uint16_t)((unsigned)p[0] << 8 | (unsigned)p[1]) : 0;
}

uint32_t buf_read_be32(struct buf_reader *r)
{
	const uint8_t *p = buf_read_bytes(r, 4);

	if (!p)
		return 0;
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void buf_skip(struct buf_reader *r, size_t size)
{
	buf_read_bytes(r, size);
}

void buf_writer_init(struct buf_writer *w, size_t limit)
{
	assert(limit < SIZE_MAX / 2);
	*w = (struct buf_writer){.limit = limit};
}

void buf_writer_free(struct buf_writer *w)
{
	if (!w)
		return;
	free(w->data);
	buf_writer_init(w, w->limit);
}

bool buf_reserve(struct buf_writer *w, size_t size)
{
	size_t need;
	size_t capacity;

	if (w->failed || size > w->limit - w->size) {
		w->failed = true;
		return false;
	}
	need = w->size + size + 1;
	if (need <= w->capacity)
		return true;
	capacity = w->capacity ? w->capacity : BUF_FIRST_CAPACITY;
	while (capacity < need)
		capacity *= 2;
	w->data = mem_realloc_array(w->data, capacity, 1);
	w->capacity = capacity;
	return true;
}

void buf_write_text(struct buf_writer *w, const char *text)
{
	buf_write(w, text, strlen(text));
}

void buf_write_format(struct buf_writer *w, const char *fmt, ...)
{
	va_list args;
	va_list again;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	if (n < 0) {
		w->failed = true;
	} else if (buf_reserve(w, (size_t)n)) {
		vsnprintf((char *)w->data + w->size, (size_t)n + 1, fmt, again);
		w->size += (size_t)n;
	}
	va_end(again);
	va_end(args);
}

void buf_write_u8(struct buf_writer *w, uint8_t v)
{
	buf_write(w, &v, 1);
}

void buf_write_be16(struct buf_writer *w, uint16_t v)
{
	const uint8_t bytes[2] = {(uint8_t)(v >> 8), (uint8_t)v};

	buf_write(w, bytes, sizeof(bytes));
}

void buf_write_be32(struct buf_writer *w, uint32_t v)
{
	const uint8_t bytes[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				  (uint8_t)v};

	buf_write(w, bytes, sizeof(bytes));
}

const char *buf_text(const struct buf_writer *w)
{
	return w->data ? (const char *)w->data : "";
}

char *buf_take(struct buf_writer *w)
{
	char *text = w->data ? (char *)w->data : mem_strdup("");

	buf_writer_init(w, w->limit);
	return text;
}
