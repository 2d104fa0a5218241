// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

/* The finding of a code, or NULL; every one has its members, and the worst come first. */
static const json_t *finding_of(const struct answer *a, const char *code)
{
	const json_t *list = json_object_get(a->json, "findings"), *one, *found = NULL;
	json_int_t counted = 0;
	size_t i;

	assert_true(json_is_array(list));
	json_array_foreach (list, i, one) {
		assert_true(*json_string_value(json_object_get(one, "what")));
		assert_true(*json_string_value(json_object_get(one, "why")));
		assert_true(*json_string_value(json_object_get(one, "mend")));
		if (strcmp(json_string_value(json_object_get(one, "code")), code) == 0)
			found = one;
		if (strcmp(json_string_value(json_object_get(one, "severity")), "error") == 0)
			assert_true(++counted == (json_int_t)i + 1);
	}
	assert_int_equal(answer_number_at(a, "errors"), counted);
	assert_int_equal(answer_number_at(a, "errors") + answer_number_at(a, "warnings") +
				 answer_number_at(a, "infos"),
			 json_array_size(list));
	return found;
}

/* What the kernel's table shows, beside what the host is like. */
static void the_table_is_looked_at(void **state)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer calm = rig_get(&rig, "/api/v1/system/doctor");
	assert_int_equal(calm.status, 200);
	assert_string_equal(answer_text(&calm, "ipvs"), "auto");
	assert_null(finding_of(&calm, "services_foreign"));
	assert_null(finding_of(&calm, "service_of_others"));
	assert_null(finding_of(&calm, "ipvs_off"));
	assert_non_null(finding_of(&calm, "iptables_backend"));
	op.service.key = (struct plan_key){.family = AF_INET,
					   .protocol = IPPROTO_TCP,
					   .port = 53,
					   .address = {AF_INET, {198, 51, 100, 9}}};
	strcpy(op.service.scheduler, "rr");
	assert_int_equal(diff_apply_op(rig.kernel, &op), 0); /* the loop sleeps */
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/system/doctor");
	assert_non_null(finding_of(&a, "services_foreign"));
	op.service.key.address = (struct addr){AF_INET, {192, 0, 2, 1}};
	assert_int_equal(diff_apply_op(rig.kernel, &op), 0);
	AUTO_REPLY struct answer b = rig_get(&rig, "/api/v1/system/doctor");
	assert_string_equal(
		json_string_value(json_object_get(finding_of(&b, "service_of_others"), "object")),
		"tcp 192.0.2.1:53");
	rig_end(&rig);
}

static void where_nothing_is_forwarded_it_says_so(void **state)
{
	struct rig rig = {.kernel_off = true};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/system/doctor");
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_text(&a, "ipvs"), "off");
	assert_non_null(finding_of(&a, "ipvs_off"));
	assert_null(finding_of(&a, "iptables_backend"));
	/* Who was answered is no longer counted of those who ask at once. */
	for (int i = 0; i < 10; i++) {
		AUTO_REPLY struct answer again = rig_get(&rig, "/api/v1/system/doctor");
		assert_int_equal(again.status, 200);
	}
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_looked_at),
		cmocka_unit_test(where_nothing_is_forwarded_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
