// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses that are in the document twice, and VIPs of a family in which the group has no server.
#include "plan/advice.h"

#include "model_fixture.h"

struct advices {
	char *text; /* "code pointer\n" each, of the codes of this file */
	char *detail;
};

static void collect(void *ctx, const char *code, const char *pointer, const char *detail)
{
	struct advices *a = ctx;

	if (strcmp(code, "vip_is_server") != 0 && strcmp(code, "server_is_vip") != 0 &&
	    strcmp(code, "no_server_of_family") != 0)
		return;
	char *longer = mem_printf("%s%s %s\n", a->text ? a->text : "", code, pointer);

	free(a->text);
	free(a->detail);
	a->text = longer;
	a->detail = mem_strdup(detail);
}

/* Of the whole document, a group or a load balancer, on a node of zone za. */
static void give(const struct snapshot *s, const char *object, struct advices *a)
{
	static const char *const zones[] = {"za"};
	const struct advice_place at = {
		.snapshot = s, .node_zones = zones, .node_zone_count = 1, .dns_apex_count = 1};

	if (!object)
		advice_give_document(&at, collect, a);
	else if (snapshot_find_group(s, object))
		advice_give_group(&at, snapshot_find_group(s, object), collect, a);
	else
		advice_give_lb(&at, snapshot_find_lb(s, object), collect, a);
}

struct row {
	const char *patch;
	const char *object;
	const char *advice;
	const char *detail; /* of the last; NULL: any */
};

static void expect(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *r = &rows[i];
		struct snapshot *s = fixture_snapshot(fixture_patched(r->patch));
		struct advices a = {0};

		give(s, r->object, &a);
		if (strcmp(a.text ? a.text : "", r->advice) != 0)
			fail_msg("%s\nexpected:\n%sfound:\n%s", r->patch, r->advice,
				 a.text ? a.text : "");
		if (r->detail)
			assert_string_equal(a.detail, r->detail);
		free(a.text);
		free(a.detail);
		snapshot_unref(s);
	}
}

#define COUNT(rows)   (sizeof(rows) / sizeof((rows)[0]))
#define SHOP(members) "{'load_balancers':{'shop':" members "}}"
#define W1(members)   "{'server_groups':{'web':{'servers':{'w1':" members "}}}}"
#define VIP_TWICE     "vip_is_server /load_balancers/shop/zones/za/vip4\n"
#define SERVER_TWICE  "server_is_vip /server_groups/web/servers\n"

static void an_address_is_one_thing(void **state)
{
	static const struct row rows[] = {
		{"{}", NULL, "", NULL},
		{SHOP("{'zones':{'za':{'vip4':'10.0.0.1'}}}"), "shop", VIP_TWICE,
		 "10.0.0.1 is the address of server w1 of server group web, too: the gateway takes it, so "
		 "neither probes nor connections reach that server; give the VIP an address of its own"},
		{SHOP("{'zones':{'za':{'vip4':'10.0.0.1'}}}"), "web", SERVER_TWICE,
		 "the address of server w1, 10.0.0.1, is the VIP of load balancer shop in zone za, too: this "
		 "node takes it, so neither probes nor connections reach the server; give one of the two "
		 "another address"},
		{W1("{'address':'192.0.2.1'}"), NULL, SERVER_TWICE VIP_TWICE, NULL},
		{W1("{'address':'192.0.2.1','enabled':false}"), "shop", VIP_TWICE, NULL},
		/* of a group that another load balancer uses, or none */
		{SHOP("{'zones':{'za':{'vip4':'10.0.2.1'}}}"), "shop", VIP_TWICE, NULL},
		{SHOP("{'zones':{'za':{'vip4':'10.0.1.1'}}}"), "spare",
		 "server_is_vip /server_groups/spare/servers\n", NULL},
		/* two of them: the first is named */
		{"{'server_groups':{'web':{'servers':{'w1':{'address':'192.0.2.1'},"
		 "'w2':{'address':'192.0.2.3'}}}}}",
		 "web", SERVER_TWICE,
		 "the address of server w1, 192.0.2.1, is the VIP of load balancer shop in zone za, too (and 1 "
		 "more server of the group has that of a VIP): this node takes it, so neither probes nor "
		 "connections reach the server; give one of the two another address"},
		/* The VIP of another gateway may be a server: a chain. */
		{W1("{'address':'192.0.2.2'}"), "web", "", NULL},
		{SHOP("{'zones':{'zb':{'vip4':'10.0.2.1'}}}"), NULL, "", NULL},
		/* but not one of its own */
		{SHOP("{'zones':{'zb':{'vip4':'10.0.0.2'}}}"), "shop",
		 "vip_is_server /load_balancers/shop/zones/zb/vip4\n", NULL},
		/* A load balancer that is off holds nothing. */
		{SHOP("{'enabled':false,'zones':{'za':{'vip4':'10.0.0.1'}}}"), NULL, "", NULL},
		{"{'server_groups':{'web':{'servers':{'w1':{'address':'2001:db8::1'}}}},"
		 "'load_balancers':{'shop':{'zones':{'za':{'vip6':'2001:db8::1'}}}}}",
		 "shop", "vip_is_server /load_balancers/shop/zones/za/vip6\n", NULL},
	};

	(void)state;
	expect(rows, COUNT(rows));
}

static void one_server_is_looked_at(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_patched(W1("{'address':'192.0.2.1'}")));
	const struct server_group *g = snapshot_find_group(s, "web");
	const struct advice_place at = {.snapshot = s};
	struct advices a = {0};

	(void)state;
	advice_give_server(&at, g, g->servers.items[1], collect, &a);
	assert_null(a.text);
	advice_give_server(&at, g, g->servers.items[0], collect, &a);
	assert_string_equal(a.text, "server_is_vip /server_groups/web/servers/w1/address\n");
	free(a.text);
	free(a.detail);
	snapshot_unref(s);
}

#define NO_FAMILY "no_server_of_family /load_balancers/shop/listeners/http/server_group\n"
#define VIP6      "'zones':{'za':{'vip6':'2001:db8::10'}}"

static void a_vip_has_servers_of_its_family(void **state)
{
	static const struct row rows[] = {
		{SHOP("{" VIP6 "}"), "shop", NO_FAMILY,
		 "zone za has the VIP 2001:db8::10, and server group web has no IPv6 server for it: who comes "
		 "there is refused; give the group a server with an IPv6 address, or remove vip6 "
		 "(vip6=null)"},
		{SHOP("{" VIP6 "}"), NULL, NO_FAMILY, NULL},
		{"{'server_groups':{'web':{'servers':{'w1':{'address':'2001:db8::1'}}}},"
		 "'load_balancers':{'shop':{" VIP6 "}}}",
		 "shop", "", NULL},
		/* With cross_zone off zone zb has none for IPv4. */
		{"{'server_groups':{'web':{'servers':{'w2':{'address':'2001:db8::2'}}}},"
		 "'load_balancers':{'shop':{'cross_zone':false," VIP6 "}}}",
		 "shop", NO_FAMILY, NULL},
		{"{'server_groups':{'web':{'servers':{'w1':{'address':'2001:db8::1'},'w2':{'address':"
		 "'2001:db8::2'}}}},'load_balancers':{'shop':{" VIP6 "}}}",
		 "shop", NO_FAMILY,
		 "zone za has the VIP 192.0.2.1, and server group web has no IPv4 server for it: who comes "
		 "there is refused; give the group a server with an IPv4 address, or remove vip4 "
		 "(vip4=null)"},
		/* A tunnel crosses families; a group without servers has advice of its own. */
		{"{'server_groups':{'web':{'forward_method':'tunnel','servers':{'w1':{'port':80},'w2':{'port':"
		 "80}},'health_check':{'port':8080}}},'load_balancers':{'shop':{" VIP6 "}}}",
		 "shop", "", NULL},
		{"{'server_groups':{'web':{'servers':null}},'load_balancers':{'shop':{" VIP6 "}}}",
		 "shop", "", NULL},
		{SHOP("{'enabled':false," VIP6 "}"), "shop", "", NULL},
	};

	(void)state;
	expect(rows, COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_one_thing),
		cmocka_unit_test(one_server_is_looked_at),
		cmocka_unit_test(a_vip_has_servers_of_its_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
