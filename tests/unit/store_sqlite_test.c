// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/metrics.h"
#include "store_fixture.h"

struct answer {
	bool done;
	int result;
	enum err_code code;
	char detail[512];
};

struct running {
	struct ev_loop *loop;
	struct store *store;
	struct snapshot *snapshot;
};

static void on_done(void *ctx, int result, const struct err *e)
{
	struct answer *a = ctx;

	a->done = true;
	a->result = result;
	a->code = e->count ? e->faults[0].code : ERR_CODE_COUNT;
	snprintf(a->detail, sizeof(a->detail), "%s", err_first(e));
}

static bool try_start(const char *path, struct running *r, struct err *e)
{
	*r = (struct running){.loop = ev_loop_new(EVFLAG_AUTO)};
	if (store_open(r->loop, path, e, &r->store, &r->snapshot) == 0)
		return true;
	ev_loop_destroy(r->loop);
	return false;
}

static struct running start(const char *path)
{
	AUTO_ERR struct err e = {0};
	struct running r;

	if (!try_start(path, &r, &e))
		fail_msg("%s", err_first(&e));
	return r;
}

static void stop(struct running *r)
{
	store_close(r->store);
	snapshot_unref(r->snapshot);
	ev_loop_destroy(r->loop);
}

static void wait_for(const struct running *r, const struct answer *a)
{
	while (!a->done)
		ev_run(r->loop, EVRUN_ONCE);
}

static struct answer commit(const struct running *r, struct batch *b, const struct store_row *rows,
			    size_t row_count)
{
	struct answer a = {0};

	store_commit(r->store, b, rows, row_count, on_done, &a);
	wait_for(r, &a);
	batch_free(b);
	return a;
}

static void commit_ok(const struct running *r, uint64_t revision)
{
	struct answer a = commit(r, store_fixture_batch("a", revision), NULL, 0);

	if (a.result != 0)
		fail_msg("%s", a.detail);
}

/* The store at `path` has revision `revision`, and the zone of it. */
static void expect_stored(const char *path, uint64_t revision)
{
	struct running r = start(path);
	AUTO_FREE char *want = mem_printf("rev %llu", (unsigned long long)revision);

	assert_int_equal(r.snapshot->revision, revision);
	assert_string_equal(snapshot_find_zone(r.snapshot, "a")->description, want);
	stop(&r);
}

static void store_makes_itself_and_keeps(void **state)
{
	const struct store_fixture *f = *state;
	struct running r = start(f->path);
	int64_t commits = metrics_get(METRIC_STORE_COMMITS);

	assert_int_equal(r.snapshot->revision, 0);
	commit_ok(&r, 1);
	commit_ok(&r, 2);
	assert_int_equal(metrics_get(METRIC_STORE_COMMITS), commits + 2);
	stop(&r);
	expect_stored(f->path, 2);
	store_close(NULL);
}

struct sequence {
	unsigned next;
	unsigned failures;
};

struct numbered {
	struct sequence *sequence;
	unsigned number;
};

static void on_numbered(void *ctx, int result, const struct err *e)
{
	struct numbered *n = ctx;

	(void)e;
	n->sequence->failures += result != 0 || n->sequence->next != n->number;
	n->sequence->next++;
}

static void answers_come_in_order(void **state)
{
	const struct store_fixture *f = *state;
	struct running r = start(f->path);
	struct sequence sequence = {0};
	struct numbered numbered[50];
	struct batch *batches[50];

	for (unsigned i = 0; i < 50; i++) {
		/* The memory of a row may go as soon as store_commit() returns. */
		AUTO_FREE char *key = mem_printf("key-%u", i);
		const struct store_row row = {"drain", key, "1", 0};

		batches[i] = store_fixture_batch("a", i + 1);
		numbered[i] = (struct numbered){&sequence, i};
		store_commit(r.store, batches[i], &row, 1, on_numbered, &numbered[i]);
	}
	assert_int_equal(sequence.next, 0); /* never from within store_commit() */
	while (sequence.next < 50)
		ev_run(r.loop, EVRUN_ONCE);
	assert_int_equal(sequence.failures, 0);
	for (unsigned i = 0; i < 50; i++)
		batch_free(batches[i]);
	stop(&r);
	expect_stored(f->path, 50);
}

static void close_finishes_and_stays_silent(void **state)
{
	const struct store_fixture *f = *state;
	struct running r = start(f->path);
	struct answer answers[20] = {0};
	struct batch *batches[20];

	for (unsigned i = 0; i < 20; i++) {
		batches[i] = store_fixture_batch("a", i + 1);
		store_commit(r.store, batches[i], NULL, 0, on_done, &answers[i]);
	}
	stop(&r);
	for (unsigned i = 0; i < 20; i++) {
		assert_false(answers[i].done);
		batch_free(batches[i]);
	}
	expect_stored(f->path, 20);
}

static void count_row(void *ctx, const struct store_row *row)
{
	unsigned *n = ctx;

	assert_string_equal(row->kind, "address");
	(*n)++;
}

static void rows_come_with_the_batch_or_not_at_all(void **state)
{
	const struct store_fixture *f = *state;
	const struct store_row rows[] = {{"address", "192.0.2.1", "{}", 0},
					 {"address", "192.0.2.2", "{}", 0}};
	struct running r = start(f->path);
	struct answer stale;
	unsigned n = 0;

	stale = commit(&r, store_fixture_batch("a", 5), rows, 2);
	assert_int_equal(stale.result, -ESTALE);
	assert_int_equal(stale.code, ERR_CONFLICT);
	stop(&r);
	r = start(f->path);
	assert_int_equal(store_load_rows(r.store, "address", count_row, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(commit(&r, store_fixture_batch("a", 1), rows, 2).result, 0);
	assert_int_equal(commit(&r, NULL, NULL, 0).result, 0); /* nothing to do is done */
	assert_int_equal(store_load_rows(r.store, "address", count_row, &n), 0);
	assert_int_equal(n, 2);
	stop(&r);
}

static void second_daemon_is_refused(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_ERR struct err e = {0};
	struct running first = start(f->path);
	struct running second;

	commit_ok(&first, 1);
	assert_false(try_start(f->path, &second, &e));
	assert_int_equal(e.faults[0].code, ERR_UNAVAILABLE);
	assert_non_null(strstr(err_first(&e), "in use by another process"));
	commit_ok(&first, 2);
	stop(&first);
	expect_stored(f->path, 2);
}

static void damaged_store_is_refused_untouched(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_ERR struct err e = {0};
	struct running r;
	FILE *file = fopen(f->path, "w");
	size_t size;
	AUTO_FREE char *after = NULL;

	assert_non_null(file);
	fputs("zone a is gone", file);
	fclose(file);
	assert_false(try_start(f->path, &r, &e));
	assert_int_equal(e.faults[0].code, ERR_SYNTAX);
	assert_non_null(strstr(err_first(&e), f->path));
	after = store_fixture_read(f->path, &size);
	assert_string_equal(after, "zone a is gone");
}

/* Moved away under the daemon: refused with a sentence, and well again once it is back. */
static void removal_underneath_is_noticed(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_FREE char *other = mem_printf("%s/other", f->directory);
	struct running r = start(f->path);
	struct answer a;

	commit_ok(&r, 1);
	assert_int_equal(rename(f->path, other), 0);
	a = commit(&r, store_fixture_batch("a", 2), NULL, 0);
	assert_true(a.result < 0);
	assert_int_equal(a.code, ERR_UNAVAILABLE);
	assert_non_null(strstr(a.detail, "was removed or replaced"));
	assert_non_null(strstr(a.detail, f->path));
	assert_int_equal(rename(other, f->path), 0);
	commit_ok(&r, 2);
	stop(&r);
	expect_stored(f->path, 2);
}

/* The log alone removed is as bad: what is committed would be in a file without a name. */
static void removal_of_the_log_is_noticed(void **state)
{
	const struct store_fixture *f = *state;
	AUTO_FREE char *log = mem_printf("%s-wal", f->path);
	struct running r = start(f->path);
	struct answer a;

	commit_ok(&r, 1);
	assert_int_equal(unlink(log), 0);
	a = commit(&r, store_fixture_batch("a", 2), NULL, 0);
	assert_int_equal(a.code, ERR_UNAVAILABLE);
	stop(&r);
}

/* ---- in a child ---------------------------------------------------------------------------- */

/* Runs `play` in a child; fails if it does not exit with 0. In it, a fault exits with its line: cmocka's own jumps would
 * run the parent's tests a second time. */
static void run_child(const struct store_fixture *f, int (*play)(const struct store_fixture *f))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(play(f));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with status 0x%x", (unsigned)status);
}

#define CHILD_CHECK(condition)                                                         \
	do {                                                                           \
		if (!(condition)) {                                                    \
			fprintf(stderr, "child, line %d: %s\n", __LINE__, #condition); \
			return 1;                                                      \
		}                                                                      \
	} while (0)

/* Commits with a row of 20 KB each until one is refused; returns the revisions that were answered. */
static uint64_t commit_until_refused(const struct running *r, uint64_t from,
				     struct answer *ret_answer)
{
	AUTO_FREE char *big = mem_alloc(20001);
	uint64_t revision = from;

	memset(big, 'x', 20000);
	for (; revision < from + 200; revision++) {
		AUTO_FREE char *key = mem_printf("%llu", (unsigned long long)revision);
		const struct store_row row = {"drain", key, big, 0};

		*ret_answer = commit(r, store_fixture_batch("a", revision), &row, 1);
		if (ret_answer->result < 0)
			break;
	}
	return revision - 1;
}

static int check_full(const struct answer *a)
{
	if (a->result != -ENOSPC)
		fprintf(stderr, "result %d: %s\n", a->result, a->detail);
	CHILD_CHECK(a->result == -ENOSPC);
	CHILD_CHECK(a->code == ERR_UNAVAILABLE);
	CHILD_CHECK(strstr(a->detail, "the disk of ") && strstr(a->detail, " is full"));
	return 0;
}

static int check_stored(const char *path, uint64_t revision)
{
	AUTO_ERR struct err e = {0};
	struct running r;

	if (!try_start(path, &r, &e)) {
		fprintf(stderr, "%s\n", err_first(&e));
		return 1;
	}
	CHILD_CHECK(r.snapshot->revision == revision);
	CHILD_CHECK(snapshot_find_zone(r.snapshot, "a")->o.revision == revision);
	stop(&r);
	return 0;
}

static int fill(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHILD_CHECK(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	close(fd);
	return 0;
}

/* A file system of 2 MB that another program fills. */
static int play_full_disk(const struct store_fixture *f)
{
	AUTO_FREE char *filler = mem_printf("%s/filler", f->directory);
	struct running r;
	struct answer a = {0};
	uint64_t kept;

	CHILD_CHECK(unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) == 0);
	CHILD_CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHILD_CHECK(mount("tmpfs", f->directory, "tmpfs", 0, "size=2m") == 0);
	r = start(f->path);
	CHILD_CHECK(commit(&r, store_fixture_batch("a", 1), NULL, 0).result == 0);
	CHILD_CHECK(fill(filler) == 0);
	kept = commit_until_refused(&r, 2, &a);
	CHILD_CHECK(check_full(&a) == 0);
	unlink(filler);
	CHILD_CHECK(commit(&r, store_fixture_batch("a", kept + 1), NULL, 0).result == 0);
	stop(&r);
	return check_stored(f->path, kept + 1);
}

static void full_disk_is_survived(void **state)
{
	run_child(*state, play_full_disk);
}

/* The kernel refuses the write itself (EFBIG), as with a quota, in the middle of a commit. */
static int play_file_limit(const struct store_fixture *f)
{
	struct rlimit limit;
	struct running r = start(f->path);
	struct answer a = {0};
	uint64_t kept;

	CHILD_CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = 300000;
	CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	kept = commit_until_refused(&r, 1, &a);
	CHILD_CHECK(kept > 1 && kept < 200);
	CHILD_CHECK(check_full(&a) == 0);
	limit.rlim_cur = limit.rlim_max;
	CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHILD_CHECK(commit(&r, store_fixture_batch("a", kept + 1), NULL, 0).result == 0);
	stop(&r);
	return check_stored(f->path, kept + 1);
}

static void refused_write_is_survived(void **state)
{
	run_child(*state, play_file_limit);
}

/* Tells every answered revision on `fd` until it is killed. */
static void commit_until_killed(const struct store_fixture *f, uint64_t from, int fd)
{
	struct running r = start(f->path);

	for (uint64_t revision = from; revision < from + 100000; revision++) {
		AUTO_FREE char *value = mem_printf("%llu", (unsigned long long)revision);
		const struct store_row row = {"address", "last", value, 0};
		struct answer a = commit(&r, store_fixture_batch("a", revision), &row, 1);

		if (a.result != 0 || write(fd, &revision, sizeof(revision)) != sizeof(revision))
			_exit(1);
	}
}

static void keep_number(void *ctx, const struct store_row *row)
{
	uint64_t *n = ctx;

	*n = strtoull(row->value, NULL, 10);
}

/* One life of a writer, ended by SIGKILL at any moment. Returns the revision that the store has then. */
static uint64_t kill_one_writer(const struct store_fixture *f, uint64_t stored, useconds_t delay)
{
	uint64_t answered = stored;
	uint64_t revision;
	uint64_t row = 0;
	struct running r;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		commit_until_killed(f, stored + 1, fds[1]);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &answered, sizeof(answered)), sizeof(answered));
	usleep(delay);
	assert_int_equal(kill(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	while (read(fds[0], &revision, sizeof(revision)) == sizeof(revision))
		answered = revision;
	close(fds[0]);
	r = start(f->path);
	revision = r.snapshot->revision;
	assert_in_range(revision, answered, answered + 1); /* nothing answered is lost */
	assert_int_equal(snapshot_find_zone(r.snapshot, "a")->o.revision, revision);
	assert_int_equal(store_load_rows(r.store, "address", keep_number, &row), 0);
	assert_int_equal(row, revision); /* all of a commit or nothing */
	stop(&r);
	return revision;
}

static void answered_commits_survive_kill(void **state)
{
	uint64_t stored = 0;

	for (useconds_t i = 0; i < 12; i++)
		stored = kill_one_writer(*state, stored, 1700 * i);
	assert_true(stored >= 12);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, store_fixture_make, store_fixture_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(store_makes_itself_and_keeps),    TEST(answers_come_in_order),
		TEST(close_finishes_and_stays_silent), TEST(rows_come_with_the_batch_or_not_at_all),
		TEST(second_daemon_is_refused),        TEST(damaged_store_is_refused_untouched),
		TEST(removal_underneath_is_noticed),   TEST(removal_of_the_log_is_noticed),
		TEST(full_disk_is_survived),           TEST(refused_write_is_survived),
		TEST(answered_commits_survive_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
