/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Problem documents (RFC 9457). Pure. */
#ifndef ZG_API_PROBLEM_H
#define ZG_API_PROBLEM_H

#include <jansson.h>

#include "base/err.h"

/* What is wrong, as the machine reads it: the `type` member, the status and the title belong together. */
enum problem_kind {
	PROBLEM_BAD_REQUEST,
	PROBLEM_UNAUTHORIZED,
	PROBLEM_FORBIDDEN,
	PROBLEM_NOT_FOUND,
	PROBLEM_METHOD_NOT_ALLOWED,
	PROBLEM_TIMEOUT,
	PROBLEM_IN_USE,
	PROBLEM_REFUSED,
	PROBLEM_UNCONFIRMED,
	PROBLEM_GONE,
	PROBLEM_PRECONDITION_FAILED,
	PROBLEM_TOO_LARGE,
	PROBLEM_TARGET_TOO_LONG,
	PROBLEM_MEDIA_TYPE,
	PROBLEM_MISDIRECTED,
	PROBLEM_INVALID,
	PROBLEM_PRECONDITION_REQUIRED,
	PROBLEM_TOO_MANY_REQUESTS,
	PROBLEM_HEAD_TOO_LARGE,
	PROBLEM_INTERNAL,
	PROBLEM_KERNEL_UNAVAILABLE,
	PROBLEM_STORE_UNAVAILABLE,
	PROBLEM_DNS_UNAVAILABLE,
	PROBLEM_BUSY,
	PROBLEM_STOPPING,
	PROBLEM_KIND_COUNT
};

unsigned problem_status(enum problem_kind kind);
const char *problem_type(enum problem_kind kind); /* "in-use" */
const char *problem_title(enum problem_kind kind);

/* The kind that the first fault of `e` makes; PROBLEM_STORE_UNAVAILABLE for ERR_UNAVAILABLE. */
enum problem_kind problem_classify(const struct err *e);

struct problem {
	enum problem_kind kind;
	const char *detail;   /* NULL = the first fault, or the title */
	const char *instance; /* path of the request */
	const char *request_id;
	const struct err *faults; /* may be NULL */
	const json_t *changed;    /* who changed the object last, and when; may be NULL */
};

/* {type, title, status, detail, instance, request_id, errors, changed}. New reference. */
json_t *problem_encode(const struct problem *p);

/* [{pointer, code, detail}] of a list of faults. New reference. */
json_t *problem_encode_faults(const struct err *e);

#endif
