// SPDX-License-Identifier: GPL-2.0-or-later
// Hands out the files of the web UI. Never asks who it is: the API does, for all that the pages show.
#include "api/ui.h"

#include "api/request.h"
#include "base/mem.h"

#include <string.h>

#define UI_INDEX   "index.html"
#define UI_FOREVER "public, max-age=31536000, immutable"

const struct ui_file *ui_find(const struct ui_file *files, size_t count, const char *name)
{
	const char *wanted = *name ? name : UI_INDEX;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(files[i].name, wanted) == 0)
			return &files[i];
	}
	return NULL;
}

static void ui_reply(struct request *r, const struct ui_file *file)
{
	const char *forever = strcmp(file->name, UI_INDEX) == 0 ? "no-cache" : UI_FOREVER;

	r->ui = true;
	request_header(r, "Cache-Control", forever);
	request_header(r, "ETag", file->etag);
	if (r->if_none_match && strstr(r->if_none_match, file->etag)) {
		request_reply_empty(r, 304);
		return;
	}
	request_header(r, "Content-Encoding", "gzip");
	request_reply_text(r, 200, file->type, mem_dup(file->bytes, file->size), file->size);
}

static void ui_redirect(struct request *r)
{
	request_header(r, "Location", "/ui/");
	request_reply_empty(r, 308);
}

static void ui_reply_file(struct request *r, const char *name)
{
	size_t count;
	const struct ui_file *files = ui_files(&count);
	const struct ui_file *file = ui_find(files, count, name);

	if (file)
		ui_reply(r, file);
	else if (count == 0)
		request_fail(
			r, PROBLEM_NOT_FOUND,
			"this zonegated was built without the web UI: \"make deps && make\" builds it");
	else
		request_fail(r, PROBLEM_NOT_FOUND, "the web UI has no such file; it is at /ui/");
}

bool ui_serve(struct request *r)
{
	const struct uri *u = &r->uri;
	bool root = u->segment_count == 1 && *u->segments[0] == '\0';

	if (!root && strcmp(u->segments[0], "ui") != 0)
		return false;
	if (r->method != METHOD_GET) {
		request_header(r, "Allow", "GET, HEAD");
		request_fail(r, PROBLEM_METHOD_NOT_ALLOWED, "%s allows GET, HEAD", u->path);
	} else if (u->segment_count == 1) {
		ui_redirect(r);
	} else {
		ui_reply_file(r, u->segment_count == 2 ? u->segments[1] : "/");
	}
	return true;
}
