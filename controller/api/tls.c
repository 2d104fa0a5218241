// SPDX-License-Identifier: GPL-2.0-or-later
// Reading certificates and putting them in force. What is at fault never replaces what works.
#include "api/tls.h"

#include "api/tls_make.h"
#include "base/file.h"
#include "base/mem.h"
#include "late/late_gnutls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TLS_CHAIN_MAX 16
#define TLS_FILE_MAX  (256 * 1024)
#define TLS_KEY_ID    32
#define TLS_REMAKE    (30 * 86400 * USEC_PER_SEC) /* a certificate of ours that ends so soon */

struct tls_credential {
	unsigned uses;
	gnutls_pcert_st certs[TLS_CHAIN_MAX];
	unsigned cert_count;
	gnutls_privkey_t key;
	uint8_t key_id[TLS_KEY_ID]; /* of the certificate */
	struct tls_status status;
};

struct tls {
	char *cert;
	char *key;
	char *state; /* NULL: the files are somebody else's */
	char *names[TLS_NAMES_MAX];
	size_t name_count;
	struct tls_credential *current;
	char *fault;
};

/* ---- credentials ------------------------------------------------------------------------------ */

void tls_credential_unref(struct tls_credential *c)
{
	if (!c || --c->uses > 0)
		return;
	for (unsigned i = 0; i < c->cert_count; i++)
		gnutls_pcert_deinit(&c->certs[i]);
	if (c->key)
		gnutls_privkey_deinit(c->key);
	free(c);
}

void tls_credential_show(struct tls_credential *c, gnutls_pcert_st **ret_certs, unsigned *ret_count,
			 gnutls_privkey_t *ret_key)
{
	*ret_certs = c->certs;
	*ret_count = c->cert_count;
	*ret_key = c->key;
}

static void tls_format_fingerprint(const uint8_t *hash, size_t size, char buf[TLS_FINGERPRINT])
{
	for (size_t i = 0; i < size; i++)
		snprintf(buf + 3 * i, TLS_FINGERPRINT - 3 * i, "%02X%s", hash[i],
			 i + 1 < size ? ":" : "");
}

/* What is told of a certificate: of its texts what is printable. */
static void tls_describe(gnutls_x509_crt_t crt, struct tls_status *ret_status)
{
	uint8_t hash[32];
	size_t hash_size = sizeof(hash), size = sizeof(ret_status->subject);
	time_t end = gnutls_x509_crt_get_expiration_time(crt);

	if (gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, hash, &hash_size) == 0)
		tls_format_fingerprint(hash, hash_size, ret_status->fingerprint);
	if (gnutls_x509_crt_get_dn(crt, ret_status->subject, &size) != 0)
		ret_status->subject[0] = '\0';
	for (char *c = ret_status->subject; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	ret_status->not_after_wall = end > 0 ? (usec_t)end * USEC_PER_SEC : 0;
	ret_status->self_signed = gnutls_x509_crt_check_issuer(crt, crt) != 0;
}

/* Reads a file as it must be. The text is the caller's. */
static int tls_read_file(const char *path, const char *place, struct err *e, gnutls_datum_t *ret)
{
	char why[FILE_FAULT_MAX];
	char *text;
	size_t size;
	int error = file_read(path, TLS_FILE_MAX, &text, &size);

	if (error)
		return err_set(e, error == -EFBIG ? ERR_LIMIT : ERR_NOT_FOUND, place, "%s %s", path,
			       file_describe_fault(path, TLS_FILE_MAX, error, why));
	ret->data = (unsigned char *)text;
	ret->size = (unsigned)size;
	return 0;
}

static int tls_load_certs(const char *path, struct err *e, struct tls_credential *c)
{
	gnutls_x509_crt_t *list = NULL;
	gnutls_datum_t pem;
	size_t id_size = sizeof(c->key_id);
	unsigned count = 0;
	int error;

	if (tls_read_file(path, "[api] tls_cert", e, &pem))
		return -EINVAL;
	error = gnutls_x509_crt_list_import2(&list, &count, &pem, GNUTLS_X509_FMT_PEM, 0);
	free(pem.data);
	if (error < 0)
		return err_set(e, ERR_FORMAT, "[api] tls_cert",
			       "%s holds no certificate in PEM form: %s", path,
			       gnutls_strerror(error));
	for (unsigned i = 0; i < count && i < TLS_CHAIN_MAX && error >= 0; i++) {
		error = gnutls_pcert_import_x509(&c->certs[i], list[i], 0);
		c->cert_count += error >= 0;
	}
	if (error >= 0)
		error = gnutls_x509_crt_get_key_id(list[0], GNUTLS_KEYID_USE_SHA256, c->key_id,
						   &id_size);
	tls_describe(list[0], &c->status);
	for (unsigned i = 0; i < count; i++)
		gnutls_x509_crt_deinit(list[i]);
	gnutls_free(list);
	if (error < 0)
		return err_set(e, ERR_FORMAT, "[api] tls_cert", "%s: %s", path,
			       gnutls_strerror(error));
	return 0;
}

/* Takes the key, whether or not it goes well. */
static int tls_take_key(gnutls_x509_privkey_t key, const char *path, struct err *e,
			struct tls_credential *c)
{
	uint8_t id[TLS_KEY_ID];
	size_t size = sizeof(id);
	int error = gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, id, &size);

	if (error >= 0 && memcmp(id, c->key_id, sizeof(id)) != 0) {
		gnutls_x509_privkey_deinit(key);
		return err_set(e, ERR_INCOMPATIBLE, "[api] tls_key",
			       "%s is not the key of the certificate", path);
	}
	if (error >= 0)
		error = gnutls_privkey_init(&c->key);
	if (error >= 0)
		error = gnutls_privkey_import_x509(c->key, key, GNUTLS_PRIVKEY_IMPORT_AUTO_RELEASE);
	if (error >= 0)
		return 0;
	gnutls_x509_privkey_deinit(key);
	return err_set(e, ERR_FORMAT, "[api] tls_key", "%s: %s", path, gnutls_strerror(error));
}

static int tls_check_key_mode(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0 && (st.st_mode & (S_IROTH | S_IWOTH)))
		return err_set(e, ERR_FORBIDDEN, "[api] tls_key",
			       "%s is open to everybody: chmod o= it", path);
	return 0; /* what cannot be looked at cannot be read either, which says why */
}

static int tls_load_key(const char *path, struct err *e, struct tls_credential *c)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_datum_t pem;
	int error;

	if (tls_check_key_mode(path, e) || tls_read_file(path, "[api] tls_key", e, &pem))
		return -EINVAL;
	error = gnutls_x509_privkey_init(&key);
	if (error >= 0)
		error = gnutls_x509_privkey_import2(key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
	explicit_bzero(pem.data, pem.size);
	free(pem.data);
	if (error >= 0)
		return tls_take_key(key, path, e, c);
	gnutls_x509_privkey_deinit(key);
	return err_set(e, ERR_FORMAT, "[api] tls_key",
		       error == GNUTLS_E_DECRYPTION_FAILED
			       ? "%s is encrypted: nobody is there to type its passphrase (%s)"
			       : "%s holds no private key in PEM form: %s",
		       path, gnutls_strerror(error));
}

static int tls_load(const struct tls *t, struct err *e, struct tls_credential **ret_credential)
{
	struct tls_credential *c = mem_new(struct tls_credential);

	c->uses = 1;
	if (tls_load_certs(t->cert, e, c) || tls_load_key(t->key, e, c)) {
		tls_credential_unref(c);
		return -EINVAL;
	}
	*ret_credential = c;
	return 0;
}

/* ---- in force --------------------------------------------------------------------------------- */

static int tls_make(struct tls *t, struct err *e, struct tls_credential **ret_credential)
{
	struct tls_wish wish = {.cert_path = t->cert,
				.key_path = t->key,
				.names = (const char *const *)t->names,
				.name_count = t->name_count};

	if (tls_make_files(&wish, e))
		return -EINVAL;
	return tls_load(t, e, ret_credential);
}

/* Our own: made when they are not there, do not belong together, or end soon. */
static int tls_load_or_make(struct tls *t, struct err *e, struct tls_credential **ret_credential)
{
	AUTO_ERR struct err ignored = {0};
	struct tls_credential *c;

	if (tls_load(t, &ignored, &c))
		return tls_make(t, e, ret_credential);
	if (c->status.not_after_wall > time_wall() + TLS_REMAKE) {
		*ret_credential = c;
		return 0;
	}
	tls_credential_unref(c);
	return tls_make(t, e, ret_credential);
}

static int tls_refuse_ended(const struct tls_credential *c, const char *path, struct err *e)
{
	char at[TIME_TEXT_MAX];

	return err_set(e, ERR_RANGE, "[api] tls_cert", "%s ended at %s", path,
		       time_format_wall(c->status.not_after_wall, at));
}

int tls_reload(struct tls *t, struct err *e)
{
	struct tls_credential *c = NULL;
	size_t before = e->total;
	int r = t->state ? tls_load_or_make(t, e, &c) : tls_load(t, e, &c);

	/* At the start an ended one is better than no daemon; later it must not replace one that lasts. */
	if (r == 0 && t->current && c->status.not_after_wall < time_wall() &&
	    t->current->status.not_after_wall >= time_wall()) {
		r = tls_refuse_ended(c, t->cert, e);
		tls_credential_unref(c);
	}
	free(t->fault);
	t->fault = NULL;
	if (r) {
		t->fault = mem_strdup(e->count > before ? e->faults[before].detail
							: "cannot be read");
		return -EINVAL;
	}
	tls_credential_unref(t->current);
	t->current = c;
	return 0;
}

struct tls_credential *tls_take(struct tls *t)
{
	t->current->uses++;
	return t->current;
}

void tls_read_status(const struct tls *t, struct tls_status *ret_status)
{
	*ret_status = t->current->status;
	ret_status->fault = t->fault;
}

int tls_new(const struct tls_settings *s, struct err *e, struct tls **ret_tls)
{
	struct tls *t = mem_new(struct tls);

	assert(s->name_count <= TLS_NAMES_MAX);
	if (s->cert) {
		t->cert = mem_strdup(s->cert);
		t->key = mem_strdup(s->key);
	} else {
		t->state = mem_strdup(s->state);
		t->cert = mem_printf("%s/tls-cert.pem", s->state);
		t->key = mem_printf("%s/tls-key.pem", s->state);
	}
	for (size_t i = 0; i < s->name_count; i++)
		t->names[t->name_count++] = mem_strdup(s->names[i]);
	if (tls_reload(t, e)) {
		tls_free(t);
		return -EINVAL;
	}
	*ret_tls = t;
	return 0;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	tls_credential_unref(t->current);
	for (size_t i = 0; i < t->name_count; i++)
		free(t->names[i]);
	free(t->cert);
	free(t->key);
	free(t->state);
	free(t->fault);
	free(t);
}
