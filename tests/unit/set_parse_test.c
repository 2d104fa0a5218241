// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of "ipset save": good and damaged.
#include "kernel/set_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "plan/netfilter.h"

static void the_set_itself(void **state)
{
	struct set_line l;

	(void)state;
	assert_int_equal(set_parse_line("create zg4-open hash:ip,port family inet hashsize 1024 "
					"maxelem 1048576 bucketsize 12 initval 0x76eaaa7c",
					RULESET_V4, &l),
			 0);
	assert_true(l.creates);
	assert_string_equal(l.type, "hash:ip,port");
	assert_int_equal(
		set_parse_line("create zg4-open hash:ip,port,net-and-much-more-than-that x",
			       RULESET_V4, &l),
		-EBADMSG);
}

static void entries(void **state)
{
	struct set_line l;
	char text[ADDR_TEXT_MAX];

	(void)state;
	assert_int_equal(set_parse_line("add zg4-open 192.0.2.1,tcp:80", RULESET_V4, &l), 0);
	assert_false(l.creates);
	assert_string_equal(addr_format(&l.address, text), "192.0.2.1");
	assert_int_equal(l.protocol, IPPROTO_TCP);
	assert_int_equal(l.port, 80);
	assert_int_equal(set_parse_line("add zg6-drop 2001:db8::1", RULESET_V6, &l), 0);
	assert_string_equal(addr_format(&l.address, text), "2001:db8::1");
	assert_int_equal(l.protocol, 0);
	/* Where the host knows no names of protocols. */
	assert_int_equal(set_parse_line("add zg6-open 2001:db8::1,132:65535", RULESET_V6, &l), 0);
	assert_int_equal(l.protocol, IPPROTO_SCTP);
	assert_int_equal(l.port, 65535);
}

static void lists_and_peers(void **state)
{
	struct set_line l;
	char text[ADDR_TEXT_MAX];

	(void)state;
	assert_int_equal(
		set_parse_line("add zg4-1f 10.0.0.0/8 nomatch packets 7 bytes 420", RULESET_V4, &l),
		0);
	assert_int_equal(l.length, 8);
	assert_true(l.excepted);
	assert_int_equal(l.packets, 7);
	assert_int_equal(l.bytes, 420);
	assert_int_equal(set_parse_line("add zg4-1f 10.0.0.1 packets 0 bytes 0", RULESET_V4, &l),
			 0);
	assert_int_equal(l.length, 32);
	assert_false(l.excepted);
	assert_int_equal(set_parse_line("add zg6-1f 2001:db8::/32", RULESET_V6, &l), 0);
	assert_int_equal(l.length, 32);
	assert_int_equal(set_parse_line("add zg4-peers 192.0.2.1,tcp:80,10.0.0.1", RULESET_V4, &l),
			 0);
	assert_int_equal(l.port, 80);
	assert_string_equal(addr_format(&l.peer, text), "10.0.0.1");
}

static void counters(void **state)
{
	struct set_line l;

	(void)state;
	assert_int_equal(set_parse_line("add zg4-5-lt 192.0.2.1,tcp:80 packets 17 bytes 1020",
					RULESET_V4, &l),
			 0);
	assert_int_equal(l.packets, 17);
	assert_int_equal(l.port, 80);
	assert_int_equal(set_parse_line("add zg4-open 192.0.2.1,tcp:80", RULESET_V4, &l), 0);
	assert_int_equal(l.packets, 0);
	assert_int_equal(set_parse_line("add zg4-5-lt 192.0.2.1,tcp:80 packets x", RULESET_V4, &l),
			 -EBADMSG);
	assert_int_equal(set_parse_line("add zg4-5-lt 192.0.2.1,tcp:80 packets", RULESET_V4, &l),
			 -EBADMSG);
	assert_int_equal(
		set_parse_line("add zg4-5-lt 192.0.2.1,tcp:80 packets 18446744073709551615",
			       RULESET_V4, &l),
		0);
	assert_true(l.packets == UINT64_MAX);
}

static void what_is_not_ours_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"add",
		"add zg4-open",
		"del zg4-open 192.0.2.1",
		"add zg4-open 192.0.2.1,icmp:echo-request",
		"add zg4-open 192.0.2.1,80",
		"add zg4-open 192.0.2.1,tcp:",
		"add zg4-open 192.0.2.1,tcp:65536",
		"add zg4-open 192.0.2.1,tcp:+1",
		"add zg4-open 192.0.2.1,0:80",
		"add zg4-open 192.0.2.1,256:80",
		"add zg4-open 192.0.2.1,tcp:80,",
		"add zg4-open 192.0.2.1,tcp:80,2001:db8::1",
		"add zg4-1f 10.0.0.0/33",
		"add zg4-1f 10.0.0.0/",
		"add zg4-1f 10.0.0.0/8 timeout 7",
		"add zg4-1f 10.0.0.0/8 packets",
		"add zg4-1f 10.0.0.0/8 bytes -1",
		"add zg4-open 2001:db8::1",
		"add zg4-open 192.0.2",
		"add zg4-open ,tcp:80",
	};
	struct set_line l;
	char longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(set_parse_line(lines[i], RULESET_V4, &l), -EBADMSG);
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "add zg4-open ", 13);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(set_parse_line(longest, RULESET_V4, &l), -EBADMSG);
}

static void heads(void **state)
{
	static const char *const lines[] = {
		"Name: a-name-that-is-longer-than-any-that-the-kernel-takes",
		"Type: hash:net",
		"Revision: 7",
		"Header: family inet6 hashsize 1024 maxelem 65536 counters bucketsize 12",
		"Size in memory: 5324",
		"References: 2",
		"Number of entries: 18446744073709551615",
		"Members:",
	};
	struct netfilter_set s = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		set_parse_head(lines[i], &s);
	assert_int_equal(strlen(s.name), RULESET_NAME_MAX - 1);
	assert_string_equal(s.type, "hash:net");
	assert_int_equal(s.family, AF_INET6);
	assert_int_equal(s.memory, 5324);
	assert_int_equal(s.references, 2);
	assert_true(s.entries == UINT64_MAX);
	assert_string_equal(set_parse_head_name("Name: theirs"), "theirs");
	assert_null(set_parse_head_name("Type: hash:net"));
	set_parse_head("Name: b\xfcro", &s);
	assert_string_equal(s.name, "b?ro");
	s = (struct netfilter_set){0};
	set_parse_head("Header: range 0-100", &s);
	assert_int_equal(s.family, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),    cmocka_unit_test(the_set_itself),
		cmocka_unit_test(entries),  cmocka_unit_test(lists_and_peers),
		cmocka_unit_test(counters), cmocka_unit_test(what_is_not_ours_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
