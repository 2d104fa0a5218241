// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences and members; with an engine behind it: handlers_status_test.c and handlers_shift_test.c.
#include "api/publication_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "zone/zone.h"

#include <stdio.h>
#include <string.h>

static struct zone_publication publication(enum zone_reason r)
{
	struct zone_publication p = {.lb = "shop",
				     .zone = "za",
				     .family = AF_INET,
				     .published = r == ZONE_REASON_HEALTHY ||
						  r == ZONE_REASON_FAIL_OPEN,
				     .reason_code = zone_reason_name(r),
				     .vip_state = "unhealthy",
				     .vip_source = "probe",
				     .vip_detail = "no echo reply in 500 ms",
				     .servers_eligible = 4,
				     .servers_in_service = 1};

	addr_parse("192.0.2.1", &p.vip);
	return p;
}

/* Every reason has its sentence, which names the cause. */
static void publication_tells_why(void **state)
{
	static const struct {
		enum zone_reason reason;
		const char *group;
		const char *shift;
		const char *says;
	} rows[] = {
		{ZONE_REASON_HEALTHY, NULL, NULL, "handed out: the VIP and every server group"},
		{ZONE_REASON_UNDECIDED, NULL, NULL, "until the VIP has its first verdict"},
		{ZONE_REASON_UNDECIDED, "web", NULL, "until server group web has its first"},
		{ZONE_REASON_FAIL_OPEN, "web", NULL, "(fail-open): of server group web too few"},
		{ZONE_REASON_FAIL_OPEN, NULL, NULL,
		 "the VIP is unhealthy: no echo reply in 500 ms"},
		{ZONE_REASON_VIP_UNHEALTHY, NULL, NULL, "left out: the VIP is unhealthy: no echo"},
		{ZONE_REASON_GROUP, "web", NULL,
		 "web too few are in service (in all groups 1 of 4"},
		{ZONE_REASON_MANUAL, NULL, "17", "shifted away by zone shift 17"},
		{ZONE_REASON_DISABLED, NULL, NULL, "disabled by the configuration"},
	};
	char text[PUBLICATION_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zone_publication p = publication(rows[i].reason);

		p.group = rows[i].group;
		p.shift = rows[i].shift;
		if (!strstr(publication_json_describe(&p, text), rows[i].says))
			fail_msg("%zu: %s", i, text);
	}
}

/* No count of servers says that there can be none. */
static void a_missing_family_is_told(void **state)
{
	struct zone_publication p = publication(ZONE_REASON_FAIL_OPEN);
	char text[PUBLICATION_TEXT_MAX];

	(void)state;
	p.group = "web";
	p.lacks_family = true;
	p.family = AF_INET6;
	assert_string_equal(
		publication_json_describe(&p, text),
		"handed out only because no zone is healthy (fail-open): server group web "
		"has no IPv6 server");
	p.family = AF_INET;
	p.reason_code = zone_reason_name(ZONE_REASON_GROUP);
	assert_string_equal(publication_json_describe(&p, text),
			    "left out: server group web has no IPv4 server");
}

/* Nothing is known yet, which is no failure; and nothing ever will be where nobody looks. */
static void undecided_publications_tell_why(void **state)
{
	struct zone_publication p = publication(ZONE_REASON_UNDECIDED);
	char text[PUBLICATION_TEXT_MAX];

	(void)state;
	p.published = true;
	assert_string_equal(publication_json_describe(&p, text),
			    "handed out with all others: no zone has its first verdict yet");
	p.published = false;
	p.vip_state = "not_probed";
	snprintf(p.vip_detail, sizeof(p.vip_detail), "not probed: it has no dns_name");
	assert_string_equal(publication_json_describe(&p, text),
			    "left out: not probed: it has no dns_name");
}

static void publication_is_shown_by_zone(void **state)
{
	struct zone_publication list[3] = {publication(ZONE_REASON_FAIL_OPEN),
					   publication(ZONE_REASON_HEALTHY),
					   publication(ZONE_REASON_HEALTHY)};
	const struct publication_list all = {.list = list, .count = 3};
	json_t *zone, *one;

	(void)state;
	assert_false(publication_json_fail_open(&all));
	list[0].fail_open = true;
	list[1].family = AF_INET6;
	addr_parse("203.0.113.9", &list[0].published_address);
	addr_parse("2001:db8::1", &list[1].vip);
	list[2].zone = "zb";
	assert_true(publication_json_fail_open(&all));
	assert_ptr_equal(publication_json_find(&all, "za", AF_INET6), &list[1]);
	assert_null(publication_json_find(&all, "zb", AF_INET6));
	zone = publication_json_zone(&all, "za");
	assert_int_equal(json_array_size(zone), 2);
	one = json_array_get(zone, 0);
	assert_int_equal(json_integer_value(json_object_get(one, "family")), 4);
	assert_string_equal(json_string_value(json_object_get(one, "address")), "203.0.113.9");
	assert_string_equal(json_string_value(json_object_get(one, "vip")), "192.0.2.1");
	assert_true(json_is_true(json_object_get(one, "fail_open")));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(one, "vip_health"), "source")),
		"probe");
	one = json_array_get(zone, 1);
	assert_int_equal(json_integer_value(json_object_get(one, "family")), 6);
	assert_string_equal(json_string_value(json_object_get(one, "address")), "2001:db8::1");
	json_decref(zone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(publication_tells_why),
		cmocka_unit_test(a_missing_family_is_told),
		cmocka_unit_test(undecided_publications_tell_why),
		cmocka_unit_test(publication_is_shown_by_zone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
