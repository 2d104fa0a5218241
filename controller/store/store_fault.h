/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences for what goes wrong with the store. Each adds one fault and returns a negative error. */
#ifndef ZG_STORE_STORE_FAULT_H
#define ZG_STORE_STORE_FAULT_H

#include "base/err.h"

struct sqlite3;

#define STORE_FAULT_LEFT_ALONE "; the file was left as it is"

/* What SQLite's last error on `db` (may be NULL) means: of code `damaged` when the file is, else ERR_UNAVAILABLE. -ENOSPC,
 * -EROFS, -EBUSY, -EBADMSG or what the system said. */
int store_fault_sqlite(struct err *e, enum err_code damaged, const char *path, struct sqlite3 *db);

/* The file is not a whole store, with the reason. -EBADMSG. */
int store_fault_damaged(struct err *e, enum err_code code, const char *path, const char *what);

/* ERR_UNAVAILABLE with the system's own words: "cannot VERB the store PATH: …". -number. */
int store_fault_errno(struct err *e, const char *verb, const char *path, int number);

/* The directory of `path`. Caller frees. */
char *store_fault_directory(const char *path);

#endif
