// SPDX-License-Identifier: GPL-2.0-or-later
// Kind `tls` against servers with every sort of certificate, and against those that speak no TLS. `https`: probe_tls_https_test.c.
#include "probe_answers.h"
#include "tls_fixture.h"

static struct tls_identity authority;
static struct tls_identity good;      /* shop.example.net, of the authority */
static struct tls_identity expired;   /* the same, until yesterday */
static struct tls_identity self_made; /* the same, signed by itself */
static struct tls_identity of_v4;     /* 192.0.2.7 */
static struct tls_identity of_v6;     /* 2001:db8::7 */
static char ca_path[] = "/tmp/zonegate-ca-XXXXXX";

static char name_shop[] = "shop.example.net";
static char name_other[] = "other.example.net";
static char name_with_port[] = "shop.example.net:8443";
static char name_address[] = "192.0.2.7";
static char name_v4_port[] = "192.0.2.7:8443";
static char name_v6[] = "2001:db8::7";
static char name_v6_other[] = "2001:DB8:0:0::7";
static char name_v6_port[] = "[2001:db8::7]:8443";
static char name_v6_wrong[] = "[2001:db8::8]";
static char name_dot[] = "shop.example.net.";

static int set_up(void **state)
{
	(void)state;
	tls_identity_make(&authority, NULL, -TLS_DAY, 100 * TLS_DAY, NULL);
	tls_identity_make(&good, name_shop, -TLS_DAY, 10 * TLS_DAY, &authority);
	tls_identity_make(&expired, name_shop, -10 * TLS_DAY, -TLS_DAY, &authority);
	tls_identity_make(&self_made, name_shop, -TLS_DAY, 10 * TLS_DAY, NULL);
	tls_identity_make(&of_v4, name_address, -TLS_DAY, 10 * TLS_DAY, &authority);
	tls_identity_make(&of_v6, name_v6, -TLS_DAY, 10 * TLS_DAY, &authority);
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
	tls_identity_drop(&self_made);
	tls_identity_drop(&of_v4);
	tls_identity_drop(&of_v6);
	return 0;
}

static struct health_check tls_check(void)
{
	struct health_check c = fixture_check(CHECK_TLS);

	c.timeout_ms = 3000;
	return c;
}

static struct health_check verifying_check(char *sni)
{
	struct health_check c = tls_check();

	c.verify = true;
	c.ca_file = ca_path;
	c.sni = sni;
	return c;
}

/* ---- the handshake ---- */

static void test_handshake(void **state)
{
	static const struct tls_identity *const any[] = {&good, &expired, &self_made};
	struct health_check c = tls_check();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tls_script script = {.identity = any[i], .hold = true};
		struct probe_result r = tls_probe(&c, &script);

		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_in_range(r.evidence.connect_usec, 1, r.evidence.tls_usec);
		assert_in_range(r.evidence.tls_usec, r.evidence.connect_usec,
				r.evidence.duration_usec);
		assert_non_null(strstr(r.evidence.text, "TLS1.3"));
		assert_string_equal(script.sni, "");
	}
}

static void test_old_version(void **state)
{
	struct health_check c = tls_check();
	struct tls_script script = {
		.identity = &good, .hold = true, .priority = "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
	struct probe_result r = tls_probe(&c, &script);

	(void)state;
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_non_null(strstr(r.evidence.text, "TLS1.2"));
}

static void test_close(void **state)
{
	struct health_check c = tls_check();
	struct tls_script script = {.identity = &good, .hold = true};
	struct probe_result r;

	(void)state;
	r = tls_probe(&c, &script);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	/* A reset, perhaps before the server has read the end of the handshake. */
	assert_true(script.handshake == GNUTLS_E_PULL_ERROR || script.end == GNUTLS_E_PULL_ERROR);
	c.close = CLOSE_FIN;
	r = tls_probe(&c, &script);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_int_equal(script.handshake, 0);
	assert_int_equal(script.end, 0); /* goodbye */
}

static void test_names(void **state)
{
	struct {
		char *sni;
		char *host;
		const char *seen;
	} rows[] = {
		{NULL, NULL, ""},
		{name_other, name_shop, "other.example.net"},
		{NULL, name_shop, "shop.example.net"},
		{NULL, name_with_port, "shop.example.net"},
		{NULL, name_address, ""},
		{NULL, name_v6_port, ""},
		{name_dot, NULL, "shop.example.net"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct health_check c = tls_check();
		struct tls_script script = {.identity = &good, .hold = true};
		struct probe_result r;

		c.sni = rows[i].sni;
		c.host = rows[i].host;
		r = tls_probe(&c, &script);
		fixture_assert(&r, PROBE_PASS, REASON_NONE);
		assert_string_equal(script.sni, rows[i].seen);
	}
}

/* ---- certificates ---- */

struct certificate_row {
	const char *name;
	const struct tls_identity *identity;
	char *sni;
	char *host;
	const char *fault; /* part of it; NULL = passes */
};

static const struct certificate_row certificates[] = {
	{"good", &good, name_shop, NULL, NULL},
	{"good, by host", &good, NULL, name_with_port, NULL},
	{"good, whatever the name", &good, NULL, NULL, NULL},
	{"sni counts before host", &good, name_shop, name_other, NULL},
	{"expired", &expired, name_shop, NULL, "expired"},
	{"another name", &good, name_other, NULL, "The name in the certificate does not match"},
	{"another name by host", &good, NULL, name_other, "does not match"},
	{"an address it is not for", &good, NULL, name_address, "does not match"},
	{"an address", &of_v4, NULL, name_address, NULL},
	{"an address and a port", &of_v4, NULL, name_v4_port, NULL},
	{"an address as sni", &of_v4, name_address, name_other, NULL},
	{"a name of one that is for an address", &of_v4, NULL, name_shop, "does not match"},
	{"an address of IPv6", &of_v6, NULL, name_v6, NULL},
	{"the same written otherwise", &of_v6, NULL, name_v6_other, NULL},
	{"an address of IPv6 and a port", &of_v6, NULL, name_v6_port, NULL},
	{"another address of IPv6", &of_v6, NULL, name_v6_wrong, "does not match"},
	{"an address of the other family", &of_v6, NULL, name_address, "does not match"},
	{"signed by itself", &self_made, name_shop, NULL, "The certificate issuer is unknown"},
	{"signed by itself, any name", &self_made, NULL, NULL, "NOT trusted"},
};

static void test_certificates(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(certificates) / sizeof(certificates[0]); i++) {
		const struct certificate_row *row = &certificates[i];
		struct health_check c = verifying_check(row->sni);
		struct tls_script script = {.identity = row->identity, .hold = true};
		struct probe_result r;

		c.host = row->host;
		r = tls_probe(&c, &script);
		if (row->fault ? r.health.reason != REASON_TLS_FAILED ||
					 r.health.verdict != PROBE_FAIL_ACTIVE ||
					 !strstr(r.evidence.text, row->fault)
			       : r.health.verdict != PROBE_PASS)
			fail_msg("%s: verdict %d reason %s text \"%s\"", row->name,
				 (int)r.health.verdict, health_reason_name(r.health.reason),
				 r.evidence.text);
		if (row->fault)
			assert_int_equal(r.evidence.tls_usec, 0);
	}
}

/* Nothing of a certificate of these tests is known to the system; without the system's file there is nothing to load. */
static void test_system_store(void **state)
{
	struct health_check c = verifying_check(name_shop);
	struct tls_script script = {.identity = &good, .hold = true};
	struct probe_result r;

	(void)state;
	c.ca_file = NULL;
	if (access("/etc/ssl/certs/ca-certificates.crt", R_OK) < 0)
		skip();
	r = tls_probe(&c, &script);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_TLS_FAILED);
	assert_non_null(strstr(r.evidence.text, "issuer is unknown"));
}

/* ---- servers that fail ---- */

static void serve_plain(int fd, void *arg)
{
	char hello[2048];

	(void)recv(fd, hello, sizeof(hello), 0);
	fixture_send(fd, arg);
	fixture_wait_gone(fd, 2000);
}

static void serve_close(int fd, void *arg)
{
	char hello[2048];

	(void)arg;
	(void)recv(fd, hello, sizeof(hello), 0);
}

static void serve_reset(int fd, void *arg)
{
	const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	serve_close(fd, arg);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

static void test_broken_handshakes(void **state)
{
	static char banner[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	struct health_check c = tls_check();
	struct tls_script modern = {.identity = &good,
				    .priority = "NORMAL:-SIGN-ALL:+SIGN-RSA-SHA256"};
	struct probe_result r;

	(void)state;
	r = fixture_probe_with(&c, serve_plain, banner);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_TLS_FAILED);
	assert_string_equal(r.evidence.text, "what it answered is not TLS");
	assert_true(r.evidence.connect_usec && !r.evidence.tls_usec);

	r = fixture_probe_with(&c, serve_close, NULL);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_TLS_FAILED);
	assert_string_equal(r.evidence.text, "the server closed the connection");

	r = fixture_probe_with(&c, serve_reset, NULL);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET);

	r = tls_probe(&c, &modern);
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_TLS_FAILED);
	assert_string_equal(r.evidence.text, "the server closed the connection");
}

static void serve_alert(int fd, void *arg)
{
	static const char alert[] = {21, 3, 3, 0, 2, 2, 40};

	(void)arg;
	serve_close(fd, NULL);
	(void)send(fd, alert, sizeof(alert), MSG_NOSIGNAL);
	fixture_wait_gone(fd, 2000);
}

static void test_alert(void **state)
{
	struct health_check c = tls_check();
	struct probe_result r = fixture_probe_with(&c, serve_alert, NULL);

	(void)state;
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_TLS_FAILED);
	assert_string_equal(r.evidence.text, "the server sent the alert \"Handshake failed\"");
}

static void serve_nothing(int fd, void *arg)
{
	(void)arg;
	fixture_wait_gone(fd, 2000);
}

static void test_silent(void **state)
{
	struct health_check c = tls_check();
	struct probe_result r;
	char sentence[400];
	struct probe_target t = {.check = &c};

	(void)state;
	c.timeout_ms = 100;
	r = fixture_probe_with(&c, serve_nothing, NULL);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT);
	assert_in_range(r.evidence.duration_usec, 100000, 700000);
	assert_non_null(strstr(
		evidence_describe(&t, r.health.reason, &r.evidence, sentence, sizeof(sentence)),
		"did not complete the TLS handshake within 100 ms"));
}

static void test_refused(void **state)
{
	struct health_check c = tls_check();
	struct probe_result r = answer_of_nobody(&c);

	(void)state;
	fixture_assert(&r, PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED);
	assert_int_equal(r.evidence.tls_usec, 0);
}

/* Nothing of it reaches the server: the file is ours. */
static void test_no_authority(void **state)
{
	static char nowhere[] = "/nonexistent/ca.pem";
	static char folder[] = "/";
	struct health_check c = verifying_check(name_shop);
	struct tls_script script = {.identity = &good};
	struct probe_result r;

	(void)state;
	c.ca_file = nowhere;
	r = tls_probe(&c, &script);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_string_equal(r.evidence.text, "/nonexistent/ca.pem");
	assert_int_equal(r.evidence.error, ENOENT);
	c.ca_file = folder;
	r = tls_probe(&c, &script);
	fixture_assert(&r, PROBE_ERROR, REASON_PROBER_ERROR);
	assert_string_equal(r.evidence.text, "/: not a file");
}

/* Neither descriptors nor sessions are left, also of a probe that is cancelled in mid-handshake. */
static void test_nothing_left(void **state)
{
	struct health_check c = tls_check();
	struct tls_script script = {.identity = &good, .hold = true};
	struct probe_target t = {.check = &c};
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct fixture_server s;
	struct fixture f;
	int before = fixture_count_files();

	(void)state;
	for (int i = 0; i < 20; i++)
		tls_probe(&c, &script);
	assert_int_equal(fixture_settled_files(before), before);

	fixture_server_start(&s, "127.0.0.1", serve_nothing, NULL);
	t.address = s.address;
	t.port = s.port;
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, 0.1);
	assert_int_equal(probe_sched_in_flight(f.sched), 1);
	fixture_stop(&f);
	fixture_server_stop(&s);
	assert_int_equal(told.count, 0);
	assert_int_equal(fixture_settled_files(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_old_version),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_certificates),
		cmocka_unit_test(test_system_store),
		cmocka_unit_test(test_broken_handshakes),
		cmocka_unit_test(test_alert),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_authority),
		cmocka_unit_test(test_nothing_left),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
