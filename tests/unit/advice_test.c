// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

struct advices {
	char *text; /* "code pointer\n" each */
	char *last_detail;
};

static void collect(void *ctx, const char *code, const char *pointer, const char *detail)
{
	struct advices *a = ctx;
	char *longer = mem_printf("%s%s %s\n", a->text ? a->text : "", code, pointer);
	free(a->text);
	free(a->last_detail);
	a->text = longer;
	a->last_detail = mem_strdup(detail);
}

static void release(struct advices *a)
{
	free(a->text);
	free(a->last_detail);
}

static void expect(const char *patch, const char *object, const char *expected)
{
	struct advices a = {0};
	struct snapshot *s = fixture_snapshot(fixture_patched(patch));
	if (snapshot_find_group(s, object))
		validate_advise_group(s, snapshot_find_group(s, object), collect, &a);
	else
		validate_advise_lb(s, snapshot_find_lb(s, object), collect, &a);
	if (strcmp(a.text ? a.text : "", expected) != 0)
		fail_msg("%s\nexpected:\n%sfound:\n%s", patch, expected, a.text ? a.text : "");
	release(&a);
	snapshot_unref(s);
}

#define WEB(members)   "{'server_groups':{'web':" members "}}"
#define CHECK(members) WEB("{'health_check':" members "}")
#define AT_CHECK       "/server_groups/web/health_check"

static void groups_get_advice(void **state)
{
	static const struct {
		const char *patch;
		const char *advice;
	} cases[] = {
		{"{}", ""},
		{CHECK("{'interval_ms':9000,'timeout_ms':8000}"), "slow_detection " AT_CHECK "\n"},
		{CHECK("{'interval_ms':6000,'timeout_ms':5000,'fast_retry':false,'unhealthy_threshold':5}"),
		 "slow_detection " AT_CHECK "\n"},
		{CHECK("{'interval_ms':6000,'timeout_ms':5000,'unhealthy_threshold':4}"), ""},
		{CHECK("{'timeout_ms':3000}"),
		 "timeout_not_below_interval " AT_CHECK "/timeout_ms\n"},
		{CHECK("{'interval_ms':10000}"),
		 "intermittent_failure_unseen " AT_CHECK "/window\n"},
		{CHECK("{'interval_ms':10000,'window':{'failures':2,'of':9}}"), ""},
		{CHECK("{'path':'/'}"), "http_path_not_set " AT_CHECK "/path\n"},
		{CHECK("{'type':'tcp','path':null}"), "tcp_probe_reset " AT_CHECK "/close\n"},
		{CHECK("{'type':'tcp','path':null,'close':'fin'}"), ""},
		{CHECK("{'interval_ms':100,'timeout_ms':50}"),
		 "many_probes " AT_CHECK "/interval_ms\n"},
		{CHECK("{'interval_ms':200,'timeout_ms':50}"), ""},
		{CHECK("{'source_address':'2001:db8::9'}"),
		 "source_address_family " AT_CHECK "/source_address\n"},
		{CHECK("{'enabled':false}"), "health_check_disabled " AT_CHECK "/enabled\n"},
		{WEB("{'min_healthy':{'count':3}}"),
		 "min_healthy_unreachable /server_groups/web/min_healthy/count\n"},
		{WEB("{'servers':null}"), "no_servers /server_groups/web/servers\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].patch, "web", cases[i].advice);
}

#define AT_SHOP "/load_balancers/shop"

static void load_balancers_get_advice(void **state)
{
	static const struct {
		const char *patch;
		const char *object;
		const char *advice;
	} cases[] = {
		{"{}", "shop", ""},
		{"{}", "names", "one_zone /load_balancers/names/zones\n"},
		{"{'load_balancers':{'shop':{'cross_zone':false}}}", "shop", ""},
		{"{'load_balancers':{'shop':{'cross_zone':false}},"
		 "'server_groups':{'web':{'servers':{'w2':{'zone':'za'}}}}}",
		 "shop", "zone_without_servers " AT_SHOP "/zones/zb\n"},
		{"{'load_balancers':{'shop':{'listeners':null}}}", "shop",
		 "no_listeners " AT_SHOP "/listeners\n"},
		{"{'load_balancers':{'names':{'listeners':{'dns':{'one_packet':true}}}}}", "names",
		 "one_zone /load_balancers/names/zones\n"
		 "one_packet_with_nat /load_balancers/names/listeners/dns/one_packet\n"},
		{"{'load_balancers':{'names':{'listeners':{'dns':{'one_packet':true}}}},"
		 "'server_groups':{'dns':{'forward_method':'direct'}}}",
		 "names", "one_zone /load_balancers/names/zones\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'mh','persistence_s':60}}}}}",
		 "shop", "persistence_with_hashing " AT_SHOP "/listeners/http/persistence_s\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'dh'}}}}}", "shop",
		 "dh_terminates " AT_SHOP "/listeners/http/scheduler\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'dh'}}}},"
		 "'server_groups':{'web':{'on_unhealthy':'terminate'}}}",
		 "shop", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].patch, cases[i].object, cases[i].advice);
}

static void texts_have_numbers(void **state)
{
	static const struct {
		const char *patch;
		const char *detail;
	} cases[] = {
		{CHECK("{'interval_ms':9000,'timeout_ms':8000}"),
		 "a server that falls silent gets connections for up to 33.0 s (interval 9000 ms, timeout 8000 ms, "
		 "unhealthy_threshold 3)"},
		{CHECK("{'interval_ms':6000,'timeout_ms':5000,'fast_retry':false,'unhealthy_threshold':5}"),
		 "a server that falls silent gets connections for up to 35.0 s (interval 6000 ms, timeout 5000 ms, "
		 "unhealthy_threshold 5, fast_retry off)"},
		{CHECK("{'type':'tcp','path':null}"),
		 "probes end in RST, which some servers log: about 28800 lines a "
		 "day each; \"fin\" closes politely"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct advices a = {0};
		struct snapshot *s = fixture_snapshot(fixture_patched(cases[i].patch));
		validate_advise_group(s, snapshot_find_group(s, "web"), collect, &a);
		assert_string_equal(a.last_detail, cases[i].detail);
		release(&a);
		snapshot_unref(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_get_advice),
		cmocka_unit_test(load_balancers_get_advice),
		cmocka_unit_test(texts_have_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
