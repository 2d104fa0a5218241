// SPDX-License-Identifier: GPL-2.0-or-later
// A sentence for every reason, with its numbers, and none beyond its buffer.
#include "health/evidence.h"
#include "health/evidence_sent.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char text_path[] = "/healthz";
static char text_status[] = "200-299";
static char text_body[] = "all is {well}";

static const struct health_check http_check = {
	.type = CHECK_HTTP,
	.timeout_ms = 2000,
	.method = HTTP_GET,
	.path = text_path,
	.expected_status = text_status,
	.expected_body = text_body,
};
static const struct health_check grpc_check = {.type = CHECK_GRPC, .timeout_ms = 500};
static const struct health_check tls_check = {.type = CHECK_TLS, .timeout_ms = 500};
static const struct health_check tcp_check = {.type = CHECK_TCP, .timeout_ms = 500};
static const struct health_check icmp_check = {.type = CHECK_ICMP, .timeout_ms = 500};
static const struct health_check dns_check = {.type = CHECK_DNS, .timeout_ms = 500};
static const struct health_check udp_check = {.type = CHECK_UDP, .timeout_ms = 500};
static const struct health_check silent_check = {
	.type = CHECK_UDP, .expect = EXPECT_NO_UNREACHABLE, .timeout_ms = 500};
static const struct health_check icmp_udp_check = {.type = CHECK_ICMP_UDP, .timeout_ms = 500};

struct row {
	const struct health_check *check;
	enum health_reason reason;
	struct probe_evidence ev;
	const char *sentence;
};

static const struct row rows[] = {
	{&tcp_check,
	 REASON_NONE,
	 {.started_wall = 1, .connect_usec = 340, .duration_usec = 340},
	 "10.0.1.11:8080 accepted the connection after 0.3 ms"},
	{&http_check,
	 REASON_NONE,
	 {.started_wall = 1, .connect_usec = 300, .duration_usec = 12600, .http_status = 204},
	 "10.0.1.11:8080 answered GET /healthz with status 204 after 13 ms"},
	{&tcp_check, REASON_NONE, {.started_wall = 0}, "10.0.1.11:8080 has not been probed yet"},
	{&tcp_check,
	 REASON_CONNECT_REFUSED,
	 {.duration_usec = 300, .error = ECONNREFUSED},
	 "10.0.1.11:8080 refused the connection after 0.3 ms"},
	{&tcp_check,
	 REASON_CONNECT_TIMEOUT,
	 {.duration_usec = 503000},
	 "10.0.1.11:8080 did not answer the connection attempt within 500 ms"},
	{&tcp_check,
	 REASON_CONNECT_UNREACHABLE,
	 {.duration_usec = 9949, .error = EHOSTUNREACH},
	 "10.0.1.11:8080 is unreachable, or a firewall rejects: No route to host, after 9.9 ms"},
	{&http_check,
	 REASON_CONNECT_RESET,
	 {.duration_usec = 1000},
	 "10.0.1.11:8080 reset the connection after 1.0 ms"},
	{&http_check,
	 REASON_CONNECT_RESET,
	 {.duration_usec = 1000, .first_byte_usec = 900, .text = "HTTP/1.1 200 OK"},
	 "10.0.1.11:8080 reset the connection after 1.0 ms, in the middle of its answer \"HTTP/1.1 200 OK\""},
	{&http_check,
	 REASON_RECV_TIMEOUT,
	 {.duration_usec = 2003000},
	 "10.0.1.11:8080 accepted the connection, but sent no answer to GET /healthz within 2000 ms"},
	{&http_check,
	 REASON_RECV_TIMEOUT,
	 {.duration_usec = 2003000, .first_byte_usec = 5, .text = "HTTP/1.1 200 OK"},
	 "10.0.1.11:8080 did not complete its answer to GET /healthz within 2000 ms; it began with \"HTTP/1.1 200 OK\""},
	{&http_check,
	 REASON_HTTP_STATUS_MISMATCH,
	 {.duration_usec = 1200, .http_status = 503, .text = "HTTP/1.1 503 Busy"},
	 "10.0.1.11:8080 answered GET /healthz with status 503, expected 200-299 (\"HTTP/1.1 503 Busy\" after 1.2 ms)"},
	{&http_check,
	 REASON_HTTP_BODY_MISMATCH,
	 {.duration_usec = 1200, .http_status = 200, .text = "HTTP/1.1 200 OK, 12 bytes of body"},
	 "10.0.1.11:8080 answered GET /healthz, but the body does not contain \"all is {well}\" (HTTP/1.1 200 OK, 12 bytes of body, after 1.2 ms)"},
	{&http_check,
	 REASON_HTTP_INVALID_RESPONSE,
	 {.duration_usec = 1200, .text = "an answer that is not HTTP/1, after \"SSH-2.0-x\""},
	 "10.0.1.11:8080 gave no valid HTTP/1 answer to GET /healthz: an answer that is not HTTP/1, after \"SSH-2.0-x\" (after 1.2 ms)"},
	{&tcp_check,
	 REASON_PROBER_ERROR,
	 {.error = EMFILE},
	 "10.0.1.11:8080 could not be probed for a reason of this host: Too many open files; it counts for nothing"},
	{&tcp_check,
	 REASON_RECV_TIMEOUT,
	 {.duration_usec = 500000},
	 "10.0.1.11:8080 accepted the connection, but sent no answer to the request within 500 ms"},
	{&icmp_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 700},
	 "the host of 10.0.1.11:8080 answered the echo request after 0.7 ms"},
	{&icmp_check,
	 REASON_ICMP_NO_REPLY,
	 {.duration_usec = 503000},
	 "the host of 10.0.1.11:8080 did not answer the echo request within 500 ms"},
	{&icmp_check,
	 REASON_CONNECT_UNREACHABLE,
	 {.duration_usec = 700,
	  .error = EHOSTUNREACH,
	  .text = "ICMP host unreachable from 10.0.0.1"},
	 "10.0.1.11:8080 is unreachable: ICMP host unreachable from 10.0.0.1, after 0.7 ms"},
	{&icmp_check,
	 REASON_PROBER_ERROR,
	 {.error = EPERM, .text = "raw sockets need the capability CAP_NET_RAW"},
	 "10.0.1.11:8080 could not be probed for a reason of this host: Operation not permitted (raw sockets need the capability CAP_NET_RAW); it counts for nothing"},
	{&dns_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 700, .text = "NOERROR, 1 record"},
	 "10.0.1.11:8080 answered the query after 0.7 ms: NOERROR, 1 record"},
	{&dns_check,
	 REASON_DNS_ERROR,
	 {.duration_usec = 700, .text = "REFUSED, 0 records"},
	 "10.0.1.11:8080 answered the query with an error after 0.7 ms: REFUSED, 0 records"},
	{&udp_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 700, .text = "pong\\00"},
	 "10.0.1.11:8080 answered the datagram after 0.7 ms: \"pong\\00\""},
	{&udp_check,
	 REASON_UDP_REPLY_MISMATCH,
	 {.duration_usec = 700, .text = "ping"},
	 "10.0.1.11:8080 answered after 0.7 ms with another datagram than expected: ping"},
	{&udp_check,
	 REASON_ICMP_PORT_UNREACHABLE,
	 {.duration_usec = 700, .text = "ICMP port unreachable"},
	 "nobody listens at 10.0.1.11:8080, or a firewall rejects: ICMP port unreachable after 0.7 ms"},
	/* Those that rest on silence say so. */
	{&silent_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 500000, .silence = SILENCE_UNTESTED},
	 "no \"port unreachable\" from 10.0.1.11:8080 within 500 ms: the verdict rests on silence"},
	{&silent_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 500000, .silence = SILENCE_TELLING},
	 "no \"port unreachable\" from 10.0.1.11:8080 within 500 ms: the verdict rests on silence (closed ports of its host do answer so)"},
	{&icmp_udp_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 500000, .silence = SILENCE_UNTELLING},
	 "no \"port unreachable\" from 10.0.1.11:8080 within 500 ms, nor from closed ports of its host (a rate limit or firewall): its silence proves nothing"},
	{&icmp_udp_check,
	 REASON_NONE,
	 {.started_wall = 1, .duration_usec = 500000, .silence = EVIDENCE_HEARD},
	 "10.0.1.11:8080 answered, and no \"port unreachable\" came within 500 ms"},
	{&tls_check,
	 REASON_NONE,
	 {.started_wall = 1,
	  .connect_usec = 300,
	  .tls_usec = 12600,
	  .duration_usec = 12600,
	  .text = "(TLS1.3)"},
	 "10.0.1.11:8080 completed the TLS handshake after 13 ms (TLS1.3)"},
	{&tls_check,
	 REASON_RECV_TIMEOUT,
	 {.connect_usec = 300, .duration_usec = 503000},
	 "10.0.1.11:8080 accepted the connection, but did not complete the TLS handshake within 500 ms"},
	{&tls_check,
	 REASON_CONNECT_RESET,
	 {.connect_usec = 300, .duration_usec = 1000},
	 "10.0.1.11:8080 reset the connection after 1.0 ms, in the middle of the TLS handshake"},
	{&tls_check,
	 REASON_TLS_FAILED,
	 {.connect_usec = 300,
	  .duration_usec = 9000,
	  .text = "The certificate is NOT trusted. The certificate chain uses expired certificate."},
	 "the TLS handshake with 10.0.1.11:8080 failed after 9.0 ms: The certificate is NOT trusted. The certificate chain uses expired certificate."},
	{&tls_check,
	 REASON_TLS_FAILED,
	 {.connect_usec = 300, .tls_usec = 900, .duration_usec = 9000, .text = "bad record"},
	 "the TLS connection with 10.0.1.11:8080 broke after 9.0 ms: bad record"},
	{&grpc_check,
	 REASON_NONE,
	 {.started_wall = 1, .connect_usec = 300, .duration_usec = 9000, .http_status = 200},
	 "10.0.1.11:8080 says after 9.0 ms that it serves"},
	{&grpc_check,
	 REASON_GRPC_NOT_SERVING,
	 {.duration_usec = 9000, .http_status = 200, .text = "NOT_SERVING"},
	 "10.0.1.11:8080 says after 9.0 ms that it does not serve: NOT_SERVING"},
	{&grpc_check,
	 REASON_HTTP_INVALID_RESPONSE,
	 {.duration_usec = 9000, .text = "a compressed message"},
	 "10.0.1.11:8080 gave no valid gRPC answer: a compressed message (after 9.0 ms)"},
	{&grpc_check,
	 REASON_HTTP_STATUS_MISMATCH,
	 {.duration_usec = 9000, .http_status = 503, .text = "HTTP/2 503"},
	 "10.0.1.11:8080 answered Health/Check with status 503, expected 200 (\"HTTP/2 503\" after 9.0 ms)"},
	{&grpc_check,
	 REASON_RECV_TIMEOUT,
	 {.connect_usec = 300, .duration_usec = 503000},
	 "10.0.1.11:8080 accepted the connection, but sent no answer to Health/Check within 500 ms"},
};

static const struct probe_target target = {
	.address = {.family = 2, .bytes = {10, 0, 1, 11}},
	.port = 8080,
};

static void test_sentences(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_target t = target;
		char buf[512];

		t.check = rows[i].check;
		assert_ptr_equal(
			evidence_describe(&t, rows[i].reason, &rows[i].ev, buf, sizeof(buf)), buf);
		assert_string_equal(buf, rows[i].sentence);
	}
}

/* Of gRPC, which is HTTP/2, nothing is told of HTTP/1. */
static void test_remedies_are_of_the_type(void **state)
{
	const char *grpc = evidence_remedy(&grpc_check, REASON_HTTP_INVALID_RESPONSE);

	(void)state;
	assert_null(strstr(grpc, "HTTP/1"));
	assert_non_null(strstr(grpc, "HTTP/2"));
	assert_non_null(
		strstr(evidence_remedy(&http_check, REASON_HTTP_INVALID_RESPONSE), "HTTP/1.x"));
	assert_string_equal(evidence_remedy(&grpc_check, REASON_CONNECT_REFUSED),
			    evidence_remedy(&http_check, REASON_CONNECT_REFUSED));
}

/* No reason without a sentence, none with a brace left over, and each names the server. */
static void test_every_reason(void **state)
{
	struct probe_target t = target;
	struct probe_evidence ev = {.started_wall = 1, .duration_usec = 1, .text = "seen"};
	char buf[512];

	(void)state;
	t.check = &tcp_check;
	for (int r = 0; r < REASON_COUNT; r++) {
		evidence_describe(&t, (enum health_reason)r, &ev, buf, sizeof(buf));
		assert_non_null(strstr(buf, "10.0.1.11:8080"));
		assert_null(strchr(buf, '{'));
		assert_null(strchr(buf, '}'));
	}
}

static void test_ipv6(void **state)
{
	struct probe_target t = {.check = &tcp_check,
				 .address = {.family = 10, .bytes = {0x20, 0x01, 0x0d, 0xb8}},
				 .port = 80};
	struct probe_evidence ev = {.duration_usec = 10};
	char buf[200];

	(void)state;
	evidence_describe(&t, REASON_CONNECT_REFUSED, &ev, buf, sizeof(buf));
	assert_string_equal(buf, "[2001:db8::]:80 refused the connection after 0.0 ms");
}

static void test_cut_to_the_buffer(void **state)
{
	struct probe_target t = target;
	char whole[512];
	char guarded[64];

	(void)state;
	t.check = &http_check;
	evidence_describe(&t, REASON_HTTP_BODY_MISMATCH, &rows[11].ev, whole, sizeof(whole));
	for (size_t size = 1; size < sizeof(guarded); size++) {
		memset(guarded, '#', sizeof(guarded));
		evidence_describe(&t, REASON_HTTP_BODY_MISMATCH, &rows[11].ev, guarded, size);
		assert_int_equal(strlen(guarded), size - 1);
		assert_memory_equal(guarded, whole, size - 1);
		assert_int_equal(guarded[size], '#');
	}
}

#define TEXT(s) ((char[]){s})

static void test_what_is_sent(void **state)
{
	const struct {
		struct health_check check;
		const char *sent;
	} kinds[] = {
		{{.type = CHECK_TCP}, "connect"},
		{{.type = CHECK_TCP, .handshake = HANDSHAKE_HALF_OPEN}, "SYN"},
		{{.type = CHECK_HTTP, .path = TEXT("/up?a=%20")}, "HEAD /up?a=%20 HTTP/1.1"},
		{{.type = CHECK_HTTPS,
		  .path = TEXT("/"),
		  .method = HTTP_GET,
		  .host = TEXT("a.example")},
		 "GET / HTTP/1.1, Host a.example"},
		{{.type = CHECK_TLS}, "TLS handshake"},
		{{.type = CHECK_TLS, .sni = TEXT("a.example")}, "TLS handshake, SNI a.example"},
		{{.type = CHECK_UDP}, "DNS query example.com A"},
		{{.type = CHECK_UDP, .request = TEXT("hi\\00")}, "hi\\00"},
		{{.type = CHECK_ICMP}, "echo request"},
		{{.type = CHECK_ICMP_UDP, .request = TEXT("x")}, "echo request, x"},
		{{.type = CHECK_GRPC}, "grpc.health.v1.Health/Check"},
		{{.type = CHECK_GRPC, .service = TEXT("shop")}, "grpc.health.v1.Health/Check shop"},
		{{.type = CHECK_DNS, .dns_qtype = 1}, "DNS query example.com A"},
		{{.type = CHECK_DNS, .dns_qtype = 6}, "DNS query . SOA"},
		{{.type = CHECK_DNS, .dns_qtype = 28, .dns_name = TEXT("a.example")},
		 "DNS query a.example AAAA"},
	};
	char buf[EVIDENCE_SENT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_string_equal(evidence_sent(&kinds[i].check, buf), kinds[i].sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_every_reason),
		cmocka_unit_test(test_remedies_are_of_the_type),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_cut_to_the_buffer),
		cmocka_unit_test(test_what_is_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
