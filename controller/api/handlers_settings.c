// SPDX-License-Identifier: GPL-2.0-or-later
// The settings of the document: one object, which always is.
#include "api/handlers.h"

#include "api/context.h"
#include "api/handlers_write.h"
#include "api/reply.h"
#include "engine/status.h"

static const struct object_path settings_path = {OBJECT_SETTINGS, NULL, MODEL_SETTINGS_NAME};

void handlers_settings_get(struct request *r)
{
	reply_object(r, engine_snapshot(r->api->engine), &settings_path, 200, NULL);
}

void handlers_settings_write(struct request *r)
{
	handlers_write_propose(
		r,
		&(struct write_wish){.verb = r->method == METHOD_PATCH ? CHANGE_PATCH : CHANGE_PUT,
				     .target = CHANGE_OBJECT,
				     .path = settings_path});
}
