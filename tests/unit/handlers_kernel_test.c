// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

#define RECONCILE "/api/v1/kernel/reconcile"

static void add_foreign(struct plan_table *t, unsigned dests)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};

	op.service.key = (struct plan_key){.family = AF_INET,
					   .protocol = IPPROTO_UDP,
					   .port = 53,
					   .address = {AF_INET, {198, 51, 100, 1}}};
	strcpy(op.service.scheduler, "rr");
	assert_int_equal(diff_apply_op(t, &op), 0);
	op.kind = PLAN_ADD_DEST;
	for (unsigned i = 0; i < dests; i++) {
		op.dest = (struct plan_dest){
			.address = {AF_INET, {10, 9, (uint8_t)(i / 250), (uint8_t)(i % 250 + 1)}},
			.port = 53,
			.weight = 1};
		assert_int_equal(diff_apply_op(t, &op), 0);
	}
}

static void kernel_shows_ours_and_foreign(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	add_foreign(rig.kernel, 300); /* the loop sleeps */
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/kernel");
	assert_int_equal(a.status, 200);
	assert_int_equal(json_array_size(answer_at(&a, "services")), 3);
	AUTO_REPLY struct answer ours = rig_get(&rig, "/api/v1/kernel?owner=zonegate");
	assert_int_equal(json_array_size(answer_at(&ours, "services")), 2);
	assert_string_equal(answer_text_at(&ours, "services.0.service"), "tcp 192.0.2.1:80");
	assert_string_equal(answer_text_at(&ours, "services.0.load_balancer"), "shop");
	assert_string_equal(answer_text_at(&ours, "services.0.zone"), "za");
	assert_string_equal(answer_text_at(&ours, "services.0.listener"), "http");
	assert_int_equal(answer_number_at(&ours, "services.0.destinations.1.weight"), 50);
	assert_string_equal(answer_text_at(&ours, "services.0.destinations.1.forward_method"),
			    "nat");
	assert_int_equal(answer_number_at(&ours, "services.0.destinations.1.active"), 0);
	AUTO_REPLY struct answer foreign = rig_get(&rig, "/api/v1/kernel?owner=foreign");
	assert_int_equal(json_array_size(answer_at(&foreign, "services")), 1);
	assert_string_equal(answer_text_at(&foreign, "services.0.owner"), "foreign");
	assert_int_equal(json_array_size(answer_at(&foreign, "services.0.destinations")), 300);
	AUTO_REPLY struct answer bad = rig_get(&rig, "/api/v1/kernel?owner=me");
	assert_int_equal(bad.status, 400);
	rig_end(&rig);
}

static void kernel_shows_drift(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/kernel/drift");
	assert_int_equal(a.status, 200);
	assert_true(json_is_true(answer_at(&a, "in_sync")));
	assert_int_equal(answer_number_at(&a, "operations_total"), 0);
	rig.kernel->services[0].dests[0].weight = 3; /* by hand */
	AUTO_REPLY struct answer b = rig_get(&rig, "/api/v1/kernel/drift");
	assert_int_equal(b.status, 200);
	/* The read is an audit too: what it found is shown, or repaired and counted already. */
	assert_true(answer_number_at(&b, "operations_total") == 1 ||
		    answer_number_at(&b, "repaired_since_start") >= 1);
	rig_end(&rig);
}

/* Others have taken a destination away: it is told, and there again. A dry run only tells. */
static void reconcile_mends_what_differs(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer calm = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_int_equal(calm.status, 200);
	assert_true(json_is_true(answer_at(&calm, "in_sync")));
	assert_true(json_is_false(answer_at(&calm, "mended")));
	rig.kernel->services[0].dest_count--;
	AUTO_REPLY struct answer dry = rig_ask(&rig, "POST", RECONCILE "?dry_run=1", "", NULL);
	assert_int_equal(answer_number_at(&dry, "operations_total"), 1);
	assert_true(json_is_false(answer_at(&dry, "mended")));
	AUTO_REPLY struct answer mended = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_int_equal(answer_number_at(&mended, "operations_total"), 1);
	assert_true(json_is_false(answer_at(&mended, "in_sync")));
	assert_true(json_is_true(answer_at(&mended, "mended")));
	assert_non_null(strstr(answer_text_at(&mended, "operations.0"), "NEW_DEST"));
	AUTO_REPLY struct answer after = rig_get(&rig, "/api/v1/kernel/drift");
	assert_true(json_is_true(answer_at(&after, "in_sync")));
	rig.kernel->services[0].dest_count--;
	rig.refuse_ops = true;
	AUTO_REPLY struct answer refused = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_true(json_is_false(answer_at(&refused, "mended")));
	rig_end(&rig);
}

/* What is wanted is not in the kernel and cannot be made: no look at it says that all is well. */
static void what_could_not_be_made_is_missing(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer calm = rig_get(&rig, "/api/v1/kernel");
	assert_int_equal(answer_number_at(&calm, "not_in_force_total"), 0);
	rig.refuse_ops = true;
	AUTO_REPLY struct answer put = rig_ask(
		&rig, "PUT", "/api/v1/load-balancers/shop/listeners/web", "",
		"{\"protocol\":\"tcp\",\"port\":8050,\"server_group\":\"web\"}");
	assert_int_equal(put.status, 201);
	AUTO_REPLY struct answer drift = rig_get(&rig, "/api/v1/kernel/drift");
	assert_true(json_is_false(answer_at(&drift, "in_sync")));
	assert_non_null(
		strstr(answer_text_at(&drift, "operations.0"), "NEW_SERVICE tcp 192.0.2.1:8050"));
	assert_int_equal(answer_number_at(&drift, "not_in_force_total"), 2);
	assert_string_equal(answer_text_at(&drift, "not_in_force.0.service"), "tcp 192.0.2.1:8050");
	assert_string_equal(answer_text_at(&drift, "not_in_force.0.load_balancer"), "shop");
	assert_string_equal(answer_text_at(&drift, "not_in_force.0.zone"), "za");
	assert_string_equal(answer_text_at(&drift, "not_in_force.0.listener"), "web");
	assert_true(json_is_true(answer_at(&drift, "not_in_force.0.missing")));
	assert_non_null(strstr(answer_text_at(&drift, "not_in_force.0.fault"), "refused"));
	AUTO_REPLY struct answer refused = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_true(json_is_false(answer_at(&refused, "in_sync")));
	assert_true(json_is_false(answer_at(&refused, "mended")));
	assert_int_equal(answer_number_at(&refused, "not_in_force_total"), 2);
	AUTO_REPLY struct answer shown = rig_get(&rig, "/api/v1/kernel?owner=zonegate");
	assert_int_equal(json_array_size(answer_at(&shown, "services")), 2);
	assert_int_equal(answer_number_at(&shown, "not_in_force_total"), 2);
	assert_true(json_is_true(answer_at(&shown, "not_in_force.1.missing")));
	rig.refuse_ops = false;
	AUTO_REPLY struct answer mended = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_true(json_is_true(answer_at(&mended, "mended")));
	assert_int_equal(answer_number_at(&mended, "not_in_force_total"), 0);
	AUTO_REPLY struct answer after = rig_get(&rig, "/api/v1/kernel");
	assert_int_equal(json_array_size(answer_at(&after, "services")), 4);
	assert_int_equal(answer_number_at(&after, "not_in_force_total"), 0);
	rig_end(&rig);
}

static void put_set(struct netfilter *f, const char *name, uint64_t entries)
{
	struct netfilter_set *s = netfilter_push(f);

	strcpy(s->name, name);
	strcpy(s->type, "hash:ip");
	s->family = AF_INET;
	s->entries = entries;
	s->memory = 512;
}

static void sets_of_all_are_shown(void **state)
{
	const struct ruleset_id gone = {.kind = RULESET_DROP, .family = RULESET_V6};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/kernel");
	assert_true(json_is_true(answer_at(&none, "filters.in_force")));
	assert_int_equal(json_array_size(answer_at(&none, "filters.sets")), 0);
	AUTO_REPLY struct answer alone = rig_get(&rig, "/api/v1/kernel?services_only=true");
	assert_null(answer_at(&alone, "filters"));
	AUTO_REPLY struct answer bad = rig_get(&rig, "/api/v1/kernel?services_only=3");
	assert_int_equal(bad.status, 400);
	/* A guard is wanted, of which nothing is in the kernel; a set of ours stands there for nothing. */
	AUTO_REPLY struct answer put = rig_ask(&rig, "PATCH", "/api/v1/load-balancers/shop", "",
					       "{\"vip_guard\": \"drop\"}");
	assert_int_equal(put.status, 200);
	rig.filters = mem_new(struct netfilter);
	put_set(rig.filters, "theirs", 7);
	put_set(rig.filters, "zg6-drop", 1);
	ruleset_push_set(&rig.filters->ruleset, &gone);
	netfilter_sort(rig.filters);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/kernel");
	assert_true(json_is_false(answer_at(&a, "filters.in_force")));
	assert_string_equal(answer_text_at(&a, "filters.sets.0.name"), "theirs");
	assert_string_equal(answer_text_at(&a, "filters.sets.0.owner"), "foreign");
	assert_int_equal(answer_number_at(&a, "filters.sets.0.entries"), 7);
	assert_int_equal(answer_number_at(&a, "filters.sets.0.memory_bytes"), 512);
	assert_null(answer_at(&a, "filters.sets.0.use"));
	assert_string_equal(answer_text_at(&a, "filters.sets.1.owner"), "zonegate");
	assert_string_equal(answer_text_at(&a, "filters.sets.1.state"), "unwanted");
	assert_string_equal(answer_text_at(&a, "filters.sets.2.state"), "missing");
	assert_string_equal(answer_text_at(&a, "filters.rules.0.state"), "missing");
	assert_string_equal(answer_text_at(&a, "filters.rules.0.table"), "filter");
	AUTO_REPLY struct answer foreign = rig_get(&rig, "/api/v1/kernel?owner=foreign");
	assert_int_equal(json_array_size(answer_at(&foreign, "filters.sets")), 0);
	AUTO_REPLY struct answer drift = rig_get(&rig, "/api/v1/kernel/drift");
	assert_true(json_is_false(answer_at(&drift, "in_sync")));
	rig.filters_error = -EPROTONOSUPPORT;
	AUTO_REPLY struct answer fault = rig_get(&rig, "/api/v1/kernel");
	assert_int_equal(fault.status, 200);
	assert_non_null(strstr(answer_text_at(&fault, "filters.fault"), "refused"));
	AUTO_REPLY struct answer unread = rig_get(&rig, "/api/v1/kernel/drift");
	assert_non_null(strstr(answer_text_at(&unread, "fault"), "refused"));
	rig_end(&rig);
}

static struct netfilter *copy_wanted(const struct rig *rig)
{
	struct netfilter *f = mem_new(struct netfilter);

	ruleset_copy(engine_ruleset(rig->engine), &f->ruleset);
	netfilter_take_memory(f);
	return f;
}

static void guard(struct rig *rig, const char *mode)
{
	AUTO_FREE char *body = mem_printf("{\"vip_guard\": \"%s\"}", mode);
	AUTO_REPLY struct answer a = rig_ask(rig, "PATCH", "/api/v1/load-balancers/shop", "", body);

	assert_int_equal(a.status, 200);
}

/* A host without sets on which none are wanted has no fault, and one on which they are has nothing that is known to be missing. */
static void what_cannot_be_read_is_a_fault_where_it_is_wanted(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig.filters_error = -EPROTONOSUPPORT;
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/kernel");
	assert_true(json_is_true(answer_at(&none, "filters.in_force")));
	assert_true(json_is_null(answer_at(&none, "filters.fault")));
	AUTO_REPLY struct answer calm = rig_get(&rig, "/api/v1/kernel/drift");
	assert_true(json_is_true(answer_at(&calm, "in_sync")));
	assert_true(json_is_null(answer_at(&calm, "fault")));
	guard(&rig, "drop");
	AUTO_REPLY struct answer all = rig_get(&rig, "/api/v1/kernel");
	assert_true(json_is_false(answer_at(&all, "filters.in_force")));
	assert_int_equal(json_array_size(answer_at(&all, "filters.sets")), 0);
	assert_int_equal(json_array_size(answer_at(&all, "filters.rules")), 0);
	AUTO_REPLY struct answer drift = rig_get(&rig, "/api/v1/kernel/drift");
	assert_int_equal(answer_number_at(&drift, "operations_total"), 0);
	assert_true(json_is_false(answer_at(&drift, "in_sync")));
	AUTO_REPLY struct answer mend = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_true(json_is_false(answer_at(&mend, "in_sync")));
	assert_true(json_is_false(answer_at(&mend, "mended")));
	assert_non_null(strstr(answer_text_at(&mend, "fault"), "refused"));
	/* Something else differs: it is mended, and whether that is all is not known. */
	rig.kernel->services[0].dest_count--;
	AUTO_REPLY struct answer half = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_int_equal(answer_number_at(&half, "operations_total"), 1);
	assert_true(json_is_false(answer_at(&half, "mended")));
	assert_int_equal(rig.kernel->services[0].dest_count, 2);
	rig_end(&rig);
}

/* The lock of iptables was held: of the rules that were not read none is told to be missing, those of the other family are. */
static void rules_that_were_not_read_are_not_missing(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	guard(&rig, "drop");
	rig.filters = copy_wanted(&rig);
	AUTO_REPLY struct answer calm = rig_get(&rig, "/api/v1/kernel/drift");
	assert_true(json_is_true(answer_at(&calm, "in_sync")));
	rig.filters = copy_wanted(&rig);
	rig.filters->rules_error = -EBUSY;
	ruleset_set_rules(&rig.filters->ruleset, RULESET_V4, RULESET_FILTER, NULL);
	AUTO_REPLY struct answer drift = rig_get(&rig, "/api/v1/kernel/drift");
	assert_int_equal(answer_number_at(&drift, "operations_total"), 0);
	assert_true(json_is_false(answer_at(&drift, "in_sync")));
	assert_non_null(answer_text_at(&drift, "fault"));
	rig.filters = copy_wanted(&rig);
	rig.filters->rules_error = -EBUSY;
	AUTO_REPLY struct answer shown = rig_get(&rig, "/api/v1/kernel");
	assert_int_equal(json_array_size(answer_at(&shown, "filters.rules")), 0);
	assert_string_equal(answer_text_at(&shown, "filters.sets.0.state"), "in_force");
	assert_true(json_is_false(answer_at(&shown, "filters.in_force")));
	rig.filters = copy_wanted(&rig);
	rig.filters->rules_error = -EBUSY;
	rig.filters->rules_family = RULESET_V6;
	ruleset_set_rules(&rig.filters->ruleset, RULESET_V4, RULESET_FILTER, NULL);
	AUTO_REPLY struct answer half = rig_get(&rig, "/api/v1/kernel/drift");
	assert_int_equal(answer_number_at(&half, "operations_total"), 1);
	assert_non_null(strstr(answer_text_at(&half, "operations.0"), "SET_RULES"));
	rig_end(&rig);
}

/* More sets than are shown: one of ours among those that are left out is not as it should be. */
static void what_is_left_out_is_not_in_force_either(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	guard(&rig, "drop");
	rig.filters = copy_wanted(&rig);
	rig.filters->ruleset.count--;
	rig.filters->count = 0;
	rig.filters->left_out = 5000;
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/kernel");
	assert_true(json_is_false(answer_at(&a, "filters.in_force")));
	assert_int_equal(answer_number_at(&a, "filters.sets_left_out"), 5000);
	rig_end(&rig);
}

/* What takes a while is waited for: a list that is filled, a program of iptables. */
static void reconcile_waits_for_what_is_under_way(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	rig.refuse_lists = 2; /* tried again at once, and after a second */
	rig.kernel->services[0].dest_count--;
	AUTO_REPLY struct answer a = rig_ask(&rig, "POST", RECONCILE, "", NULL);
	assert_true(json_is_true(answer_at(&a, "mended")));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_of_all_are_shown),
		cmocka_unit_test(what_cannot_be_read_is_a_fault_where_it_is_wanted),
		cmocka_unit_test(rules_that_were_not_read_are_not_missing),
		cmocka_unit_test(what_is_left_out_is_not_in_force_either),
		cmocka_unit_test(reconcile_waits_for_what_is_under_way),
		cmocka_unit_test(what_could_not_be_made_is_missing),
		cmocka_unit_test(reconcile_mends_what_differs),
		cmocka_unit_test(kernel_shows_ours_and_foreign),
		cmocka_unit_test(kernel_shows_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
