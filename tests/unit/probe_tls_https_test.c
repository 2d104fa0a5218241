// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `https`: the answers of http inside of TLS, and certificates of both sides.
#include "probe_answers.h"
#include "tls_fixture.h"

static struct tls_identity authority;
static struct tls_identity good;    /* shop.example.net, of the authority */
static struct tls_identity expired; /* the same, until yesterday */
static char ca_path[] = "/tmp/zonegate-ca-XXXXXX";

static char name_shop[] = "shop.example.net";
static char name_with_port[] = "shop.example.net:8443";
static char text_pong[] = "pong";

static int set_up(void **state)
{
	(void)state;
	tls_identity_make(&authority, NULL, -TLS_DAY, 100 * TLS_DAY, NULL);
	tls_identity_make(&good, name_shop, -TLS_DAY, 10 * TLS_DAY, &authority);
	tls_identity_make(&expired, name_shop, -10 * TLS_DAY, -TLS_DAY, &authority);
	close(mkstemp(ca_path));
	tls_identity_write(&authority, ca_path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(ca_path);
	tls_identity_drop(&authority);
	tls_identity_drop(&good);
	tls_identity_drop(&expired);
	return 0;
}

struct https_row {
	const char *name;
	enum http_method method;
	char *wanted;
	struct tls_script script;
	struct answer_verdict verdict;
};

static const struct https_row answers[] = {
	{"plain pass",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\n\r\n"}, .hold = true},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"HTTP/1.0, no goodbye",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.0 200 OK\r\n\r\npi", "ng pong"}, .rude = true},
	 {PASS, 200, "HTTP/1.0 200 OK"}},
	{"status line in two records",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 20", "0 OK\r\nA: b\r", "\n\r\n"}, .pause_ms = 30},
	 {PASS, 200, "HTTP/1.1 200 OK"}},
	{"100 before the answer",
	 HTTP_GET,
	 NULL,
	 {.parts = {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 Fine\r\n\r\n"}, .pause_ms = 30},
	 {PASS, 200, "HTTP/1.1 200 Fine"}},
	{"body until goodbye",
	 HTTP_GET,
	 text_pong,
	 {.parts = {"HTTP/1.1 200 OK\r\n\r\nping", "pang"}, .pause_ms = 10},
	 {BODY, 200, "HTTP/1.1 200 OK, 8 bytes of body"}},
	{"wrong status",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 503 Busy\r\n\r\n"}},
	 {OTHER, 503, "HTTP/1.1 503 Busy"}},
	{"another protocol",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"220 mail ESMTP\r\n"}, .hold = true},
	 {ODD, 0, "an answer that is not HTTP/1, after \"220 mail ESMTP\""}},
	{"closed without an answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {""}},
	 {ODD, 0, "no answer before the connection was closed"}},
	{"closed in mid-answer, no goodbye",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\nA: b\r\n"}, .rude = true},
	 {ODD, 200, "a connection closed in mid-answer, after \"HTTP/1.1 200 OK\""}},
	{"says nothing", HTTP_HEAD, NULL, {.parts = {""}, .hold = true}, {SLOW, 0, ""}},
	{"stops in mid-answer",
	 HTTP_HEAD,
	 NULL,
	 {.parts = {"HTTP/1.1 200 OK\r\n"}, .hold = true},
	 {SLOW, 0, "HTTP/1.1 200 OK"}},
};

static void test_https_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const struct https_row *row = &answers[i];
		struct health_check c = answer_check(CHECK_HTTPS, row->method, row->wanted);
		struct tls_script script = row->script;
		struct probe_result r;

		script.identity = &good;
		c.timeout_ms = row->verdict.reason == REASON_RECV_TIMEOUT ? 200 : 3000;
		r = tls_probe(&c, &script);
		answer_assert(row->name, &r, &row->verdict);
		assert_true(r.evidence.tls_usec != 0);
		if (r.evidence.first_byte_usec)
			assert_true(r.evidence.first_byte_usec >= r.evidence.tls_usec);
		assert_non_null(strstr(script.request, "Connection: close\r\n"));
	}
}

static void test_https_verified(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTPS);
	struct tls_script script = {.identity = &good, .parts = {"HTTP/1.1 200 OK\r\n\r\n"}};
	struct probe_result r;

	(void)state;
	c.timeout_ms = 3000;
	c.verify = true;
	c.ca_file = ca_path;
	c.host = name_with_port;
	r = tls_probe(&c, &script);
	fixture_assert(&r, PASS);
	assert_non_null(strstr(script.request, "Host: shop.example.net:8443\r\n"));
	script.identity = &expired;
	r = tls_probe(&c, &script);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_TLS_FAILED);
	assert_non_null(strstr(r.evidence.text, "expired"));
}

/* The client's part of a TLS 1.3 handshake is over before the server has looked at its certificate. */
static void test_https_client_certificate(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTPS);
	struct tls_script script = {
		.identity = &good, .parts = {"HTTP/1.1 200 OK\r\n\r\n"}, .client_must_show = true};
	struct probe_result r;

	(void)state;
	c.timeout_ms = 3000;
	r = tls_probe(&c, &script);
	assert_int_equal(r.health.verdict, PROBE_FAIL_ACTIVE);
	assert_int_not_equal(script.handshake, 0);
}

/* Many answers in many records, and an answer without end. */
static void tls_flood(int fd, void *arg)
{
	struct tls_script *s = arg;
	gnutls_session_t session;
	char block[4096];
	int blocks = 0;

	memset(block, 'x', sizeof(block));
	tls_must(gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_SIGNAL));
	tls_must(gnutls_set_default_priority(session));
	tls_must(gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, s->identity->credentials));
	gnutls_transport_set_int(session, fd);
	if (!gnutls_handshake(session)) {
		(void)gnutls_record_send(session, s->parts[0], strlen(s->parts[0]));
		while (blocks++ < 25600 && gnutls_record_send(session, block, sizeof(block)) > 0)
			; /* 100 MB */
	}
	gnutls_deinit(session);
}

static void test_https_huge(void **state)
{
	struct health_check c = fixture_check(CHECK_HTTPS);
	struct tls_script script = {.identity = &good, .parts = {"HTTP/1.1 200 OK\r\nX-Huge: "}};
	struct probe_result r;

	(void)state;
	c.timeout_ms = 3000;
	r = fixture_probe_with(&c, tls_flood, &script);
	fixture_assert(&r, ODD);
	assert_string_equal(r.evidence.text,
			    "more than 16 KiB of headers, after \"HTTP/1.1 200 OK\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_https_answers),
		cmocka_unit_test(test_https_verified),
		cmocka_unit_test(test_https_client_certificate),
		cmocka_unit_test(test_https_huge),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
