// SPDX-License-Identifier: GPL-2.0-or-later
// A request body: taken within its limits, or refused with a sentence that can be sent.
#include <assert.h>
#include <stdint.h>

#include "api/body.h"
#include "api/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t values_of(const json_t *json)
{
	size_t values = 1, i;
	const json_t *value;

	json_array_foreach (json, i, value)
		values += values_of(value);
	for (void *at = json_object_iter((json_t *)(uintptr_t)json); at;
	     at = json_object_iter_next((json_t *)(uintptr_t)json, at))
		values += values_of(json_object_iter_value(at));
	return values;
}

static unsigned depth_of(const json_t *json)
{
	unsigned deepest = 0;
	const json_t *value;
	const char *name;
	size_t i;

	json_array_foreach (json, i, value) {
		unsigned depth = depth_of(value);

		deepest = depth > deepest ? depth : deepest;
	}
	for (void *at = json_object_iter((json_t *)(uintptr_t)json); at;
	     at = json_object_iter_next((json_t *)(uintptr_t)json, at)) {
		unsigned depth = depth_of(json_object_iter_value(at));

		name = json_object_iter_key(at);
		assert(name);
		deepest = depth > deepest ? depth : deepest;
	}
	return json_is_array(json) || json_is_object(json) ? deepest + 1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ERR struct err e = {0};
	json_t *json = NULL, *problem;
	size_t values;

	if (body_measure((const char *)data, size, &e, &values) == 0 &&
	    body_parse((const char *)data, size, &e, &json) == 0) {
		assert(!err_any(&e) && json_is_object(json));
		assert(depth_of(json) <= BODY_DEPTH_MAX);
		assert(values_of(json) <= values && values <= BODY_VALUES_MAX);
		json_decref(json);
		return 0;
	}
	assert(e.count == 1 && !json && problem_classify(&e) == PROBLEM_BAD_REQUEST);
	problem = problem_encode(&(struct problem){PROBLEM_BAD_REQUEST, NULL, "/", "1", &e, NULL});
	assert(json_array_size(json_object_get(problem, "errors")) == 1);
	assert(json_integer_value(json_object_get(problem, "status")) == 400);
	json_decref(problem);
	return 0;
}
