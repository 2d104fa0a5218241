// SPDX-License-Identifier: GPL-2.0-or-later
// The vectors of the paper: key 00 … 0f, inputs 00, 00 01, …
#include "dns/siphash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_vectors(void **state)
{
	static const struct {
		size_t size;
		uint64_t hash;
	} rows[] = {
		{0, 0x726fdb47dd0e0e31ULL},  {1, 0x74f839c593dc67fdULL},
		{7, 0xab0200f58b01d137ULL},  {8, 0x93f5f5799a932462ULL},
		{9, 0x9e0082df0ba9e4b0ULL},  {15, 0xa129ca6149be45e5ULL},
		{16, 0x3f2acc7f57c29bdbULL}, {63, 0x958a324ceb064572ULL},
	};
	uint8_t key[SIPHASH_KEY_SIZE];
	uint8_t data[64];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(siphash_bytes(key, data, rows[i].size) == rows[i].hash);
	key[15] ^= 1;
	assert_false(siphash_bytes(key, data, 15) == rows[5].hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
