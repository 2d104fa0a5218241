/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of probes over TLS: certificates made on the spot, and a server that speaks TLS on the connections of
 * probe_fixture.h. */
#ifndef ZG_TESTS_UNIT_TLS_FIXTURE_H
#define ZG_TESTS_UNIT_TLS_FIXTURE_H

#include "probe_fixture.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TLS_DAY (24 * 3600)

/* A certificate and its key. */
struct tls_identity {
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
	gnutls_certificate_credentials_t credentials;
};

static inline void tls_must(int code)
{
	if (code < 0)
		fail_msg("GnuTLS: %s", gnutls_strerror(code));
}

/* A name, or an address, that the certificate is for. */
static inline void tls_identity_put_name(struct tls_identity *id, const char *name)
{
	struct addr a;

	if (addr_parse(name, &a) == 0)
		tls_must(gnutls_x509_crt_set_subject_alt_name(id->crt, GNUTLS_SAN_IPADDRESS,
							      a.bytes, a.family == AF_INET ? 4 : 16,
							      GNUTLS_FSAN_SET));
	else
		tls_must(gnutls_x509_crt_set_subject_alt_name(id->crt, GNUTLS_SAN_DNSNAME, name,
							      (unsigned)strlen(name),
							      GNUTLS_FSAN_SET));
}

/* For `name` (NULL = an authority), from and until in seconds from now, signed by `issuer` (NULL = by itself). */
static inline void tls_identity_make(struct tls_identity *id, const char *name, long from,
				     long until, const struct tls_identity *issuer)
{
	static unsigned char serial = 1;
	const char *subject = name ? name : "Test Authority";
	time_t now = time(NULL);

	tls_must(gnutls_x509_privkey_init(&id->key));
	tls_must(gnutls_x509_privkey_generate(id->key, GNUTLS_PK_ECDSA,
					      GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
	tls_must(gnutls_x509_crt_init(&id->crt));
	tls_must(gnutls_x509_crt_set_version(id->crt, 3));
	serial++;
	tls_must(gnutls_x509_crt_set_serial(id->crt, &serial, 1));
	tls_must(gnutls_x509_crt_set_activation_time(id->crt, now + from));
	tls_must(gnutls_x509_crt_set_expiration_time(id->crt, now + until));
	tls_must(gnutls_x509_crt_set_dn_by_oid(id->crt, GNUTLS_OID_X520_COMMON_NAME, 0, subject,
					       (unsigned)strlen(subject)));
	tls_must(gnutls_x509_crt_set_key(id->crt, id->key));
	tls_must(gnutls_x509_crt_set_basic_constraints(id->crt, name == NULL, -1));
	if (name)
		tls_identity_put_name(id, name);
	else
		tls_must(gnutls_x509_crt_set_key_usage(id->crt, GNUTLS_KEY_KEY_CERT_SIGN));
	tls_must(gnutls_x509_crt_sign2(id->crt, issuer ? issuer->crt : id->crt,
				       issuer ? issuer->key : id->key, GNUTLS_DIG_SHA256, 0));
	tls_must(gnutls_certificate_allocate_credentials(&id->credentials));
	tls_must(gnutls_certificate_set_x509_key(id->credentials, &id->crt, 1, id->key));
}

static inline void tls_identity_drop(struct tls_identity *id)
{
	gnutls_certificate_free_credentials(id->credentials);
	gnutls_x509_crt_deinit(id->crt);
	gnutls_x509_privkey_deinit(id->key);
}

/* The certificate into a file, as PEM. */
static inline void tls_identity_write(const struct tls_identity *id, const char *path)
{
	gnutls_datum_t pem;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	tls_must(gnutls_x509_crt_export2(id->crt, GNUTLS_X509_FMT_PEM, &pem));
	assert_int_equal(fwrite(pem.data, 1, pem.size, f), pem.size);
	gnutls_free(pem.data);
	assert_int_equal(fclose(f), 0);
}

/* What a server does with one connection. */
struct tls_script {
	const struct tls_identity *identity;
	const char *priority; /* NULL = the default */
	const char *parts
		[4]; /* sent one after the other; NULL at first = nothing, and no request is waited for */
	int pause_ms;          /* before the handshake, and between the parts */
	bool hold;             /* does not close before the client does */
	bool rude;             /* ends without goodbye */
	bool client_must_show; /* asks for a certificate, and insists */
	/* What it saw. */
	int handshake; /* code of GnuTLS */
	char sni[256];
	char request[2048];
	int end; /* of the last read: 0 = goodbye, or a code of GnuTLS */
};

static inline void tls_script_read(gnutls_session_t session, struct tls_script *s)
{
	size_t size = 0;

	while (size < sizeof(s->request) - 1) {
		ssize_t n = gnutls_record_recv(session, s->request + size,
					       sizeof(s->request) - 1 - size);

		if (n <= 0)
			break;
		size += (size_t)n;
		s->request[size] = '\0';
		if (strstr(s->request, "\r\n\r\n"))
			break;
	}
}

static inline void tls_script_talk(gnutls_session_t session, struct tls_script *s)
{
	char byte;

	if (s->parts[0])
		tls_script_read(session, s);
	for (int i = 0; i < 4 && s->parts[i]; i++) {
		if (i > 0 && s->pause_ms)
			usleep((useconds_t)s->pause_ms * 1000);
		(void)gnutls_record_send(session, s->parts[i], strlen(s->parts[i]));
	}
	if (s->hold)
		s->end = (int)gnutls_record_recv(session, &byte, 1);
	if (!s->rude)
		(void)gnutls_bye(session, GNUTLS_SHUT_WR);
}

static inline void tls_serve(int fd, void *arg)
{
	const struct timeval patience = {.tv_sec = 5};
	struct tls_script *s = arg;
	size_t size = sizeof(s->sni) - 1;
	unsigned type;
	gnutls_session_t session;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (s->pause_ms)
		usleep((useconds_t)s->pause_ms * 1000);
	tls_must(gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL));
	tls_must(s->priority ? gnutls_priority_set_direct(session, s->priority, NULL)
			     : gnutls_set_default_priority(session));
	tls_must(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, s->identity->credentials));
	if (s->client_must_show)
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	gnutls_transport_set_int(session, fd);
	do
		s->handshake = gnutls_handshake(session);
	while (s->handshake < 0 && !gnutls_error_is_fatal(s->handshake));
	(void)gnutls_server_name_get(session, s->sni, &size, &type, 0);
	if (!s->handshake)
		tls_script_talk(session, s);
	gnutls_deinit(session);
}

/* One probe against one such server on 127.0.0.1. */
static inline struct probe_result tls_probe(const struct health_check *c, struct tls_script *script)
{
	struct fixture_server s;
	struct probe_result r;

	fixture_server_start(&s, "127.0.0.1", tls_serve, script);
	r = fixture_probe_server(c, &s);
	fixture_server_wait(&s, 1);
	fixture_server_stop(&s);
	return r;
}

#endif
