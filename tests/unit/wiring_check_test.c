// SPDX-License-Identifier: GPL-2.0-or-later
#include "wiring_check.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wiring_fixture.h"

static void assert_fault(const char *text, const char *place, const char *part)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	wiring_load(&s, text);
	assert_int_not_equal(wiring_check(&s, &e), 0);
	for (size_t i = 0; i < e.count; i++) {
		if (strcmp(e.faults[i].pointer, place) == 0 && strstr(e.faults[i].detail, part))
			return;
	}
	fail_msg("%s: no fault at %s with \"%s\", but %s", text, place, part, err_first(&e));
}

static void check_takes_what_starts(void **state)
{
	AUTO_SETTINGS struct settings defaults, tcp, users;
	AUTO_ERR struct err e = {0};

	(void)state;
	wiring_load(&defaults, "");
	assert_int_equal(wiring_check(&defaults, &e), 0);
	/* The file of the token is not opened: it belongs to another user. */
	wiring_load(&tcp,
		    "[api]\nlisten = 127.0.0.1:7480, [::1]:7480\ntoken_file = /nonexistent\n");
	assert_int_equal(wiring_check(&tcp, &e), 0);
	/* Users and tokens of the store are a way in, too. */
	wiring_load(&users, "[api]\nlisten = 127.0.0.1:7480\n");
	assert_int_equal(wiring_check(&users, &e), 0);
	assert_false(err_any(&e));
}

static void check_refuses_what_does_not_start(void **state)
{
	(void)state;
	assert_fault("[api]\nlisten = 0.0.0.0:80\ntoken_file = /t\n", "[api] listen",
		     "not on loopback");
	assert_fault("[api]\nlisten = localhost\ntoken_file = /t\n", "[api] listen",
		     "is not ADDRESS:PORT");
	assert_fault("[kernel]\nvip_device = a-name-of-17-byte\n", "[kernel] vip_device",
		     "at most 15 bytes");
	assert_fault("[node]\nvip_link = a-name-of-17-byte\n", "[node] vip_link",
		     "at most 15 bytes");
	assert_fault("[dns]\nlisten = here\n", "[dns] listen", "here");
	assert_fault("[dns_update]\nserver = here\n", "[dns_update] server", "here");
	assert_fault("[api]\ntoken_file = /dev/zero\n", "[api] token_file",
		     "/dev/zero is a device: name a regular file");
	assert_fault("[dns_update]\nserver = 192.0.2.1\nzone = example.net\nkey_file = /\n",
		     "[dns_update] key_file", "/ is a folder: name a regular file");
}

/* `form` with the path in the place of each "%s". */
static void fill_holes(const char *form, const char *path, char ret_text[256])
{
	ret_text[0] = '\0';
	for (const char *hole; (hole = strstr(form, "%s")); form = hole + 2) {
		strncat(ret_text, form, (size_t)(hole - form));
		strcat(ret_text, path);
	}
	strcat(ret_text, form);
}

/* A start that everybody can read the secrets of is refused before it, and the mend is told. */
static void check_refuses_secrets_that_are_open(void **state)
{
	static const struct {
		const char *text, *place;
	} secrets[] = {
		{"[api]\ntoken_file = %s\n", "[api] token_file"},
		{"[api]\ntls_listen = 127.0.0.1:7443\ntls_cert = %s\ntls_key = %s\n",
		 "[api] tls_key"},
		{"[dns_update]\nserver = 192.0.2.1\nzone = example.net\nkey_file = %s\n",
		 "[dns_update] key_file"},
		{"[notify]\nurl = http://127.0.0.1:1/\nsecret_file = %s\n", "[notify] secret_file"},
	};
	char path[] = "/tmp/zonegate-check-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		AUTO_SETTINGS struct settings s;
		AUTO_ERR struct err e = {0};
		char text[256];

		fill_holes(secrets[i].text, path, text);
		assert_int_equal(fchmod(fd, 0644), 0);
		assert_fault(text, secrets[i].place, "is open to everybody: chmod o= it");
		assert_int_equal(fchmod(fd, 0640), 0);
		wiring_load(&s, text);
		if (wiring_check(&s, &e) != 0)
			fail_msg("%s: %s", text, err_first(&e));
	}
	close(fd);
	unlink(path);
}

/* What stands in them is judged, too, for who may read it: as a start does. */
static void check_reads_what_a_start_reads(void **state)
{
	static const struct {
		const char *text, *content, *place, *part;
	} cases[] = {
		{"[api]\ntoken_file = %s\n", "short\n", "[api] token_file",
		 "does not hold one line of 16 to 512 printable characters"},
		{"[api]\ntoken_file = %s\n", "0123456789abcdef\n", NULL, NULL},
		{"[api]\ntls_listen = 127.0.0.1:7443\ntls_cert = %s\ntls_key = %s\n", "x\n",
		 "[api] tls_cert", "holds no certificate in PEM form"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_SETTINGS struct settings s;
		AUTO_ERR struct err e = {0};
		char path[] = "/tmp/zonegate-check-XXXXXX", text[256];
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, cases[i].content, strlen(cases[i].content)),
				 strlen(cases[i].content));
		close(fd);
		fill_holes(cases[i].text, path, text);
		wiring_load(&s, text);
		assert_int_equal(wiring_check(&s, &e), 0);
		assert_int_equal(wiring_check_contents(&s, &e) != 0, cases[i].place != NULL);
		unlink(path);
		assert_int_equal(e.count, cases[i].place != NULL);
		if (!cases[i].place)
			continue;
		assert_string_equal(e.faults[0].pointer, cases[i].place);
		assert_non_null(strstr(e.faults[0].detail, cases[i].part));
	}
}

static void assert_obstacle(const char *text, const struct passwd *reader, const char *place,
			    const char *detail)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	wiring_load(&s, text);
	wiring_check_files(&s, reader, &e);
	if (!detail) {
		assert_false(err_any(&e));
		return;
	}
	assert_int_equal(e.count, 1);
	assert_string_equal(e.faults[0].pointer, place);
	assert_string_equal(e.faults[0].detail, detail);
}

/* What is in order as a setting, and still keeps the daemon from starting here and now. */
static void files_that_a_start_misses_are_told(void **state)
{
	struct passwd stranger = {.pw_name = (char[]){"zonegate"},
				  .pw_uid = getuid() + 1,
				  .pw_gid = getgid() + 1},
		      owner = stranger, member = stranger;
	char path[] = "/tmp/zonegate-check-XXXXXX", text[128], detail[160];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	owner.pw_uid = getuid();
	member.pw_gid = getgid();
	snprintf(text, sizeof(text), "[api]\ntoken_file = %s\n", path);
	snprintf(detail, sizeof(detail),
		 "the user zonegate cannot read %s: chgrp zonegate it, and chmod 640", path);
	assert_obstacle(text, &stranger, "[api] token_file", detail);
	assert_obstacle(text, &member, "[api] token_file", detail);
	assert_obstacle(text, &owner, NULL, NULL);
	assert_obstacle(text, NULL, NULL, NULL);
	assert_int_equal(fchmod(fd, 0640), 0);
	assert_obstacle(text, &stranger, "[api] token_file", detail);
	assert_obstacle(text, &member, NULL, NULL);
	close(fd);
	unlink(path);
	snprintf(detail, sizeof(detail), "%s is not there: No such file or directory", path);
	assert_obstacle(text, NULL, "[api] token_file", detail);
	assert_obstacle("", &stranger, NULL, NULL);
}

/* Each chapter is judged, whatever the others say. */
static void check_tells_all_at_once(void **state)
{
	static const char text[] = "[api]\nlisten = 0.0.0.0:80\n[dns]\nlisten = here\n";

	(void)state;
	assert_fault(text, "[api] listen", "not on loopback");
	assert_fault(text, "[dns] listen", "here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_takes_what_starts),
		cmocka_unit_test(check_refuses_what_does_not_start),
		cmocka_unit_test(check_refuses_secrets_that_are_open),
		cmocka_unit_test(check_reads_what_a_start_reads),
		cmocka_unit_test(files_that_a_start_misses_are_told),
		cmocka_unit_test(check_tells_all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
