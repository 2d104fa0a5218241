// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

struct check_case {
	const char *check; /* members of the health check */
	const char *faults;
};

static void expect(const struct check_case *c)
{
	struct err e = {0};
	struct object *o = NULL;
	char *body = mem_printf("{'protocol':'tcp','health_check':{%s}}", c->check);
	json_t *json = fixture_json(body);
	if (object_decode(OBJECT_SERVER_GROUP, "g", json, "", &e, &o) == 0)
		object_unref(o);
	fixture_expect_faults(&e, c->faults, body);
	json_decref(json);
	free(body);
}

static struct server_group *decoded(const char *body)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *json = fixture_json(body);
	if (object_decode(OBJECT_SERVER_GROUP, "g", json, "", &e, &o) < 0)
		fail_msg("%s: %s", body, err_first(&e));
	json_decref(json);
	return (struct server_group *)o;
}

// ---- which member goes with which type --------------------------------------------------------

static const char *const type_names[] = {"tcp",  "http",     "https", "tls", "udp",
					 "icmp", "icmp_udp", "grpc",  "dns"};

static const struct {
	const char *member;
	const char *types; /* all that it goes with; "" = every one */
} members[] = {
	{"'interval_ms':1000", ""},
	{"'window':{'failures':1,'of':2}", ""},
	{"'source_address':'10.0.0.9'", ""},
	{"'fwmark':7", ""},
	{"'preset':'baidu-blb'", ""},
	{"'port':80", " tcp http https tls udp icmp_udp grpc dns "},
	{"'handshake':'half_open'", " tcp "},
	{"'close':'fin'", " tcp tls "},
	{"'watch':true", " tcp http "},
	{"'reuse_connection':true", " http "},
	{"'method':'GET'", " http https "},
	{"'path':'/x'", " http https "},
	{"'host':'x'", " http https "},
	{"'expected_status':'204'", " http https "},
	{"'expected_body':'x'", " http https "},
	{"'sni':'x'", " https tls "},
	{"'verify':true", " https tls "},
	{"'request':'x'", " udp icmp_udp "},
	{"'expect':'no_unreachable'", " udp "},
	{"'expected_reply':'x'", " udp "},
	{"'service':'x'", " grpc "},
	{"'name':'x'", " dns "},
	{"'qtype':'AAAA'", " dns "},
	{"'accepted_rcodes':['NXDOMAIN']", " dns "},
};

static void members_go_with_their_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const char *member = members[i].member;
		int length = (int)strcspn(member + 1, "'");
		for (size_t t = 0; t < sizeof(type_names) / sizeof(type_names[0]); t++) {
			char *word = mem_printf(" %s ", type_names[t]);
			bool allowed = members[i].types[0] == '\0' ||
				       strstr(members[i].types, word);
			char *check = mem_printf("'type':'%s',%s", type_names[t], member);
			char *faults = allowed ? mem_strdup("")
					       : mem_printf("incompatible /health_check/%.*s\n",
							    length, member + 1);
			expect(&(const struct check_case){check, faults});
			free(word);
			free(check);
			free(faults);
		}
	}
}

static void members_that_hang_on_others(void **state)
{
	static const struct check_case cases[] = {
		{"'handshake':'half_open','close':'rst'", "incompatible /health_check/close\n"},
		{"'handshake':'half_open','watch':true", "incompatible /health_check/watch\n"},
		{"'handshake':'full','close':'fin','watch':true", ""},
		{"'type':'https','ca_file':'/etc/ca.pem'", "incompatible /health_check/ca_file\n"},
		{"'type':'https','verify':false,'ca_file':'/etc/ca.pem'",
		 "incompatible /health_check/ca_file\n"},
		{"'type':'tls','verify':true,'ca_file':'/etc/ca.pem'", ""},
		{"'type':'udp','expect':'no_unreachable','expected_reply':'x'",
		 "incompatible /health_check/expected_reply\n"},
		{"'type':'udp','expect':'reply','expected_reply':'x'", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(&cases[i]);
}

// ---- single values ----------------------------------------------------------------------------

#define LABEL_63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"

static void values_are_checked(void **state)
{
	static const struct check_case cases[] = {
		{"'type':'telnet'", "out_of_range /health_check/type\n"},
		{"'handshake':'quarter'", "out_of_range /health_check/handshake\n"},
		{"'type':'tls','verify':true,'ca_file':'ca.pem'",
		 "bad_format /health_check/ca_file\n"},
		{"'type':'tls','verify':true,'ca_file':'/a\\nb'",
		 "bad_format /health_check/ca_file\n"},
		{"'type':'tls','sni':'192.0.2.1'", "bad_format /health_check/sni\n"},
		{"'type':'tls','sni':'2001:db8::1'", "bad_format /health_check/sni\n"},
		{"'type':'tls','sni':'a..b'", "bad_format /health_check/sni\n"},
		{"'type':'tls','sni':'a.b.'", "bad_format /health_check/sni\n"},
		{"'type':'tls','sni':'www.example.com'", ""},
		{"'type':'grpc','service':'my.pkg.Service'", ""},
		{"'type':'grpc','service':'a b'", "bad_format /health_check/service\n"},
		{"'type':'grpc','service':''", "limit_exceeded /health_check/service\n"},
		{"'type':'dns','name':'.'", ""},
		{"'type':'dns','name':'_sip._udp.example.com.'", ""},
		{"'type':'dns','name':'" LABEL_63 ".example'", ""},
		{"'type':'dns','name':'" LABEL_63 "4.example'", "bad_format /health_check/name\n"},
		{"'type':'dns','name':'.example'", "bad_format /health_check/name\n"},
		{"'type':'dns','name':'a b'", "bad_format /health_check/name\n"},
		{"'type':'dns','qtype':'a'", "out_of_range /health_check/qtype\n"},
		{"'type':'dns','qtype':1", "wrong_type /health_check/qtype\n"},
		{"'type':'dns','accepted_rcodes':[]",
		 "limit_exceeded /health_check/accepted_rcodes\n"},
		{"'type':'dns','accepted_rcodes':['NOERROR','NOERROR']",
		 "duplicate /health_check/accepted_rcodes\n"},
		{"'type':'dns','accepted_rcodes':'NOERROR'",
		 "wrong_type /health_check/accepted_rcodes\n"},
		{"'type':'udp','request':'\\\\00\\\\ff\\\\\\\\ ~'", ""},
		{"'type':'udp','request':'\\\\0g'", "bad_format /health_check/request\n"},
		{"'type':'udp','request':'\\n'", "bad_format /health_check/request\n"},
		{"'type':'udp','request':'\\u00e4'", "bad_format /health_check/request\n"},
		{"'type':'udp','request':''", "limit_exceeded /health_check/request\n"},
		{"'preset':'gcp'", "out_of_range /health_check/preset\n"},
		{"'preset':null", "wrong_type /health_check/preset\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(&cases[i]);
}

// The limit counts what is sent, whatever way it is written; the length is said.
static void requests_are_measured_unescaped(void **state)
{
	(void)state;
	for (size_t bytes = 512; bytes <= 513; bytes++) {
		char *text = mem_alloc(3 * bytes + 1);
		for (size_t i = 0; i < bytes; i++)
			memcpy(text + 3 * i, "\\0a", 3);
		struct err e = {0};
		struct object *o = NULL;
		json_t *body = json_pack("{s:s, s:{s:s}}", "protocol", "udp", "health_check",
					 "request", text);
		int r = object_decode(OBJECT_SERVER_GROUP, "g", body, "", &e, &o);
		assert_int_equal(r<0, bytes> 512);
		if (r < 0)
			assert_string_equal(
				e.faults[0].detail,
				"must have from 1 to 512 bytes after unescaping, not 513");
		err_clear(&e);
		object_unref(o);
		json_decref(body);
		free(text);
	}
}

static void faults_of_escapes_are_placed(void **state)
{
	struct err e = {0};
	struct object *o = NULL;
	json_t *body = fixture_json("{'protocol':'udp','health_check':{'request':'ab\\\\xy'}}");
	(void)state;
	assert_true(object_decode(OBJECT_SERVER_GROUP, "g", body, "", &e, &o) < 0);
	assert_string_equal(
		e.faults[0].detail,
		"must be printable ASCII, \\XX (two hex digits) for any byte and \\\\ for a "
		"backslash; at character 3 stands \"\\xy\"");
	err_clear(&e);
	json_decref(body);
}

// ---- defaults ---------------------------------------------------------------------------------

static void type_goes_by_protocol(void **state)
{
	static const struct {
		const char *protocol;
		enum check_type type;
	} cases[] = {{"tcp", CHECK_TCP}, {"udp", CHECK_UDP}, {"sctp", CHECK_ICMP}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *body = mem_printf("{'protocol':'%s'}", cases[i].protocol);
		struct server_group *g = decoded(body);
		assert_int_equal(g->health_check.type, cases[i].type);
		object_unref(&g->o);
		free(body);
	}
}

// What a reader gets of a check of each type, in the order of the table.
static void defaults_are_spelled_out(void **state)
{
	static const struct {
		const char *type;
		const char *json;
	} cases[] = {
		{"tcp", "'port':0,'handshake':'full','close':'rst','watch':false,'fwmark':0"},
		{"http",
		 "'port':0,'watch':false,'reuse_connection':false,'fwmark':0,'method':'HEAD','path':'/',"
		 "'expected_status':'200-299'"},
		{"https",
		 "'port':0,'fwmark':0,'method':'HEAD','path':'/','expected_status':'200-299',"
		 "'verify':false"},
		{"tls", "'port':0,'close':'rst','fwmark':0,'verify':false"},
		{"udp", "'port':0,'fwmark':0,'expect':'reply'"},
		{"icmp", "'fwmark':0"},
		{"icmp_udp", "'port':0,'fwmark':0"},
		{"grpc", "'port':0,'fwmark':0"},
		{"dns", "'port':0,'fwmark':0,'qtype':'A','accepted_rcodes':['NOERROR']"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *body = mem_printf("{'protocol':'tcp','health_check':{'type':'%s'}}",
					cases[i].type);
		char *all = mem_printf(
			"{'enabled':true,'type':'%s','interval_ms':3000,'timeout_ms':2000,"
			"'healthy_threshold':3,'unhealthy_threshold':3,'fast_retry':true,%s}",
			cases[i].type, cases[i].json);
		struct server_group *g = decoded(body);
		json_t *json = object_encode(&g->o, NULL, NULL);
		json_t *expected = fixture_json(all);
		char *text = json_dumps(json_object_get(json, "health_check"), 0);
		if (!json_equal(json_object_get(json, "health_check"), expected))
			fail_msg("%s\nfound: %s", all, text);
		free(text);
		json_decref(expected);
		json_decref(json);
		object_unref(&g->o);
		free(all);
		free(body);
	}
}

static void dns_members_have_their_numbers(void **state)
{
	(void)state;
	struct server_group *g = decoded(
		"{'protocol':'udp','health_check':{'type':'dns','qtype':'SRV','name':'a.b',"
		"'accepted_rcodes':['NOERROR','NXDOMAIN','REFUSED']}}");
	assert_int_equal(g->health_check.dns_qtype, 33);
	assert_int_equal(g->health_check.dns_accepted_rcodes, 1 | 1 << 3 | 1 << 5);
	assert_string_equal(g->health_check.dns_name, "a.b");
	object_unref(&g->o);
}

// ---- presets ----------------------------------------------------------------------------------

static void presets_are_spelled_out(void **state)
{
	static const struct {
		const char *check;
		const char *json; /* a part of what is read back */
	} cases[] = {
		{"'preset':'aws-nlb'",
		 "{'type':'tcp','interval_ms':30000,'timeout_ms':10000,'healthy_threshold':5,"
		 "'unhealthy_threshold':2}"},
		{"'preset':'aws-nlb','type':'http'",
		 "{'interval_ms':30000,'timeout_ms':6000,'healthy_threshold':5,"
		 "'unhealthy_threshold':2,'method':'GET','expected_status':'200-399','path':'/'}"},
		{"'preset':'aws-nlb','type':'https'",
		 "{'timeout_ms':6000,'method':'GET','expected_status':'200-399'}"},
		{"'preset':'aliyun-nlb'",
		 "{'interval_ms':10000,'timeout_ms':5000,'healthy_threshold':2,'unhealthy_threshold':2}"},
		{"'preset':'aliyun-nlb','type':'http'",
		 "{'timeout_ms':5000,'method':'GET','expected_status':'200-299'}"},
		{"'preset':'baidu-blb'",
		 "{'interval_ms':3000,'timeout_ms':3000,'healthy_threshold':3,'unhealthy_threshold':3,"
		 "'fast_retry':true}"},
		{"'preset':'aws-nlb','type':'http','interval_ms':5000,'method':'HEAD','expected_status':'204'",
		 "{'interval_ms':5000,'timeout_ms':6000,'method':'HEAD','expected_status':'204'}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *body = mem_printf("{'protocol':'tcp','health_check':{%s}}", cases[i].check);
		struct server_group *g = decoded(body);
		json_t *json = object_encode(&g->o, NULL, NULL);
		json_t *check = json_object_get(json, "health_check");
		json_t *part = fixture_json(cases[i].json);
		json_t *both = json_copy(check);
		json_object_update(both, part);
		if (!json_equal(both, check))
			fail_msg("%s: not %s", body, cases[i].json);
		assert_null(json_object_get(check, "preset"));
		json_decref(both);
		json_decref(part);
		json_decref(json);
		object_unref(&g->o);
		free(body);
	}
}

// A patch with a preset changes what it does not name itself.
static void presets_work_in_patches(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
	json_t *patch = fixture_json(
		"{'health_check':{'preset':'aws-nlb','interval_ms':7000,'timeout_ms':null}}");
	struct change_request r = fixture_request(CHANGE_OBJECT, patch);
	struct err e = {0};
	struct batch *b = NULL;
	struct snapshot *changed = NULL;
	(void)state;
	r.verb = CHANGE_PATCH;
	r.path = (struct object_path){OBJECT_SERVER_GROUP, NULL, "web"};
	if (change_build(s, &r, &e, &b, &changed) < 0)
		fail_msg("%s", err_first(&e));
	const struct health_check *c = &snapshot_find_group(changed, "web")->health_check;
	assert_int_equal(c->interval_ms, 7000);
	assert_int_equal(c->timeout_ms, 6000);
	assert_int_equal(c->healthy_threshold, 5);
	assert_int_equal(c->unhealthy_threshold, 2);
	assert_int_equal(c->method, HTTP_GET);
	assert_string_equal(c->path, "/up");
	assert_string_equal(c->expected_status, "200-399");
	batch_free(b);
	snapshot_unref(changed);
	snapshot_unref(s);
	json_decref(patch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_go_with_their_types),
		cmocka_unit_test(members_that_hang_on_others),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(requests_are_measured_unescaped),
		cmocka_unit_test(faults_of_escapes_are_placed),
		cmocka_unit_test(type_goes_by_protocol),
		cmocka_unit_test(defaults_are_spelled_out),
		cmocka_unit_test(dns_members_have_their_numbers),
		cmocka_unit_test(presets_are_spelled_out),
		cmocka_unit_test(presets_work_in_patches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
