// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cli_commands.h"

#include <sys/stat.h>

#include "cli_rig.h"

/* Beside this test's own program. */
static char *program_path(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(size > 0);
	path[size] = '\0';
	*strrchr(path, '/') = '\0';
	return mem_printf("%s/zonegated", path);
}

static void the_program_is_looked_for_beside_this_one(void **state)
{
	char *path = program_path();
	struct cli_options o = {0};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	unlink(path);
	AUTO_OUTCOME struct outcome none = cli_rig_run(&rig, cli_flush_run, 1, &o, WORDS("flush"));
	assert_int_equal(none.exit, EXIT_NOT_FOUND);
	assert_contains(none.err, "there is no zonegated in ");
	assert_contains(none.err, "/../sbin");

	/* One that cannot be run: a program without a first line that says how. */
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	fputs("\177no program\n", file);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
	AUTO_OUTCOME struct outcome bad = cli_rig_run(&rig, cli_flush_run, 1, &o, WORDS("flush"));
	unlink(path);
	free(path);
	assert_int_equal(bad.exit, EXIT_NOT_ALLOWED);
	assert_contains(bad.err, "zonegated: Exec format error");
	rig_end(&rig);
}

/* Nor does it reach for another host that a variable names. */
static void no_other_host_is_flushed(void **state)
{
	struct cli_options o = {.server = "http://127.0.0.1:1"};
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_OUTCOME struct outcome done = cli_rig_run(&rig, cli_flush_run, 1, &o, WORDS("flush"));
	assert_int_equal(done.exit, EXIT_USAGE);
	assert_contains(done.err, "this host alone");
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_program_is_looked_for_beside_this_one),
		cmocka_unit_test(no_other_host_is_flushed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
