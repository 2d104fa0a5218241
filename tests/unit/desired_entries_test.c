// SPDX-License-Identifier: GPL-2.0-or-later
// The settings of listener and group as the kernel gets them: scheduler, flags, method, port, thresholds.
#include "plan/desired.h"

#include <linux/ip_vs.h>

#include "unit/desired_fixture.h"

static void build(const char *patch, uint8_t family, struct plan_service *ret_service)
{
	struct desired_verdict v;
	struct world w;

	world_open(&w, patch, "za");
	w.in.place.family = family;
	desired_build_service(&w.in, ret_service, &v);
	snapshot_unref(w.s);
}

/* At weight 0 until they leave; they count nowhere, and nothing brings them back. */
static void settings_reach_the_service(void **state)
{
	struct plan_service s;

	(void)state;
	build(BOTH("", HTTP("'scheduler':'wlc'")), AF_INET, &s);
	assert_string_equal(s.scheduler, "wlc");
	assert_int_equal(s.flags, 0);
	assert_int_equal(s.timeout, 0);
	assert_int_equal(s.netmask, 0xffffffff);
	assert_int_equal(s.key.port, 80);
	assert_int_equal(s.key.protocol, IPPROTO_TCP);
	plan_service_clear(&s);
	build(BOTH("", HTTP("'persistence_s':60,'persistence_netmask':'255.255.255.0',"
			    "'persistence_prefix':64")),
	      AF_INET, &s);
	assert_int_equal(s.flags, IP_VS_SVC_F_PERSISTENT);
	assert_int_equal(s.timeout, 60);
	assert_int_equal(s.netmask, htonl(0xffffff00));
	plan_service_clear(&s);
	build(BOTH("", HTTP("'persistence_s':60,'persistence_prefix':64")), AF_INET6, &s);
	assert_int_equal(s.netmask, 64);
	assert_int_equal(s.key.family, AF_INET6);
	plan_service_clear(&s);
	build(BOTH("", HTTP("'scheduler':'sh'")), AF_INET, &s);
	assert_int_equal(s.flags, IP_VS_SVC_F_SCHED_SH_FALLBACK);
	plan_service_clear(&s);
	build(BOTH("", HTTP("'scheduler':'mh','scheduler_flags':['mh-fallback','mh-port']")),
	      AF_INET, &s);
	assert_int_equal(s.flags, IP_VS_SVC_F_SCHED1 | IP_VS_SVC_F_SCHED2);
	plan_service_clear(&s);
}

static void entries_carry_method_port_and_thresholds(void **state)
{
	static const struct {
		const char *patch;
		uint8_t forward;
		uint8_t tunnel;
		uint16_t tunnel_port;
		uint16_t tunnel_flags;
	} cases[] = {
		{"{}", IP_VS_CONN_F_MASQ, 0, 0, 0},
		{WEB("'forward_method':'direct'"), IP_VS_CONN_F_DROUTE, 0, 0, 0},
		{WEB("'forward_method':'tunnel'"), IP_VS_CONN_F_TUNNEL,
		 IP_VS_CONN_F_TUNNEL_TYPE_IPIP, 0, IP_VS_TUNNEL_ENCAP_FLAG_NOCSUM},
		{WEB("'forward_method':'tunnel','tunnel':{'type':'gue','port':5555,"
		     "'checksum':'remcsum'}"),
		 IP_VS_CONN_F_TUNNEL, IP_VS_CONN_F_TUNNEL_TYPE_GUE, 5555,
		 IP_VS_TUNNEL_ENCAP_FLAG_REMCSUM},
		{WEB("'forward_method':'tunnel','tunnel':{'type':'gre','checksum':'csum'}"),
		 IP_VS_CONN_F_TUNNEL, IP_VS_CONN_F_TUNNEL_TYPE_GRE, 0,
		 IP_VS_TUNNEL_ENCAP_FLAG_CSUM},
		/* A server's own method. */
		{WEB("'servers':{'w1':{'forward_method':'direct'}}"), IP_VS_CONN_F_DROUTE, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plan_service s;

		build(cases[i].patch, AF_INET, &s);
		assert_int_equal(s.dests[0].forward, cases[i].forward);
		assert_int_equal(s.dests[0].tunnel_type, cases[i].tunnel);
		assert_int_equal(s.dests[0].tunnel_port, cases[i].tunnel_port);
		assert_int_equal(s.dests[0].tunnel_flags, cases[i].tunnel_flags);
		plan_service_clear(&s);
	}

	struct plan_service s;

	build(BOTH("'health_check':{'port':8080},'servers':{'w1':{'port':0,'max_connections':{"
		   "'upper':20,'lower':10}}}",
		   HTTP("'port':8000")),
	      AF_INET, &s);
	assert_int_equal(s.dests[0].port, 8000);
	assert_int_equal(s.dests[0].upper, 20);
	assert_int_equal(s.dests[0].lower, 10);
	assert_int_equal(s.dests[1].port, 80);
	plan_service_clear(&s);
}

static void a_place_without_vip_has_no_key(void **state)
{
	struct plan_key key;
	struct world w;

	(void)state;
	world_open(&w, "{}", "zb");
	assert_true(desired_place_key(&w.in.place, &key));
	w.in.place.family = AF_INET6;
	assert_false(desired_place_key(&w.in.place, &key));
	snapshot_unref(w.s);
}

#define RANGED "'port':null,'port_range':[8000,8100]"

static void a_range_is_a_service_of_its_mark(void **state)
{
	struct plan_service s;
	struct plan_key key;
	struct world w;

	(void)state;
	world_open(&w, HTTP_ONLY(RANGED), "zb");
	assert_false(desired_place_key(&w.in.place, &key)); /* none is allotted */
	assert_non_null(desired_place_vip(&w.in.place));
	w.in.place.mark = 0x5a000001;
	assert_true(desired_place_key(&w.in.place, &key));
	assert_int_equal(key.fwmark, 0x5a000001);
	assert_int_equal(key.family, AF_INET);
	assert_int_equal(key.port, 0);
	assert_int_equal(key.protocol, 0);
	w.in.place.family = AF_INET6;
	assert_false(desired_place_key(&w.in.place, &key));
	snapshot_unref(w.s);
	/* Port 0 keeps the port, another one takes all. */
	build(BOTH("'health_check':{'port':8080},'servers':{'w1':{'port':0}}", HTTP(RANGED)),
	      AF_INET, &s);
	assert_int_equal(s.dests[0].port, 0);
	assert_int_equal(s.dests[1].port, 80);
	plan_service_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_reach_the_service),
		cmocka_unit_test(entries_carry_method_port_and_thresholds),
		cmocka_unit_test(a_place_without_vip_has_no_key),
		cmocka_unit_test(a_range_is_a_service_of_its_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
