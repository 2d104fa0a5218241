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

static void late_give_up(const struct late_library *l)
{
	fprintf(stderr, "zonegated: %s cannot be used: %s\n", l->file, dlerror());
	exit(EXIT_FAILURE);
}

static void late_fill(const struct late_library *l)
{
	/* Never closed: what it has given away points into it. */
	void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		late_give_up(l);
	for (size_t i = 0; i < l->count; i++) {
		void *symbol = dlsym(handle, l->names[i]);

		if (!symbol)
			late_give_up(l);
		memcpy((char *)l->table + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
}

static void late_load(struct late_library *l)
{
	if (atomic_load_explicit(&l->ready, memory_order_acquire))
		return;
	pthread_mutex_lock(&late_lock);
	if (!atomic_load_explicit(&l->ready, memory_order_relaxed))
		late_fill(l);
	atomic_store_explicit(&l->ready, true, memory_order_release);
	pthread_mutex_unlock(&late_lock);
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

void late_load_all(void)
{
	late_load(&late_gnutls_library);
	late_load(&late_http_library);
}
