/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults that a person will read: a code, the JSON pointer of the place (RFC 6901) and a sentence with the mend.
 * One `struct err` collects every fault of a document, not just the first. */
#ifndef ZG_BASE_ERR_H
#define ZG_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum err_code {
	ERR_SYNTAX,       /* not JSON, not UTF-8, duplicate key, too deep */
	ERR_TYPE,         /* wrong JSON type */
	ERR_RANGE,        /* outside its bounds */
	ERR_FORMAT,       /* a string that is not of its form */
	ERR_UNKNOWN,      /* unknown member, section, key, object or route */
	ERR_MISSING,      /* a required member is absent */
	ERR_UNSUPPORTED,  /* known, but not supported yet or not by this node */
	ERR_REFERENCE,    /* names an object that does not exist */
	ERR_IN_USE,       /* cannot be deleted: somebody refers to it */
	ERR_DUPLICATE,    /* taken by another object */
	ERR_INCOMPATIBLE, /* two members that cannot go together */
	ERR_LIMIT,        /* too many, too long */
	ERR_CONFLICT,     /* If-Match or If-None-Match not met */
	ERR_PRECONDITION, /* If-Match required and absent */
	ERR_WAITING,      /* of a change that waits for its confirmation, or of none that does */
	ERR_NOT_FOUND,
	ERR_FORBIDDEN,
	ERR_UNAVAILABLE, /* store or kernel cannot take it now */
	ERR_INTERNAL,
	ERR_CODE_COUNT
};

struct err_fault {
	enum err_code code;
	char *pointer; /* "" is the whole document */
	char *detail;
};

#define ERR_FAULTS_MAX 100 /* more are counted in `total`, not kept */

struct err {
	struct err_fault *faults;
	size_t count;
	size_t total;
};

/* Adds one fault. `pointer` is copied. Never fails; beyond ERR_FAULTS_MAX only counted. Returns -EINVAL, to be returned on. */
int err_set(struct err *e, enum err_code code, const char *pointer, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static inline bool err_any(const struct err *e)
{
	return e->total > 0;
}

/* snake_case name of the code as the API shows it ("unknown_member" …). Never NULL. */
const char *err_code_name(enum err_code code);

/* "POINTER: detail" of the first fault, or "" if there is none. Valid until `e` changes. */
const char *err_first(const struct err *e);

/* Releases what is held and leaves an empty, usable value. NULL-safe. */
void err_clear(struct err *e);

/* Moves all faults of `from` to the end of `to`. */
void err_move(struct err *to, struct err *from);

#define ERR_POINTER_MAX 512

/* Appends "/token" to the pointer in `buf`, escaped by RFC 6901 ("~0", "~1"), cut if there is no room. Returns the old
 * length, with which err_pointer_pop() takes it back. */
size_t err_pointer_push(char buf[ERR_POINTER_MAX], const char *token);
void err_pointer_pop(char buf[ERR_POINTER_MAX], size_t old_length);

#define AUTO_ERR __attribute__((cleanup(err_clear)))

#endif
