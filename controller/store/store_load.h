/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration out of the store's rows. */
#ifndef ZG_STORE_STORE_LOAD_H
#define ZG_STORE_STORE_LOAD_H

#include "base/err.h"
#include "model/snapshot.h"

struct sqlite3;

/* Reads all of it. ERR_SYNTAX with the object's path when a row does not decode; `path` is for the sentence. New reference. */
int store_load_snapshot(struct sqlite3 *db, const char *path, struct err *e,
			struct snapshot **ret_snapshot);

#endif
