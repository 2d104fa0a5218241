// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include "cli_rig.h"

static void dns_preview_shows_the_answer(void **state)
{
	struct cli_options o = {0}, v6 = {.type = "AAAA"}, json = {.format = FORMAT_JSON},
			   client = {.client = "10.1.2.3"}, bad = {.client = "me"};
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig_publish(&rig);
	AUTO_OUTCOME struct outcome a = cli_rig_run(&rig, cli_dns_preview, 2, &o,
						    WORDS("dns", "preview", "shop.example.net"));
	assert_int_equal(a.exit, EXIT_OK);
	assert_contains(a.out, "shop.example.net A: NOERROR, TTL 30 s, serial ");
	assert_contains(a.out, "Load balancer shop\n");
	assert_contains(a.out, "192.0.2.1  za    ● published  100 %  handed out");
	assert_contains(a.out, "192.0.2.2  zb    ✖ withdrawn    0 %  left out: the VIP");
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_dns_preview, 2, &v6,
						       WORDS("dns", "preview", "shop.example.net"));
	assert_contains(none.out, "AAAA: NOERROR without addresses, TTL 5 s");
	AUTO_OUTCOME struct outcome foreign = cli_rig_run(&rig, cli_dns_preview, 2, &o,
							  WORDS("dns", "preview", "example.org"));
	assert_contains(foreign.out, "REFUSED, this node does not serve that name");
	assert_contains(
		foreign.out,
		"example.org is the dns_name of no load balancer; there are shop.example.net\n");
	/* The usual mistake: the load balancer's own name. */
	AUTO_OUTCOME struct outcome own = cli_rig_run(&rig, cli_dns_preview, 2, &o,
						      WORDS("dns", "preview", "shop"));
	assert_int_equal(own.exit, EXIT_OK);
	assert_string_equal(own.err, "zonegate: shop is the load balancer; its dns_name is "
				     "shop.example.net\n");
	assert_contains(own.out, "shop.example.net A: NOERROR, TTL 30 s, serial ");
	AUTO_OUTCOME struct outcome raw = cli_rig_run(&rig, cli_dns_preview, 2, &json,
						      WORDS("dns", "preview", "shop.example.net"));
	assert_int_equal(json_array_size(json_object_get(raw.json, "addresses")), 2);
	AUTO_REPLY struct answer partial = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
						   "{\"client_affinity\":\"zone\"}");
	assert_int_equal(partial.status, 200);
	AUTO_OUTCOME struct outcome near = cli_rig_run(&rig, cli_dns_preview, 2, &client,
						       WORDS("dns", "preview", "shop.example.net"));
	assert_contains(near.out, "client affinity zone, client of no zone\n");
	AUTO_OUTCOME struct outcome wrong = cli_rig_run(&rig, cli_dns_preview, 2, &bad,
							WORDS("dns", "preview", "x"));
	assert_int_equal(wrong.exit, EXIT_INVALID);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dns_preview_shows_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
