/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of expectations share. */
#ifndef ZG_TESTS_SIM_PLAY_JUDGE_H
#define ZG_TESTS_SIM_PLAY_JUDGE_H

#include "sim/play.h"

/* Judges words[at]…, behind the name; `no` judges "expect no NAME …" (NULL: there is none). */
struct play_judge {
	const char *name;
	bool (*yes)(struct play *p, size_t at);
	bool (*no)(struct play *p, size_t at);
};
extern const struct play_judge play_judges_state[];    /* play_expect.c */
extern const struct play_judge play_judges_zone[];     /* play_zones.c */
extern const struct play_judge play_judges_crowd[];    /* play_crowd.c */
extern const struct play_judge play_judges_report[];   /* play_reports.c */
extern const struct play_judge play_judges_override[]; /* play_overrides.c */

const char *play_word(const struct play *p, size_t at); /* "" beyond the end */
const char *play_rest(const struct play *p, size_t at); /* the line from there on */
bool play_has(const struct play *p, size_t at, const char *word);
/* words[at] is the number that `seen` must be. */
bool play_judge_number(struct play *p, const char *what, uint64_t seen, size_t at);

#endif
