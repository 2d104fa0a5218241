// SPDX-License-Identifier: GPL-2.0-or-later
// The words of a play as values.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play_judge.h"

bool play_parse_duration(struct play *p, const char *text, usec_t *ret_usec)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}};
	char *end;
	double n = strtod(text, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (end == text || n < 0 || strcmp(end, units[i].unit) != 0)
			continue;
		*ret_usec = (usec_t)llround(n * units[i].factor);
		return true;
	}
	return play_fault(p, "\"%s\" is no duration (3s, 200ms, 1us, 5m, 1h)", text);
}

bool play_parse_number(struct play *p, const char *text, uint64_t *ret_number)
{
	char *end;

	*ret_number = strtoull(text, &end, 10);
	if (end == text || *end)
		return play_fault(p, "\"%s\" is no number", text);
	return true;
}

bool play_parse_address(struct play *p, const char *text, struct addr *ret_addr)
{
	if (addr_parse(text, ret_addr) != 0)
		return play_fault(p, "\"%s\" is no address", text);
	return true;
}

bool play_parse_endpoint(struct play *p, const char *text, struct addr *ret_addr,
			 uint16_t *ret_port)
{
	char *copy AUTO_FREE = mem_strdup(text);
	char *colon = strrchr(copy, ':');
	char *host = copy;
	uint64_t port;

	if (!colon)
		return play_fault(p, "\"%s\" is no address:port", text);
	*colon = '\0';
	if (host[0] == '[' && colon[-1] == ']') {
		host++;
		colon[-1] = '\0';
	}
	if (!play_parse_address(p, host, ret_addr) || !play_parse_number(p, colon + 1, &port))
		return false;
	*ret_port = (uint16_t)port;
	return true;
}

bool play_parse_key(struct play *p, const char *text, struct plan_key *ret_key)
{
	memset(ret_key, 0, sizeof(*ret_key));
	if (strncmp(text, "mark", 4) == 0 && strchr("46", text[4]) && text[5] == '/') {
		ret_key->family = text[4] == '4' ? AF_INET : AF_INET6;
		ret_key->fwmark = (uint32_t)strtoul(text + 6, NULL, 0);
		return ret_key->fwmark != 0 || play_fault(p, "\"%s\" is no mark", text);
	}
	ret_key->protocol = IPPROTO_TCP;
	if (strncmp(text, "udp/", 4) == 0)
		ret_key->protocol = IPPROTO_UDP;
	if (strncmp(text, "sctp/", 5) == 0)
		ret_key->protocol = IPPROTO_SCTP;
	if (strchr(text, '/'))
		text = strchr(text, '/') + 1;
	if (!play_parse_endpoint(p, text, &ret_key->address, &ret_key->port))
		return false;
	ret_key->family = ret_key->address.family;
	return true;
}

bool play_parse_errno(struct play *p, const char *text, int *ret_error)
{
	static const struct {
		const char *name;
		int error;
	} names[] = {{"ENOMEM", ENOMEM},   {"EPERM", EPERM},   {"ENOENT", ENOENT},
		     {"EEXIST", EEXIST},   {"ESRCH", ESRCH},   {"ETIMEDOUT", ETIMEDOUT},
		     {"ENOBUFS", ENOBUFS}, {"EINVAL", EINVAL}, {"ENODEV", ENODEV}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, text) == 0) {
			*ret_error = names[i].error;
			return true;
		}
	}
	return play_fault(p, "\"%s\" is no errno that is known here", text);
}

/* open KEY | ftp ADDRESS | drop ADDRESS | reject ADDRESS */
bool play_parse_entry(struct play *p, size_t at, struct ruleset_entry *ret_entry)
{
	char name[RULESET_NAME_MAX];
	struct ruleset_entry e = {0};
	struct plan_key key;

	snprintf(name, sizeof(name), "zg4-%s", play_word(p, at));
	if (!ruleset_parse_id(name, &e.set))
		return play_fault(p, "\"%s\" is no set", play_word(p, at));
	if (ruleset_type_of(e.set.kind) != RULESET_IP) {
		if (!play_parse_key(p, play_word(p, at + 1), &key))
			return false;
		e.address = key.address;
		e.protocol = key.protocol;
		e.port = key.port;
	} else if (!play_parse_address(p, play_word(p, at + 1), &e.address)) {
		return false;
	}
	e.set.family = ruleset_family_of(&e.address);
	*ret_entry = e;
	return true;
}

bool play_parse_op_kind(struct play *p, const char *text, enum plan_op_kind *ret_kind)
{
	for (int i = 0; i < PLAN_OP_KIND_COUNT; i++) {
		if (strcmp(plan_op_name((enum plan_op_kind)i), text) == 0) {
			*ret_kind = (enum plan_op_kind)i;
			return true;
		}
	}
	return play_fault(p, "\"%s\" is no kind of operation", text);
}

bool play_parse_event(struct play *p, const char *text, enum engine_event_id *ret_id)
{
	for (int i = 0; i < EVENT_COUNT; i++) {
		if (strcmp(engine_event_name((enum engine_event_id)i), text) == 0) {
			*ret_id = (enum engine_event_id)i;
			return true;
		}
	}
	return play_fault(p, "\"%s\" is no event", text);
}

json_t *play_parse_json(struct play *p, const char *text)
{
	char *copy AUTO_FREE = mem_strdup(text);
	json_error_t error;
	json_t *json;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(copy, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
	if (!json)
		play_fault(p, "JSON, line %d: %s", error.line, error.text);
	return json;
}

static bool parse_reason(struct play *p, const char *text, enum health_reason *ret_reason)
{
	static const struct {
		const char *word;
		enum health_reason reason;
	} words[] = {
		{"refused", REASON_CONNECT_REFUSED}, {"unreachable", REASON_CONNECT_UNREACHABLE},
		{"reset", REASON_CONNECT_RESET},     {"status", REASON_HTTP_STATUS_MISMATCH},
		{"body", REASON_HTTP_BODY_MISMATCH}, {"garbage", REASON_HTTP_INVALID_RESPONSE}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, text) == 0) {
			*ret_reason = words[i].reason;
			return true;
		}
	}
	return play_fault(p, "\"%s\" is no failure", text);
}

bool play_parse_behaviour(struct play *p, size_t at, struct sim_behaviour *ret_behaviour,
			  size_t *ret_next)
{
	const char *word = at < p->count ? p->words[at] : "";
	struct sim_behaviour b = {.duration = USEC_PER_MS};

	*ret_next = at + 1;
	if (strcmp(word, "pass") == 0) {
		b.verdict = PROBE_PASS;
	} else if (strcmp(word, "timeout") == 0) {
		b.verdict = PROBE_FAIL_SILENT;
		b.reason = REASON_CONNECT_TIMEOUT;
	} else if (strcmp(word, "error") == 0) {
		b.verdict = PROBE_ERROR;
		b.reason = REASON_PROBER_ERROR;
	} else if (strcmp(word, "fail") == 0 && at + 1 < p->count) {
		b.verdict = PROBE_FAIL_ACTIVE;
		*ret_next = at + 2;
		if (!parse_reason(p, p->words[at + 1], &b.reason))
			return false;
	} else {
		return play_fault(p, "\"%s\" is not pass, fail REASON, timeout or error", word);
	}
	if (*ret_next < p->count && strchr("0123456789", p->words[*ret_next][0])) {
		if (!play_parse_duration(p, p->words[*ret_next], &b.duration))
			return false;
		(*ret_next)++;
	}
	*ret_behaviour = b;
	return true;
}
