// SPDX-License-Identifier: GPL-2.0-or-later
// Options and arguments. Pure but for getopt and the environment.
#include "cli/cli_args.h"

#include "base/mem.h"
#include "base/nearest.h"
#include "cli/cli_escape.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLI_SOCKET    "/run/zonegate/api.sock"
#define CLI_SPAN_MAX  (366 * 86400 * USEC_PER_SEC)
#define CLI_SINCE_MAX (7ULL * 86400 * USEC_PER_SEC)

enum {
	LONG_SOCKET = 256,
	LONG_SERVER,
	LONG_TOKEN_FILE,
	LONG_CA,
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
	LONG_TIMEOUT,
	LONG_WAIT,
	LONG_RESET,
	LONG_WATCH,
	LONG_ROLE,
	LONG_USER,
	LONG_PASSWORD_FILE,
	LONG_SOURCE,
	LONG_WITHIN,
	LONG_LIMIT,
	LONG_FOLLOW,
	LONG_SINCE,
	LONG_VERSION
};

static const struct option cli_long_options[] = {
	{"socket", required_argument, NULL, LONG_SOCKET},
	{"server", required_argument, NULL, LONG_SERVER},
	{"token-file", required_argument, NULL, LONG_TOKEN_FILE},
	{"ca", required_argument, NULL, LONG_CA},
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
	{"timeout", required_argument, NULL, LONG_TIMEOUT},
	{"wait", no_argument, NULL, LONG_WAIT},
	{"reset", no_argument, NULL, LONG_RESET},
	{"watch", no_argument, NULL, LONG_WATCH},
	{"role", required_argument, NULL, LONG_ROLE},
	{"user", required_argument, NULL, LONG_USER},
	{"password-file", required_argument, NULL, LONG_PASSWORD_FILE},
	{"source", required_argument, NULL, LONG_SOURCE},
	{"confirm-within", required_argument, NULL, LONG_WITHIN},
	{"limit", required_argument, NULL, LONG_LIMIT},
	{"follow", no_argument, NULL, LONG_FOLLOW},
	{"since", required_argument, NULL, LONG_SINCE},
	{"data", required_argument, NULL, 'd'},
	{"header", required_argument, NULL, 'H'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, LONG_VERSION},
	{NULL, 0, NULL, 0},
};

/* Options that only some commands take. */
struct cli_special {
	int letter;
	unsigned bit;
	const char *name;
	size_t offset; /* of a text in the options, or */
	bool flag;     /* of a bool */
};

static const struct cli_special cli_specials[] = {
	{'f', OPTION_FILE, "-f", offsetof(struct cli_options, file), false},
	{'d', OPTION_DATA, "-d", offsetof(struct cli_options, data), false},
	{LONG_COMMENT, OPTION_COMMENT, "--comment", offsetof(struct cli_options, comment), false},
	{LONG_DRY_RUN, OPTION_DRY_RUN, "--dry-run", offsetof(struct cli_options, dry_run), true},
	{LONG_FOREIGN, OPTION_FOREIGN, "--foreign", offsetof(struct cli_options, foreign), true},
	{LONG_LB, OPTION_LB, "--lb", offsetof(struct cli_options, lb), false},
	{LONG_ALL, OPTION_ALL, "--all", offsetof(struct cli_options, all), true},
	{LONG_FOR, OPTION_FOR, "--for", offsetof(struct cli_options, expires), false},
	{LONG_EVACUATE, OPTION_EVACUATE, "--evacuate-servers",
	 offsetof(struct cli_options, evacuate), true},
	{LONG_FORCE, OPTION_FORCE, "--force", offsetof(struct cli_options, force), true},
	{LONG_TYPE, OPTION_TYPE, "--type", offsetof(struct cli_options, type), false},
	{LONG_CLIENT, OPTION_CLIENT, "--client", offsetof(struct cli_options, client), false},
	{LONG_TIMEOUT, OPTION_TIMEOUT, "--timeout", offsetof(struct cli_options, timeout), false},
	{LONG_WAIT, OPTION_WAIT, "--wait", offsetof(struct cli_options, wait), true},
	{LONG_RESET, OPTION_RESET, "--reset", offsetof(struct cli_options, reset), true},
	{LONG_WATCH, OPTION_WATCH, "--watch", offsetof(struct cli_options, watch), true},
	{LONG_ROLE, OPTION_ROLE, "--role", offsetof(struct cli_options, role), false},
	{LONG_USER, OPTION_USER, "--user", offsetof(struct cli_options, user), false},
	{LONG_PASSWORD_FILE, OPTION_PASSWORD_FILE, "--password-file",
	 offsetof(struct cli_options, password_file), false},
	{LONG_WITHIN, OPTION_WITHIN, "--confirm-within",
	 offsetof(struct cli_options, confirm_within), false},
	{LONG_LIMIT, OPTION_LIMIT, "--limit", offsetof(struct cli_options, limit), false},
	{LONG_FOLLOW, OPTION_FOLLOW, "--follow", offsetof(struct cli_options, follow), true},
	{LONG_SINCE, OPTION_SINCE, "--since", offsetof(struct cli_options, since), false},
	/* Taken elsewhere; here for their names. */
	{-1, OPTION_HEADER, "-H", 0, false},
	{-1, OPTION_SOURCE, "--source", 0, false},
	{-1, OPTION_SERVERS, "more than one --server", 0, false},
};
#define CLI_SPECIALS (sizeof(cli_specials) / sizeof(cli_specials[0]))

static const char *cli_args_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static int cli_args_set_format(struct cli_options *o, char ret_fault[CLI_FAULT_MAX])
{
	static const char *const names[] = {[FORMAT_TABLE] = "table",
					    [FORMAT_JSON] = "json",
					    [FORMAT_JSONL] = "jsonl",
					    [FORMAT_NAME] = "name"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(optarg, names[i]) != 0)
			continue;
		o->format = (enum cli_format)i;
		return 0;
	}
	snprintf(ret_fault, CLI_FAULT_MAX, "-o: \"%s\" is none of table, json, jsonl, name",
		 optarg);
	return -EINVAL;
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

/* Options of some commands only. Returns false if `c` is none of them. */
static bool cli_args_take_special(int c, struct cli_options *o)
{
	for (size_t i = 0; i < CLI_SPECIALS; i++) {
		const struct cli_special *s = &cli_specials[i];
		char *at = (char *)o + s->offset;

		if (s->letter != c)
			continue;
		if (s->flag)
			*(bool *)at = true;
		else
			memcpy(at, &optarg, sizeof(optarg));
		o->given |= s->bit;
		return true;
	}
	return false;
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

static int cli_args_add_source(struct cli_options *o, char ret_fault[CLI_FAULT_MAX])
{
	if (o->source_count == CLI_SOURCES_MAX) {
		snprintf(ret_fault, CLI_FAULT_MAX, "at most %d times --source", CLI_SOURCES_MAX);
		return -EINVAL;
	}
	o->sources[o->source_count++] = optarg;
	o->given |= OPTION_SOURCE;
	return 0;
}

/* With the one that was meant, if it was mistyped. */
static void cli_args_say_unknown(const char *typed, char ret_fault[CLI_FAULT_MAX])
{
	const char *names[sizeof(cli_long_options) / sizeof(cli_long_options[0])];
	const size_t count = sizeof(names) / sizeof(names[0]);
	size_t length = strcspn(typed, "=");
	const char *nearest = NULL;

	for (size_t i = 0; i < count; i++)
		names[i] = cli_long_options[i].name;
	if (strncmp(typed, "--", 2) == 0) {
		AUTO_FREE char *name = mem_printf("%.*s", (int)length - 2, typed + 2);

		nearest = nearest_find(name, names, count);
	}
	if (typed[0] == '-' && typed[1] >= '0' && typed[1] <= '9') {
		snprintf(ret_fault, CLI_FAULT_MAX,
			 "%.40s is taken for an option, of which there is none; no number here is "
			 "below 0",
			 typed);
		return;
	}
	snprintf(ret_fault, CLI_FAULT_MAX, "there is no option %.*s%s%s%s", (int)length, typed,
		 nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
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
	case LONG_CA:
		o->ca = optarg;
		return 0;
	case 'o':
		return cli_args_set_format(o, ret_fault);
	case LONG_SOURCE:
		return cli_args_add_source(o, ret_fault);
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
		cli_args_say_unknown(argv[optind - 1], ret_fault);
		return -EINVAL;
	}
}

int cli_args_read_span(const char *text, usec_t *ret_span)
{
	if (strcmp(text, "0") != 0 && strcmp(text, "0s") != 0)
		return time_parse_span(text, CLI_SPAN_MAX, ret_span);
	*ret_span = 0;
	return 0;
}

char *cli_args_read_since(const char *name, const char *text)
{
	char buf[TIME_TEXT_MAX];
	usec_t span;
	usec_t wall;

	if (time_parse_span(text, CLI_SINCE_MAX, &span) == 0)
		return mem_strdup(time_format_wall(time_wall() - span, buf));
	if (time_parse_wall(text, &wall) == 0)
		return mem_strdup(text);
	fprintf(stderr,
		"zonegate: %s \"%s\": a time as 2026-01-02T03:04:05.678Z, or 90s, 30m, 1h30m, 3d "
		"of up to 7 days are expected\n",
		name, text);
	return NULL;
}

/* Only --timeout may be 0: now. */
static int cli_args_check_span(const char *name, const char *text, char ret_fault[CLI_FAULT_MAX])
{
	const bool may_be_none = strcmp(name, "--timeout") == 0;
	usec_t span = 0;

	if (!text || (cli_args_read_span(text, &span) == 0 && (span || may_be_none)))
		return 0;
	if (*text && !text[strspn(text, "0123456789")] && strspn(text, "0") < strlen(text))
		snprintf(ret_fault, CLI_FAULT_MAX,
			 "%s \"%.40s\": the unit is missing: %.40ss, %.40sm, %.40sh or %.40sd",
			 name, text, text, text, text, text);
	else
		snprintf(ret_fault, CLI_FAULT_MAX,
			 "%s \"%.40s\": a time as 90s, 30m, 1h30m or 3d is expected%s", name, text,
			 may_be_none ? ", or 0" : "");
	return -EINVAL;
}

/* Errors tell what was typed. Newlines and tabs may stand in JSON, and bytes that are no UTF-8 in the name of a file. */
static bool cli_args_is_harmless(const char *text)
{
	const size_t size = strlen(text);
	size_t length;

	for (size_t i = 0; i < size; i += length)
		if (cli_escape_needed(text + i, size - i, &length) && text[i] != '\n' &&
		    text[i] != '\t' && (length > 1 || (signed char)text[i] >= 0))
			return false;
	return true;
}

int cli_args_parse(int argc, char **argv, struct cli_options *ret_options,
		   char ret_fault[CLI_FAULT_MAX])
{
	struct cli_options o = {
		.socket = cli_args_environment("ZONEGATE_SOCKET", CLI_SOCKET),
		.server = cli_args_environment("ZONEGATE_SERVER", NULL),
		.token_file = cli_args_environment("ZONEGATE_TOKEN_FILE", NULL),
		.ca = cli_args_environment("ZONEGATE_CA", NULL),
	};
	int c;

	for (int i = 1; i < argc; i++) {
		if (cli_args_is_harmless(argv[i]))
			continue;
		snprintf(ret_fault, CLI_FAULT_MAX,
			 "argument %d holds what controls a terminal: leave it out", i);
		return -EINVAL;
	}
	optind = 0;
	while ((c = getopt_long(argc, argv, ":o:f:d:H:h", cli_long_options, NULL)) >= 0) {
		if (!cli_args_take_special(c, &o) && cli_args_take(c, argv, &o, ret_fault))
			return -EINVAL;
	}
	o.args = argv + optind;
	o.arg_count = (size_t)(argc - optind);
	if (cli_args_check_span("--for", o.expires, ret_fault) ||
	    cli_args_check_span("--timeout", o.timeout, ret_fault) ||
	    cli_args_check_span("--confirm-within", o.confirm_within, ret_fault))
		return -EINVAL;
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

bool cli_args_takes_value(const char *option)
{
	if (option[0] == '-' && option[1] && !option[2])
		return strchr("ofdH", option[1]) != NULL;
	if (strncmp(option, "--", 2) != 0)
		return false;
	for (const struct option *l = cli_long_options; l->name; l++) {
		if (strcmp(l->name, option + 2) == 0)
			return l->has_arg == required_argument;
	}
	return false;
}

const char *cli_args_option(const struct cli_command *c, size_t index)
{
	static const char *const common[] = {"--socket", "--server", "--token-file", "--ca",
					     "-o",       "--help",   "--version"};
	const size_t count = sizeof(common) / sizeof(common[0]);

	if (index < count)
		return common[index];
	index -= count;
	if (!c || index >= CLI_SPECIALS)
		return NULL;
	return (c->options & cli_specials[index].bit) && cli_specials[index].name[0] == '-'
		       ? cli_specials[index].name
		       : "";
}

int cli_args_check(const struct cli_command *c, const struct cli_options *o, size_t args,
		   char ret_fault[CLI_FAULT_MAX])
{
	unsigned foreign = o->given & ~c->options;

	for (size_t i = 0; i < CLI_SPECIALS; i++) {
		if (foreign & cli_specials[i].bit) {
			snprintf(ret_fault, CLI_FAULT_MAX, "this command does not take %s",
				 cli_specials[i].name);
			return -EINVAL;
		}
	}
	if (args >= c->min_args && args <= c->max_args)
		return 0;
	if (!c->args[0])
		snprintf(ret_fault, CLI_FAULT_MAX, "this command takes no arguments");
	else
		snprintf(ret_fault, CLI_FAULT_MAX, "%s arguments; it takes: %s",
			 args < c->min_args ? "too few" : "too many", c->args);
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
