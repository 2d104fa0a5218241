/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether this node can be relied upon, and what speaks against it: the one place that says so, for /readyz and /system. */
#ifndef ZG_API_READINESS_H
#define ZG_API_READINESS_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/status.h"

#define READINESS_CHECKS 7

enum readiness_state {
	READINESS_WHOLE,
	READINESS_PART, /* it takes changes and serves, but something is not as it should be */
	READINESS_NONE  /* it takes no changes */
};

struct readiness_check {
	const char *name;
	bool ok;
	bool decides; /* without it the node is not ready; else it is only worth a look */
	bool off;     /* there is nothing to check, as it is set */
	const char *detail;
};

/* Texts belong to the engine, until it is called again. */
struct readiness {
	enum readiness_state state;
	struct readiness_check checks[READINESS_CHECKS];
};

void readiness_judge(const struct engine *e, struct readiness *ret_readiness);
const char *readiness_word(const struct readiness *r); /* "ok", "degraded", "not ready" */
json_t *readiness_json(const struct readiness *r);     /* the checks; new reference */

#endif
