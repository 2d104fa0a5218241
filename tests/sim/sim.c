// SPDX-License-Identifier: GPL-2.0-or-later
// Runs plays: those named as arguments, else all of tests/sim/plays. `sim --random STEPS [SEED]` looks for faults for an hour at most.
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/play.h"
#include "sim/sim_random.h"

#define SIM_PLAYS   "tests/sim/plays"
#define SIM_LONGEST 3600

static int is_play(const struct dirent *d)
{
	size_t length = strlen(d->d_name);

	return length > 5 && strcmp(d->d_name + length - 5, ".play") == 0;
}

static unsigned run_one(const char *path)
{
	struct play *p = mem_new(struct play);
	const char *fault = play_run(p, path);

	if (fault)
		printf("FAIL sim %s\n", fault);
	else
		printf("ok   sim %s\n", path);
	fflush(stdout);
	free(p);
	return fault ? 1 : 0;
}

static int run_random(const char *steps, const char *seed)
{
	struct sim_random_plan plan = {.steps = strtoull(steps, NULL, 10),
				       .seed = seed ? strtoull(seed, NULL, 10) : 1,
				       .seconds = SIM_LONGEST};
	char why[2048];
	bool passed = plan.steps && plan.seed && sim_random_run(&plan, why, sizeof(why));

	if (!passed)
		printf("FAIL sim random: %s\n",
		       plan.steps && plan.seed ? why : "a number from 1 on");
	printf("%d passed, %d failed, 0 skipped\n", passed, !passed);
	return passed ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	unsigned total = 0;
	unsigned failed = 0;
	int count = 0;

	if (argc > 2 && strcmp(argv[1], "--random") == 0)
		return run_random(argv[2], argv[3]);
	for (int i = 1; i < argc; i++, total++)
		failed += run_one(argv[i]);
	if (argc == 1)
		count = scandir(SIM_PLAYS, &entries, is_play, alphasort);
	for (int i = 0; i < count; i++, total++) {
		char *path AUTO_FREE = mem_printf("%s/%s", SIM_PLAYS, entries[i]->d_name);

		failed += run_one(path);
		free(entries[i]);
	}
	free(entries);
	printf("%u passed, %u failed, 0 skipped\n", total - failed, failed);
	return failed || !total ? 1 : 0;
}
