// SPDX-License-Identifier: GPL-2.0-or-later
// After the paper of Aumasson and Bernstein: two rounds a word, four at the end.
#include "dns/siphash.h"

struct siphash {
	uint64_t v0;
	uint64_t v1;
	uint64_t v2;
	uint64_t v3;
};

static uint64_t siphash_rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static uint64_t siphash_word(const uint8_t *p, size_t size)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word |= (uint64_t)p[i] << 8 * i;
	return word;
}

static void siphash_rounds(struct siphash *s, int count)
{
	for (; count > 0; count--) {
		s->v0 += s->v1;
		s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
		s->v0 = siphash_rotate(s->v0, 32);
		s->v2 += s->v3;
		s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
		s->v0 += s->v3;
		s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
		s->v2 += s->v1;
		s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
		s->v2 = siphash_rotate(s->v2, 32);
	}
}

static void siphash_take(struct siphash *s, uint64_t word)
{
	s->v3 ^= word;
	siphash_rounds(s, 2);
	s->v0 ^= word;
}

uint64_t siphash_bytes(const uint8_t key[SIPHASH_KEY_SIZE], const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t k0 = siphash_word(key, 8);
	uint64_t k1 = siphash_word(key + 8, 8);
	struct siphash s = {k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
			    k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL};
	size_t left = size;

	for (; left >= 8; left -= 8, p += 8)
		siphash_take(&s, siphash_word(p, 8));
	siphash_take(&s, (uint64_t)size << 56 | siphash_word(p, left));
	s.v2 ^= 0xff;
	siphash_rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
