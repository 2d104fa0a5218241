/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What could stand next on the command line, for the completion of shells. */
#ifndef ZG_CLI_CLI_COMPLETE_H
#define ZG_CLI_CLI_COMPLETE_H

#include "base/buf.h"
#include "cli/cli_args.h"

/* What the word after those typed may be. */
enum complete_kind {
	COMPLETE_NOTHING, /* or a file: the shell knows */
	COMPLETE_WORD,    /* of a command */
	COMPLETE_OPTION,
	COMPLETE_FORMAT,
	COMPLETE_TYPE, /* of a DNS record */
	COMPLETE_ROLE,
	COMPLETE_NAME, /* of an object: ask the daemon */
};

struct complete_state {
	enum complete_kind kind;
	const struct cli_command *command; /* that the words name, or NULL */
	const char *first;                 /* the first word of a command, or NULL */
	const char *typed;                 /* what there is of the word */
	char form[CLI_NAME_MAX];           /* COMPLETE_NAME: "GROUP/SERVER", "LB" */
};

/* Ends with NULL. */
extern const char *const cli_complete_roles[];

/* Pure: looks at the words that were typed; the last one is not whole yet. */
void cli_complete_find(const struct cli_command *table, size_t count, char *const *words,
		       size_t word_count, struct complete_state *ret_state);

/* Pure: what needs no daemon, one a line. */
void cli_complete_write(const struct cli_command *table, size_t count,
			const struct complete_state *s, struct buf_writer *w);

#endif
