// SPDX-License-Identifier: GPL-2.0-or-later
// From the bytes, split by NULs: a document, a merge patch for its first group, then requests, each on what the one before
// made: "VERB PATH", If-Match ("=" stands for the right tag), If-None-Match and a body, a line each. What is accepted is
// read back unchanged; what is refused says so with pointers and sentences that can be sent.
#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "model/change.h"
#include "model/fields.h"
#include "model/validate.h"
#include "plan/advice.h"

#define REQUESTS_MAX 8
#define JSON_FLAGS   (JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL)

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

// Written and read again it is the same, to the eye and to what compares by hash.
static void check_object(const struct object *o)
{
	const struct field *fields = fields_of_kind(o->kind);
	struct err e = {0};
	struct object *again = NULL;
	json_t *row = object_encode_row(o);
	assert(object_decode(o->kind, o->name, row, "", &e, &again) == 0 && !err_any(&e));
	assert(object_equal_row(o, again));
	assert(fields_hash(fields, o, 1) == fields_hash(fields, again, 1));
	object_unref(again);
	json_decref(row);
}

static void check_status_list(const char *list)
{
	bool any = false;
	for (unsigned status = 100; status <= 599; status++)
		any = any || validate_status_in_list(list, status);
	assert(any && !validate_status_in_list(list, 99) && !validate_status_in_list(list, 600));
}

static void check_objects(const struct snapshot *s)
{
	for (size_t i = 0; i < s->zones.count; i++)
		check_object(s->zones.items[i]);
	for (size_t i = 0; i < s->load_balancers.count; i++)
		check_object(s->load_balancers.items[i]);
	for (size_t i = 0; i < s->server_groups.count; i++) {
		const struct server_group *g = s->server_groups.items[i];
		check_object(&g->o);
		check_status_list(g->health_check.expected_status);
	}
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
	check_objects(s);
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

// ---- requests ---------------------------------------------------------------------------------

static bool find_kind(const char *outer, const char *inner, enum object_kind *ret_kind)
{
	for (enum object_kind k = 0; k < OBJECT_KIND_COUNT; k++) {
		enum object_kind parent = object_parent_kind(k);
		bool top = parent == OBJECT_KIND_COUNT;
		if (top != !outer || strcmp(object_collection_name(k), inner) != 0 ||
		    (!top && strcmp(object_collection_name(parent), outer) != 0))
			continue;
		*ret_kind = k;
		return true;
	}
	return false;
}

// "server_groups/web" or "server_groups/web/servers/w1". What can be no name at all never comes so far.
static bool read_path(char *text, struct object_path *ret_path)
{
	char *parts[4] = {NULL};
	size_t count = 0;
	for (const char *c = text; *c; c++) {
		if (*c <= ' ' || *c > '~')
			return false;
	}
	while (text && count < 4)
		parts[count++] = strsep(&text, "/");
	if (text || (count != 2 && count != 4))
		return false;
	ret_path->parent = count == 4 ? parts[1] : NULL;
	ret_path->name = parts[count - 1];
	return find_kind(count == 4 ? parts[0] : NULL, parts[count - 2], &ret_path->kind);
}

static bool read_verb(const char *verb, char *path, struct change_request *r)
{
	static const char *const verbs[] = {"PUT", "PATCH", "DELETE"};
	if (strcmp(verb, "DOCUMENT") == 0) {
		r->target = CHANGE_DOCUMENT;
		return true;
	}
	if (!path || !read_path(path, &r->path))
		return false;
	if (strcmp(verb, "SERVERS") == 0) {
		r->target = CHANGE_SERVERS;
		return true;
	}
	if (strcmp(verb, "ENTRIES") == 0) {
		r->target = CHANGE_ENTRIES;
		r->verb = CHANGE_PATCH;
		return r->path.kind == OBJECT_ACCESS_LIST;
	}
	for (enum change_verb v = CHANGE_PUT; v <= CHANGE_DELETE; v++) {
		r->verb = v;
		if (strcmp(verb, verbs[v]) == 0)
			return true;
	}
	return false;
}

static const char *right_tag(const struct snapshot *s, const struct change_request *r,
			     char buf[ETAG_MAX])
{
	const struct object *o = r->target == CHANGE_DOCUMENT ? NULL : snapshot_find(s, &r->path);
	return o ? change_object_etag(o, buf) : change_document_etag(s, buf);
}

// What the request makes of `s`, or `s`.
static struct snapshot *make_request(struct snapshot *s, char *text, uint64_t number)
{
	char tag[ETAG_MAX];
	size_t count = 0;
	char *path = strsep(&text, "\n");
	const char *verb = strsep(&path, " ");
	struct change_request r = {
		.if_match = strsep(&text, "\n"), .wall = (usec_t)number, .uid_seed = number};
	r.if_none_match = strsep(&text, "\n");
	if (!text || !read_verb(verb, path, &r))
		return s;
	r.if_match = strcmp(r.if_match, "=") == 0 ? right_tag(s, &r, tag) : r.if_match;
	r.if_match = r.if_match[0] ? r.if_match : NULL;
	r.if_none_match = r.if_none_match[0] ? r.if_none_match : NULL;
	json_t *body = json_loads(text, JSON_FLAGS, NULL);
	r.body = body;
	struct snapshot *next = body || r.verb == CHANGE_DELETE ? build(s, r, &count) : NULL;
	json_decref(body);
	if (!next)
		return s;
	assert((count == 0) == (next == s));
	check_read_back(next);
	snapshot_unref(s);
	return next;
}

static struct snapshot *make_requests(struct snapshot *s, const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	size_t at = 0;
	memcpy(text, data, size);
	for (uint64_t n = 4; at < size && n < 4 + REQUESTS_MAX; n++) {
		size_t length = strlen(text + at);
		s = make_request(s, text + at, n);
		at += length + 1;
	}
	return s;
}

// A part of the bytes, up to the next NUL.
static json_t *take_json(const uint8_t **data, size_t *size)
{
	const uint8_t *end = *size ? memchr(*data, 0, *size) : NULL;
	size_t length = end ? (size_t)(end - *data) : *size;
	json_t *json = json_loadb((const char *)*data, length, JSON_FLAGS, NULL);
	length += end ? 1 : 0;
	*data += length;
	*size -= length;
	return json;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = 0;
	json_t *document = take_json(&data, &size);
	if (!document)
		return 0;
	struct snapshot *empty = snapshot_new();
	struct change_request r = {
		.target = CHANGE_DOCUMENT, .body = document, .wall = 1, .uid_seed = 1};
	struct snapshot *s = build(empty, r, &count);
	if (s) {
		json_t *patch = take_json(&data, &size);
		check_read_back(s);
		if (patch)
			check_patch(s, patch);
		json_decref(patch);
		s = make_requests(s, data, size);
	}
	snapshot_unref(s);
	snapshot_unref(empty);
	json_decref(document);
	return 0;
}
