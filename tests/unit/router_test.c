// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/router.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static const struct route *find(enum request_method m, const char *path,
				const char *ret_params[REQUEST_PARAMS_MAX], unsigned *ret_allowed)
{
	static struct uri u; /* params point into it */
	const struct route *route;

	uri_clear(&u);
	*ret_allowed = 0;
	ret_params[0] = ret_params[1] = NULL;
	if (uri_parse(path, &u))
		return NULL;
	route = router_find(m, &u, ret_params, ret_allowed);
	return route;
}

/* The pattern of the route, "" if there is none. */
static const char *pattern(enum request_method m, const char *path,
			   const char *ret_params[REQUEST_PARAMS_MAX])
{
	unsigned allowed;
	const struct route *r = find(m, path, ret_params, &allowed);

	return r ? r->pattern : "";
}

static void router_finds_routes(void **state)
{
	const char *params[REQUEST_PARAMS_MAX];

	(void)state;
	assert_string_equal(pattern(METHOD_GET, "/api/v1/server-groups/web/servers/w1?x=1", params),
			    "/api/v1/server-groups/{server_group}/servers/{server}");
	assert_string_equal(params[0], "web");
	assert_string_equal(params[1], "w1");
	assert_string_equal(pattern(METHOD_PUT, "/api/v1/server-groups/web/servers", params),
			    "/api/v1/server-groups/{server_group}/servers");
	assert_null(params[1]);
	assert_string_equal(pattern(METHOD_GET, "/api/v1/load-balancers/shop/status", params),
			    "/api/v1/load-balancers/{load_balancer}/status");
	assert_string_equal(pattern(METHOD_GET, "/api/v1/load-balancers/shop/status/x", params),
			    "");
	assert_string_equal(pattern(METHOD_GET, "/api/v2/zones", params), "");
	assert_string_equal(pattern(METHOD_GET, "/livez/", params), "");
	assert_string_equal(pattern(METHOD_GET, "/api/v1/zones/", params), "");
	assert_string_equal(pattern(METHOD_GET, "/api/v1/server-groups//servers", params), "");
	assert_string_equal(pattern(METHOD_GET, "/", params), "");
}

static void router_tells_methods(void **state)
{
	const char *params[REQUEST_PARAMS_MAX];
	char allow[ROUTER_ALLOW_MAX];
	unsigned allowed;

	(void)state;
	assert_null(find(METHOD_POST, "/api/v1/zones/za", params, &allowed));
	assert_string_equal(router_format_allow(allowed, allow), "GET, HEAD, PUT, PATCH, DELETE");
	assert_null(find(METHOD_DELETE, "/api/v1/config", params, &allowed));
	assert_string_equal(router_format_allow(allowed, allow), "GET, HEAD, PUT");
	assert_null(find(METHOD_GET, "/api/v1/config/validate", params, &allowed));
	assert_string_equal(router_format_allow(allowed, allow), "POST");
	assert_null(find(METHOD_OTHER, "/metrics", params, &allowed));
	assert_string_equal(router_format_allow(allowed, allow), "GET, HEAD");
}

static bool is_one_of(const char *text, ...)
{
	const char *item;
	bool found = false;
	va_list args;

	va_start(args, text);
	while ((item = va_arg(args, const char *)))
		found |= strcmp(item, text) == 0;
	va_end(args);
	return found;
}

/* The table itself: no two rows for one thing, and nobody may write or read without a role. */
static void router_table_is_sound(void **state)
{
	const struct route *rows;
	size_t count;

	(void)state;
	rows = router_table(&count);
	assert_true(count > 40);
	for (size_t i = 0; i < count; i++) {
		bool open = is_one_of(rows[i].pattern, "/livez", "/readyz", "/api/v1/auth/login",
				      "/api/v1/auth/logout", "/api/v1/auth/first-user", NULL);
		bool own = is_one_of(rows[i].pattern, "/api/v1/sessions/{session}", NULL);

		assert_non_null(rows[i].handler);
		assert_non_null(rows[i].summary);
		assert_int_equal(rows[i].role == ROLE_NOBODY, open);
		if (rows[i].flags & ROUTE_OVERRIDE)
			assert_int_equal(rows[i].role, ROLE_OPERATOR);
		else if (rows[i].method != METHOD_GET && rows[i].method != METHOD_POST && !own)
			assert_true(rows[i].role >= ROLE_EDITOR);
		if (rows[i].flags & ROUTE_CONDITION)
			assert_true(rows[i].role >= ROLE_OPERATOR);
		assert_int_equal((rows[i].flags & (ROUTE_BODY | ROUTE_TEXT)) != 0,
				 rows[i].request != NULL);
		for (size_t j = 0; j < i; j++)
			assert_true(rows[j].method != rows[i].method ||
				    strcmp(rows[j].pattern, rows[i].pattern) != 0);
	}
}

/* Of every route: what is named is known, nothing else is, and the names fit. */
static void router_knows_parameters(void **state)
{
	const struct route *rows;
	char names[ROUTER_QUERY_MAX], *rest, *name;
	size_t count, named = 0;

	(void)state;
	rows = router_table(&count);
	for (size_t i = 0; i < count; i++) {
		assert_true(strlen(router_format_query(&rows[i], names)) < sizeof(names) - 16);
		assert_false(router_knows_query(&rows[i], "none") ||
			     router_knows_query(&rows[i], "") ||
			     router_knows_query(&rows[i], "Limit"));
		rest = names;
		while ((name = strsep(&rest, ","))) {
			name += *name == ' ';
			named += *name != '\0';
			assert_true(!*name || router_knows_query(&rows[i], name));
		}
		assert_int_equal(router_knows_query(&rows[i], "dry_run"),
				 (rows[i].flags & (ROUTE_DRY_RUN | ROUTE_OVERRIDE | ROUTE_TRIAL)) !=
					 0);
		assert_int_equal(router_knows_query(&rows[i], "cursor"),
				 (rows[i].flags & ROUTE_PAGED) != 0);
	}
	assert_true(named > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(router_finds_routes),
		cmocka_unit_test(router_tells_methods),
		cmocka_unit_test(router_table_is_sound),
		cmocka_unit_test(router_knows_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
