// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/api.h"

#include "api_rig.h"

static void assert_refused(const struct api_settings *s, const char *pointer, const char *says)
{
	struct rig rig = {.loop = ev_loop_new(0), .hold_tables = true};
	AUTO_ERR struct err e = {0};
	struct api *api = NULL;

	rig_make_engine(&rig);
	assert_int_not_equal(api_new(rig.loop, s, rig.engine, &e, &api), 0);
	assert_null(api);
	assert_string_equal(e.faults[0].pointer, pointer);
	if (!strstr(err_first(&e), says))
		fail_msg("%s", err_first(&e));
	engine_free(rig.engine);
	plan_table_free(rig.kernel);
	ev_loop_destroy(rig.loop);
}

static void api_refuses_settings(void **state)
{
	struct api_settings s = {
		.socket_fd = -1, .version = "0", .listen = {"127.0.0.1:0"}, .listen_count = 1};
	char token[] = "/tmp/zonegate-token-XXXXXX";
	int fd = mkstemp(token);

	(void)state;
	s.token_file = "/nonexistent/token";
	assert_refused(&s, "[api] token_file", "No such file");
	assert_int_equal(write(fd, RIG_TOKEN, strlen(RIG_TOKEN)), strlen(RIG_TOKEN));
	close(fd);
	s.token_file = token;
	s.listen[0] = "192.0.2.1:80";
	assert_refused(&s, "[api] listen", "not on loopback");
	s.listen[0] = "127.0.0.1:0";
	s.socket_path = "/nonexistent/folder/s";
	assert_refused(&s, "[api] socket", "No such file");
	unlink(token);
	api_free(NULL);
}

/* The socket may come in from outside; then it is not ours to remove. */
static void api_takes_a_socket(void **state)
{
	struct api_settings s = {.version = "0"};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char folder[] = "/tmp/zonegate-api-XXXXXX";
	struct rig rig = {.loop = ev_loop_new(0), .hold_tables = true};
	AUTO_ERR struct err e = {0};
	struct api *api;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/s", folder);
	s.socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(s.socket_fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(s.socket_fd, 1), 0);
	rig_make_engine(&rig);
	assert_int_equal(api_new(rig.loop, &s, rig.engine, &e, &api), 0);
	assert_int_equal(api_port(api, 0), 0);
	api_free(api);
	assert_int_equal(access(sa.sun_path, F_OK), 0);
	unlink(sa.sun_path);
	rmdir(folder);
	engine_free(rig.engine);
	plan_table_free(rig.kernel);
	ev_loop_destroy(rig.loop);
}

static void api_serves_both_ways(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer a = rig_get(&rig, "/livez");
	assert_int_equal(a.status, 200);
	assert_true(rig.port > 0);
	int fd = rig_connect_tcp(&rig);
	rig_send(fd, "GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n", 40);
	AUTO_REPLY struct answer b = rig_read(fd, 1000);
	assert_int_equal(b.status, 200);
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(api_refuses_settings),
		cmocka_unit_test(api_takes_a_socket),
		cmocka_unit_test(api_serves_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
