// SPDX-License-Identifier: GPL-2.0-or-later
// Text to wire and back, and words of eight octets at a time where every query passes.
#include "dns/dns_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OCTETS(x) (0x0101010101010101ULL * (uint64_t)(x)) /* the same in each of eight */

static int dns_name_add(struct dns_name *n, const char *label, size_t length)
{
	/* One more octet than the label's own is kept for the root. */
	if (length == 0 || length > DNS_NAME_LABEL_MAX || n->size + length + 2 > DNS_NAME_MAX)
		return -EINVAL;
	n->bytes[n->size] = (uint8_t)length;
	memcpy(n->bytes + n->size + 1, label, length);
	n->size = (uint8_t)(n->size + length + 1);
	n->labels++;
	return 0;
}

int dns_name_parse(const char *text, struct dns_name *ret_name)
{
	struct dns_name n = {0};

	if (strcmp(text, ".") == 0)
		text++;
	else if (*text == '\0')
		return -EINVAL;
	while (*text) {
		size_t length = strcspn(text, ".");

		if (dns_name_add(&n, text, length) < 0)
			return -EINVAL;
		text += length;
		if (*text == '.')
			text++;
	}
	n.bytes[n.size++] = 0;
	*ret_name = n;
	return 0;
}

static char *dns_name_format_octet(char *p, uint8_t c)
{
	if (c <= ' ' || c >= 0x7f)
		return p + sprintf(p, "\\%03u", (unsigned)c);
	if (strchr(".\\\"();@$", c))
		*p++ = '\\';
	*p++ = (char)c;
	return p;
}

const char *dns_name_format(const struct dns_name *n, char buf[DNS_NAME_TEXT_MAX])
{
	char *p = buf;

	for (size_t at = 0; n->bytes[at]; at += n->bytes[at] + 1u) {
		if (p != buf)
			*p++ = '.';
		for (size_t i = 1; i <= n->bytes[at]; i++)
			p = dns_name_format_octet(p, n->bytes[at + i]);
	}
	if (p == buf)
		*p++ = '.';
	*p = '\0';
	return buf;
}

/* Sets bit 5 of each octet from 'A' to 'Z', eight at once. Octets with the top bit set are none. */
static uint64_t dns_name_lower_word(uint64_t word)
{
	uint64_t low = word & ~OCTETS(0x80);
	uint64_t from_a = low + OCTETS(0x80 - 'A');
	uint64_t above_z = low + OCTETS(0x80 - 'Z' - 1);

	return word | ((from_a & ~above_z & ~word & OCTETS(0x80)) >> 2);
}

void dns_name_lower(struct dns_name *n)
{
	_Static_assert(sizeof(n->bytes) % sizeof(uint64_t) == 0, "whole words");

	/* Length octets are below 64, so that they are no letters. */
	for (size_t i = 0; i < n->size; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, n->bytes + i, sizeof(word));
		word = dns_name_lower_word(word);
		memcpy(n->bytes + i, &word, sizeof(word));
	}
}

int dns_name_prepend(const char *label, const struct dns_name *rest, struct dns_name *ret_name)
{
	struct dns_name n = {0};

	if (dns_name_add(&n, label, strlen(label)) < 0 || n.size + rest->size > DNS_NAME_MAX)
		return -EINVAL;
	memcpy(n.bytes + n.size, rest->bytes, rest->size);
	n.size = (uint8_t)(n.size + rest->size);
	n.labels = (uint8_t)(n.labels + rest->labels);
	*ret_name = n;
	return 0;
}

bool dns_name_equal(const struct dns_name *a, const struct dns_name *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

bool dns_name_within(const struct dns_name *n, const struct dns_name *suffix)
{
	size_t at = 0;

	if (n->labels < suffix->labels)
		return false;
	for (int i = n->labels - suffix->labels; i > 0; i--)
		at += n->bytes[at] + 1u;
	return n->size - at == suffix->size &&
	       memcmp(n->bytes + at, suffix->bytes, suffix->size) == 0;
}

bool dns_name_up(struct dns_name *n)
{
	size_t first = n->bytes[0] + 1u;

	if (n->labels == 0)
		return false;
	n->size = (uint8_t)(n->size - first);
	n->labels--;
	memmove(n->bytes, n->bytes + first, n->size);
	return true;
}

static uint64_t dns_name_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

uint64_t dns_name_hash(const uint8_t *bytes, size_t size)
{
	uint64_t h = size * 0xc4ceb9fe1a85ec53ULL;
	uint64_t word;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		h = dns_name_mix(h, word);
	}
	word = 0;
	memcpy(&word, bytes, size);
	h = dns_name_mix(h, word) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 33;
}
