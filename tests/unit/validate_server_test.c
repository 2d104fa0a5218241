// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

#define WEB(members) "{'server_groups':{'web':" members "}}"
#define W1(members)  WEB("{'servers':{'w1':" members "}}")
#define AT_WEB       "/server_groups/web"
#define AT_W1        AT_WEB "/servers/w1"

static void members_are_judged(void **state)
{
	static const struct fixture_case cases[] = {
		{W1("{'zone':'nope'}"), "unknown_reference " AT_W1 "/zone\n"},
		{W1("{'zone':null}"), ""},
		{W1("{'address':null}"), "missing_member " AT_W1 "/address\n"},
		{W1("{'address':'10.0.0.01'}"), "bad_format " AT_W1 "/address\n"},
		{W1("{'address':'example.com'}"), "bad_format " AT_W1 "/address\n"},
		{W1("{'address':'::ffff:10.0.0.1'}"), "bad_format " AT_W1 "/address\n"},
		{W1("{'address':'0.0.0.0'}"), "out_of_range " AT_W1 "/address\n"},
		{W1("{'address':'239.1.1.1'}"), "out_of_range " AT_W1 "/address\n"},
		{W1("{'address':'169.254.1.1'}"), "out_of_range " AT_W1 "/address\n"},
		{W1("{'address':'127.0.0.1'}"), ""},
		{W1("{'weight':65536}"), "out_of_range " AT_W1 "/weight\n"},
		{W1("{'max_connections':{'upper':5,'lower':6}}"),
		 "out_of_range " AT_W1 "/max_connections/lower\n"},
		{W1("{'max_connections':{'upper':6,'lower':6}}"), ""},
		{W1("{'max_connections':{'lower':1}}"),
		 "out_of_range " AT_W1 "/max_connections/lower\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

// With cross-zone off every server of a used group needs a zone.
static void zone_is_required_without_cross_zone(void **state)
{
	static const struct fixture_case cases[] = {
		{"{'load_balancers':{'shop':{'cross_zone':false}}}", ""},
		{"{'load_balancers':{'shop':{'cross_zone':false}},"
		 "'server_groups':{'web':{'servers':{'w2':{'zone':null}}}}}",
		 "missing_member " AT_WEB "/servers/w2/zone\n"},
		// as a backup, too
		{"{'load_balancers':{'shop':{'cross_zone':false}},"
		 "'server_groups':{'web':{'when_none_healthy':'backup','backup_group':'spare'}}}",
		 "missing_member /server_groups/spare/servers/s1/zone\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

#define SECOND_LISTENER \
	"'load_balancers':{'shop':{'listeners':{'alt':{'protocol':'tcp','port':8080,'server_group':'web'}}}}"

static void direct_and_tunnel_keep_the_port(void **state)
{
	static const struct fixture_case cases[] = {
		{WEB("{'forward_method':'direct'}"),
		 "incompatible " AT_W1 "/port\nincompatible " AT_WEB "/servers/w2/port\n"},
		{WEB("{'forward_method':'direct','servers':{'w1':{'port':80},'w2':{'port':80}}}"),
		 ""},
		{WEB("{'forward_method':'tunnel','servers':{'w1':{'port':80},'w2':{'forward_method':'nat'}}}"),
		 ""},
		{W1("{'forward_method':'direct'}"), "incompatible " AT_W1 "/port\n"},
		{W1("{'forward_method':'direct','port':80}"), ""},
		// used by listeners of ports 80 and 8080: only 0 will do
		{"{" SECOND_LISTENER
		 ",'server_groups':{'web':{'servers':{'w1':{'forward_method':'direct'}}}}}",
		 "incompatible " AT_W1 "/port\n"},
		{"{" SECOND_LISTENER ",'server_groups':{'web':{'health_check':{'port':80},"
		 "'servers':{'w1':{'forward_method':'direct','port':0}}}}}",
		 ""},
		// a group that no listener uses may have any port
		{"{'server_groups':{'spare':{'forward_method':'direct','servers':{'s1':{'port':99}}}}}",
		 ""},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

static void families_match_unless_tunnelled(void **state)
{
	static const struct fixture_case cases[] = {
		{W1("{'address':'2001:db8::5'}"), "incompatible " AT_W1 "/address\n"},
		{W1("{'address':'2001:db8::5','forward_method':'tunnel','port':80}"), ""},
		{"{'server_groups':{'web':{'servers':{'w1':{'address':'2001:db8::5'}}}},"
		 "'load_balancers':{'shop':{'zones':{'zb':{'vip6':'2001:db8::1'}}}}}",
		 ""},
		{"{'load_balancers':{'shop':{'zones':{'za':{'vip4':null,'vip6':'2001:db8::1'},"
		 "'zb':{'vip4':null,'vip6':'2001:db8::2'}}}}}",
		 "incompatible " AT_W1 "/address\nincompatible " AT_WEB "/servers/w2/address\n"},
		{"{'server_groups':{'spare':{'servers':{'s1':{'address':'2001:db8::5'}}}}}", ""},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

static void destinations_are_unique(void **state)
{
	static const struct fixture_case cases[] = {
		{W1("{'address':'10.0.0.2'}"), "duplicate " AT_WEB "/servers/w2/address\n"},
		{W1("{'address':'10.0.0.2','port':8081}"), ""},
		// port 0 is the listener's, 80
		{WEB("{'health_check':{'port':80},'servers':{'w1':{'address':'10.0.0.2','port':0},"
		     "'w2':{'port':80}}}"),
		 "duplicate " AT_WEB "/servers/w2/address\n"},
		{WEB("{'health_check':{'port':80},'servers':{'w1':{'address':'10.0.0.2','port':80},"
		     "'w2':{'port':0}}}"),
		 "duplicate " AT_WEB "/servers/w2/address\n"},
		{WEB("{'health_check':{'port':80},'servers':{'w1':{'address':'10.0.0.2','port':81},"
		     "'w2':{'port':0}}}"),
		 ""},
		// in two groups it is no destination twice
		{"{'server_groups':{'spare':{'servers':{'s1':{'address':'10.0.0.1','port':8080}}}}}",
		 ""},
		{"{'server_groups':{'web':{'backup_group':'spare'},"
		 "'spare':{'servers':{'s1':{'address':'10.0.0.1','port':8080}}}}}",
		 ""},
		{"{'server_groups':{'web':{'when_none_healthy':'backup','backup_group':'spare',"
		 "'health_check':{'port':80},'servers':{'w1':{'port':0}}},"
		 "'spare':{'servers':{'s1':{'address':'10.0.0.1','port':80}}}}}",
		 "duplicate " AT_WEB "/backup_group\n"},
		{"{'server_groups':{'web':{'when_none_healthy':'backup','backup_group':'spare'},"
		 "'spare':{'servers':{'s1':{'address':'10.0.0.1','port':8080}}}}}",
		 "duplicate " AT_WEB "/backup_group\n"},
	};
	(void)state;
	FIXTURE_JUDGE_ALL(cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_judged),
		cmocka_unit_test(zone_is_required_without_cross_zone),
		cmocka_unit_test(direct_and_tunnel_keep_the_port),
		cmocka_unit_test(families_match_unless_tunnelled),
		cmocka_unit_test(destinations_are_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
