// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/audit.h"

#include "api_rig.h"

#include <unistd.h>

#define ZONE "/api/v1/zones/za"

static void write_zone(const struct rig *rig, const char *path, const char *body, int status)
{
	AUTO_REPLY struct answer a = rig_put(rig, path, body);

	if (a.status != status)
		fail_msg("%s", a.text);
}

/* A request over TCP with a token of its own. */
static int ask_as(const struct rig *rig, const char *token, const char *method, const char *path)
{
	AUTO_FREE char *head = mem_printf(
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"Authorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}",
		method, path, token);
	int fd = rig_connect_tcp(rig);

	rig_send(fd, head, strlen(head));
	AUTO_REPLY struct answer a = rig_read(fd, 5000);
	return a.status;
}

static const json_t *entry(const struct answer *a, size_t index)
{
	return json_array_get(json_object_get(a->json, "items"), index);
}

static size_t entries(const struct answer *a)
{
	return json_array_size(json_object_get(a->json, "items"));
}

static const char *text(const json_t *item, const char *member)
{
	const char *value = json_string_value(json_object_get(item, member));

	return value ? value : "";
}

static json_int_t number(const json_t *item, const char *member)
{
	return json_integer_value(json_object_get(item, member));
}

/* The audit once it has `count` entries: those of refusals come a moment after the answer. */
static struct answer audit_of(const struct rig *rig, size_t count)
{
	struct answer a = rig_get(rig, "/api/v1/audit");

	for (int i = 0; i < 200 && entries(&a) < count; i++) {
		answer_clear(&a);
		usleep(10000);
		a = rig_get(rig, "/api/v1/audit");
	}
	assert_int_equal(a.status, 200);
	assert_int_equal(entries(&a), count);
	return a;
}

static void audit_has_changes_with_their_revisions(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	write_zone(&rig, ZONE "?comment=s3cret", "{\"description\":\"s3cret\"}", 201);
	write_zone(&rig, ZONE, "{\"description\":\"b\"}", 200);
	write_zone(&rig, ZONE "?dry_run=true", "{\"description\":\"c\"}", 200);
	write_zone(&rig, ZONE, "{\"description\":\"b\"}", 200); /* changes nothing */
	AUTO_REPLY struct answer deleted = rig_ask(&rig, "DELETE", ZONE, "", NULL);
	assert_int_equal(deleted.status, 204);
	AUTO_REPLY struct answer a = audit_of(&rig, 5);
	assert_string_equal(text(entry(&a, 4), "actor"), "root");
	assert_string_equal(text(entry(&a, 4), "via"), "unix");
	assert_string_equal(text(entry(&a, 4), "method"), "PUT");
	assert_string_equal(text(entry(&a, 4), "object"), "zones/za");
	assert_string_equal(text(entry(&a, 4), "result"), "ok");
	assert_int_equal(number(entry(&a, 4), "status"), 201);
	assert_int_equal(number(entry(&a, 4), "revision_before"), 0);
	assert_int_equal(number(entry(&a, 4), "revision_after"), 1);
	assert_int_equal(number(entry(&a, 3), "revision_after"), 2);
	assert_int_equal(number(entry(&a, 0), "status"), 204);
	assert_true(json_is_null(json_object_get(entry(&a, 2), "revision_after")));
	assert_true(json_is_true(json_object_get(entry(&a, 2), "dry_run")));
	/* Nothing of what was sent is in it. */
	assert_null(strstr(a.text, "s3cret"));
	rig_end(&rig);
}

static void audit_has_what_was_refused(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	write_zone(&rig, ZONE, "{\"nix\":1}", 422);
	assert_int_equal(ask_as(&rig, "not-the-token-of-anybody", "PUT", ZONE), 401);
	assert_int_equal(ask_as(&rig, "not-the-token-of-anybody", "GET", ZONE), 401);
	AUTO_REPLY struct answer gone = rig_ask(&rig, "DELETE", ZONE, "", NULL);
	assert_int_equal(gone.status, 404);
	AUTO_REPLY struct answer lost = rig_get(&rig, ZONE); /* reading nothing is no attempt */
	assert_int_equal(lost.status, 404);
	AUTO_REPLY struct answer a = audit_of(&rig, 4);
	assert_string_equal(text(entry(&a, 0), "result"), "not-found");
	assert_string_equal(text(entry(&a, 1), "result"), "unauthorized");
	assert_string_equal(text(entry(&a, 1), "method"), "GET");
	assert_string_equal(text(entry(&a, 1), "actor"), "nobody");
	assert_string_equal(text(entry(&a, 1), "source"), "127.0.0.1");
	assert_string_equal(text(entry(&a, 3), "result"), "invalid");
	assert_null(strstr(a.text, "not-the-token"));
	rig_end(&rig);
}

/* (Nobody's tokens would make their source wait.) A flood is one entry, and one more with its number; a scan of many paths is no more than what a source may have. */
static void audit_counts_repetitions(void **state)
{
	struct rig rig = {0};
	size_t before;

	(void)state;
	rig_start(&rig, 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask_as(&rig, "", "PUT", ZONE), 401);
	for (int i = 0; i < AUDIT_SOURCE_MAX + 20; i++) {
		AUTO_FREE char *path = mem_printf("/api/v1/zones/z%d", i);

		assert_int_equal(ask_as(&rig, "", "PUT", path), 401);
	}
	AUTO_REPLY struct answer a = audit_of(&rig, AUDIT_SOURCE_MAX);
	assert_non_null(strstr(a.text, "z0"));
	before = json_array_size(rig.journal);
	rig.linger = true; /* the engine writes what the end of the API counted */
	ev_async_send(rig.loop, &rig.stop);
	for (int i = 0; i < 200 && json_array_size(rig.journal) < before + 2; i++)
		usleep(10000);
	assert_int_equal(json_array_size(rig.journal), before + 2);
	assert_non_null(strstr(text(json_array_get(rig.journal, before), "value"), "\"count\":19"));
	assert_non_null(
		strstr(text(json_array_get(rig.journal, before + 1), "value"), "\"count\":21"));
	assert_non_null(strstr(text(json_array_get(rig.journal, before + 1), "value"),
			       "\"result\":\"others\""));
	rig.linger = false;
	rig_end(&rig);
}

/* With the store down nobody is told that it is done, and what was refused is kept for later. */
static void audit_waits_for_the_store(void **state)
{
	struct rig rig = {.fail_commits = true, .fail_queries = true};

	(void)state;
	rig_start(&rig, 0);
	write_zone(&rig, ZONE, "{}", 503);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/audit");
	assert_int_equal(a.status, 503);
	assert_string_equal(answer_text(&a, "type"), "store-unavailable");
	rig_end(&rig);
}

static void audit_checks_its_queries(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_get(&rig, "/api/v1/audit?since=yesterday");
	assert_int_equal(a.status, 400);
	AUTO_REPLY struct answer b = rig_get(&rig, "/api/v1/audit?who=root");
	assert_int_equal(b.status, 400);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(audit_has_changes_with_their_revisions),
		cmocka_unit_test(audit_has_what_was_refused),
		cmocka_unit_test(audit_counts_repetitions),
		cmocka_unit_test(audit_waits_for_the_store),
		cmocka_unit_test(audit_checks_its_queries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
