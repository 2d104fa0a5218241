// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/similar.h"

#include "unit/model_fixture.h"

static void assert_hint(const struct snapshot *s, const struct object_path *p, const char *hint)
{
	char buf[SIMILAR_HINT_MAX];

	assert_string_equal(similar_hint(s, p, buf), hint);
}

static void names_that_were_meant(void **state)
{
	struct snapshot *s = fixture_snapshot(fixture_json(FIXTURE_DOCUMENT));

	(void)state;
	assert_hint(s, &(struct object_path){OBJECT_LOAD_BALANCER, NULL, "shpo"},
		    "; did you mean load_balancers/shop?");
	assert_hint(s, &(struct object_path){OBJECT_SERVER, "spare", "s11"},
		    "; did you mean server_groups/spare/servers/s1?");
	/* Where its parent was mistyped, that is told. */
	assert_hint(s, &(struct object_path){OBJECT_SERVER, "spaer", "s1"},
		    "; did you mean server_groups/spare?");
	assert_hint(s, &(struct object_path){OBJECT_LISTENER, "shop", "other"}, "");
	assert_hint(s, &(struct object_path){OBJECT_ACCESS_LIST, NULL, "office"}, "");
	snapshot_unref(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_were_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
