// SPDX-License-Identifier: GPL-2.0-or-later
// list → jump → restore → learn; reading ends behind the jump. Whether a backend works with this kernel shows only when it is to do
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
#include "plan/rules_text.h"

#define RULES_TIMEOUT (10 * USEC_PER_SEC)
#define RULES_WAIT    "5" /* seconds for the lock of iptables */

/* Exit statuses of iptables: no such chain or rule; ours to know. */
#define EXIT_ABSENT 1

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

static void rules_finish(struct rules *r, enum ruleset_chain chain, int error)
{
	r->running = false;
	if (!error) {
		free(r->complaints[r->family]);
		r->complaints[r->family] = NULL;
	}
	r->done(r->ctx, r->work, chain, error);
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
	r->backends[r->family] = 0; /* what is installed may change: looked for anew */
	rules_finish(r, CHAIN_WRONG, error);
}

/* Why a program ended that should have worked. */
static int rules_error(const struct child_end *end)
{
	if (end->status == -1)
		return -ETIMEDOUT;
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
	rules_run(r, RULES_LIST);
	return true;
}

/* The words of the first backend are told: the others are only tried. */
static void rules_give_up(struct rules *r, const char *text, int error)
{
	if (rules_is_proven(r)) {
		rules_fail(r, text, error);
		return;
	}
	if (!r->refusal && error != -ENOENT) {
		r->refusal = mem_strdup(text);
		r->refused = error == -EPROTO ? -EOPNOTSUPP : error;
	}
	if (rules_turn(r))
		return;
	r->turn = rules_first(r);
	rules_fail(r, r->refusal ? r->refusal : text, r->refusal ? r->refused : error);
}

/* ---- the steps ------------------------------------------------------------------------------ */

static const char *rules_expected(struct rules *r)
{
	AUTO_BUF struct buf_writer w = {0};

	if (!r->learnt[r->family]) {
		buf_writer_init(&w, RULES_TEXT_MAX);
		rules_text_write_listing(&w, r->family);
		r->learnt[r->family] = buf_take(&w);
	}
	return r->learnt[r->family];
}

/* The rules of a listing, without what the program remarks beside them. Caller frees. */
static char *rules_strip(const char *text)
{
	struct buf_writer w = {0};

	buf_writer_init(&w, RULES_TEXT_MAX * 2);
	buf_write_text(&w, "");
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n';
		if (*line == '-')
			buf_write(&w, line, length);
		line += length;
	}
	return buf_take(&w);
}

static void rules_after_absent(struct rules *r)
{
	if (r->work == RULES_SET)
		rules_run(r, RULES_RESTORE);
	else if (rules_is_proven(r) || !rules_turn(r))
		rules_finish(r, CHAIN_ABSENT, 0);
}

static void rules_after_list(struct rules *r, const struct child_end *end)
{
	char *seen AUTO_FREE = NULL;

	r->jumps = false;
	if (rules_exited(end, EXIT_ABSENT)) {
		rules_after_absent(r);
		return;
	}
	if (!rules_exited(end, 0)) {
		rules_give_up(r, end->output, rules_error(end));
		return;
	}
	rules_prove(r);
	seen = rules_strip(end->output);
	r->differs = !seen || strcmp(seen, rules_expected(r)) != 0;
	rules_run(r, RULES_JUMP);
}

static void rules_after_jump(struct rules *r, const struct child_end *end)
{
	r->jumps = rules_exited(end, 0);
	if (!r->jumps && !rules_exited(end, EXIT_ABSENT)) {
		rules_fail(r, end->output, rules_error(end));
		return;
	}
	if (r->work == RULES_READ)
		rules_finish(r, r->jumps && !r->differs ? CHAIN_RIGHT : CHAIN_WRONG, 0);
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
		rules_finish(r, CHAIN_ABSENT, 0);
	else
		rules_run(r, RULES_LEARN);
}

static void rules_after_learn(struct rules *r, const struct child_end *end)
{
	if (!rules_exited(end, 0)) {
		rules_fail(r, end->output, rules_error(end));
		return;
	}
	free(r->learnt[r->family]);
	r->learnt[r->family] = rules_strip(end->output);
	rules_finish(r, CHAIN_RIGHT, 0);
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
	after[r->step](r, end);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void rules_write_input(const struct rules *r, struct buf_writer *w)
{
	enum rules_jump jump = r->jumps ? JUMP_PRESENT : JUMP_ABSENT;

	if (r->step == RULES_RESTORE && r->work == RULES_SET)
		rules_text_write_set(w, r->family, jump);
	else if (r->step == RULES_RESTORE)
		rules_text_write_delete(w, jump);
}

static void rules_run(struct rules *r, enum rules_step step)
{
	AUTO_BUF struct buf_writer input = {0};
	char name[32];
	const char *const restore[] = {name, "-w", RULES_WAIT, "--noflush", NULL};
	const char *const list[] = {name, "-w", RULES_WAIT, "-S", RULES_TEXT_CHAIN, NULL};
	const char *const jump[] = {
		name, "-w", RULES_WAIT, "-C", RULES_TEXT_HOOK, "-j", RULES_TEXT_CHAIN, NULL};
	const char *const *const arguments[] = {[RULES_LIST] = list,
						[RULES_JUMP] = jump,
						[RULES_RESTORE] = restore,
						[RULES_LEARN] = list};
	struct child_job job = {
		.argv = arguments[step], .timeout = RULES_TIMEOUT, .ctx = r, .done = rules_on_end};
	int error;

	r->step = step;
	rules_name(r, name);
	buf_writer_init(&input, RULES_TEXT_MAX);
	rules_write_input(r, &input);
	job.input = buf_text(&input);
	job.input_size = input.size;
	error = child_start(r->loop, &job, &r->child);
	if (!error)
		return;
	rules_give_up(r, strerror(-error), error);
}

void rules_start(struct rules *r, enum rules_work work, enum ruleset_family f)
{
	assert(!r->running);
	r->running = true;
	r->work = work;
	r->family = f;
	free(r->refusal);
	r->refusal = NULL;
	r->turn = r->backends[f] ? r->backends[f] - 1 : rules_first(r);
	rules_run(r, RULES_LIST);
}

void rules_clear(struct rules *r)
{
	child_free(r->child);
	r->child = NULL;
	r->running = false;
	free(r->refusal);
	r->refusal = NULL;
	for (enum ruleset_family f = 0; f < RULESET_FAMILY_COUNT; f++) {
		free(r->learnt[f]);
		r->learnt[f] = NULL;
		free(r->complaints[f]);
		r->complaints[f] = NULL;
		r->backends[f] = 0;
	}
}
