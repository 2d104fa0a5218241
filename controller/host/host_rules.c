// SPDX-License-Identifier: GPL-2.0-or-later
// One program after the other. Children are reaped by the loop of the daemon if it comes first, so their status says nothing: what
// they print does.
#include "host/host_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"

#define PROGRAM_TIME (2 * USEC_PER_SEC)
#define READ_SIZE    65536

static const char *const tables[] = {"filter", "mangle", "nat", "raw", "security"};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* "iptables", "ip6tables" */
static const char *const families[RULESET_FAMILY_COUNT] = {
	[RULESET_V4] = "iptables", [RULESET_V6] = "ip6tables"};
/* Modules of tables: "iptable_nat" */
static const char *const modules[RULESET_FAMILY_COUNT] = {
	[RULESET_V4] = "iptable", [RULESET_V6] = "ip6table"};

/* ---- one program ---- */

static char *rules_find_program(const char *root, const char *name)
{
	static const char *const folders[] = {"/usr/sbin", "/sbin", "/usr/local/sbin"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path = mem_printf("%s%s/%s", root, folders[i], name);

		if (access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* Its output on both channels goes to `out`. 0 or a negative errno. */
static int rules_spawn(char *const *argv, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *environment[] = {NULL};
	sigset_t none, all;
	int error;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	error = posix_spawn(ret_pid, argv[0], &actions, &attributes, argv, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -error;
}

/* Until it ends: 0, -ETIMEDOUT, or -EFBIG. */
static int rules_take_output(int in, struct buf_writer *w)
{
	const usec_t end = time_monotonic() + PROGRAM_TIME;
	AUTO_FREE char *buffer = mem_alloc(READ_SIZE);

	for (;;) {
		struct pollfd p = {.fd = in, .events = POLLIN};
		const usec_t now = time_monotonic();
		ssize_t got;

		if (now >= end || poll(&p, 1, (int)((end - now) / USEC_PER_MS) + 1) <= 0)
			return -ETIMEDOUT;
		got = read(in, buffer, READ_SIZE);
		if (got <= 0)
			return got < 0 ? -errno : 0;
		if (w->size + (size_t)got > HOST_RULES_MAX)
			return -EFBIG;
		buf_write(w, buffer, (size_t)got);
	}
}

/* Also one that has nothing more to say and does not end. By its descriptor: the loop may have reaped it, and then its number can be
 * another's. -1: it is gone. */
static void rules_end(int descriptor)
{
	if (descriptor < 0)
		return;
	(void)pidfd_send_signal(descriptor, SIGKILL, NULL, 0);
	(void)waitid(P_PIDFD, (id_t)descriptor, NULL,
		     WEXITED); /* ECHILD: the loop has seen its end */
	close(descriptor);
}

/* What it printed, or NULL with a negative errno. */
static char *rules_run(char *const *argv, int *ret_error)
{
	AUTO_BUF struct buf_writer w = {0};
	int ends[2], descriptor;
	pid_t pid;

	buf_writer_init(&w, HOST_RULES_MAX + 1);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		*ret_error = -errno;
		return NULL;
	}
	*ret_error = rules_spawn(argv, ends[1], &pid);
	close(ends[1]);
	if (*ret_error) {
		close(ends[0]);
		return NULL;
	}
	descriptor = pidfd_open(pid, 0);
	*ret_error = rules_take_output(ends[0], &w);
	close(ends[0]);
	rules_end(descriptor);
	return *ret_error ? NULL : mem_strdup(buf_text(&w));
}

/* There is a line that is neither a remark nor of a table. */
static bool rules_complains(const char *text)
{
	if (strstr(text, "COMMIT\n"))
		return false;
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		if (*line != '#' && *line != '\n')
			return true;
		if (!line[strcspn(line, "\n")])
			break;
	}
	return false;
}

/* `table` NULL: all of them. */
static void rules_ask(const char *root, struct doctor_facts *f, const struct doctor_rules *of,
		      const char *table)
{
	if (f->rules_error == -ETIMEDOUT)
		return; /* the next one would hang, too, and others wait for the worker */
	AUTO_FREE char *name = mem_printf("%s-save", of->program);
	AUTO_FREE char *path = rules_find_program(root, name);
	AUTO_FREE char *copy = table ? mem_strdup(table) : NULL;
	char flag[] = "-t";
	char *argv[] = {path, table ? flag : NULL, copy, NULL};
	int error = -ENOENT;
	char *text = path ? rules_run(argv, &error) : NULL;
	struct doctor_rules *r;

	if (text && rules_complains(text)) {
		error = -EPROTO;
		free(text);
		text = NULL;
	}
	if (!text) {
		f->rules_error = error;
		snprintf(f->rules_program, sizeof(f->rules_program), "%s", name);
		return;
	}
	r = mem_dup(of, sizeof(*of));
	r->text = text;
	vec_push(&f->rules, r);
}

/* ---- which ---- */

/* Modules of tables are used by each table that has rules, in any network namespace: bit n of family f. */
static void rules_find_tables(const char *root, const struct doctor_facts *f,
			      unsigned ret_tables[RULESET_FAMILY_COUNT])
{
	AUTO_FREE char *path = mem_printf("%s/proc/modules", root);
	FILE *file = fopen(path, "re");
	char name[64];
	long uses;

	while (file && fscanf(file, "%63s %*s %ld%*[^\n]", name, &uses) == 2)
		for (enum ruleset_family i = 0; uses > 0 && i < RULESET_FAMILY_COUNT; i++)
			for (size_t t = 0; t < TABLES; t++) {
				AUTO_FREE char *module = mem_printf("%s_%s", modules[i], tables[t]);

				if (strcmp(name, module) == 0)
					ret_tables[i] |= 1U << t;
			}
	if (file)
		fclose(file);
	for (enum ruleset_family i = 0; i < RULESET_FAMILY_COUNT; i++)
		for (size_t t = 0; t < TABLES; t++)
			if (strcmp(tables[t], "nat") == 0 &&
			    f->sysctls[DOCTOR_TRACK_COUNT].value <= 0)
				ret_tables[i] &= ~(1U << t);
}

void host_rules_read(const char *root, struct doctor_facts *f)
{
	bool nft = doctor_has_module(f, "nf_tables");
	unsigned found[RULESET_FAMILY_COUNT] = {0};

	rules_find_tables(root, f, found);
	for (enum ruleset_family i = 0; i < RULESET_FAMILY_COUNT; i++) {
		struct doctor_rules of = {.family = i};

		snprintf(of.program, sizeof(of.program), "%s-legacy", families[i]);
		for (size_t t = 0; t < TABLES; t++)
			if (found[i] & 1U << t)
				rules_ask(root, f, &of, tables[t]);
		snprintf(of.program, sizeof(of.program), "%s-nft", families[i]);
		if (nft)
			rules_ask(root, f, &of, NULL);
	}
}
