/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One HTTP request to the daemon, over its socket or a URL. */
#ifndef ZG_CLI_CLI_CLIENT_H
#define ZG_CLI_CLI_CLIENT_H

#include <jansson.h>

#include "cli/cli.h"

#define CLI_BASE "/api/v1"

struct cli_client;

/* Warns of a file that holds a secret (`what`: "the token") and that everybody can read or write. */
void cli_client_warn_of_open(const char *path, const char *what);

/* … and of the files of tokens that are going to be read: of each once, however many clients read it. */
void cli_client_warn_of_tokens(const struct cli_options *o);

/* NULL with a sentence on standard error (token file). */
struct cli_client *cli_client_new(const struct cli_options *o);
void cli_client_free(struct cli_client *c); /* NULL-safe */

/* Whether two URLs that cli_client_new() takes are one address, however they are written. */
bool cli_client_same_url(const char *a, const char *b);

struct cli_answer {
	long status; /* 0: the daemon was not reached; said on standard error already */
	const struct cli_options *options; /* with which it was asked; NULL: it was not */
	char etag[80];
	char *text;
	size_t size;
	json_t *json; /* of `text`, or NULL */
};
void cli_client_clear(struct cli_answer *a);
#define AUTO_ANSWER __attribute__((cleanup(cli_client_clear)))

struct cli_call {
	const char *method;
	const char *path; /* from the root: "/api/v1/zones" */
	const char *body; /* NULL: none */
	size_t body_size;
	const char *type;                         /* of the body; NULL: JSON */
	const char *headers[CLI_HEADERS_MAX + 2]; /* "Name: value"; ends with NULL */
};
void cli_client_call(struct cli_client *c, const struct cli_call *call,
		     struct cli_answer *ret_answer);

/* The same for an answer that goes on: `take` gets the pieces of one that is a success, and ends it by returning false; of any other
 * ret_answer has the text. Nothing is said when it breaks off. */
void cli_client_stream(struct cli_client *c, const struct cli_call *call,
		       bool (*take)(void *ctx, const char *data, size_t size), void *ctx,
		       struct cli_answer *ret_answer);

/* GET of a path. */
void cli_client_get(struct cli_client *c, const char *path, struct cli_answer *ret_answer);

/* A copy of `text` for a query value or path segment; caller frees. */
char *cli_client_escape(const char *text);

/* What an answer of this status means for the exit code; EXIT_OK for 2xx. */
enum cli_exit cli_client_judge(long status);

#endif
