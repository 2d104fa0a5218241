// SPDX-License-Identifier: GPL-2.0-or-later
// Against the kernel that runs the test; more of it in tests/lab/test_doctor.py.
#include "host/host_net.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void links_have_names_and_sizes(void **state)
{
	struct doctor_facts f = {0};
	bool found = false;

	(void)state;
	host_net_read_links(&f);
	assert_int_equal(f.links_error, 0);
	for (size_t i = 0; i < f.link_count; i++) {
		assert_int_not_equal(f.links[i].index, 0);
		assert_int_not_equal(f.links[i].mtu, 0);
		found = found || strcmp(f.links[i].name, "lo") == 0;
	}
	assert_true(found);
	doctor_facts_clear(&f);
}

static void routes_are_those_of_the_kernel(void **state)
{
	/* A class that no route leads to, whatever the host. */
	static const struct addr list[] = {{AF_INET, {127, 0, 0, 1}}, {AF_INET, {255, 0, 0, 1}}};
	struct doctor_facts f = {0};

	(void)state;
	host_net_read_routes(&f, list, 2);
	assert_int_equal(f.routes_error, 0);
	assert_int_equal(f.route_count, 2);
	assert_int_equal(f.routes[0].error, 0);
	assert_true(f.routes[0].local);
	assert_false(f.routes[0].routed);
	assert_int_not_equal(f.routes[0].link, 0);
	assert_int_equal(f.routes[0].source.family, AF_INET);
	doctor_facts_clear(&f);
}

static void neighbours_are_only_those_asked_for(void **state)
{
	static const struct addr list[] = {{AF_INET, {255, 0, 0, 1}}}; /* nobody has it */
	struct doctor_facts f = {0};

	(void)state;
	host_net_read_neighbours(&f, list, 1);
	assert_int_equal(f.neighbours_error, 0);
	assert_int_equal(f.neighbour_count, 0);
	doctor_facts_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_have_names_and_sizes),
		cmocka_unit_test(routes_are_those_of_the_kernel),
		cmocka_unit_test(neighbours_are_only_those_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
