// SPDX-License-Identifier: GPL-2.0-or-later
// list (each chain) → jump → restore → learn; reading ends behind the jump. Whether a backend works with this kernel shows only when it is to do
// something, so until one has (or has our chain) the others are tried behind it. A restore that another program has overtaken changes
// nothing that is not ours: iptables holds its lock, or the kernel refuses the transaction.
#include "kernel/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/mem.h"
#include "child/child.h"
#include "kernel/kernel.h"

#define RULES_TIMEOUT (10 * USEC_PER_SEC)
#define RULES_WAIT    "1" /* seconds for the lock of iptables: what is to be done to IPVS waits, too */

/* Exit statuses of iptables: no such chain or rule; ours to know. */
#define EXIT_ABSENT 1
/* There is no such program: posix_spawn() may say so, or a child that ends with this and without a word. */
#define EXIT_MISSING 127

/* In the order in which they are tried; what follows the name of the program. */
static const char *const rules_backends[] = {"", "-legacy", "-nft"};
#define RULES_BACKENDS (sizeof(rules_backends) / sizeof(rules_backends[0]))

static bool rules_allows(const struct rules *r, unsigned backend)
{
	switch ((enum kernel_iptables)r->iptables) {
	case KERNEL_IPTABLES_AUTO:
		return true;
	case KERNEL_IPTABLES_LEGACY:
		return strcmp(rules_backends[backend], "-legacy") == 0;
	case KERNEL_IPTABLES_NFT:
		return strcmp(rules_backends[backend], "-nft") == 0;
	}
	return false;
}

static unsigned rules_first(const struct rules *r)
{
	unsigned turn = 0;

	while (!rules_allows(r, turn))
		turn++;
	return turn;
}

static void rules_name(const struct rules *r, char buf[32])
{
	snprintf(buf, 32, "%s%s%s", r->family == RULESET_V4 ? "iptables" : "ip6tables",
		 rules_backends[r->turn], r->step == RULES_RESTORE ? "-restore" : "");
}

static void rules_run(struct rules *r, enum rules_step step);
static void rules_list(struct rules *r, enum rules_step step);

static void rules_finish(struct rules *r, const char *text, int error)
{
	r->running = false;
	if (!error) {
		free(r->complaints[r->family]);
		r->complaints[r->family] = NULL;
	}
	r->done(r->ctx, r->work, text, error);
}

static void rules_fail(struct rules *r, const char *text, int error)
{
	char **told = &r->complaints[r->family];
	char name[32];

	rules_name(r, name);
	if (!*told || strcmp(*told, text) != 0)
		r->complained(r->ctx, name, text);
	free(*told);
	*told = mem_strdup(text);
	if (error == -ENOENT || error == -EPROTO || error == -EOPNOTSUPP)
		r->backends[r->family] = 0; /* what is installed may change: looked for anew */
	rules_finish(r, RULES_STRANGE, error);
}

/* Why a program ended that should have worked. */
static int rules_error(const struct child_end *end)
{
	if (end->status == -1)
		return -ETIMEDOUT;
	if (strstr(end->output, "holding the xtables lock"))
		return -EBUSY;
	if (strstr(end->output, "xtables.lock"))
		return -EACCES;
	return strstr(end->output, "ermission denied") ? -EPERM : -EPROTO;
}

static bool rules_exited(const struct child_end *end, int status)
{
	return end->status != -1 && WIFEXITED(end->status) && WEXITSTATUS(end->status) == status;
}

/* ---- which backend -------------------------------------------------------------------------- */

/* It has our chain, or took it. */
static void rules_prove(struct rules *r)
{
	r->backends[r->family] = r->turn + 1;
}

static bool rules_is_proven(const struct rules *r)
{
	return r->backends[r->family] != 0;
}

/* Another backend, if one is left. */
static bool rules_turn(struct rules *r)
{
	do {
		r->turn++;
	} while (r->turn < RULES_BACKENDS && !rules_allows(r, r->turn));
	if (r->turn == RULES_BACKENDS)
		return false;
	rules_list(r, RULES_LIST);
	return true;
}

/* What a backend said, behind what those before it said; the same words (of one program with two names) once. */
static void rules_note_refusal(struct rules *r, const char *text, int error)
{
	size_t length = strlen(text);
	char *longer;
	char name[32];

	if (error == -ENOENT) /* it is not installed */
		return;
	while (length && text[length - 1] == '\n')
		length--;
	if (!r->refusal) {
		r->refusal = mem_printf("%.*s", (int)length, text);
		r->refused = error == -EPROTO ? -EOPNOTSUPP : error;
		r->refuser = r->turn;
		return;
	}
	if (memmem(r->refusal, strlen(r->refusal), text, length))
		return;
	rules_name(r, name);
	longer = mem_printf("%s; %s: %.*s", r->refusal, name, (int)length, text);
	free(r->refusal);
	r->refusal = longer;
}

/* The words of all backends that were tried are told, beginning with the first. None is tried when one comes too late: it may have
 * our chain, and then no other may get it. */
static void rules_give_up(struct rules *r, const char *text, int error)
{
	if (rules_is_proven(r) || error == -ETIMEDOUT || error == -EBUSY) {
		rules_fail(r, text, error);
		return;
	}
	rules_note_refusal(r, text, error);
	if (rules_turn(r))
		return;
	r->turn = r->refusal ? r->refuser : rules_first(r);
	rules_fail(r, r->refusal ? r->refusal : text, r->refusal ? r->refused : error);
}

/* ---- the steps ------------------------------------------------------------------------------ */

/* The rules of a listing, without what the program remarks beside them, behind `before`. Caller frees. */
static char *rules_append(const char *before, const char *text)
{
	struct buf_writer w = {0};

	buf_writer_init(&w, RULES_TEXT_MAX * 2);
	buf_write_text(&w, before);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n';
		if (*line == '-')
			buf_write(&w, line, length);
		line += length;
	}
	return buf_take(&w);
}

static void rules_list(struct rules *r, enum rules_step step)
{
	free(r->listing);
	r->listing = mem_strdup("");
	snprintf(r->chain, sizeof(r->chain), "%s", RULES_TEXT_CHAIN);
	rules_run(r, step);
}

/* One chain was listed. True: others that it goes to are to be listed, too; or it failed. */
static bool rules_goes_on(struct rules *r, const struct child_end *end)
{
	char *longer = rules_append(r->listing, end->output);
	char last[RULES_CHAIN_MAX];

	snprintf(last, sizeof(last), "%s", r->chain);
	free(r->listing);
	r->listing = longer;
	if (!rules_text_find_chain(longer, r->chain))
		return false;
	if (strcmp(last, r->chain) == 0)
		rules_fail(r, "a chain that is there is not printed", -EPROTO);
	else
		rules_run(r, r->step);
	return true;
}

static void rules_after_absent(struct rules *r)
{
	if (r->work == RULES_SET)
		rules_run(r, RULES_RESTORE);
	else if (rules_is_proven(r) || !rules_turn(r))
		rules_finish(r, NULL, 0);
}

static void rules_after_list(struct rules *r, const struct child_end *end)
{
	r->jumps = false;
	if (rules_exited(end, EXIT_ABSENT) && !*r->listing) {
		rules_after_absent(r);
		return;
	}
	if (!rules_exited(end, 0)) {
		rules_give_up(r, end->output, rules_error(end));
		return;
	}
	rules_prove(r);
	if (!rules_goes_on(r, end))
		rules_run(r, RULES_JUMP);
}

/* In our own words, if they are known. */
static const char *rules_reading(const struct rules *r)
{
	const struct rules_place at = {.family = r->family, .table = r->table};

	return r->jumps ? rules_in_own_words(r, &at, r->listing) : RULES_STRANGE;
}

static void rules_after_jump(struct rules *r, const struct child_end *end)
{
	r->jumps = rules_exited(end, 0);
	if (!r->jumps && !rules_exited(end, EXIT_ABSENT)) {
		rules_fail(r, end->output, rules_error(end));
		return;
	}
	if (r->work == RULES_READ)
		rules_finish(r, rules_reading(r), 0);
	else
		rules_run(r, RULES_RESTORE);
}

static void rules_after_restore(struct rules *r, const struct child_end *end)
{
	if (!rules_exited(end, 0)) {
		rules_give_up(r, end->output, rules_error(end));
		return;
	}
	rules_prove(r);
	if (r->work == RULES_DELETE)
		rules_finish(r, NULL, 0);
	else
		rules_list(r, RULES_LEARN);
}

static void rules_after_learn(struct rules *r, const struct child_end *end)
{
	struct rules_learnt *l = &r->learnt[r->family][r->table];

	if (!rules_exited(end, 0)) {
		rules_fail(r, end->output, rules_error(end));
		return;
	}
	if (rules_goes_on(r, end))
		return;
	free(l->wanted);
	free(l->seen);
	*l = (struct rules_learnt){.wanted = r->wanted, .seen = r->listing};
	r->wanted = r->listing = NULL;
	rules_finish(r, l->wanted, 0);
}

static void rules_on_end(void *ctx, const struct child_end *end)
{
	static void (*const after[])(struct rules * r, const struct child_end *end) = {
		[RULES_LIST] = rules_after_list,
		[RULES_JUMP] = rules_after_jump,
		[RULES_RESTORE] = rules_after_restore,
		[RULES_LEARN] = rules_after_learn,
	};
	struct rules *r = ctx;

	r->child = NULL; /* freed by itself */
	if (rules_exited(end, EXIT_MISSING) && !*end->output)
		rules_give_up(r, strerror(ENOENT), -ENOENT);
	else
		after[r->step](r, end);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void rules_write_input(const struct rules *r, struct buf_writer *w)
{
	const struct rules_change change = {.table = r->table,
					    .present = r->listing,
					    .wanted = r->wanted ? r->wanted : "",
					    .jumps = r->jumps};

	if (r->step == RULES_RESTORE)
		rules_text_write_change(w, &change);
}

static void rules_run(struct rules *r, enum rules_step step)
{
	AUTO_BUF struct buf_writer input = {0};
	char name[32];
	const char *table = rules_text_table(r->table);
	const char *hook = rules_text_hook(r->table);
	const char *const restore[] = {name, "-w", RULES_WAIT, "--noflush", NULL};
	const char *const list[] = {name, "-w", RULES_WAIT, "-t", table, "-S", r->chain, NULL};
	const char *const jump[] = {name, "-w", RULES_WAIT,       "-t", table, "-C",
				    hook, "-j", RULES_TEXT_CHAIN, NULL};
	const char *const *const arguments[] = {[RULES_LIST] = list,
						[RULES_JUMP] = jump,
						[RULES_RESTORE] = restore,
						[RULES_LEARN] = list};
	struct child_job job = {.argv = arguments[step],
				.output_max = RULES_TEXT_MAX,
				.timeout = RULES_TIMEOUT,
				.ctx = r,
				.done = rules_on_end};
	int error;

	r->step = step;
	rules_name(r, name);
	buf_writer_init(&input, RULES_TEXT_MAX * 2);
	rules_write_input(r, &input);
	job.input = buf_text(&input);
	job.input_size = input.size;
	error = child_start(r->loop, &job, &r->child);
	if (!error)
		return;
	if (error == -EACCES) /* -EACCES is its lock's */
		error = -ENOEXEC;
	rules_give_up(r, strerror(-error), error);
}

const char *rules_words(const struct rules *r, enum ruleset_family f)
{
	return r->complaints[f];
}

const char *rules_in_own_words(const struct rules *r, const struct rules_place *at,
			       const char *text)
{
	const struct rules_learnt *l = &r->learnt[at->family][at->table];

	return text && l->seen && strcmp(l->seen, text) == 0 ? l->wanted : text;
}

bool rules_backend(const struct rules *r, enum ruleset_family f, char ret_name[24])
{
	if (!r->backends[f])
		return false;
	snprintf(ret_name, 24, "%s%s", f == RULESET_V4 ? "iptables" : "ip6tables",
		 rules_backends[r->backends[f] - 1]);
	return true;
}

void rules_start(struct rules *r, enum rules_work work, const struct rules_place *at,
		 const char *wanted)
{
	assert(!r->running && (work == RULES_SET) == (wanted != NULL));
	r->running = true;
	r->work = work;
	r->family = at->family;
	r->table = at->table;
	free(r->wanted);
	r->wanted = wanted ? mem_strdup(wanted) : NULL;
	free(r->refusal);
	r->refusal = NULL;
	r->turn = r->backends[r->family] ? r->backends[r->family] - 1 : rules_first(r);
	rules_list(r, RULES_LIST);
}

static void rules_clear_family(struct rules *r, enum ruleset_family f)
{
	for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++) {
		free(r->learnt[f][t].wanted);
		free(r->learnt[f][t].seen);
		r->learnt[f][t] = (struct rules_learnt){0};
	}
	free(r->complaints[f]);
	r->complaints[f] = NULL;
	r->backends[f] = 0;
}

void rules_clear(struct rules *r)
{
	child_free(r->child);
	r->child = NULL;
	r->running = false;
	free(r->refusal);
	free(r->wanted);
	free(r->listing);
	r->refusal = r->wanted = r->listing = NULL;
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++)
		rules_clear_family(r, f);
}
