// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api/sse.h"
#include "api_rig.h"

#define QUIET 300 /* ms without a byte: all has come */

static void note(struct rig *rig, unsigned id, const char *type, const char *object)
{
	AUTO_FREE char *key = mem_printf("%u", id);
	AUTO_FREE char *value = mem_printf(
		"{\"id\":\"%u\",\"at\":\"1970-01-01T00:00:01.000Z\",\"type\":\"%s\",\"object\":\"%s\","
		"\"severity\":\"notice\",\"detail\":\"d\",\"data\":{}}",
		id, type, object);

	rig_note(rig, STORE_EVENT_KIND, key, USEC_PER_SEC, value);
}

static int open_stream(const struct rig *rig, const char *query, const char *header)
{
	AUTO_FREE char *head = mem_printf("GET /api/v1/events%s HTTP/1.1\r\nHost: localhost\r\n"
					  "Accept: text/event-stream\r\n%s\r\n",
					  query, header);
	int fd = rig_connect(rig);

	rig_send(fd, head, strlen(head));
	return fd;
}

/* Something must come within ten seconds; then reads until it is quiet. The connection stays. */
static char *read_some(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char *text = mem_alloc(1 << 20);
	size_t size = 0;
	ssize_t n;

	while (poll(&p, 1, size ? ms : 10000) == 1 &&
	       (n = read(fd, text + size, (1 << 20) - 1 - size)) > 0)
		size += (size_t)n;
	text[size] = '\0';
	return text;
}

/* Of a new stream: its first words, however late they come, and what follows until it is quiet. */
static char *read_begin(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char *text = mem_alloc(1 << 20);
	size_t size = 0;
	ssize_t n = 1;

	text[0] = '\0';
	while (n > 0 && poll(&p, 1, strstr(text, ": ok\n\n") ? ms : 5000) == 1) {
		n = read(fd, text + size, (1 << 20) - 1 - size);
		size += n > 0 ? (size_t)n : 0;
		text[size] = '\0';
	}
	return text;
}

/* Within ten seconds, whatever still comes in until then. */
static bool has_ended(int fd)
{
	const usec_t until = time_monotonic() + 10 * USEC_PER_SEC;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char piece[4096];

	while (time_monotonic() < until && poll(&p, 1, 2000) == 1)
		if (read(fd, piece, sizeof(piece)) <= 0)
			return true;
	return false;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in: %s", part, text);
}

static void has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in: %s", part, text);
}

/* ---- the list ---- */

static void events_are_listed_newest_first(void **state)
{
	struct rig rig = {0};

	(void)state;
	for (unsigned i = 1; i <= 5; i++)
		note(&rig, 10 * i, i % 2 ? "server.health_changed" : "shift.started",
		     i == 5 ? "server_groups/web/servers/w1" : "zones/za");
	rig_start(&rig, 0);
	AUTO_REPLY struct answer first = rig_get(&rig,
						 "/api/v1/events?type=server.*,shift.*&limit=3");
	assert_int_equal(first.status, 200);
	assert_int_equal(json_array_size(json_object_get(first.json, "items")), 3);
	assert_string_equal(answer_text(&first, "next_cursor"), "30");
	AUTO_REPLY struct answer last = rig_get(
		&rig, "/api/v1/events?type=server.*,shift.*&limit=3&cursor=30");
	assert_int_equal(json_array_size(json_object_get(last.json, "items")), 2);
	assert_true(json_is_null(json_object_get(last.json, "next_cursor")));
	AUTO_REPLY struct answer typed = rig_get(&rig, "/api/v1/events?type=drain.ended,shift.*");
	assert_int_equal(json_array_size(json_object_get(typed.json, "items")), 2);
	AUTO_REPLY struct answer below = rig_get(&rig, "/api/v1/events?object=server_groups/web");
	assert_int_equal(json_array_size(json_object_get(below.json, "items")), 1);
	AUTO_REPLY struct answer none = rig_get(&rig, "/api/v1/events?object=server_groups/we");
	assert_int_equal(json_array_size(json_object_get(none.json, "items")), 0);
	rig_end(&rig);
}

static void what_is_wrong_is_refused(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer type = rig_get(&rig, "/api/v1/events?type=server.*,servers.*");
	assert_int_equal(type.status, 400);
	has(type.body, "servers.*");
	has(type.body, "daemon.*, server.*");
	AUTO_REPLY struct answer object = rig_get(&rig, "/api/v1/events?object=web");
	assert_int_equal(object.status, 400);
	has(object.body, "as server_groups/web");
	has(object.body, "zones, server_groups, load_balancers, access_lists, settings, users");
	AUTO_REPLY struct answer stream = rig_read(open_stream(&rig, "?object=web/a", ""), QUIET);
	assert_int_equal(stream.status, 400);
	AUTO_REPLY struct answer since = rig_get(&rig, "/api/v1/events?since=yesterday");
	assert_int_equal(since.status, 400);
	AUTO_REPLY struct answer last = rig_read(open_stream(&rig, "", "Last-Event-ID: seven\r\n"),
						 QUIET);
	assert_int_equal(last.status, 400);
	rig_end(&rig);
}

/* ---- the stream ---- */

static void a_stream_begins_at_once_and_goes_on(void **state)
{
	struct rig rig = {.heartbeat = 100 * USEC_PER_MS};
	int all, some;

	(void)state;
	rig_start(&rig, 0);
	all = open_stream(&rig, "", "");
	some = open_stream(&rig, "?type=drain.*", "");
	AUTO_FREE char *begin = read_begin(all, 50);
	has(begin, "HTTP/1.1 200");
	has(begin, "Content-Type: text/event-stream");
	has(begin, ": ok\n\n");
	rig_load(&rig);
	usleep(400000);
	AUTO_FREE char *more = read_some(all, 50);
	has(more, "event: config.applied\ndata: {\"id\":\"");
	has(more, ": heartbeat\n");
	AUTO_FREE char *filtered = read_some(some, 50);
	has_not(filtered, "config.applied");
	/* What it did not want moves its place on all the same. */
	has(strstr(filtered, ": heartbeat"), "\nid: ");
	close(all);
	close(some);
	rig_end(&rig);
}

static void a_stream_resumes(void **state)
{
	struct rig rig = {0};

	(void)state;
	for (unsigned i = 1; i <= 250; i++)
		note(&rig, 10 * i, "shift.started", "zones/za");
	rig_start(&rig, 0);
	AUTO_REPLY struct answer behind = rig_read(open_stream(&rig, "", "Last-Event-ID: 20\r\n"),
						   QUIET);
	has_not(behind.text, "stream.reset");
	has_not(behind.text, "id: 20\n");
	has(behind.text, "id: 30\nevent: shift.started\ndata: {\"id\":\"30\"");
	has(behind.text, "{\"id\":\"2500\"");
	AUTO_REPLY struct answer newest = rig_read(open_stream(&rig, "?last_event_id=2500", ""),
						   QUIET);
	has_not(newest.text, "shift.started");
	has_not(newest.text, "stream.reset");
	AUTO_REPLY struct answer begin = rig_read(open_stream(&rig, "?last_event_id=0", ""), QUIET);
	has(begin.text, "id: 10\nevent: shift.started");
	has(begin.text, "{\"id\":\"2490\"");
	/* Nobody can say what came behind an event that is not known. */
	AUTO_REPLY struct answer gone = rig_read(open_stream(&rig, "?last_event_id=25", ""), QUIET);
	has(gone.text, "event: stream.reset\n");
	has_not(gone.text, "shift.started");
	rig_end(&rig);
}

static void a_store_that_cannot_be_read_is_a_gap(void **state)
{
	struct rig rig = {.fail_queries = true};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer gone = rig_read(open_stream(&rig, "?last_event_id=25", ""), QUIET);
	has(gone.text, "event: stream.reset\n");
	AUTO_REPLY struct answer list = rig_get(&rig, "/api/v1/events");
	assert_int_equal(list.status, 503);
	rig_end(&rig);
}

static void wait_for_room(const struct rig *rig)
{
	for (int tries = 0;; tries++) {
		int fd = open_stream(rig, "", "");
		AUTO_FREE char *begin = read_begin(fd, 50);

		close(fd);
		if (strstr(begin, ": ok\n\n"))
			return;
		if (tries == 50)
			fail_msg("no room: %s", begin);
	}
}

/* Those who vanish without a word are found by their heartbeat, and make room. */
static void streams_are_limited(void **state)
{
	struct rig rig = {.heartbeat = 100 * USEC_PER_MS};
	int fds[SSE_STREAMS_MAX];

	(void)state;
	rig_start(&rig, 0);
	for (int i = 0; i < SSE_STREAMS_MAX; i++) {
		fds[i] = open_stream(&rig, "", "");
		AUTO_FREE char *begin = read_begin(fds[i], 20);
		has(begin, ": ok\n\n");
	}
	AUTO_REPLY struct answer refused = rig_read(open_stream(&rig, "", ""), QUIET);
	assert_int_equal(refused.status, 429);
	AUTO_REPLY struct answer list = rig_get(&rig, "/api/v1/events");
	assert_int_equal(list.status, 200);
	for (int i = 0; i < SSE_STREAMS_MAX; i++)
		close(fds[i]);
	wait_for_room(&rig);
	rig_end(&rig);
}

/* Nothing is sent to them for a quarter of a minute. */
static void who_closes_makes_room_at_once(void **state)
{
	struct rig rig = {0};
	int fds[SSE_STREAMS_MAX];

	(void)state;
	rig_start(&rig, 0);
	for (int i = 0; i < SSE_STREAMS_MAX; i++) {
		fds[i] = open_stream(&rig, "", "");
		AUTO_FREE char *begin = read_begin(fds[i], 20);
		has(begin, ": ok\n\n");
	}
	for (int i = 0; i < SSE_STREAMS_MAX; i++)
		close(fds[i]);
	wait_for_room(&rig);
	rig_end(&rig);
}

static void a_head_request_gets_no_stream(void **state)
{
	static const char head[] = "HEAD /api/v1/events HTTP/1.1\r\nHost: localhost\r\n"
				   "Accept: text/event-stream\r\nConnection: close\r\n\r\n";
	struct rig rig = {0};
	int fd;

	(void)state;
	rig_start(&rig, 0);
	fd = rig_connect(&rig);
	rig_send(fd, head, strlen(head));
	AUTO_REPLY struct answer a = rig_read(fd, QUIET);
	assert_int_equal(a.status, 200);
	assert_string_equal(strstr(a.text, "\r\n\r\n"), "\r\n\r\n"); /* nor the end of one */
	rig_end(&rig);
}

static void a_stop_ends_the_streams(void **state)
{
	struct rig rig = {0};
	int fd;

	(void)state;
	rig_start(&rig, 0);
	fd = open_stream(&rig, "", "");
	AUTO_FREE char *begin = read_begin(fd, 50);
	has(begin, ": ok\n\n");
	rig_end(&rig);
	assert_true(has_ended(fd));
	close(fd);
}

static void a_stream_ends_with_its_token(void **state)
{
	struct rig rig = {.heartbeat = 100 * USEC_PER_MS};
	int fd;

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer token = rig_ask(&rig, "POST", "/api/v1/tokens", "",
						 "{\"name\":\"watcher\",\"role\":\"viewer\","
						 "\"expires_in\":\"1h\"}");
	assert_int_equal(token.status, 201);
	AUTO_FREE char *head = mem_printf(
		"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
		"Accept: text/event-stream\r\n\r\n",
		answer_text(&token, "token"));
	fd = rig_connect_tcp(&rig);
	rig_send(fd, head, strlen(head));
	AUTO_FREE char *begin = read_begin(fd, 50);
	has(begin, ": ok\n\n");
	AUTO_FREE char *path = mem_printf("/api/v1/tokens/%s", answer_text(&token, "id"));
	AUTO_REPLY struct answer revoked = rig_ask(&rig, "DELETE", path, "", NULL);
	assert_int_equal(revoked.status, 204);
	assert_true(has_ended(fd));
	close(fd);
	rig_end(&rig);
}

static void a_stream_ends_with_the_token_file(void **state)
{
	static const char ask[] =
		"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " RIG_TOKEN
		"\r\nAccept: text/event-stream\r\n\r\n";
	struct rig rig = {.heartbeat = 100 * USEC_PER_MS};
	FILE *f;
	int fd;

	(void)state;
	rig_start(&rig, 0);
	fd = rig_connect_tcp(&rig);
	rig_send(fd, ask, strlen(ask));
	AUTO_FREE char *begin = read_begin(fd, 50);
	has(begin, ": ok\n\n");
	f = fopen(rig.token_file, "w");
	assert_non_null(f);
	fputs("another-token-of-the-tests-0123\n", f);
	fclose(f);
	assert_true(has_ended(fd));
	close(fd);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_listed_newest_first),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(a_stream_begins_at_once_and_goes_on),
		cmocka_unit_test(a_stream_resumes),
		cmocka_unit_test(a_store_that_cannot_be_read_is_a_gap),
		cmocka_unit_test(streams_are_limited),
		cmocka_unit_test(who_closes_makes_room_at_once),
		cmocka_unit_test(a_head_request_gets_no_stream),
		cmocka_unit_test(a_stop_ends_the_streams),
		cmocka_unit_test(a_stream_ends_with_its_token),
		cmocka_unit_test(a_stream_ends_with_the_token_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
