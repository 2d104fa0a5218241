// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/tls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/tls_make.h"
#include "base/file.h"
#include "base/mem.h"

struct files {
	char folder[40];
	char cert[64];
	char key[64];
	char other_cert[64];
	char other_key[64];
};

static void files_make(const char *cert, const char *key, const char *name)
{
	AUTO_ERR struct err e = {0};
	const struct tls_wish w = {
		.cert_path = cert, .key_path = key, .names = &name, .name_count = 1};

	if (tls_make_files(&w, &e))
		fail_msg("%s", err_first(&e));
}

static void files_open(struct files *f)
{
	strcpy(f->folder, "/tmp/zonegate-tls-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->cert, sizeof(f->cert), "%s/cert", f->folder);
	snprintf(f->key, sizeof(f->key), "%s/key", f->folder);
	snprintf(f->other_cert, sizeof(f->other_cert), "%s/tls-cert.pem", f->folder);
	snprintf(f->other_key, sizeof(f->other_key), "%s/tls-key.pem", f->folder);
	files_make(f->cert, f->key, "one");
}

static void files_close(const struct files *f)
{
	unlink(f->cert);
	unlink(f->key);
	unlink(f->other_cert);
	unlink(f->other_key);
	assert_int_equal(rmdir(f->folder), 0);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* PEM of an RSA-free certificate that ended yesterday, with its key, for the files. */
static void files_make_ended(const struct files *f)
{
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	gnutls_datum_t pem;
	time_t now = time(NULL);

	gnutls_x509_privkey_init(&key);
	gnutls_x509_crt_init(&crt);
	gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
				     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	gnutls_x509_crt_set_version(crt, 3);
	gnutls_x509_crt_set_serial(crt, "\x05", 1);
	gnutls_x509_crt_set_activation_time(crt, now - 172800);
	gnutls_x509_crt_set_expiration_time(crt, now - 86400);
	gnutls_x509_crt_set_key(crt, key);
	assert_int_equal(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0), 0);
	assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem), 0);
	write_file(f->cert, (const char *)pem.data);
	gnutls_free(pem.data);
	assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
	write_file(f->key, (const char *)pem.data);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
}

static struct tls_settings settings_of(const struct files *f)
{
	return (struct tls_settings){.cert = f->cert,
				     .key = f->key,
				     .state = f->folder,
				     .names = {"one"},
				     .name_count = 1};
}

static void assert_not_read(const struct files *f, const char *place, const char *says)
{
	const struct tls_settings s = settings_of(f);
	AUTO_ERR struct err e = {0};
	struct tls *t;

	assert_int_not_equal(tls_new(&s, &e, &t), 0);
	assert_string_equal(e.faults[0].pointer, place);
	if (!strstr(e.faults[0].detail, says))
		fail_msg("\"%s\" says nothing of \"%s\"", e.faults[0].detail, says);
}

static void tls_says_what_is_wrong_with_files(void **state)
{
	struct files f;

	(void)state;
	files_open(&f);
	assert_int_equal(chmod(f.key, 0604), 0);
	assert_not_read(&f, "[api] tls_key", "chmod o=");
	assert_int_equal(chmod(f.key, 0602), 0);
	assert_not_read(&f, "[api] tls_key", "chmod o=");
	unlink(f.key);
	assert_not_read(&f, "[api] tls_key", f.key);
	write_file(f.key, "no key");
	assert_not_read(&f, "[api] tls_key", "no private key");
	unlink(f.key);
	assert_int_equal(mkfifo(f.key, 0600), 0);
	assert_not_read(&f, "[api] tls_key", "FIFO");
	unlink(f.key);
	files_make(f.other_cert, f.key, "two");
	assert_not_read(&f, "[api] tls_key", "not the key");
	write_file(f.cert, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
	assert_not_read(&f, "[api] tls_cert", "no certificate");
	unlink(f.cert);
	assert_not_read(&f, "[api] tls_cert", f.cert);
	files_close(&f);
}

/* The certificate of a handshake outlives the one in force; what is at fault replaces nothing, and is told. */
static void tls_keeps_what_works(void **state)
{
	struct tls_status before, after;
	AUTO_ERR struct err e = {0};
	struct tls_credential *held;
	struct tls_settings s;
	gnutls_pcert_st *certs;
	gnutls_privkey_t key;
	unsigned count = 0;
	struct files f;
	struct tls *t;

	(void)state;
	files_open(&f);
	s = settings_of(&f);
	assert_int_equal(tls_new(&s, &e, &t), 0);
	held = tls_take(t);
	tls_read_status(t, &before);
	assert_true(before.self_signed);
	assert_string_equal(before.subject, "CN=one");
	assert_int_equal(strlen(before.fingerprint), 95);

	write_file(f.cert, "rubbish");
	assert_int_not_equal(tls_reload(t, &e), 0);
	tls_read_status(t, &after);
	assert_string_equal(after.fingerprint, before.fingerprint);
	assert_non_null(strstr(after.fault, "no certificate"));

	files_make_ended(&f);
	assert_int_not_equal(tls_reload(t, &e), 0);
	tls_read_status(t, &after);
	assert_string_equal(after.fingerprint, before.fingerprint);
	assert_non_null(strstr(after.fault, "ended at"));

	files_make(f.cert, f.key, "new");
	assert_int_equal(tls_reload(t, &e), 0);
	tls_read_status(t, &after);
	assert_string_equal(after.subject, "CN=new");
	assert_null(after.fault);
	tls_credential_show(held, &certs, &count, &key);
	assert_int_equal(count, 1);
	assert_int_equal(gnutls_privkey_get_pk_algorithm(key, NULL), GNUTLS_PK_ECDSA);
	tls_free(t);
	tls_credential_unref(held);
	files_close(&f);
}

/* At a start an ended certificate is better than no daemon. */
static void tls_starts_with_an_ended_certificate(void **state)
{
	AUTO_ERR struct err e = {0};
	struct tls_settings s;
	struct files f;
	struct tls *t;

	(void)state;
	files_open(&f);
	files_make_ended(&f);
	s = settings_of(&f);
	assert_int_equal(tls_new(&s, &e, &t), 0);
	tls_free(t);
	files_close(&f);
}

static void assert_own(const struct files *f, struct tls_status *ret_status)
{
	struct tls_settings s = settings_of(f);
	AUTO_ERR struct err e = {0};
	struct tls *t;

	s.cert = s.key = NULL;
	if (tls_new(&s, &e, &t))
		fail_msg("%s", err_first(&e));
	tls_read_status(t, ret_status);
	tls_free(t);
}

/* Made once, and again when the files are gone, do not belong together or end soon. */
static void tls_makes_its_own(void **state)
{
	struct tls_status first, again;
	struct stat st;
	struct files f;

	(void)state;
	files_open(&f);
	assert_own(&f, &first);
	assert_true(first.self_signed);
	assert_int_equal(stat(f.other_key, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_own(&f, &again);
	assert_string_equal(again.fingerprint, first.fingerprint);

	assert_int_equal(rename(f.key, f.other_key), 0);
	assert_own(&f, &again);
	assert_string_not_equal(again.fingerprint, first.fingerprint);

	first = again;
	files_make_ended(&f);
	assert_int_equal(rename(f.key, f.other_key), 0);
	assert_int_equal(rename(f.cert, f.other_cert), 0);
	assert_own(&f, &again);
	assert_string_not_equal(again.fingerprint, first.fingerprint);
	assert_true(again.not_after_wall > time_wall());
	files_close(&f);
}

/* Every part of the list is known to the library, and nothing old is on it. */
static void tls_offers_nothing_old(void **state)
{
	gnutls_priority_t list;
	const unsigned *versions;
	const char *at = NULL;
	int count;

	(void)state;
	assert_int_equal(gnutls_priority_init(&list, TLS_PRIORITIES, &at), 0);
	count = gnutls_priority_protocol_list(list, &versions);
	assert_int_equal(count, 2);
	for (int i = 0; i < count; i++)
		assert_true(versions[i] == GNUTLS_TLS1_2 || versions[i] == GNUTLS_TLS1_3);
	gnutls_priority_deinit(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tls_says_what_is_wrong_with_files),
		cmocka_unit_test(tls_keeps_what_works),
		cmocka_unit_test(tls_starts_with_an_ended_certificate),
		cmocka_unit_test(tls_makes_its_own),
		cmocka_unit_test(tls_offers_nothing_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
