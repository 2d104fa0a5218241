// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/tls_make.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static const char *const names[] = {"gw-1", "gate.example", "192.0.2.1", "[2001:db8::1]"};

static gnutls_x509_crt_t read_cert(const char *path)
{
	gnutls_x509_crt_t crt;
	AUTO_FREE char *text = NULL;
	size_t size;
	gnutls_datum_t pem;

	assert_int_equal(file_read(path, 65536, &text, &size), 0);
	pem.data = (unsigned char *)text;
	pem.size = (unsigned)size;
	gnutls_x509_crt_init(&crt);
	assert_int_equal(gnutls_x509_crt_import(crt, &pem, GNUTLS_X509_FMT_PEM), 0);
	return crt;
}

static void tls_make_is_for_all_names(void **state)
{
	char folder[] = "/tmp/zonegate-make-XXXXXX", cert[64], key[64];
	const struct tls_wish w = {
		.cert_path = cert, .key_path = key, .names = names, .name_count = 4};
	AUTO_ERR struct err e = {0};
	gnutls_x509_crt_t crt;
	struct stat st;
	time_t days;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(cert, sizeof(cert), "%s/c", folder);
	snprintf(key, sizeof(key), "%s/k", folder);
	assert_int_equal(tls_make_files(&w, &e), 0);
	assert_int_equal(stat(key, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(cert, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	crt = read_cert(cert);
	assert_true(gnutls_x509_crt_check_hostname(crt, "gw-1"));
	assert_true(gnutls_x509_crt_check_hostname(crt, "gate.example"));
	assert_true(gnutls_x509_crt_check_hostname(crt, "192.0.2.1"));
	assert_true(gnutls_x509_crt_check_hostname(crt, "2001:db8::1"));
	assert_false(gnutls_x509_crt_check_hostname(crt, "evil.example"));
	days = (gnutls_x509_crt_get_expiration_time(crt) - time(NULL) + 60) / 86400;
	assert_int_equal(days, TLS_MAKE_DAYS);
	assert_int_equal(gnutls_x509_crt_get_pk_algorithm(crt, NULL), GNUTLS_PK_ECDSA);
	gnutls_x509_crt_deinit(crt);
	unlink(cert);
	unlink(key);

	/* Where nothing can be kept, the reason is told and nothing is left behind. */
	assert_int_equal(rmdir(folder), 0);
	assert_int_not_equal(tls_make_files(&w, &e), 0);
	assert_non_null(strstr(err_first(&e), "No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tls_make_is_for_all_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
