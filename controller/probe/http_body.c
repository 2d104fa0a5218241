// SPDX-License-Identifier: GPL-2.0-or-later
// The body of an answer, one function a phase, each taking one byte: by length, in chunks, or to the end of the connection. It
// is searched as it passes; nothing of it is kept.
#include "probe/http_body.h"

#include <assert.h>
#include <string.h>

#define CHUNK_LINE_MAX   256 /* size and extensions */
#define CHUNK_DIGITS_MAX 15

enum http_progress http_body_decide(const struct http_parse *p)
{
	return p->whole && p->keep ? HTTP_MORE : HTTP_COMPLETE;
}

enum http_progress http_body_end(struct http_parse *p)
{
	p->body_done = true;
	p->over = true;
	return HTTP_COMPLETE;
}

static enum http_progress http_body_search(struct http_parse *p, const char *wanted, uint8_t c)
{
	if (p->wanted && !p->found) {
		while (p->matched && (uint8_t)wanted[p->matched] != c)
			p->matched = p->back[p->matched - 1];
		if ((uint8_t)wanted[p->matched] == c)
			p->matched++;
		p->found = wanted[p->matched] == '\0';
	}
	p->body_bytes++;
	if (p->body_bytes == HTTP_PARSE_BODY_MAX)
		p->keep = false; /* not worth reading to the end */
	return http_parse_is_decided(p) ? http_body_decide(p) : HTTP_MORE;
}

enum http_progress http_body_take_length(struct http_parse *p, const char *wanted, uint8_t c)
{
	enum http_progress progress = http_body_search(p, wanted, c);

	p->length--;
	return p->length ? progress : http_body_end(p);
}

enum http_progress http_body_take_chunk_data(struct http_parse *p, const char *wanted, uint8_t c)
{
	p->length--;
	if (!p->length)
		p->phase = PHASE_CHUNK_END;
	return http_body_search(p, wanted, c);
}

enum http_progress http_body_take_chunk_end(struct http_parse *p, const char *wanted, uint8_t c)
{
	(void)wanted;
	if (c == '\r' && !p->cr) {
		p->cr = true;
		return HTTP_MORE;
	}
	if (c != '\n')
		return http_fail(p, "a chunk longer than its size");
	p->cr = false;
	p->chunk_digits = 0;
	p->line_bytes = 0;
	p->phase = PHASE_CHUNK_SIZE;
	return HTTP_MORE;
}

static int http_body_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The line end after a chunk size. A size of zero ends the body: trailers do not matter to the verdict. */
static enum http_progress http_body_end_chunk_line(struct http_parse *p)
{
	p->cr = false;
	if (!p->chunk_digits)
		return http_fail(p, "a chunk without size");
	if (!p->length) {
		p->body_done = true;
		p->phase = PHASE_TRAILER_START;
		return http_body_decide(p);
	}
	p->phase = PHASE_CHUNK_DATA;
	return HTTP_MORE;
}

enum http_progress http_body_take_chunk_extension(struct http_parse *p, const char *wanted,
						  uint8_t c)
{
	(void)wanted;
	if (++p->line_bytes > CHUNK_LINE_MAX)
		return http_fail(p, "a chunk size line that is too long");
	return c == '\n' ? http_body_end_chunk_line(p) : HTTP_MORE;
}

enum http_progress http_body_take_chunk_size(struct http_parse *p, const char *wanted, uint8_t c)
{
	int digit = http_body_hex(c);

	(void)wanted;
	p->line_bytes++;
	if (digit >= 0 && !p->cr) {
		if (++p->chunk_digits > CHUNK_DIGITS_MAX)
			return http_fail(p, "a chunk size that is too large");
		p->length = (p->chunk_digits == 1 ? 0 : p->length << 4) | (unsigned)digit;
		return HTTP_MORE;
	}
	if (c == '\n')
		return http_body_end_chunk_line(p);
	if (c == '\r' && !p->cr) {
		p->cr = true;
		return HTTP_MORE;
	}
	if (p->cr || !p->chunk_digits || (c != ';' && c != ' ' && c != '\t'))
		return http_fail(p, "a chunk without size");
	p->phase = PHASE_CHUNK_EXTENSION;
	return HTTP_MORE;
}

enum http_progress http_body_take_trailer(struct http_parse *p, const char *wanted, uint8_t c)
{
	(void)wanted;
	if (c == '\n')
		p->phase = PHASE_TRAILER_START;
	return HTTP_MORE;
}

enum http_progress http_body_take_trailer_start(struct http_parse *p, const char *wanted, uint8_t c)
{
	if (c == '\n')
		return http_body_end(p);
	if (c != '\r') {
		p->phase = PHASE_TRAILER;
		return http_body_take_trailer(p, wanted, c);
	}
	return HTTP_MORE;
}

enum http_progress http_body_take_close(struct http_parse *p, const char *wanted, uint8_t c)
{
	return http_body_search(p, wanted, c);
}

/* The table of the search: back[i] = length of the longest start of the text that also ends at i, the whole apart. */
void http_body_prepare(struct http_parse *p, const char *wanted)
{
	size_t size = strlen(wanted);
	uint8_t k = 0;

	assert(size <= sizeof(p->back));
	for (size_t i = 1; i < size; i++) {
		while (k && wanted[k] != wanted[i])
			k = p->back[k - 1];
		if (wanted[k] == wanted[i])
			k++;
		p->back[i] = k;
	}
}
