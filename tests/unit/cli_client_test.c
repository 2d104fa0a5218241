// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_client.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_rig.h"

static void client_calls(void **state)
{
	struct rig rig = {0};
	struct cli_options o = {0};
	AUTO_ANSWER struct cli_answer a = {0}, head = {0}, tcp = {0}, gone = {0};

	(void)state;
	rig_start(&rig, 0);
	o.socket = rig.socket;
	struct cli_client *c = cli_client_new(&o);
	cli_client_call(c,
			&(struct cli_call){.method = "PUT",
					   .path = CLI_BASE "/zones/za",
					   .body = "{}",
					   .body_size = 2},
			&a);
	assert_int_equal(a.status, 201);
	assert_int_equal(a.etag[0], '"');
	assert_true(json_is_object(a.json));
	cli_client_call(c, &(struct cli_call){.method = "HEAD", .path = CLI_BASE "/config"}, &head);
	assert_int_equal(head.status, 200);
	assert_string_equal(head.etag, "\"r1\"");
	assert_null(head.json);
	cli_client_free(c);

	/* By TCP, with the token. */
	AUTO_FREE char *url = mem_printf("http://127.0.0.1:%u", rig.port);
	o.server = url;
	o.token_file = rig.token_file;
	c = cli_client_new(&o);
	cli_client_get(c, CLI_BASE "/zones/za", &tcp);
	assert_int_equal(tcp.status, 200);
	cli_client_free(c);
	o.token_file = "/nonexistent/token";
	assert_null(cli_client_new(&o));
	o = (struct cli_options){.server = "127.0.0.1:7443"};
	assert_null(cli_client_new(&o));
	o.server = "unix:///run/zonegate/api.sock";
	assert_null(cli_client_new(&o));
	rig_end(&rig);

	o = (struct cli_options){.socket = rig.socket};
	c = cli_client_new(&o);
	cli_client_get(c, "/livez", &gone);
	assert_int_equal(gone.status, 0);
	cli_client_free(c);
	cli_client_free(NULL);
}

/* What is said of this token file, which two clients read. Caller frees. */
static char *told_of(const char *path)
{
	struct cli_options o = {.server = "http://127.0.0.1:1",
				.token_file = path,
				.token_files = {path, path},
				.token_count = 2};
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size), *old = stderr;

	stderr = to;
	cli_client_warn_of_tokens(&o);
	struct cli_client *c = cli_client_new(&o), *second = cli_client_new(&o);
	stderr = old;
	fclose(to);
	assert_non_null(c);
	assert_non_null(second);
	cli_client_free(c);
	cli_client_free(second);
	return text;
}

static void a_token_for_everybody_is_warned_of(void **state)
{
	char path[] = "/tmp/zonegate-token-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, "sixteen-letters-1\n", 18), 18);
	AUTO_FREE char *closed = told_of(path);
	assert_string_equal(closed, "");
	assert_int_equal(fchmod(fd, 0644), 0);
	AUTO_FREE char *opened = told_of(path);
	assert_non_null(strstr(opened, "warning"));
	assert_non_null(strstr(opened, "chmod go= it"));
	assert_null(strstr(strstr(opened, "warning") + 1, "warning"));
	close(fd);
	unlink(path);
}

static void client_judges(void **state)
{
	static const struct {
		long status;
		enum cli_exit exit;
	} rows[] = {
		{0, EXIT_UNREACHABLE},   {200, EXIT_OK},          {201, EXIT_OK},
		{202, EXIT_OK},          {204, EXIT_OK},          {400, EXIT_INVALID},
		{401, EXIT_NOT_ALLOWED}, {403, EXIT_NOT_ALLOWED}, {404, EXIT_NOT_FOUND},
		{409, EXIT_CONFLICT},    {412, EXIT_CONFLICT},    {413, EXIT_INVALID},
		{422, EXIT_INVALID},     {428, EXIT_CONFLICT},    {500, EXIT_NEGATIVE},
		{503, EXIT_NEGATIVE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(cli_client_judge(rows[i].status), rows[i].exit);
}

static void client_escapes(void **state)
{
	AUTO_FREE char *plain = cli_client_escape("web-1.x_~");
	AUTO_FREE char *other = cli_client_escape("a/b c%\xc3\xa9?&");

	(void)state;
	assert_string_equal(plain, "web-1.x_~");
	assert_string_equal(other, "a%2Fb%20c%25%C3%A9%3F%26");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(client_calls),
		cmocka_unit_test(a_token_for_everybody_is_warned_of),
		cmocka_unit_test(client_judges),
		cmocka_unit_test(client_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
