/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the model: JSON with single quotes, a document to start from, faults as one text to compare. */
#ifndef ZG_TESTS_MODEL_FIXTURE_H
#define ZG_TESTS_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/change.h"
#include "model/validate.h"

/* Two zones; group web (http check) used by shop, group spare used by nobody, group dns (UDP) used by names. */
#define FIXTURE_DOCUMENT                                                                  \
	"{'zones':{'za':{},'zb':{'description':'hall 2'}},"                               \
	"'server_groups':{"                                                               \
	"'web':{'protocol':'tcp','health_check':{'type':'http','path':'/up'},'servers':{" \
	"'w1':{'address':'10.0.0.1','port':8080,'zone':'za'},"                            \
	"'w2':{'address':'10.0.0.2','port':8080,'zone':'zb','weight':50}}},"              \
	"'spare':{'protocol':'tcp','servers':{'s1':{'address':'10.0.1.1','port':80}}},"   \
	"'dns':{'protocol':'udp','health_check':{'enabled':false},'servers':{"            \
	"'d1':{'address':'10.0.2.1','port':53}}}},"                                       \
	"'load_balancers':{"                                                              \
	"'shop':{'zones':{'za':{'vip4':'192.0.2.1'},'zb':{'vip4':'192.0.2.2'}},"          \
	"'listeners':{'http':{'protocol':'tcp','port':80,'server_group':'web'}}},"        \
	"'names':{'zones':{'za':{'vip4':'192.0.2.3'}},"                                   \
	"'listeners':{'dns':{'protocol':'udp','port':53,'server_group':'dns'}}}}}"

static inline json_t *fixture_json(const char *text)
{
	char *copy = mem_strdup(text);
	json_error_t error;
	for (char *p = copy; *p; p++) {
		if (*p == '\'')
			*p = '"';
	}
	json_t *json = json_loads(copy, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
	if (!json)
		fail_msg("%s: %s", error.text, text);
	free(copy);
	return json;
}

/* RFC 7396 by the letter. */
static inline void fixture_merge(json_t *target, json_t *patch)
{
	const char *name;
	json_t *value;
	json_object_foreach (patch, name, value) {
		json_t *inner = json_object_get(target, name);
		if (json_is_null(value)) {
			json_object_del(target, name);
		} else if (json_is_object(value) && json_is_object(inner)) {
			fixture_merge(inner, value);
		} else {
			json_object_set(target, name, value);
		}
	}
}

/* FIXTURE_DOCUMENT with a merge patch. */
static inline json_t *fixture_patched(const char *patch)
{
	json_t *document = fixture_json(FIXTURE_DOCUMENT);
	json_t *p = fixture_json(patch);
	fixture_merge(document, p);
	json_decref(p);
	return document;
}

/* "code pointer\n" for each fault. The caller frees. */
static inline char *fixture_faults(const struct err *e)
{
	char *text = mem_strdup("");
	for (size_t i = 0; i < e->count; i++) {
		char *longer = mem_printf("%s%s %s\n", text, err_code_name(e->faults[i].code),
					  e->faults[i].pointer);
		free(text);
		text = longer;
	}
	return text;
}

/* Asserts that `e` has exactly these faults in this order ("code pointer\n…"), and clears it. */
static inline void fixture_expect_faults(struct err *e, const char *expected, const char *what)
{
	char *text = fixture_faults(e);
	if (strcmp(text, expected) != 0)
		fail_msg("%s\nexpected:\n%sfound:\n%s%s", what, expected, text, err_first(e));
	free(text);
	err_clear(e);
}

static inline struct change_request fixture_request(enum change_target target, json_t *body)
{
	return (struct change_request){.verb = CHANGE_PUT,
				       .target = target,
				       .body = body,
				       .wall = 1000 * USEC_PER_SEC,
				       .uid_seed = 7};
}

/* The snapshot of a document, which must be valid. */
static inline struct snapshot *fixture_snapshot(json_t *document)
{
	struct snapshot *empty = snapshot_new();
	struct change_request r = fixture_request(CHANGE_DOCUMENT, document);
	struct err e = {0};
	struct batch *b = NULL;
	struct snapshot *s = NULL;
	if (change_build(empty, &r, &e, &b, &s) < 0)
		fail_msg("%s", err_first(&e));
	batch_free(b);
	snapshot_unref(empty);
	json_decref(document);
	return s;
}

/* Asserts that the document, which is released, has exactly these faults ("" = none). */
static inline void fixture_judge_document(json_t *document, const char *expected, const char *what)
{
	struct snapshot *empty = snapshot_new();
	struct change_request r = fixture_request(CHANGE_DOCUMENT, document);
	struct err e = {0};
	struct batch *b = NULL;
	struct snapshot *s = NULL;
	int result = change_build(empty, &r, &e, &b, &s);
	assert_int_equal(result < 0, err_any(&e));
	fixture_expect_faults(&e, expected, what);
	if (result == 0) {
		batch_free(b);
		snapshot_unref(s);
	}
	snapshot_unref(empty);
	json_decref(document);
}

/* The same for FIXTURE_DOCUMENT with a merge patch. */
static inline void fixture_judge(const char *patch, const char *expected)
{
	fixture_judge_document(fixture_patched(patch), expected, patch);
}

struct fixture_case {
	const char *patch;
	const char *faults;
};

#define FIXTURE_JUDGE_ALL(cases)                                                \
	do {                                                                    \
		for (size_t i = 0; i < sizeof(cases) / sizeof((cases)[0]); i++) \
			fixture_judge((cases)[i].patch, (cases)[i].faults);     \
	} while (0)

#endif
