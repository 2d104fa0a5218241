// SPDX-License-Identifier: GPL-2.0-or-later
// A document and a merge patch for one group, from the bytes (two JSON texts, split by a NUL). What is accepted is read
// back unchanged; what is refused says so with pointers and sentences that can be sent.
#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "model/change.h"
#include "plan/advice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_faults(struct err *e)
{
	assert(err_any(e));
	for (size_t i = 0; i < e->count; i++) {
		json_t *text = json_pack("{s:s, s:s}", "pointer", e->faults[i].pointer, "detail",
					 e->faults[i].detail);
		assert(text); // UTF-8
		json_decref(text);
	}
	err_clear(e);
}

static struct snapshot *build(const struct snapshot *base, struct change_request r,
			      size_t *ret_count)
{
	struct err e = {0};
	struct batch *b = NULL;
	struct snapshot *s = NULL;
	if (change_build(base, &r, &e, &b, &s) < 0) {
		check_faults(&e);
		return NULL;
	}
	assert(!err_any(&e));
	*ret_count = b->count;
	batch_free(b);
	return s;
}

static void ignore_advice(void *ctx, const char *code, const char *pointer, const char *detail)
{
	json_t *text = json_pack("[s,s,s]", code, pointer, detail);
	(void)ctx;
	assert(text);
	json_decref(text);
}

static void check_read_back(const struct snapshot *s)
{
	size_t count = 1;
	json_t *document = snapshot_encode(s, NULL, NULL);
	struct change_request r = {
		.target = CHANGE_DOCUMENT, .body = document, .wall = 2, .uid_seed = 2};
	struct snapshot *again = build(s, r, &count);
	assert(again == s && count == 0);
	snapshot_unref(again);
	json_decref(document);
	advice_give_document(&(const struct advice_place){.snapshot = s}, ignore_advice, NULL);
}

static void check_patch(const struct snapshot *s, const json_t *patch)
{
	size_t count = 0;
	if (s->server_groups.count == 0)
		return;
	const struct object *group = s->server_groups.items[0];
	struct change_request r = {.verb = CHANGE_PATCH,
				   .path = {OBJECT_SERVER_GROUP, NULL, group->name},
				   .body = patch,
				   .wall = 3,
				   .uid_seed = 3};
	struct snapshot *patched = build(s, r, &count);
	if (patched)
		check_read_back(patched);
	snapshot_unref(patched);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t first = end ? (size_t)(end - data) : size;
	size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
	size_t count = 0;
	json_t *document = json_loadb((const char *)data, first, flags, NULL);
	if (!document)
		return 0;
	struct snapshot *empty = snapshot_new();
	struct change_request r = {
		.target = CHANGE_DOCUMENT, .body = document, .wall = 1, .uid_seed = 1};
	struct snapshot *s = build(empty, r, &count);
	if (s) {
		json_t *patch = end ? json_loadb((const char *)end + 1, size - first - 1, flags,
						 NULL)
				    : NULL;
		check_read_back(s);
		if (patch)
			check_patch(s, patch);
		json_decref(patch);
	}
	snapshot_unref(s);
	snapshot_unref(empty);
	json_decref(document);
	return 0;
}
