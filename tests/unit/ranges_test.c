// SPDX-License-Identifier: GPL-2.0-or-later
// Which packets get a mark, and which ports of a VIP with a range do not.
#include "plan/ranges.h"

#include "unit/model_fixture.h"

#include "plan/ops.h"

#define RANGED(members)                                                              \
	"{'load_balancers':{'shop':{'listeners':{'http':{'port':null,'port_range':[" \
	"8000,8100]}}" members "}}}"

struct world {
	struct snapshot *s;
	struct guard_port own;
	size_t own_count;
};

static bool has_zone(void *ctx, const char *zone)
{
	(void)ctx;
	return strcmp(zone, "zb") != 0;
}

/* The document, in which za gives the listeners of each load balancer the marks from 7 on. */
static void open_world(struct world *w, const char *patch)
{
	struct vec list = {0};
	uint32_t next = 7;

	*w = (struct world){.s = fixture_snapshot(fixture_patched(patch))};
	for (size_t i = 0; i < w->s->load_balancers.count; i++) {
		const struct load_balancer *lb = w->s->load_balancers.items[i];

		for (size_t j = 0; j < lb->listeners.count; j++) {
			const struct listener *l = lb->listeners.items[j];
			char zone[] = "za";
			const struct mark m = {.lb = lb->o.name,
					       .zone = zone,
					       .listener = l->o.name,
					       .mark = next};

			if (!l->ports.to)
				continue;
			vec_push(&list, marks_copy_mark(&m));
			next++;
		}
	}
	snapshot_set_marks(w->s, marks_new(&list));
}

static struct ruleset build(struct world *w)
{
	const struct guard_input in = {.snapshot = w->s,
				       .has_zone = has_zone,
				       .own = &w->own,
				       .own_count = w->own_count,
				       .marks = MARKS_DEFAULT};
	struct ruleset r;

	guard_build(&in, &r);
	assert_int_equal(guard_wanted(&in), !ruleset_is_empty(&r));
	return r;
}

/* "ranged 192.0.2.1, 7-m 192.0.2.1" */
static void judge(struct world *w, const char *wanted)
{
	struct ruleset empty = {0}, r = build(w);
	char *text AUTO_FREE = mem_strdup("");
	struct plan_ops ops = {0};

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
	assert_string_equal(text, wanted);
}

static void nothing_is_marked_without_a_range(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, "{}");
	judge(&w, "");
	snapshot_unref(w.s);
	open_world(&w, RANGED(",'enabled':false"));
	judge(&w, "");
	snapshot_unref(w.s);
	/* Its zone is another node's. */
	open_world(&w, RANGED(",'zones':{'za':null}"));
	judge(&w, "");
	snapshot_unref(w.s);
}

static void a_range_is_marked_at_the_vips_of_its_zone(void **state)
{
	struct world w;
	struct ruleset r;

	(void)state;
	open_world(&w, RANGED(""));
	judge(&w, "7-m 192.0.2.1, ranged 192.0.2.1");
	r = build(&w);
	assert_non_null(
		strstr(r.rules[RULESET_V4][RULESET_FILTER],
		       "\n-A ZONEGATE-MARKS -p tcp -m tcp --dport 8000:8100 -m set --match-set "
		       "zg4-7-m dst -j MARK --set-xmark 0x7/0xffffffff\n"));
	assert_null(strstr(r.rules[RULESET_V4][RULESET_FILTER], "-j RETURN\n-A ZONEGATE -m mark"));
	assert_null(r.rules[RULESET_V6][RULESET_FILTER]);
	ruleset_clear(&r);
	snapshot_unref(w.s);
	open_world(&w, RANGED(",'zones':{'za':{'vip6':'2001:db8::1'}}"));
	judge(&w, "7-m 192.0.2.1, ranged 192.0.2.1, 7-m 2001:db8::1, ranged 2001:db8::1");
	r = build(&w);
	assert_non_null(strstr(r.rules[RULESET_V6][RULESET_FILTER], "zg6-7-m dst -j MARK"));
	ruleset_clear(&r);
	snapshot_unref(w.s);
}

/* Of whichever load balancer they are; and the daemon's own. */
static void ports_of_their_own_are_left_alone(void **state)
{
	struct world w;

	(void)state;
	open_world(
		&w,
		"{'load_balancers':{'shop':{'listeners':{'http':{'port':null,'port_range':[1,65535]},"
		"'https':{'protocol':'tcp','port':443,'server_group':'web'}}},"
		"'names':{'zones':{'za':{'vip4':'192.0.2.1'}}},"
		"'other':{'zones':{'za':{'vip4':'192.0.2.9'}},"
		"'listeners':{'x':{'protocol':'tcp','port':80,'server_group':'web'}}}}}");
	judge(&w,
	      "7-m 192.0.2.1, ranged 192.0.2.1, single tcp 192.0.2.1:443, single udp 192.0.2.1:53");
	w.own = (struct guard_port){.port = 7443, .protocol = IPPROTO_TCP};
	w.own_count = 1;
	assert_int_equal(addr_parse("0.0.0.0", &w.own.address), 0);
	judge(&w, "7-m 192.0.2.1, ranged 192.0.2.1, single tcp 192.0.2.1:443, "
		  "single tcp 192.0.2.1:7443, single udp 192.0.2.1:53");
	assert_int_equal(addr_parse("192.0.2.9", &w.own.address), 0);
	judge(&w,
	      "7-m 192.0.2.1, ranged 192.0.2.1, single tcp 192.0.2.1:443, single udp 192.0.2.1:53");
	snapshot_unref(w.s);
}

static void the_guard_lets_marked_packets_in(void **state)
{
	struct world w;
	struct ruleset r;

	(void)state;
	open_world(&w, RANGED(",'vip_guard':'drop'"));
	judge(&w, "7-m 192.0.2.1, ranged 192.0.2.1, drop 192.0.2.1");
	r = build(&w);
	assert_non_null(strstr(r.rules[RULESET_V4][RULESET_FILTER],
			       "\n-A ZONEGATE -m set --match-set zg4-ranged dst -j ZONEGATE-MARKS\n"
			       "-A ZONEGATE -m set --match-set zg4-ranged dst -m mark --mark "
			       "0x5a000000/0xfffff000 -j RETURN\n"
			       "-A ZONEGATE -m set --match-set zg4-open dst,dst -j RETURN\n"));
	ruleset_clear(&r);
	snapshot_unref(w.s);
	/* FTP within a range. */
	open_world(&w, "{'load_balancers':{'shop':{'vip_guard':'drop',"
		       "'listeners':{'http':{'port':null,'port_range':[20,21]}}}}}");
	judge(&w, "open tcp 192.0.2.1:20, ftp 192.0.2.1, 7-m 192.0.2.1, ranged 192.0.2.1, "
		  "drop 192.0.2.1");
	snapshot_unref(w.s);
}

static void expect_rule(const struct ruleset *r, enum ruleset_family f, const char *rule)
{
	if (!r->rules[f][RULESET_FILTER] || !strstr(r->rules[f][RULESET_FILTER], rule))
		fail_msg("no rule\n%s\nin\n%s", rule, r->rules[f][RULESET_FILTER]);
}

/* All ports of the listener, in all of its zones, count together: one rule, and a set with its VIPs. */
static void limits_are_asked_behind_the_list_and_before_the_mark(void **state)
{
	struct world w;
	struct ruleset r;
	const struct load_balancer *lb;
	unsigned long long uid;
	char rule[700];

	(void)state;
	open_world(&w,
		   "{'access_lists':{'office':{'default_action':'deny'}},'load_balancers':{'shop':{"
		   "'zones':{'za':{'vip6':'2001:db8::1'}},"
		   "'listeners':{'http':{'port':null,'port_range':[8000,8100],'rate_limit':30,"
		   "'max_connections':9,'access_list':'office'}}}}}");
	lb = snapshot_find_lb(w.s, "shop");
	uid = ((const struct listener *)lb->listeners.items[0])->o.uid;
	r = build(&w);
	snprintf(rule, sizeof(rule),
		 " src -j DROP\n"
		 "-A ZONEGATE-MARKS ! -i lo -p tcp -m tcp --dport 8000:8100 --tcp-flags "
		 "FIN,SYN,RST,ACK SYN -m set --match-set zg4-%llx-lr dst ! --update-counters "
		 "-m hashlimit --hashlimit-above 30/sec --hashlimit-burst 30 --hashlimit-mode "
		 "srcip,dstip --hashlimit-name zg4-%llx-lr-1e --hashlimit-htable-size 16384 "
		 "--hashlimit-htable-max 262144 --hashlimit-htable-expire 2000 "
		 "-m set --match-set zg4-%llx-lr dst -j DROP\n",
		 uid, uid, uid);
	expect_rule(&r, RULESET_V4, rule);
	snprintf(rule, sizeof(rule),
		 "-lr dst -j DROP\n"
		 "-A ZONEGATE-MARKS ! -i lo -p tcp -m tcp --dport 8000:8100 --tcp-flags "
		 "FIN,SYN,RST,ACK SYN -m set --match-set zg6-%llx-mr dst ! --update-counters "
		 "-m connlimit --connlimit-above 9 --connlimit-mask 64 --connlimit-saddr "
		 "-m set --match-set zg6-%llx-mr dst -j DROP\n"
		 "-A ZONEGATE-MARKS -p tcp -m tcp --dport 8000:8100 -m set --match-set zg6-7-m dst "
		 "-j MARK",
		 uid, uid);
	expect_rule(&r, RULESET_V6, rule);
	expect_rule(&r, RULESET_V6, "--hashlimit-mode srcip,dstip --hashlimit-srcmask 64 ");
	for (size_t i = 0; i < r.count; i++) {
		const struct ruleset_entry *e = &r.entries[i];

		if (e->set.kind == RULESET_LIMIT_RANGE || e->set.kind == RULESET_MAX_RANGE)
			assert_int_equal(e->port | e->protocol, 0);
		assert_int_not_equal(e->set.kind, RULESET_LIMIT_TCP);
		assert_int_not_equal(e->set.kind, RULESET_MAX_TCP);
	}
	ruleset_clear(&r);
	snapshot_unref(w.s);
}

static void limits_of_a_udp_range_go_by_flows(void **state)
{
	struct world w;
	struct ruleset r;

	(void)state;
	open_world(
		&w,
		"{'load_balancers':{'names':{'zones':{'za':{'vip4':'192.0.2.5'}},'listeners':{"
		"'dns':{'port':null,'port_range':[53,54],'rate_limit':7,'max_connections':8}}}}}");
	r = build(&w);
	expect_rule(
		&r, RULESET_V4,
		"-A ZONEGATE-MARKS ! -i lo -p udp -m udp --dport 53:54 -m set --match-set zg4-");
	expect_rule(&r, RULESET_V4,
		    "-lr dst ! --update-counters -m conntrack ! --ctstatus CONFIRMED -m hashlimit "
		    "--hashlimit-above 7/sec ");
	expect_rule(&r, RULESET_V4,
		    "-mr dst ! --update-counters -m conntrack ! --ctstatus CONFIRMED -m connlimit "
		    "--connlimit-above 8 ");
	ruleset_clear(&r);
	snapshot_unref(w.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_marked_without_a_range),
		cmocka_unit_test(a_range_is_marked_at_the_vips_of_its_zone),
		cmocka_unit_test(ports_of_their_own_are_left_alone),
		cmocka_unit_test(the_guard_lets_marked_packets_in),
		cmocka_unit_test(limits_are_asked_behind_the_list_and_before_the_mark),
		cmocka_unit_test(limits_of_a_udp_range_go_by_flows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
