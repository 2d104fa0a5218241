// SPDX-License-Identifier: GPL-2.0-or-later
// zonegate flush: the daemon's program does it, which lies beside this one, or in sbin.
#include "cli/cli_commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define FLUSH_PROGRAM "zonegated"

/* The folder of this program, without a slash at the end; caller frees. */
static char *cli_flush_folder(void)
{
	char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[size < 0 ? 0 : size] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return mem_strdup(path);
}

enum cli_exit cli_flush_run(struct cli *cli)
{
	AUTO_FREE char *folder = cli_flush_folder();
	AUTO_FREE char *beside = mem_printf("%s/" FLUSH_PROGRAM, folder);
	AUTO_FREE char *installed = mem_printf("%s/../sbin/" FLUSH_PROGRAM, folder);
	char *const *settings = cli->arg_count ? cli->args : NULL;

	if (cli->options.server) {
		fprintf(stderr,
			"zonegate: flush acts on this host alone: without --server and ZONEGATE_SERVER\n");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < 2; i++) {
		const char *program = i == 0 ? beside : installed;

		if (access(program, X_OK) != 0)
			continue;
		if (settings)
			execl(program, FLUSH_PROGRAM, "--flush", "-c", *settings, (char *)NULL);
		else
			execl(program, FLUSH_PROGRAM, "--flush", (char *)NULL);
		fprintf(stderr, "zonegate: %s: %s\n", program, strerror(errno));
		return EXIT_NOT_ALLOWED;
	}
	fprintf(stderr, "zonegate: there is no " FLUSH_PROGRAM " in %s, nor in %s/../sbin\n",
		folder, folder);
	return EXIT_NOT_FOUND;
}
