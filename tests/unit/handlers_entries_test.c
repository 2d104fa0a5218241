// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of access lists over HTTP; exchange_body.c where a body is read as it comes.
#include "api/handlers.h"

#include "api_rig.h"

#include "base/buf.h"
#include "model/entries.h"

#define BASE   "/api/v1"
#define LIST   BASE "/access-lists/office"
#define LISTEN BASE "/load-balancers/shop/listeners/http"

static struct answer put_text(const struct rig *rig, const char *query, const char *text)
{
	AUTO_FREE char *path = mem_printf(LIST "/entries%s", query);

	return rig_ask(rig, "PUT", path, "Content-Type: text/plain\r\n", text);
}

static void start(struct rig *rig)
{
	rig_start(rig, 0);
	rig_load(rig);
	AUTO_REPLY struct answer a = rig_put(rig, LIST, "{\"description\":\"us\"}");
	assert_int_equal(a.status, 201);
}

static void entries_are_put_and_read(void **state)
{
	struct rig rig = {0};
	char tag[256], again[256];

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer dry = put_text(&rig, "?dry_run=true", "10.0.0.0/8 deny");
	assert_int_equal(dry.status, 200);
	assert_int_equal(answer_number_at(&dry, "diff_total"), 1);
	assert_int_equal(json_array_size(answer_at(&dry, "diff.0.new.entries")), 1);
	AUTO_REPLY struct answer put = put_text(
		&rig, "", "# all\n2001:db8::/32 allow # six\n\n10.0.0.0/8 deny\n");
	assert_int_equal(put.status, 200);
	assert_int_equal(answer_number_at(&put, "entry_count"), 2);
	assert_true(json_is_true(answer_at(&put, "changed")));
	answer_header(&put, "ETag", tag);
	AUTO_REPLY struct answer text = rig_get(&rig, LIST "/entries");
	assert_int_equal(text.status, 200);
	assert_string_equal(text.body, "10.0.0.0/8 deny\n2001:db8::/32 allow # six\n");
	assert_string_equal(answer_header(&text, "ETag", again), tag);
	assert_string_equal(answer_header(&text, "Content-Type", again),
			    "text/plain; charset=utf-8");
	AUTO_FREE char *known = mem_printf("If-None-Match: %s\r\n", tag);
	AUTO_REPLY struct answer same = rig_ask(&rig, "GET", LIST "/entries", known, NULL);
	assert_int_equal(same.status, 304);
	AUTO_REPLY struct answer repeated = put_text(&rig, "", text.body);
	assert_false(json_is_true(answer_at(&repeated, "changed")));
	AUTO_REPLY struct answer none = put_text(&rig, "", "");
	assert_int_equal(answer_number_at(&none, "entry_count"), 0);
	AUTO_REPLY struct answer empty = rig_get(&rig, LIST "/entries");
	assert_int_equal(empty.status, 200);
	assert_string_equal(empty.body, "");
	rig_end(&rig);
}

static void faults_are_told(void **state)
{
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer bad = put_text(&rig, "",
						"10.0.0.1/8 deny\nx allow\n1.2.3.4 deny\n");
	assert_int_equal(bad.status, 422);
	assert_int_equal(json_array_size(answer_at(&bad, "errors")), 2);
	assert_string_equal(answer_text_at(&bad, "errors.0.pointer"), "/1");
	assert_string_equal(answer_text_at(&bad, "errors.1.pointer"), "/2");
	AUTO_REPLY struct answer type = rig_ask(&rig, "PUT", LIST "/entries",
						"Content-Type: application/json\r\n", "{}");
	assert_int_equal(type.status, 415);
	AUTO_REPLY struct answer gone = rig_get(&rig, BASE "/access-lists/none/entries");
	assert_int_equal(gone.status, 404);
	AUTO_REPLY struct answer stale = rig_ask(
		&rig, "PATCH", LIST "/entries", "If-Match: \"other\"\r\n",
		"{\"add\":[{\"cidr\":\"10.0.0.0/8\",\"action\":\"deny\"}]}");
	assert_int_equal(stale.status, 412);
	AUTO_REPLY struct answer patch = rig_ask(&rig, "PATCH", LIST "/entries", "",
						 "{\"add\":[{\"cidr\":\"x\",\"action\":\"deny\"}],"
						 "\"remove\":[\"10.0.0.0/8\"]}");
	assert_int_equal(patch.status, 422);
	assert_string_equal(answer_text_at(&patch, "errors.0.pointer"), "/add/0/cidr");
	assert_string_equal(answer_text_at(&patch, "errors.1.pointer"), "/remove/0");
	rig_end(&rig);
}

/* More than may stand in a document: the text goes both ways, the list by its hash. */
static void long_lists_are_text(void **state)
{
	struct rig rig = {0};
	struct buf_writer w;

	(void)state;
	start(&rig);
	buf_writer_init(&w, 8U << 20);
	for (unsigned i = 0; i < 100000; i++)
		buf_write_format(&w, "10.%u.%u.%u/32 %s\n", i >> 16, i >> 8 & 255, i & 255,
				 i % 2 ? "allow" : "deny");
	AUTO_REPLY struct answer put = put_text(&rig, "", buf_text(&w));
	assert_int_equal(put.status, 200);
	assert_int_equal(answer_number_at(&put, "entry_count"), 100000);
	AUTO_REPLY struct answer text = rig_get(&rig, LIST "/entries");
	assert_string_equal(text.body, buf_text(&w));
	AUTO_REPLY struct answer list = rig_get(&rig, LIST);
	assert_null(answer_at(&list, "entries"));
	assert_int_equal(answer_number_at(&list, "entry_count"), 100000);
	assert_string_equal(answer_text(&list, "entries_hash"), answer_text(&put, "entries_hash"));
	AUTO_REPLY struct answer back = rig_put(&rig, LIST, list.body);
	assert_int_equal(back.status, 200);
	AUTO_REPLY struct answer patch = rig_ask(&rig, "PATCH", LIST "/entries", "",
						 "{\"remove\":[\"10.0.0.0\"]}");
	assert_int_equal(answer_number_at(&patch, "entry_count"), 99999);
	AUTO_REPLY struct answer other = rig_put(&rig, LIST, list.body);
	assert_int_equal(other.status, 422);
	assert_string_equal(answer_text_at(&other, "errors.0.pointer"), "/entries_hash");
	AUTO_REPLY struct answer config = rig_get(&rig, BASE "/config");
	assert_int_equal(answer_number_at(&config, "access_lists.office.entry_count"), 99999);
	buf_writer_free(&w);
	rig_end(&rig);
}

static void clients_are_judged_by_the_list(void **state)
{
	static const struct {
		const char *client;
		bool allowed;
		const char *by;
		const char *cidr;
	} cases[] = {
		{"10.0.0.1", false, "entry", "10.0.0.0/8"},
		{"10.1.2.3", true, "entry", "10.1.2.3/32"},
		{"192.0.2.1", true, "default", NULL},
		{"2001:db8::1", false, "entry", "2001:db8::/32"},
	};
	struct rig rig = {0};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer free_for_all = rig_get(&rig, LISTEN "/access?client=10.0.0.1");
	assert_true(json_is_true(answer_at(&free_for_all, "allowed")));
	assert_string_equal(answer_text(&free_for_all, "by"), "no_list");
	AUTO_REPLY struct answer put = put_text(
		&rig, "", "10.0.0.0/8 deny # all\n10.1.2.3 allow\n2001:db8::/32 deny\n");
	assert_int_equal(put.status, 200);
	AUTO_REPLY struct answer allow = rig_ask(&rig, "PATCH", LIST, "",
						 "{\"default_action\":\"allow\"}");
	assert_int_equal(allow.status, 200);
	AUTO_REPLY struct answer use = rig_ask(&rig, "PATCH", LISTEN, "",
					       "{\"access_list\":\"office\"}");
	assert_int_equal(use.status, 200);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_FREE char *path = mem_printf(LISTEN "/access?client=%s", cases[i].client);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		assert_int_equal(json_is_true(answer_at(&a, "allowed")), cases[i].allowed);
		assert_string_equal(answer_text(&a, "by"), cases[i].by);
		assert_string_equal(answer_text(&a, "access_list"), "office");
		if (cases[i].cidr)
			assert_string_equal(answer_text_at(&a, "entry.cidr"), cases[i].cidr);
		else
			assert_true(json_is_null(answer_at(&a, "entry")));
	}
	AUTO_REPLY struct answer bad = rig_get(&rig, LISTEN "/access?client=x");
	assert_int_equal(bad.status, 400);
	AUTO_REPLY struct answer missing = rig_get(&rig, LISTEN "/access");
	assert_int_equal(missing.status, 400);
	AUTO_REPLY struct answer none = rig_get(
		&rig, BASE "/load-balancers/shop/listeners/no/access?client=10.0.0.1");
	assert_int_equal(none.status, 404);
	rig_end(&rig);
}

/* A client that leaves in the middle of a long text leaves nothing behind, and nothing done. */
static void half_a_text_is_nothing(void **state)
{
	static const char head[] = "PUT " LIST "/entries HTTP/1.1\r\nHost: localhost\r\n"
				   "Content-Type: text/plain\r\nContent-Length: 2000000\r\n\r\n";
	struct rig rig = {0};

	(void)state;
	start(&rig);
	for (int i = 0; i < 3; i++) {
		int fd = rig_connect(&rig);

		rig_send(fd, head, sizeof(head) - 1);
		for (int k = 0; k < 10000; k++)
			rig_send(fd, "10.0.0.0/8 deny\n", 16);
		close(fd);
	}
	AUTO_REPLY struct answer text = rig_get(&rig, LIST "/entries");
	assert_string_equal(text.body, "");
	rig_end(&rig);
}

/* Where they probe, other gateways are not asked. */
static void peers_come_in_where_they_probe(void **state)
{
	struct rig rig = {.peer = "10.0.0.9"};

	(void)state;
	start(&rig);
	AUTO_REPLY struct answer put = put_text(&rig, "", "10.0.0.0/8 deny\n");
	assert_int_equal(put.status, 200);
	AUTO_REPLY struct answer use = rig_ask(&rig, "PATCH", LISTEN, "",
					       "{\"access_list\":\"office\"}");
	assert_int_equal(use.status, 200);
	AUTO_REPLY struct answer unprobed = rig_get(&rig, LISTEN "/access?client=10.0.0.9");
	assert_string_equal(answer_text(&unprobed, "by"), "entry");
	AUTO_REPLY struct answer probe = rig_ask(&rig, "PATCH", BASE "/load-balancers/shop", "",
						 "{\"vip_probe\":{\"type\":\"tcp\",\"port\":80}}");
	assert_int_equal(probe.status, 200);
	AUTO_REPLY struct answer peer = rig_get(&rig, LISTEN "/access?client=10.0.0.9");
	assert_string_equal(answer_text(&peer, "by"), "peer");
	assert_true(json_is_true(answer_at(&peer, "allowed")));
	assert_string_equal(answer_text(&peer, "access_list"), "office");
	AUTO_REPLY struct answer other = rig_get(&rig, LISTEN "/access?client=10.0.0.8");
	assert_string_equal(answer_text(&other, "by"), "entry");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers_come_in_where_they_probe),
		cmocka_unit_test(entries_are_put_and_read),
		cmocka_unit_test(faults_are_told),
		cmocka_unit_test(long_lists_are_text),
		cmocka_unit_test(clients_are_judged_by_the_list),
		cmocka_unit_test(half_a_text_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
