// SPDX-License-Identifier: GPL-2.0-or-later
// One sentence per way in which the store can fail. The words name the path, what is wrong and what mends it.
#include "store/store_fault.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"

#define START_EMPTY "restore it from a backup, or move it away to start with an empty configuration"

char *store_fault_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return mem_printf("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int store_fault_damaged(struct err *e, enum err_code code, const char *path, const char *what)
{
	err_set(e, code, "", "the store %s is damaged (%s): " START_EMPTY STORE_FAULT_LEFT_ALONE,
		path, what);
	return -EBADMSG;
}

/* What the system said at the last error of the file's log: SQLite does not hand on the errno of a failed COMMIT. */
static int store_fault_log_errno(sqlite3 *db)
{
	sqlite3_file *log = NULL;
	int number = 0;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (log && log->pMethods)
		log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
	return number;
}

/* The errno that says best what SQLite met; EBADMSG for a damaged file, EIO for the rest. */
static int store_fault_number(sqlite3 *db)
{
	int rc = sqlite3_errcode(db) & 0xff;
	int os = sqlite3_system_errno(db);

	if (rc == SQLITE_IOERR && !os)
		os = store_fault_log_errno(db);
	if (rc == SQLITE_FULL ||
	    ((os == ENOSPC || os == EDQUOT || os == EFBIG) && rc == SQLITE_IOERR))
		return ENOSPC;
	if (rc == SQLITE_READONLY || rc == SQLITE_PERM || (rc == SQLITE_IOERR && os == EROFS))
		return EROFS;
	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return EBUSY;
	if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_ERROR)
		return EBADMSG;
	if (rc == SQLITE_NOMEM)
		return ENOMEM;
	return os ? os : EIO;
}

int store_fault_sqlite(struct err *e, enum err_code damaged, const char *path, sqlite3 *db)
{
	AUTO_FREE char *directory = store_fault_directory(path);
	int r = db ? store_fault_number(db) : ENOMEM;

	if (r == EBADMSG)
		return store_fault_damaged(e, damaged, path, sqlite3_errmsg(db));
	if (r == ENOSPC)
		err_set(e, ERR_UNAVAILABLE, "",
			"the disk of %s is full: nothing was changed; make room and try again",
			directory);
	else if (r == EROFS)
		err_set(e, ERR_UNAVAILABLE, "",
			"the store %s cannot be written (file, directory or file system is read-only): "
			"nothing was changed; make it writable for the user that runs zonegated",
			path);
	else if (r == EBUSY)
		err_set(e, ERR_UNAVAILABLE, "",
			"the store %s is in use by another process: stop it, or give this one its own "
			"--state-dir",
			path);
	else
		err_set(e, ERR_UNAVAILABLE, "",
			"the store %s cannot be used: %s (%s); check the disk and permissions of %s",
			path, strerror(r), db ? sqlite3_errmsg(db) : "no memory", directory);
	return -r;
}

int store_fault_errno(struct err *e, const char *verb, const char *path, int number)
{
	err_set(e, ERR_UNAVAILABLE, "",
		"cannot %s the store %s: %s; its directory must exist and belong to the user that runs "
		"zonegated",
		verb, path, strerror(number));
	return -number;
}
