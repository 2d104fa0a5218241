/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody may, from nothing to everything: each role may all that those before it may. */
#ifndef ZG_ACCESS_ROLE_H
#define ZG_ACCESS_ROLE_H

enum role {
	ROLE_NOBODY,
	ROLE_METRICS,  /* scrapes /metrics and sees nothing else */
	ROLE_VIEWER,   /* reads */
	ROLE_OPERATOR, /* overrides: shifts, drains, weights, probes on demand */
	ROLE_EDITOR,   /* the configuration */
	ROLE_ADMIN,    /* users, tokens, sessions of others */
	ROLE_COUNT
};

const char *role_name(enum role role);

/* One that can be given to somebody: "metrics" … "admin". 0 or -EINVAL. */
int role_parse(const char *name, enum role *ret_role);

#endif
