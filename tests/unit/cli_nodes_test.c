// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_nodes.h"

#include "cli_rig.h"

static void nodes_are_one_or_several(void **state)
{
	struct cli cli = {.options = {.socket = "/s"}};
	AUTO_NODES struct cli_nodes one = {.count = 0}, two = {.count = 0};

	(void)state;
	assert_int_equal(cli_nodes_open(&cli, &one), EXIT_OK);
	assert_int_equal(one.count, 1);
	assert_string_equal(one.list[0].name, "");
	assert_string_equal(one.list[0].options.socket, "/s");
	cli.options.servers[0] = "http://a";
	cli.options.servers[1] = cli.options.server = "http://b";
	cli.options.server_count = 2;
	assert_int_equal(cli_nodes_open(&cli, &two), EXIT_OK);
	assert_int_equal(two.count, 2);
	assert_string_equal(two.list[0].options.server, "http://a");
	assert_string_equal(two.list[1].name, "http://b");
}

/* One token for all, or one for each. */
static void nodes_have_their_tokens(void **state)
{
	struct cli cli = {.options = {.servers = {"http://a", "http://b", "http://c"},
				      .server_count = 3,
				      .token_files = {"/nonexistent/1", "/nonexistent/2"},
				      .token_count = 2}};
	AUTO_NODES struct cli_nodes n = {.count = 0};
	char path[] = "/tmp/zonegate-token-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, "secret\n", 7), 7);
	close(fd);
	assert_int_equal(cli_nodes_open(&cli, &n), EXIT_USAGE);
	cli.options.token_count = 1;
	cli.options.token_file = "/nonexistent/1";
	assert_int_equal(cli_nodes_open(&cli, &n), EXIT_USAGE);
	cli.options.token_file = path;
	assert_int_equal(cli_nodes_open(&cli, &n), EXIT_OK);
	assert_int_equal(n.count, 3);
	unlink(path);
}

/* The same address written in another way is the same node. */
static void a_node_is_given_once(void **state)
{
	static const struct {
		const char *urls[2];
		enum cli_exit exit;
	} rows[] = {
		{{"http://a", "http://a"}, EXIT_USAGE},
		{{"http://a", "HTTP://A:80/"}, EXIT_USAGE},
		{{"https://a:443", "https://a//"}, EXIT_USAGE},
		{{"http://[2001:DB8::1]:80", "http://[2001:db8::1]"}, EXIT_USAGE},
		{{"http://a", "http://a:8080"}, EXIT_OK},
		{{"http://a/x", "http://a"}, EXIT_OK},
		{{"http://a", "https://a"}, EXIT_OK}, /* whether it is one, the nodes say */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cli cli = {
			.options = {.servers = {"http://b", rows[i].urls[0], rows[i].urls[1]},
				    .server_count = 3}};
		AUTO_NODES struct cli_nodes n = {.count = 0};

		assert_int_equal(cli_nodes_open(&cli, &n), rows[i].exit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_one_or_several),
		cmocka_unit_test(nodes_have_their_tokens),
		cmocka_unit_test(a_node_is_given_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
