/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passwords of a command: never from its arguments, which everybody on the host can read. */
#ifndef ZG_CLI_CLI_PASSWORD_H
#define ZG_CLI_CLI_PASSWORD_H

#include "cli/cli.h"

/* Asked for twice at the terminal, without echo; or the first line of --password-file ("-" = standard input). NULL with a
 * sentence on standard error. Caller frees with cli_password_free(). */
char *cli_password_read(const struct cli *cli, const char *user);
void cli_password_free(char *password); /* NULL-safe */

#endif
