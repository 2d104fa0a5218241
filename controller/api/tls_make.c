// SPDX-License-Identifier: GPL-2.0-or-later
// Making a key and its certificate. The key is on disk before the certificate that needs it.
#include "api/tls_make.h"

#include "base/addr.h"
#include "base/mem.h"
#include "late/late_gnutls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TLS_MAKE_EARLIER 3600 /* seconds: clocks of clients differ */
#define TLS_MAKE_SERIAL  16

/* ---- files ------------------------------------------------------------------------------------ */

static int tls_make_write_all(int fd, const gnutls_datum_t *text)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t n = write(fd, text->data + done, text->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static int tls_make_sync_folder(const char *path)
{
	AUTO_FREE char *folder = mem_strdup(path);
	char *slash = strrchr(folder, '/');
	int fd, error;

	if (slash)
		*slash = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return error;
}

/* The file has its whole new text, or its old one. */
static int tls_make_replace(const char *path, mode_t mode, const gnutls_datum_t *text,
			    struct err *e)
{
	AUTO_FREE char *attempt = mem_printf("%s.new", path);
	int fd, error;

	unlink(attempt);
	fd = open(attempt, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	error = fd < 0 ? -errno : 0;
	if (fd >= 0) {
		error = fchmod(fd, mode) < 0 ? -errno : tls_make_write_all(fd, text);
		close(fd);
	}
	if (!error && rename(attempt, path) < 0)
		error = -errno;
	if (!error)
		error = tls_make_sync_folder(path);
	if (!error)
		return 0;
	if (fd >= 0)
		unlink(attempt);
	return err_set(e, ERR_UNAVAILABLE, "[api] tls_cert",
		       "the certificate of this node cannot be kept: %s: %s", path,
		       strerror(-error));
}

/* ---- the certificate -------------------------------------------------------------------------- */

static int tls_make_add_name(gnutls_x509_crt_t crt, const char *name)
{
	AUTO_FREE char *bare = mem_strdup(name[0] == '[' ? name + 1 : name);
	struct addr a;

	if (name[0] == '[')
		bare[strcspn(bare, "]")] = '\0';
	if (addr_parse(bare, &a) == 0)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, a.bytes,
							    a.family == AF_INET6 ? 16 : 4,
							    GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, bare,
						    (unsigned)strlen(bare), GNUTLS_FSAN_APPEND);
}

static int tls_make_fill(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const struct tls_wish *w)
{
	time_t now = time(NULL);
	uint8_t serial[TLS_MAKE_SERIAL];
	uint8_t id[32];
	size_t id_size = sizeof(id);
	int error = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (uint8_t)((serial[0] & 0x7f) | 1); /* positive, of full length */
	if (error >= 0)
		error = gnutls_x509_crt_set_version(crt, 3);
	if (error >= 0)
		error = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	if (error >= 0)
		error = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0,
						      w->names[0], (unsigned)strlen(w->names[0]));
	if (error >= 0)
		error = gnutls_x509_crt_set_activation_time(crt, now - TLS_MAKE_EARLIER);
	if (error >= 0)
		error = gnutls_x509_crt_set_expiration_time(crt, now + TLS_MAKE_DAYS * 86400);
	for (size_t i = 0; i < w->name_count && error >= 0; i++)
		error = tls_make_add_name(crt, w->names[i]);
	if (error >= 0)
		error = gnutls_x509_crt_set_key(crt, key);
	if (error >= 0)
		error = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (error >= 0)
		error = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (error >= 0)
		error = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (error >= 0)
		error = gnutls_x509_crt_get_key_id(crt, 0, id, &id_size);
	if (error >= 0)
		error = gnutls_x509_crt_set_subject_key_id(crt, id, id_size);
	return error < 0 ? error : gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
}

static int tls_make_write(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key,
			  const struct tls_wish *w, struct err *e)
{
	gnutls_datum_t cert_pem = {0}, key_pem = {0};
	int error = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &cert_pem);
	int r = -EINVAL;

	if (error >= 0)
		error = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &key_pem);
	if (error < 0)
		err_set(e, ERR_INTERNAL, "[api] tls_cert", "no certificate can be made: %s",
			gnutls_strerror(error));
	else if (tls_make_replace(w->key_path, 0600, &key_pem, e) == 0)
		r = tls_make_replace(w->cert_path, 0644, &cert_pem, e);
	if (key_pem.data)
		explicit_bzero(key_pem.data, key_pem.size);
	gnutls_free(key_pem.data);
	gnutls_free(cert_pem.data);
	return r;
}

int tls_make_files(const struct tls_wish *w, struct err *e)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t crt = NULL;
	int error = gnutls_x509_privkey_init(&key);
	int r = -EINVAL;

	assert(w->name_count > 0);
	if (error >= 0)
		error = gnutls_x509_crt_init(&crt);
	if (error >= 0)
		error = gnutls_x509_privkey_generate(
			key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (error >= 0)
		error = tls_make_fill(crt, key, w);
	if (error < 0)
		err_set(e, ERR_INTERNAL, "[api] tls_cert", "no certificate can be made: %s",
			gnutls_strerror(error));
	else
		r = tls_make_write(crt, key, w, e);
	if (crt)
		gnutls_x509_crt_deinit(crt);
	if (key)
		gnutls_x509_privkey_deinit(key);
	return r;
}
