// SPDX-License-Identifier: GPL-2.0-or-later
// Names of roles.
#include "access/role.h"

#include <errno.h>
#include <string.h>

static const char *const role_names[] = {
	[ROLE_NOBODY] = "nobody",     [ROLE_METRICS] = "metrics", [ROLE_VIEWER] = "viewer",
	[ROLE_OPERATOR] = "operator", [ROLE_EDITOR] = "editor",   [ROLE_ADMIN] = "admin",
};
_Static_assert(sizeof(role_names) / sizeof(role_names[0]) == ROLE_COUNT, "a name per role");

const char *role_name(enum role role)
{
	return role_names[role];
}

int role_parse(const char *name, enum role *ret_role)
{
	for (enum role role = ROLE_METRICS; role < ROLE_COUNT; role++) {
		if (strcmp(name, role_names[role]) == 0) {
			*ret_role = role;
			return 0;
		}
	}
	return -EINVAL;
}
