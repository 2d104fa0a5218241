/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store as a file: is it ours, is it whole, make it, open it, is it still there. */
#ifndef ZG_STORE_STORE_FILE_H
#define ZG_STORE_STORE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define STORE_FILE_APPLICATION 0x5a474154 /* "ZGAT", in the file's header */
#define STORE_FILE_VERSION     1
#define STORE_FILE_CACHE_KIB \
	"256" /* of what is open for writing: SQLite's own 2 MB would only stay in memory */

enum store_file_state { STORE_FILE_ABSENT, STORE_FILE_PRESENT };

/* Looks at `path` without writing to it or its log: damaged, foreign and newer files are refused (ERR_SYNTAX). `ret_db` is the
 * file, open to be read, with what was looked at still in memory; the caller closes. NULL if it is absent. */
int store_file_check(const char *path, struct err *e, enum store_file_state *ret_state,
		     sqlite3 **ret_db);

/* Makes an empty store beside `path` and renames it there, durably: what stands at `path` is always whole. */
int store_file_create(const char *path, struct err *e);

/* Opens what store_file_check() approved; the caller closes. Read-only leaves file and log as they are. */
int store_file_open_readonly(const char *path, struct err *e, sqlite3 **ret_db);
/* For writing, as the only user (a lock held until closed), WAL, synchronous=FULL. */
int store_file_open(const char *path, struct err *e, sqlite3 **ret_db);

/* The file and its log by inode: what was opened, whatever has the name now. */
struct store_file_identity {
	dev_t device;
	ino_t inode;
	dev_t log_device;
	ino_t log_inode;
};

/* Returns 0 or -ENOENT when one of the two is not there. */
int store_file_identify(const char *path, struct store_file_identity *ret_identity);
bool store_file_same(const struct store_file_identity *a, const struct store_file_identity *b);

#endif
