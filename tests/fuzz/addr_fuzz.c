// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses, prefixes and endpoints from the bytes: as text that is read, and as values that are written. What is written is
// read back as the same, and no address that can be read is written in two ways.
#include "base/addr.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_mapped(const struct addr *a)
{
	static const uint8_t start[12] = {[10] = 0xff, [11] = 0xff};

	return a->family == AF_INET6 && memcmp(a->bytes, start, sizeof(start)) == 0;
}

static void check_sockaddr(const struct addr *a, uint16_t port)
{
	struct sockaddr_storage sa;
	struct addr back;
	uint16_t back_port;

	addr_to_sockaddr(a, port, &sa);
	assert(addr_from_sockaddr((const struct sockaddr *)&sa, &back, &back_port) == 0);
	assert(back_port == port);
	if (is_mapped(a))
		assert(back.family == AF_INET && memcmp(back.bytes, a->bytes + 12, 4) == 0);
	else
		assert(addr_compare(a, &back) == 0);
	sa.ss_family = AF_UNIX;
	assert(addr_from_sockaddr((const struct sockaddr *)&sa, &back, &back_port) < 0);
}

static void check_value(const struct addr *a)
{
	char text[ADDR_TEXT_MAX];
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];
	struct addr back;
	struct addr other;

	addr_format(a, text);
	assert(strlen(text) < sizeof(text));
	assert(inet_pton(a->family, text, other.bytes) == 1);
	assert(memcmp(other.bytes, a->bytes, a->family == AF_INET ? 4 : 16) == 0);
	assert((addr_parse(text, &back) == 0) == !is_mapped(a));
	assert(is_mapped(a) ||
	       (addr_compare(a, &back) == 0 && addr_hash(a, 7) == addr_hash(&back, 7)));
	addr_format_endpoint(a, 65535, endpoint);
	assert(strstr(endpoint, text) && strlen(endpoint) <= strlen(text) + 8);
	check_sockaddr(a, 443);
	assert(addr_is_set(a));
	(void)addr_special_kind(a);
}

static void check_prefix(const char *text)
{
	struct addr net;
	struct addr inside;
	uint8_t length;

	if (addr_parse_prefix(text, &net, &length) < 0)
		return;
	assert(length <= (net.family == AF_INET ? 32 : 128));
	assert(addr_in_prefix(&net, &net, length));
	inside = net;
	if (length)
		inside.bytes[(length - 1) / 8] ^= (uint8_t)(1 << (7 - (length - 1) % 8));
	assert(addr_in_prefix(&inside, &net, length) == !length);
	inside = net;
	if (length < (net.family == AF_INET ? 32 : 128))
		inside.bytes[length / 8] ^= (uint8_t)(1 << (7 - length % 8));
	assert(addr_in_prefix(&inside, &net, length));
	inside.family ^= AF_INET ^ AF_INET6;
	assert(!addr_in_prefix(&inside, &net, length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	struct addr a = {0};

	memcpy(text, data, size);
	if (addr_parse(text, &a) == 0)
		check_value(&a);
	check_prefix(text);
	a = (struct addr){.family = AF_INET};
	memcpy(a.bytes, data, size < 4 ? size : 4);
	check_value(&a);
	a.family = AF_INET6;
	memcpy(a.bytes, data, size < 16 ? size : 16);
	check_value(&a);
	a.family = 0;
	assert(!addr_is_set(&a) && addr_special_kind(&a));
	return 0;
}
