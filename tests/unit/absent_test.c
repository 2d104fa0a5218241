// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/absent.h"

#include "api_rig.h"

static void assert_hint(const struct rig *rig, const char *path, const char *detail)
{
	AUTO_REPLY struct answer a = rig_get(rig, path);

	assert_int_equal(a.status, 404);
	if (!strstr(a.body, detail))
		fail_msg("%s: no \"%s\" in %s", path, detail, a.body);
}

/* Wherever an object is asked for. */
static void mistyped_names_are_told(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	assert_hint(&rig, "/api/v1/load-balancers/shpo",
		    "there is no load_balancers/shpo; did you mean load_balancers/shop?");
	assert_hint(&rig, "/api/v1/load-balancers/shpo/status", "mean load_balancers/shop?");
	assert_hint(&rig, "/api/v1/load-balancers/shpo/listeners", "mean load_balancers/shop?");
	assert_hint(&rig, "/api/v1/load-balancers/shpo/failover-time", "mean load_balancers/shop?");
	assert_hint(&rig, "/api/v1/server-groups/wbe/health", "mean server_groups/web?");
	assert_hint(&rig, "/api/v1/server-groups/web/servers/other/health", "servers/other\"");
	/* Of what is missing the whole is told, and no part of it. */
	assert_hint(&rig, "/api/v1/server-groups/wbe/servers/w1/health",
		    "there is no server_groups/wbe; did you mean server_groups/web?");
	assert_hint(&rig, "/api/v1/server-groups/nope/servers/x",
		    "there is no server_groups/nope\"");
	assert_hint(&rig, "/api/v1/zones/zc", "there is no zones/zc");
	AUTO_REPLY struct answer removed = rig_ask(&rig, "DELETE", "/api/v1/load-balancers/shpo",
						   "", NULL);
	assert_int_equal(removed.status, 404);
	if (!strstr(removed.body, "load_balancers/shpo does not exist; did you mean"))
		fail_msg("%s", removed.body);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistyped_names_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
