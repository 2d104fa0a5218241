// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define PREVIEW "/api/v1/dns/preview"

static void dns_previews_an_answer(void **state)
{
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, PREVIEW "?name=Shop.example.net&type=a");
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text(&a, "rcode"), "NOERROR");
	assert_string_equal(answer_text(&a, "load_balancer"), "shop");
	assert_string_equal(answer_text(&a, "client_affinity"), "any");
	assert_int_equal(answer_number_at(&a, "ttl_s"), 30); /* halved: a zone is left out */
	assert_int_equal(json_array_size(answer_at(&a, "addresses")), 2);
	assert_true(json_is_true(answer_at(&a, "addresses.0.published")));
	assert_int_equal(answer_number_at(&a, "addresses.0.share_percent"), 100);
	assert_string_equal(answer_text_at(&a, "addresses.1.address"), "192.0.2.2");
	assert_true(json_is_false(answer_at(&a, "addresses.1.published")));
	assert_string_equal(answer_text_at(&a, "addresses.1.reason_code"),
			    "withdrawn_vip_unhealthy");
	assert_non_null(strstr(answer_text_at(&a, "addresses.1.detail"), "left out: "));

	AUTO_REPLY struct answer zone = rig_get(&rig, PREVIEW "?name=zb.shop.example.net");
	assert_string_equal(answer_text(&zone, "zone"), "zb");
	assert_string_equal(answer_text_at(&zone, "addresses.0.address"), "192.0.2.2");
	assert_true(json_is_true(answer_at(&zone, "addresses.0.published")));
	assert_non_null(strstr(answer_text_at(&zone, "addresses.0.detail"), "always answered"));
	AUTO_REPLY struct answer v6 = rig_get(&rig, PREVIEW "?name=shop.example.net&type=AAAA");
	assert_string_equal(answer_text(&v6, "rcode"), "NOERROR");
	assert_int_equal(json_array_size(answer_at(&v6, "addresses")), 0);
	assert_string_equal(answer_text(&v6, "detail"),
			    "no zone of load balancer shop has an IPv6 address (vip6)");
	AUTO_REPLY struct answer zone6 = rig_get(&rig,
						 PREVIEW "?name=zb.shop.example.net&type=AAAA");
	assert_string_equal(answer_text(&zone6, "detail"),
			    "zone zb of load balancer shop has no IPv6 address (vip6)");
	AUTO_REPLY struct answer foreign = rig_get(&rig, PREVIEW "?name=example.org");
	assert_string_equal(answer_text(&foreign, "rcode"), "REFUSED");
	assert_true(json_is_null(answer_at(&foreign, "meant")));
	assert_string_equal(answer_text(&a, "detail"), "");
	AUTO_REPLY struct answer own = rig_get(&rig, PREVIEW "?name=shop");
	assert_string_equal(answer_text(&own, "rcode"), "REFUSED");
	assert_string_equal(answer_text(&own, "meant"), "shop.example.net");
	rig_end(&rig);
}

/* Why a name is not answered, where there are none and where there are many. */
static void dns_says_which_names_there_are(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer own = rig_get(&rig, PREVIEW "?name=shop");
	assert_string_equal(answer_text(&own, "detail"),
			    "the load balancer shop has no dns_name: clients use its addresses");
	AUTO_REPLY struct answer none = rig_get(&rig, PREVIEW "?name=example.org");
	assert_string_equal(answer_text(&none, "detail"),
			    "example.org is no name of ours: no load balancer has a dns_name");
	for (unsigned i = 0; i < 7; i++) {
		AUTO_FREE char *path = mem_printf("/api/v1/load-balancers/lb%u", i);
		AUTO_FREE char *body = mem_printf("{\"dns_name\":\"n%u.example.net\",\"zones\":{"
						  "\"za\":{\"vip4\":\"192.0.2.%u\"}}}",
						  i, 100 + i);
		AUTO_REPLY struct answer put = rig_put(&rig, path, body);

		if (put.status != 201)
			fail_msg("%s", put.text);
	}
	AUTO_REPLY struct answer many = rig_get(&rig, PREVIEW "?name=example.org");
	assert_string_equal(answer_text(&many, "detail"),
			    "example.org is the dns_name of no load balancer; there are "
			    "n0.example.net, n1.example.net, n2.example.net, n3.example.net, "
			    "n4.example.net and 2 more");
	rig_end(&rig);
}

static void dns_refuses_bad_questions(void **state)
{
	static const char *const bad[] = {
		"", "?name=", "?name=a..b", "?name=x&type=MX", "?name=x&client=here", "?type=A"};
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		AUTO_FREE char *path = mem_printf(PREVIEW "%s", bad[i]);
		AUTO_REPLY struct answer a = rig_get(&rig, path);

		if (a.status != 400)
			fail_msg("%s: %d", bad[i], a.status);
	}
	/* Octets that are no text are shown as numbers. */
	AUTO_REPLY struct answer odd = rig_get(&rig, PREVIEW "?name=%ff.example.org");
	assert_int_equal(odd.status, 200);
	assert_string_equal(answer_text(&odd, "name"), "\\255.example.org");
	rig_end(&rig);
}

/* "name type data …" of all pages, one item a page. */
static char *all_records(const struct rig *rig)
{
	char *text = mem_strdup(""), cursor[32] = "0";

	for (unsigned page = 0; page < 20 && cursor[0]; page++) {
		AUTO_FREE char *path = mem_printf("/api/v1/dns/records?limit=1&cursor=%s", cursor);
		AUTO_REPLY struct answer a = rig_get(rig, path);
		char *more;

		assert_int_equal(a.status, 200);
		assert_true(json_array_size(answer_at(&a, "items")) <= 1);
		more = mem_printf("%s%s %s %s\n", text, answer_text_at(&a, "items.0.name"),
				  answer_text_at(&a, "items.0.type"),
				  answer_text_at(&a, "items.0.data.0"));
		free(text);
		text = more;
		snprintf(cursor, sizeof(cursor), "%s", answer_text(&a, "next_cursor"));
	}
	return text;
}

static void dns_lists_records(void **state)
{
	struct rig rig = {.judge_vips = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_FREE char *text = all_records(&rig);

	assert_non_null(strstr(text, "shop.example.net SOA shop.example.net. "
				     "hostmaster.shop.example.net. "));
	assert_non_null(strstr(text, "shop.example.net A 192.0.2.1\n"));
	assert_non_null(strstr(text, "zb.shop.example.net A 192.0.2.2\n"));
	assert_null(strstr(text, "AAAA"));
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/dns/records");
	assert_int_equal(json_array_size(answer_at(&a, "items")), 4);
	assert_true(json_is_null(answer_at(&a, "next_cursor")));
	assert_true(answer_number_at(&a, "serial") > 0);
	AUTO_REPLY struct answer beyond = rig_get(&rig, "/api/v1/dns/records?cursor=99999");
	assert_int_equal(json_array_size(answer_at(&beyond, "items")), 0);
	AUTO_REPLY struct answer bad = rig_get(&rig, "/api/v1/dns/records?cursor=a");
	assert_int_equal(bad.status, 400);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dns_previews_an_answer),
		cmocka_unit_test(dns_refuses_bad_questions),
		cmocka_unit_test(dns_says_which_names_there_are),
		cmocka_unit_test(dns_lists_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
