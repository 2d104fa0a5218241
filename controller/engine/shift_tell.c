// SPDX-License-Identifier: GPL-2.0-or-later
// What events say of zone shifts: who did what, until when, what comes next, and the comment.
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "engine/shift_parts.h"

#define SHIFT_SENTENCE_MAX 800

struct shift_words {
	const char *who;
	const char *target; /* "shop" */
	char until[TIME_TEXT_MAX];
	char next[SHIFT_NEXT_MAX]; /* once it is over */
};

bool shifts_say_next(const struct engine *e, const struct engine_shift *s, char buf[SHIFT_NEXT_MAX])
{
	const bool all = strcmp(s->lb, "*") == 0;
	const struct engine_shift *but = NULL;
	size_t count = 0;

	for (size_t i = 0; i < e->shifts.count; i++) {
		const struct engine_shift *other = e->shifts.items[i];

		if (strcmp(other->id, s->id) == 0 || strcmp(other->zone, s->zone) != 0)
			continue;
		if (strcmp(other->lb, "*") == 0) {
			snprintf(buf, SHIFT_NEXT_MAX, "another shift of the zone goes on");
			return false;
		}
		if (all && count++ == 0)
			but = other;
	}
	snprintf(buf, SHIFT_NEXT_MAX,
		 "DNS hands it out again when its VIP has passed its check%s%s%s%s",
		 but ? ", but for " : "", but ? but->lb : "", count > 1 ? " and others" : "",
		 but ? ", where another shift of the zone goes on" : "");
	return true;
}

static int say_change(const struct engine_shift *s, const struct engine_shift *before,
		      const struct shift_words *w, char buf[SHIFT_SENTENCE_MAX])
{
	char was[TIME_TEXT_MAX];

	time_format_wall(before->expires_wall, was);
	if (s->expires_wall == before->expires_wall)
		return snprintf(buf, SHIFT_SENTENCE_MAX,
				"%s changed the comment of the shift of zone %s away from %s, "
				"which holds until %s",
				w->who, s->zone, w->target, w->until);
	return snprintf(buf, SHIFT_SENTENCE_MAX,
			"%s %s the shift of zone %s away from %s until %s (it was %s)", w->who,
			s->expires_wall > before->expires_wall ? "extended" : "shortened", s->zone,
			w->target, w->until, was);
}

static int say_start(const struct engine_shift *s, const struct shift_words *w,
		     char buf[SHIFT_SENTENCE_MAX])
{
	return snprintf(buf, SHIFT_SENTENCE_MAX,
			"%s shifted zone %s away from %s until %s%s: DNS leaves it out%s, open "
			"connections go on",
			w->who, s->zone, w->target, w->until, s->forced ? ", by force" : "",
			s->evacuate ? ", its servers get no new connections from other zones" : "");
}

static int say_rest(enum engine_event_id id, const struct engine_shift *s,
		    const struct shift_words *w, char buf[SHIFT_SENTENCE_MAX])
{
	if (id == EVENT_SHIFT_CANCELLED)
		return snprintf(buf, SHIFT_SENTENCE_MAX,
				"%s returned zone %s to %s before the end of the shift (%s): %s",
				w->who, s->zone, w->target, w->until, w->next);
	if (id == EVENT_SHIFT_EXPIRED)
		return snprintf(buf, SHIFT_SENTENCE_MAX,
				"the shift of zone %s away from %s by %s ended at its time, %s: %s",
				s->zone, w->target, w->who, w->until, w->next);
	return snprintf(
		buf, SHIFT_SENTENCE_MAX,
		"the shift of zone %s away from %s by %s ends at %s: zonegate zone extend %s --for 2h, "
		"if it is to stay out",
		s->zone, w->target, w->who, w->until, s->zone);
}

void shifts_tell(struct engine *e, enum engine_event_id id, const struct engine_shift *s,
		 const struct engine_shift *before, const char *who)
{
	char path[OBJECT_PATH_MAX], text[SHIFT_SENTENCE_MAX];
	struct object_path p = {.kind = OBJECT_ZONE, .name = s->zone};
	struct shift_words w = {.who = who,
				.target = strcmp(s->lb, "*") == 0 ? "all load balancers" : s->lb};

	shifts_say_next(e, s, w.next);
	time_format_wall(s->expires_wall, w.until);
	if (before)
		say_change(s, before, &w, text);
	else if (id == EVENT_SHIFT_STARTED || id == EVENT_SHIFT_EXTENDED)
		say_start(s, &w, text);
	else
		say_rest(id, s, &w, text);
	engine_emit_with(
		e,
		&(struct emission){.id = id,
				   .object = object_path_format(&p, path),
				   .data = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "shift",
						     s->id, "zone", s->zone, "load_balancer", s->lb,
						     "by", who, "expires_at", w.until, "comment",
						     s->comment)},
		"%s; comment: \"%s\"", text, s->comment);
}
