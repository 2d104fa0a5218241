// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of FORWARD, as iptables-save prints them.
#include "doctor_fixture.h"

#define DROP(rules)                                                                                      \
	"*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:USER - [0:0]\n:DOCKER-USER - [0:0]\n" rules \
	"COMMIT\n"
#define DROPS   "forward_policy_drop"
#define UNCLEAR "forward_policy_unclear"

static bool tells(struct host *h, const char *text)
{
	AUTO_FREE char *found = host_judge(h);

	return strstr(found, text) != NULL;
}

static void a_policy_that_drops_is_told(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	add_rules(&h, "iptables-nft", "*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n");
	assert_false(tells(&h, DROPS));
	add_rules(&h, "iptables-legacy", DROP("-A FORWARD -s 10.0.0.2/32 -j ACCEPT\n"));
	assert_true(tells(&h, "warning forward_policy_drop /server_groups/web/servers/w1: "
			      "iptables-legacy -I FORWARD -s 10.0.0.1 -j ACCEPT\n"));
	host_close(&h);
}

/* How each rule is taken: 'w' a warning, 'i' cannot be told, '-' nothing. */
static void expect(const char *rules, char expected, long long conntrack)
{
	AUTO_FREE char *text = mem_printf(DROP("%s"), rules);
	struct host h;

	host_open(&h, "{'server_groups':{'web':{'servers':{'w2':{'enabled':false}}}}}");
	sysctl_of(&h, DOCTOR_VS_CONNTRACK)->value = conntrack;
	add_rules(&h, "iptables-legacy", text);
	AUTO_FREE char *found = host_judge(&h);
	host_close(&h);
	const char told = strstr(found, "warning " DROPS)  ? 'w'
			  : strstr(found, "info " UNCLEAR) ? 'i'
							   : '-';
	if (told != expected)
		fail_msg("%c, not %c:\n%s", told, expected, rules);
}

static void rules_are_taken_as_the_kernel_does(void **state)
{
	static const struct {
		const char *rules;
		char told;
	} all[] = {
		{"-A FORWARD -s 10.0.0.1/32 -j ACCEPT\n", '-'},
		{"-A FORWARD -s 10.0.0.0/24 -j ACCEPT\n", '-'},
		{"-A FORWARD -i back0 -j ACCEPT\n", '-'},
		{"-A FORWARD -i back+ -o front+ -j ACCEPT\n", '-'},
		{"-A FORWARD ! -i docker0 -j ACCEPT\n", '-'},
		{"-A FORWARD -j ACCEPT\n", '-'},
		{"-A FORWARD -s 10.0.0.1/32 -p tcp -m tcp --sport 8080 -j ACCEPT\n", '-'},
		{"-A FORWARD -s 10.0.0.1/32 -m comment --comment \"web -j DROP\" -j ACCEPT\n", '-'},
		{"-A FORWARD -s 10.0.0.1/32 -p tcp -m tcp --sport 8081:8090 -j ACCEPT\n", 'w'},
		{"-A FORWARD -i front0 -j ACCEPT\n", 'w'},
		{"-A FORWARD ! -i back0 -j ACCEPT\n", 'w'},
		{"-A FORWARD -s 10.0.0.1/32 -p udp -j ACCEPT\n", 'w'},
		{"-A FORWARD -s 10.0.0.10/32 -j ACCEPT\n", 'w'},
		{"-A INPUT -s 10.0.0.1/32 -j ACCEPT\n", 'w'},
		{"-A FORWARD -j LOG --log-prefix \"x \"\n", 'w'},
		/* In order. */
		{"-A FORWARD -i back0 -j DROP\n-A FORWARD -s 10.0.0.1/32 -j ACCEPT\n", 'w'},
		{"-A FORWARD -m conntrack --ctstate INVALID -j DROP\n-A FORWARD -i back0 -j ACCEPT\n",
		 '-'},
		/* What is not known of an answer. */
		{"-A FORWARD -d 192.0.2.0/24 -j ACCEPT\n", 'i'},
		{"-A FORWARD -d 192.0.2.77/32 -j ACCEPT\n", 'w'},
		{"-A FORWARD -m set --match-set friends src -j ACCEPT\n", 'i'},
		{"-A FORWARD -m mark --mark 0x7 -j ACCEPT\n", 'i'},
		{"-A FORWARD -j NFQUEUE --queue-num 1\n", 'i'},
		{"-A FORWARD -m set --match-set friends src -i docker0 -j ACCEPT\n", 'w'},
		{"-A FORWARD -m set --match-set friends src -j DROP\n", 'w'},
		/* Chains. */
		{"-A FORWARD -j USER\n-A USER -i back0 -j ACCEPT\n", '-'},
		{"-A FORWARD -j USER\n-A USER -j RETURN\n-A USER -i back0 -j ACCEPT\n", 'w'},
		{"-A FORWARD -g USER\n-A FORWARD -i back0 -j ACCEPT\n", 'w'},
		{"-A FORWARD -d 192.0.2.0/24 -j USER\n-A USER -i back0 -j ACCEPT\n", 'i'},
		{"-A FORWARD -j USER\n-A USER -d 192.0.2.0/24 -j RETURN\n-A USER -j ACCEPT\n", 'i'},
		{"-A FORWARD -j USER\n-A USER -j USER\n", 'i'},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		expect(all[i].rules, all[i].told, 0);
}

#define DOCKER                                                                                       \
	"-A FORWARD -j DOCKER-USER\n-A FORWARD -o docker0 -m conntrack --ctstate "                   \
	"RELATED,ESTABLISHED -j ACCEPT\n-A FORWARD -o docker0 -j USER\n"                             \
	"-A FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-A FORWARD -i docker0 -o docker0 -j ACCEPT\n" \
	"-A USER -d 172.17.0.2/32 ! -i docker0 -o docker0 -p tcp -m tcp --dport 80 -j ACCEPT\n"      \
	"-A DOCKER-USER -j RETURN\n"
#define FIREWALL                                                                  \
	"-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED,DNAT -j ACCEPT\n"  \
	"-A FORWARD -j USER\n-A FORWARD -m conntrack --ctstate INVALID -j DROP\n" \
	"-A FORWARD -j REJECT --reject-with icmp-host-prohibited\n"

/* What others usually have: an answer is ESTABLISHED only where IPVS has its flows tracked. */
static void usual_rules_are_understood(void **state)
{
	static const char state_rule[] =
		"-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n";

	(void)state;
	expect(state_rule, 'w', 0);
	expect(state_rule, '-', 1);
	expect("-A FORWARD -m state --state NEW -j ACCEPT\n", 'i', 0);
	expect("-A FORWARD -m state --state NEW -j ACCEPT\n", 'w', 1);
	expect(DOCKER, 'w', 0);
	expect(DOCKER, 'w', 1);
	expect(DOCKER "-A DOCKER-USER -i back0 -j ACCEPT\n", 'w', 0);
	expect("-A DOCKER-USER -i back0 -j ACCEPT\n" DOCKER, '-', 0);
	expect(FIREWALL, '-', 1);
	expect(FIREWALL "-A USER -i back0 -j ACCEPT\n", '-', 0);
}

/* As where there is no default route. */
static void a_link_that_is_not_there_takes_nothing(void **state)
{
	static const struct {
		const char *rules;
		char told;
	} all[] = {
		{DROP("-A FORWARD -o nothing0 -m mark --mark 0x1 -j ACCEPT\n"), 'w'},
		{DROP("-A FORWARD -o front+ -j ACCEPT\n"), 'i'},
		{DROP("-A FORWARD -o front0 -i nothing0 -j ACCEPT\n"), 'w'},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct host h;

		host_open(&h, "{}");
		h.facts.clients[0].error = -ENETUNREACH;
		add_rules(&h, "iptables-nft", all[i].rules);
		assert_true(tells(&h, all[i].told == 'w' ? "warning " DROPS : "info " UNCLEAR));
		host_close(&h);
	}
}

/* Chains that lead on and on end in no verdict, soon. */
static void rules_without_end_are_given_up(void **state)
{
	char *text = mem_strdup(":C0 - [0:0]\n-A FORWARD -j C0\n"), *more;

	(void)state;
	for (int i = 0; i < 15; i++, free(text), text = more)
		more = mem_printf(
			":C%d - [0:0]\n%s-A C%d -j C%d\n-A C%d -j C%d\n-A C%d -j C%d\n-A C%d -j C%d\n",
			i + 1, text, i, i + 1, i, i + 1, i, i + 1, i, i + 1);
	expect(text, 'i', 0);
	free(text);
}

/* Of the other family, and with servers that do not answer through this host. */
static void whom_it_does_not_concern_is_not_told(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	add_rules(&h, "ip6tables-legacy", DROP(""));
	assert_false(tells(&h, DROPS));
	host_close(&h);
	host_open(&h,
		  "{'server_groups':{'web':{'forward_method':'direct','servers':{'w1':{'port':80},"
		  "'w2':{'port':80}}}}}");
	add_rules(&h, "iptables-legacy", DROP(""));
	assert_false(tells(&h, DROPS));
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_policy_that_drops_is_told),
		cmocka_unit_test(rules_are_taken_as_the_kernel_does),
		cmocka_unit_test(usual_rules_are_understood),
		cmocka_unit_test(a_link_that_is_not_there_takes_nothing),
		cmocka_unit_test(rules_without_end_are_given_up),
		cmocka_unit_test(whom_it_does_not_concern_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
