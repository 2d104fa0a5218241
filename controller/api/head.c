// SPDX-License-Identifier: GPL-2.0-or-later
// Judgement of heads. The library cuts a head in place, so its parts must follow each other without a gap: a part that was
// continued has been moved, and one with a NUL in it ends too early.
#include "api/head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char head_malformed[] =
	"the head is malformed: a header line is continued, a name holds what is no name, or there are control characters";

void head_add(struct head *h, const char *name, const char *value)
{
	if (h->count == HEAD_FIELDS_MAX) {
		h->crowded = true;
		return;
	}
	h->fields[h->count].name = name;
	h->fields[h->count].value = value ? value : "";
	h->count++;
}

const char *head_find(const struct head *h, const char *name)
{
	for (size_t i = 0; i < h->count; i++) {
		if (strcasecmp(h->fields[i].name, name) == 0)
			return h->fields[i].value;
	}
	return NULL;
}

static size_t head_count(const struct head *h, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < h->count; i++)
		count += strcasecmp(h->fields[i].name, name) == 0;
	return count;
}

/* ---- form ------------------------------------------------------------------------------------- */

static bool head_is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789!#$%&'*+-.^_`|~";

	return *name && name[strspn(name, letters)] == '\0';
}

static bool head_is_value(const char *value)
{
	for (; *value; value++) {
		if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
			return false;
	}
	return true;
}

/* A part ends where a NUL stands for CR LF or LF; the next begins behind that. */
static bool head_follows(const char *end, const char *next)
{
	return next == end + 1 || (next == end + 2 && end[1] == '\0');
}

/* The value begins behind the NUL that stands for ":", and blanks. */
static bool head_follows_colon(const struct head_field *f)
{
	const char *start = f->name + strlen(f->name) + 1;

	return f->value == start + strspn(start, " \t");
}

/* The empty line: all that is left of the head. */
static bool head_ends_at(const struct head *h, const char *end)
{
	const char *stop = h->line + h->size;

	if (end >= stop || stop - end < 2 || stop - end > 4)
		return false;
	for (; end < stop; end++) {
		if (*end)
			return false;
	}
	return true;
}

/* Behind the NUL that stands for the first blank nothing but blanks. */
static bool head_follows_method(const struct head *h)
{
	const char *rest = h->line + strlen(h->line) + 1;

	return h->path == rest + strspn(rest, " ");
}

static bool head_is_whole(const struct head *h)
{
	const char *end = h->version + strlen(h->version);

	if (!head_follows_method(h) || h->version != h->target + 1)
		return false;
	for (size_t i = 0; i < h->count; i++) {
		const struct head_field *f = &h->fields[i];

		if (!head_follows(end, f->name) || !head_follows_colon(f))
			return false;
		end = f->value + strlen(f->value);
	}
	return head_ends_at(h, end);
}

const char *head_find_form_fault(const struct head *h)
{
	for (size_t i = 0; i < h->count; i++) {
		if (!head_is_name(h->fields[i].name) || !head_is_value(h->fields[i].value))
			return head_malformed;
	}
	return h->size > 0 && !h->crowded && !head_is_whole(h) ? head_malformed : NULL;
}

/* ---- what is said twice ------------------------------------------------------------------------ */

const char *head_find_length_fault(const struct head *h)
{
	const char *coding = head_find(h, "Transfer-Encoding");

	/* Who stands between the client and us may have taken the other one (RFC 9112, 6.3). */
	if (head_count(h, "Content-Length") + head_count(h, "Transfer-Encoding") > 1)
		return "the length of the body is given more than once";
	if (coding && (strcasecmp(coding, "chunked") != 0 || strcmp(h->version, "HTTP/1.0") == 0))
		return "Transfer-Encoding: of HTTP/1.1, and chunked alone, is taken";
	return NULL;
}

const char *head_find_repeated(const struct head *h)
{
	static const struct {
		const char *name;
		const char *says;
	} once[] = {
		{"Host", "the header Host is given more than once"},
		{"Authorization", "the header Authorization is given more than once"},
		{"If-Match", "the header If-Match is given more than once"},
		{"If-None-Match", "the header If-None-Match is given more than once"},
		{"Content-Type", "the header Content-Type is given more than once"},
		{"Content-Encoding", "the header Content-Encoding is given more than once"},
		{"Expect", "the header Expect is given more than once"},
		{"Cookie", "the header Cookie is given more than once"},
		{"Origin", "the header Origin is given more than once"},
		{"Sec-Fetch-Site", "the header Sec-Fetch-Site is given more than once"},
		{"Last-Event-ID", "the header Last-Event-ID is given more than once"},
	};

	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
		if (head_count(h, once[i].name) > 1)
			return once[i].says;
	}
	return NULL;
}

const char *head_find_host_fault(const struct head *h)
{
	if (head_find(h, "Host") || strcmp(h->version, "HTTP/1.0") == 0)
		return NULL;
	return "the header Host is missing";
}

/* ---- the body and the target -------------------------------------------------------------------- */

void head_read_body(const struct head *h, struct head_body *ret_body)
{
	const char *length = head_find(h, "Content-Length");
	const char *expect = head_find(h, "Expect");

	ret_body->chunked = head_find(h, "Transfer-Encoding") != NULL;
	ret_body->length = length ? strtoull(length, NULL, 10) : 0;
	ret_body->expected = ret_body->chunked || ret_body->length > 0;
	ret_body->awaited = ret_body->expected && expect && strcasecmp(expect, "100-continue") == 0;
}

bool head_target_fits(const char *target)
{
	size_t length = 0, arguments = 0;

	for (; target[length]; length++)
		arguments += target[length] == '&';
	return length <= HEAD_TARGET_MAX && arguments < HEAD_ARGUMENTS_MAX;
}
