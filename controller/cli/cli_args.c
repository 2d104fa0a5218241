// SPDX-License-Identifier: GPL-2.0-or-later
// Options and arguments. Pure but for getopt and the environment.
#include "cli/cli_args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLI_SOCKET "/run/zonegate/api.sock"

enum {
	LONG_SOCKET = 256,
	LONG_SERVER,
	LONG_TOKEN_FILE,
	LONG_COMMENT,
	LONG_DRY_RUN,
	LONG_FOREIGN,
	LONG_LB,
	LONG_ALL,
	LONG_FOR,
	LONG_EVACUATE,
	LONG_FORCE,
	LONG_TYPE,
	LONG_CLIENT,
	LONG_VERSION
};

static const struct option cli_long_options[] = {
	{"socket", required_argument, NULL, LONG_SOCKET},
	{"server", required_argument, NULL, LONG_SERVER},
	{"token-file", required_argument, NULL, LONG_TOKEN_FILE},
	{"output", required_argument, NULL, 'o'},
	{"file", required_argument, NULL, 'f'},
	{"comment", required_argument, NULL, LONG_COMMENT},
	{"dry-run", no_argument, NULL, LONG_DRY_RUN},
	{"foreign", no_argument, NULL, LONG_FOREIGN},
	{"lb", required_argument, NULL, LONG_LB},
	{"all", no_argument, NULL, LONG_ALL},
	{"for", required_argument, NULL, LONG_FOR},
	{"evacuate-servers", no_argument, NULL, LONG_EVACUATE},
	{"force", no_argument, NULL, LONG_FORCE},
	{"type", required_argument, NULL, LONG_TYPE},
	{"client", required_argument, NULL, LONG_CLIENT},
	{"data", required_argument, NULL, 'd'},
	{"header", required_argument, NULL, 'H'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, LONG_VERSION},
	{NULL, 0, NULL, 0},
};

static const char *const cli_option_names[] = {"-f",        "--comment",
					       "--dry-run", "--foreign",
					       "-d",        "-H",
					       "--lb",      "--all",
					       "--for",     "--evacuate-servers",
					       "--force",   "--type",
					       "--client",  "more than one --server"};

static const char *cli_args_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static int cli_args_set_format(struct cli_options *o, char ret_fault[CLI_FAULT_MAX])
{
	if (strcmp(optarg, "json") == 0)
		o->format = FORMAT_JSON;
	else if (strcmp(optarg, "table") == 0)
		o->format = FORMAT_TABLE;
	else {
		snprintf(ret_fault, CLI_FAULT_MAX, "-o: \"%s\" is neither table nor json", optarg);
		return -EINVAL;
	}
	return 0;
}

static int cli_args_add_header(struct cli_options *o, char ret_fault[CLI_FAULT_MAX])
{
	if (o->header_count == CLI_HEADERS_MAX || !strchr(optarg, ':')) {
		snprintf(ret_fault, CLI_FAULT_MAX,
			 "-H: \"%s\" is no \"Name: value\", or one too many", optarg);
		return -EINVAL;
	}
	o->headers[o->header_count++] = optarg;
	o->given |= OPTION_HEADER;
	return 0;
}

/* A flag or a text of some commands, and the bit that says it was given. */
static bool cli_args_note(struct cli_options *o, unsigned bit, const char **ret_text,
			  bool *ret_flag)
{
	if (ret_text)
		*ret_text = optarg;
	if (ret_flag)
		*ret_flag = true;
	o->given |= bit;
	return true;
}

/* Options of zones and DNS. Returns false if `c` is none of them. */
static bool cli_args_take_zone(int c, struct cli_options *o)
{
	switch (c) {
	case LONG_LB:
		return cli_args_note(o, OPTION_LB, &o->lb, NULL);
	case LONG_ALL:
		return cli_args_note(o, OPTION_ALL, NULL, &o->all);
	case LONG_FOR:
		return cli_args_note(o, OPTION_FOR, &o->expires, NULL);
	case LONG_EVACUATE:
		return cli_args_note(o, OPTION_EVACUATE, NULL, &o->evacuate);
	case LONG_FORCE:
		return cli_args_note(o, OPTION_FORCE, NULL, &o->force);
	case LONG_TYPE:
		return cli_args_note(o, OPTION_TYPE, &o->type, NULL);
	case LONG_CLIENT:
		return cli_args_note(o, OPTION_CLIENT, &o->client, NULL);
	default:
		return false;
	}
}

/* Options of some commands only. Returns false if `c` is none of them. */
static bool cli_args_take_special(int c, struct cli_options *o)
{
	switch (c) {
	case 'f':
		return cli_args_note(o, OPTION_FILE, &o->file, NULL);
	case 'd':
		return cli_args_note(o, OPTION_DATA, &o->data, NULL);
	case LONG_COMMENT:
		return cli_args_note(o, OPTION_COMMENT, &o->comment, NULL);
	case LONG_DRY_RUN:
		return cli_args_note(o, OPTION_DRY_RUN, NULL, &o->dry_run);
	case LONG_FOREIGN:
		return cli_args_note(o, OPTION_FOREIGN, NULL, &o->foreign);
	default:
		return cli_args_take_zone(c, o);
	}
}

/* One of several nodes, or of their token files. */
static int cli_args_add_server(const char *list[CLI_SERVERS_MAX], size_t *count,
			       char ret_fault[CLI_FAULT_MAX])
{
	if (*count == CLI_SERVERS_MAX) {
		snprintf(ret_fault, CLI_FAULT_MAX, "at most %d servers", CLI_SERVERS_MAX);
		return -EINVAL;
	}
	list[(*count)++] = optarg;
	return 0;
}

static int cli_args_take(int c, char *const *argv, struct cli_options *o,
			 char ret_fault[CLI_FAULT_MAX])
{
	switch (c) {
	case LONG_SOCKET:
		o->socket = optarg;
		o->server = NULL;
		o->server_count = 0;
		return 0;
	case LONG_SERVER:
		o->server = optarg;
		o->given |= o->server_count ? OPTION_SERVERS : 0;
		return cli_args_add_server(o->servers, &o->server_count, ret_fault);
	case LONG_TOKEN_FILE:
		o->token_file = optarg;
		return cli_args_add_server(o->token_files, &o->token_count, ret_fault);
	case 'o':
		return cli_args_set_format(o, ret_fault);
	case 'H':
		return cli_args_add_header(o, ret_fault);
	case 'h':
		o->help = true;
		return 0;
	case LONG_VERSION:
		o->version = true;
		return 0;
	case ':':
		snprintf(ret_fault, CLI_FAULT_MAX, "%s needs a value", argv[optind - 1]);
		return -EINVAL;
	default:
		snprintf(ret_fault, CLI_FAULT_MAX, "there is no option %s", argv[optind - 1]);
		return -EINVAL;
	}
}

int cli_args_parse(int argc, char **argv, struct cli_options *ret_options,
		   char ret_fault[CLI_FAULT_MAX])
{
	struct cli_options o = {
		.socket = cli_args_environment("ZONEGATE_SOCKET", CLI_SOCKET),
		.server = cli_args_environment("ZONEGATE_SERVER", NULL),
		.token_file = cli_args_environment("ZONEGATE_TOKEN_FILE", NULL),
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, ":o:f:d:H:h", cli_long_options, NULL)) >= 0) {
		if (!cli_args_take_special(c, &o) && cli_args_take(c, argv, &o, ret_fault))
			return -EINVAL;
	}
	o.args = argv + optind;
	o.arg_count = (size_t)(argc - optind);
	*ret_options = o;
	return 0;
}

const struct cli_command *cli_args_find(const struct cli_command *table, size_t count,
					const struct cli_options *o, size_t *ret_words)
{
	for (size_t i = 0; i < count; i++) {
		const struct cli_command *c = &table[i];
		size_t words = c->words[1] ? 2 : 1;

		if (o->arg_count < words || strcmp(c->words[0], o->args[0]) != 0)
			continue;
		if (words == 2 && strcmp(c->words[1], o->args[1]) != 0)
			continue;
		*ret_words = words;
		return c;
	}
	return NULL;
}

int cli_args_check(const struct cli_command *c, const struct cli_options *o, size_t args,
		   char ret_fault[CLI_FAULT_MAX])
{
	unsigned foreign = o->given & ~c->options;

	for (size_t i = 0; i < sizeof(cli_option_names) / sizeof(cli_option_names[0]); i++) {
		if (foreign & 1U << i) {
			snprintf(ret_fault, CLI_FAULT_MAX, "this command does not take %s",
				 cli_option_names[i]);
			return -EINVAL;
		}
	}
	if (args >= c->min_args && args <= c->max_args)
		return 0;
	snprintf(ret_fault, CLI_FAULT_MAX, "%s arguments; it takes: %s",
		 args < c->min_args ? "too few" : "too many", c->args[0] ? c->args : "none");
	return -EINVAL;
}

int cli_args_split(const char *text, char ret_first[CLI_NAME_MAX], char ret_second[CLI_NAME_MAX])
{
	const char *slash = strchr(text, '/');

	if (!slash || slash == text || !slash[1] || slash - text >= CLI_NAME_MAX ||
	    strlen(slash + 1) >= CLI_NAME_MAX)
		return -EINVAL;
	memcpy(ret_first, text, (size_t)(slash - text));
	ret_first[slash - text] = '\0';
	strcpy(ret_second, slash + 1);
	return 0;
}
