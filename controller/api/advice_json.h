/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice as JSON: [{code, pointer, detail}]. */
#ifndef ZG_API_ADVICE_JSON_H
#define ZG_API_ADVICE_JSON_H

#include <jansson.h>

#include "plan/advice.h"

struct engine;

struct advice_place advice_json_place(const struct engine *e);
/* Of the document in force, on this node. */
json_t *advice_json_group(const struct engine *e, const struct server_group *g);
json_t *advice_json_list(const struct engine *e, const struct access_list *a);
json_t *advice_json_lb(const struct engine *e, const struct load_balancer *lb);

json_t *advice_json_document(const struct advice_place *at);
struct advice_foreseen { /* borrowed */
	const struct engine *engine;
	const struct snapshot *next;
	const struct batch *changes;
	const json_t *warnings; /* what is told already, each with a `pointer` */
};
/* What is new in `next` of the load balancers, groups and access lists that `changes` touches, of the first 20 of them; not of the places
 * of `warnings`. */
json_t *advice_json_foreseen(const struct advice_foreseen *f);
/* See advice_give_check(). */
json_t *advice_json_check(const struct server_group *g);

#endif
