// SPDX-License-Identifier: GPL-2.0-or-later
// Who mistyped a name is told the one that there is.
#include "api/absent.h"

#include "api/context.h"
#include "engine/status.h"
#include "model/similar.h"

void absent_refuse(struct request *r, const struct object_path *path)
{
	char text[OBJECT_PATH_MAX], hint[SIMILAR_HINT_MAX];

	request_fail(r, PROBLEM_NOT_FOUND, "there is no %s%s", object_path_format(path, text),
		     similar_hint(engine_snapshot(r->api->engine), path, hint));
}
