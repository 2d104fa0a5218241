// SPDX-License-Identifier: GPL-2.0-or-later
// Who mistyped a name is told the one that there is.
#include "api/absent.h"

#include "api/context.h"
#include "engine/status.h"
#include "model/similar.h"

void absent_refuse(struct request *r, const struct object_path *path)
{
	const struct snapshot *s = engine_snapshot(r->api->engine);
	const enum object_kind parent_kind = object_parent_kind(path->kind);
	struct object_path missing = *path;
	char text[OBJECT_PATH_MAX], hint[SIMILAR_HINT_MAX];

	if (parent_kind != OBJECT_KIND_COUNT) {
		const struct object_path parent = {parent_kind, NULL, path->parent};

		missing = snapshot_find(s, &parent) ? *path : parent;
	}
	request_fail(r, PROBLEM_NOT_FOUND, "there is no %s%s", object_path_format(&missing, text),
		     similar_hint(s, &missing, hint));
}
