// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/ui.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/context.h"
#include "api/request.h"
#include "base/mem.h"

static struct request *ask(struct api_context *api, const char *target, const char *none_match)
{
	struct request *r = request_new(api, target);

	r->method = METHOD_GET;
	if (none_match)
		r->if_none_match = mem_strdup(none_match);
	return r;
}

static const char *header(const struct request *r, const char *name)
{
	for (size_t i = 0; i < r->header_count; i++) {
		if (strcmp(r->headers[i].name, name) == 0)
			return r->headers[i].value;
	}
	return "";
}

static void ui_finds_its_files(void **state)
{
	static const struct ui_file files[] = {
		{"index.html", "text/html", "\"1\"", (const unsigned char *)"i", 1},
		{"app-1.js", "text/javascript", "\"2\"", (const unsigned char *)"a", 1},
	};

	(void)state;
	assert_ptr_equal(ui_find(files, 2, ""), &files[0]);
	assert_ptr_equal(ui_find(files, 2, "index.html"), &files[0]);
	assert_ptr_equal(ui_find(files, 2, "app-1.js"), &files[1]);
	assert_null(ui_find(files, 2, "app-1.j"));
	assert_null(ui_find(files, 2, "/"));
	assert_null(ui_find(NULL, 0, ""));
}

static void ui_leaves_the_api_alone(void **state)
{
	static const char *const targets[] = {"/api/v1/zones", "/livez", "/uix/", "/api/v1/ui/",
					      "//ui/"};
	struct api_context api = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct request *r = ask(&api, targets[i], NULL);

		assert_false(ui_serve(r));
		assert_false(r->replied);
		request_free(r);
	}
}

static void ui_redirects_to_its_page(void **state)
{
	static const char *const targets[] = {"/", "/ui", "/?x=1"};
	struct api_context api = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct request *r = ask(&api, targets[i], NULL);

		assert_true(ui_serve(r));
		assert_int_equal(r->status, 308);
		assert_string_equal(header(r, "Location"), "/ui/");
		assert_false(r->ui);
		request_free(r);
	}
}

/* Whatever this build holds: every file of it, for ever but for the page itself; and again only when it has changed. */
static void ui_hands_out_what_it_holds(void **state)
{
	struct api_context api = {0};
	size_t count;
	const struct ui_file *files = ui_files(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *target = mem_printf("/ui/%s", files[i].name);
		struct request *r = ask(&api, target, "\"other\"");

		assert_true(ui_serve(r));
		assert_int_equal(r->status, 200);
		assert_true(r->ui);
		assert_int_equal(r->body_size, files[i].size);
		assert_int_equal((unsigned char)r->body[0], 0x1f); /* gzip */
		assert_string_equal(header(r, "Content-Encoding"), "gzip");
		assert_true((strstr(header(r, "Cache-Control"), "immutable") != NULL) ==
			    (strcmp(files[i].name, "index.html") != 0));
		request_free(r);

		r = ask(&api, target, files[i].etag);
		assert_true(ui_serve(r));
		assert_int_equal(r->status, 304);
		assert_int_equal(r->body_size, 0);
		request_free(r);
	}
}

static void ui_refuses_what_is_not_there(void **state)
{
	static const char *const targets[] = {"/ui/none.js", "/ui/../etc/passwd", "/ui/a/b",
					      "/ui/%2e%2e"};
	struct api_context api = {0};
	struct request *r;

	(void)state;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		r = ask(&api, targets[i], NULL);
		assert_true(ui_serve(r));
		assert_int_equal(r->status, 404);
		assert_false(r->ui);
		request_free(r);
	}
	r = ask(&api, "/ui/", NULL);
	r->method = METHOD_POST;
	assert_true(ui_serve(r));
	assert_int_equal(r->status, 405);
	assert_string_equal(header(r, "Allow"), "GET, HEAD");
	request_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ui_finds_its_files),
		cmocka_unit_test(ui_leaves_the_api_alone),
		cmocka_unit_test(ui_redirects_to_its_page),
		cmocka_unit_test(ui_hands_out_what_it_holds),
		cmocka_unit_test(ui_refuses_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
