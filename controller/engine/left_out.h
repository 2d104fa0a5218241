/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a service gives a server nothing, beyond what the server's own state tells. */
#ifndef ZG_ENGINE_LEFT_OUT_H
#define ZG_ENGINE_LEFT_OUT_H

#include "engine/status.h"

/* Why the service gives this server of `g`, its group or the backup of that, nothing. Of a server of its own group only what is so at
 * this place (what is so everywhere is in server_status); of a backup all. False, and "": nothing of it is known. */
#define LEFT_OUT_MAX 400
bool engine_tell_left_out(const struct engine *e, const struct service_status *s,
			  const struct server_group *g, const struct server *server,
			  char text[LEFT_OUT_MAX]);

#endif
