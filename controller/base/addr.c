// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses as values. Text is written by hand, as inet_ntop() has a dotted form for ::/96 that RFC 5952 does not.
#include "base/addr.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORDS 8

static const uint8_t addr_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

int addr_parse(const char *text, struct addr *ret_addr)
{
	struct addr a = {0};

	a.family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(a.family, text, a.bytes) != 1)
		return -EINVAL;
	if (a.family == AF_INET6 && memcmp(a.bytes, addr_mapped, sizeof(addr_mapped)) == 0)
		return -EINVAL;
	*ret_addr = a;
	return 0;
}

/* The longest run of two or more zero words, the first of equals: where "::" goes. Length 0 if there is none. */
static int addr_find_zeros(const unsigned words[WORDS], int *ret_length)
{
	int best = 0;
	int best_length = 0;
	int length = 0;

	for (int i = 0; i < WORDS; i++) {
		length = words[i] ? 0 : length + 1;
		if (length > best_length) {
			best_length = length;
			best = i + 1 - length;
		}
	}
	*ret_length = best_length >= 2 ? best_length : 0;
	return best;
}

static void addr_format_v6(const struct addr *a, char buf[ADDR_TEXT_MAX])
{
	unsigned words[WORDS];
	char *p = buf;
	char *end = buf + ADDR_TEXT_MAX;
	int zeros;
	int zeros_length;

	for (int i = 0; i < WORDS; i++)
		words[i] = (unsigned)a->bytes[2 * i] << 8 | a->bytes[2 * i + 1];
	zeros = addr_find_zeros(words, &zeros_length);
	for (int i = 0; i < WORDS; i++) {
		if (zeros_length && i == zeros) {
			p += snprintf(p, (size_t)(end - p), "::");
			i += zeros_length - 1;
			continue;
		}
		if (i > 0 && p[-1] != ':')
			*p++ = ':';
		p += snprintf(p, (size_t)(end - p), "%x", words[i]);
	}
}

const char *addr_format(const struct addr *a, char buf[ADDR_TEXT_MAX])
{
	buf[0] = '\0';
	if (a->family == AF_INET)
		snprintf(buf, ADDR_TEXT_MAX, "%u.%u.%u.%u", a->bytes[0], a->bytes[1], a->bytes[2],
			 a->bytes[3]);
	else if (a->family == AF_INET6)
		addr_format_v6(a, buf);
	return buf;
}

const char *addr_format_endpoint(const struct addr *a, uint16_t port,
				 char buf[ADDR_ENDPOINT_TEXT_MAX])
{
	char text[ADDR_TEXT_MAX];

	addr_format(a, text);
	snprintf(buf, ADDR_ENDPOINT_TEXT_MAX, a->family == AF_INET6 ? "[%s]:%u" : "%s:%u", text,
		 (unsigned)port);
	return buf;
}

int addr_compare(const struct addr *a, const struct addr *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

uint32_t addr_hash(const struct addr *a, uint32_t seed)
{
	uint32_t h = (2166136261u ^ seed ^ a->family) * 16777619u;

	for (size_t i = 0; i < sizeof(a->bytes); i++)
		h = (h ^ a->bytes[i]) * 16777619u;
	return h;
}

static const char *addr_special_v4(const uint8_t b[16])
{
	static const uint8_t all_ones[4] = {255, 255, 255, 255};

	if (b[0] == 0)
		return "unspecified";
	if (b[0] == 127)
		return "loopback";
	if (b[0] == 169 && b[1] == 254)
		return "link-local";
	if (b[0] >= 224 && b[0] <= 239)
		return "multicast";
	if (memcmp(b, all_ones, sizeof(all_ones)) == 0)
		return "broadcast";
	return NULL;
}

static const char *addr_special_v6(const uint8_t b[16])
{
	static const uint8_t zeros[15];

	if (memcmp(b, zeros, sizeof(zeros)) == 0 && b[15] <= 1)
		return b[15] ? "loopback" : "unspecified";
	if (b[0] == 0xff)
		return "multicast";
	if (b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
		return "link-local";
	return NULL;
}

const char *addr_special_kind(const struct addr *a)
{
	if (a->family == AF_INET)
		return addr_special_v4(a->bytes);
	if (a->family == AF_INET6)
		return addr_special_v6(a->bytes);
	return "unspecified";
}

socklen_t addr_to_sockaddr(const struct addr *a, uint16_t port, struct sockaddr_storage *ret_sa)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	memset(ret_sa, 0, sizeof(*ret_sa));
	if (a->family == AF_INET) {
		memcpy(&in.sin_addr, a->bytes, sizeof(in.sin_addr));
		memcpy(ret_sa, &in, sizeof(in));
		return sizeof(in);
	}
	assert(a->family == AF_INET6);
	memcpy(&in6.sin6_addr, a->bytes, sizeof(in6.sin6_addr));
	memcpy(ret_sa, &in6, sizeof(in6));
	return sizeof(in6);
}

int addr_from_sockaddr(const struct sockaddr *sa, struct addr *ret_addr, uint16_t *ret_port)
{
	struct addr a = {0};
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		a.family = AF_INET;
		memcpy(a.bytes, &in.sin_addr, sizeof(in.sin_addr));
		*ret_port = ntohs(in.sin_port);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		a.family = AF_INET6;
		memcpy(a.bytes, &in6.sin6_addr, sizeof(in6.sin6_addr));
		*ret_port = ntohs(in6.sin6_port);
		if (memcmp(a.bytes, addr_mapped, sizeof(addr_mapped)) == 0) {
			/* The peer of a dual-stack socket: an IPv4 address in disguise. */
			a = (struct addr){.family = AF_INET};
			memcpy(a.bytes, in6.sin6_addr.s6_addr + 12, 4);
		}
	} else {
		return -EAFNOSUPPORT;
	}
	*ret_addr = a;
	return 0;
}

static bool addr_bits_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8;
	uint8_t mask = (uint8_t)(0xff << (8 - bits % 8));

	if (memcmp(a, b, whole) != 0)
		return false;
	return bits % 8 == 0 || ((a[whole] ^ b[whole]) & mask) == 0;
}

/* "0" … "128", no sign, no leading zero. -1 otherwise. */
static int addr_parse_length(const char *text, int max)
{
	int value = 0;

	if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return value;
}

int addr_parse_prefix(const char *text, struct addr *ret_addr, uint8_t *ret_length)
{
	const char *slash = strchr(text, '/');
	char host[ADDR_TEXT_MAX];
	struct addr a;
	struct addr net = {0};
	int length;

	if (!slash || (size_t)(slash - text) >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, (size_t)(slash - text));
	host[slash - text] = '\0';
	if (addr_parse(host, &a) < 0)
		return -EINVAL;
	length = addr_parse_length(slash + 1, a.family == AF_INET ? 32 : 128);
	if (length < 0)
		return -EINVAL;
	net.family = a.family;
	memcpy(net.bytes, a.bytes, (size_t)length / 8);
	if (length % 8)
		net.bytes[length / 8] = a.bytes[length / 8] & (uint8_t)(0xff << (8 - length % 8));
	if (addr_compare(&a, &net) != 0)
		return -EINVAL;
	*ret_addr = a;
	*ret_length = (uint8_t)length;
	return 0;
}

bool addr_in_prefix(const struct addr *a, const struct addr *net, uint8_t length)
{
	assert(length <= (net->family == AF_INET ? 32 : 128));
	return a->family == net->family && addr_bits_equal(a->bytes, net->bytes, length);
}
