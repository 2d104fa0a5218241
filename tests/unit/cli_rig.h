/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command of the CLI against the API rig and keeps what it printed. */
#ifndef ZG_TESTS_CLI_RIG_H
#define ZG_TESTS_CLI_RIG_H

#include "api_rig.h"

#include "base/log.h"
#include "cli/cli_client.h"
#include "cli/cli_commands.h"

struct outcome {
	enum cli_exit exit;
	char *out;
	char *err;
	json_t *json; /* of `out`, or NULL */
};

static inline void outcome_clear(struct outcome *o)
{
	free(o->out);
	free(o->err);
	json_decref(o->json);
	*o = (struct outcome){0};
}
#define AUTO_OUTCOME __attribute__((cleanup(outcome_clear)))

static inline char *cli_rig_take(FILE *f)
{
	char *text = mem_alloc(1 << 20);

	rewind(f);
	text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
	fclose(f);
	return text;
}

/* `words` end with NULL: the command's words and arguments; `skip` of them are the command. */
static inline struct outcome cli_rig_run(const struct rig *rig,
					 enum cli_exit (*command)(struct cli *cli), size_t skip,
					 const struct cli_options *options,
					 const char *const *words)
{
	struct cli cli = {.options = *options, .unicode = true};
	FILE *out = tmpfile(), *err = tmpfile();
	int old_out, old_err;
	struct outcome o;
	char *args[16] = {NULL};
	size_t count = 0;

	for (; words[count]; count++)
		args[count] = mem_strdup(words[count]);
	cli.options.socket = rig->socket;
	cli.options.args = args;
	cli.options.arg_count = count;
	cli.args = args + skip;
	cli.arg_count = count - skip;
	log_set_level(LOG_LEVEL_ERROR);
	fflush(stdout);
	old_out = dup(STDOUT_FILENO);
	old_err = dup(STDERR_FILENO);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	cli.client = cli_client_new(&cli.options);
	o.exit = command(&cli);
	cli_client_free(cli.client);
	fflush(stdout);
	dup2(old_out, STDOUT_FILENO);
	dup2(old_err, STDERR_FILENO);
	close(old_out);
	close(old_err);
	for (size_t i = 0; i < count; i++)
		free(args[i]);
	o.out = cli_rig_take(out);
	o.err = cli_rig_take(err);
	o.json = json_loads(o.out, 0, NULL);
	return o;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct cli_ask {
	enum cli_exit (*command)(struct cli *cli);
	size_t skip;
	const struct cli_options *options;
	const char *const *words;
};

/* Runs it; it ends so, and says all of this (NULL: whatever). */
static inline void cli_rig_expect(const struct rig *rig, const struct cli_ask *ask,
				  enum cli_exit expected, const char *out)
{
	AUTO_OUTCOME struct outcome o = cli_rig_run(rig, ask->command, ask->skip, ask->options,
						    ask->words);

	if (o.exit != expected)
		fail_msg("%s %s ended with %d: %s%s", ask->words[0],
			 ask->words[1] ? ask->words[1] : "", (int)o.exit, o.out, o.err);
	if (out)
		assert_string_equal(o.out, out);
}

/* With the document. */
static inline void cli_rig_begin(struct rig *rig)
{
	rig_start(rig, 0);
	rig_load(rig);
}

/* "zone set za description=x" and the like: it is done. */
static inline void cli_rig_set(const struct rig *rig, const char *const *words)
{
	static const struct cli_options none;

	cli_rig_expect(rig, &(struct cli_ask){cli_object_set, 2, &none, words}, EXIT_OK, NULL);
}

static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in: %s", part, text);
}

#endif
