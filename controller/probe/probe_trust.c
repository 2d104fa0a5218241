// SPDX-License-Identifier: GPL-2.0-or-later
// A file is known by what stat() says of it, which is asked for each probe. Reading happens on a thread that lives as long as
// it reads and that touches nothing but its job; its end is an event like that of any other descriptor.
#include "probe/probe_trust.h"

#include "base/mem.h"
#include "probe/probe_io.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX   64         /* beyond, files that no session uses are forgotten */
#define FILE_SIZE   (4U << 20) /* certificates beyond that are taken for a mistake */
#define SYSTEM_FILE "/etc/ssl/certs/ca-certificates.crt"

struct trust_identity {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

struct trust_file {
	char *path; /* NULL = the system's */
	struct trust_identity identity;
	struct probe_trust *trust; /* NULL = not read yet, or in vain */
	char fault[PROBE_EVIDENCE_MAX];
	bool fresh; /* read, for better or worse, since it last changed */
	uint64_t used;
	struct probe_trust_wait *waits;
	struct trust_file *next;
};

/* What the thread works on. */
struct trust_job {
	char *path;
	int event;
	gnutls_certificate_credentials_t credentials;
	int result; /* certificates, or a negative code of GnuTLS */
};

struct probe_trust_pool {
	struct probe_run wake;      /* the descriptor that tells the end of the job */
	gnutls_priority_t priority; /* what ciphers and so on: the library's default */
	struct probe_trust *nobody;
	struct trust_file *files;
	size_t count;
	uint64_t uses;
	struct trust_file *reading; /* NULL = no thread */
	struct trust_job job;
	pthread_t thread;
};

/* ---- credentials ---- */

static struct probe_trust *trust_new(const struct probe_trust_pool *pool,
				     gnutls_certificate_credentials_t credentials)
{
	struct probe_trust *t = mem_new(struct probe_trust);

	t->refs = 1;
	t->credentials = credentials;
	t->priority = pool->priority;
	return t;
}

static gnutls_certificate_credentials_t trust_new_credentials(void)
{
	gnutls_certificate_credentials_t c;

	if (gnutls_certificate_allocate_credentials(&c) < 0)
		abort();
	return c;
}

static struct probe_trust *trust_share(struct probe_trust *t)
{
	t->refs++;
	return t;
}

void probe_trust_release(struct probe_trust *t)
{
	if (!t || --t->refs)
		return;
	gnutls_certificate_free_credentials(t->credentials);
	free(t);
}

/* ---- reading ---- */

static void *trust_read(void *arg)
{
	struct trust_job *job = arg;
	const uint64_t done = 1;
	ssize_t written;

	job->credentials = trust_new_credentials();
	job->result = job->path ? gnutls_certificate_set_x509_trust_file(
					  job->credentials, job->path, GNUTLS_X509_FMT_PEM)
				: gnutls_certificate_set_x509_system_trust(job->credentials);
	written = write(job->event, &done, sizeof(done));
	assert(written == sizeof(done));
	return NULL;
}

/* Signals are for the thread of the loop. */
static int trust_start_thread(struct probe_trust_pool *pool)
{
	sigset_t all;
	sigset_t before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&pool->thread, NULL, trust_read, &pool->job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

/* One file at a time: the others that wait ask again at the end of it. */
static int trust_start(struct probe_trust_pool *pool, struct trust_file *f)
{
	int error;

	if (pool->reading)
		return 0;
	pool->job = (struct trust_job){
		.path = f->path ? mem_strdup(f->path) : NULL,
		.event = pool->wake.fd,
	};
	error = trust_start_thread(pool);
	if (error) {
		free(pool->job.path);
		return error;
	}
	pool->reading = f;
	f->fresh = true; /* a change while it is read makes it stale again */
	return 0;
}

static const char *trust_name(const struct trust_file *f)
{
	return f->path ? f->path : "the certificates of the system";
}

static void trust_install(struct probe_trust_pool *pool, struct trust_file *f)
{
	const struct trust_job *job = &pool->job;

	probe_trust_release(f->trust);
	f->trust = NULL;
	f->fault[0] = '\0';
	if (job->result > 0) {
		f->trust = trust_new(pool, job->credentials);
		return;
	}
	gnutls_certificate_free_credentials(job->credentials);
	snprintf(f->fault, sizeof(f->fault), "%s: %s", trust_name(f),
		 job->result ? gnutls_strerror(job->result) : "no certificate in it");
}

/* Each of them may ask again, or end, and with it others. */
static void trust_wake(struct probe_trust_wait **waits)
{
	struct probe_trust_wait *list = *waits;

	*waits = NULL;
	if (list)
		list->link = &list;
	while (list) {
		struct probe_run *r = list->run;

		probe_trust_forget(list);
		r->kind->ready(r, 0);
	}
}

static struct trust_file *trust_find_waited(const struct probe_trust_pool *pool)
{
	struct trust_file *f = pool->files;

	while (f && !f->waits)
		f = f->next;
	return f;
}

static void trust_join(struct probe_trust_pool *pool)
{
	pthread_join(pool->thread, NULL);
	free(pool->job.path);
	pool->reading = NULL;
}

static void trust_on_read(struct probe_run *r, uint32_t events)
{
	struct probe_trust_pool *pool = (struct probe_trust_pool *)(void *)r;
	struct trust_file *f = pool->reading;
	uint64_t count;

	(void)events;
	if (read(r->fd, &count, sizeof(count)) < 0 || !f)
		return;
	trust_join(pool);
	trust_install(pool, f);
	trust_wake(&f->waits);
	/* That may have begun to read another file; if not, it is the turn of one that is waited for. */
	while (!pool->reading && (f = trust_find_waited(pool)))
		trust_wake(&f->waits);
}

/* ---- files ---- */

static int trust_identify(const char *path, char fault[PROBE_EVIDENCE_MAX],
			  struct trust_identity *ret_identity)
{
	const char *why = "";
	struct stat st;
	int error = 0;

	if (stat(path ? path : SYSTEM_FILE, &st) < 0) {
		error = -errno;
	} else if (!S_ISREG(st.st_mode)) {
		error = -EINVAL;
		why = ": not a file";
	} else if (st.st_size > FILE_SIZE) {
		error = -EFBIG;
		why = ": larger than 4 MiB";
	}
	/* Where the system's stand elsewhere, GnuTLS knows. */
	if (error && path) {
		snprintf(fault, PROBE_EVIDENCE_MAX, "%s%s", path, why);
		return error;
	}
	*ret_identity = (struct trust_identity){0};
	if (!error)
		*ret_identity = (struct trust_identity){st.st_dev, st.st_ino, st.st_size,
							st.st_ctim};
	return 0;
}

static bool trust_is_same(const struct trust_identity *a, const struct trust_identity *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static void trust_drop_file(struct probe_trust_pool *pool, struct trust_file **link)
{
	struct trust_file *f = *link;

	assert(!f->waits);
	*link = f->next;
	pool->count--;
	probe_trust_release(f->trust);
	free(f->path);
	free(f);
}

/* The one that was not asked for the longest; NULL = all are in use. */
static struct trust_file **trust_find_oldest(struct probe_trust_pool *pool)
{
	struct trust_file **oldest = NULL;

	for (struct trust_file **link = &pool->files; *link; link = &(*link)->next) {
		const struct trust_file *f = *link;

		if (!f->waits && f != pool->reading && (!oldest || f->used < (*oldest)->used))
			oldest = link;
	}
	return oldest;
}

static void trust_make_room(struct probe_trust_pool *pool)
{
	struct trust_file **oldest;

	while (pool->count >= FILES_MAX && (oldest = trust_find_oldest(pool)))
		trust_drop_file(pool, oldest);
}

static struct trust_file *trust_find(struct probe_trust_pool *pool, const char *path)
{
	struct trust_file *f = pool->files;

	while (f && (!f->path != !path || (path && strcmp(f->path, path) != 0)))
		f = f->next;
	if (!f) {
		trust_make_room(pool);
		f = mem_new(struct trust_file);
		f->path = path ? mem_strdup(path) : NULL;
		f->next = pool->files;
		pool->files = f;
		pool->count++;
	}
	f->used = ++pool->uses;
	return f;
}

static void trust_add_wait(struct trust_file *f, struct probe_trust_wait *w)
{
	w->next = f->waits;
	w->link = &f->waits;
	if (w->next)
		w->next->link = &w->next;
	f->waits = w;
}

void probe_trust_forget(struct probe_trust_wait *w)
{
	if (!w->link)
		return;
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	w->link = NULL;
}

/* ---- the pool ---- */

static const struct probe_kind trust_wake_kind = {.ready = trust_on_read};

static struct probe_trust_pool *trust_pool_new(struct probe_io *io)
{
	struct probe_trust_pool *pool = mem_new(struct probe_trust_pool);

	pool->wake.kind = &trust_wake_kind;
	pool->wake.io = io;
	pool->wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (pool->wake.fd < 0 || probe_io_watch(io, &pool->wake) < 0) {
		int error = errno;

		if (pool->wake.fd >= 0)
			close(pool->wake.fd);
		free(pool);
		errno = error;
		return NULL;
	}
	if (gnutls_priority_init(&pool->priority, NULL, NULL) < 0)
		abort();
	pool->nobody = trust_new(pool, trust_new_credentials());
	return pool;
}

void probe_trust_pool_free(struct probe_trust_pool *pool)
{
	if (!pool)
		return;
	if (pool->reading) {
		trust_join(pool);
		gnutls_certificate_free_credentials(pool->job.credentials);
	}
	while (pool->files)
		trust_drop_file(pool, &pool->files);
	probe_trust_release(pool->nobody);
	gnutls_priority_deinit(pool->priority);
	probe_io_forget(pool->wake.io, &pool->wake);
	close(pool->wake.fd);
	free(pool);
}

static int trust_take_file(struct probe_trust_pool *pool, struct probe_trust_wait *w, char *fault,
			   struct probe_trust **ret_trust)
{
	const char *path = w->run->target->check->ca_file;
	struct trust_identity now;
	struct trust_file *f;
	int error = trust_identify(path, fault, &now);

	if (error)
		return error;
	f = trust_find(pool, path);
	if (!trust_is_same(&now, &f->identity))
		f->fresh = false;
	f->identity = now;
	if (!f->fresh || f == pool->reading) {
		error = f == pool->reading ? 0 : trust_start(pool, f);
		if (error) {
			snprintf(fault, PROBE_EVIDENCE_MAX, "%s", "no thread to read certificates");
			return error;
		}
		trust_add_wait(f, w);
		return -EINPROGRESS;
	}
	if (!f->trust) {
		memcpy(fault, f->fault, PROBE_EVIDENCE_MAX);
		return -EINVAL;
	}
	*ret_trust = trust_share(f->trust);
	return 0;
}

int probe_trust_take(struct probe_trust_wait *w, char fault[PROBE_EVIDENCE_MAX],
		     struct probe_trust **ret_trust)
{
	struct probe_io *io = w->run->io;

	if (!io->trust)
		io->trust = trust_pool_new(io);
	if (!io->trust) {
		snprintf(fault, PROBE_EVIDENCE_MAX, "%s", "no descriptor to read certificates");
		return -errno;
	}
	if (w->run->target->check->verify)
		return trust_take_file(io->trust, w, fault, ret_trust);
	*ret_trust = trust_share(io->trust->nobody);
	return 0;
}
