// SPDX-License-Identifier: GPL-2.0-or-later
// Completion: words and options from the table of commands, names from the daemon, which is asked for a moment only.
#include "cli/cli_complete.h"

#include "base/mem.h"
#include "cli/cli_client.h"
#include "cli/cli_commands.h"
#include "cli/cli_format.h"
#include "cli/cli_print.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMPLETE_SIZE_MAX (1U << 20)

/* Lists that names come from. A form with a child is completed in two steps. */
static const struct {
	const char *form;
	const char *path;
	const char *child; /* collection below, or NULL */
} complete_lists[] = {
	{"LB", CLI_BASE "/load-balancers?view=config&limit=1000", NULL},
	{"GROUP", CLI_BASE "/server-groups?view=config&limit=1000", NULL},
	{"ZONE", CLI_BASE "/zones?view=config&limit=1000", NULL},
	{"LIST", CLI_BASE "/access-lists?limit=1000", NULL},
	{"LB/LISTENER", CLI_BASE "/load-balancers", "listeners"},
	{"LB/ZONE", CLI_BASE "/load-balancers", "zones"},
	{"GROUP/SERVER", CLI_BASE "/server-groups", "servers"},
	{"ID", CLI_BASE "/zone-shifts", NULL},
	{"USER", CLI_BASE "/users", NULL},
	{"TOKEN", CLI_BASE "/tokens", NULL},
	{"SESSION", CLI_BASE "/sessions", NULL},
};
#define COMPLETE_LISTS (sizeof(complete_lists) / sizeof(complete_lists[0]))

/* ---- where the cursor is ---------------------------------------------------------------------- */

/* The form of the argument at `index`: the word of the usage, without brackets, before any "|" of alternatives. */
static void cli_complete_form(const char *usage, size_t index, char ret_form[CLI_NAME_MAX])
{
	ret_form[0] = '\0';
	for (; *usage; usage += strspn(usage, " ")) {
		size_t length = strcspn(usage, " ");
		const char *word = usage + (*usage == '[');

		usage += length;
		if (*word == '-' || *word == '|') /* options and other ways follow */
			return;
		if (index-- > 0)
			continue;
		snprintf(ret_form, CLI_NAME_MAX, "%.*s", (int)strcspn(word, "| ]"), word);
		return;
	}
}

/* What the value of an option is. */
static enum complete_kind cli_complete_value(const char *option, const char *first,
					     struct complete_state *s)
{
	if (strcmp(option, "-o") == 0 || strcmp(option, "--output") == 0)
		return COMPLETE_FORMAT;
	if (strcmp(option, "--type") == 0 && first && strcmp(first, "dns") == 0)
		return COMPLETE_TYPE;
	if (strcmp(option, "--role") == 0)
		return COMPLETE_ROLE;
	if (strcmp(option, "--lb") != 0)
		return COMPLETE_NOTHING;
	strcpy(s->form, "LB");
	return COMPLETE_NAME;
}

static void cli_complete_place(const struct cli_command *table, size_t count, char *const *plain,
			       size_t plain_count, struct complete_state *s)
{
	const struct cli_options o = {.args = plain, .arg_count = plain_count};
	size_t words = 0;

	s->first = plain_count > 0 ? plain[0] : NULL;
	s->command = plain_count > 0 ? cli_args_find(table, count, &o, &words) : NULL;
	if (s->typed[0] == '-') {
		s->kind = COMPLETE_OPTION;
	} else if (!s->command) {
		s->kind = plain_count < 2 ? COMPLETE_WORD : COMPLETE_NOTHING;
	} else {
		cli_complete_form(s->command->args, plain_count - words, s->form);
		s->kind = s->form[0] ? COMPLETE_NAME : COMPLETE_NOTHING;
	}
}

void cli_complete_find(const struct cli_command *table, size_t count, char *const *words,
		       size_t word_count, struct complete_state *ret_state)
{
	AUTO_FREE char **plain = mem_alloc_array(word_count + 1, sizeof(*plain));
	struct complete_state s = {.kind = COMPLETE_NOTHING, .typed = ""};
	size_t plain_count = 0;

	for (size_t i = 0; i + 1 < word_count; i++) {
		if (words[i][0] != '-')
			plain[plain_count++] = words[i];
		else if (cli_args_takes_value(words[i]) && ++i + 1 == word_count)
			s.kind = cli_complete_value(words[i - 1], plain_count > 0 ? plain[0] : NULL,
						    &s);
	}
	s.typed = word_count > 0 ? words[word_count - 1] : "";
	if (word_count < 2 || !cli_args_takes_value(words[word_count - 2]))
		cli_complete_place(table, count, plain, plain_count, &s);
	*ret_state = s;
}

/* ---- candidates ------------------------------------------------------------------------------- */

static void cli_complete_offer(const struct complete_state *s, const char *text,
			       struct buf_writer *w)
{
	if (strncmp(text, s->typed, strlen(s->typed)) == 0)
		buf_write_format(w, "%s\n", text);
}

static void cli_complete_write_words(const struct cli_command *table, size_t count,
				     const struct complete_state *s, struct buf_writer *w)
{
	const char *last = "";

	for (size_t i = 0; i < count; i++) {
		const char *word = table[i].words[s->first ? 1 : 0];

		if ((s->first && strcmp(table[i].words[0], s->first) != 0) || !word ||
		    strcmp(word, last) == 0)
			continue;
		cli_complete_offer(s, word, w);
		last = word;
	}
}

const char *const cli_complete_roles[] = {"metrics", "viewer", "operator", "editor", "admin", NULL};

void cli_complete_write(const struct cli_command *table, size_t count,
			const struct complete_state *s, struct buf_writer *w)
{
	static const char *const formats[] = {"table", "json", "jsonl", "name"};
	static const char *const types[] = {"A", "AAAA"};
	const char *name;

	switch (s->kind) {
	case COMPLETE_WORD:
		cli_complete_write_words(table, count, s, w);
		break;
	case COMPLETE_OPTION:
		for (size_t i = 0; (name = cli_args_option(s->command, i)); i++)
			if (*name)
				cli_complete_offer(s, name, w);
		break;
	case COMPLETE_FORMAT:
		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
			cli_complete_offer(s, formats[i], w);
		break;
	case COMPLETE_TYPE:
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			cli_complete_offer(s, types[i], w);
		break;
	case COMPLETE_ROLE:
		for (size_t i = 0; cli_complete_roles[i]; i++)
			cli_complete_offer(s, cli_complete_roles[i], w);
		break;
	case COMPLETE_NAME:
	case COMPLETE_NOTHING:
		break;
	}
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Each item of the list at `path`, with `before` and `behind` its name. */
static void cli_complete_ask(struct cli *cli, const struct complete_state *s, const char *path,
			     const char *before, const char *behind)
{
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_BUF struct buf_writer w;
	const json_t *item;
	size_t i;

	cli_client_get(cli->client, path, &a);
	buf_writer_init(&w, COMPLETE_SIZE_MAX);
	json_array_foreach (json_object_get(a.json, "items"), i, item) {
		AUTO_FREE char *name = cli_format_name(item);
		AUTO_FREE char *whole = mem_printf("%s%s%s", before, name ? name : "", behind);

		if (name)
			cli_complete_offer(s, whole, &w);
	}
	fputs(buf_text(&w), stdout);
}

static void cli_complete_names(struct cli *cli, const struct complete_state *s)
{
	const char *slash = strchr(s->typed, '/');
	size_t i = 0;

	while (i < COMPLETE_LISTS && strcmp(complete_lists[i].form, s->form) != 0)
		i++;
	if (i == COMPLETE_LISTS)
		return;
	if (!complete_lists[i].child) {
		cli_complete_ask(cli, s, complete_lists[i].path, "", "");
	} else if (slash) {
		AUTO_FREE char *parent = mem_printf("%.*s", (int)(slash - s->typed), s->typed);
		AUTO_FREE char *escaped = cli_client_escape(parent);
		AUTO_FREE char *path = mem_printf("%s/%s/%s?view=config&limit=1000",
						  complete_lists[i].path, escaped,
						  complete_lists[i].child);
		AUTO_FREE char *before = mem_printf("%s/", parent);

		cli_complete_ask(cli, s, path, before, "");
	} else {
		AUTO_FREE char *path = mem_printf("%s?view=config&limit=1000",
						  complete_lists[i].path);

		cli_complete_ask(cli, s, path, "", "/");
	}
}

/* Its arguments are the words that were typed. */
enum cli_exit cli_complete_run(struct cli *cli)
{
	int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
	AUTO_FREE struct cli_command *table = NULL;
	AUTO_BUF struct buf_writer w;
	struct complete_state s;
	size_t count;

	table = cli_commands_list(&count);
	cli_complete_find(table, count, cli->args, cli->arg_count, &s);
	buf_writer_init(&w, COMPLETE_SIZE_MAX);
	cli_complete_write(table, count, &s, &w);
	fputs(buf_text(&w), stdout);
	/* A daemon that does not answer leaves the line as it is: nothing is printed into it. */
	if (quiet >= 0 && s.kind == COMPLETE_NAME) {
		dup2(quiet, STDERR_FILENO);
		cli_complete_names(cli, &s);
	}
	if (quiet >= 0)
		close(quiet);
	return EXIT_OK;
}

/* ---- scripts ---------------------------------------------------------------------------------- */

static const struct {
	const char *shell;
	const char *script;
} complete_scripts[] = {
	{"bash",
	 "# bash completion for zonegate\n"
	 "_zonegate()\n"
	 "{\n"
	 "\tlocal line\n"
	 "\tCOMPREPLY=()\n"
	 "\twhile IFS= read -r line; do\n"
	 "\t\tCOMPREPLY+=(\"$line\")\n"
	 "\tdone < <(zonegate complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	 "\tif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace; fi\n"
	 "}\n"
	 "complete -o default -F _zonegate zonegate\n"},
	{"zsh",
	 "#compdef zonegate\n"
	 "local -a found\n"
	 "found=(\"${(@f)$(zonegate complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	 "found=(${found:#})\n"
	 "if (( $#found )); then\n"
	 "\tcompadd -S '' -- ${(M)found:#*/}\n"
	 "\tcompadd -- ${found:#*/}\n"
	 "else\n"
	 "\t_files\n"
	 "fi\n"},
	{"fish",
	 "# fish completion for zonegate\n"
	 "complete -c zonegate -f -a '(zonegate complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'\n"},
};

enum cli_exit cli_complete_script(struct cli *cli)
{
	for (size_t i = 0; i < sizeof(complete_scripts) / sizeof(complete_scripts[0]); i++) {
		if (strcmp(complete_scripts[i].shell, cli->args[0]) != 0)
			continue;
		fputs(complete_scripts[i].script, stdout);
		return EXIT_OK;
	}
	fprintf(stderr, "zonegate: completion is there for bash, zsh and fish\n");
	return EXIT_USAGE;
}
