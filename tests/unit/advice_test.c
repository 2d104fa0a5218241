// SPDX-License-Identifier: GPL-2.0-or-later
#include "health/window.h"
#include "plan/advice.h"

#include "model_fixture.h"

struct advices {
	char *text; /* "code pointer\n" each */
	char *last_detail;
	bool everything;
};

// What is said of every group that is probed has a test of its own.
static void collect(void *ctx, const char *code, const char *pointer, const char *detail)
{
	struct advices *a = ctx;
	if (!a->everything && strcmp(code, "probe_sources") == 0)
		return;
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

// On a node of zone za.
static void give(const struct snapshot *s, const char *object, struct advices *a)
{
	static const char *const zones[] = {"za"};
	const struct advice_place at = {
		.snapshot = s, .node_zones = zones, .node_zone_count = 1, .dns_apex_count = 1};
	if (snapshot_find_group(s, object))
		advice_give_group(&at, snapshot_find_group(s, object), collect, a);
	else
		advice_give_lb(&at, snapshot_find_lb(s, object), collect, a);
}

static void expect(const char *patch, const char *object, const char *expected)
{
	struct advices a = {0};
	struct snapshot *s = fixture_snapshot(fixture_patched(patch));
	give(s, object, &a);
	if (strcmp(a.text ? a.text : "", expected) != 0)
		fail_msg("%s\nexpected:\n%sfound:\n%s", patch, expected, a.text ? a.text : "");
	release(&a);
	snapshot_unref(s);
}

#define WEB(members)   "{'server_groups':{'web':" members "}}"
#define CHECK(members) WEB("{'health_check':" members "}")
#define DNS(check)     "{'server_groups':{'dns':{'health_check':" check "}}}"
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
		{CHECK("{'type':'tcp','path':null,'handshake':'half_open'}"), ""},
		{CHECK("{'type':'tls','path':null}"), "tcp_probe_reset " AT_CHECK "/close\n"},
		{CHECK("{'type':'https','path':'/'}"), "http_path_not_set " AT_CHECK "/path\n"},
		{CHECK("{'type':'https','verify':true}"),
		 "certificate_name_unchecked " AT_CHECK "/sni\n"},
		{CHECK("{'type':'https','verify':true,'sni':'www.example.com'}"), ""},
		{CHECK("{'type':'https','verify':true,'host':'www.example.com'}"), ""},
		{CHECK("{'type':'udp','path':null}"),
		 "dns_request_by_default " AT_CHECK "/request\n"},
		{CHECK("{'type':'udp','path':null,'port':53}"), ""},
		{CHECK("{'type':'udp','path':null,'request':'ping'}"), ""},
		{CHECK("{'type':'udp','path':null,'request':'ping','expect':'no_unreachable'}"),
		 "verdict_rests_on_silence " AT_CHECK "/type\n"},
		{CHECK("{'type':'icmp_udp','path':null,'request':'ping'}"),
		 "verdict_rests_on_silence " AT_CHECK "/type\n"},
		{"{'zones':{'zc':{}},'server_groups':{'web':{'health_check':{'interval_ms':1999,'timeout_ms':1000}}}}",
		 "interval_with_many_gateways " AT_CHECK "/interval_ms\n"},
		{"{'zones':{'zc':{}},'server_groups':{'web':{'health_check':{'interval_ms':2000,'timeout_ms':1000}}}}",
		 ""},
		{CHECK("{'interval_ms':50000,'unhealthy_threshold':1,'timeout_ms':1000}"),
		 "slow_detection " AT_CHECK "\n"},
		{CHECK("{'enabled':false}"), "health_check_disabled " AT_CHECK "/enabled\n"},
		{WEB("{'min_healthy':{'count':3}}"),
		 "min_healthy_unreachable /server_groups/web/min_healthy/count\n"},
		{WEB("{'servers':null}"), "no_servers /server_groups/web/servers\n"},
		/* Nothing is said to happen where nothing does: it is in no listener. */
		{"{'load_balancers':{'shop':{'listeners':null}},'server_groups':{'web':{'servers':null,"
		 "'health_check':{'interval_ms':100,'timeout_ms':50}}}}",
		 "group_unused /server_groups/web\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'server_group':'spare'}}}},"
		 "'server_groups':{'web':{'health_check':{'enabled':false}},"
		 "'spare':{'when_none_healthy':'backup','backup_group':'web'}}}",
		 "health_check_disabled " AT_CHECK "/enabled\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].patch, "web", cases[i].advice);
}

#define AT_SHOP "/load_balancers/shop"
/* Server w2 is where clients are. */
#define NO_SNAT "server_is_client_without_snat " AT_SHOP "/listeners/http\n"
#define NEAR(listener)                                        \
	"{'zones':{'zb':{'client_subnets':['10.0.0.2/31']}}," \
	"'load_balancers':{'shop':{'listeners':{'http':{" listener "}}}}}"

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
		{"{'load_balancers':{'shop':{'dns_name':'shop.example.net'}}}", "shop",
		 "ttl_longer_than_failover " AT_SHOP "/dns_ttl_s\n"},
		{"{'load_balancers':{'shop':{'dns_name':'shop.example.net','dns_ttl_s':9}}}",
		 "shop", ""},
		{"{'load_balancers':{'names':{'dns_name':'n.example.net'}}}", "names",
		 "one_zone /load_balancers/names/zones\n"},
		{"{'load_balancers':{'names':{'listeners':{'dns':{'one_packet':true}}}}}", "names",
		 "one_zone /load_balancers/names/zones\n"
		 "one_packet_with_nat /load_balancers/names/listeners/dns/one_packet\n"},
		{"{'load_balancers':{'names':{'listeners':{'dns':{'one_packet':true}}}},"
		 "'server_groups':{'dns':{'forward_method':'direct'}}}",
		 "names", "one_zone /load_balancers/names/zones\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'mh','persistence_s':60}}}}}",
		 "shop", "persistence_with_hashing " AT_SHOP "/listeners/http/persistence_s\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'wrrr'}}}}}", "shop",
		 "scheduler_unknown " AT_SHOP "/listeners/http/scheduler\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'dh'}}}}}", "shop",
		 "dh_terminates " AT_SHOP "/listeners/http/scheduler\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'dh'}}}},"
		 "'server_groups':{'web':{'on_unhealthy':'terminate'}}}",
		 "shop", ""},
		{NEAR("'scheduler':'sh'"), "shop",
		 NO_SNAT "server_is_client " AT_SHOP "/listeners/http/scheduler\n"},
		{NEAR("'scheduler':'mh'"), "shop",
		 NO_SNAT "server_is_client " AT_SHOP "/listeners/http/scheduler\n"},
		{NEAR("'persistence_s':60"), "shop",
		 NO_SNAT "server_is_client " AT_SHOP "/listeners/http/scheduler\n"},
		{NEAR("'port':80"), "shop", NO_SNAT},
		{"{'zones':{'zb':{'client_subnets':['10.0.0.2/31']}},'load_balancers':{'shop':{'snat':'auto',"
		 "'listeners':{'http':{'scheduler':'sh'}}}}}",
		 "shop", ""},
		{"{'zones':{'zb':{'client_subnets':['10.0.0.3/32','10.1.0.0/16']}},"
		 "'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'sh'}}}}}",
		 "shop", ""},
		{"{'zones':{'zc':{'client_subnets':['10.0.0.0/8']}},"
		 "'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'sh'}}}}}",
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
		const char *object;
		const char *detail;
	} cases[] = {
		{CHECK("{'interval_ms':9000,'timeout_ms':8000}"), "web",
		 "a server that falls silent gets connections for up to 33.0 s (interval 9000 ms, timeout 8000 ms, "
		 "unhealthy_threshold 3)"},
		{CHECK("{'interval_ms':6000,'timeout_ms':5000,'fast_retry':false,'unhealthy_threshold':5}"),
		 "web",
		 "a server that falls silent gets connections for up to 35.0 s (interval 6000 ms, timeout 5000 ms, "
		 "unhealthy_threshold 5, fast_retry off)"},
		{CHECK("{'type':'tcp','path':null}"), "web",
		 "probes end in RST, which some servers log: about 28800 lines a "
		 "day each; \"fin\" closes politely"},
		{CHECK("{'type':'http','path':'/'}"), "web",
		 "the check asks for \"/\", the front page: about 28800 log lines a day on every server "
		 "(one every 3000 ms), and it fails with whatever that page needs; give a path of its own, "
		 "keep it out of the log, or use type tcp (handshake half_open leaves no trace)"},
		{DNS("{'enabled':true,'type':'udp','port':5060}"), "dns",
		 "port 5060 is probed with the default datagram, a DNS query for example.com: a server "
		 "that does not speak DNS will hardly answer it; set what it answers"},
		{CHECK("{'interval_ms':100,'timeout_ms':50}"), "web",
		 "every gateway sends 10.0.0.1 10.0 probes/s, by 1 different probe (this group's interval "
		 "is 100 ms)"},
		{"{'zones':{'zc':{}},'server_groups':{'web':{'health_check':{'interval_ms':1500,'timeout_ms':1000}}}}",
		 "web",
		 "every gateway probes: with one at least in each of the 3 zones a server gets 2.0 probes/s "
		 "(interval 1500 ms)"},
		{"{'load_balancers':{'shop':{'dns_name':'shop.example.net'}}}", "shop",
		 "a failed zone is out of the answers within 9.0 s, and clients may use its address for 60 s more "
		 "(dns_ttl_s); with 9 s that wait is no longer than the detection"},
		{NEAR("'scheduler':'sh'"), "shop",
		 "server w2 is a client of the VIP (10.0.0.2 is in client_subnets of zone zb), and sh keeps a "
		 "client at one server: if that is the client itself, none of its connections works, and no "
		 "retry goes elsewhere"},
		{NEAR("'port':80"), "shop",
		 "server w2 is a client of the VIP (10.0.0.2 is in client_subnets of zone zb), and what it or a "
		 "server beside it answers passes the gateway by, so that its connections hang: set snat of the "
		 "load balancer to auto"},
		{CHECK("{'interval_ms':50000}"), "web",
		 "a server that fails now and then, never 3 times in a row, stays healthy; with one probe "
		 "every 50000 ms and no window nothing catches it"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct advices a = {0};
		struct snapshot *s = fixture_snapshot(fixture_patched(cases[i].patch));
		give(s, cases[i].object, &a);
		assert_string_equal(a.last_detail, cases[i].detail);
		release(&a);
		snapshot_unref(s);
	}
}

// One address in several groups: each distinct probe counts, of used groups only, once.
static void probes_of_a_backend_are_counted(void **state)
{
#define FAST "'health_check':{'type':'http','path':'/up','interval_ms':400,'timeout_ms':100}"
	static const struct {
		const char *patch;
		const char *advice;
	} cases[] = {
		{WEB("{" FAST "}"), ""},
		{"{'server_groups':{'web':{" FAST "},'spare':{" FAST
		 ",'servers':{'s1':{'address':'10.0.0.1','port':9000}}}}}",
		 ""}, // unused: not probed
		{"{'server_groups':{'web':{" FAST
		 ",'when_none_healthy':'backup','backup_group':'spare'},"
		 "'spare':{" FAST ",'servers':{'s1':{'address':'10.0.0.1','port':9000}}}}}",
		 ""}, // exactly 5
		{"{'server_groups':{'web':{" FAST
		 ",'when_none_healthy':'backup','backup_group':'spare'},"
		 "'spare':{" FAST ",'servers':{'s1':{'address':'10.0.0.1','port':9000},"
		 "'s2':{'address':'10.0.0.1','port':9001}}}}}",
		 "many_probes " AT_CHECK "/interval_ms\n"},
		{"{'server_groups':{'web':{" FAST
		 ",'when_none_healthy':'backup','backup_group':'spare'},"
		 "'spare':{" FAST ",'servers':{'s1':{'address':'10.0.0.1','port':9000},"
		 "'s2':{'address':'10.0.0.1','port':9001,'enabled':false}}}}}",
		 "many_probes " AT_CHECK "/interval_ms\n"}, // probed on
		{"{'server_groups':{'web':{" FAST ",'backup_group':'spare'},"
		 "'spare':{" FAST ",'servers':{'s1':{'address':'10.0.0.1','port':9000},"
		 "'s2':{'address':'10.0.0.1','port':9001}}}}}",
		 ""}, // no backup as long as it is not asked for
		{"{'server_groups':{'web':{'health_check':{'type':'icmp','path':null,'interval_ms':400,"
		 "'timeout_ms':100},'when_none_healthy':'backup','backup_group':'spare'},"
		 "'spare':{'health_check':{'type':'icmp','interval_ms':400,'timeout_ms':100},'servers':{"
		 "'s1':{'address':'10.0.0.1','port':9000},'s2':{'address':'10.0.0.1','port':9001}}}}}",
		 ""}, // the same probe, which has no port
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].patch, "web", cases[i].advice);
#undef FAST
}

// What a server is shown: of every group in use, each different probe of its address once.
static void load_of_a_backend_is_known(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_patched(
		"{'server_groups':{'web':{'when_none_healthy':'backup','backup_group':'spare'},"
		"'spare':{'health_check':{'interval_ms':1000},'servers':{'s1':{'address':'10.0.0.1','port':80},"
		"'s2':{'address':'10.0.0.1','port':81}}}}}"));
	struct advice_load load;
	struct addr a;
	(void)state;
	assert_int_equal(addr_parse("10.0.0.1", &a), 0);
	advice_probe_load(s, &a, &load);
	assert_int_equal(load.different, 3); /* http of 8080; tcp of 80 and of 81 */
	assert_int_equal((int)(load.per_second * 1000), 2333);
	assert_int_equal(addr_parse("10.0.0.2", &a), 0);
	advice_probe_load(s, &a, &load);
	assert_int_equal(load.different, 1);
	assert_int_equal((int)(load.per_second * 1000), 333);
	assert_int_equal(addr_parse("10.0.2.1", &a), 0); /* its check is off */
	advice_probe_load(s, &a, &load);
	assert_int_equal(load.different, 0);
	assert_true(load.per_second == 0);
	snapshot_unref(s);
}

// A node that holds the VIPs of both zones.
static void zones_on_one_gateway_are_told(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_patched("{}"));
	const struct advice_place at = {.snapshot = s};
	struct advices a = {0};
	(void)state;
	advice_give_lb(&at, snapshot_find_lb(s, "shop"), collect, &a);
	assert_string_equal(a.text, "zones_on_one_gateway " AT_SHOP "/zones\n");
	assert_string_equal(a.last_detail,
			    "this node holds the VIPs of 2 of the 2 zones: when it fails they fail "
			    "together; give each zone a gateway of its own ([node] zones)");
	release(&a);
	snapshot_unref(s);
}

// Where no apex is set any name is taken.
static void names_without_an_apex_are_told(void **state)
{
	struct snapshot *s = fixture_snapshot(
		fixture_patched("{'load_balancers':{'names':{'dns_name':'n.example.net'}}}"));
	const struct advice_place at = {.snapshot = s};
	struct advices a = {0};
	(void)state;
	advice_give_lb(&at, snapshot_find_lb(s, "names"), collect, &a);
	assert_string_equal(a.text, "one_zone /load_balancers/names/zones\n"
				    "dns_name_without_apex /load_balancers/names/dns_name\n");
	assert_string_equal(
		a.last_detail,
		"any name is taken while no apex is set ([dns] apex), and n.example.net is served as "
		"an apex of its own, which the zone above must delegate by itself");
	release(&a);
	snapshot_unref(s);
}

static void sources_are_told(void **state)
{
	static const struct {
		const char *patch;
		const char *detail;
	} cases[] = {
		{"{}",
		 "the servers must let in probes (http) from the address that each gateway has towards "
		 "them; source_address would name one"},
		{CHECK("{'source_address':'10.9.0.1'}"),
		 "the servers must let in probes (http) from 10.9.0.1, of every gateway"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct advices a = {.everything = true};
		struct snapshot *s = fixture_snapshot(fixture_patched(cases[i].patch));
		give(s, "web", &a);
		assert_string_equal(a.text, "probe_sources " AT_CHECK "/source_address\n");
		assert_string_equal(a.last_detail, cases[i].detail);
		release(&a);
		snapshot_unref(s);
	}
}

// A check by itself: nothing is known of servers and zones.
static void a_check_alone_gets_advice(void **state)
{
	static const struct {
		const char *check;
		const char *advice;
	} cases[] = {
		{"{'type':'http','path':'/up'}", ""},
		{"{'type':'http','path':'/up','interval_ms':50000,'unhealthy_threshold':2}",
		 "slow_detection /health_check\nintermittent_failure_unseen /health_check/window\n"},
		{"{'type':'http','path':'/up','interval_ms':100,'timeout_ms':50}",
		 "many_probes /health_check/interval_ms\n"},
		{"{'type':'udp'}", ""},
		{"{'type':'udp','port':123}", "dns_request_by_default /health_check/request\n"},
		{"{'enabled':false}", "health_check_disabled /health_check/enabled\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *body = mem_printf("{'protocol':'tcp','health_check':%s}", cases[i].check);
		json_t *json = fixture_json(body);
		struct err e = {0};
		struct object *o = NULL;
		struct advices a = {0};
		if (object_decode(OBJECT_SERVER_GROUP, "g", json, "", &e, &o) < 0)
			fail_msg("%s", err_first(&e));
		advice_give_check((const struct server_group *)o, collect, &a);
		assert_string_equal(a.text ? a.text : "", cases[i].advice);
		release(&a);
		object_unref(o);
		json_decref(json);
		free(body);
	}
}

// A server that fails every other probe, one probe every 50 s: told when it is configured, and caught with a window.
static unsigned results_until_down(const struct health_check *c, unsigned most)
{
	const struct health_settings settings = window_settings(c);
	struct health h;
	health_init(&h, HEALTH_HEALTHY);
	for (unsigned i = 1; i <= most; i++) {
		struct health_result r = {.verdict = i % 2 ? PROBE_FAIL_ACTIVE : PROBE_PASS,
					  .reason = i % 2 ? REASON_CONNECT_REFUSED : REASON_NONE,
					  .planned = i * settings.interval,
					  .ended = i * settings.interval + USEC_PER_MS};
		usec_t next;
		if (health_step(&h, &settings, &r, &next) == HEALTH_EDGE_DOWN) {
			assert_int_equal(h.reason, REASON_FAILING_INTERMITTENTLY);
			return i;
		}
	}
	return 0;
}

static void every_other_probe_fails(void **state)
{
#define STORY "'interval_ms':50000,'timeout_ms':1000,'unhealthy_threshold':2"
	struct snapshot *bare = fixture_snapshot(fixture_patched(CHECK("{" STORY "}")));
	struct snapshot *caught = fixture_snapshot(
		fixture_patched(CHECK("{" STORY ",'window':{'failures':5,'of':10}}")));
	struct advices before = {0};
	struct advices after = {0};
	(void)state;
	give(bare, "web", &before);
	give(caught, "web", &after);
	assert_non_null(strstr(before.text, "intermittent_failure_unseen " AT_CHECK "/window\n"));
	assert_null(strstr(after.text, "intermittent_failure_unseen"));
	assert_int_equal(results_until_down(&snapshot_find_group(bare, "web")->health_check, 10000),
			 0);
	assert_int_equal(results_until_down(&snapshot_find_group(caught, "web")->health_check, 100),
			 9);
	release(&before);
	release(&after);
	snapshot_unref(bare);
	snapshot_unref(caught);
#undef STORY
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_get_advice),
		cmocka_unit_test(load_balancers_get_advice),
		cmocka_unit_test(texts_have_numbers),
		cmocka_unit_test(probes_of_a_backend_are_counted),
		cmocka_unit_test(load_of_a_backend_is_known),
		cmocka_unit_test(zones_on_one_gateway_are_told),
		cmocka_unit_test(names_without_an_apex_are_told),
		cmocka_unit_test(sources_are_told),
		cmocka_unit_test(a_check_alone_gets_advice),
		cmocka_unit_test(every_other_probe_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
