/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the store share: a directory of their own, and batches that set one zone's description. */
#ifndef ZG_TESTS_STORE_FIXTURE_H
#define ZG_TESTS_STORE_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/snapshot.h"

#define FIXTURE_WALL 1767323045678000ULL

struct store_fixture {
	char directory[64];
	char path[96];
};

static inline void store_fixture_remove_files(const struct store_fixture *f)
{
	static const char *const names[] = {
		"store.db",     "store.db-wal", "store.db-shm", "store.db-journal",
		"store.db.new", "other",        "filler"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		AUTO_FREE char *name = mem_printf("%s/%s", f->directory, names[i]);

		unlink(name);
	}
}

static inline int store_fixture_make(void **state)
{
	struct store_fixture *f = mem_new(struct store_fixture);

	strcpy(f->directory, "/tmp/zonegate-store-XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/store.db", f->directory);
	*state = f;
	return 0;
}

static inline int store_fixture_drop(void **state)
{
	struct store_fixture *f = *state;

	store_fixture_remove_files(f);
	rmdir(f->directory);
	free(f);
	return 0;
}

/* The whole file, NUL-terminated; NULL if it is not there. Caller frees. */
static inline char *store_fixture_read(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	size_t capacity = 16 * 1024 * 1024;
	char *bytes;

	*ret_size = 0;
	if (!file)
		return NULL;
	bytes = mem_alloc(capacity);
	*ret_size = fread(bytes, 1, capacity - 1, file);
	fclose(file);
	return bytes;
}

static inline struct object *store_fixture_zone(const char *name, const char *description,
						uint64_t revision)
{
	AUTO_ERR struct err e = {0};
	json_t *body = json_pack("{s:s}", "description", description);
	struct object *o = NULL;

	if (object_decode(OBJECT_ZONE, name, body, "", &e, &o) < 0)
		abort();
	json_decref(body);
	o->uid = 0xfedcba9876543210ULL;
	o->revision = revision;
	o->created_wall = FIXTURE_WALL;
	o->updated_wall = FIXTURE_WALL + revision;
	return o;
}

/* Revision `revision` sets the description of `name` to "rev N". */
static inline struct batch *store_fixture_batch(const char *name, uint64_t revision)
{
	struct batch *b = batch_new();
	AUTO_FREE char *was = mem_printf("rev %llu", (unsigned long long)revision - 1);
	AUTO_FREE char *now = mem_printf("rev %llu", (unsigned long long)revision);
	struct object *before = revision > 1 ? store_fixture_zone(name, was, revision - 1) : NULL;
	struct object *after = store_fixture_zone(name, now, revision);

	b->revision = revision;
	b->wall = FIXTURE_WALL + revision;
	b->who = mem_strdup("root");
	b->via = mem_strdup("api");
	batch_add(b, NULL, before, after);
	object_unref(before);
	object_unref(after);
	return b;
}

#endif
