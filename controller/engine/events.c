// SPDX-License-Identifier: GPL-2.0-or-later
// Where events are made: numbered, told to the log, and written for the store. Others see them when they are stored.
#include "engine/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "engine/event_limit.h"
#include "engine/parts.h"

#define EVENT_DETAIL_MAX 512
#define EVENT_OBJECT_MAX 100

const char *engine_event_name(enum engine_event_id id)
{
	static const char *const names[] = {
#define EVENT(id, name, level, meaning, remedy) [EVENT_##id] = name,
#include "engine/events.def"
#undef EVENT
	};

	return names[id];
}

static const char *const severity_names[] = {
	[SEVERITY_ERROR] = "error",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_NOTICE] = "notice",
	[SEVERITY_INFO] = "info",
};
_Static_assert((int)LOG_LEVEL_INFO == (int)SEVERITY_INFO, "severities are levels");
#define SEVERITIES (sizeof(severity_names) / sizeof(severity_names[0]))

const char *engine_event_severity_name(enum event_severity s)
{
	return severity_names[s];
}

int engine_event_severity_parse(const char *name)
{
	for (size_t i = 0; name && i < SEVERITIES; i++)
		if (strcmp(severity_names[i], name) == 0)
			return (int)i;
	return -1;
}

static enum event_severity event_severity(const struct emission *x)
{
	static const enum log_level levels[] = {
#define EVENT(id, name, level, meaning, remedy) [EVENT_##id] = level,
#include "engine/events.def"
#undef EVENT
	};

	return x->bad && levels[x->id] > LOG_LEVEL_WARNING ? SEVERITY_WARNING
							   : (enum event_severity)levels[x->id];
}

/* Rises also when the clock is set back, and where the store has lost some. */
static uint64_t next_number(struct engine *e, usec_t wall)
{
	e->events.number = wall > e->events.number ? wall : e->events.number + 1;
	return e->events.number;
}

/* Without the object where a text is none. */
static char *encode(struct engine_event *ev, const struct emission *x)
{
	char at[TIME_TEXT_MAX];
	json_t *json = json_pack(
		"{s:o, s:s, s:s, s:s, s:s, s:s, s:o}", "id", json_sprintf("%" PRIu64, ev->number),
		"at", time_format_wall(ev->wall, at), "type", engine_event_name(ev->id), "object",
		ev->object, "severity", severity_names[event_severity(x)], "detail", ev->detail,
		"data", x->data ? json_incref(x->data) : json_object());
	char *text;

	if (!json) { /* a text from outside that is no UTF-8 */
		ev->object = "";
		json = json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:{}}", "id",
				 json_sprintf("%" PRIu64, ev->number), "at", at, "type",
				 engine_event_name(ev->id), "object", ev->object, "severity",
				 severity_names[event_severity(x)], "detail",
				 "the text of this event cannot be shown", "data");
	}
	text = json_dumps(json, JSON_COMPACT);
	assert(text);
	json_decref(json);
	return text;
}

void events_tell(struct engine *e, const struct emission *x, const char *detail)
{
	struct engine_event ev = {.id = x->id,
				  .wall = e->ports.wall(e->ports.ctx),
				  .object = x->object,
				  .detail = detail,
				  .severity = event_severity(x)};
	struct event_record record = {.severity = ev.severity, .type = engine_event_name(x->id)};
	char key[24];
	char *text;

	ev.number = next_number(e, ev.wall);
	if (!x->unlogged)
		e->ports.event(e->ports.ctx, &ev);
	snprintf(key, sizeof(key), "%" PRIu64, ev.number);
	text = encode(&ev, x);
	record.object = ev.object;
	rows_append_event(e, key, text, &record);
}

void engine_emit_with(struct engine *e, const struct emission *x, const char *fmt, ...)
{
	char detail[EVENT_DETAIL_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	text_trim(detail);
	if (!event_limit_holds(e, x, detail))
		events_tell(e, x, detail);
	json_decref(x->data);
}

void engine_emit(struct engine *e, enum engine_event_id id, const char *object, const char *fmt,
		 ...)
{
	char detail[EVENT_DETAIL_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	engine_emit_with(e, &(struct emission){.id = id, .object = object}, "%s", detail);
}

void engine_tell(struct engine *e, enum engine_event_id id, const char *detail)
{
	engine_emit(e, id, "", "%s", detail);
}

void engine_note_login_failed(struct engine *e, const char *user, const char *source,
			      const char *why)
{
	char object[EVENT_OBJECT_MAX];

	snprintf(object, sizeof(object), "%s%s", *user ? "users/" : "", user);
	engine_emit_with(e,
			 &(struct emission){.id = EVENT_AUTH_LOGIN_FAILED,
					    .object = object,
					    .data = json_pack("{s:s}", "source", source)},
			 "%s, from %s", why, source);
}

/* ---- from the store to others ---------------------------------------------------------------------- */

void engine_load_event_number(struct engine *e, uint64_t number)
{
	assert(!e->started);
	if (number > e->events.number)
		e->events.number = number;
	e->events.published = number;
}

uint64_t engine_last_event(const struct engine *e)
{
	return e->events.published;
}

static void publish(struct engine *e, struct engine_row *r)
{
	struct event_record record = {.id = strtoull(r->key, NULL, 10),
				      .severity = (enum event_severity)r->severity,
				      .type = r->type,
				      .object = r->object,
				      .text = r->value};

	r->told = true;
	e->events.published = record.id;
	if (e->ports.publish)
		e->ports.publish(e->ports.ctx, &record);
}

void events_publish(struct engine *e, const struct vec *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct engine_row *r = rows->items[i];

		if (r->type && !r->told)
			publish(e, r);
	}
}

/* ---- what is asked for ----------------------------------------------------------------------------- */

/* One of a list: the type itself, or its family. */
static bool item_matches(const char *item, size_t length, const char *type)
{
	if (length > 1 && item[length - 1] == '*' && item[length - 2] == '.')
		return strncmp(item, type, length - 1) == 0;
	return strlen(type) == length && memcmp(item, type, length) == 0;
}

bool engine_event_matches(const char *types, const char *type)
{
	if (!types)
		return true;
	for (const char *item = types; *item;) {
		size_t length = strcspn(item, ",");

		if (item_matches(item, length, type))
			return true;
		item += length + (item[length] == ',');
	}
	return false;
}

bool engine_event_list_is_valid(const char *types, char ret_fault[EVENT_TYPE_MAX])
{
	for (const char *item = types; item;) {
		size_t length = strcspn(item, ",");
		bool known = false;

		for (int i = 0; i < EVENT_COUNT; i++)
			known |= item_matches(item, length,
					      engine_event_name((enum engine_event_id)i));
		if (!known) {
			snprintf(ret_fault, EVENT_TYPE_MAX, "%.*s",
				 (int)(length < EVENT_TYPE_MAX ? length : EVENT_TYPE_MAX - 1),
				 item);
			return false;
		}
		item = item[length] ? item + length + 1 : NULL;
	}
	return true;
}

bool engine_event_concerns(const char *object, const char *of_event)
{
	size_t length = object ? strlen(object) : 0;

	return !object || (strncmp(object, of_event, length) == 0 &&
			   (!of_event[length] || of_event[length] == '/'));
}
