// SPDX-License-Identifier: GPL-2.0-or-later
// Protobuf by hand: a message is a list of (number, type, value), of which one counts and the others are skipped.
#include "probe/grpc_message.h"

#include "base/buf.h"

#include <assert.h>
#include <string.h>

#define FIELD_SERVICE 1U
#define FIELD_STATUS  1U
#define VARINT_MAX    10

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static const char *const serving_names[] = {
	[GRPC_UNKNOWN] = "UNKNOWN",
	[GRPC_SERVING] = "SERVING",
	[GRPC_NOT_SERVING] = "NOT_SERVING",
	[GRPC_SERVICE_UNKNOWN] = "SERVICE_UNKNOWN",
};

static const char *const status_names[] = {
	"OK",
	"CANCELLED",
	"UNKNOWN",
	"INVALID_ARGUMENT",
	"DEADLINE_EXCEEDED",
	"NOT_FOUND",
	"ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION",
	"ABORTED",
	"OUT_OF_RANGE",
	"UNIMPLEMENTED",
	"INTERNAL",
	"UNAVAILABLE",
	"DATA_LOSS",
	"UNAUTHENTICATED",
};

const char *grpc_message_serving_name(uint64_t serving)
{
	return serving < sizeof(serving_names) / sizeof(serving_names[0]) ? serving_names[serving]
									  : NULL;
}

const char *grpc_message_status_name(unsigned status)
{
	return status < sizeof(status_names) / sizeof(status_names[0]) ? status_names[status]
								       : NULL;
}

size_t grpc_message_write(const char *service, uint8_t buf[GRPC_REQUEST_MAX])
{
	size_t length = service ? strlen(service) : 0;
	uint8_t *p = buf + GRPC_PREFIX;

	assert(length <= MODEL_TEXT_MAX);
	if (length) {
		*p++ = FIELD_SERVICE << 3 | WIRE_BYTES;
		if (length >= 0x80)
			*p++ = (uint8_t)(length & 0x7f) | 0x80;
		*p++ = (uint8_t)(length >= 0x80 ? length >> 7 : length);
		memcpy(p, service, length);
		p += length;
	}
	length = (size_t)(p - buf) - GRPC_PREFIX;
	memset(buf, 0, GRPC_PREFIX);
	buf[3] = (uint8_t)(length >> 8);
	buf[4] = (uint8_t)length;
	return GRPC_PREFIX + length;
}

static uint64_t message_read_varint(struct buf_reader *r)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_MAX; i++) {
		uint8_t byte = buf_read_u8(r);

		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	r->failed = true;
	return 0;
}

static void message_skip(struct buf_reader *r, unsigned type)
{
	uint64_t length;

	if (type == WIRE_VARINT) {
		message_read_varint(r);
	} else if (type == WIRE_FIXED64) {
		buf_skip(r, 8);
	} else if (type == WIRE_FIXED32) {
		buf_skip(r, 4);
	} else if (type == WIRE_BYTES) {
		length = message_read_varint(r);
		buf_skip(r, length <= buf_left(r) ? (size_t)length : SIZE_MAX);
	} else {
		r->failed = true; /* groups went out of use long before this protocol began */
	}
}

const char *grpc_message_read(const uint8_t *body, size_t size, uint64_t *ret_serving)
{
	uint64_t serving = GRPC_UNKNOWN; /* what is left out has its first value */
	struct buf_reader r;
	uint8_t compressed;
	uint32_t length;

	if (!size)
		return "no message in the answer";
	buf_reader_init(&r, body, size);
	compressed = buf_read_u8(&r);
	length = buf_read_be32(&r);
	if (r.failed || length != buf_left(&r))
		return "not one whole message in the answer";
	if (compressed)
		return "a compressed message";
	while (buf_left(&r) && !r.failed) {
		uint64_t tag = message_read_varint(&r);

		if (tag == (FIELD_STATUS << 3 | WIRE_VARINT))
			serving = message_read_varint(&r);
		else if (tag >> 3)
			message_skip(&r, tag & 7);
		else
			r.failed = true;
	}
	if (r.failed)
		return "a message that is not protobuf";
	*ret_serving = serving;
	return NULL;
}

bool grpc_message_parse_status(const uint8_t *value, size_t size, unsigned *ret_status)
{
	unsigned status = 0;

	if (!size || size > 9)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (value[i] < '0' || value[i] > '9')
			return false;
		status = status * 10 + (value[i] - '0');
	}
	*ret_status = status;
	return true;
}

static int message_hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void grpc_message_decode_text(const uint8_t *value, size_t value_size, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < value_size && used + 1 < size; i++) {
		uint8_t c = value[i];

		if (c == '%' && i + 2 < value_size && message_hex(value[i + 1]) >= 0 &&
		    message_hex(value[i + 2]) >= 0) {
			c = (uint8_t)(message_hex(value[i + 1]) << 4 | message_hex(value[i + 2]));
			i += 2;
		}
		buf[used++] = (char)(c < 0x20 || c > 0x7e ? '.' : c);
	}
	buf[used] = '\0';
}
