/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a dry run as text, and changes that are typed. */
#ifndef ZG_CLI_CLI_DIFF_H
#define ZG_CLI_CLI_DIFF_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* Lines for one change {action, path, old, new}: "+ path" and its members, "- path", or "~ path" and "member: old -> new". */
void cli_diff_write_change(const json_t *change, bool color, struct buf_writer *w);

/* Sets a member of a merge patch from "a.b=value": the value is JSON if it reads as such (null removes the
 * member), else text. 0, -EEXIST for a member that was set before, or -EINVAL for what has no "=", an empty name or value (a variable of a shell that is not set), or goes
 * through a member that is no object. */
int cli_diff_set_member(json_t *patch, const char *assignment);
/* The same of what somebody typed, who is told what is wrong with it: also of what is observed and cannot be set. */
int cli_diff_take_member(json_t *patch, const char *assignment);

#endif
