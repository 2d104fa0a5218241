// SPDX-License-Identifier: GPL-2.0-or-later
// An answer from the bytes: never beyond a limit, and the same verdict whether it comes at once, byte by byte or in two
// parts. First byte: bit 0 = GET, bits 1–3 = length of the text that is looked for, which follows; then the answer. Reading on
// to the end of the answer changes no verdict.
#include "probe/http_parse.h"

#include <assert.h>
#include <string.h>

#define SMALL 2048 /* longer ones are cut into 64 parts */

struct verdict {
	enum http_progress progress;
	struct http_parse parse;
};

enum extent { UNTIL_DECIDED, WHOLE };

static struct verdict take(enum http_method method, const char *wanted, enum extent extent,
			   const uint8_t *data, size_t size, size_t step)
{
	struct verdict v = {.progress = HTTP_MORE};

	http_parse_init(&v.parse, method, wanted);
	v.parse.whole = extent == WHOLE;
	for (size_t at = 0; at < size && v.progress == HTTP_MORE; at += step) {
		size_t left = size - at;

		v.progress = http_parse_feed(&v.parse, wanted, data + at,
					     left < step ? left : step);
		assert(v.parse.body_bytes <= HTTP_PARSE_BODY_MAX);
		assert(v.parse.line_size < HTTP_PARSE_LINE_MAX);
	}
	assert(memchr(v.parse.line, '\0', sizeof(v.parse.line)));
	if (v.progress == HTTP_MORE)
		v.progress = http_parse_end(&v.parse);
	assert(v.progress != HTTP_MORE);
	assert((v.progress == HTTP_MALFORMED) == (v.parse.fault != NULL));
	assert(v.progress == HTTP_MALFORMED || http_parse_is_decided(&v.parse) ||
	       v.parse.body_bytes < HTTP_PARSE_BODY_MAX);
	assert(v.parse.bytes <= size);
	return v;
}

static void assert_same(const struct verdict *a, const struct verdict *b)
{
	assert(a->progress == b->progress);
	assert(a->parse.status == b->parse.status);
	assert(a->parse.found == b->parse.found);
	assert(a->parse.fault == b->parse.fault);
}

static void assert_cut(enum http_method method, const char *wanted, enum extent extent,
		       const uint8_t *data, size_t size, struct verdict *ret_whole)
{
	struct verdict other;

	*ret_whole = take(method, wanted, extent, data, size, size ? size : 1);
	other = take(method, wanted, extent, data, size, size > SMALL ? size / 64 : 1);
	assert_same(ret_whole, &other);
	assert(ret_whole->parse.bytes == other.parse.bytes);
	assert(ret_whole->parse.keep == other.parse.keep);
	assert(ret_whole->parse.over == other.parse.over);
	other = take(method, wanted, extent, data, size, size / 2 + 1);
	assert_same(ret_whole, &other);
	assert(ret_whole->parse.body_bytes == other.parse.body_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char wanted[8] = "";
	enum http_method method;
	struct verdict decided;
	struct verdict whole;
	size_t length;

	if (size < 8)
		return 0;
	method = data[0] & 1 ? HTTP_GET : HTTP_HEAD;
	length = data[0] >> 1 & 7;
	memcpy(wanted, data + 1, length);
	data += 1 + length;
	size -= 1 + length;
	assert_cut(method, wanted, UNTIL_DECIDED, data, size, &decided);
	assert_cut(method, wanted, WHOLE, data, size, &whole);
	assert_same(&decided, &whole);
	return 0;
}
