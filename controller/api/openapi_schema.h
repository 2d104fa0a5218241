/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Schemas of openapi.json: objects from the reference of the field tables, answers from one table. */
#ifndef ZG_API_OPENAPI_SCHEMA_H
#define ZG_API_OPENAPI_SCHEMA_H

#include <jansson.h>

/* {name: schema}. New reference. */
json_t *openapi_schema_all(void);

#endif
