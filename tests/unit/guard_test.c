// SPDX-License-Identifier: GPL-2.0-or-later
// Which VIPs are guarded and what is open at them.
#include "plan/guard.h"

#include "unit/model_fixture.h"

#include "plan/ops.h"

struct world {
	struct snapshot *s;
	const char *zones; /* those of this node */
	struct guard_port own[4];
	size_t own_count;
};

static bool has_zone(void *ctx, const char *zone)
{
	const struct world *w = ctx;

	return strstr(w->zones, zone) != NULL;
}

static void open_world(struct world *w, const char *patch)
{
	json_t *document = fixture_json(FIXTURE_DOCUMENT);
	json_t *p = fixture_json(patch);

	memset(w, 0, sizeof(*w));
	fixture_merge(document, p);
	json_decref(p);
	w->s = fixture_snapshot(document);
	w->zones = "za zb";
}

static void listen_on(struct world *w, const char *address, uint8_t protocol, uint16_t port)
{
	struct guard_port *p = &w->own[w->own_count++];

	p->protocol = protocol;
	p->port = port;
	assert_int_equal(addr_parse(address, &p->address), 0);
}

static struct guard_input input(struct world *w)
{
	return (struct guard_input){.snapshot = w->s,
				    .has_zone = has_zone,
				    .ctx = w,
				    .own = w->own,
				    .own_count = w->own_count};
}

/* "open tcp 192.0.2.1:80, drop 192.0.2.1" */
static char *entries(struct world *w)
{
	const struct guard_input in = input(w);
	char *text = mem_strdup("");
	struct ruleset empty = {0};
	struct plan_ops ops = {0};
	struct ruleset r;

	guard_build(&in, &r);
	assert_int_equal(guard_wanted(&in), r.count > 0);
	ruleset_diff_adds(&r, &empty, &ops);
	for (size_t i = 0; i < ops.count; i++) {
		char line[200];
		char *longer;

		if (ops.ops[i].kind != PLAN_ADD_ENTRY)
			continue;
		plan_op_format(&ops.ops[i], line, sizeof(line));
		longer = mem_printf("%s%s%s", text, *text ? ", " : "",
				    line + strlen("NEW_ENTRY zg4-"));
		free(text);
		text = longer;
	}
	plan_ops_clear(&ops);
	ruleset_clear(&r);
	return text;
}

static void judge(struct world *w, const char *wanted)
{
	char *text AUTO_FREE = entries(w);

	assert_string_equal(text, wanted);
}

#define GUARD(members) "{'load_balancers':{'shop':{" members "}}}"

static void nothing_is_guarded_by_itself(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, "{}");
	judge(&w, "");
	snapshot_unref(w.s);
}

static void listeners_are_open_at_the_vips_of_this_node(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, GUARD("'vip_guard':'drop'"));
	judge(&w, "open tcp 192.0.2.1:80, open tcp 192.0.2.2:80, drop 192.0.2.1, drop 192.0.2.2");
	w.zones = "zb";
	judge(&w, "open tcp 192.0.2.2:80, drop 192.0.2.2");
	snapshot_unref(w.s);
	open_world(&w, GUARD("'vip_guard':'reject','enabled':false"));
	judge(&w, "");
	snapshot_unref(w.s);
}

static void a_shared_vip_is_guarded_as_the_strictest_says(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, "{'load_balancers':{'shop':{'vip_guard':'reject','zones':{'zb':null}},"
		       "'names':{'vip_guard':'drop','zones':{'za':{'vip4':'192.0.2.1'}}}}}");
	judge(&w, "open tcp 192.0.2.1:80, open udp 192.0.2.1:53, drop 192.0.2.1");
	snapshot_unref(w.s);
	open_world(&w, "{'load_balancers':{'shop':{'vip_guard':'reject','zones':{'zb':null}},"
		       "'names':{'zones':{'za':{'vip4':'192.0.2.1'}}}}}");
	judge(&w, "open tcp 192.0.2.1:80, open udp 192.0.2.1:53, reject 192.0.2.1");
	snapshot_unref(w.s);
}

static void ftp_has_its_data_ports(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, GUARD("'vip_guard':'drop','zones':{'zb':null},"
			     "'listeners':{'http':{'port':21}}"));
	judge(&w, "open tcp 192.0.2.1:20, open tcp 192.0.2.1:21, ftp 192.0.2.1, drop 192.0.2.1");
	snapshot_unref(w.s);
}

static void probes_of_the_vip_come_in(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, GUARD("'vip_guard':'drop','zones':{'zb':null},"
			     "'vip_probe':{'type':'tcp','port':443}"));
	judge(&w, "open tcp 192.0.2.1:80, open tcp 192.0.2.1:443, drop 192.0.2.1");
	snapshot_unref(w.s);
}

static void own_ports_are_let_be(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, GUARD("'vip_guard':'drop','zones':{'za':{'vip6':'2001:db8::1'},'zb':null},"
			     "'listeners':{'http':null}"));
	listen_on(&w, "0.0.0.0", IPPROTO_UDP, 53);
	listen_on(&w, "192.0.2.1", IPPROTO_TCP, 7443);
	listen_on(&w, "192.0.2.9", IPPROTO_TCP, 7444);
	judge(&w,
	      "open tcp 192.0.2.1:7443, open udp 192.0.2.1:53, drop 192.0.2.1, drop 2001:db8::1");
	w.own_count = 0;
	listen_on(&w, "::", IPPROTO_TCP, 53);
	judge(&w, "open tcp [2001:db8::1]:53, drop 192.0.2.1, drop 2001:db8::1");
	snapshot_unref(w.s);
}

static void only_the_families_in_use_have_a_chain(void **state)
{
	struct world w;
	struct guard_input in;
	struct ruleset r;

	(void)state;
	open_world(&w, GUARD("'vip_guard':'drop'"));
	in = input(&w);
	guard_build(&in, &r);
	assert_non_null(strstr(r.rules[RULESET_V4][RULESET_FILTER], "-N ZONEGATE\n"));
	assert_true(ruleset_has_family(&r, RULESET_V4));
	assert_int_equal(r.set_count, 4);
	assert_null(r.rules[RULESET_V6][RULESET_FILTER]);
	assert_false(ruleset_has_family(&r, RULESET_V6));
	ruleset_clear(&r);
	snapshot_unref(w.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_guarded_by_itself),
		cmocka_unit_test(listeners_are_open_at_the_vips_of_this_node),
		cmocka_unit_test(a_shared_vip_is_guarded_as_the_strictest_says),
		cmocka_unit_test(ftp_has_its_data_ports),
		cmocka_unit_test(probes_of_the_vip_come_in),
		cmocka_unit_test(own_ports_are_let_be),
		cmocka_unit_test(only_the_families_in_use_have_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
