/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text tables with aligned columns, and the words and colours of states. Pure: writes into a buffer. */
#ifndef ZG_CLI_CLI_TABLE_H
#define ZG_CLI_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define CLI_TABLE_COLUMNS_MAX 16

struct cli_table;

/* `heads` ends with NULL. A head that begins with ">" makes a column of numbers: aligned to the right. */
struct cli_table *cli_table_new(const char *const *heads);
void cli_table_free(struct cli_table *t); /* NULL-safe */

/* Adds a row of as many cells as heads; "" or NULL cells are empty. Copied. */
void cli_table_add(struct cli_table *t, const char *const *cells);
size_t cli_table_rows(const struct cli_table *t);

/* Cells are escaped (cli_escape.h), but for colours; nothing from outside reaches the terminal raw. */
void cli_table_write(const struct cli_table *t, struct buf_writer *w);

/* Columns that the text takes: code points of UTF-8, without terminal sequences. */
size_t cli_table_width(const char *text);

enum cli_mood { MOOD_GOOD, MOOD_WAITING, MOOD_BAD, MOOD_OFF };

/* Shape, word and, if wanted, colour: "● healthy", "+ healthy". Returns `buf`. */
#define CLI_STATE_MAX 96
const char *cli_table_state(enum cli_mood mood, const char *word, bool color, bool unicode,
			    char buf[CLI_STATE_MAX]);
/* The mood of a server's state. */
enum cli_mood cli_table_mood(const char *state, bool in_service);

#endif
