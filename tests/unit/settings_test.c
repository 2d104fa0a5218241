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
	assert_fault("[node]\nnmae = x\n", "z.conf:2",
		     "unknown key \"nmae\" in section [node]; did you mean \"name\"?");
	assert_fault("[node]\nzone = x\n", "z.conf:2", "did you mean \"zones\"?");
	assert_fault("[node]\ncolour = x\n", "z.conf:2", "in section [node]: see zonegate.conf(5)");
	assert_fault("\n[nodes]\nname = x\n", "z.conf:2", "unknown section [nodes]");
	assert_fault("[nodes]\nname = x\n", "z.conf:1",
		     "known are [node] [api] [store] [dns] [dns_update] [kernel] [notify] [log]");
	/* Also one in which nothing stands, and one that is longer than inih's buffer. */
	assert_fault("[kernel]\n  [nodes]\n", "z.conf:2", "unknown section [nodes]");
	assert_fault("[node89012345678901234567890123456789012345678901234567890123456789]\n",
		     "z.conf:1", "unknown section");
	assert_fault("[node]\nname = a\nzones\n[log]\nlevel\n", "z.conf:3", "neither");
	assert_fault("name = x\n", "z.conf:1", "before any [section]");
	assert_fault("[node]\nname\n", "z.conf:2", "neither");
	assert_fault("[node]\nname =\n", "z.conf:2", "no value");
	assert_fault("[node]\nzones = , ,\n", "z.conf:2", "zones has no value");
	assert_fault("[node]\nname = a\nname = b\n", "z.conf:3", "stands twice");
	assert_fault("[kernel]\nipvs = on\n", "z.conf:2", "auto|off");
	assert_fault("[kernel]\naudit_interval_s = 0\n", "z.conf:2", "from 1 to 86400");
	assert_fault("[kernel]\naudit_interval_s = 86401\n", "z.conf:2", "from 1 to 86400");
	assert_fault("[kernel]\naudit_interval_s = -1\n", "z.conf:2", "whole number");
	assert_fault("[kernel]\naudit_interval_s = 5s\n", "z.conf:2", "whole number");
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

/* A text of one key, as long as SIZE bytes. */
static char *long_line(const char *begin, size_t size)
{
	char *text = mem_alloc(strlen("[store]\n") + size + 1);

	strcpy(text, "[store]\n");
	memset(text + strlen(text), 'x', size);
	memcpy(text + strlen("[store]\n"), begin, strlen(begin));
	text[strlen("[store]\n") + size] = '\0';
	return text;
}

static void limits_hold(void **state)
{
	char *line AUTO_FREE = long_line("path = /", SETTINGS_LINE_MAX + 1);
	char *list AUTO_FREE = mem_alloc(SETTINGS_LIST_MAX * 5 + 64);

	(void)state;
	assert_fault(line, "z.conf:2", "has 4097 bytes, more than the 4096");
	strcpy(list, "[node]\nzones = ");
	for (int i = 0; i <= SETTINGS_LIST_MAX; i++)
		sprintf(list + strlen(list), "z%d,", i);
	assert_fault(list, "z.conf:2", "more than 64 items");
}

/* Far beyond the 200 bytes that inih takes by itself. */
static void long_lines_are_taken_whole(void **state)
{
	static const char *const ends[] = {"", "\n", "\r\n"};

	(void)state;
	for (size_t size = 190; size <= SETTINGS_LINE_MAX;
	     size = size < 210 ? size + 1 : size + 3886 / 2)
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			char *line AUTO_FREE = long_line("path = /", size);
			char *text AUTO_FREE = mem_printf("%s%s", line, ends[i]);
			AUTO_SETTINGS struct settings s;
			AUTO_ERR struct err e = {0};

			settings_init(&s);
			if (load(&s, text, &e) != 0)
				fail_msg("%zu: %s", size, err_first(&e));
			assert_int_equal(strlen(s.store_path), size - strlen("path = "));
		}
}

static void names_of_zones_are_those_of_the_model(void **state)
{
	(void)state;
	assert_fault("[node]\nzones = zone_a\n", "z.conf:2", "\"zone_a\" is no name of a zone");
	assert_fault("[node]\nzones = Zone-a\n", "z.conf:2", "no name of a zone");
	assert_fault("[node]\nzones = a, -b\n", "z.conf:2", "\"-b\" is no name");
	assert_fault("[node]\nzones = z\xc3\xb6ne\n", "z.conf:2", "no name of a zone");
	assert_fault("[node]\nzones = a, b\nzones = a\n", "z.conf:3",
		     "zones: a stands there twice");
}

static void texts_have_their_forms(void **state)
{
	static const struct {
		const char *text;
		const char *part;
	} rows[] = {
		{"[node]\nname = gw 1", "like a host's name"},
		{"[node]\nname = gw/1", "like a host's name"},
		{"[node]\nname = gw..net", "like a host's name"},
		{"[node]\nname = -gw", "like a host's name"},
		{"[node]\nname = g\xc3\xbc", "like a host's name"},
		{"[node]\nname = gw\x1b[2J", "control character"},
		{"[node]\nname = gw\x7f", "control character"},
		{"[node]\nvip_link = eth/0", "network interface"},
		{"[node]\npeers = 10.0.0.2, gw-2", "IPv4 or IPv6 address"},
		{"[kernel]\nvip_device = eth0:1", "network interface"},
		{"[store]\npath = relative", "\"relative\" is no whole path: it must begin with /"},
		{"[api]\ntls_cert = ./cert.pem", "begin with /"},
		{"[store]\npath = /var/\a", "control character"},
		{"[store]\npath = /var/\xc2\x9bJ", "control character"},
		{"[api]\nallowed_hosts = gw-1, a..b", "\"a..b\" is no name of a host"},
		{"[api]\nallowed_hosts = [2001:db8::x]", "no [IPv6 address]"},
		{"[api]\nallowed_hosts = []", "no [IPv6 address]"},
		{"[api]\nlisten = 127.0.0.1:\xff", "printable ASCII"},
		{"[dns]\napex = lb_1.example.net, l b!", "\"b!\" is no domain name"},
		{"[dns]\napex = -lb.example.net", "no domain name"},
		{"[dns]\napex = lb-.example.net", "no domain name"},
		{"[dns]\nns = ns1@example.net=192.0.2.1", "NAME=ADDRESS"},
		{"[dns]\nhostmaster = a@b@c", "no mailbox"},
		{"[dns]\nhostmaster = a b@example.net", "no mailbox"},
		{"[dns]\nhostmaster = a@exa!mple.net", "no mailbox"},
		{"[dns]\nhostmaster = a@-example.net", "no mailbox"},
		{"[dns]\nnsid = gw\xe9", "printable ASCII"},
		{"[dns_update]\nzone = exam ple.net", "no domain name"},
		{"[dns_update]\nserver = \xe9", "printable ASCII"},
		{"[node]\nn\x1bzz = x", "control character"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_fault(rows[i].text, "z.conf:2", rows[i].part);
}

/* What is told of a fault can be shown on any terminal. */
static void faults_are_printable(void **state)
{
	static const char *const texts[] = {"[no\x1b[2Jde]\n", "[node]\nname = \x1b[2J\n",
					    "[api]\nlisten = \xff\n", "[kernel]\nipvs = \x1b\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		AUTO_SETTINGS struct settings s;
		AUTO_ERR struct err e = {0};

		settings_init(&s);
		assert_int_not_equal(load(&s, texts[i], &e), 0);
		for (const char *at = err_first(&e); *at; at++)
			assert_in_range(*at, ' ', '~');
	}
}

static void good_texts_are_taken(void **state)
{
	static const char text[] =
		"# a comment may hold anything: \x1b \xe9\n"
		"[node]\nname = gw-1.Example_1.net\nzones = zone-a, 1\nvip_link = eth0.12\npeers = 10.0.0.2, 2001:db8::2\n"
		"[api]\nallowed_hosts = gw-1, 192.0.2.1, [2001:db8::1], Gw.example.net\n"
		"[store]\npath = /srv/gr\xc3\xb6\xc3\x9f e\n"
		"[dns]\napex = lb.example.net., _x.example.org\nns = ns1=192.0.2.1=2001:db8::1, ns2.\n"
		"hostmaster = host.master+x@example.net\nnsid = gateway 1\n";
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	(void)state;
	settings_init(&s);
	if (load(&s, text, &e) != 0)
		fail_msg("%s", err_first(&e));
	assert_int_equal(s.api_allowed_hosts.count, 4);
	assert_string_equal(s.dns_nsid, "gateway 1");
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

/* None of them is waited for, and none is read without an end. */
static void what_is_no_file_is_refused(void **state)
{
	char folder[] = "/tmp/zonegate-settings-XXXXXX";
	char *fifo AUTO_FREE = NULL;
	const char *paths[] = {"/", "/dev/zero", NULL};
	const char *parts[] = {"is a folder", "is a device", "is a FIFO: name a regular file"};

	(void)state;
	assert_non_null(mkdtemp(folder));
	fifo = mem_printf("%s/z.conf", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	paths[2] = fifo;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		AUTO_SETTINGS struct settings s;
		AUTO_ERR struct err e = {0};

		settings_init(&s);
		assert_int_not_equal(settings_load(&s, paths[i], SETTINGS_OPTIONAL, &e), 0);
		assert_string_equal(e.faults[0].pointer, paths[i]);
		if (!strstr(e.faults[0].detail, parts[i]))
			fail_msg("%s: %s", paths[i], e.faults[0].detail);
	}
	unlink(fifo);
	assert_int_equal(rmdir(folder), 0);
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

static void a_folder_of_settings_has_files_only(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};
	char folder[] = "/tmp/zonegate-settings-XXXXXX";
	char *path AUTO_FREE = NULL;
	char *beside AUTO_FREE = NULL;
	char *fifo AUTO_FREE = NULL;

	(void)state;
	assert_non_null(mkdtemp(folder));
	path = mem_printf("%s/z.conf", folder);
	beside = mem_printf("%s/conf.d", folder);
	fifo = mem_printf("%s/20-b.conf", beside);
	assert_int_equal(mkdir(beside, 0700), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	settings_init(&s);
	assert_int_not_equal(settings_load(&s, path, SETTINGS_OPTIONAL, &e), 0);
	assert_int_equal(e.count, 1);
	assert_string_equal(e.faults[0].pointer, fifo);
	assert_non_null(strstr(e.faults[0].detail, "is a FIFO"));
	remove_folder(folder);
	assert_int_not_equal(access(folder, F_OK), 0);
}

static void large_files_are_refused(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};
	char path[] = "/tmp/zonegate-settings-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, SETTINGS_FILE_MAX + 1), 0);
	close(fd);
	settings_init(&s);
	assert_int_not_equal(settings_load(&s, path, SETTINGS_REQUIRED, &e), 0);
	assert_non_null(strstr(err_first(&e), "larger than 1048576 bytes"));
	unlink(path);
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
	assert_non_null(strstr(buf_text(&w), "api\ttls_key\t"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_stand_without_a_file),
		cmocka_unit_test(every_kind_of_key_is_set),
		cmocka_unit_test(faults_have_file_line_and_sentence),
		cmocka_unit_test(all_faults_are_told_at_once),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(long_lines_are_taken_whole),
		cmocka_unit_test(names_of_zones_are_those_of_the_model),
		cmocka_unit_test(texts_have_their_forms),
		cmocka_unit_test(faults_are_printable),
		cmocka_unit_test(good_texts_are_taken),
		cmocka_unit_test(a_nul_byte_is_told),
		cmocka_unit_test(a_nul_byte_is_told_in_the_last_line),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_folder_of_settings_has_files_only),
		cmocka_unit_test(large_files_are_refused),
		cmocka_unit_test(files_beside_it_win_in_order),
		cmocka_unit_test(only_an_optional_file_may_be_absent),
		cmocka_unit_test(the_reference_has_every_key_that_can_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
