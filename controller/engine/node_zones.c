// SPDX-License-Identifier: GPL-2.0-or-later
// [node] zones against the document: of a zone that it does not know nothing is programmed, and that is rarely meant.
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "engine/parts.h"
#include "engine/told.h"

#define TOLD_ZONES "node.zones"

#define LIST_MAX 8192 /* as many names as a node may have, and a sentence */

/* The advice, or NULL: all are known, or nothing was written yet. Caller frees. */
static char *describe_unknown(const struct engine *e)
{
	AUTO_BUF struct buf_writer w;
	size_t unknown = 0;

	buf_writer_init(&w, LIST_MAX);
	buf_write_text(&w, "[node] zones names ");
	for (size_t i = 0; i < e->settings.zone_count; i++) {
		if (snapshot_find_zone(e->snapshot, e->settings.zones[i]))
			continue;
		buf_write_format(&w, "%s%s", unknown ? ", " : "", e->settings.zones[i]);
		unknown++;
	}
	if (unknown == 0 || e->snapshot->zones.count == 0)
		return NULL;
	buf_write_format(
		&w,
		", of which the document knows nothing and this node programs none: correct the "
		"setting, or add the zone%s",
		unknown > 1 ? "s" : "");
	return buf_take(&w);
}

void node_zones_check(struct engine *e)
{
	char *advice;

	if (e->flushing) /* of an empty document, which says nothing of the setting */
		return;
	advice = describe_unknown(e);
	if (advice && told_is_news(e, TOLD_ZONES, advice))
		engine_emit(e, EVENT_NODE_ZONES_UNKNOWN, "", "%s", advice);
	else if (!advice && told_knows(e, TOLD_ZONES) && told_is_news(e, TOLD_ZONES, ""))
		engine_emit(e, EVENT_NODE_ZONES_KNOWN, "",
			    "the document knows all of [node] zones");
	free(e->zones_advice);
	e->zones_advice = advice;
}
