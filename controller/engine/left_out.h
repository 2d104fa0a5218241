/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a service gives a server nothing that is not for its health. */
#ifndef ZG_ENGINE_LEFT_OUT_H
#define ZG_ENGINE_LEFT_OUT_H

#include "engine/status.h"

/* Why the service gives this server of `g`, its group or the backup of that, nothing, whatever the server's health. False, and "":
 * for none of what the document and the shifts say. */
#define LEFT_OUT_MAX 400
bool engine_tell_left_out(const struct engine *e, const struct service_status *s,
			  const struct server_group *g, const struct server *server,
			  char text[LEFT_OUT_MAX]);

#endif
