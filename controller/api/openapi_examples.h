/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Examples of bodies and answers in openapi.json. Pure. */
#ifndef ZG_API_OPENAPI_EXAMPLES_H
#define ZG_API_OPENAPI_EXAMPLES_H

#include <jansson.h>

/* Adds `examples` to the schemas that have one. */
void openapi_examples_add(json_t *schemas);

#endif
