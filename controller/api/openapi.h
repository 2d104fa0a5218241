/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The OpenAPI 3.1 document, printed from the route table and the reference of the field tables. */
#ifndef ZG_API_OPENAPI_H
#define ZG_API_OPENAPI_H

#include <jansson.h>

/* New reference. */
json_t *openapi_build(const char *version);

#endif
