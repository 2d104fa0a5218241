/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was told last of things whose state an event reports, kept in the store: after a restart the same is not told again, and
 * what became different meanwhile is. For the files of this directory only. */
#ifndef ZG_ENGINE_TOLD_H
#define ZG_ENGINE_TOLD_H

#include <stdbool.h>

#define TOLD_KEY_MAX 160

struct engine;
struct store_row;

/* Whether `value` is news of `key`; if so it is what was told last from now on. What nothing was told of is news. */
bool told_is_news(struct engine *e, const char *key, const char *value);
/* Whether `value` was told of it last. */
bool told_was(const struct engine *e, const char *key, const char *value);
/* Whether anything was told of it, in this run or an earlier one. */
bool told_knows(const struct engine *e, const char *key);
/* It is no more, or whatever comes is news. */
void told_forget(struct engine *e, const char *key);
void told_load_row(struct engine *e, const struct store_row *row);
void told_free(struct engine *e);

#endif
