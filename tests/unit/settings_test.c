// SPDX-License-Identifier: GPL-2.0-or-later
#include "settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"

#define AUTO_SETTINGS __attribute__((cleanup(settings_clear)))

static int load(struct settings *s, const char *text, struct err *e)
{
	return settings_load_text(s, text, strlen(text), "z.conf", e);
}

// One fault in `text`, at `place`, whose sentence holds `part`.
static void assert_fault(const char *text, const char *place, const char *part)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	settings_init(&s);
	if (load(&s, text, &e) == 0)
		fail_msg("taken: %s", text);
	assert_int_equal(e.count, 1);
	assert_string_equal(e.faults[0].pointer, place);
	if (!strstr(e.faults[0].detail, part))
		fail_msg("\"%s\" does not hold \"%s\"", e.faults[0].detail, part);
}

static void defaults_stand_without_a_file(void **state)
{
	AUTO_SETTINGS struct settings s;
	char host[256] = "";

	(void)state;
	settings_init(&s);
	gethostname(host, sizeof(host) - 1);
	assert_string_equal(s.node_name, host);
	assert_string_equal(s.api_socket, "/run/zonegate/api.sock");
	assert_int_equal(s.api_listen.count, 0);
	assert_null(s.api_token_file);
	assert_string_equal(s.store_path, "/var/lib/zonegate");
	assert_int_equal(s.kernel_ipvs, 0);
	assert_int_equal(s.kernel_on_stop, 0);
	assert_int_equal(s.kernel_audit_interval_s, 30);
	assert_string_equal(s.kernel_vip_device, "zonegate0");
	assert_int_equal(s.log_level, LOG_LEVEL_INFO);
	assert_int_equal(s.log_target, LOG_TARGET_JOURNALD);
}

static void every_kind_of_key_is_set(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	assert_int_equal(load(&s,
			      "# a comment\n[node]\nname = gw-1\nzones = a, b,c\nzones = d\n"
			      "[kernel]\nipvs=off\naudit_interval_s = 5\n"
			      "[log]\nlevel = debug\ntarget = stderr",
			      &e),
			 0);
	assert_string_equal(s.node_name, "gw-1");
	assert_int_equal(s.node_zones.count, 4);
	assert_string_equal(s.node_zones.items[2], "c");
	assert_string_equal(s.node_zones.items[3], "d");
	assert_int_equal(s.kernel_ipvs, 1);
	assert_int_equal(s.kernel_audit_interval_s, 5);
	assert_int_equal(s.log_level, LOG_LEVEL_DEBUG);
	assert_int_equal(s.log_target, LOG_TARGET_STDERR);
}

static void faults_have_file_line_and_sentence(void **state)
{
	(void)state;
	assert_fault("[node]\nnmae = x\n", "z.conf:2", "unknown key \"nmae\" in section [node]");
	assert_fault("\n[nodes]\nname = x\n", "z.conf:2", "unknown section [nodes]");
	/* Also one in which nothing stands, and one that is longer than inih's buffer. */
	assert_fault("[kernel]\n  [nodes]\n", "z.conf:2", "unknown section [nodes]");
	assert_fault("[node89012345678901234567890123456789012345678901234567890123456789]\n",
		     "z.conf:1", "unknown section");
	assert_fault("[node]\nname = a\nzones\n[log]\nlevel\n", "z.conf:3", "neither");
	assert_fault("name = x\n", "z.conf:1", "before any [section]");
	assert_fault("[node]\nname\n", "z.conf:2", "neither");
	assert_fault("[node]\nname =\n", "z.conf:2", "no value");
	assert_fault("[node]\nname = a\nname = b\n", "z.conf:3", "stands twice");
	assert_fault("[kernel]\nipvs = on\n", "z.conf:2", "auto|off");
	assert_fault("[kernel]\naudit_interval_s = 0\n", "z.conf:2", "from 1 to 86400");
	assert_fault("[kernel]\naudit_interval_s = 86401\n", "z.conf:2", "from 1 to 86400");
	assert_fault("[kernel]\naudit_interval_s = -1\n", "z.conf:2", "whole number");
	assert_fault("[kernel]\naudit_interval_s = 5s\n", "z.conf:2", "whole number");
	assert_fault("[api]\ntls_key = /x\n", "z.conf:2", "not supported yet");
}

static void all_faults_are_told_at_once(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	assert_int_not_equal(load(&s, "[node]\na = 1\nb = 2\n[log]\nlevel = loud\n", &e), 0);
	assert_int_equal(e.count, 3);
	assert_string_equal(e.faults[2].pointer, "z.conf:5");
}

static void limits_hold(void **state)
{
	char *line AUTO_FREE = mem_alloc(SETTINGS_LINE_MAX * 2);
	char *list AUTO_FREE = mem_alloc(SETTINGS_LIST_MAX * 4 + 64);

	(void)state;
	strcpy(line, "[node]\nname = ");
	memset(line + strlen(line), 'x', SETTINGS_LINE_MAX);
	assert_fault(line, "z.conf:2", "longer than");
	strcpy(list, "[node]\nzones = ");
	for (int i = 0; i <= SETTINGS_LIST_MAX; i++)
		strcat(list, "z,");
	assert_fault(list, "z.conf:2", "more than 64 items");
}

static void a_nul_byte_is_told(void **state)
{
	static const char text[] = "[node]\nname = a\0b\nnmae = x\n";
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	assert_int_not_equal(settings_load_text(&s, text, sizeof(text) - 1, "z.conf", &e), 0);
	assert_int_equal(e.count, 2);
	assert_string_equal(e.faults[0].pointer, "z.conf:2");
	assert_non_null(strstr(e.faults[0].detail, "NUL"));
	assert_string_equal(e.faults[1].pointer, "z.conf:3");
}

static void a_nul_byte_is_told_in_the_last_line(void **state)
{
	static const char text[] = "[node]\nname = a\0b";
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	assert_int_not_equal(settings_load_text(&s, text, sizeof(text) - 1, "z.conf", &e), 0);
	assert_string_equal(e.faults[0].pointer, "z.conf:2");
	assert_non_null(strstr(e.faults[0].detail, "NUL"));
}

static void a_folder_is_no_file(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	assert_int_not_equal(settings_load(&s, "/", SETTINGS_REQUIRED, &e), 0);
	assert_non_null(strstr(err_first(&e), "cannot be read"));
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char *path AUTO_FREE = mem_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_folder(const char *folder)
{
	static const char *const names[] = {"z.conf",           "conf.d/20-b.conf",
					    "conf.d/10-a.conf", "conf.d/30-c.disabled",
					    "conf.d",           "."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path AUTO_FREE = mem_printf("%s%s%s", folder, names[i][0] == '.' ? "" : "/",
						  names[i][0] == '.' ? "" : names[i]);

		remove(path);
	}
}

static void files_beside_it_win_in_order(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};
	char folder[] = "/tmp/zonegate-settings-XXXXXX";
	char *path AUTO_FREE = NULL;
	char *beside AUTO_FREE = NULL;

	(void)state;
	assert_non_null(mkdtemp(folder));
	path = mem_printf("%s/z.conf", folder);
	beside = mem_printf("%s/conf.d", folder);
	assert_int_equal(mkdir(beside, 0700), 0);
	write_file(folder, "z.conf", "[node]\nname = a\nzones = x, y\n[log]\nlevel = error\n");
	write_file(beside, "20-b.conf", "[node]\nname = c\nzones = z\n");
	write_file(beside, "10-a.conf", "[node]\nname = b\n");
	write_file(beside, "30-c.disabled", "not even settings\n");
	settings_init(&s);
	assert_int_equal(settings_load(&s, path, SETTINGS_REQUIRED, &e), 0);
	assert_string_equal(s.node_name, "c");
	assert_int_equal(s.node_zones.count, 1);
	assert_string_equal(s.node_zones.items[0], "z");
	assert_int_equal(s.log_level, LOG_LEVEL_ERROR);
	write_file(beside, "20-b.conf", "[node]\n\nbad = 1\n");
	assert_int_not_equal(settings_load(&s, path, SETTINGS_REQUIRED, &e), 0);
	assert_non_null(strstr(e.faults[0].pointer, "/conf.d/20-b.conf:3"));
	remove_folder(folder);
	assert_int_not_equal(access(folder, F_OK), 0);
}

static void only_an_optional_file_may_be_absent(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	assert_int_equal(settings_load(&s, "/nonexistent/z.conf", SETTINGS_OPTIONAL, &e), 0);
	assert_int_not_equal(settings_load(&s, "/nonexistent/z.conf", SETTINGS_REQUIRED, &e), 0);
	assert_string_equal(e.faults[0].pointer, "/nonexistent/z.conf");
}

static void the_reference_has_every_key_that_can_be_set(void **state)
{
	AUTO_BUF struct buf_writer w;

	(void)state;
	buf_writer_init(&w, 1 << 16);
	settings_write_reference(&w);
	assert_false(w.failed);
	assert_non_null(strstr(buf_text(&w), "kernel\taudit_interval_s\t30\t"));
	assert_non_null(strstr(buf_text(&w), "node\tname\t-\t"));
	assert_null(strstr(buf_text(&w), "tls_key"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_stand_without_a_file),
		cmocka_unit_test(every_kind_of_key_is_set),
		cmocka_unit_test(faults_have_file_line_and_sentence),
		cmocka_unit_test(all_faults_are_told_at_once),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(a_nul_byte_is_told),
		cmocka_unit_test(a_nul_byte_is_told_in_the_last_line),
		cmocka_unit_test(a_folder_is_no_file),
		cmocka_unit_test(files_beside_it_win_in_order),
		cmocka_unit_test(only_an_optional_file_may_be_absent),
		cmocka_unit_test(the_reference_has_every_key_that_can_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
