/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that describe a route in openapi.json do for each other (OpenAPI 3.1). All return new references. */
#ifndef ZG_API_OPENAPI_PARTS_H
#define ZG_API_OPENAPI_PARTS_H

#include <jansson.h>

#include "api/router.h"

json_t *openapi_ref(const char *schema);  /* {"$ref": …} of a schema by its name */
json_t *openapi_any(const char *schemas); /* of one, or any of several: "Zone|DryRun" */

/* openapi_parameters.c: the list of parameters of the route. */
json_t *openapi_parameters(const struct route *r);

/* openapi_answers.c: its answers by status. */
json_t *openapi_responses(const struct route *r);

#endif
