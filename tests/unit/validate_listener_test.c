// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/buf.h"
#include "model/validation.h"
#include "model_fixture.h"

#define HTTP(members) "{'load_balancers':{'shop':{'listeners':{'http':" members "}}}}"
#define DNS(members)  "{'load_balancers':{'names':{'listeners':{'dns':" members "}}}}"
#define AT_HTTP       "/load_balancers/shop/listeners/http"
#define AT_DNS        "/load_balancers/names/listeners/dns"

static void listeners_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{"{}", ""},
		{HTTP("{'server_group':'nope'}"), "unknown_reference " AT_HTTP "/server_group\n"},
		{HTTP("{'server_group':'dns'}"), "incompatible " AT_HTTP "/protocol\n"},
		{HTTP("{'protocol':'udp'}"), "incompatible " AT_HTTP "/protocol\n"},
		{HTTP("{'protocol':null}"), "missing_member " AT_HTTP "/protocol\n"},
		{HTTP("{'port':0}"), "out_of_range " AT_HTTP "/port\n"},
		{HTTP("{'port':65536}"), "out_of_range " AT_HTTP "/port\n"},
		{HTTP("{'scheduler':'mh','scheduler_flags':['sh-port']}"),
		 "incompatible " AT_HTTP "/scheduler_flags\n"},
		{HTTP("{'scheduler':'sh','scheduler_flags':['sh-port','sh-fallback']}"), ""},
		{HTTP("{'scheduler':'sh','scheduler_flags':['mh-port']}"),
		 "incompatible " AT_HTTP "/scheduler_flags\n"},
		{HTTP("{'scheduler':'rr','scheduler_flags':[]}"),
		 "incompatible " AT_HTTP "/scheduler_flags\n"},
		{HTTP("{'scheduler':'my-own_1'}"), ""},
		{HTTP("{'scheduler':'RR'}"), "bad_format " AT_HTTP "/scheduler\n"},
		{HTTP("{'scheduler':'abcdefghijklmnop'}"),
		 "limit_exceeded " AT_HTTP "/scheduler\n"},
		{HTTP("{'one_packet':true}"), "incompatible " AT_HTTP "/one_packet\n"},
		{DNS("{'one_packet':true}"), ""},
		{HTTP("{'persistence_engine':'sip','persistence_s':60}"),
		 "incompatible " AT_HTTP "/persistence_engine\n"},
		{DNS("{'persistence_engine':'sip'}"),
		 "incompatible " AT_DNS "/persistence_engine\n"},
		{DNS("{'persistence_engine':'sip','persistence_s':60}"), ""},
		{HTTP("{'persistence_netmask':'255.255.0.255'}"),
		 "out_of_range " AT_HTTP "/persistence_netmask\n"},
		{HTTP("{'persistence_netmask':'255.255.254.0'}"), ""},
		{HTTP("{'persistence_netmask':'ffff::'}"),
		 "bad_format " AT_HTTP "/persistence_netmask\n"},
		{HTTP("{'rate_limit':1000000}"), ""},
		{DNS("{'rate_limit':1}"), ""},
		{HTTP("{'rate_limit':1000001}"), "out_of_range " AT_HTTP "/rate_limit\n"},
		{HTTP("{'rate_limit':5,'port':null,'port_range':[80,90]}"), ""},
		{"{'server_groups':{'web':{'protocol':'sctp'}},'load_balancers':{'shop':{'listeners':{'http':"
		 "{'protocol':'sctp','rate_limit':5,'port':null,'port_range':[80,90]}}}}}",
		 "incompatible " AT_HTTP "/rate_limit\n"},
		{HTTP("{'max_connections':1000000}"), ""},
		{DNS("{'max_connections':1}"), ""},
		{HTTP("{'max_connections':1000001}"), "out_of_range " AT_HTTP "/max_connections\n"},
		{HTTP("{'max_connections':5,'port':null,'port_range':[80,90]}"), ""},
		{HTTP("{'persistence_prefix':129}"),
		 "out_of_range " AT_HTTP "/persistence_prefix\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

#define SNAT(groups) "{'load_balancers':{'shop':{'snat':'on'}}" groups "}"

static void snat_takes_nat_alone(void **state)
{
	static const struct fixture_case cases[] = {
		{SNAT(""), ""},
		{SNAT(",'server_groups':{'web':{'forward_method':'direct'}}"),
		 "incompatible /server_groups/web/servers/w1/port\n"
		 "incompatible /server_groups/web/servers/w2/port\n"
		 "incompatible /load_balancers/shop/snat\n"},
		{"{'load_balancers':{'shop':{'snat':'auto'}}}", ""},
		{"{'load_balancers':{'shop':{'snat':'auto'}},'server_groups':{'web':{'forward_method':'direct'}}}",
		 "incompatible /server_groups/web/servers/w1/port\n"
		 "incompatible /server_groups/web/servers/w2/port\n"
		 "incompatible /load_balancers/shop/snat\n"},
		{"{'load_balancers':{'shop':{'listeners':{'http':{'port':8080,'max_connections':5}}}},"
		 "'server_groups':{'web':{'forward_method':'direct'}}}",
		 "incompatible " AT_HTTP "/max_connections\n"},
		{"{'load_balancers':{'shop':{'snat':'yes'}}}",
		 "out_of_range /load_balancers/shop/snat\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

/* Each listener with one is a rule. */
static void ceilings_are_few(void **state)
{
	AUTO_BUF struct buf_writer w = {0};

	(void)state;
	buf_writer_init(&w, 65536);
	buf_write_text(&w, "{'load_balancers':{'shop':{'listeners':{'http':{'max_connections':1}");
	for (unsigned i = 1; i < MODEL_CEILINGS_MAX; i++)
		buf_write_format(
			&w,
			",'l%u':{'protocol':'tcp','port':%u,'server_group':'web','max_connections':9}",
			i, 1000 + i);
	AUTO_FREE char *most = mem_printf("%s}}}}", buf_text(&w));
	buf_write_text(
		&w,
		",'m':{'protocol':'tcp','port':999,'server_group':'web','max_connections':9}}}}}");
	const struct fixture_case cases[] = {
		{most, ""},
		{buf_text(&w),
		 "limit_exceeded /load_balancers/shop/listeners/m/max_connections\n"}};

	FIXTURE_JUDGE_ALL(cases);
}

/* Each with a range is a rule, whatever its rate. */
static void ranges_with_a_rate_are_few(void **state)
{
	AUTO_BUF struct buf_writer w = {0};

	(void)state;
	buf_writer_init(&w, 65536);
	buf_write_text(&w, "{'load_balancers':{'shop':{'listeners':{'http':{'rate_limit':1}");
	for (unsigned i = 0; i < MODEL_RANGE_RATES_MAX; i++)
		buf_write_format(
			&w,
			",'l%u':{'protocol':'tcp','port_range':[%u,%u],'server_group':'web',"
			"'rate_limit':9}",
			i, 1000 + 2 * i, 1001 + 2 * i);
	AUTO_FREE char *most = mem_printf("%s}}}}", buf_text(&w));
	buf_write_text(&w, ",'m':{'protocol':'tcp','port_range':[900,901],'server_group':'web',"
			   "'rate_limit':9}}}}}");
	const struct fixture_case cases[] = {
		{most, ""},
		{buf_text(&w), "limit_exceeded /load_balancers/shop/listeners/m/rate_limit\n"}};

	FIXTURE_JUDGE_ALL(cases);
}

/* Each group behind snat auto is a rule, however many listeners it has; behind snat on it is none. */
static void groups_behind_snat_auto_are_few(void **state)
{
	AUTO_BUF struct buf_writer groups = {0};
	AUTO_BUF struct buf_writer listeners = {0};

	(void)state;
	buf_writer_init(&groups, 1 << 20);
	buf_writer_init(&listeners, 1 << 20);
	for (unsigned i = 1; i < MODEL_SNAT_GROUPS_MAX; i++) {
		buf_write_format(
			&groups,
			"%s'g%u':{'protocol':'tcp','servers':{'s':{'address':'10.9.%u.%u','port':80}}}",
			i > 1 ? "," : "", i, i / 250, i % 250 + 1);
		buf_write_format(&listeners,
				 ",'l%u':{'protocol':'tcp','port':%u,'server_group':'g%u'}", i,
				 1000 + i, i);
	}
	buf_write_text(
		&groups,
		",'more':{'protocol':'tcp','servers':{'s':{'address':'10.9.9.9','port':80}}}");
	for (unsigned k = 0; k < 3; k++) {
		static const char *const cases[][3] = {
			{"auto", "web", ""},
			{"on", "more", ""},
			{"auto", "more", "limit_exceeded /load_balancers/shop/snat\n"}};
		AUTO_FREE char *text = mem_printf(
			"{'server_groups':{%s},'load_balancers':{'shop':{'snat':'%s','listeners':{"
			"'http':{'server_group':'web'}%s,'m':{'protocol':'tcp','port':999,'server_group':'%s'}}}}}",
			buf_text(&groups), cases[k][0], buf_text(&listeners), cases[k][1]);
		const struct fixture_case one[] = {{text, cases[k][2]}};

		FIXTURE_JUDGE_ALL(one);
	}
}

/* Each rate is a rule: 64 different ones, however often each is used. */
static void rates_are_few(void **state)
{
	struct buf_writer w = {0};

	(void)state;
	buf_writer_init(&w, 65536);
	buf_write_text(&w, "{'load_balancers':{'shop':{'listeners':{'http':{'rate_limit':64}");
	for (unsigned i = 1; i <= 64; i++)
		buf_write_format(
			&w,
			",'l%u':{'protocol':'tcp','port':%u,'server_group':'web','rate_limit':%u}",
			i, 1000 + i, i);
	buf_write_text(&w, "}}}}");
	char *few AUTO_FREE = mem_strdup(buf_text(&w));
	const struct fixture_case enough[] = {{few, ""}};
	FIXTURE_JUDGE_ALL(enough);
	w.size -= 4;
	buf_write_text(
		&w, ",'m':{'protocol':'tcp','port':999,'server_group':'web','rate_limit':65}}}}}");
	const struct fixture_case many[] = {
		{buf_text(&w), "limit_exceeded /load_balancers/shop/listeners/m/rate_limit\n"}};
	FIXTURE_JUDGE_ALL(many);
	free(buf_take(&w));
}

#define SHOP(members) "{'load_balancers':{'shop':" members "}}"
#define AT_SHOP       "/load_balancers/shop"

static void zones_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{SHOP("{'zones':{'zc':{'vip4':'192.0.2.9'}}}"),
		 "unknown_reference " AT_SHOP "/zones/zc\n"},
		{SHOP("{'zones':{'za':{'vip4':null}}}"), "missing_member " AT_SHOP "/zones/za\n"},
		{SHOP("{'zones':null}"), "missing_member " AT_SHOP "/zones\n"},
		{SHOP("{'zones':{'za':{'vip4':'2001:db8::1'}}}"),
		 "bad_format " AT_SHOP "/zones/za/vip4\n"},
		{SHOP("{'zones':{'za':{'vip6':'192.0.2.1'}}}"),
		 "bad_format " AT_SHOP "/zones/za/vip6\n"},
		{SHOP("{'zones':{'za':{'vip4':'224.0.0.1'}}}"),
		 "out_of_range " AT_SHOP "/zones/za/vip4\n"},
		{SHOP("{'zones':{'za':{'vip4':'0.0.0.0'}}}"),
		 "out_of_range " AT_SHOP "/zones/za/vip4\n"},
		{SHOP("{'zones':{'za':{'vip4':'255.255.255.255'}}}"),
		 "out_of_range " AT_SHOP "/zones/za/vip4\n"},
		{SHOP("{'zones':{'za':{'vip6':'fe80::1'}}}"),
		 "out_of_range " AT_SHOP "/zones/za/vip6\n"},
		{SHOP("{'zones':{'za':{'vip4':'127.0.0.5'}}}"), ""},
		// the same VIP: in two zones of one, in another one with the same and another port
		{SHOP("{'zones':{'zb':{'vip4':'192.0.2.1'}}}"),
		 "duplicate " AT_SHOP "/zones/zb/vip4\n"},
		{"{'load_balancers':{'other':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{'x':{'protocol':"
		 "'tcp','port':80,'server_group':'spare'}}}}}",
		 "duplicate " AT_SHOP "/listeners/http/port\n"},
		{"{'load_balancers':{'other':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{'x':{'protocol':"
		 "'tcp','port':81,'server_group':'spare'}}}}}",
		 ""},
		{SHOP("{'listeners':{'again':{'protocol':'tcp','port':80,'server_group':'spare'}}}"),
		 "duplicate " AT_SHOP "/listeners/http/port\n"},
		{"{'load_balancers':{'names':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{'dns':{'port':80}}}}}",
		 ""},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

static void count_of_zones_is_bounded(void **state)
{
	for (int count = 10; count <= 11; count++) {
		json_t *document = fixture_json(FIXTURE_DOCUMENT);
		json_t *zones = json_object_get(document, "zones");
		json_t *lb = json_object_get(json_object_get(document, "load_balancers"), "shop");
		json_t *used = json_object();
		for (int i = 0; i < count; i++) {
			char name[32];
			char vip[32];
			snprintf(name, sizeof(name), "z%d", i);
			snprintf(vip, sizeof(vip), "192.0.2.%d", 100 + i);
			json_object_set_new(zones, name, json_object());
			json_object_set_new(used, name, json_pack("{s:s}", "vip4", vip));
		}
		json_object_set_new(lb, "zones", used);
		fixture_judge_document(
			document, count > 10 ? "limit_exceeded " AT_SHOP "/zones\n" : "", "zones");
	}
	(void)state;
}

// sh has 256 slots; one server more is refused.
static void sh_takes_256_servers(void **state)
{
	(void)state;
	for (int count = 256; count <= 257; count++) {
		json_t *document = fixture_patched(
			"{'load_balancers':{'shop':{'listeners':{'http':{'scheduler':'sh'}}}}}");
		json_t *web = json_object_get(json_object_get(document, "server_groups"), "web");
		json_t *servers = json_object();
		for (int i = 0; i < count; i++) {
			char name[32];
			char address[32];
			snprintf(name, sizeof(name), "s%d", i);
			snprintf(address, sizeof(address), "10.1.%d.%d", i / 256, i % 256);
			json_object_set_new(
				servers, name,
				json_pack("{s:s, s:i}", "address", address, "port", 80));
		}
		json_object_set_new(web, "servers", servers);
		fixture_judge_document(document,
				       count > 256 ? "limit_exceeded " AT_HTTP "/scheduler\n" : "",
				       "sh");
	}
}

static void ranges_do_not_overlap(void **state)
{
	static const struct {
		const char *second;
		const char *other; /* beside shop */
		const char *groups;
		const char *faults;
	} cases[] = {
		{"'port_range':[8101,8200]", "", "", ""},
		{"'port_range':[1,7999]", "", "", ""},
		{"'port_range':[8100,8200]", "", "",
		 "duplicate /load_balancers/shop/listeners/second/port_range\n"},
		{"'port_range':[1,8000]", "", "",
		 "duplicate /load_balancers/shop/listeners/second/port_range\n"},
		{"'port_range':[1,65535]", "", "",
		 "duplicate /load_balancers/shop/listeners/second/port_range\n"},
		{"'port_range':[8050,8051]", "", "",
		 "duplicate /load_balancers/shop/listeners/second/port_range\n"},
		/* One port is the more specific, and may lie within a range. */
		{"'port':8050", "", "", ""},
		/* Another protocol, another VIP. */
		{"'port':80",
		 ",'two':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{'x':{'protocol':'udp',"
		 "'server_group':'dns','port_range':[1,65535]}}}",
		 "", ""},
		{"'port':80",
		 ",'two':{'zones':{'za':{'vip4':'192.0.2.9'}},'listeners':{'x':{'protocol':'tcp',"
		 "'server_group':'web','port_range':[1,65535]}}}",
		 "", ""},
		{"'port':80",
		 ",'two':{'zones':{'za':{'vip4':'192.0.2.1'}},'listeners':{'x':{'protocol':'tcp',"
		 "'server_group':'web','port_range':[1,65535]}}}",
		 "", "duplicate /load_balancers/two/listeners/x/port_range\n"},
		/* The kernel cannot change the port: a server has 0. */
		{"'port':80", "",
		 ",'server_groups':{'web':{'forward_method':'direct','servers':{'w1':{'port':80},'w2':{'port':80}}}}",
		 "incompatible /server_groups/web/servers/w1/port\n"
		 "incompatible /server_groups/web/servers/w2/port\n"},
		{"'port':80", "",
		 ",'server_groups':{'web':{'forward_method':'direct','health_check':{'port':80},"
		 "'servers':{'w1':{'port':0},'w2':{'port':0}}}}",
		 ""},
		/* Port 0 is none that can be probed. */
		{"'port':80", "", ",'server_groups':{'web':{'servers':{'w1':{'port':0}}}}",
		 "missing_member /server_groups/web/health_check/port\n"},
		/* In the kernel port 0 and another one are two servers. */
		{"'port_range':[9000,9001]", "",
		 ",'server_groups':{'web':{'health_check':{'port':80},'servers':{'w1':{'port':0},"
		 "'w3':{'address':'10.0.0.1','port':8080}}}}",
		 ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char patch[1024];

		snprintf(
			patch, sizeof(patch),
			"{'load_balancers':{'shop':{'listeners':{'http':{'port':null,'port_range':[8000,8100]},"
			"'second':{'protocol':'tcp','server_group':'web',%s}}}%s}%s}",
			cases[i].second, cases[i].other, cases[i].groups);
		fixture_judge_document(fixture_patched(patch), cases[i].faults, patch);
	}
}

/* What is written collides with what was there, whatever the order of their names, and by whichever way it gets there. */
static void who_comes_later_is_at_fault(void **state)
{
	static const struct {
		struct object_path path;
		const char *body;
		const char *faults;
	} cases[] = {
		{{OBJECT_LISTENER, "shop", "all"},
		 "{'protocol':'tcp','server_group':'web','port_range':[8050,8200]}",
		 "duplicate /port_range\n"},
		{{OBJECT_LISTENER, "shop", "zap"},
		 "{'protocol':'tcp','server_group':'web','port_range':[8050,8200]}",
		 "duplicate /port_range\n"},
		{{OBJECT_LISTENER, "one", "x"},
		 "{'protocol':'tcp','server_group':'web','port_range':[1,65535]}",
		 ""},
		{{OBJECT_LISTENER, "shop", "all"},
		 "{'protocol':'tcp','server_group':'web','port':443}",
		 "duplicate /port\n"},
		{{OBJECT_LB_ZONE, "one", "za"}, "{'vip4':'192.0.2.1'}", "duplicate /vip4\n"},
	};
	struct snapshot *base = fixture_snapshot(fixture_patched(
		"{'load_balancers':{'shop':{'listeners':{'http':{'port':null,'port_range':[8000,8100]},"
		"'https':{'protocol':'tcp','server_group':'web','port':443}}},"
		"'one':{'zones':{'za':{'vip4':'192.0.2.99'}},'listeners':{'x':{'protocol':'tcp',"
		"'server_group':'web','port':443}}}}}"));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *body = fixture_json(cases[i].body);
		struct change_request r = fixture_request(CHANGE_OBJECT, body);
		struct err e = {0};
		struct batch *b = NULL;
		struct snapshot *s = NULL;
		int result;

		r.path = cases[i].path;
		result = change_build(base, &r, &e, &b, &s);
		fixture_expect_faults(&e, cases[i].faults, cases[i].body);
		if (result == 0) {
			batch_free(b);
			snapshot_unref(s);
		}
		json_decref(body);
	}
	snapshot_unref(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listeners_are_judged),
		cmocka_unit_test(rates_are_few),
		cmocka_unit_test(ceilings_are_few),
		cmocka_unit_test(groups_behind_snat_auto_are_few),
		cmocka_unit_test(ranges_with_a_rate_are_few),
		cmocka_unit_test(snat_takes_nat_alone),
		cmocka_unit_test(zones_are_judged),
		cmocka_unit_test(count_of_zones_is_bounded),
		cmocka_unit_test(sh_takes_256_servers),
		cmocka_unit_test(ranges_do_not_overlap),
		cmocka_unit_test(who_comes_later_is_at_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
