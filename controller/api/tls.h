/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certificate of the API: read from files, or made by us. It is counted: a handshake keeps what it got while another is put
 * in force. */
#ifndef ZG_API_TLS_H
#define ZG_API_TLS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "late/late_gnutls.h"

struct tls;
struct tls_credential;

/* TLS 1.2 and 1.3, forward secrecy and authenticated ciphers only. The first group is the one that clients send a share of: any other
 * would cost a round trip. */
#define TLS_PRIORITIES                                                                        \
	"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:-AES-256-CBC:-SHA1:" \
	"-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:"          \
	"+GROUP-SECP384R1:%SERVER_PRECEDENCE"

#define TLS_NAMES_MAX   64
#define TLS_FINGERPRINT 96 /* "AB:CD:…" of SHA-256 */
#define TLS_SUBJECT_MAX 256

struct tls_settings {
	const char
		*cert; /* PEM, the server's first, then its issuers; NULL: one is made in `state` */
	const char *key;                  /* PEM; not readable by everybody */
	const char *state;                /* folder */
	const char *names[TLS_NAMES_MAX]; /* names and addresses that a made certificate is for */
	size_t name_count;
};

/* Reads the files, or makes them. Strings are copied. Returns 0, or -EINVAL with the reason in `e`. */
int tls_new(const struct tls_settings *s, struct err *e, struct tls **ret_tls);
void tls_free(struct tls *t); /* NULL-safe */

/* Reads (or makes) again. What stands stays in force when the new files are at fault, and the status says why. */
int tls_reload(struct tls *t, struct err *e);

struct tls_status {
	char fingerprint[TLS_FINGERPRINT];
	char subject[TLS_SUBJECT_MAX];
	usec_t not_after_wall;
	bool self_signed;
	const char *fault; /* of the last reading; NULL = it went well. Borrowed */
};
void tls_read_status(const struct tls *t, struct tls_status *ret_status);

/* What is in force, counted; and what a handshake needs of it, borrowed while it is held. */
struct tls_credential *tls_take(struct tls *t);
void tls_credential_unref(struct tls_credential *c); /* NULL-safe */
void tls_credential_show(struct tls_credential *c, gnutls_pcert_st **ret_certs, unsigned *ret_count,
			 gnutls_privkey_t *ret_key);

#endif
