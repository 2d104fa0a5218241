// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

#define LATER_WALL (2000 * USEC_PER_SEC)

struct outcome {
	struct err faults;
	struct batch *batch;
	struct snapshot *snapshot;
};

// Runs one request on `base`; `body` NULL: none.
static struct outcome run(const struct snapshot *base, struct change_request r, const char *body)
{
	struct outcome o = {0};
	json_t *json = body ? fixture_json(body) : NULL;
	r.body = json;
	r.wall = LATER_WALL;
	if (r.uid_seed == 0)
		r.uid_seed = 99;
	int result = change_build(base, &r, &o.faults, &o.batch, &o.snapshot);
	assert_int_equal(result < 0, err_any(&o.faults));
	assert_int_equal(result < 0, o.batch == NULL);
	assert_int_equal(result < 0, o.snapshot == NULL);
	json_decref(json);
	return o;
}

static void release(struct outcome *o)
{
	err_clear(&o->faults);
	batch_free(o->batch);
	snapshot_unref(o->snapshot);
}

static struct change_request on(enum change_verb verb, enum object_kind kind, const char *parent,
				const char *name)
{
	return (struct change_request){
		.verb = verb, .target = CHANGE_OBJECT, .path = {kind, parent, name}};
}

// "+ path", "- path", "~ path" for each change, one a line. The caller frees.
static char *describe(const struct batch *b)
{
	char *text = mem_strdup("");
	for (size_t i = 0; i < b->count; i++) {
		const struct change *c = &b->changes[i];
		char path[OBJECT_PATH_MAX];
		struct object_path p = {c->kind, c->parent, c->name};
		char *longer = mem_printf("%s%c %s\n", text,
					  !c->old_object   ? '+'
					  : !c->new_object ? '-'
							   : '~',
					  object_path_format(&p, path));
		free(text);
		text = longer;
	}
	return text;
}

static void expect_batch(const struct outcome *o, const char *expected)
{
	if (!o->batch)
		fail_msg("%s", err_first(&o->faults));
	char *text = describe(o->batch);
	if (strcmp(text, expected) != 0)
		fail_msg("expected:\n%sfound:\n%s", expected, text);
	free(text);
}

static struct snapshot *base_snapshot(void)
{
	return fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));
}

static void requests_give_batches(void **state)
{
	static const struct {
		enum change_verb verb;
		struct object_path path;
		const char *body;
		const char *batch;
	} cases[] = {
		{CHANGE_PUT, {OBJECT_ZONE, NULL, "zc"}, "{}", "+ zones/zc\n"},
		{CHANGE_PUT, {OBJECT_ZONE, NULL, "zb"}, "{'description':'x'}", "~ zones/zb\n"},
		{CHANGE_PUT, {OBJECT_ZONE, NULL, "zb"}, "{'description':'hall 2'}", ""},
		{CHANGE_PATCH, {OBJECT_ZONE, NULL, "zb"}, "{'description':null}", "~ zones/zb\n"},
		{CHANGE_PATCH, {OBJECT_ZONE, NULL, "zb"}, "{}", ""},
		{CHANGE_PUT,
		 {OBJECT_SERVER, "web", "w3"},
		 "{'address':'10.0.0.3','port':80}",
		 "~ server_groups/web\n+ server_groups/web/servers/w3\n"},
		{CHANGE_PATCH,
		 {OBJECT_SERVER, "web", "w1"},
		 "{'weight':7}",
		 "~ server_groups/web\n~ server_groups/web/servers/w1\n"},
		{CHANGE_PATCH, {OBJECT_SERVER, "web", "w1"}, "{'weight':100}", ""},
		{CHANGE_DELETE,
		 {OBJECT_SERVER, "web", "w1"},
		 NULL,
		 "~ server_groups/web\n- server_groups/web/servers/w1\n"},
		{CHANGE_DELETE,
		 {OBJECT_SERVER_GROUP, NULL, "spare"},
		 NULL,
		 "- server_groups/spare/servers/s1\n- server_groups/spare\n"},
		{CHANGE_PUT,
		 {OBJECT_SERVER_GROUP, NULL, "spare"},
		 "{'protocol':'tcp','servers':{'s2':{'address':'10.0.1.2','port':80}}}",
		 "~ server_groups/spare\n+ server_groups/spare/servers/s2\n- server_groups/spare/servers/s1\n"},
		{CHANGE_PUT,
		 {OBJECT_SERVER_GROUP, NULL, "spare"},
		 "{'protocol':'tcp'}",
		 "~ server_groups/spare\n- server_groups/spare/servers/s1\n"},
		{CHANGE_PATCH,
		 {OBJECT_SERVER_GROUP, NULL, "spare"},
		 "{'slow_start_ms':5}",
		 "~ server_groups/spare\n"},
		{CHANGE_PATCH,
		 {OBJECT_SERVER_GROUP, NULL, "spare"},
		 "{'servers':{'s1':{'weight':1}}}",
		 "~ server_groups/spare\n~ server_groups/spare/servers/s1\n"},
		{CHANGE_PATCH,
		 {OBJECT_SERVER_GROUP, NULL, "web"},
		 "{'servers':{'w1':null,'w3':{'address':'10.0.0.3','port':1}}}",
		 "~ server_groups/web\n+ server_groups/web/servers/w3\n- server_groups/web/servers/w1\n"},
		{CHANGE_DELETE,
		 {OBJECT_LOAD_BALANCER, NULL, "names"},
		 NULL,
		 "- load_balancers/names/zones/za\n- load_balancers/names/listeners/dns\n- load_balancers/names\n"},
		{CHANGE_PUT,
		 {OBJECT_LISTENER, "shop", "alt"},
		 "{'protocol':'tcp','port':81,'server_group':'web'}",
		 "~ load_balancers/shop\n+ load_balancers/shop/listeners/alt\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *base = base_snapshot();
		struct change_request r = on(cases[i].verb, cases[i].path.kind,
					     cases[i].path.parent, cases[i].path.name);
		struct outcome o = run(base, r, cases[i].body);
		expect_batch(&o, cases[i].batch);
		// what was not changed is the same snapshot
		assert_int_equal(o.batch->count == 0, o.snapshot == base);
		release(&o);
		snapshot_unref(base);
	}
}

static void refusals_have_codes_and_places(void **state)
{
	static const struct {
		enum change_verb verb;
		struct object_path path;
		const char *body;
		const char *faults;
	} cases[] = {
		{CHANGE_DELETE, {OBJECT_ZONE, NULL, "zx"}, NULL, "not_found \n"},
		{CHANGE_PATCH, {OBJECT_ZONE, NULL, "zx"}, "{}", "not_found \n"},
		{CHANGE_PUT, {OBJECT_SERVER, "nope", "w1"}, "{}", "not_found \n"},
		{CHANGE_DELETE, {OBJECT_SERVER, "web", "w9"}, NULL, "not_found \n"},
		{CHANGE_PUT, {OBJECT_ZONE, NULL, "Bad"}, "{}", "bad_format \n"},
		{CHANGE_PUT, {OBJECT_ZONE, NULL, "ok"}, "[]", "wrong_type \n"},
		{CHANGE_PATCH, {OBJECT_ZONE, NULL, "za"}, "7", "wrong_type \n"},
		{CHANGE_DELETE, {OBJECT_ZONE, NULL, "za"}, NULL, "in_use \n"},
		{CHANGE_DELETE, {OBJECT_SERVER_GROUP, NULL, "web"}, NULL, "in_use \n"},
		// beneath the object that is written: relative to the body
		{CHANGE_PATCH,
		 {OBJECT_SERVER, "web", "w1"},
		 "{'zone':'zx'}",
		 "unknown_reference /zone\n"},
		{CHANGE_PATCH,
		 {OBJECT_SERVER, "web", "w1"},
		 "{'weight':'x'}",
		 "wrong_type /weight\n"},
		{CHANGE_PATCH,
		 {OBJECT_SERVER_GROUP, NULL, "web"},
		 "{'servers':{'w1':{'zone':'zx'}}}",
		 "unknown_reference /servers/w1/zone\n"},
		{CHANGE_PUT, {OBJECT_LOAD_BALANCER, NULL, "shop"}, "{}", "missing_member /zones\n"},
		// elsewhere: a pointer into the document
		{CHANGE_PATCH,
		 {OBJECT_SERVER_GROUP, NULL, "web"},
		 "{'protocol':'udp'}",
		 "incompatible /load_balancers/shop/listeners/http/protocol\n"},
		{CHANGE_DELETE,
		 {OBJECT_LB_ZONE, "names", "za"},
		 NULL,
		 "missing_member /load_balancers/names/zones\n"},
		{CHANGE_PATCH,
		 {OBJECT_LB_ZONE, "shop", "za"},
		 "{'vip4':null}",
		 "missing_member \n"},
		{CHANGE_PATCH,
		 {OBJECT_LOAD_BALANCER, NULL, "shop"},
		 "{'snat':'a','croos_zone':1,'listeners':{'http':{'server_group':'zz'}}}",
		 "out_of_range /snat\nunknown_member /croos_zone\n"
		 "unknown_reference /listeners/http/server_group\n"},
	};
	(void)state;
	struct snapshot *base = base_snapshot();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct change_request r = on(cases[i].verb, cases[i].path.kind,
					     cases[i].path.parent, cases[i].path.name);
		struct outcome o = run(base, r, cases[i].body);
		fixture_expect_faults(&o.faults, cases[i].faults,
				      cases[i].body ? cases[i].body : "DELETE");
		release(&o);
	}
	snapshot_unref(base);
}

static void put_of_a_get_changes_nothing(void **state)
{
	static const struct object_path paths[] = {
		{OBJECT_ZONE, NULL, "zb"},
		{OBJECT_SERVER_GROUP, NULL, "web"},
		{OBJECT_SERVER_GROUP, NULL, "dns"},
		{OBJECT_SERVER, "web", "w1"},
		{OBJECT_LOAD_BALANCER, NULL, "shop"},
		{OBJECT_LB_ZONE, "shop", "za"},
		{OBJECT_LISTENER, "names", "dns"},
	};
	(void)state;
	struct snapshot *base = base_snapshot();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		for (int verb = CHANGE_PUT; verb <= CHANGE_PATCH; verb++) {
			struct outcome o = {0};
			json_t *body = object_encode(snapshot_find(base, &paths[i]), NULL, NULL);
			json_object_set_new(body, "uid", json_string("anything"));
			json_object_set_new(body, "status", json_object());
			struct change_request r = fixture_request(CHANGE_OBJECT, body);
			r.verb = (enum change_verb)verb;
			r.path = paths[i];
			if (change_build(base, &r, &o.faults, &o.batch, &o.snapshot) < 0)
				fail_msg("%s", err_first(&o.faults));
			assert_int_equal(o.batch->count, 0);
			assert_ptr_equal(o.snapshot, base);
			release(&o);
			json_decref(body);
		}
	}
	snapshot_unref(base);
}

static void heads_follow_changes(void **state)
{
	(void)state;
	struct snapshot *base = base_snapshot();
	struct server_group *web = snapshot_find_group(base, "web");
	struct server *w1 = snapshot_find_server(web, "w1");
	assert_int_equal(base->revision, 1);
	struct outcome o = run(base, on(CHANGE_PATCH, OBJECT_SERVER, "web", "w1"), "{'weight':1}");
	struct server_group *after = snapshot_find_group(o.snapshot, "web");
	struct server *changed = snapshot_find_server(after, "w1");
	assert_int_equal(o.batch->revision, 2);
	assert_int_equal(o.snapshot->revision, 2);
	assert_int_equal(changed->o.revision, 2);
	assert_int_equal(changed->o.uid, w1->o.uid);
	assert_int_equal(changed->o.created_wall, w1->o.created_wall);
	assert_int_equal(changed->o.updated_wall, LATER_WALL);
	assert_int_equal(after->o.revision, 2);
	assert_int_equal(after->o.uid, web->o.uid);
	assert_int_equal(after->o.created_wall, web->o.created_wall);
	assert_int_equal(after->o.updated_wall, LATER_WALL);
	// what was not named keeps everything
	assert_ptr_equal(snapshot_find_server(after, "w2"), snapshot_find_server(web, "w2"));
	assert_ptr_equal(snapshot_find_group(o.snapshot, "spare"),
			 snapshot_find_group(base, "spare"));
	// rows in the batch carry no children
	assert_int_equal(((struct server_group *)o.batch->changes[0].new_object)->servers.count, 0);
	assert_ptr_equal(o.batch->changes[0].old_object, web);
	release(&o);
	// a new object has another identity than the one that was deleted
	struct outcome removed = run(base, on(CHANGE_DELETE, OBJECT_SERVER, "web", "w1"), NULL);
	struct outcome again = run(removed.snapshot, on(CHANGE_PUT, OBJECT_SERVER, "web", "w1"),
				   "{'address':'10.0.0.1','port':8080}");
	struct server *fresh = snapshot_find_server(snapshot_find_group(again.snapshot, "web"),
						    "w1");
	assert_int_not_equal(fresh->o.uid, w1->o.uid);
	assert_int_equal(fresh->o.created_wall, LATER_WALL);
	release(&removed);
	release(&again);
	snapshot_unref(base);
}

static void conditions_are_kept(void **state)
{
	char current[ETAG_MAX];
	(void)state;
	struct snapshot *base = base_snapshot();
	struct change_request r = on(CHANGE_PUT, OBJECT_ZONE, NULL, "zb");
	change_object_etag(&snapshot_find_zone(base, "zb")->o, current);
	const struct {
		const char *name;
		const char *if_match;
		const char *if_none_match;
		const char *faults;
	} cases[] = {
		{"zb", current, NULL, ""},
		{"zb", "*", NULL, ""},
		{"zb", "\"old\"", NULL, "conflict \n"},
		{"zc", "*", NULL, "conflict \n"},
		{"zc", current, NULL, "conflict \n"},
		{"zc", NULL, "*", ""},
		{"zb", NULL, "*", "conflict \n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r.path.name = cases[i].name;
		r.if_match = cases[i].if_match;
		r.if_none_match = cases[i].if_none_match;
		struct outcome o = run(base, r, "{'description':'new'}");
		fixture_expect_faults(&o.faults, cases[i].faults, cases[i].name);
		release(&o);
	}
	r = on(CHANGE_DELETE, OBJECT_LOAD_BALANCER, NULL, "names");
	r.if_match = "\"old\"";
	struct outcome o = run(base, r, NULL);
	fixture_expect_faults(&o.faults, "conflict \n", "DELETE");
	release(&o);
	snapshot_unref(base);
}

static void servers_are_replaced_as_a_list(void **state)
{
	char tag[ETAG_MAX];
	(void)state;
	struct snapshot *base = base_snapshot();
	struct change_request r = {.verb = CHANGE_PUT, .target = CHANGE_SERVERS};
	r.path = (struct object_path){OBJECT_SERVER_GROUP, NULL, "web"};
	struct outcome o = run(base, r,
			       "{'w2':{'address':'10.0.0.2','port':8080,'zone':'zb','weight':50},"
			       "'w3':{'address':'10.0.0.3','port':1}}");
	expect_batch(&o, "~ server_groups/web\n+ server_groups/web/servers/w3\n"
			 "- server_groups/web/servers/w1\n");
	release(&o);
	o = run(base, r,
		"{'w1':{'address':'10.0.0.1','port':8080,'zone':'za'},"
		"'w2':{'address':'10.0.0.2','port':8080,'zone':'zb','weight':50}}");
	expect_batch(&o, "");
	release(&o);
	o = run(base, r,
		"{'w1':{'address':'x','port':1},'W':{},'w2':{'address':'10.0.0.2','zone':'zx','port':1}}");
	fixture_expect_faults(&o.faults,
			      "bad_format /w1/address\nbad_format /W\nunknown_reference /w2/zone\n",
			      "servers");
	release(&o);
	o = run(base, r, "[]");
	fixture_expect_faults(&o.faults, "wrong_type \n", "servers");
	release(&o);
	r.if_match = change_object_etag(&snapshot_find_group(base, "web")->o, tag);
	o = run(base, r, "{}");
	expect_batch(
		&o,
		"~ server_groups/web\n- server_groups/web/servers/w1\n- server_groups/web/servers/w2\n");
	r.if_match = "\"old\"";
	struct outcome refused = run(base, r, "{}");
	fixture_expect_faults(&refused.faults, "conflict \n", "servers");
	release(&refused);
	release(&o);
	r.path.name = "nope";
	r.if_match = NULL;
	o = run(base, r, "{}");
	fixture_expect_faults(&o.faults, "not_found \n", "servers");
	release(&o);
	snapshot_unref(base);
}

// A patch need not clear what only the old type had.
static void patch_of_a_type_drops_its_members(void **state)
{
	(void)state;
	struct snapshot *base = base_snapshot();
	struct outcome o = run(base, on(CHANGE_PATCH, OBJECT_SERVER_GROUP, NULL, "web"),
			       "{'health_check':{'type':'tcp'}}");
	expect_batch(&o, "~ server_groups/web\n");
	assert_int_equal(snapshot_find_group(o.snapshot, "web")->health_check.type, CHECK_TCP);
	assert_string_equal(snapshot_find_group(o.snapshot, "web")->health_check.path, "/");
	assert_int_equal(snapshot_find_group(o.snapshot, "web")->servers.count, 2);
	release(&o);
	o = run(base, on(CHANGE_PATCH, OBJECT_SERVER_GROUP, NULL, "web"),
		"{'health_check':{'type':'tcp','path':'/x'}}");
	fixture_expect_faults(&o.faults, "incompatible /health_check/path\n", "patch");
	release(&o);
	o = run(base, on(CHANGE_PATCH, OBJECT_LOAD_BALANCER, NULL, "shop"),
		"{'listeners':{'http':{'scheduler':'sh'}}}");
	struct snapshot *hashed = snapshot_ref(o.snapshot);
	release(&o);
	o = run(hashed, on(CHANGE_PATCH, OBJECT_LOAD_BALANCER, NULL, "shop"),
		"{'listeners':{'http':{'scheduler':'rr'}}}");
	expect_batch(&o, "~ load_balancers/shop\n~ load_balancers/shop/listeners/http\n");
	release(&o);
	o = run(base, on(CHANGE_PATCH, OBJECT_SERVER_GROUP, NULL, "dns"),
		"{'health_check':{'enabled':true,'path':'/'}}");
	fixture_expect_faults(&o.faults, "incompatible /health_check/path\n", "patch");
	release(&o);
	snapshot_unref(hashed);
	snapshot_unref(base);
}

static struct snapshot *take(struct snapshot *base, struct change_request r, const char *body)
{
	struct outcome o = run(base, r, body);
	struct snapshot *next;
	if (!o.snapshot)
		fail_msg("%s", err_first(&o.faults));
	next = snapshot_ref(o.snapshot);
	release(&o);
	snapshot_unref(base);
	return next;
}

static void refuse(const struct snapshot *base, struct change_request r, const char *body,
		   enum err_code code)
{
	struct outcome o = run(base, r, body);
	if (!err_any(&o.faults))
		fail_msg("taken: %s", body);
	assert_int_equal(o.faults.faults[0].code, code);
	release(&o);
}

// A default that hangs on another member follows it in a PATCH, too, until it is set to something else.
static void what_stands_at_a_default_follows(void **state)
{
	const struct change_request spare = on(CHANGE_PATCH, OBJECT_SERVER_GROUP, NULL, "spare");
	const struct change_request shop = on(CHANGE_PATCH, OBJECT_LOAD_BALANCER, NULL, "shop");
	struct snapshot *s = base_snapshot();
	(void)state;
	s = take(s, spare, "{'min_healthy':{'count':2,'percent':50}}");
	assert_int_equal(snapshot_find_group(s, "spare")->dns_min_healthy.count, 2);
	assert_int_equal(snapshot_find_group(s, "spare")->dns_min_healthy.percent, 50);
	s = take(s, spare, "{'min_healthy':{'count':1},'dns_min_healthy':{'percent':60}}");
	assert_int_equal(snapshot_find_group(s, "spare")->dns_min_healthy.count, 1);
	assert_int_equal(snapshot_find_group(s, "spare")->dns_min_healthy.percent, 60);
	s = take(s, spare, "{'min_healthy':{'percent':0}}");
	assert_int_equal(snapshot_find_group(s, "spare")->dns_min_healthy.percent, 60);
	refuse(s, spare, "{'min_healthy':{'percent':61}}", ERR_INCOMPATIBLE);
	s = take(s, spare, "{'protocol':'udp'}");
	assert_int_equal(snapshot_find_group(s, "spare")->on_unhealthy, ON_UNHEALTHY_TERMINATE);
	assert_int_equal(snapshot_find_group(s, "spare")->health_check.type, CHECK_UDP);
	s = take(s, shop, "{'listeners':{'http':{'scheduler':'sh'}}}");
	s = take(s, shop, "{'listeners':{'http':{'scheduler':'mh'}}}");
	const struct listener *http = snapshot_find_lb(s, "shop")->listeners.items[0];
	assert_int_equal(http->scheduler_flags, SCHED_MH_FALLBACK);
	snapshot_unref(s);
}

// What is not written itself is passed over, but not where the write makes it faulty.
static void others_are_judged_where_a_write_concerns_them(void **state)
{
	const struct change_request web = on(CHANGE_PATCH, OBJECT_SERVER_GROUP, NULL, "web");
	struct snapshot *s = base_snapshot();
	(void)state;
	refuse(s, on(CHANGE_PUT, OBJECT_SERVER, "dns", "d2"), "{'address':'10.0.2.1','port':53}",
	       ERR_DUPLICATE);
	s = take(s, on(CHANGE_PUT, OBJECT_SERVER_GROUP, NULL, "six"),
		 "{'protocol':'tcp','servers':{'x':{'address':'2001:db8::1','port':80}}}");
	// The servers of "six" are asked for by a listener without an IPv6 VIP from here on.
	refuse(s, web, "{'when_none_healthy':'backup','backup_group':'six'}", ERR_INCOMPATIBLE);
	s = take(s, web, "{'when_none_healthy':'backup','backup_group':'spare'}");
	// The group that is written is in order; the one it is the backup of is not.
	refuse(s, on(CHANGE_PUT, OBJECT_SERVER, "spare", "s9"),
	       "{'address':'10.0.0.1','port':8080}", ERR_DUPLICATE);
	refuse(s, on(CHANGE_PATCH, OBJECT_SERVER_GROUP, NULL, "spare"), "{'protocol':'udp'}",
	       ERR_INCOMPATIBLE);
	refuse(s, on(CHANGE_PATCH, OBJECT_LOAD_BALANCER, NULL, "shop"), "{'cross_zone':false}",
	       ERR_MISSING);
	s = take(s, on(CHANGE_PUT, OBJECT_SERVER, "spare", "s9"),
		 "{'address':'10.0.0.1','port':8081}");
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_give_batches),
		cmocka_unit_test(refusals_have_codes_and_places),
		cmocka_unit_test(put_of_a_get_changes_nothing),
		cmocka_unit_test(heads_follow_changes),
		cmocka_unit_test(conditions_are_kept),
		cmocka_unit_test(servers_are_replaced_as_a_list),
		cmocka_unit_test(patch_of_a_type_drops_its_members),
		cmocka_unit_test(what_stands_at_a_default_follows),
		cmocka_unit_test(others_are_judged_where_a_write_concerns_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
