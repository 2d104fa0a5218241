// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences for a person: who, what, with which numbers. One row a reason; what stands in braces is filled in. No sentence
// says more than was seen.
#include "health/evidence.h"

#include "model/health_check.h"

#include <stdio.h>
#include <string.h>

static const char *const evidence_sentences[REASON_COUNT] = {
	[REASON_NONE] = "{who} answered after {took}",
	[REASON_REGISTRATION_IN_PROGRESS] = "{who} is being registered",
	[REASON_INITIAL_CHECKING] = "{who} is being checked for the first time",
	[REASON_TRUSTED_UNTIL_CHECKED] =
		"{who} was in service before and keeps its weight until its first verdict",
	[REASON_HEALTH_CHECK_DISABLED] = "the health check is off: {who} counts as healthy",
	[REASON_NOT_IN_USE] = "no listener uses the group of {who}: it is not probed",
	[REASON_WEIGHT_ZERO] = "the weight of {who} is 0: it gets no new connections",
	[REASON_DRAIN_REQUESTED] = "{who} is being drained",
	[REASON_DISABLED] = "{who} is disabled by configuration",
	[REASON_CONNECT_TIMEOUT] = "{who} did not answer the connection attempt within {limit}",
	[REASON_CONNECT_REFUSED] = "{who} refused the connection after {took}",
	[REASON_CONNECT_UNREACHABLE] =
		"{who} is unreachable, or a firewall rejects: {error}, after {took}",
	[REASON_CONNECT_RESET] = "{who} reset the connection after {took}",
	[REASON_RECV_TIMEOUT] =
		"{who} accepted the connection, but sent no answer to {request} within {limit}",
	[REASON_ICMP_NO_REPLY] = "the host of {who} did not answer the echo request within {limit}",
	[REASON_ICMP_PORT_UNREACHABLE] =
		"the host of {who} answered after {took} that nobody listens there",
	[REASON_UDP_NO_REPLY] = "{who} did not answer the datagram within {limit}",
	[REASON_UDP_REPLY_MISMATCH] =
		"{who} answered after {took} with another datagram than expected: {text}",
	[REASON_HTTP_STATUS_MISMATCH] =
		"{who} answered {request} with status {status}, expected {expected} (\"{text}\" after {took})",
	[REASON_HTTP_BODY_MISMATCH] =
		"{who} answered {request}, but the body does not contain \"{body}\" ({text}, after {took})",
	[REASON_HTTP_INVALID_RESPONSE] =
		"{who} gave no valid HTTP/1 answer to {request}: {text} (after {took})",
	[REASON_TLS_FAILED] = "the TLS handshake with {who} failed after {took}: {text}",
	[REASON_GRPC_NOT_SERVING] = "{who} says after {took} that it does not serve: {text}",
	[REASON_DNS_ERROR] = "{who} answered the query with an error after {took}: {text}",
	[REASON_FAILING_INTERMITTENTLY] = "{who} fails too many of its probes, though not in a row",
	[REASON_PROBER_ERROR] =
		"{who} could not be probed for a reason of this host: {error}; it counts for nothing",
};

/* Where more is known than the reason says. */
static const char sentence_unprobed[] = "{who} has not been probed yet";
static const char sentence_pass_tcp[] = "{who} accepted the connection after {took}";
static const char sentence_pass_tls[] = "{who} completed the TLS handshake after {took} {text}";
static const char sentence_pass_http[] =
	"{who} answered {request} with status {status} after {took}";
static const char sentence_pass_grpc[] = "{who} says after {took} that it serves";
static const char sentence_odd_grpc[] = "{who} gave no valid gRPC answer: {text} (after {took})";
static const char sentence_pass_echo[] = "the host of {who} answered the echo request after {took}";
static const char sentence_pass_dns[] = "{who} answered the query after {took}: {text}";
static const char sentence_pass_udp[] = "{who} answered the datagram after {took}: \"{text}\"";
static const char sentence_unreachable_icmp[] = "{who} is unreachable: {text}, after {took}";
static const char sentence_port_icmp[] =
	"nobody listens at {who}, or a firewall rejects: {text} after {took}";
static const char sentence_mend[] =
	"{who} could not be probed for a reason of this host: {error} ({text}); it counts for nothing";
static const char sentence_cut_short[] =
	"{who} did not complete its answer to {request} within {limit}; it began with \"{text}\"";
static const char sentence_reset_in_answer[] =
	"{who} reset the connection after {took}, in the middle of its answer \"{text}\"";

static const char sentence_no_handshake[] =
	"{who} accepted the connection, but did not complete the TLS handshake within {limit}";
static const char sentence_reset_in_handshake[] =
	"{who} reset the connection after {took}, in the middle of the TLS handshake";
static const char sentence_broken_tls[] =
	"the TLS connection with {who} broke after {took}: {text}";

/* Of checks that wait for no "port unreachable". */
static const char *const sentence_silences[] = {
	[EVIDENCE_HEARD] = "{who} answered, and no \"port unreachable\" came within {limit}",
	[SILENCE_UNTESTED] =
		"no \"port unreachable\" from {who} within {limit}: the verdict rests on silence",
	[SILENCE_TELLING] =
		"no \"port unreachable\" from {who} within {limit}: the verdict rests on silence (closed ports of its host do answer so)",
	[SILENCE_UNTELLING] =
		"no \"port unreachable\" from {who} within {limit}, nor from closed ports of its host (a rate limit or firewall): its silence proves nothing",
};

static const char *evidence_pick_pass(const struct health_check *c, const struct probe_evidence *ev)
{
	if (!ev->started_wall)
		return sentence_unprobed;
	if (health_check_passes_late(c))
		return sentence_silences[ev->silence];
	if (c->type == CHECK_ICMP)
		return sentence_pass_echo;
	if (c->type == CHECK_DNS)
		return sentence_pass_dns;
	if (c->type == CHECK_UDP)
		return sentence_pass_udp;
	if (c->type == CHECK_GRPC)
		return sentence_pass_grpc;
	if (ev->http_status)
		return sentence_pass_http;
	if (ev->tls_usec)
		return sentence_pass_tls;
	return ev->connect_usec ? sentence_pass_tcp : evidence_sentences[REASON_NONE];
}

/* Of a connection that was made, but on which TLS was not agreed on. */
static const char *evidence_pick_handshake(const struct health_check *c, enum health_reason reason,
					   const struct probe_evidence *ev)
{
	if ((c->type != CHECK_TLS && c->type != CHECK_HTTPS) || !ev->connect_usec || ev->tls_usec)
		return NULL;
	if (reason == REASON_RECV_TIMEOUT)
		return sentence_no_handshake;
	return reason == REASON_CONNECT_RESET ? sentence_reset_in_handshake : NULL;
}

static const char *evidence_pick(const struct health_check *c, enum health_reason reason,
				 const struct probe_evidence *ev)
{
	const char *sentence;

	if (reason == REASON_NONE)
		return evidence_pick_pass(c, ev);
	sentence = evidence_pick_handshake(c, reason, ev);
	if (sentence)
		return sentence;
	if (reason == REASON_HTTP_INVALID_RESPONSE && c->type == CHECK_GRPC)
		return sentence_odd_grpc;
	if (reason == REASON_TLS_FAILED && ev->tls_usec)
		return sentence_broken_tls;
	if (reason == REASON_CONNECT_UNREACHABLE && ev->text[0])
		return sentence_unreachable_icmp;
	if (reason == REASON_ICMP_PORT_UNREACHABLE && ev->text[0])
		return sentence_port_icmp;
	if (reason == REASON_PROBER_ERROR && ev->text[0])
		return sentence_mend;
	if (reason == REASON_RECV_TIMEOUT && ev->first_byte_usec)
		return sentence_cut_short;
	if (reason == REASON_CONNECT_RESET && ev->first_byte_usec)
		return sentence_reset_in_answer;
	return evidence_sentences[reason];
}

/* "0.3 ms", "12 ms", "2000 ms". */
static void evidence_format_usec(char *buf, size_t size, uint32_t usec)
{
	if (usec < 10 * USEC_PER_MS)
		snprintf(buf, size, "%.1f ms", (double)usec / (double)USEC_PER_MS);
	else
		snprintf(buf, size, "%u ms", (unsigned)((usec + USEC_PER_MS / 2) / USEC_PER_MS));
}

static void evidence_format_request(char *buf, size_t size, const struct health_check *c)
{
	static const char *const methods[] = {[HTTP_HEAD] = "HEAD", [HTTP_GET] = "GET"};

	if (c->type == CHECK_GRPC)
		snprintf(buf, size, "Health/Check");
	else if (c->path)
		snprintf(buf, size, "%s %s", methods[c->method], c->path);
	else
		snprintf(buf, size, "the request");
}

static const char *evidence_expected(const struct health_check *c)
{
	if (c->expected_status)
		return c->expected_status;
	return c->type == CHECK_GRPC ? "200" : "another";
}

/* What one word in braces stands for; in `buf` or constant. */
static const char *evidence_word(const char *word, size_t length, const struct probe_target *t,
				 const struct probe_evidence *ev,
				 char buf[MODEL_TEXT_MAX + ADDR_ENDPOINT_TEXT_MAX])
{
	const size_t size = MODEL_TEXT_MAX + ADDR_ENDPOINT_TEXT_MAX;

	if (strncmp(word, "who", length) == 0)
		return t->port ? addr_format_endpoint(&t->address, t->port, buf)
			       : addr_format(&t->address, buf);
	if (strncmp(word, "text", length) == 0)
		return ev->text;
	if (strncmp(word, "error", length) == 0)
		return ev->error ? strerror(ev->error) : "no descriptor to spare";
	if (strncmp(word, "expected", length) == 0)
		return evidence_expected(t->check);
	if (strncmp(word, "body", length) == 0)
		return t->check->expected_body ? t->check->expected_body : "";
	if (strncmp(word, "took", length) == 0)
		evidence_format_usec(buf, size, ev->duration_usec);
	else if (strncmp(word, "limit", length) == 0)
		snprintf(buf, size, "%u ms", (unsigned)t->check->timeout_ms);
	else if (strncmp(word, "status", length) == 0)
		snprintf(buf, size, "%u", (unsigned)ev->http_status);
	else
		evidence_format_request(buf, size, t->check);
	return buf;
}

struct evidence_out {
	char *buf;
	size_t size;
	size_t used;
};

static void evidence_put(struct evidence_out *out, const char *text, size_t length)
{
	size_t room = out->size - out->used - 1;

	if (length > room)
		length = room;
	memcpy(out->buf + out->used, text, length);
	out->used += length;
	out->buf[out->used] = '\0';
}

const char *evidence_describe(const struct probe_target *t, enum health_reason reason,
			      const struct probe_evidence *ev, char *buf, size_t size)
{
	char word[MODEL_TEXT_MAX + ADDR_ENDPOINT_TEXT_MAX];
	struct evidence_out out = {buf, size, 0};
	const char *p = evidence_pick(t->check, reason, ev);

	while (*p) {
		size_t plain = strcspn(p, "{");
		size_t length;
		const char *text;

		evidence_put(&out, p, plain);
		p += plain;
		if (!*p)
			break;
		length = strcspn(++p, "}");
		text = evidence_word(p, length, t, ev, word);
		evidence_put(&out, text, strlen(text));
		p += length + 1;
	}
	return buf;
}

const char *evidence_remedy(const struct health_check *c, enum health_reason reason)
{
	if (reason == REASON_HTTP_INVALID_RESPONSE && c->type == CHECK_GRPC)
		return "what answers does not speak gRPC, which needs HTTP/2: is it the right port, or a TLS one?";
	return health_reason_remedy(reason);
}
