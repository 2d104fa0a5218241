/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What openapi.json says of users, sessions and tokens. Pure. */
#ifndef ZG_API_OPENAPI_ACCESS_H
#define ZG_API_OPENAPI_ACCESS_H

#include <jansson.h>

#include "api/router.h"

/* Adds the schemas of bodies and answers, each with an example. */
void openapi_access_add_schemas(json_t *schemas);

/* The example of one of these schemas, or NULL. New reference. */
json_t *openapi_access_example(const char *schema);

/* A status that a route answers with beside 200 and what all have. */
struct openapi_access_answer {
	const char *status;
	const char *description;
	const char *schema; /* NULL: no body; "Problem" */
};

/* Those of a route, ended by one without a status. NULL: it is not one of these routes. */
const struct openapi_access_answer *openapi_access_answers(const struct route *r);

#endif
