/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of the kernel through libipset's session, with binary data. Synchronous, and the library has global state: all of it is called
 * from one thread. */
#ifndef ZG_KERNEL_SETLIB_H
#define ZG_KERNEL_SETLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/ruleset.h"

struct setlib;

/* What a set is made with. */
struct setlib_type {
	enum ruleset_type type;
	enum ruleset_family family;
	uint32_t hash_size;    /* 0 = the kernel's default */
	uint32_t elements_max; /* that it takes */
};

/* An element; what its type does not have is left out. */
struct setlib_element {
	const struct addr *address;
	const struct addr *peer; /* NULL = none */
	uint16_t port;
	uint8_t protocol; /* 0 = no port */
	uint8_t length;   /* of a prefix; 0 = it is none */
	bool excepted;    /* "nomatch": what is in this prefix is not in the set */
};

/* Nothing of netfilter is touched before the first command. Never NULL. */
struct setlib *setlib_new(void);
void setlib_free(struct setlib *l); /* NULL-safe */

/* All return 0 or a negative number: an errno, or one of ipset's own (they begin at 4096). */

/* What is there already with the same type is no error; one of another type is -EEXIST. */
int setlib_create(struct setlib *l, const char *name, const struct setlib_type *t);
int setlib_destroy(struct setlib *l, const char *name); /* what is gone already is no error */
/* Exchanges what is in the two, which are of one type; no packet sees anything between. */
int setlib_swap(struct setlib *l, const char *one, const char *other);

/* Adds (anew, if it is there: its counters begin again) or deletes an element: queued, and sent with others. What is there, or gone, already is no error. `number` is not 0 and rises
 * within what is sent together. After an error it is not known which of those that were queued have been done: doing them again does no
 * harm. */
enum setlib_change { SETLIB_ADD, SETLIB_DELETE };
int setlib_change(struct setlib *l, enum setlib_change change, const char *name,
		  const struct setlib_element *e, uint32_t number);
/* Sends what is queued. */
int setlib_flush(struct setlib *l);
/* One line of what there is: of setlib_list_names() a name, of setlib_list() as "ipset save" has it. A negative errno ends it. */
typedef int setlib_line_fn(void *ctx, const char *line);
int setlib_list_names(struct setlib *l, setlib_line_fn *fn, void *ctx);
/* -ENOENT: there is none. */
int setlib_list(struct setlib *l, const char *name, setlib_line_fn *fn, void *ctx);

/* What "ipset list -t" prints of a set: "Name: …", "Type: …" … (NULL: of all). */
int setlib_list_heads(struct setlib *l, const char *name, setlib_line_fn *fn, void *ctx);
/* How many elements there are in it. */
int setlib_length(struct setlib *l, const char *name, size_t *ret_length);

bool setlib_is_full(int error); /* the set takes no more elements */
bool setlib_is_held(int error); /* a rule or a set names it, so it stays */
/* A sentence with the mend for an error of ipset's own; NULL: it is another one. */
const char *setlib_advise(int error);

#endif
