// SPDX-License-Identifier: GPL-2.0-or-later
// Modules before IPVS; those of IPVS are in doctor_test.c.
#include "doctor_fixture.h"

#define MISSING(severity, names) severity " netfilter_modules_missing : modprobe -a" names "\n"
#define SHOP(members)            "{'load_balancers':{'shop':{" members "}}}"
#define LISTENER(members)        SHOP("'listeners':{'http':{" members "}}")
#define SIX                                                                                    \
	"{'server_groups':{'web':{'servers':{'w1':{'address':'fd00::1'}}}},'load_balancers':{" \
	"'shop':{'vip_guard':'drop','zones':{'za':{'vip4':null,'vip6':'2001:db8::1'}}}}}"
#define LIST                                                                                                           \
	"{'access_lists':{'staff':{'default_action':'deny','entries':[{'cidr':'198.51.100.0/24','action':'allow'}]}}," \
	"'load_balancers':{'shop':{'listeners':{'http':{'access_list':'staff'}}}}}"

static void fail_for_modules(struct host *h)
{
	h->node.guard_fault = "iptables does not work";
	h->node.guard_error = -EOPNOTSUPP;
}

static void fail_legacy(struct host *h)
{
	fail_for_modules(h);
	strcpy(h->node.backends[RULESET_V4], "iptables-legacy");
}

static void fail_nft(struct host *h)
{
	fail_for_modules(h);
	add_name(&h->facts.modules, "nf_tables");
}

static void fail_half(struct host *h)
{
	fail_nft(h);
	add_name(&h->facts.modules, "ip_set");
	add_name(&h->facts.builtin, "xt_set");
}

static void fail_blind(struct host *h)
{
	fail_nft(h);
	h->facts.builtin_error = -EACCES;
}

static const struct doctor_want cases[] = {
	{SHOP("'vip_guard':'drop'"), fail_legacy,
	 MISSING("error",
		 " ip_set ip_set_hash_ip ip_set_hash_ipport xt_set xt_tcpudp ipt_REJECT iptable_filter")},
	{SIX, fail_legacy, " xt_set xt_tcpudp ip6t_REJECT ip6table_filter\n"},
	{SHOP("'vip_guard':'drop'"), fail_nft,
	 MISSING("error", " ip_set ip_set_hash_ip ip_set_hash_ipport xt_set")},
	{SHOP("'vip_guard':'drop'"), fail_half,
	 MISSING("error", " ip_set_hash_ip ip_set_hash_ipport")},
	{SHOP("'vip_guard':'drop'"), fail_blind, "info netfilter_modules_missing : "},
	{LIST, fail_nft,
	 MISSING("error",
		 " ip_set ip_set_hash_ipport ip_set_hash_ipportip ip_set_hash_net xt_set")},
	{LISTENER("'port':null,'port_range':[80,90]"), fail_nft,
	 MISSING("error", " ip_set ip_set_hash_ip ip_set_hash_ipport xt_set xt_mark")},
	{LISTENER("'rate_limit':5"), fail_nft,
	 MISSING("error", " ip_set ip_set_hash_ipport xt_set xt_hashlimit")},
	{LISTENER("'max_connections':5"), fail_nft,
	 MISSING("error", " ip_set ip_set_hash_ipport xt_set xt_connlimit")},
	{SHOP("'snat':'auto'"), fail_legacy,
	 MISSING("error", " ip_set ip_set_hash_ip ip_set_hash_ipport xt_set xt_ipvs xt_MASQUERADE "
			  "iptable_nat")},
	/* Nothing was tried yet. */
	{SHOP("'vip_guard':'drop'"), NULL, "warning netfilter_modules_missing : "},
};

static void each_is_named_where_it_is_needed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct host h;

		host_open(&h, cases[i].patch);
		if (cases[i].spoil)
			cases[i].spoil(&h);
		AUTO_FREE char *found = host_judge(&h);
		host_close(&h);
		if (!strstr(found, cases[i].finding))
			fail_msg("case %zu\nexpected:\n%s\nfound:\n%s", i, cases[i].finding, found);
	}
}

static void expect_none(struct host *h)
{
	AUTO_FREE char *text = host_judge(h);

	assert_null(strstr(text, "netfilter_modules_missing"));
	host_close(h);
}

static void what_needs_none_or_has_them_is_let_be(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	fail_for_modules(&h);
	expect_none(&h);
	/* The rules are there, so are their modules, whatever they are called. */
	host_open(&h, SHOP("'vip_guard':'drop'"));
	strcpy(h.node.backends[RULESET_V4], "iptables-nft");
	expect_none(&h);
	/* No module mends that. */
	host_open(&h, SHOP("'vip_guard':'drop'"));
	fail_for_modules(&h);
	h.node.guard_error = -EBUSY;
	expect_none(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_named_where_it_is_needed),
		cmocka_unit_test(what_needs_none_or_has_them_is_let_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
