// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor_fixture.h"

#define FTP(members)                                                                                      \
	"{'load_balancers':{'shop':{'listeners':{'files':{'protocol':'tcp','server_group':'web'," members \
	"}}}}}"
#define WITH_PORT                                                                           \
	"{'load_balancers':{'shop':{'listeners':{'files':{'protocol':'tcp','server_group':" \
	"'web','port_range':[20,30]},'ftp':{'protocol':'tcp','server_group':'web','port':21}}}}}"
#define PORT  FTP("'port':21")
#define RANGE FTP("'port_range':[20,30]")
#define GUARDED_RANGE                                                                                                     \
	"{'access_lists':{'office':{'entries':[{'cidr':'198.51.100.0/24','action':'allow'}]}},'load_balancers':{'shop':{" \
	"'listeners':{'files':{'protocol':'tcp','server_group':'web','port_range':[20,30],"                               \
	"'access_list':'office','rate_limit':5,'max_connections':40}}}}}"
#define FILES        "/load_balancers/shop/listeners/files"
#define OWN_LISTENER ": zonegate listener set shop/ftp protocol=tcp port=21 server_group=web\n"
#define MISSING      "error ftp_module_missing " FILES ": modprobe ip_vs_ftp\n"

SPOIL(no_module, h->facts.ftp_error = -ENOENT)
SPOIL(other_port, h->facts.ftp_ports[0] = 2121)
SPOIL(nothing_tracked, h->facts.sysctls[DOCTOR_TRACK_COUNT].value = 0)
SPOIL(no_tracking, h->facts.sysctls[DOCTOR_TRACK_COUNT].error = -ENOENT)

static const struct doctor_want cases[] = {
	{PORT, no_module, MISSING},
	{RANGE, no_module, MISSING},
	{PORT, other_port,
	 "error ftp_port_unwatched " FILES
	 ": modprobe -r ip_vs_ftp && modprobe ip_vs_ftp ports=21,2121  # once"},
	{RANGE, no_tracking, "warning ftp_range_untracked " FILES OWN_LISTENER},
	{RANGE, nothing_tracked, "info ftp_range_untracked " FILES OWN_LISTENER},
	/* Who may not come through the range may not come to the listener of its own. */
	{GUARDED_RANGE, nothing_tracked,
	 "info ftp_range_untracked " FILES
	 ": zonegate listener set shop/ftp protocol=tcp port=21 server_group=web "
	 "access_list=office rate_limit=5 max_connections=40\n"},
};

static void each_has_its_fact(void **state)
{
	(void)state;
	host_expect(cases, sizeof(cases) / sizeof(cases[0]), NULL);
}

/* Where no address is rewritten, and where another listener has the port. */
static void others_need_nothing(void **state)
{
	static const char *const patches[] = {
		FTP("'port':22"), FTP("'port_range':[22,30]"),
		"{'load_balancers':{'names':{'zones':{'za':{'vip4':'192.0.2.3'}},'listeners':{'tftp':{'protocol':'udp','port':21,'server_group':'dns'}}}}}",
		"{'server_groups':{'web':{'forward_method':'direct','health_check':{'port':21},'servers':{'w1':{'port':0},'w2':{'port':0}}}},"
		"'load_balancers':{'shop':{'listeners':{'files':{'protocol':'tcp','server_group':'web','port':21},"
		"'http':null}}}}"};

	(void)state;
	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		struct host h;

		host_open(&h, patches[i]);
		no_module(&h);
		AUTO_FREE char *text = host_judge(&h);
		host_close(&h);
		assert_null(strstr(text, "ftp_"));
	}
}

static void a_listener_of_its_own_wins(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, WITH_PORT);
	nothing_tracked(&h);
	AUTO_FREE char *calm = host_judge(&h);
	assert_null(strstr(calm, "ftp_"));
	no_module(&h);
	AUTO_FREE char *text = host_judge(&h);
	assert_non_null(strstr(text, "ftp_module_missing /load_balancers/shop/listeners/ftp: "));
	host_close(&h);
}

/* What has the range tracked is not to be switched off. */
static void a_range_keeps_its_tracking(void **state)
{
	static const struct {
		const char *patch;
		bool needs;
	} all[] = {{RANGE, true}, {FTP("'port_range':[22,30]"), false}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct host h;

		host_open(&h, all[i].patch);
		h.facts.sysctls[DOCTOR_VS_CONNTRACK].value = 1;
		AUTO_FREE char *text = host_judge(&h);
		host_close(&h);
		assert_non_null(strstr(text, "flows_tracked"));
		assert_int_equal(!strstr(text, "sysctl -w net.ipv4.vs.conntrack=0"), all[i].needs);
	}
}

/* An idle gateway tracks nothing now, and a rule that asks for the state of connections has them tracked. */
static void a_rule_has_connections_tracked(void **state)
{
	static const struct {
		const char *rule;
		enum ruleset_family family;
		bool told;
	} all[] = {
		{"-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", RULESET_V4,
		 false},
		{"-A INPUT -m state --state ESTABLISHED -j ACCEPT", RULESET_V4, false},
		{"-A POSTROUTING -o eth0 -j MASQUERADE", RULESET_V4, false},
		{"-A POSTROUTING -o eth0 -j SNAT --to-source 192.0.2.9", RULESET_V4, false},
		{"-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT", RULESET_V6, true},
		{"-A INPUT -p tcp -j ACCEPT", RULESET_V4, true},
		{"-A PREROUTING -j CT --notrack", RULESET_V4, true},
		{"-A INPUT -m comment --comment \"no conntrack here\" -j ACCEPT", RULESET_V4, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct host h;

		host_open(&h, RANGE);
		nothing_tracked(&h);
		AUTO_FREE char *rules = mem_printf(
			":INPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:PREROUTING ACCEPT [0:0]\n%s\n",
			all[i].rule);
		add_rules(&h, all[i].family == RULESET_V6 ? "ip6tables-nft" : "iptables-nft",
			  rules);
		AUTO_FREE char *text = host_judge(&h);
		host_close(&h);
		if (!strstr(text, "ftp_range_untracked") == all[i].told)
			fail_msg("%s", all[i].rule);
	}
}

/* What /sys does not tell is no fault. */
static void ports_that_cannot_be_seen_are_not_judged(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, PORT);
	h.facts.ftp_error = -ENOENT;
	add_name(&h.facts.modules, "ip_vs_ftp");
	h.facts.ftp_port_count = 0;
	AUTO_FREE char *text = host_judge(&h);
	assert_null(strstr(text, "ftp_"));
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_fact),
		cmocka_unit_test(others_need_nothing),
		cmocka_unit_test(a_listener_of_its_own_wins),
		cmocka_unit_test(a_range_keeps_its_tracking),
		cmocka_unit_test(a_rule_has_connections_tracked),
		cmocka_unit_test(ports_that_cannot_be_seen_are_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
