// SPDX-License-Identifier: GPL-2.0-or-later
// From (wanted, there) to the commands of nsupdate, by table.
#include "dns_fixture.h"
#include "dnsio/nsupdate_records.h"

#include <errno.h>
#include <stdlib.h>

static struct nsupdate_records *records(const char *zone)
{
	struct dns_name n;

	assert_int_equal(dns_name_parse(zone, &n), 0);
	return nsupdate_records_new(&n);
}

static struct nsupdate_record *find(struct nsupdate_records *r, const char *name,
				    enum view_family family)
{
	struct dns_name n;

	assert_int_equal(dns_name_parse(name, &n), 0);
	for (size_t i = 0; i < nsupdate_records_count(r); i++) {
		struct nsupdate_record *record = nsupdate_records_at(r, i);

		if (record->family == family && dns_name_equal(&record->name, &n))
			return record;
	}
	return NULL;
}

/* "60 192.0.2.1 192.0.2.2" → what the server holds; "" is nothing. */
static void have(struct nsupdate_record *record, const char *text)
{
	char copy[256];
	char *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	record->have = (struct nsupdate_set){0};
	record->known = true;
	if (*text)
		record->have.ttl = (uint32_t)strtoul(strsep(&rest, " "), NULL, 10);
	while (*text && rest)
		record->have.addresses[record->have.count++] = fixture_addr(strsep(&rest, " "));
}

/* Everything as wanted, so that a test sees its own difference only. */
static void have_all(struct nsupdate_records *r)
{
	for (size_t i = 0; i < nsupdate_records_count(r); i++) {
		struct nsupdate_record *record = nsupdate_records_at(r, i);

		record->have = record->want;
		record->known = true;
	}
}

static const struct nsupdate_target target = {
	.zone = "lb.example.net", .server = {AF_INET, {192, 0, 2, 53}}, .port = 5353};

#define HEAD "server 192.0.2.53 5353\nzone lb.example.net\n"
#define SHOP "shop.lb.example.net."

static void test_commands(void **state)
{
	static const struct {
		const char *have;
		const char *commands;
	} rows[] = {
		{"60 192.0.2.10 192.0.2.20", ""},
		{"60 192.0.2.20 192.0.2.10", ""}, /* a set has no order */
		{"", "update add " SHOP " 60 A 192.0.2.10\nupdate add " SHOP
		     " 60 A 192.0.2.20\nsend\n"},
		{"60 192.0.2.20", "update add " SHOP " 60 A 192.0.2.10\nsend\n"},
		{"60 192.0.2.10 192.0.2.20 192.0.2.30",
		 "update delete " SHOP " A 192.0.2.30\nsend\n"},
		{"60 192.0.2.10 192.0.2.99", "update delete " SHOP " A 192.0.2.99\nupdate add " SHOP
					     " 60 A 192.0.2.20\nsend\n"},
		{"30 192.0.2.10 192.0.2.20",
		 "update delete " SHOP " A\nupdate add " SHOP " 60 A 192.0.2.10\nupdate add " SHOP
		 " 60 A 192.0.2.20\nsend\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nsupdate_records *r = records("lb.example.net");
		struct view *v = fixture_view(1);
		AUTO_BUF struct buf_writer w;
		char expected[1024];
		bool differs = *rows[i].commands;

		buf_writer_init(&w, 1 << 20);
		nsupdate_records_want(r, v);
		have_all(r);
		have(find(r, "shop.lb.example.net", VIEW_V4), rows[i].have);
		assert_int_equal(nsupdate_records_differs(find(r, "shop.lb.example.net", VIEW_V4)),
				 differs);
		assert_int_equal(nsupdate_records_write(r, &target, &w), differs);
		snprintf(expected, sizeof(expected), HEAD "%s", rows[i].commands);
		assert_string_equal(buf_text(&w), expected);
		/* What was sent is to be read again. */
		assert_int_equal(find(r, "shop.lb.example.net", VIEW_V4)->known, !differs);
		nsupdate_records_free(r);
		view_unref(v);
	}
}

static void test_which_names(void **state)
{
	struct nsupdate_records *r = records("LB.example.net");
	struct view *v = fixture_view(1);

	(void)state;
	nsupdate_records_want(r, v);
	assert_non_null(find(r, "shop.lb.example.net", VIEW_V6));
	assert_non_null(find(r, "zone-c.shop.lb.example.net", VIEW_V4));
	assert_null(find(r, "ns1.lb.example.net", VIEW_V4));
	assert_null(find(r, "lb.example.net", VIEW_V4));
	assert_null(find(r, "alone.example.com", VIEW_V4)); /* of another zone */
	assert_int_equal(nsupdate_records_count(r), 2 * (3 * 4 + 2));
	assert_int_equal(find(r, "down.deep.lb.example.net", VIEW_V4)->want.count, 0);
	nsupdate_records_free(r);
	nsupdate_records_free(NULL);
	view_unref(v);
}

/* A name that is gone is removed there, and only then forgotten. */
static void test_gone(void **state)
{
	struct nsupdate_records *r = records("lb.example.net");
	struct view *v = fixture_view(1);
	struct view_builder *b = view_builder_new(2, NULL);
	AUTO_BUF struct buf_writer w;
	struct view *less;

	(void)state;
	fixture_add(b, "shop.lb.example.net", VIEW_AFFINITY_ANY);
	assert_int_equal(view_builder_finish(b, &less), 0);
	nsupdate_records_want(r, v);
	have_all(r);
	nsupdate_records_want(r, less);
	assert_non_null(find(r, "near.lb.example.net", VIEW_V4));
	/* What was never there is forgotten at once. */
	assert_null(find(r, "zone-b.near.lb.example.net", VIEW_V6));
	buf_writer_init(&w, 1 << 20);
	/* near, part: A, AAAA and four zones' addresses each; down's zone. */
	assert_int_equal(nsupdate_records_write(r, &target, &w), 2 * 6 + 1);
	assert_non_null(strstr(buf_text(&w), "update delete near.lb.example.net. A\n"));
	assert_non_null(strstr(buf_text(&w), "update delete zone-a.part.lb.example.net. AAAA\n"));
	assert_null(strstr(buf_text(&w), "add"));
	assert_null(strstr(buf_text(&w), "shop"));
	nsupdate_records_prune(r);
	assert_non_null(find(r, "near.lb.example.net", VIEW_V4)); /* not known to be gone */
	have(find(r, "near.lb.example.net", VIEW_V4), "");
	nsupdate_records_prune(r);
	assert_null(find(r, "near.lb.example.net", VIEW_V4));
	nsupdate_records_forget(r);
	assert_false(find(r, "shop.lb.example.net", VIEW_V4)->known);
	nsupdate_records_free(r);
	view_unref(v);
	view_unref(less);
}

/* Many changes: several messages, no set in two of them. */
static void test_messages(void **state)
{
	struct nsupdate_records *r = records("example");
	struct view_builder *b = view_builder_new(1, NULL);
	AUTO_BUF struct buf_writer w;
	struct view *v;
	const char *line;
	char name[32] = "";
	unsigned sends = 0;
	unsigned since = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "n%d.example", i);
		fixture_add(b, name, VIEW_AFFINITY_ANY);
	}
	assert_int_equal(view_builder_finish(b, &v), 0);
	nsupdate_records_want(r, v);
	for (size_t i = 0; i < nsupdate_records_count(r); i++)
		have(nsupdate_records_at(r, i), "");
	buf_writer_init(&w, 1 << 20);
	assert_int_equal(nsupdate_records_write(r, &target, &w), 300 * 6);
	for (line = buf_text(&w); *line; line = strchr(line, '\n') + 1) {
		if (strncmp(line, "send", 4) == 0) {
			sends++;
			since = 0;
		}
		since++;
		assert_in_range(since, 0, 260);
	}
	assert_in_range(sends, 9, 12); /* 2,100 lines */
	nsupdate_records_free(r);
	view_unref(v);
}

static void test_take(void **state)
{
	static const struct {
		uint16_t flags;
		uint8_t rcode;
		uint16_t type;
		int result;
	} rows[] = {
		{WIRE_QR | WIRE_AA, WIRE_NOERROR, WIRE_TYPE_A, 0},
		{WIRE_QR | WIRE_AA, WIRE_NXDOMAIN, WIRE_TYPE_A, 0},
		{WIRE_QR | WIRE_AA, WIRE_SERVFAIL, WIRE_TYPE_A, -EBADMSG},
		{WIRE_QR, WIRE_NOERROR, WIRE_TYPE_A, -EBADMSG}, /* somebody's cache */
		{WIRE_QR | WIRE_AA | WIRE_TC, WIRE_NOERROR, WIRE_TYPE_A, -EBADMSG},
		{WIRE_QR | WIRE_AA, WIRE_NOERROR, WIRE_TYPE_AAAA, -EBADMSG},
	};
	struct nsupdate_records *r = records("lb.example.net");
	struct view *v = fixture_view(1);
	struct nsupdate_record *record;

	(void)state;
	nsupdate_records_want(r, v);
	record = find(r, "shop.lb.example.net", VIEW_V4);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_reply reply = {.flags = rows[i].flags,
					   .rcode = rows[i].rcode,
					   .type = rows[i].type,
					   .name = record->name,
					   .count = rows[i].rcode ? 0 : 1,
					   .records = {{7, fixture_addr("192.0.2.10")}}};

		record->known = false;
		assert_int_equal(nsupdate_records_take(record, &reply), rows[i].result);
		assert_int_equal(record->known, rows[i].result == 0);
		if (rows[i].result == 0)
			assert_int_equal(record->have.ttl, rows[i].rcode ? 0 : 7);
		dns_name_parse("other.lb.example.net", &reply.name);
		assert_int_equal(nsupdate_records_take(record, &reply), -EBADMSG);
	}
	nsupdate_records_free(r);
	view_unref(v);
}

/* More than is kept: all of it is replaced. */
static void test_crowded(void **state)
{
	struct nsupdate_records *r = records("lb.example.net");
	struct view *v = fixture_view(1);
	struct wire_reply reply = {
		.flags = WIRE_QR | WIRE_AA, .type = WIRE_TYPE_A, .count = WIRE_REPLY_RECORDS_MAX};
	AUTO_BUF struct buf_writer w;
	struct nsupdate_record *record;

	(void)state;
	nsupdate_records_want(r, v);
	record = find(r, "shop.lb.example.net", VIEW_V4);
	have_all(r);
	reply.name = record->name;
	for (uint8_t i = 0; i < WIRE_REPLY_RECORDS_MAX; i++)
		reply.records[i] = (struct wire_reply_record){60, {AF_INET, {192, 0, 2, i}}};
	assert_int_equal(nsupdate_records_take(record, &reply), 0);
	assert_true(nsupdate_records_differs(record));
	buf_writer_init(&w, 1 << 20);
	assert_int_equal(nsupdate_records_write(r, &target, &w), 1);
	assert_string_equal(buf_text(&w),
			    HEAD "update delete " SHOP " A\nupdate add " SHOP
				 " 60 A 192.0.2.10\nupdate add " SHOP " 60 A 192.0.2.20\nsend\n");
	nsupdate_records_free(r);
	view_unref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands), cmocka_unit_test(test_which_names),
		cmocka_unit_test(test_gone),     cmocka_unit_test(test_messages),
		cmocka_unit_test(test_take),     cmocka_unit_test(test_crowded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
