/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which object was meant by the name of one that is not there. */
#ifndef ZG_MODEL_SIMILAR_H
#define ZG_MODEL_SIMILAR_H

#include "model/snapshot.h"

/* "; did you mean load_balancers/shop?", of its parent where that is not there either, or "" where nothing is near. Returns `buf`. */
#define SIMILAR_HINT_MAX (OBJECT_PATH_MAX + 32)
const char *similar_hint(const struct snapshot *s, const struct object_path *p,
			 char buf[SIMILAR_HINT_MAX]);

#endif
