// SPDX-License-Identifier: GPL-2.0-or-later
// One table of functions for each library, filled once.
#include "late/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "late/late_gnutls.h"
#include "late/late_http.h"

#define LATE_NAME(name) #name,

/* The names of the libraries come from the Makefile: those that the headers belong to. */
static const char *const late_gnutls_names[] = {LATE_GNUTLS(LATE_NAME)};
static const char *const late_http_names[] = {LATE_HTTP(LATE_NAME)};

static struct late_gnutls late_gnutls_table;
static struct late_http late_http_table;

struct late_library {
	const char *file;
	const char *const *names;
	size_t count;
	void *table; /* as many pointers */
	atomic_bool ready;
};

static struct late_library late_gnutls_library = {
	.file = LATE_GNUTLS_FILE,
	.names = late_gnutls_names,
	.count = sizeof(late_gnutls_names) / sizeof(late_gnutls_names[0]),
	.table = &late_gnutls_table,
};
static struct late_library late_http_library = {
	.file = LATE_HTTP_FILE,
	.names = late_http_names,
	.count = sizeof(late_http_names) / sizeof(late_http_names[0]),
	.table = &late_http_table,
};

_Static_assert(sizeof(late_gnutls_table) == sizeof(late_gnutls_names),
	       "pointers, and nothing else");
_Static_assert(sizeof(late_http_table) == sizeof(late_http_names), "pointers, and nothing else");

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;

/* Debian calls the package of libx.so.3 libx3. */
static int late_explain(const struct late_library *l, char *buf, size_t size)
{
	const char *so = strstr(l->file, ".so.");
	int length = so ? (int)(so - l->file) : (int)strlen(l->file);

	snprintf(buf, size, "%s cannot be used (%s): apt-get install --reinstall %.*s%s", l->file,
		 dlerror(), length, l->file, so ? so + strlen(".so.") : "");
	return -1;
}

static int late_fill(const struct late_library *l, char *buf, size_t size)
{
	/* Never closed: what it has given away points into it. */
	void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return late_explain(l, buf, size);
	for (size_t i = 0; i < l->count; i++) {
		void *symbol = dlsym(handle, l->names[i]);

		if (!symbol)
			return late_explain(l, buf, size);
		memcpy((char *)l->table + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
	return 0;
}

static int late_try(struct late_library *l, char *buf, size_t size)
{
	int r = 0;

	if (atomic_load_explicit(&l->ready, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&late_lock);
	if (!atomic_load_explicit(&l->ready, memory_order_relaxed))
		r = late_fill(l, buf, size);
	if (r == 0)
		atomic_store_explicit(&l->ready, true, memory_order_release);
	pthread_mutex_unlock(&late_lock);
	return r;
}

static void late_load(struct late_library *l)
{
	char text[LATE_TEXT_MAX];

	if (late_try(l, text, sizeof(text)) == 0)
		return;
	fprintf(stderr, "zonegated: %s\n", text);
	exit(EXIT_FAILURE);
}

const struct late_gnutls *late_gnutls(void)
{
	late_load(&late_gnutls_library);
	return &late_gnutls_table;
}

const struct late_http *late_http(void)
{
	late_load(&late_http_library);
	return &late_http_table;
}

int late_check(char buf[LATE_TEXT_MAX])
{
	int r = late_try(&late_gnutls_library, buf, LATE_TEXT_MAX);

	return r ? r : late_try(&late_http_library, buf, LATE_TEXT_MAX);
}

void late_load_all(void)
{
	late_load(&late_gnutls_library);
	late_load(&late_http_library);
}
