/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Examples of bodies and answers in openapi.json. Those of bodies, sent one after the other, are one small installation. Pure. */
#ifndef ZG_API_OPENAPI_EXAMPLES_H
#define ZG_API_OPENAPI_EXAMPLES_H

#include <jansson.h>

/* Adds `examples` to the schemas that have one. */
void openapi_examples_add(json_t *schemas);

/* The body of a request, or an answer, of this schema; NULL if it has no example. New reference. */
json_t *openapi_examples_request(const char *schema);
json_t *openapi_examples_answer(const char *schema);

/* What a parameter of this name stands for in the examples, or NULL. */
const char *openapi_examples_parameter(const char *name);

/* In openapi_bodies.c: objects and the whole document as they are sent, and answers that hold them. NULL: none. New reference. */
json_t *openapi_bodies_request(const char *schema);
json_t *openapi_bodies_answer(const char *schema);

#endif
