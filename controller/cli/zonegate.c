// SPDX-License-Identifier: GPL-2.0-or-later
// zonegate: the command line of the daemon's API. Decides nothing; asks, and shows what is answered.
#include "base/mem.h"
#include "base/nearest.h"
#include "cli/cli_args.h"
#include "cli/cli_client.h"
#include "cli/cli_commands.h"
#include "cli/cli_complete.h"
#include "cli/cli_format.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRINTED_MAX (1U << 30)

static void print_exit_codes(void)
{
	printf("\nEnds with 0 ok, 1 negative answer, 2 differences, 3 invalid, 4 conflict, 5 not allowed,\n"
	       "6 not found, 7 daemon not reachable, 64 usage.\n");
}

/* With a `first` word that begins commands, those alone. */
static void print_help(const struct cli_command *commands, size_t count, const char *first)
{
	size_t found = 0;

	for (size_t i = 0; first && i < count; i++)
		found += strcmp(commands[i].words[0], first) == 0;
	printf("Usage: zonegate [OPTIONS] COMMAND\n\nCommands (`zonegate COMMAND --help` tells more):\n");
	for (size_t i = 0; i < count; i++) {
		if (found > 0 && strcmp(commands[i].words[0], first) != 0)
			continue;
		if (commands[i].words[1])
			printf("  %-8s %-17s  %s\n", commands[i].words[0], commands[i].words[1],
			       commands[i].summary);
		else
			printf("  %-26s  %s\n", commands[i].words[0], commands[i].summary);
	}
	printf("\nOptions:\n"
	       "  --socket PATH      the daemon's socket (ZONEGATE_SOCKET; /run/zonegate/api.sock)\n"
	       "  --server URL       the daemon's address instead (ZONEGATE_SERVER): https://HOST:PORT; several for zone shift, return, extend\n"
	       "  --token-file FILE  its token, for --server (ZONEGATE_TOKEN_FILE); once for all, or once for each --server\n"
	       "  --ca FILE          certificates to trust with https (ZONEGATE_CA); else the system's\n"
	       "  -o, --output table|json|jsonl|name\n"
	       "  -h, --help\n"
	       "  --version\n");
	print_exit_codes();
}

static void print_command_help(const struct cli_command *c)
{
	const char *gap = c->words[1] ? " " : "", *second = c->words[1] ? c->words[1] : "";

	printf("Usage: zonegate [OPTIONS] %s%s%s%s%s\n\n%s%s%s: %s\n", c->words[0], gap, second,
	       c->args[0] ? " " : "", c->args, c->words[0], gap, second, c->summary);
	if (c->help)
		printf("%s\n", c->help);
	print_exit_codes();
}

/* `c`: the command that was used wrongly, or NULL. */
static enum cli_exit say_usage(const char *fault, const struct cli_command *c)
{
	const char *second = c && c->words[1] ? c->words[1] : "";

	fprintf(stderr, "zonegate: %s\nTry `zonegate %s%s%s%s--help`.\n", fault,
		c ? c->words[0] : "", c ? " " : "", second, *second ? " " : "");
	return EXIT_USAGE;
}

/* What was meant, if it was mistyped: the first word, or the `second` one after it. */
static void say_nearest(const struct cli_command *commands, size_t count,
			const struct cli_options *o, size_t second)
{
	AUTO_FREE const char **words = NULL;
	const char *nearest;

	if (o->arg_count <= second)
		return;
	words = mem_alloc_array(count, sizeof(*words));
	for (size_t i = 0; i < count; i++) {
		if (!second || strcmp(commands[i].words[0], o->args[0]) == 0)
			words[i] = commands[i].words[second];
	}
	nearest = nearest_find(o->args[second], words, count);
	if (nearest)
		fprintf(stderr, "Did you mean \"%s%s%s\"?\n", second ? o->args[0] : "",
			second ? " " : "", nearest);
}

/* Commands whose first words were given, for who left the rest out; else all first words. */
static enum cli_exit say_unknown(const struct cli_command *commands, size_t count,
				 const struct cli_options *o)
{
	char second[CLI_FAULT_MAX] = "", first[CLI_FAULT_MAX] = "";
	size_t at = 0, all = 0;

	for (size_t i = 0; i < count && at < sizeof(second) && all < sizeof(first); i++) {
		const char *word = commands[i].words[0];

		if (strcmp(word, o->args[0]) == 0)
			at += (size_t)snprintf(second + at, sizeof(second) - at, "%s %s",
					       at ? "," : "", commands[i].words[1]);
		if (i == 0 || strcmp(word, commands[i - 1].words[0]) != 0)
			all += (size_t)snprintf(first + all, sizeof(first) - all, "%s %s",
						all ? "," : "", word);
	}
	if (at > 0)
		fprintf(stderr, "zonegate: after \"%s\" comes one of%s\n", o->args[0], second);
	else
		fprintf(stderr, "zonegate: there is no command \"%s\"; there are%s\n", o->args[0],
			first);
	say_nearest(commands, count, o, at > 0 ? 1 : 0);
	fprintf(stderr, "Try `zonegate --help`.\n");
	return EXIT_USAGE;
}

/* The words of the command name the parent whose children it lists. */
static bool lists_children(const struct cli *cli)
{
	const char *first = cli->options.args[0];

	return cli->arg_count == 1 && cli->options.arg_count == 3 &&
	       strcmp(cli->options.args[1], "list") == 0 &&
	       (strcmp(first, "listener") == 0 || strcmp(first, "lb-zone") == 0);
}

static bool print_formatted(const struct cli_format_wish *wish, const char *text, size_t size)
{
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, PRINTED_MAX);
	bool named = cli_format_write(wish, text, size, &w);

	fwrite(w.data, 1, w.size, stdout);
	return named;
}

/* -o jsonl and name are made of what the command prints as JSON. */
static enum cli_exit run_formatted(const struct cli_command *c, struct cli *cli)
{
	const struct cli_format_wish wish = {
		.format = cli->options.format,
		.asked = cli->arg_count > 0 ? cli->args[0] : NULL,
		.parent = lists_children(cli) ? cli->args[0] : NULL,
	};
	FILE *screen = stdout, *kept;
	enum cli_exit result;
	char *text = NULL;
	size_t size = 0;

	if (wish.format == FORMAT_TABLE || wish.format == FORMAT_JSON || cli->options.follow)
		return c->run(cli);
	cli->options.format = FORMAT_JSON;
	kept = open_memstream(&text, &size);
	assert(kept);
	stdout = kept;
	result = c->run(cli);
	stdout = screen;
	fclose(kept);
	if (!print_formatted(&wish, text, size)) {
		fprintf(stderr, "zonegate: -o name: what this command tells has no name; "
				"-o json has all of it\n");
		result = EXIT_USAGE;
	}
	free(text);
	return result;
}

static enum cli_exit run(const struct cli_command *c, const struct cli_options *o, size_t words)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct cli cli = {
		.options = *o,
		.color = isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
			 !(term && strcmp(term, "dumb") == 0),
		.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.args = o->args + words,
		.arg_count = o->arg_count - words,
	};
	enum cli_exit result;

	cli.options.quick = c->run == cli_complete_run;
	cli.options.taken = c->options;
	if (c->run == cli_raw_version || c->run == cli_flush_run) /* needs no way to a daemon */
		return run_formatted(c, &cli);
	if (!cli.options.quick)
		cli_client_warn_of_tokens(o);
	cli.client = cli_client_new(&cli.options);
	if (!cli.client)
		return EXIT_USAGE;
	result = run_formatted(c, &cli);
	cli_client_free(cli.client);
	return result;
}

static enum cli_exit start(int argc, char **argv)
{
	AUTO_FREE struct cli_command *commands = NULL;
	size_t count;
	char fault[CLI_FAULT_MAX];
	const struct cli_command *c;
	struct cli_options o;
	size_t words = 0;

	commands = cli_commands_list(&count);
	setlocale(LC_CTYPE, "");
	if (cli_args_parse(argc, argv, &o, fault))
		return say_usage(fault, NULL);
	if (o.version)
		return cli_raw_version(&(struct cli){.options = o});
	c = o.arg_count ? cli_args_find(commands, count, &o, &words) : NULL;
	if (o.help && c)
		print_command_help(c);
	else if (o.help || (o.arg_count > 0 && strcmp(o.args[0], "help") == 0))
		print_help(commands, count, o.arg_count > 0 ? o.args[o.arg_count - 1] : NULL);
	else if (o.arg_count == 0)
		return say_usage("which command?", NULL);
	else if (!c)
		return say_unknown(commands, count, &o);
	else if (cli_args_check(c, &o, o.arg_count - words, fault))
		return say_usage(fault, c);
	else
		return run(c, &o, words);
	return EXIT_OK;
}

/* A copy of the configuration, or a token, that is not there is no success. */
static enum cli_exit end(enum cli_exit result)
{
	const bool failed = ferror(stdout) != 0;
	const char *reason = "not all of it was";

	if (fflush(stdout))
		reason = strerror(errno);
	else if (!failed)
		return result;
	fprintf(stderr, "zonegate: the output could not be written: %s\n", reason);
	return result == EXIT_OK || result == EXIT_DIFFERENCES ? EXIT_NEGATIVE : result;
}

int main(int argc, char **argv)
{
	return (int)end(start(argc, argv));
}
