// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of raw sockets: whole ones of both families, and every one of them cut at every octet.
#include "probe/packet_parse.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define SIZE_MAX_PACKET 256

struct packet {
	uint8_t bytes[SIZE_MAX_PACKET];
	size_t size;
};

static void put(struct packet *p, const void *data, size_t size)
{
	memcpy(p->bytes + p->size, data, size);
	p->size += size;
}

static void put_ip4(struct packet *p, uint8_t first, uint16_t fragment, uint8_t protocol)
{
	const uint8_t header[20] = {first,
				    0,
				    0,
				    0,
				    0,
				    0,
				    (uint8_t)(fragment >> 8),
				    (uint8_t)fragment,
				    64,
				    protocol,
				    0,
				    0,
				    10,
				    0,
				    0,
				    1,
				    10,
				    0,
				    0,
				    2};

	put(p, header, sizeof(header));
	for (int i = 5; i < (first & 0xf); i++)
		put(p, "\1\1\1\1", 4);
}

static void put_ip6(struct packet *p, uint8_t protocol)
{
	uint8_t header[40] = {0x60, 0, 0, 0, 0, 8, protocol, 64};

	header[8] = header[24] = 0xfd;
	header[23] = 1;
	header[39] = 2;
	put(p, header, sizeof(header));
}

/* Over the ICMP message that begins at `from`. */
static void seal(struct packet *p, size_t from)
{
	uint16_t sum;

	memset(p->bytes + from + 2, 0, 2);
	sum = packet_checksum(p->bytes + from, p->size - from, 0);
	p->bytes[from + 2] = (uint8_t)(sum >> 8);
	p->bytes[from + 3] = (uint8_t)sum;
}

static int parse(uint8_t family, const struct packet *p, struct packet_icmp *ret)
{
	return packet_parse_icmp(family, p->bytes, p->size, ret);
}

static void test_checksum(void **state)
{
	(void)state;
	assert_int_equal(packet_checksum("\0\1\362\3\364\365\366\367", 8, 0), (uint16_t)~0xddf2);
	assert_int_equal(packet_checksum("\0\1\362\3\364\365\366\367\1", 9, 0),
			 (uint16_t) ~(0xddf2 + 0x100));
	assert_int_equal(packet_checksum("", 0, 0), 0xffff);
	assert_int_equal(packet_checksum("", 0, 0x12345), (uint16_t)~0x2346);
}

static void test_reply4(void **state)
{
	struct packet p = {0};
	struct packet_icmp icmp;

	(void)state;
	put_ip4(&p, 0x46, 0, 1);
	put(&p, "\0\0\0\0\x12\x34\x56\x78payload", 15);
	seal(&p, 24);
	assert_int_equal(parse(AF_INET, &p, &icmp), 0);
	assert_int_equal(icmp.kind, PACKET_ECHO_REPLY);
	assert_int_equal(icmp.id, 0x1234);
	assert_int_equal(icmp.sequence, 0x5678);
	assert_int_equal(icmp.payload_size, 7);
	assert_memory_equal(icmp.payload, "payload", 7);
	p.bytes[30] ^= 1; /* damaged on the way */
	assert_int_equal(parse(AF_INET, &p, &icmp), -EBADMSG);
	p.bytes[30] ^= 1;
	p.bytes[24] = 8; /* a request */
	seal(&p, 24);
	assert_int_equal(parse(AF_INET, &p, &icmp), -EBADMSG);
	p.bytes[24] = 0;
	p.bytes[25] = 1;
	seal(&p, 24);
	assert_int_equal(parse(AF_INET, &p, &icmp), -EBADMSG);
}

static void test_reply6(void **state)
{
	struct packet p = {0};
	struct packet_icmp icmp;

	(void)state;
	put(&p, "\x81\0\xff\xff\x12\x34\x56\x78payload", 15); /* the kernel has checked the sum */
	assert_int_equal(parse(AF_INET6, &p, &icmp), 0);
	assert_int_equal(icmp.kind, PACKET_ECHO_REPLY);
	assert_int_equal(icmp.id, 0x1234);
	assert_int_equal(icmp.sequence, 0x5678);
	assert_int_equal(icmp.payload_size, 7);
	p.bytes[0] = 0x80;
	assert_int_equal(parse(AF_INET6, &p, &icmp), -EBADMSG);
	/* What is a reply in one family is none in the other. */
	p.bytes[0] = 0;
	assert_int_equal(parse(AF_INET6, &p, &icmp), -EBADMSG);
}

/* An error about an echo request or about a segment; `first` and `fragment` of what it quotes. */
static struct packet error4(uint8_t type, uint8_t first, uint16_t fragment, uint8_t protocol,
			    const char *head)
{
	struct packet p = {0};
	const uint8_t message[8] = {type, 3};

	put_ip4(&p, 0x45, 0, 1);
	put(&p, message, sizeof(message));
	put_ip4(&p, first, fragment, protocol);
	put(&p, head, 8);
	seal(&p, 20);
	return p;
}

static void test_errors4(void **state)
{
	static const uint8_t types[] = {3, 11, 12};
	struct packet_icmp icmp;
	struct packet p;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		p = error4(types[i], 0x47, 0x4000, 1, "\10\0\xaa\xaa\x12\x34\x56\x78");
		assert_int_equal(parse(AF_INET, &p, &icmp), 0);
		assert_int_equal(icmp.kind, PACKET_ERROR);
		assert_int_equal(icmp.type, types[i]);
		assert_int_equal(icmp.code, 3);
		assert_int_equal(icmp.quote.protocol, 1);
		assert_int_equal(icmp.quote.word, 0x12345678);
		assert_int_equal(icmp.quote.destination.family, AF_INET);
		assert_memory_equal(icmp.quote.destination.bytes, "\12\0\0\2", 4);
	}
	p = error4(3, 0x45, 0, 6, "\x80\1\0\x50\xde\xad\xbe\xef");
	assert_int_equal(parse(AF_INET, &p, &icmp), 0);
	assert_int_equal(icmp.quote.protocol, 6);
	assert_int_equal(icmp.quote.source_port, 0x8001);
	assert_int_equal(icmp.quote.destination_port, 80);
	assert_int_equal(icmp.quote.word, 0xdeadbeef);
}

/* About other packets, or about what is no packet. */
static void test_alien_errors4(void **state)
{
	static const char echo[] = "\10\0\xaa\xaa\x12\x34\x56\x78";
	const struct packet packets[] = {
		error4(5, 0x45, 0, 1, echo),                           /* a redirect */
		error4(3, 0x45, 0, 17, echo),                          /* about UDP */
		error4(3, 0x45, 0, 1, "\0\0\xaa\xaa\x12\x34\x56\x78"), /* about a reply */
		error4(3, 0x45, 0, 1,
		       "\10\1\xaa\xaa\x12\x34\x56\x78"), /* a code that is not ours */
		error4(3, 0x45, 1, 1, echo),             /* a later fragment */
		error4(3, 0x44, 0, 1, echo),             /* a header too short */
		error4(3, 0x65, 0, 1, echo),             /* another version */
		error4(3, 0x4f, 0, 1, echo),             /* options; and whole, but see below */
	};
	struct packet_icmp icmp;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(parse(AF_INET, &packets[i], &icmp), -EBADMSG);
	assert_int_equal(parse(AF_INET, &packets[7], &icmp), 0);
}

static void test_errors6(void **state)
{
	static const uint8_t types[] = {1, 3, 4};
	struct packet_icmp icmp;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const uint8_t message[8] = {types[i], 4};
		struct packet p = {0};

		put(&p, message, sizeof(message));
		put_ip6(&p, 58);
		put(&p, "\x80\0\xaa\xaa\x12\x34\x56\x78", 8);
		assert_int_equal(parse(AF_INET6, &p, &icmp), 0);
		assert_int_equal(icmp.kind, PACKET_ERROR);
		assert_int_equal(icmp.quote.word, 0x12345678);
		assert_int_equal(icmp.quote.destination.family, AF_INET6);
		assert_int_equal(icmp.quote.destination.bytes[0], 0xfd);
		assert_int_equal(icmp.quote.destination.bytes[15], 2);
		p.bytes[8] = 0x45;
		assert_int_equal(parse(AF_INET6, &p, &icmp), -EBADMSG);
		p.bytes[8] = 0x60;
		p.bytes[0] = 2; /* too big: tells of no failure */
		assert_int_equal(parse(AF_INET6, &p, &icmp), -EBADMSG);
	}
}

static void test_cut(void **state)
{
	struct packet p = error4(3, 0x46, 0, 6, "\x80\1\0\x50\xde\xad\xbe\xef");
	struct packet six = {0};
	struct packet_icmp icmp;

	(void)state;
	for (p.size--; p.size > 20 + 8; p.size--) {
		seal(&p, 20);
		assert_int_equal(parse(AF_INET, &p, &icmp), -EBADMSG);
	}
	for (p.size = 20; p.size > 0; p.size--)
		assert_int_equal(parse(AF_INET, &p, &icmp), -EBADMSG);
	put(&six, "\1\0\0\0\0\0\0\0", 8);
	put_ip6(&six, 6);
	put(&six, "\x80\1\0\x50\xde\xad\xbe", 7);
	for (; six.size > 0; six.size--)
		assert_int_equal(parse(AF_INET6, &six, &icmp), -EBADMSG);
	assert_int_equal(parse(AF_INET6, &six, &icmp), -EBADMSG);
}

static const uint8_t segment[20] = {0x00, 0x50, 0x80, 0x01, 1,    2,    3, 4, 0xde, 0xad,
				    0xbe, 0xef, 0x50, 0x12, 0xff, 0xff, 0, 0, 0,    0};

static void test_tcp(void **state)
{
	struct packet p = {0};
	struct packet_tcp t;

	(void)state;
	put_ip4(&p, 0x46, 0, 6);
	put(&p, segment, sizeof(segment));
	assert_int_equal(packet_parse_tcp(AF_INET, p.bytes, p.size, &t), 0);
	assert_int_equal(t.source_port, 80);
	assert_int_equal(t.destination_port, 0x8001);
	assert_int_equal(t.acknowledged, 0xdeadbeef);
	assert_int_equal(t.flags, PACKET_TCP_SYN | PACKET_TCP_ACK);
	assert_int_equal(packet_parse_tcp(AF_INET6, segment, sizeof(segment), &t), 0);
	assert_int_equal(t.source_port, 80);
	for (size_t size = 0; size < p.size; size++)
		assert_int_equal(packet_parse_tcp(AF_INET, p.bytes, size, &t), -EBADMSG);
	for (size_t size = 0; size < sizeof(segment); size++)
		assert_int_equal(packet_parse_tcp(AF_INET6, segment, size, &t), -EBADMSG);
	p.bytes[9] = 17;
	assert_int_equal(packet_parse_tcp(AF_INET, p.bytes, p.size, &t), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checksum),      cmocka_unit_test(test_reply4),
		cmocka_unit_test(test_reply6),        cmocka_unit_test(test_errors4),
		cmocka_unit_test(test_alien_errors4), cmocka_unit_test(test_errors6),
		cmocka_unit_test(test_cut),           cmocka_unit_test(test_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
