/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands that change the configuration share about confirmations. */
#ifndef ZG_CLI_CLI_HISTORY_H
#define ZG_CLI_CLI_HISTORY_H

#include "cli/cli.h"

/* --confirm-within as seconds: "60", "90s", "30m", "2h". Not given: 0. EXIT_OK, or EXIT_USAGE with a sentence. */
enum cli_exit cli_history_read_within(const struct cli *cli, unsigned *ret_seconds);

/* The query of a change of the configuration: ?dry_run=, comment and confirm_within_s. EXIT_OK, or EXIT_USAGE with a sentence.
 * Caller frees. */
enum cli_exit cli_history_write_query(const struct cli *cli, char **ret_query);

/* Says until when a change that --confirm-within makes wait has to be confirmed. */
void cli_history_say_pending(const struct cli *cli);

/* Says until when a change that waits has to be confirmed; nothing for 0 seconds. */
void cli_history_say_waits(unsigned seconds);

#endif
