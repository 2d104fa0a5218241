// SPDX-License-Identifier: GPL-2.0-or-later
// Whom probes trust: read once for all, again when the file changed, and without end when there are many files.
#include "probe/probe_io.h"
#include "probe/probe_trust.h"
#include "tls_fixture.h"

#include <poll.h>

struct asker {
	struct probe_run run;
	struct probe_trust_wait wait;
	struct probe_target target;
	struct health_check check;
	struct probe_trust *trust;
	char fault[PROBE_EVIDENCE_MAX];
	int answer;
	int asked;
};

static void ask(struct probe_run *r, uint32_t events)
{
	struct asker *a = (struct asker *)(void *)r;

	(void)events;
	a->asked++;
	a->answer = probe_trust_take(&a->wait, a->fault, &a->trust);
}

static const struct probe_kind ask_kind = {.ready = ask};
static struct tls_identity authority;
static char path[] = "/tmp/zonegate-trust-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	tls_identity_make(&authority, NULL, -TLS_DAY, 100 * TLS_DAY, NULL);
	close(mkstemp(path));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	tls_identity_drop(&authority);
	return 0;
}

static void asker_init(struct asker *a, struct probe_io *io, char *ca_file)
{
	*a = (struct asker){.run = {.kind = &ask_kind, .io = io, .fd = -1}};
	a->check.verify = true;
	a->check.ca_file = ca_file;
	a->target.check = &a->check;
	a->run.target = &a->target;
	a->wait.run = &a->run;
}

/* Asks, and waits for the answer. */
static void settle(struct probe_io *io, struct asker *a)
{
	struct pollfd p = {.fd = io->epoll, .events = POLLIN};

	ask(&a->run, 0);
	for (int i = 0; i < 50 && a->answer == -EINPROGRESS; i++) {
		(void)poll(&p, 1, 100);
		probe_io_harvest(io);
	}
}

static void test_shared(void **state)
{
	struct probe_io io;
	struct asker a[3];
	struct asker none;

	(void)state;
	tls_identity_write(&authority, path);
	assert_int_equal(probe_io_open(&io), 0);
	for (int i = 0; i < 3; i++)
		asker_init(&a[i], &io, path);
	ask(&a[1].run, 0);
	ask(&a[2].run, 0);
	assert_int_equal(a[1].answer, -EINPROGRESS);
	probe_trust_forget(&a[2].wait); /* it has lost interest */
	settle(&io, &a[0]);
	assert_int_equal(a[0].answer, 0);
	assert_int_equal(a[1].answer, 0);
	assert_int_equal(a[1].asked, 2);
	assert_int_equal(a[2].asked, 1);
	assert_ptr_equal(a[0].trust, a[1].trust);
	assert_int_equal(a[0].trust->refs, 3);

	/* At once from now on. */
	ask(&a[2].run, 0);
	assert_int_equal(a[2].answer, 0);
	assert_ptr_equal(a[2].trust, a[0].trust);

	/* Who verifies nothing shares another one. */
	asker_init(&none, &io, NULL);
	none.check.verify = false;
	ask(&none.run, 0);
	assert_int_equal(none.answer, 0);
	assert_ptr_not_equal(none.trust, a[0].trust);
	probe_trust_release(none.trust);
	for (int i = 0; i < 3; i++)
		probe_trust_release(a[i].trust);
	probe_io_close(&io);
}

static void test_changed(void **state)
{
	struct probe_io io;
	struct asker a;
	struct asker b;
	FILE *f;

	(void)state;
	tls_identity_write(&authority, path);
	assert_int_equal(probe_io_open(&io), 0);
	asker_init(&a, &io, path);
	asker_init(&b, &io, path);
	settle(&io, &a);
	assert_int_equal(a.answer, 0);

	f = fopen(path, "a");
	fputs("# a comment\n", f);
	fclose(f);
	settle(&io, &b);
	assert_int_equal(b.answer, 0);
	assert_int_equal(b.asked, 2);
	assert_ptr_not_equal(a.trust, b.trust);
	assert_int_equal(a.trust->refs, 1); /* of the session that still runs */
	probe_trust_release(a.trust);
	probe_trust_release(b.trust);

	f = fopen(path, "w");
	fputs("no certificate at all, but longer than nothing\n", f);
	fclose(f);
	settle(&io, &a);
	assert_int_equal(a.answer, -EINVAL);
	assert_non_null(strstr(a.fault, path));
	/* It is not read again and again. */
	b.asked = 0;
	settle(&io, &b);
	assert_int_equal(b.answer, -EINVAL);
	assert_int_equal(b.asked, 1);

	tls_identity_write(&authority, path);
	settle(&io, &a);
	assert_int_equal(a.answer, 0);
	probe_trust_release(a.trust);
	probe_io_close(&io);
}

/* Several files at once are read one after the other, and more than fit are forgotten. */
static void test_many(void **state)
{
	enum { FILES = 80 };
	static char paths[FILES][64];
	static struct asker a[FILES];
	struct asker last;
	char more[64];
	int asked;
	struct probe_io io;
	struct pollfd p = {.events = POLLIN};
	int done = 0;

	(void)state;
	assert_int_equal(probe_io_open(&io), 0);
	p.fd = io.epoll;
	for (int i = 0; i < FILES; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s-%d", path, i);
		tls_identity_write(&authority, paths[i]);
		asker_init(&a[i], &io, paths[i]);
		ask(&a[i].run, 0);
	}
	for (int k = 0; k < 1000 && done < FILES; k++) {
		(void)poll(&p, 1, 100);
		probe_io_harvest(&io);
		done = 0;
		for (int i = 0; i < FILES; i++)
			done += a[i].answer == 0;
	}
	assert_int_equal(done, FILES);
	for (int i = 0; i < FILES; i++)
		probe_trust_release(a[i].trust);
	/* One more makes room for itself: the old ones must be read once more. */
	snprintf(more, sizeof(more), "%s-more", path);
	tls_identity_write(&authority, more);
	asker_init(&last, &io, more);
	settle(&io, &last);
	assert_int_equal(last.answer, 0);
	probe_trust_release(last.trust);
	unlink(more);
	asked = a[0].asked;
	for (int i = 0; i < FILES; i++) {
		settle(&io, &a[i]);
		assert_int_equal(a[i].answer, 0);
		probe_trust_release(a[i].trust);
		unlink(paths[i]);
	}
	assert_int_equal(a[0].asked, asked + 2);
	probe_io_close(&io);
}

static void test_end_while_reading(void **state)
{
	struct probe_io io;
	struct asker a;
	int before = fixture_count_files();

	(void)state;
	tls_identity_write(&authority, path);
	assert_int_equal(probe_io_open(&io), 0);
	asker_init(&a, &io, path);
	ask(&a.run, 0);
	assert_int_equal(a.answer, -EINPROGRESS);
	probe_trust_forget(&a.wait);
	probe_io_close(&io);
	assert_int_equal(fixture_settled_files(before), before);
}

static void test_odd_files(void **state)
{
	struct probe_io io;
	struct asker a;

	(void)state;
	assert_int_equal(truncate(path, 5 << 20), 0);
	assert_int_equal(probe_io_open(&io), 0);
	asker_init(&a, &io, path);
	settle(&io, &a);
	assert_int_equal(a.answer, -EFBIG);
	assert_non_null(strstr(a.fault, "larger than 4 MiB"));
	assert_int_equal(truncate(path, 0), 0);
	settle(&io, &a);
	assert_int_equal(a.answer, -EINVAL);
	probe_io_close(&io);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),    cmocka_unit_test(test_changed),
		cmocka_unit_test(test_many),      cmocka_unit_test(test_end_while_reading),
		cmocka_unit_test(test_odd_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
