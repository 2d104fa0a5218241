// SPDX-License-Identifier: GPL-2.0-or-later
// Output of commands.
#include "cli/cli_print.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_diff.h"
#include "cli/cli_escape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CLI_TEXT_MAX (256U * 1024 * 1024)
#define CLI_FILE_MAX (64U * 1024 * 1024)

const char *cli_print_text(const json_t *object, const char *member)
{
	const char *text = cli_escape_string(json_object_get(object, member));

	return text ? text : "";
}

json_int_t cli_print_number(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

bool cli_print_true(const json_t *object, const char *member)
{
	return json_is_true(json_object_get(object, member));
}

const char *cli_print_published(const struct cli *cli, const json_t *zone, char buf[CLI_STATE_MAX])
{
	const char *reason = cli_print_text(zone, "reason_code");
	const bool published = cli_print_true(zone, "published");
	enum cli_mood mood = published ? MOOD_GOOD : MOOD_BAD;
	const char *word = published ? "published" : "withdrawn";

	if (published && strcmp(reason, "fail_open") == 0) {
		mood = MOOD_BAD;
		word = "FAIL-OPEN";
	} else if (!published && strcmp(reason, "undecided") == 0) {
		mood = MOOD_WAITING;
	} else if (!published &&
		   (strcmp(reason, "disabled") == 0 || strcmp(reason, "withdrawn_manual") == 0)) {
		mood = MOOD_OFF;
	}
	return cli_table_state(mood, word, cli->color, cli->unicode, buf);
}

const char *cli_print_fail_open(const struct cli *cli, const json_t *status,
				char state[CLI_STATE_MAX], char ret_text[CLI_FAIL_OPEN_MAX])
{
	const json_int_t family = cli_print_number(status, "fail_open_family");
	char word[20] = "", of[8] = "";

	if (cli_print_true(status, "drained")) {
		snprintf(ret_text, CLI_FAIL_OPEN_MAX,
			 "all its servers are drained by hand: %s, and DNS hands out all zones",
			 cli_print_true(status, "backup_serves") ? "backup servers serve"
								 : "it serves nobody");
		return cli_table_state(MOOD_WAITING, "DRAINED", cli->color, cli->unicode, state);
	}
	if (family == 4 || family == 6)
		snprintf(of, sizeof(of), "IPv%c ", family == 6 ? '6' : '4');
	snprintf(word, sizeof(word), "%sFAIL-OPEN", of);
	snprintf(ret_text, CLI_FAIL_OPEN_MAX,
		 "no %szone is known to be healthy, so all that may be are handed out", of);
	return cli_table_state(MOOD_BAD, word, cli->color, cli->unicode, state);
}

void cli_print_json(const json_t *json)
{
	AUTO_FREE char *text = cli_escape_dump(json, JSON_INDENT(2) | JSON_REAL_PRECISION(12));

	puts(text);
}

void cli_print_table(struct cli_table *t)
{
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, CLI_TEXT_MAX);
	cli_table_write(t, &w);
	cli_table_free(t);
	fputs(buf_text(&w), stdout);
}

void cli_print_table_or(struct cli_table *t, const char *empty)
{
	if (cli_table_rows(t) > 0) {
		cli_print_table(t);
		return;
	}
	cli_table_free(t);
	printf("%s\n", empty);
}

/* ---- problems --------------------------------------------------------------------------------- */

/* What the API calls its members is called otherwise on the command line. */
static const struct cli_print_option {
	const char *pointer; /* NULL: nothing points to it */
	const char *words;   /* as sentences of the API name it, or NULL */
	const char *option;
	unsigned bit; /* of commands that take it */
} cli_print_options[] = {
	{"/expires_in", NULL, "--for", OPTION_FOR},
	{"/load_balancer", NULL, "--lb", OPTION_LB},
	{"/timeout_ms", NULL, "--timeout", OPTION_TIMEOUT},
	{"/comment", NULL, "--comment", OPTION_COMMENT},
	{"/evacuate_servers", NULL, "--evacuate-servers", OPTION_EVACUATE},
	{"/confirm_within_s", NULL, "--confirm-within", OPTION_WITHIN},
	{"/role", NULL, "--role", OPTION_ROLE},
	{"/sources", NULL, "--source", OPTION_SOURCE},
	{NULL, "set force", "--force", OPTION_FORCE},
};
#define CLI_PRINT_OPTIONS (sizeof(cli_print_options) / sizeof(cli_print_options[0]))

static bool cli_print_points_to(const char *pointer, const char *member)
{
	size_t length = strlen(member);

	return strncmp(pointer, member, length) == 0 &&
	       (pointer[length] == '\0' || pointer[length] == '/');
}

/* "  /expires_in (--for): …"; of a document (-f) its members have no options. */
static void cli_print_write_fault(const struct cli_options *o, const json_t *fault,
				  struct buf_writer *w)
{
	const char *pointer = cli_print_text(fault, "pointer"),
		   *detail = cli_print_text(fault, "detail"), *at;
	const unsigned taken = o && !o->file ? o->taken : 0;

	buf_write_format(w, "  %s", pointer);
	for (size_t i = 0; i < CLI_PRINT_OPTIONS; i++)
		if ((cli_print_options[i].bit & taken) && cli_print_options[i].pointer &&
		    cli_print_points_to(pointer, cli_print_options[i].pointer))
			buf_write_format(w, " (%s)", cli_print_options[i].option);
	buf_write_text(w, *pointer ? ": " : "");
	for (size_t i = 0; i < CLI_PRINT_OPTIONS; i++) {
		const struct cli_print_option *p = &cli_print_options[i];

		if (!(p->bit & taken) || !p->words || !(at = strstr(detail, p->words)))
			continue;
		at += strlen(p->words);
		buf_write_format(w, "%.*s (%s)", (int)(at - detail), detail, p->option);
		detail = at;
	}
	buf_write_format(w, "%s\n", detail);
}

/* What a 401 asks for: a token, or a better one than that which was given. */
static void cli_print_write_token(const struct cli_options *o, struct buf_writer *w)
{
	if (o && o->server && o->token_file)
		buf_write_format(
			w,
			"The token of %s is not taken: it may be revoked, expired, another "
			"daemon's, or not good from this address; zonegate token list tells, and "
			"zonegate token create makes one, as root on the host.\n",
			o->token_file);
	else
		buf_write_text(w, "Give --token-file FILE (ZONEGATE_TOKEN_FILE); zonegate token "
				  "create makes a token, as root on the host.\n");
}

void cli_print_write_problem(const struct cli_answer *a, struct buf_writer *w)
{
	const json_t *errors = json_object_get(a->json, "errors"), *fault;
	const char *title = cli_print_text(a->json, "title"),
		   *detail = cli_print_text(a->json, "detail");
	json_int_t total = cli_print_number(a->json, "errors_total");
	const char *file = a->options ? a->options->file : NULL;
	size_t i;

	if (*title == '\0') {
		buf_write_format(w, "zonegate: the daemon answered with status %ld\n", a->status);
		return;
	}
	buf_write_text(w, "zonegate: ");
	if (file && cli_client_judge(a->status) == EXIT_INVALID)
		buf_write_format(w, "%s: ", strcmp(file, "-") == 0 ? "standard input" : file);
	buf_write_text(w, title);
	if (json_array_size(errors) == 0 && strcmp(title, detail) != 0)
		buf_write_format(w, ": %s", detail);
	buf_write_text(w, "\n");
	json_array_foreach (errors, i, fault)
		cli_print_write_fault(a->options, fault, w);
	if (total > (json_int_t)json_array_size(errors))
		buf_write_format(w, "  and %" JSON_INTEGER_FORMAT " more\n",
				 total - (json_int_t)json_array_size(errors));
	if (a->status == 401)
		cli_print_write_token(a->options, w);
}

enum cli_exit cli_print_problem(const struct cli_answer *a)
{
	AUTO_BUF struct buf_writer w;

	buf_writer_init(&w, CLI_TEXT_MAX);
	if (a->status > 0)
		cli_print_write_problem(a, &w);
	fputs(buf_text(&w), stderr);
	return cli_client_judge(a->status);
}

/* `what`: what it means that the kernel refuses. The rest warns of what a dry run found. */
static size_t cli_print_each_warning(const json_t *answer, const char *what)
{
	const json_t *warnings = json_object_get(answer, "warnings"), *warning;
	size_t i;

	json_array_foreach (warnings, i, warning) {
		const char *pointer = cli_print_text(warning, "pointer");

		fprintf(stderr, "zonegate: %s: %s%s%s\n",
			strcmp(cli_print_text(warning, "code"), "kernel_apply_failed") == 0
				? what
				: "warning",
			pointer, *pointer ? ": " : "", cli_print_text(warning, "detail"));
	}
	return json_array_size(warnings);
}

void cli_print_foreseen(const json_t *plan)
{
	cli_print_each_warning(plan, "it would be stored, and not be in force");
}

enum cli_exit cli_print_warnings(const json_t *answer)
{
	return cli_print_each_warning(answer, "stored, but not in force") > 0 ? EXIT_NEGATIVE
									      : EXIT_OK;
}

static bool cli_print_says_the_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "code"), json_object_get(b, "code")) &&
	       json_equal(json_object_get(a, "detail"), json_object_get(b, "detail"));
}

/* One line for what is said of several places, where the first of them stands. */
static void cli_print_one_advice(const json_t *advice, size_t index)
{
	const json_t *one = json_array_get(advice, index), *other;
	const char *pointer = cli_print_text(one, "pointer");
	char more[48] = "";
	size_t i, same = 0;

	json_array_foreach (advice, i, other) {
		if (!cli_print_says_the_same(one, other))
			continue;
		if (i < index)
			return;
		same += i > index;
	}
	if (same > 0)
		snprintf(more, sizeof(more), " (and %zu other%s)", same, TEXT_S(same));
	fprintf(stderr, "zonegate: advice: %s%s%s%s\n", pointer, more, *pointer ? ": " : "",
		cli_print_text(one, "detail"));
}

void cli_print_advice(const json_t *advice)
{
	fflush(stdout); /* what was done stands before what is thought of it */
	for (size_t i = 0; i < json_array_size(advice); i++)
		cli_print_one_advice(advice, i);
}

static bool cli_print_has_advice(const json_t *list, const json_t *wanted)
{
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		if (json_equal(one, wanted))
			return true;
	return false;
}

void cli_print_new_advice(const json_t *before, const json_t *advice, const char *where)
{
	json_t *added = json_array();
	json_t *one;
	size_t i, old;

	json_array_foreach (advice, i, one)
		if (!cli_print_has_advice(before, one))
			json_array_append(added, one);
	cli_print_advice(added);
	old = json_array_size(advice) - json_array_size(added);
	if (old > 0 && json_array_size(added) > 0)
		fprintf(stderr, "zonegate: advice: %zu more as before: %s\n", old, where);
	json_decref(added);
}

/* ---- dry runs --------------------------------------------------------------------------------- */

static void cli_print_write_list(const json_t *list, json_int_t total, const char *what,
				 struct buf_writer *w)
{
	json_t *item;
	size_t i;

	if (total == 0)
		return;
	buf_write_format(w, "\n%s:\n", what);
	json_array_foreach (list, i, item)
		buf_write_format(w, "  %s\n", cli_escape_string(item));
	if (total > (json_int_t)json_array_size(list))
		buf_write_format(w, "  and %" JSON_INTEGER_FORMAT " more\n",
				 total - (json_int_t)json_array_size(list));
}

static void cli_print_write_set(const json_t *list, const json_t *ttl, struct buf_writer *w)
{
	json_t *address;
	size_t i;

	if (!json_is_integer(ttl)) {
		buf_write_text(w, "nothing");
		return;
	}
	json_array_foreach (list, i, address)
		buf_write_format(w, "%s ", cli_escape_string(address));
	if (i == 0)
		buf_write_text(w, "no address ");
	buf_write_format(w, "(%" JSON_INTEGER_FORMAT " s)", json_integer_value(ttl));
}

static void cli_print_write_dns(const json_t *answer, struct buf_writer *w)
{
	const json_t *list = json_object_get(answer, "dns_changes"), *change;
	json_int_t total = cli_print_number(answer, "dns_changes_total");
	size_t i;

	if (total == 0)
		return;
	buf_write_text(w, "\nDNS would answer:\n");
	json_array_foreach (list, i, change) {
		buf_write_format(w, "  %s %s: ", cli_print_text(change, "name"),
				 cli_print_text(change, "type"));
		cli_print_write_set(json_object_get(change, "before"),
				    json_object_get(change, "ttl_before_s"), w);
		buf_write_text(w, " -> ");
		cli_print_write_set(json_object_get(change, "after"),
				    json_object_get(change, "ttl_after_s"), w);
		buf_write_text(w, "\n");
	}
	if (total > (json_int_t)json_array_size(list))
		buf_write_format(w, "  and %" JSON_INTEGER_FORMAT " more\n",
				 total - (json_int_t)json_array_size(list));
}

enum cli_exit cli_print_dry_run(const struct cli *cli, const json_t *answer)
{
	AUTO_BUF struct buf_writer w;
	const json_t *diff = json_object_get(answer, "diff"), *change;
	json_int_t total = cli_print_number(answer, "diff_total");
	size_t i;

	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(answer);
		return total > 0 ? EXIT_DIFFERENCES : EXIT_OK;
	}
	buf_writer_init(&w, CLI_TEXT_MAX);
	json_array_foreach (diff, i, change)
		cli_diff_write_change(change, cli->color, &w);
	if (total > (json_int_t)json_array_size(diff))
		buf_write_format(&w, "and %" JSON_INTEGER_FORMAT " more change%s\n",
				 total - (json_int_t)json_array_size(diff),
				 TEXT_S(total - (json_int_t)json_array_size(diff)));
	if (total == 0)
		buf_write_text(&w, "No differences.\n");
	cli_print_write_list(json_object_get(answer, "kernel_ops"),
			     cli_print_number(answer, "kernel_ops_total"),
			     strcmp(cli_print_text(answer, "ipvs"), "off") == 0
				     ? "A kernel would be told, but " CLI_PLANNED
				     : "The kernel would be told",
			     &w);
	cli_print_write_dns(answer, &w);
	fputs(buf_text(&w), stdout);
	cli_print_foreseen(answer);
	cli_print_advice(json_object_get(answer, "advice"));
	return total > 0 ? EXIT_DIFFERENCES : EXIT_OK;
}

/* ---- files ------------------------------------------------------------------------------------ */

/* The rest of an open file; NULL with the reason. */
static char *cli_print_slurp(FILE *f, size_t *ret_size, const char **ret_why)
{
	AUTO_BUF struct buf_writer w;
	char piece[65536];
	size_t n;

	buf_writer_init(&w, CLI_FILE_MAX);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_write(&w, piece, n);
	if (ferror(f) || w.failed) {
		*ret_why = w.failed ? "too large" : strerror(errno);
		return NULL;
	}
	*ret_size = w.size;
	return buf_take(&w);
}

char *cli_print_read_file(const char *path, size_t *ret_size)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	const char *why = strerror(errno);
	char *text = f ? cli_print_slurp(f, ret_size, &why) : NULL;

	if (!text)
		fprintf(stderr, "zonegate: %s: %s\n", path, why);
	if (f && f != stdin)
		fclose(f);
	return text;
}
