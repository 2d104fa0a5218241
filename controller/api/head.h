/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a request, judged before anything in it is believed. libmicrohttpd 0.9 takes continued lines, bytes that are NUL,
 * names with blanks and every header twice; whoever stands before us may have read such a head otherwise. */
#ifndef ZG_API_HEAD_H
#define ZG_API_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAD_FIELDS_MAX    128
#define HEAD_ARGUMENTS_MAX 64 /* of the target; the library holds about 1000 */
#define HEAD_TARGET_MAX    65536

struct head_field {
	const char *name;
	const char *value;
};

struct head {
	/* The bytes as they came, but for the NULs that the library puts behind each part. */
	const char *line;    /* begins with the method */
	const char *path;    /* where the target begins, */
	const char *target;  /* and its end: the NUL behind it */
	const char *version; /* "HTTP/1.1" */
	size_t size; /* of line, fields and the empty line; 0: the bytes are not there to be looked at */
	struct head_field fields[HEAD_FIELDS_MAX];
	size_t count;
	bool crowded; /* there were more fields */
};

/* How the body comes, of a head in which head_find_length_fault() finds nothing. */
struct head_body {
	bool expected;
	bool chunked;
	bool awaited; /* it comes when we say so: Expect */
	uint64_t length;
};

void head_add(struct head *h, const char *name, const char *value);

/* The value of the first field of this name, or NULL. */
const char *head_find(const struct head *h, const char *name);

/* What is malformed, repeated or missing, as a sentence (static), or NULL. */
const char *head_find_form_fault(const struct head *h);
const char *head_find_length_fault(const struct head *h);
const char *head_find_repeated(const struct head *h);
const char *head_find_host_fault(const struct head *h);

void head_read_body(const struct head *h, struct head_body *ret_body);

/* Whether a target is more than the library holds beside a head: it would not answer at all. */
bool head_target_fits(const char *target);

#endif
