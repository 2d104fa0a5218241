// SPDX-License-Identifier: GPL-2.0-or-later
// A body that starts a zone shift (first byte odd) or changes one: taken, or refused with faults that can be sent.
#include "api/body.h"
#include "api/problem.h"
#include "api/shift_json.h"

#include <assert.h>

#define TIME_MAX (366 * 86400 * USEC_PER_SEC)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refused(const struct err *e)
{
	json_t *list = problem_encode_faults(e);

	assert(err_any(e) && json_array_size(list) == e->count);
	json_decref(list);
}

static void check_taken(const struct shift_request *wish, const json_t *body)
{
	const json_t *time = json_object_get(body, "expires_in");

	assert(json_object_size(body) > 0 && wish->expires_in <= TIME_MAX);
	assert((wish->expires_in != 0) == json_is_string(time));
	assert(wish->comment == json_string_value(json_object_get(body, "comment")));
	assert(wish->zone == json_string_value(json_object_get(body, "zone")));
	if (wish->verb == SHIFT_START)
		assert(wish->zone && wish->load_balancer && wish->comment && time);
	else
		assert(!wish->zone && !wish->load_balancer && !wish->force);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ERR struct err e = {0};
	struct shift_request wish = {0};
	json_t *body;
	size_t values;

	if (size < 1)
		return 0;
	wish.verb = data[0] & 1 ? SHIFT_START : SHIFT_CHANGE;
	if (body_measure((const char *)data + 1, size - 1, &e, &values) < 0 ||
	    body_parse((const char *)data + 1, size - 1, &e, &body) < 0)
		return 0;
	if (shift_json_decode(body, &e, &wish) < 0)
		check_refused(&e);
	else
		check_taken(&wish, body);
	json_decref(body);
	return 0;
}
