// SPDX-License-Identifier: GPL-2.0-or-later
#include "dns/dns_name.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

void dns_name_lower(struct dns_name *n)
{
	/* Length octets are below 64, so that they are no letters. */
	for (size_t i = 0; i < n->size; i++)
		if (n->bytes[i] >= 'A' && n->bytes[i] <= 'Z')
			n->bytes[i] |= 0x20;
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

void dns_name_suffixes(const struct dns_name *n, struct dns_name_suffixes *ret_suffixes)
{
	struct dns_name_suffixes *s = ret_suffixes;
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t at = 0;

	for (size_t k = n->labels; k > 0; k--) {
		s->offsets[k] = (uint8_t)at;
		at += n->bytes[at] + 1u;
	}
	assert(at + 1 == n->size && n->bytes[at] == 0);
	s->offsets[0] = (uint8_t)at;
	s->hashes[0] = h;
	for (size_t k = 1; k <= n->labels; k++) {
		const uint8_t *label = n->bytes + s->offsets[k];

		for (size_t i = 0; i <= label[0]; i++)
			h = (h ^ label[i]) * 0x100000001b3ULL;
		/* FNV leaves the low bits weak, and tables use those. */
		s->hashes[k] = (h ^ h >> 32) * 0xff51afd7ed558ccdULL;
		s->hashes[k] ^= s->hashes[k] >> 33;
	}
}
