/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line and the table of commands. */
#ifndef ZG_CLI_CLI_ARGS_H
#define ZG_CLI_CLI_ARGS_H

#include "base/time.h"
#include "cli/cli.h"

/* Options that only some commands take. */
enum {
	OPTION_FILE = 1,
	OPTION_COMMENT = 2,
	OPTION_DRY_RUN = 4,
	OPTION_FOREIGN = 8,
	OPTION_DATA = 16,
	OPTION_HEADER = 32,
	OPTION_LB = 64,
	OPTION_ALL = 128,
	OPTION_FOR = 256,
	OPTION_EVACUATE = 512,
	OPTION_FORCE = 1024,
	OPTION_TYPE = 2048,
	OPTION_CLIENT = 4096,
	OPTION_SERVERS = 8192, /* more than one --server */
	OPTION_TIMEOUT = 16384,
	OPTION_WAIT = 32768,
	OPTION_RESET = 65536,
	OPTION_WATCH = 1 << 26,
	OPTION_ROLE = 1 << 21,
	OPTION_USER = 1 << 22,
	OPTION_PASSWORD_FILE = 1 << 23,
	OPTION_SOURCE = 1 << 24,
	OPTION_WITHIN = 131072,
	OPTION_LIMIT = 262144,
	OPTION_FOLLOW = 1 << 19,
	OPTION_SINCE = 1 << 20,
};

struct cli_command {
	const char *words[2]; /* "config", "apply"; the second may be NULL */
	const char *args;     /* "GROUP/SERVER", "[GROUP]", "NAME MEMBER=VALUE…" */
	size_t min_args;
	size_t max_args; /* SIZE_MAX = any number */
	unsigned options;
	enum cli_exit (*run)(struct cli *cli);
	const char *summary;
	const char *help; /* more lines, or NULL */
};

/* Takes the command line apart (permuting argv) with defaults from the environment. 0, or -EINVAL with the sentence in
 * ret_fault. */
#define CLI_FAULT_MAX 256
int cli_args_parse(int argc, char **argv, struct cli_options *ret_options,
		   char ret_fault[CLI_FAULT_MAX]);

/* "90s", "30m", "2h", "3d", and "0": the one form of every option that takes a time. -EINVAL if it is none. */
int cli_args_read_span(const char *text, usec_t *ret_span);

/* A moment: as it is ("2026-01-02T03:04:05Z"), or so long ago ("2h", of 7 days at most), in the form of the API. NULL with a sentence
 * that begins with `name`. Caller frees. */
char *cli_args_read_since(const char *name, const char *text);

/* The command that the first words name; *ret_words is how many it took. NULL if none. */
const struct cli_command *cli_args_find(const struct cli_command *table, size_t count,
					const struct cli_options *o, size_t *ret_words);

/* Whether options and number of arguments are the command's. 0, or -EINVAL with the sentence. */
int cli_args_check(const struct cli_command *c, const struct cli_options *o, size_t args,
		   char ret_fault[CLI_FAULT_MAX]);

/* Whether the option ("-o", "--lb") is followed by a value. */
bool cli_args_takes_value(const char *option);

/* The options that a command takes (NULL: those of all commands), by index; "" is none of them, NULL the end. */
const char *cli_args_option(const struct cli_command *c, size_t index);

/* "GROUP/SERVER" → two names. 0 or -EINVAL. */
#define CLI_NAME_MAX 64
int cli_args_split(const char *text, char ret_first[CLI_NAME_MAX], char ret_second[CLI_NAME_MAX]);

#endif
