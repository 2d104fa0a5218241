/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every command gets and gives back. */
#ifndef ZG_CLI_CLI_H
#define ZG_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

enum cli_exit {
	EXIT_OK = 0,
	EXIT_NEGATIVE = 1,    /* the question was answered with no */
	EXIT_DIFFERENCES = 2, /* config diff, dry runs: something would change */
	EXIT_INVALID = 3,
	EXIT_CONFLICT = 4,
	EXIT_NOT_ALLOWED = 5,
	EXIT_NOT_FOUND = 6,
	EXIT_UNREACHABLE = 7,
	EXIT_USAGE = 64,
};

/* Commands know the first two; the others are made of JSON when they have ended. */
enum cli_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_JSONL, FORMAT_NAME };

#define CLI_HEADERS_MAX 16
#define CLI_SERVERS_MAX 16
#define CLI_SOURCES_MAX 16

/* The command line, taken apart. Strings are borrowed from argv or the environment. */
struct cli_options {
	const char *socket;
	const char *server; /* NULL: the socket */
	const char *token_file;
	const char *ca; /* --ca: PEM file; NULL: the system's */
	bool quick;     /* an answer that does not come at once is not waited for */
	const char *servers[CLI_SERVERS_MAX]; /* all that were given */
	size_t server_count;
	const char *token_files[CLI_SERVERS_MAX]; /* one for all, or one for each */
	size_t token_count;
	enum cli_format format;
	const char *file; /* -f; "-" = standard input */
	const char *comment;
	const char *data; /* -d; "@FILE", "@-" */
	const char *headers[CLI_HEADERS_MAX];
	size_t header_count;
	bool dry_run;
	bool foreign;
	const char *lb;      /* --lb */
	const char *expires; /* --for */
	const char *type;
	const char *client;
	bool all;
	bool evacuate;
	bool force;
	const char *timeout; /* --timeout */
	bool wait;
	bool reset;
	bool watch;
	const char *role; /* --role */
	const char *user; /* --user */
	const char *password_file;
	const char *sources[CLI_SOURCES_MAX]; /* --source */
	size_t source_count;
	const char *confirm_within; /* --confirm-within */
	const char *limit;
	bool follow;
	const char *since;
	bool help;
	bool version;
	unsigned given;    /* OPTION_… that were given */
	unsigned taken;    /* OPTION_… that the command takes */
	char *const *args; /* words of the command and after it */
	size_t arg_count;
};

struct cli_client;

struct cli {
	struct cli_options options;
	struct cli_client *client;
	bool color;
	bool unicode;
	char *const *args; /* after the words of the command */
	size_t arg_count;
};

#endif
