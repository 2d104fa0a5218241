// SPDX-License-Identifier: GPL-2.0-or-later
// The store as a file. Nothing here writes to a file that it did not make or that was not approved before.
#include "store/store_file.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/store_audit.h"
#include "store/store_entries.h"
#include "store/store_events.h"
#include "store/store_fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_SIZE     100 /* of an SQLite file */
#define HEADER_VERSION  60  /* offset of user_version, application_id follows 4 bytes later */
#define BUSY_TIMEOUT_MS 1000

static const char store_file_schema[] =
	/* A start reads each page of the configuration with a call of its own: half as many as with SQLite's 4096. Larger ones save
	 * no time there, and each change writes whole pages. Stores of an older size stay as they are. */
	"PRAGMA page_size = 8192;"
	"PRAGMA journal_mode = WAL;"
	"PRAGMA synchronous = FULL;"
	"BEGIN;"
	/* The configuration in force: one row an object, `body` as object_encode_row() gives it. */
	"CREATE TABLE objects (kind TEXT NOT NULL, parent TEXT NOT NULL, name TEXT NOT NULL,"
	" uid INTEGER NOT NULL, revision INTEGER NOT NULL, created INTEGER NOT NULL,"
	" updated INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, parent, name))"
	" STRICT, WITHOUT ROWID;"
	/* The history: who made which revision, and each object's row before and after. */
	"CREATE TABLE revisions (revision INTEGER PRIMARY KEY, wall INTEGER NOT NULL,"
	" who TEXT NOT NULL, via TEXT NOT NULL, comment TEXT) STRICT;"
	"CREATE TABLE changes (revision INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL,"
	" parent TEXT NOT NULL, name TEXT NOT NULL, old TEXT, new TEXT,"
	" PRIMARY KEY (revision, seq)) STRICT, WITHOUT ROWID;"
	/* What is kept beside the configuration: model/row.h. */
	"CREATE TABLE side_rows (kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
	" PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID;"
	/* What happened, in order; pruned by age and number. */
	"CREATE TABLE journal (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,"
	" key TEXT NOT NULL, wall INTEGER NOT NULL, value TEXT NOT NULL) STRICT;"
	"CREATE INDEX journal_by_key ON journal (kind, key, id);"
	"PRAGMA application_id = 1514619220;"
	"PRAGMA user_version = 1;"
	"COMMIT;";
_Static_assert(STORE_FILE_APPLICATION == 1514619220 && STORE_FILE_VERSION == 1, "as in the schema");

static char *store_file_log_path(const char *path)
{
	return mem_printf("%s-wal", path);
}

/* Size of the file; -1 if it is not there. Other errors count as there and empty: opening will say why. */
static off_t store_file_size(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? -1 : 0;
	return st.st_size;
}

static int store_file_check_version(const char *path, uint32_t version, struct err *e)
{
	if (version == 0)
		return store_fault_damaged(e, ERR_SYNTAX, path, "it has no format version");
	if (version <= STORE_FILE_VERSION)
		return 0;
	err_set(e, ERR_SYNTAX, "",
		"the store %s was written by a newer zonegate (format %u, this one knows up to %d): install "
		"that version again, or move the file away to start with an empty configuration" STORE_FAULT_LEFT_ALONE,
		path, (unsigned)version, STORE_FILE_VERSION);
	return -EBADMSG;
}

/* Nothing is waited for: neither we nor SQLite open what is no regular file, also not beside the store. */
static int store_file_check_kinds(const char *path, struct err *e)
{
	static const char *const endings[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		AUTO_FREE char *name = mem_printf("%s%s", path, endings[i]);

		if (file_check(name, 0) != -EMEDIUMTYPE)
			continue;
		err_set(e, ERR_SYNTAX, "",
			"the store's file %s is %s: move it away, or give [store] path another "
			"folder" STORE_FAULT_LEFT_ALONE,
			name, file_kind(name));
		return -EBADMSG;
	}
	return 0;
}

/* The header is judged before SQLite sees the file: what is not ours, or newer, is never opened by it. */
static int store_file_check_header(const char *path, const uint8_t *header, size_t size,
				   struct err *e)
{
	struct buf_reader r;
	uint32_t version;

	if (size < HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0)
		return store_fault_damaged(e, ERR_SYNTAX, path,
					   "it does not begin as an SQLite database does");
	buf_reader_init(&r, header, size);
	buf_skip(&r, HEADER_VERSION);
	version = buf_read_be32(&r);
	buf_skip(&r, 4);
	if (buf_read_be32(&r) != STORE_FILE_APPLICATION) {
		err_set(e, ERR_SYNTAX, "",
			"%s is a database of another program: give [store] path another name" STORE_FAULT_LEFT_ALONE,
			path);
		return -EBADMSG;
	}
	return store_file_check_version(path, version, e);
}

static int store_file_read_header(const char *path, struct err *e)
{
	uint8_t header[HEADER_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;
	int r;

	if (fd < 0)
		return store_fault_errno(e, "read", path, errno);
	n = pread(fd, header, sizeof(header), 0);
	r = n < 0 ? store_fault_errno(e, "read", path, errno)
		  : store_file_check_header(path, header, (size_t)n, e);
	close(fd);
	return r;
}

/* Runs a query of one value; -1 with SQLite's error set, or the value of its first row as text ("" if none). */
static int store_file_query(sqlite3 *db, const char *sql, char *buf, size_t size)
{
	sqlite3_stmt *stmt = NULL;
	const unsigned char *text;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	buf[0] = '\0';
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	text = rc == SQLITE_ROW ? sqlite3_column_text(stmt, 0) : NULL;
	if (text)
		snprintf(buf, size, "%s", (const char *)text);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

/* What the header cannot tell: the version as the log has it, and that what is loaded is whole. */
static int store_file_check_content(const char *path, sqlite3 *db, struct err *e)
{
	static const char *const checks[] = {
		"PRAGMA quick_check(objects)",
		"PRAGMA quick_check(side_rows)",
		"PRAGMA quick_check(revisions)",
	};
	char text[256];
	unsigned version;

	if (store_file_query(db, "PRAGMA user_version", text, sizeof(text)) < 0 ||
	    sscanf(text, "%u", &version) != 1)
		return store_fault_sqlite(e, ERR_SYNTAX, path, db);
	if (store_file_check_version(path, version, e) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (store_file_query(db, checks[i], text, sizeof(text)) < 0)
			return store_fault_sqlite(e, ERR_SYNTAX, path, db);
		if (strcmp(text, "ok") != 0)
			return store_fault_damaged(e, ERR_SYNTAX, path, text);
	}
	return 0;
}

int store_file_check(const char *path, struct err *e, enum store_file_state *ret_state,
		     sqlite3 **ret_db)
{
	AUTO_FREE char *log_path = store_file_log_path(path);
	off_t size = store_file_size(path);
	sqlite3 *db;
	int r = store_file_check_kinds(path, e);

	if (r < 0)
		return r;
	if (size <= 0 && store_file_size(log_path) > 0) {
		err_set(e, ERR_SYNTAX, "",
			"the store %s is gone, but its log %s is there: restore the file from a backup, or "
			"move the log away to start with an empty configuration",
			path, log_path);
		return -EBADMSG;
	}
	if (size < 0) {
		*ret_state = STORE_FILE_ABSENT;
		*ret_db = NULL;
		return 0;
	}
	r = store_file_read_header(path, e);
	if (r < 0)
		return r;
	r = store_file_open_readonly(path, e, &db);
	if (r < 0)
		return r;
	r = store_file_check_content(path, db, e);
	if (r < 0) {
		sqlite3_close(db);
		return r;
	}
	*ret_state = STORE_FILE_PRESENT;
	*ret_db = db;
	return 0;
}

/* "file:/path?immutable=1" with the characters that a URI would take for its own escaped. */
static char *store_file_uri(const char *path, const char *query)
{
	struct buf_writer w;

	buf_writer_init(&w, 3 * strlen(path) + strlen(query) + 16);
	buf_write_text(&w, "file:");
	for (; *path; path++) {
		if (strchr("?#%", *path))
			buf_write_format(&w, "%%%02x", (unsigned)(unsigned char)*path);
		else
			buf_write_u8(&w, (uint8_t)*path);
	}
	buf_write_text(&w, query);
	assert(!w.failed);
	return buf_take(&w);
}

static int store_file_open_db(const char *path, const char *query, int flags, struct err *e,
			      sqlite3 **ret_db)
{
	AUTO_FREE char *uri = store_file_uri(path, query);
	sqlite3 *db = NULL;
	int r = store_file_check_kinds(path, e);

	if (r < 0)
		return r;
	if (sqlite3_open_v2(uri, &db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		r = store_fault_sqlite(e, ERR_UNAVAILABLE, path, db);
		sqlite3_close(db);
		return r;
	}
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
	*ret_db = db;
	return 0;
}

/* Whether it took it shows in time and memory alone; what is wrong with the file is told by the next statement. */
static void store_file_set_cache(sqlite3 *db, const char *pragma)
{
	(void)sqlite3_exec(db, pragma, NULL, NULL, NULL);
}

int store_file_open_readonly(const char *path, struct err *e, sqlite3 **ret_db)
{
	AUTO_FREE char *log_path = store_file_log_path(path);
	/* Without a log nothing can change under us but by a writer, and that one is shut out before we write:
	 * "immutable" spares the empty log and index that SQLite would make to read. */
	const char *query = store_file_size(log_path) > 0 ? "?mode=ro" : "?mode=ro&immutable=1";

	int r = store_file_open_db(path, query, SQLITE_OPEN_READONLY, e, ret_db);

	/* What was checked is loaded next: without a second call for each page. Released with the connection. */
	if (r == 0)
		store_file_set_cache(*ret_db, "PRAGMA cache_size = -8192;");
	return r;
}

int store_file_open(const char *path, struct err *e, sqlite3 **ret_db)
{
	/* Exclusive: no second daemon on the store, and no shared index that could fault on a full disk. A transaction
	 * that writes nothing shows now that the lock is ours and the file can be written. */
	static const char setup[] = "PRAGMA locking_mode = EXCLUSIVE;" /* before all that reads */
				    "PRAGMA cache_size = -" STORE_FILE_CACHE_KIB ";"
				    "PRAGMA synchronous = FULL;"
				    "PRAGMA temp_store = MEMORY;"
				    "PRAGMA journal_size_limit = 16777216;"
				    "PRAGMA wal_autocheckpoint = 500;" /* pages: 4 MB */
				    "BEGIN IMMEDIATE; SELECT count(*) FROM revisions; COMMIT;";
	sqlite3 *db;
	char mode[16];
	int r = store_file_open_db(path, "?mode=rw", SQLITE_OPEN_READWRITE, e, &db);

	if (r < 0)
		return r;
	if (sqlite3_exec(db, setup, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, store_audit_schema, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, store_entries_schema, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, store_events_schema, NULL, NULL, NULL) != SQLITE_OK ||
	    store_file_query(db, "PRAGMA journal_mode", mode, sizeof(mode)) < 0) {
		r = store_fault_sqlite(e, ERR_UNAVAILABLE, path, db);
	} else if (strcmp(mode, "wal") != 0) {
		r = store_fault_damaged(e, ERR_SYNTAX, path, "it is not in WAL mode");
	}
	if (r < 0) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		sqlite3_close(db);
		return r;
	}
	*ret_db = db;
	return 0;
}

static int store_file_sync(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* Removes what an earlier attempt to make the store left behind. */
static void store_file_remove_attempt(const char *path)
{
	static const char *const endings[] = {"", "-journal", "-wal", "-shm"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		AUTO_FREE char *name = mem_printf("%s%s", path, endings[i]);

		unlink(name);
	}
}

static int store_file_fill(const char *path, struct err *e)
{
	sqlite3 *db;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return store_fault_errno(e, "make", path, errno);
	close(fd);
	r = store_file_open_db(path, "?mode=rw", SQLITE_OPEN_READWRITE, e, &db);
	if (r < 0)
		return r;
	if (sqlite3_exec(db, store_file_schema, NULL, NULL, NULL) != SQLITE_OK)
		r = store_fault_sqlite(e, ERR_UNAVAILABLE, path, db);
	if (sqlite3_close(db) != SQLITE_OK && r == 0) /* carries the log into the file */
		r = store_fault_sqlite(e, ERR_UNAVAILABLE, path, NULL);
	return r;
}

int store_file_create(const char *path, struct err *e)
{
	AUTO_FREE char *attempt = mem_printf("%s.new", path);
	AUTO_FREE char *directory = store_fault_directory(path);
	int r;

	store_file_remove_attempt(attempt);
	r = store_file_fill(attempt, e);
	if (r < 0) {
		store_file_remove_attempt(attempt);
		return r;
	}
	r = store_file_sync(attempt, O_RDONLY);
	if (r == 0 && rename(attempt, path) < 0)
		r = -errno;
	if (r == 0)
		r = store_file_sync(directory, O_RDONLY | O_DIRECTORY);
	return r < 0 ? store_fault_errno(e, "make", path, -r) : 0;
}

int store_file_identify(const char *path, struct store_file_identity *ret_identity)
{
	AUTO_FREE char *log_path = store_file_log_path(path);
	struct stat file;
	struct stat log;

	if (stat(path, &file) < 0 || stat(log_path, &log) < 0)
		return -ENOENT;
	*ret_identity = (struct store_file_identity){.device = file.st_dev,
						     .inode = file.st_ino,
						     .log_device = log.st_dev,
						     .log_inode = log.st_ino};
	return 0;
}

bool store_file_same(const struct store_file_identity *a, const struct store_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->log_device == b->log_device &&
	       a->log_inode == b->log_inode;
}
