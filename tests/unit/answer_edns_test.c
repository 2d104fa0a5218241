// SPDX-License-Identifier: GPL-2.0-or-later
// EDNS (RFC 6891) in answers: the OPT record, NSID, client subnet (RFC 7871), cookies (RFC 7873).
#include "dns/answer.h"
#include "dns_fixture.h"

#include <stdlib.h>

static struct view *view;

static int make_view(void **state)
{
	(void)state;
	view = fixture_view(2026);
	return 0;
}

static int free_view(void **state)
{
	(void)state;
	view_unref(view);
	return 0;
}

/* The OPT record at the end of the reply: size, extended code, version, flags, options. */
static const uint8_t *opt(const struct fixture_ask *f, size_t options)
{
	assert_true(f->size > 11 + options);
	assert_int_equal(fixture_be16(f->reply + 10), 1);
	assert_memory_equal(f->reply + f->size - options - 11, "\0\0\51\4\320", 5);
	assert_int_equal(fixture_be16(f->reply + f->size - options - 2), options);
	return f->reply + f->size - options - 11;
}

static void test_edns(void **state)
{
	struct fixture_ask f;
	char head[64];

	(void)state;
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, "\0\143\0\1x", 5); /* an unknown option is not there */
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "NOERROR aa 1 2 0 1");
	assert_memory_equal(opt(&f, 0) + 5, "\0\0\0\0", 4);
	/* DO comes back, unknown flags do not. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, NULL, 0);
	f.query[f.request.size - 4] = 0xff;
	f.query[f.request.size - 3] = 0xff;
	fixture_answer(&f, view);
	assert_memory_equal(opt(&f, 0) + 5, "\0\0\x80\0", 4);
	/* Another version: BADVERS, ours told, whatever it says else. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, "\0\12\0\1x", 5);
	f.query[f.request.size - 10] = 1;
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "NOERROR 1 0 0 1");
	assert_memory_equal(opt(&f, 0) + 5, "\1\0\0\0", 4);
	assert_int_equal(f.answer.rcode, WIRE_BADVERS);
	/* Errors have it too. */
	fixture_query(&f, "example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, NULL, 0);
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "REFUSED 1 0 0 1");
	opt(&f, 0);
}

static void test_nsid(void **state)
{
	struct fixture_ask f;

	(void)state;
	for (int known = 0; known < 2; known++) {
		fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
		fixture_edns(&f, 4096, "\0\3\0\0", 4);
		if (known) {
			f.settings.nsid_size = 4;
			memcpy(f.settings.nsid, "gw-1", 4);
		}
		fixture_answer(&f, view);
		if (known)
			assert_memory_equal(opt(&f, 8) + 11, "\0\3\0\4gw-1", 8);
		else
			opt(&f, 0);
	}
	/* Only who asks for it gets it. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, NULL, 0);
	f.settings.nsid_size = 4;
	fixture_answer(&f, view);
	opt(&f, 0);
}

static void test_client_subnet(void **state)
{
	static const struct {
		const char *name;
		const char *client;
		const char *option;
		size_t size;
		const char *addresses;
		unsigned scope;
	} rows[] = {
		/* Where the answer is the same for all, the scope is 0. */
		{"shop.lb.example.net", "10.1.0.1", "\0\10\0\7\0\1\30\0\12\2\5", 11,
		 "192.0.2.10 192.0.2.20", 0},
		{"near.lb.example.net", "10.1.0.1", "\0\10\0\7\0\1\30\0\12\2\5", 11, "192.0.2.20",
		 16},
		{"near.lb.example.net", "10.1.0.1", "\0\10\0\7\0\1\30\0\12\11\5", 11,
		 "192.0.2.10 192.0.2.20", 13},
		{"near.lb.example.net", "10.1.0.1", "\0\10\0\6\0\1\20\0\12\2", 10, "192.0.2.20",
		 16},
		/* Length 0: without its subnet, the address counts, and the answer is for all. */
		{"near.lb.example.net", "10.1.0.1", "\0\10\0\4\0\1\0\0", 8, "192.0.2.10", 0},
		{"near.lb.example.net", "10.1.0.1", "\0\10\0\4\0\0\0\0", 8, "192.0.2.10", 0},
		{"near.lb.example.net", "192.0.2.99", "\0\10\0\7\0\2\30\0\x20\1\15", 11,
		 "192.0.2.10 192.0.2.20", 0},
		/* A name that does not exist does not for all. */
		{"none.lb.example.net", "10.1.0.1", "\0\10\0\7\0\1\30\0\12\2\5", 11, "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture_ask f;
		char buf[128];
		const uint8_t *o;

		fixture_query(&f, rows[i].name, WIRE_TYPE_A);
		f.request.client = fixture_addr(rows[i].client);
		fixture_edns(&f, 4096, rows[i].option, rows[i].size);
		fixture_answer(&f, view);
		assert_string_equal(fixture_addresses(&f, buf, sizeof(buf)), rows[i].addresses);
		o = opt(&f, rows[i].size) + 11;
		assert_memory_equal(o, rows[i].option, 7);
		assert_int_equal(o[7], rows[i].scope);
		assert_memory_equal(o + 8, rows[i].option + 8, rows[i].size - 8);
	}
}

static void test_affinity_by_address(void **state)
{
	struct fixture_ask f;
	char buf[128];

	(void)state;
	fixture_query(&f, "near.lb.example.net", WIRE_TYPE_A);
	f.request.client = fixture_addr("10.2.200.1");
	fixture_answer(&f, view);
	assert_string_equal(fixture_addresses(&f, buf, sizeof(buf)), "192.0.2.20");
	/* Partial: 15 of 100 see all. */
	for (unsigned percent = 84; percent <= 85; percent++) {
		fixture_query(&f, "part.lb.example.net", WIRE_TYPE_A);
		f.request.client = fixture_addr("10.2.200.1");
		f.request.random = ((uint64_t)percent * UINT32_MAX / 100 + 1000) << 32;
		fixture_answer(&f, view);
		assert_string_equal(fixture_addresses(&f, buf, sizeof(buf)),
				    percent == 84 ? "192.0.2.20" : "192.0.2.10 192.0.2.20");
	}
}

/* ---- cookies ---- */

static void test_cookies(void **state)
{
	struct fixture_ask f;
	uint8_t option[28] = "\0\12\0\10abcdefgh";
	char head[64];
	uint8_t cookie[DNS_COOKIE_SIZE];

	(void)state;
	/* Without a secret there are none. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, option, 12);
	fixture_answer(&f, view);
	opt(&f, 0);
	/* The client's part: it gets a whole one. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, option, 12);
	f.settings.secret_count = 1;
	fixture_answer(&f, view);
	assert_memory_equal(opt(&f, 28) + 11, "\0\12\0\30abcdefgh\1\0\0\0", 16);
	assert_int_equal(f.answer.cookie, DNS_COOKIE_NONE);
	memcpy(cookie, opt(&f, 28) + 15, sizeof(cookie));
	/* It comes back: known, and handed out again as it is. */
	option[3] = DNS_COOKIE_SIZE;
	memcpy(option + 4, cookie, sizeof(cookie));
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, option, 28);
	f.settings.secret_count = 1;
	f.request.now_wall += 1000;
	fixture_answer(&f, view);
	assert_int_equal(f.answer.cookie, DNS_COOKIE_FRESH);
	assert_memory_equal(opt(&f, 28) + 15, cookie, sizeof(cookie));
	/* Half an hour later it is renewed. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, option, 28);
	f.settings.secret_count = 1;
	f.request.now_wall += 1801;
	fixture_answer(&f, view);
	assert_int_equal(f.answer.cookie, DNS_COOKIE_AGING);
	assert_memory_not_equal(opt(&f, 28) + 15, cookie, sizeof(cookie));
	/* By the secret that was replaced: known, and renewed. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, option, 28);
	f.settings.secret_count = 2;
	f.settings.secrets[0][3] = 9;
	fixture_answer(&f, view);
	assert_int_equal(f.answer.cookie, DNS_COOKIE_AGING);
	/* From elsewhere: not known; answered all the same, with a new one. */
	fixture_query(&f, "shop.lb.example.net", WIRE_TYPE_A);
	fixture_edns(&f, 4096, option, 28);
	f.settings.secret_count = 1;
	f.request.client = fixture_addr("198.51.100.8");
	fixture_answer(&f, view);
	assert_int_equal(f.answer.cookie, DNS_COOKIE_BAD);
	assert_string_equal(fixture_head(&f, head), "NOERROR aa 1 2 0 1");
	assert_memory_not_equal(opt(&f, 28) + 15, cookie, sizeof(cookie));
}

static void test_cookie_alone(void **state)
{
	struct fixture_ask f;
	char head[64];

	(void)state;
	fixture_query(&f, ".", WIRE_TYPE_A);
	f.request.size = 12;
	f.query[5] = 0;
	fixture_edns(&f, 4096, "\0\12\0\10abcdefgh", 12);
	f.settings.secret_count = 1;
	fixture_answer(&f, view);
	assert_string_equal(fixture_head(&f, head), "NOERROR 0 0 0 1");
	opt(&f, 28);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edns),          cmocka_unit_test(test_nsid),
		cmocka_unit_test(test_client_subnet), cmocka_unit_test(test_affinity_by_address),
		cmocka_unit_test(test_cookies),       cmocka_unit_test(test_cookie_alone),
	};

	return cmocka_run_group_tests(tests, make_view, free_view);
}
