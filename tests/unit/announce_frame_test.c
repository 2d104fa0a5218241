// SPDX-License-Identifier: GPL-2.0-or-later
// Against frames that were written down by hand from the RFCs, and the checksum's own rule.
#include "kernel/announce_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const uint8_t test_mac[ANNOUNCE_MAC_SIZE] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};

static struct addr test_address(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

static void test_arp(void **unused)
{
	static const uint8_t expected[] = {0,    1,    8,    0,    6,    4,    0, 1, /* request */
					   0x02, 0x11, 0x22, 0x33, 0x44, 0x55,       /* sender */
					   192,  0,    2,    10,            /* its address */
					   0,    0,    0,    0,    0,    0, /* target: not known */
					   192,  0,    2,    10};
	const struct addr a = test_address("192.0.2.10");
	uint8_t frame[ANNOUNCE_FRAME_MAX];

	(void)unused;
	assert_int_equal(announce_frame_arp(&a, test_mac, frame), sizeof(expected));
	assert_memory_equal(frame, expected, sizeof(expected));
}

/* The sum over everything that the checksum covers, with it, is all ones. */
static uint16_t test_sum(const uint8_t *frame, size_t size)
{
	uint32_t sum = (uint32_t)(size - 40) + 58;

	for (size_t i = 8; i < size; i += 2)
		sum += (uint32_t)(frame[i] << 8 | frame[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void test_na(void **unused)
{
	static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
	const struct addr a = test_address("2001:db8::ffff:10");
	uint8_t frame[ANNOUNCE_FRAME_MAX];

	(void)unused;
	assert_int_equal(announce_frame_na(&a, test_mac, ANNOUNCE_NA_OVERRIDE, frame), 72);
	assert_int_equal(frame[0] >> 4, 6);
	assert_int_equal(frame[4] << 8 | frame[5], 32);
	assert_int_equal(frame[6], 58);
	assert_int_equal(frame[7], 255);
	assert_memory_equal(frame + 8, a.bytes, 16);
	assert_memory_equal(frame + 24, all_nodes, 16);
	assert_int_equal(frame[40], 136);
	assert_int_equal(frame[44], 0x20);
	assert_memory_equal(frame + 48, a.bytes, 16);
	assert_int_equal(frame[64], 2);
	assert_int_equal(frame[65], 1);
	assert_memory_equal(frame + 66, test_mac, 6);
	assert_int_equal(test_sum(frame, 72), 0xffff);
	announce_frame_na(&a, test_mac, ANNOUNCE_NA_OVERRIDE | ANNOUNCE_NA_ROUTER, frame);
	assert_int_equal(frame[44], 0xa0);
	assert_int_equal(test_sum(frame, 72), 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp),
		cmocka_unit_test(test_na),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
