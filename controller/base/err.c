// SPDX-License-Identifier: GPL-2.0-or-later
// The list of faults. A fault's `detail` is the tail of one allocation "POINTER: detail", so that err_first() needs no
// memory of its own.
#include "base/err.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEPARATOR ": "

static const char *const err_names[] = {
	[ERR_SYNTAX] = "syntax",
	[ERR_TYPE] = "wrong_type",
	[ERR_RANGE] = "out_of_range",
	[ERR_FORMAT] = "bad_format",
	[ERR_UNKNOWN] = "unknown_member",
	[ERR_MISSING] = "missing_member",
	[ERR_UNSUPPORTED] = "not_supported",
	[ERR_REFERENCE] = "unknown_reference",
	[ERR_IN_USE] = "in_use",
	[ERR_DUPLICATE] = "duplicate",
	[ERR_INCOMPATIBLE] = "incompatible",
	[ERR_LIMIT] = "limit_exceeded",
	[ERR_CONFLICT] = "conflict",
	[ERR_PRECONDITION] = "precondition_required",
	[ERR_WAITING] = "unconfirmed",
	[ERR_NOT_FOUND] = "not_found",
	[ERR_FORBIDDEN] = "forbidden",
	[ERR_UNAVAILABLE] = "unavailable",
	[ERR_INTERNAL] = "internal",
};
_Static_assert(sizeof(err_names) / sizeof(err_names[0]) == ERR_CODE_COUNT, "a name per code");

const char *err_code_name(enum err_code code)
{
	assert(code < ERR_CODE_COUNT);
	return err_names[code];
}

static char *err_fault_text(const struct err_fault *f)
{
	return f->detail - strlen(f->pointer) - strlen(SEPARATOR);
}

static void err_fault_free(struct err_fault *f)
{
	free(err_fault_text(f));
	free(f->pointer);
}

/* The place of one more fault, or NULL when the list is full. */
static struct err_fault *err_next(struct err *e)
{
	e->total++;
	if (e->count == ERR_FAULTS_MAX)
		return NULL;
	if ((e->count & (e->count - 1)) == 0)
		e->faults = mem_realloc_array(e->faults, e->count ? e->count * 2 : 1,
					      sizeof(*e->faults));
	return &e->faults[e->count++];
}

int err_set(struct err *e, enum err_code code, const char *pointer, const char *fmt, ...)
{
	struct err_fault *f = err_next(e);
	AUTO_FREE char *detail = NULL;
	va_list args;
	int n;

	if (!f)
		return -EINVAL;
	va_start(args, fmt);
	n = vasprintf(&detail, fmt, args);
	va_end(args);
	if (n < 0)
		abort();
	f->code = code;
	f->pointer = mem_strdup(pointer);
	f->detail = mem_printf("%s" SEPARATOR "%s", pointer, detail) + strlen(pointer) +
		    strlen(SEPARATOR);
	return -EINVAL;
}

const char *err_first(const struct err *e)
{
	if (!e->count)
		return "";
	return e->faults[0].pointer[0] ? err_fault_text(&e->faults[0]) : e->faults[0].detail;
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++)
		err_fault_free(&e->faults[i]);
	free(e->faults);
	*e = (struct err){0};
}

void err_move(struct err *to, struct err *from)
{
	size_t uncounted = from->total - from->count;

	for (size_t i = 0; i < from->count; i++) {
		struct err_fault *f = err_next(to);

		if (f)
			*f = from->faults[i];
		else
			err_fault_free(&from->faults[i]);
	}
	to->total += uncounted;
	from->count = 0; /* they belong to `to` now */
	err_clear(from);
}

/* Where to end a text in UTF-8 that goes on with `next` after `at`: before the character that would be cut in two. */
static size_t err_cut_between(const char *text, size_t at, char next)
{
	if (((unsigned char)next & 0xc0) != 0x80)
		return at;
	while (at > 0 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
		at--;
	return at > 0 ? at - 1 : 0;
}

size_t err_pointer_push(char buf[ERR_POINTER_MAX], const char *token)
{
	size_t old_length = strlen(buf);
	size_t at = old_length;

	if (at + 1 < ERR_POINTER_MAX)
		buf[at++] = '/';
	for (; *token; token++) {
		bool escaped = *token == '~' || *token == '/';

		if (at + (escaped ? 2 : 1) >= ERR_POINTER_MAX) {
			at = err_cut_between(buf, at, *token); /* and never half an escape */
			break;
		}
		if (escaped) {
			buf[at++] = '~';
			buf[at++] = *token == '~' ? '0' : '1';
		} else {
			buf[at++] = *token;
		}
	}
	buf[at] = '\0';
	return old_length;
}

void err_pointer_pop(char buf[ERR_POINTER_MAX], size_t old_length)
{
	assert(old_length < ERR_POINTER_MAX);
	buf[old_length] = '\0';
}
