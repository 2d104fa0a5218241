// SPDX-License-Identifier: GPL-2.0-or-later
// Entity tags: what they are made of, and matching them (RFC 9110 §8.8.3, §13.1).
#include <stdio.h>
#include <string.h>

#include "model/change.h"

const char *change_object_etag(const struct object *o, char buf[ETAG_MAX])
{
	snprintf(buf, ETAG_MAX, "\"%016llx-%llu\"", (unsigned long long)o->uid,
		 (unsigned long long)o->revision);
	return buf;
}

const char *change_document_etag(const struct snapshot *s, char buf[ETAG_MAX])
{
	snprintf(buf, ETAG_MAX, "\"r%llu\"", (unsigned long long)s->revision);
	return buf;
}

bool change_etag_matches(const char *if_match, const char *etag)
{
	size_t length = strlen(etag);
	for (const char *p = if_match + strspn(if_match, " \t,"); *p; p += strspn(p, " \t,")) {
		if (strcmp(p, "*") == 0)
			return true;
		const char *open = strncmp(p, "W/", 2) == 0 ? p + 2 : p;
		const char *close = *open == '"' ? strchr(open + 1, '"') : NULL;
		if (!close)
			return false; // not a list of tags
		if (open == p && (size_t)(close + 1 - open) == length &&
		    memcmp(open, etag, length) == 0)
			return true;
		p = close + 1;
	}
	return false;
}
