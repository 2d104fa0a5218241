/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the web UI, which the program holds. They are for everybody: what they show they ask of the API. */
#ifndef ZG_API_UI_H
#define ZG_API_UI_H

#include <stdbool.h>
#include <stddef.h>

struct request;

struct ui_file {
	const char *
		name; /* below /ui/; index.html stands at /ui/ itself, all others have their hash in the name */
	const char *type;
	const char *etag;           /* with its quotes */
	const unsigned char *bytes; /* compressed (gzip) */
	size_t size;
};

/* Written by webui/build.mjs. None: the program was built without. */
const struct ui_file *ui_files(size_t *ret_count);

/* "" is index.html. NULL: there is no such file. */
const struct ui_file *ui_find(const struct ui_file *files, size_t count, const char *name);

/* Answers a request for / or below /ui; false: it is another one. Sets `ui` of the request if its answer is for a browser to
 * run. */
bool ui_serve(struct request *r);

#endif
