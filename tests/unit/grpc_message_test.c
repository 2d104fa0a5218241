// SPDX-License-Identifier: GPL-2.0-or-later
// Protobuf and texts of the health protocol of gRPC.
#include "probe/grpc_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_write(void **state)
{
	static const uint8_t none[] = {0, 0, 0, 0, 0};
	static const uint8_t shop[] = {0, 0, 0, 0, 6, 0x0a, 4, 's', 'h', 'o', 'p'};
	char longest[MODEL_TEXT_MAX + 1];
	uint8_t buf[GRPC_REQUEST_MAX];

	(void)state;
	assert_int_equal(grpc_message_write(NULL, buf), sizeof(none));
	assert_memory_equal(buf, none, sizeof(none));
	assert_int_equal(grpc_message_write("", buf), sizeof(none));
	assert_int_equal(grpc_message_write("shop", buf), sizeof(shop));
	assert_memory_equal(buf, shop, sizeof(shop));

	memset(longest, 'x', MODEL_TEXT_MAX);
	longest[MODEL_TEXT_MAX] = '\0';
	assert_int_equal(grpc_message_write(longest, buf), GRPC_REQUEST_MAX);
	assert_int_equal(buf[3] << 8 | buf[4], MODEL_TEXT_MAX + 3);
	assert_int_equal(buf[5], 0x0a);
	assert_int_equal((buf[6] & 0x7f) | buf[7] << 7, MODEL_TEXT_MAX);
	assert_true(buf[6] & 0x80);
	longest[127] = '\0'; /* the longest whose length is one byte */
	assert_int_equal(grpc_message_write(longest, buf), GRPC_PREFIX + 2 + 127);
	assert_int_equal(buf[6], 127);
}

struct read_row {
	const char *bytes;
	size_t size;
	const char *fault; /* NULL = it can be read */
	uint64_t serving;
};

#define ROW(text, fault, serving)                        \
	{                                                \
		(text), sizeof(text) - 1, fault, serving \
	}

static const char not_whole[] = "not one whole message in the answer";
static const char not_protobuf[] = "a message that is not protobuf";

static const struct read_row reads[] = {
	ROW("\0\0\0\0\2\x08\1", NULL, GRPC_SERVING),
	ROW("\0\0\0\0\2\x08\2", NULL, GRPC_NOT_SERVING),
	ROW("\0\0\0\0\2\x08\3", NULL, GRPC_SERVICE_UNKNOWN),
	ROW("\0\0\0\0\0", NULL, GRPC_UNKNOWN),
	ROW("\0\0\0\0\4\x08\2\x08\1", NULL, GRPC_SERVING), /* the last one counts */
	ROW("\0\0\0\0\3\x08\x81\0", NULL, GRPC_SERVING),
	ROW("\0\0\0\0\3\x08\xac\2", NULL, 300),
	ROW("\0\0\0\0\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", NULL, UINT64_MAX),
	/* Fields of later versions are skipped. */
	ROW("\0\0\0\0\x17\x12\3abc\x1d\1\2\3\4\x21\1\2\3\4\5\6\7\x08\x28\7\x08\1", NULL,
	    GRPC_SERVING),
	ROW("", "no message in the answer", 0),
	ROW("\0\0\0\0", not_whole, 0),
	ROW("\0\0\0\0\2\x08", not_whole, 0),
	ROW("\0\0\0\0\2\x08\1\0\0\0\0\2\x08\1", not_whole, 0),
	ROW("\0\xff\xff\xff\xff\x08\1", not_whole, 0),
	ROW("\1\0\0\0\2\x08\1", "a compressed message", 0),
	ROW("\0\0\0\0\1\x08", not_protobuf, 0),
	ROW("\0\0\0\0\2\x08\x81", not_protobuf, 0),
	ROW("\0\0\0\0\x0c\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", not_protobuf, 0),
	ROW("\0\0\0\0\2\x00\1", not_protobuf, 0),   /* no field has the number 0 */
	ROW("\0\0\0\0\4\x12\3ab", not_protobuf, 0), /* longer than there is */
	ROW("\0\0\0\0\3\x1d\1\2", not_protobuf, 0),
	ROW("\0\0\0\0\2\x21\1", not_protobuf, 0),
	ROW("\0\0\0\0\2\x0b\1", not_protobuf, 0), /* a group */
	ROW("\0\0\0\0\x0c\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\1!", not_protobuf, 0),
};

static void test_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		const struct read_row *row = &reads[i];
		uint64_t serving = 77;
		const char *fault = grpc_message_read((const uint8_t *)row->bytes, row->size,
						      &serving);

		if ((fault ? strcmp(fault, row->fault ? row->fault : "") != 0
			   : row->fault != NULL) ||
		    serving != (row->fault ? 77 : row->serving))
			fail_msg("row %zu: fault \"%s\", serving %llu", i, fault ? fault : "",
				 (unsigned long long)serving);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(grpc_message_serving_name(GRPC_SERVING), "SERVING");
	assert_string_equal(grpc_message_serving_name(GRPC_SERVICE_UNKNOWN), "SERVICE_UNKNOWN");
	assert_null(grpc_message_serving_name(4));
	assert_null(grpc_message_serving_name(UINT64_MAX));
	assert_string_equal(grpc_message_status_name(0), "OK");
	assert_string_equal(grpc_message_status_name(5), "NOT_FOUND");
	assert_string_equal(grpc_message_status_name(12), "UNIMPLEMENTED");
	assert_string_equal(grpc_message_status_name(14), "UNAVAILABLE");
	assert_string_equal(grpc_message_status_name(16), "UNAUTHENTICATED");
	assert_null(grpc_message_status_name(17));
}

static bool parse(const char *text, unsigned *ret_status)
{
	return grpc_message_parse_status((const uint8_t *)text, strlen(text), ret_status);
}

static void test_status(void **state)
{
	unsigned status = 7;

	(void)state;
	assert_false(parse("", &status) || parse("-1", &status) || parse("1x", &status) ||
		     parse("1234567890", &status) || parse(" 1", &status));
	assert_int_equal(status, 7);
	assert_true(parse("0", &status));
	assert_int_equal(status, 0);
	assert_true(parse("12", &status));
	assert_int_equal(status, 12);
}

static void test_text(void **state)
{
	static const char value[] = "unknown%20service%0a \x01%zz%4";
	char buf[64];
	char tight[8];

	(void)state;
	grpc_message_decode_text((const uint8_t *)value, sizeof(value) - 1, buf, sizeof(buf));
	assert_string_equal(buf, "unknown service. .%zz%4");
	grpc_message_decode_text((const uint8_t *)value, sizeof(value) - 1, tight, sizeof(tight));
	assert_string_equal(tight, "unknown");
	grpc_message_decode_text((const uint8_t *)"", 0, buf, sizeof(buf));
	assert_string_equal(buf, "");
	grpc_message_decode_text((const uint8_t *)"%41%", 4, buf, sizeof(buf));
	assert_string_equal(buf, "A%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write), cmocka_unit_test(test_read),
		cmocka_unit_test(test_names), cmocka_unit_test(test_status),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
