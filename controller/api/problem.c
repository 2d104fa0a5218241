// SPDX-License-Identifier: GPL-2.0-or-later
// Problem documents: one table of kinds.
#include "api/problem.h"

#include "base/mem.h"

#include <string.h>

struct problem_row {
	unsigned status;
	const char *type;
	const char *title;
};

static const struct problem_row problem_rows[] = {
	[PROBLEM_BAD_REQUEST] = {400, "bad-request", "The request is malformed"},
	[PROBLEM_UNAUTHORIZED] = {401, "unauthorized", "A token or a session is needed"},
	[PROBLEM_FORBIDDEN] = {403, "forbidden", "Not allowed"},
	[PROBLEM_NOT_FOUND] = {404, "not-found", "There is no such object"},
	[PROBLEM_METHOD_NOT_ALLOWED] = {405, "method-not-allowed",
					"The path does not know this method"},
	[PROBLEM_TIMEOUT] = {408, "timeout", "The request took too long"},
	[PROBLEM_IN_USE] = {409, "in-use", "The object is in use"},
	[PROBLEM_REFUSED] = {409, "refused", "Refused as things are now"},
	[PROBLEM_UNCONFIRMED] = {409, "unconfirmed", "Not possible with confirmations as they are"},
	[PROBLEM_GONE] = {410, "gone", "It is no longer kept"},
	[PROBLEM_PRECONDITION_FAILED] = {412, "precondition-failed", "The object has changed"},
	[PROBLEM_TOO_LARGE] = {413, "too-large", "The body is too large"},
	[PROBLEM_TARGET_TOO_LONG] = {414, "target-too-long", "The request target is too long"},
	[PROBLEM_MEDIA_TYPE] = {415, "unsupported-media-type",
				"The body is not in a form that is taken"},
	[PROBLEM_MISDIRECTED] = {421, "misdirected", "Not a host of this server"},
	[PROBLEM_INVALID] = {422, "invalid", "What was sent is not valid; nothing was changed"},
	[PROBLEM_PRECONDITION_REQUIRED] = {428, "precondition-required", "If-Match is required"},
	[PROBLEM_TOO_MANY_REQUESTS] = {429, "too-many-requests",
				       "Too many at once from one client"},
	[PROBLEM_HEAD_TOO_LARGE] = {431, "head-too-large", "The head of the request is too large"},
	[PROBLEM_INTERNAL] = {500, "internal", "An error of the server"},
	[PROBLEM_KERNEL_UNAVAILABLE] = {503, "kernel-unavailable", "The kernel has no IPVS now"},
	[PROBLEM_STORE_UNAVAILABLE] = {503, "store-unavailable", "The store cannot take it now"},
	[PROBLEM_DNS_UNAVAILABLE] = {503, "dns-unavailable", "There are no DNS answers yet"},
	[PROBLEM_BUSY] = {503, "busy", "Too much at once of all clients together"},
	[PROBLEM_STOPPING] = {503, "stopping", "The daemon is stopping"},
};
_Static_assert(sizeof(problem_rows) / sizeof(problem_rows[0]) == PROBLEM_KIND_COUNT,
	       "a row per kind");

unsigned problem_status(enum problem_kind kind)
{
	return problem_rows[kind].status;
}

const char *problem_type(enum problem_kind kind)
{
	return problem_rows[kind].type;
}

const char *problem_title(enum problem_kind kind)
{
	return problem_rows[kind].title;
}

enum problem_kind problem_classify(const struct err *e)
{
	if (e->count == 0)
		return PROBLEM_INTERNAL;
	switch (e->faults[0].code) {
	case ERR_SYNTAX:
		return PROBLEM_BAD_REQUEST;
	case ERR_NOT_FOUND:
		return PROBLEM_NOT_FOUND;
	case ERR_CONFLICT:
		return PROBLEM_PRECONDITION_FAILED;
	case ERR_PRECONDITION:
		return PROBLEM_PRECONDITION_REQUIRED;
	case ERR_WAITING:
		return PROBLEM_UNCONFIRMED;
	case ERR_IN_USE:
		return PROBLEM_IN_USE;
	case ERR_FORBIDDEN:
		return PROBLEM_FORBIDDEN;
	case ERR_UNAVAILABLE:
		return PROBLEM_STORE_UNAVAILABLE;
	case ERR_INTERNAL:
		return PROBLEM_INTERNAL;
	case ERR_TYPE:
	case ERR_RANGE:
	case ERR_FORMAT:
	case ERR_UNKNOWN:
	case ERR_MISSING:
	case ERR_UNSUPPORTED:
	case ERR_REFERENCE:
	case ERR_DUPLICATE:
	case ERR_INCOMPATIBLE:
	case ERR_LIMIT:
	case ERR_CODE_COUNT:
		break;
	}
	return PROBLEM_INVALID;
}

/* What a request says of itself may stand in it, in no UTF-8 or cut within a character. */
static json_t *problem_encode_text(const char *text)
{
	json_t *json = json_string(text);
	AUTO_FREE char *copy = NULL;

	if (json)
		return json;
	copy = mem_strdup(text);
	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c > '~')
			*c = '?';
	}
	return json_string(copy);
}

json_t *problem_encode_faults(const struct err *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->count; i++) {
		const struct err_fault *f = &e->faults[i];

		json_array_append_new(list, json_pack("{s:o, s:s, s:o}", "pointer",
						      problem_encode_text(f->pointer), "code",
						      err_code_name(f->code), "detail",
						      problem_encode_text(f->detail)));
	}
	return list;
}

json_t *problem_encode(const struct problem *p)
{
	const char *detail = p->detail;
	json_t *json;

	if (!detail && p->faults && p->faults->count > 0)
		detail = p->faults->faults[0].detail;
	json = json_pack("{s:s, s:s, s:i, s:o, s:s, s:s}", "type", problem_type(p->kind), "title",
			 problem_title(p->kind), "status", (int)problem_status(p->kind), "detail",
			 problem_encode_text(detail ? detail : problem_title(p->kind)), "instance",
			 p->instance, "request_id", p->request_id);
	if (p->changed)
		json_object_set_new(json, "changed", json_deep_copy(p->changed));
	if (p->faults) {
		json_object_set_new(json, "errors", problem_encode_faults(p->faults));
		if (p->faults->total > p->faults->count)
			json_object_set_new(json, "errors_total",
					    json_integer((json_int_t)p->faults->total));
	}
	return json;
}
