/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command printed as JSON, in the other forms of -o. Pure. */
#ifndef ZG_CLI_CLI_FORMAT_H
#define ZG_CLI_CLI_FORMAT_H

#include <jansson.h>

#include "base/buf.h"
#include "cli/cli.h"

/* The name by which other commands call a thing: "zone-a", "web/web-1", an id; NULL if it has none. Caller frees. */
char *cli_format_name(const json_t *thing);

/* An object as one of two lists names it: collections have "-" in the API's paths and "_" in its documents, and people mix them
 * up. What stands behind the first slash is a name and stays. Caller frees. */
char *cli_format_object(const char *text, char joint);

/* JSON lines: each item on a line of its own. `name`: each item's name, "parent/" before it where the command was asked for the
 * children of one parent; a thing without a name is called as it was asked for. Text that is no JSON stays as it is. False: a name was
 * wanted, and the one thing that the answer is has none. */
struct cli_format_wish {
	enum cli_format format;
	const char *asked;  /* the first argument, or NULL */
	const char *parent; /* whose children are listed, or NULL */
};
bool cli_format_write(const struct cli_format_wish *wish, const char *text, size_t size,
		      struct buf_writer *w);

#endif
