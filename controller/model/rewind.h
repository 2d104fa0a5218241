/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document as it was at an older revision: the one in force with what was changed since undone. Pure; may run on a worker
 * thread. */
#ifndef ZG_MODEL_REWIND_H
#define ZG_MODEL_REWIND_H

#include "model/snapshot.h"

/* `undo`: what STORE_UNDO gives, [{kind, parent, name, old, entries?}], each place once. A new snapshot with the objects of then, which
 * shares with `base` what did not change; heads of objects that differ are empty. NULL with faults in `e`: an object of then is
 * not one that this version takes. */
struct snapshot *rewind_document(const struct snapshot *base, const json_t *undo, struct err *e);

/* [{kind, parent, name, old, new}], rows as texts (null: absent), in document order: what turns the document of `from` into that
 * of `to`, both given as their `undo` towards `base`. New reference. */
json_t *rewind_compare(const struct snapshot *base, const json_t *from, const json_t *to);

/* The kind of that name; false: there is none. */
bool rewind_parse_kind(const char *name, enum object_kind *ret_kind);

#endif
