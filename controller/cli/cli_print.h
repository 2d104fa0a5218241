/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands say: JSON, tables, problems, changes. Results go to standard output, faults to standard error. */
#ifndef ZG_CLI_CLI_PRINT_H
#define ZG_CLI_CLI_PRINT_H

#include <jansson.h>

#include "cli/cli_client.h"
#include "cli/cli_table.h"

/* Where [kernel] ipvs = off: what else would be in the kernel. */
#define CLI_PLANNED "planned (ipvs = off)"

/* Of a load balancer whose zones are all shifted away or disabled. */
#define CLI_NO_ADDRESS "DNS hands out none of its addresses: its zones are shifted away or disabled"

/* Text of a member, fit for a terminal ("" if it is absent or none). */
const char *cli_print_text(const json_t *object, const char *member);
json_int_t cli_print_number(const json_t *object, const char *member);
bool cli_print_true(const json_t *object, const char *member);

/* Whether DNS hands out a zone's address, by `published` and `reason_code`: in service, taken out by somebody, waiting, or
 * broken. Returns `buf`. */
const char *cli_print_published(const struct cli *cli, const json_t *zone, char buf[CLI_STATE_MAX]);

/* Of the state of a load balancer that fails open: the mark ("IPv6 FAIL-OPEN" where it is one family only), and why; what somebody
 * drained by hand is no fault. Returns `state`. */
#define CLI_FAIL_OPEN_MAX 160
const char *cli_print_fail_open(const struct cli *cli, const json_t *status,
				char state[CLI_STATE_MAX], char ret_text[CLI_FAIL_OPEN_MAX]);

/* Indented, with a newline, fit for a terminal. */
void cli_print_json(const json_t *json);
/* Prints the table and frees it. */
void cli_print_table(struct cli_table *t);
/* The same; a table without rows is this sentence instead. */
void cli_print_table_or(struct cli_table *t, const char *empty);

/* A problem document, and each of its faults as "pointer: detail". Returns the exit code of its status. */
enum cli_exit cli_print_problem(const struct cli_answer *a);
/* Pure part: the same as text. */
void cli_print_write_problem(const struct cli_answer *a, struct buf_writer *w);

/* Warnings of a dry run on standard error. */
void cli_print_foreseen(const json_t *plan);

/* Warnings of a write ("committed, but …") on standard error. EXIT_NEGATIVE if there are any. */
enum cli_exit cli_print_warnings(const json_t *answer);

/* What was thought of at a write, on standard error: members {code, pointer, detail} of a list. The same sentence about several
 * places is one line. */
void cli_print_advice(const json_t *advice);
/* Only what is not in `before` (NULL: nothing was), and how many more there are; `where` tells how to see those. */
void cli_print_new_advice(const json_t *before, const json_t *advice, const char *where);

/* A dry run: changes and what the kernel would be told. EXIT_DIFFERENCES if there are changes. */
enum cli_exit cli_print_dry_run(const struct cli *cli, const json_t *answer);

/* Reads a whole file, "-" = standard input; NULL with a sentence on standard error. Caller frees. */
char *cli_print_read_file(const char *path, size_t *ret_size);

#endif
