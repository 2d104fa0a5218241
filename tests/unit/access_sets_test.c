// SPDX-License-Identifier: GPL-2.0-or-later
// Which access lists are asked where.
#include "plan/access_sets.h"

#include "unit/model_fixture.h"

#include "plan/ops.h"

static bool has_zone(void *ctx, const char *zone)
{
	return strstr(ctx, zone) != NULL;
}

static struct snapshot *open_document(const char *patch)
{
	json_t *document = fixture_json(FIXTURE_DOCUMENT);
	json_t *p = fixture_json(
		"{'access_lists':{'office':{'entries':[{'cidr':'10.0.0.0/8','action':"
		"'allow'}]},'night':{'default_action':'allow','entries':[]}}}");

	fixture_merge(document, p);
	json_decref(p);
	p = fixture_json(patch);
	fixture_merge(document, p);
	json_decref(p);
	return fixture_snapshot(document);
}

/* Operations that make it, one after the other; uids as a, b, … in the order of their names in the document. */
static char *operations(const struct guard_input *in)
{
	struct ruleset empty = {0};
	struct plan_ops ops = {0};
	char *text = mem_strdup("");
	struct ruleset r;

	for (size_t i = 0; i < in->snapshot->access_lists.count; i++)
		((struct object *)in->snapshot->access_lists.items[i])->uid = 0xa + i;
	guard_build(in, &r);
	assert_int_equal(guard_wanted(in), !ruleset_is_empty(&r));
	ruleset_diff_fills(&r, &empty, &ops);
	ruleset_diff_adds(&r, &empty, &ops);
	for (size_t i = 0; i < ops.count; i++) {
		char line[200];
		char *longer;

		plan_op_format(&ops.ops[i], line, sizeof(line));
		longer = mem_printf("%s%s%s", text, *text ? ", " : "", line);
		free(text);
		text = longer;
	}
	plan_ops_clear(&ops);
	ruleset_clear(&r);
	return text;
}

static void judge(const char *patch, const char *zones, const char *wanted)
{
	char here[20];
	struct addr peers[2];
	struct guard_input in = {.snapshot = open_document(patch),
				 .has_zone = has_zone,
				 .ctx = here,
				 .peers = peers,
				 .peer_count = 2};
	union {
		const struct snapshot *read_only;
		struct snapshot *snapshot;
	} own = {.read_only = in.snapshot};
	char *text;

	snprintf(here, sizeof(here), "%s", zones);
	assert_int_equal(addr_parse("10.9.0.1", &peers[0]), 0);
	assert_int_equal(addr_parse("2001:db8::9", &peers[1]), 0);
	text = operations(&in);
	assert_string_equal(text, wanted);
	free(text);
	snapshot_unref(own.snapshot);
}

#define SHOP(members) "{'load_balancers':{'shop':{" members "}}}"
#define HTTP          "'listeners':{'http':{'access_list':'office'}}"

static void a_list_in_no_use_is_nowhere(void **state)
{
	(void)state;
	judge("{}", "za zb", "");
	judge(SHOP("'enabled':false," HTTP), "za zb", "");
	judge(SHOP(HTTP), "zc", "");
}

/* "night" comes first. */
static void a_list_is_asked_at_its_listeners(void **state)
{
	(void)state;
	judge(SHOP(HTTP), "za zb",
	      "FILL_SET zg4-b, NEW_SET zg4-peers, NEW_SET zg4-b-at, NEW_ENTRY zg4-b-at tcp "
	      "192.0.2.1:80, NEW_ENTRY zg4-b-at tcp 192.0.2.2:80, SET_RULES IPv4");
	judge(SHOP(HTTP), "zb",
	      "FILL_SET zg4-b, NEW_SET zg4-peers, NEW_SET zg4-b-at, NEW_ENTRY zg4-b-at tcp "
	      "192.0.2.2:80, SET_RULES IPv4");
}

static void families_apart(void **state)
{
	(void)state;
	judge(SHOP("'zones':{'za':{'vip6':'2001:db8::1'},'zb':null}," HTTP), "za",
	      "FILL_SET zg4-b, FILL_SET zg6-b, NEW_SET zg4-peers, NEW_SET zg4-b-at, NEW_SET "
	      "zg6-peers, NEW_SET zg6-b-at, NEW_ENTRY zg4-b-at tcp 192.0.2.1:80, NEW_ENTRY zg6-b-at "
	      "tcp [2001:db8::1]:80, SET_RULES IPv4, SET_RULES IPv6");
}

static void peers_probe_the_port_of_the_check(void **state)
{
	(void)state;
	judge(SHOP("'zones':{'zb':null},'vip_probe':{'type':'tcp','port':443}," HTTP), "za",
	      "FILL_SET zg4-b, NEW_SET zg4-peers, NEW_SET zg4-b-at, NEW_ENTRY zg4-peers tcp "
	      "192.0.2.1:443 10.9.0.1, NEW_ENTRY zg4-b-at tcp 192.0.2.1:80, SET_RULES IPv4");
}

static void it_stands_before_the_guard(void **state)
{
	struct snapshot *s = open_document(SHOP("'vip_guard':'drop'," HTTP));
	char zones[] = "za";
	const struct guard_input in = {.snapshot = s, .has_zone = has_zone, .ctx = zones};
	struct ruleset r;
	const char *rules;
	const char *list;

	(void)state;
	guard_build(&in, &r);
	rules = r.rules[RULESET_V4][RULESET_FILTER];
	list = strstr(rules, " src -j DROP\n");
	assert_non_null(list);
	assert_true(list < strstr(rules, "zg4-open"));
	assert_null(strstr(list + 1, " src -j DROP\n"));
	assert_int_equal(r.set_count, 4 + 3);
	ruleset_clear(&r);
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_in_no_use_is_nowhere),
		cmocka_unit_test(a_list_is_asked_at_its_listeners),
		cmocka_unit_test(families_apart),
		cmocka_unit_test(peers_probe_the_port_of_the_check),
		cmocka_unit_test(it_stands_before_the_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
