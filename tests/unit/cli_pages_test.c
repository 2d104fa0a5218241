// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_pages.h"

#include "cli_rig.h"

static void pages_are_joined(void **state)
{
	AUTO_FREE char *document = rig_big_document(2345);
	struct rig rig = {0};
	struct cli_options o = {0};
	enum cli_exit result;

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	o.socket = rig.socket;
	struct cli_client *c = cli_client_new(&o);
	json_t *all = cli_pages_fetch(c, CLI_BASE "/server-groups/big/servers", &result);
	assert_int_equal(result, EXIT_OK);
	assert_int_equal(json_array_size(all), 2345);
	for (size_t i = 0; i < 2345; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%05zu", i);
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(all, i), "name")), name);
	}
	json_decref(all);
	assert_null(cli_pages_fetch(c, CLI_BASE "/server-groups/none/servers", &result));
	assert_int_equal(result, EXIT_NOT_FOUND);
	cli_client_free(c);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
