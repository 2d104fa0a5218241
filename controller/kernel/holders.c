// SPDX-License-Identifier: GPL-2.0-or-later
// One program after the other; one that is missing or fails knows of nobody.
#include "kernel/holders.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "child/child.h"
#include "plan/rules_text.h"

#define HOLDERS_TIMEOUT    (3 * USEC_PER_SEC)
#define HOLDERS_OUTPUT_MAX (4 * 1024 * 1024)
#define HOLDERS_TOLD       5
#define WORD_MAX           64

static const struct {
	const char *argv[3];
	const char *name; /* of what sets such a rule; NULL: lines of sets */
} holders_programs[] = {
	{{"iptables-legacy-save"}, "iptables-legacy"},
	{{"ip6tables-legacy-save"}, "ip6tables-legacy"},
	{{"iptables-nft-save"}, "iptables-nft"},
	{{"ip6tables-nft-save"}, "ip6tables-nft"},
	{{"ipset", "save"}, NULL},
};
#define HOLDERS_PROGRAMS (sizeof(holders_programs) / sizeof(holders_programs[0]))

struct holders {
	struct ev_loop *loop;
	struct child *child;
	size_t program; /* that runs; HOLDERS_PROGRAMS: done */
	size_t told;
	struct buf_writer text;
};

/* ---- lines ---------------------------------------------------------------------------------- */

/* The first word of the line that is a set of ours, behind `skip` words. */
static bool holders_find_set(const char *line, unsigned skip, char ret_name[WORD_MAX])
{
	struct ruleset_id id;

	for (unsigned i = 0; *line; i++) {
		size_t length = strcspn(line, " ");

		if (i >= skip && length < WORD_MAX) {
			memcpy(ret_name, line, length);
			ret_name[length] = '\0';
			if (ruleset_parse_id(ret_name, &id))
				return true;
		}
		line += length + strspn(line + length, " ");
	}
	return false;
}

static bool holders_is_ours(const char *line)
{
	return strncmp(line, "-A " RULES_TEXT_CHAIN, strlen("-A " RULES_TEXT_CHAIN)) == 0;
}

static void holders_take_rule(struct holders *h, const char *table, const char *line)
{
	char name[WORD_MAX];

	if (strncmp(line, "-A ", 3) != 0 || holders_is_ours(line) ||
	    !holders_find_set(line, 2, name) || ++h->told > HOLDERS_TOLD)
		return;
	buf_write_format(&h->text, "%s%s: %s -t %s %s", h->told > 1 ? "; " : "", name,
			 holders_programs[h->program].name, table, line);
}

/* "add THEIRS zg4-drop": a set of sets. */
static void holders_take_member(struct holders *h, const char *line)
{
	char name[WORD_MAX];

	if (strncmp(line, "add ", 4) != 0 || !holders_find_set(line, 2, name) ||
	    ++h->told > HOLDERS_TOLD)
		return;
	buf_write_format(&h->text, "%s%s: the set %.*s", h->told > 1 ? "; " : "", name,
			 (int)strcspn(line + 4, " "), line + 4);
}

static void holders_take(struct holders *h, char *output)
{
	const char *table = "";
	char *rest = NULL;

	for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!holders_programs[h->program].name)
			holders_take_member(h, line);
		else if (*line == '*')
			table = line + 1;
		else
			holders_take_rule(h, table, line);
	}
}

/* ---- programs ------------------------------------------------------------------------------- */

static void holders_go_on(struct holders *h);

static void holders_on_end(void *ctx, const struct child_end *end)
{
	struct holders *h = ctx;
	char *output AUTO_FREE = mem_strdup(end->output);

	h->child = NULL; /* freed by itself */
	if (end->status == 0)
		holders_take(h, output);
	h->program++;
	holders_go_on(h);
}

static void holders_go_on(struct holders *h)
{
	struct child_job job = {.input = "",
				.output_max = HOLDERS_OUTPUT_MAX,
				.timeout = HOLDERS_TIMEOUT,
				.ctx = h,
				.done = holders_on_end};

	for (; h->program < HOLDERS_PROGRAMS; h->program++) {
		job.argv = holders_programs[h->program].argv;
		if (child_start(h->loop, &job, &h->child) == 0)
			return;
	}
}

struct holders *holders_new(struct ev_loop *loop)
{
	struct holders *h = mem_new(struct holders);

	h->loop = loop;
	buf_writer_init(&h->text, 64 * 1024);
	holders_go_on(h);
	return h;
}

void holders_free(struct holders *h)
{
	if (!h)
		return;
	child_free(h->child);
	buf_writer_free(&h->text);
	free(h);
}

bool holders_done(const struct holders *h)
{
	return h->program == HOLDERS_PROGRAMS;
}

const char *holders_text(const struct holders *h)
{
	return h->told ? buf_text(&h->text) : "";
}
