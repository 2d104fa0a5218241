/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schemas from short text, and the pieces that several answers share. Pure. */
#ifndef ZG_API_OPENAPI_TYPE_H
#define ZG_API_OPENAPI_TYPE_H

#include <jansson.h>

/* A word (string, time, address, integer, number, boolean, object and array of anything), =one|of|these, the Name of a schema,
 * [items], {values of a map}; with "?" behind it also null. New reference. */
json_t *openapi_type_schema(const char *type);

/* "name:type other?:type …": an object of these and no other members; with "?" behind its name one may be absent. New reference. */
json_t *openapi_type_members(const char *members);

/* The same schema, and null. Steals `schema`. */
json_t *openapi_type_nullable(json_t *schema);

/* What a merge patch of an object may hold: nothing is required, and null removes. */
json_t *openapi_type_patch(const json_t *schema);

/* Adds what the answers are made of: pieces that have a name of their own. */
void openapi_type_add_pieces(json_t *schemas);

#endif
