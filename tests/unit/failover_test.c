// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/failover.h"

#include "model_fixture.h"

#define SHOP(members) "{'load_balancers':{'shop':" members "}}"
#define NAMED         "'dns_name':'shop.example.net'"

struct estimate {
	const char *patch;
	uint32_t ttl;
	bool possible;
	usec_t total_ms; /* where it is possible */
	const char *advice;
};

static void sums_are_right(void **state)
{
	static const struct estimate cases[] = {
		/* check 3000 + 3 * 2000, publication 10, TTL */
		{SHOP("{" NAMED "}"), 60, true, 69010,
		 "dns_ttl is 60.0 s of 69.0 s: lower dns_ttl_s (60) to 9, and clients keep a dead address for 9 s at "
		 "most once it is out of the answers; they ask DNS more often for it"},
		{SHOP("{" NAMED ",'dns_ttl_s':9}"), 9, true, 18010,
		 "health_check is 9.0 s of 18.0 s: lower interval_ms, timeout_ms or unhealthy_threshold of group web's "
		 "health_check"},
		/* halved now, as a zone is left out: answers of before that are kept for all of it */
		{SHOP("{" NAMED "}"), 30, true, 69010,
		 "dns_ttl is 60.0 s of 69.0 s: lower dns_ttl_s (60) to 9, and clients keep a dead address for 9 s at "
		 "most once it is out of the answers; they ask DNS more often for it"},
		/* VIP 1000 + 3 * 500, and nobody probes servers */
		{"{'server_groups':{'web':{'health_check':{'enabled':false}}},'load_balancers':{'shop':{" NAMED
		 ",'dns_ttl_s':1}}}",
		 1, true, 3510,
		 "vip_probe is 2.5 s of 3.5 s: lower interval_ms, timeout_ms or unhealthy_threshold of vip_probe"},
		/* the slower of two probes counts: VIP 20000 + 3 * 500 */
		{SHOP("{" NAMED ",'dns_ttl_s':5,'vip_probe':{'interval_ms':20000}}"), 5, true,
		 26510,
		 "vip_probe is 21.5 s of 26.5 s: lower interval_ms, timeout_ms or unhealthy_threshold of vip_probe"},
		{SHOP("{'dns_ttl_s':60}"), 60, false, 0,
		 "it has no dns_name: clients use an address, and nothing takes them elsewhere"},
		{SHOP("{" NAMED ",'enabled':false}"), 60, false, 0,
		 "it is disabled: its name has no address"},
		{SHOP("{" NAMED ",'zones':{'zb':{'enabled':false}}}"), 60, false, 0,
		 "it has 1 enabled zone: there is no other to go to; add one"},
		{SHOP("{" NAMED ",'zones':{'zb':{'vip4':null,'vip6':'2001:db8::2'}}}"), 60, false,
		 0,
		 "no two of its 2 enabled zones have an address of one family: clients of either have no other to go "
		 "to; give them vip4 or vip6"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *s = fixture_snapshot(fixture_patched(cases[i].patch));
		const struct load_balancer *lb = snapshot_find_lb(s, "shop");
		struct failover f = failover_estimate(s, lb, cases[i].ttl);
		char text[FAILOVER_TEXT_MAX];

		assert_int_equal(f.possible, cases[i].possible);
		if (f.possible)
			assert_int_equal(f.total, cases[i].total_ms * USEC_PER_MS);
		assert_string_equal(failover_advise(&f, lb, text), cases[i].advice);
		snapshot_unref(s);
	}
}

static void parts_are_described(void **state)
{
	static const char *const texts[] = {
		[FAILOVER_VIP] =
			"a dead VIP: icmp probe every 1000 ms, at most 500 ms each, 3 failures",
		[FAILOVER_SERVER] =
			"silent servers of group web: a probe every 3000 ms, at most 2000 ms each, 3 failures",
		[FAILOVER_PUBLICATION_PART] =
			"from the verdict to the first answer without the zone",
		[FAILOVER_TTL] = "resolvers and clients keep an answer for dns_ttl_s",
	};
	static const char *const names[] = {"vip_probe", "health_check", "publication", "dns_ttl"};
	struct snapshot *s = fixture_snapshot(fixture_patched(SHOP("{" NAMED "}")));
	const struct load_balancer *lb = snapshot_find_lb(s, "shop");
	struct failover f = failover_estimate(s, lb, 60);
	char text[FAILOVER_TEXT_MAX];

	(void)state;
	for (enum failover_part p = 0; p < FAILOVER_PARTS; p++) {
		assert_string_equal(failover_describe(&f, lb, p, text), texts[p]);
		assert_string_equal(failover_part_name(p), names[p]);
	}
	f = failover_estimate(s, lb, 30);
	assert_string_equal(
		failover_describe(&f, lb, FAILOVER_TTL, text),
		"resolvers and clients keep an answer for dns_ttl_s; answers have 30 s now, while a "
		"zone is left out");
	snapshot_unref(s);
	s = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	lb = snapshot_find_lb(s, "names");
	f = failover_estimate(s, lb, 60);
	assert_null(f.slow);
	assert_string_equal(failover_describe(&f, lb, FAILOVER_SERVER, text),
			    "no server is probed: dead ones are not seen");
	snapshot_unref(s);
}

#define DEAF \
	"'health_check':{'type':'udp','path':null,'expect':'no_unreachable','interval_ms':5000,'unhealthy_threshold':1}"

/* Where silence passes, the death that is seen is a refusal; that the other one is not is told. */
static void silence_that_passes_is_no_detection(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_patched("{'server_groups':{'web':{" DEAF
							      "}},'load_balancers':{'shop':{" NAMED
							      ",'dns_ttl_s':1}}}"));
	const struct load_balancer *lb = snapshot_find_lb(s, "shop");
	struct failover f = failover_estimate(s, lb, 1);
	char text[FAILOVER_TEXT_MAX];

	(void)state;
	/* A refusal is seen 5000 + 2000 after it: a probe that passes late, and one more. */
	assert_int_equal(f.worst[FAILOVER_SERVER], 7000 * USEC_PER_MS);
	assert_string_equal(
		failover_describe(&f, lb, FAILOVER_SERVER, text),
		"refused servers of group web (an ICMP error comes): a probe every 5000 ms, at "
		"most 2000 ms each, 1 failure");
	assert_non_null(
		strstr(failover_advise(&f, lb, text),
		       ". Silent servers of group web pass its check and are never left out"));
	snapshot_unref(s);
}

#define LIT_UP                                          \
	{                                               \
		.zones = 2, .answered = 2, .healthy = 2 \
	}

/* What DNS answers now, in each family; a zone is ready when it is healthy in one. */
static void what_stands_in_the_way_is_told(void **state)
{
	static const struct {
		struct failover_now now;
		const char *text; /* NULL: nothing */
	} rows[] = {
		{{.ready = 2, .zone = "zb", .families = {LIT_UP}}, NULL},
		{{.ready = 1, .zone = "za", .families = {{2, 1, 1, false, NULL}}},
		 "only zone za is healthy and handed out: when it fails, clients have nowhere to go until "
		 "another zone is"},
		{{.families = {{2, 2, 0, true, NULL}}},
		 "no zone is known to be healthy, so DNS hands out 2 zones all the same (fail-open): clients have "
		 "no healthy one to go to until one is"},
		{{.families = {{2, 1, 0, true, NULL}}},
		 "no zone is known to be healthy, so DNS hands out 1 zone all the same (fail-open): clients have "
		 "no healthy one to go to until one is"},
		{{.families = {{2, 2, 0, false, NULL}}},
		 "no zone has its first verdict yet, so DNS hands out 2 zones all the same: whether clients have "
		 "one to go to is not known until then"},
		{{.families = {{2, 0, 0, false, NULL}}},
		 "DNS hands out no zone: clients have nowhere to go until one is"},
		/* Both families alike are one sentence; where they differ each has its name. */
		{{.families = {{2, 2, 0, true, NULL}, {2, 2, 0, true, NULL}}},
		 "no zone is known to be healthy, so DNS hands out 2 zones all the same (fail-open): clients have "
		 "no healthy one to go to until one is"},
		{{.families = {{2, 2, 0, false, NULL}, {2, 0, 0, false, NULL}}},
		 "IPv4: no zone has its first verdict yet, so DNS hands out 2 zones all the same: whether clients "
		 "have one to go to is not known until then; IPv6: DNS hands out no zone: clients have nowhere to "
		 "go until one is"},
		{{.ready = 2, .zone = "zb", .families = {LIT_UP, {2, 2, 0, true, NULL}}},
		 "IPv6: no zone is known to be healthy, so DNS hands out 2 zones all the same (fail-open): clients "
		 "have no healthy one to go to until one is"},
		{{.ready = 1,
		  .zone = "za",
		  .families = {{1, 0, 0, false, NULL}, {2, 1, 1, false, NULL}}},
		 "only zone za is healthy and handed out: when it fails, clients have nowhere to go until another "
		 "zone is; IPv4: DNS hands out no zone: clients have nowhere to go until one is"},
		{{.ready = 2,
		  .zone = "zb",
		  .families = {LIT_UP, {.zones = 2, .answered = 1, .healthy = 1, .zone = "za"}}},
		 "IPv6: only zone za is healthy and handed out: when it fails, clients have nowhere to go by it "
		 "until another zone is"},
		/* Of a family that only one zone has nobody expects another. */
		{{.ready = 2,
		  .zone = "zb",
		  .families = {LIT_UP, {.zones = 1, .answered = 1, .healthy = 1, .zone = "za"}}},
		 NULL},
	};
	struct failover f = {.possible = true};
	char text[FAILOVER_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *told = failover_warn(&f, &rows[i].now, text);

		if (rows[i].text)
			assert_string_equal(told ? told : "nothing", rows[i].text);
		else
			assert_null(told);
	}
	f.possible = false; /* the advice says why */
	assert_null(failover_warn(&f, &rows[1].now, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_right),
		cmocka_unit_test(parts_are_described),
		cmocka_unit_test(silence_that_passes_is_no_detection),
		cmocka_unit_test(what_stands_in_the_way_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
