// SPDX-License-Identifier: GPL-2.0-or-later
// What is noted, and how much of it: each change by itself; what was refused or changed nothing once, and its repetitions within
// a minute as one more entry with their number. So ten thousand refusals a second write no more than a few entries.
#include "api/audit.h"

#include "api/context.h"
#include "api/router.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "engine/status.h"

#include <ev.h>
#include <stdio.h>
#include <string.h>

#define AUDIT_BASE "/api/v1/"

/* One kind of refusal, of the window that runs. */
struct audit_seen {
	struct audit_subject subject;
	struct addr source; /* of IPv6 its /64: who has one address there has all */
	char result[32];
	unsigned status;
	bool dry_run;
	bool others; /* of all that have no place of their own */
	uint64_t revision;
	uint64_t repeats; /* after the first, which was written at once */
	usec_t first_wall;
	usec_t last_wall;
};

struct audit {
	struct ev_loop *loop;
	struct engine *engine;
	ev_timer window;
	size_t count;
	struct audit_seen seen[AUDIT_DISTINCT_MAX];
	struct audit_seen others;
};

/* ---- entries ---------------------------------------------------------------------------------- */

void audit_take_subject(const struct request *r, struct audit_subject *ret_subject)
{
	struct audit_subject *s = ret_subject;

	*s = (struct audit_subject){
		.via = r->via, .method = request_method_name(r->method), .minimal = r->minimal};
	snprintf(s->id, sizeof(s->id), "%s", r->id);
	snprintf(s->who, sizeof(s->who), "%s", *r->who ? r->who : "nobody");
	snprintf(s->token, sizeof(s->token), "%s", r->token);
	snprintf(s->path, sizeof(s->path), "%s", r->uri.path);
	if (addr_is_set(&r->source))
		addr_format(&r->source, s->source);
}

/* "zones/a": what the path names. */
static const char *audit_object(const char *path)
{
	if (strncmp(path, AUDIT_BASE, strlen(AUDIT_BASE)) == 0)
		return path + strlen(AUDIT_BASE);
	return path[0] == '/' ? path + 1 : path;
}

static json_t *audit_text(const char *text)
{
	json_t *json = *text ? json_string(text) : NULL;

	return json ? json : json_null();
}

static json_t *audit_encode_subject(const struct audit_subject *s)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:s, s:s}", "request_id", s->id, "actor",
			 audit_text(s->who), "via", s->via, "token", audit_text(s->token), "source",
			 audit_text(s->source), "method", s->method, "path", s->path, "object",
			 audit_object(s->path));
}

static char *audit_print(json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	assert(text);
	return text;
}

/* As the answer will have it when the kernel takes it all. */
static int audit_status(const struct audit_subject *s, const struct proposal_outlook *o)
{
	if (o->removed)
		return o->draining ? 202 : 204;
	if (s->minimal)
		return 204;
	return o->created ? 201 : 200;
}

char *audit_encode_change(const struct audit_subject *s, const struct proposal_outlook *o)
{
	json_t *json = audit_encode_subject(s);

	json_object_update_new(json, json_pack("{s:I, s:I, s:i, s:s, s:b}", "revision_before",
					       (json_int_t)o->before, "revision_after",
					       (json_int_t)o->after, "status", audit_status(s, o),
					       "result", "ok", "dry_run", 0));
	return audit_print(json);
}

static json_t *audit_encode_seen(const struct audit_seen *seen)
{
	json_t *json = audit_encode_subject(&seen->subject);

	json_object_update_new(json, json_pack("{s:I, s:n, s:i, s:s, s:b}", "revision_before",
					       (json_int_t)seen->revision, "revision_after",
					       "status", (int)seen->status, "result", seen->result,
					       "dry_run", seen->dry_run));
	return json;
}

static void audit_write(struct audit *a, const struct audit_seen *seen, json_t *json)
{
	bool refused = seen->status >= 400 || seen->others;

	metrics_add(METRIC_AUDIT_ENTRIES, 1);
	engine_audit(a->engine, refused ? STORE_AUDIT_REFUSED : STORE_AUDIT_CHANGE,
		     audit_print(json));
}

/* ---- repetitions ------------------------------------------------------------------------------ */

static void audit_write_repeats(struct audit *a, struct audit_seen *seen)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];
	json_t *json;

	if (seen->repeats == 0)
		return;
	json = audit_encode_seen(seen);
	json_object_update_new(json,
			       json_pack("{s:I, s:s, s:s}", "count", (json_int_t)seen->repeats,
					 "first_at", time_format_wall(seen->first_wall, first),
					 "last_at", time_format_wall(seen->last_wall, last)));
	if (seen->others) {
		json_object_set_new(json, "request_id", json_null());
		json_object_set_new(json, "source", json_null());
	}
	audit_write(a, seen, json);
	seen->repeats = 0;
}

void audit_flush(struct audit *a)
{
	for (size_t i = 0; i < a->count; i++)
		audit_write_repeats(a, &a->seen[i]);
	audit_write_repeats(a, &a->others);
	a->count = 0;
	ev_timer_stop(a->loop, &a->window);
}

static void audit_on_window(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	audit_flush(timer->data);
}

static bool audit_same(const struct audit_seen *a, const struct audit_seen *b)
{
	return a->status == b->status && a->dry_run == b->dry_run &&
	       addr_compare(&a->source, &b->source) == 0 &&
	       a->subject.method == b->subject.method && a->subject.via == b->subject.via &&
	       strcmp(a->subject.path, b->subject.path) == 0 &&
	       strcmp(a->subject.who, b->subject.who) == 0 &&
	       strcmp(a->subject.token, b->subject.token) == 0 && strcmp(a->result, b->result) == 0;
}

/* Where it is counted, new if *ret_first; the place of the others when it has none of its own. */
static struct audit_seen *audit_find_place(struct audit *a, const struct audit_seen *one,
					   bool *ret_first)
{
	size_t of_source = 0;

	*ret_first = false;
	for (size_t i = 0; i < a->count; i++) {
		if (audit_same(&a->seen[i], one))
			return &a->seen[i];
		of_source += addr_compare(&a->seen[i].source, &one->source) == 0;
	}
	if (a->count == AUDIT_DISTINCT_MAX || of_source >= AUDIT_SOURCE_MAX)
		return &a->others;
	*ret_first = true;
	a->seen[a->count] = *one;
	return &a->seen[a->count++];
}

static void audit_count(struct audit *a, const struct audit_seen *one)
{
	struct audit_seen *place;
	bool first;

	if (!ev_is_active(&a->window)) {
		ev_timer_again(a->loop, &a->window);
	}
	place = audit_find_place(a, one, &first);
	place->last_wall = time_wall();
	if (first) {
		audit_write(a, place, audit_encode_seen(place));
		return;
	}
	if (place->repeats++ == 0)
		place->first_wall = place->last_wall;
	if (place->others)
		place->revision = one->revision;
}

/* ---- what is noted ---------------------------------------------------------------------------- */

static bool audit_is_kept_out(unsigned status)
{
	return status == 401 || status == 403 || status == 421 || status == 429;
}

static bool audit_wants(const struct request *r)
{
	if (r->recorded)
		return false;
	if (r->method == METHOD_GET)
		return r->replied && audit_is_kept_out(r->status);
	return !r->route || !(r->route->flags & ROUTE_READS) ||
	       (r->replied && audit_is_kept_out(r->status));
}

/* A configuration write without an entry of its own changed nothing. */
static bool audit_is_counted(const struct request *r, bool dry_run)
{
	return dry_run || !r->replied || r->status >= 400 ||
	       (r->route && (r->route->flags & ROUTE_DRY_RUN));
}

static struct addr audit_network(const struct addr *source)
{
	struct addr network = *source;

	if (network.family == AF_INET6)
		memset(network.bytes + 8, 0, 8);
	return network;
}

void audit_note(struct audit *a, const struct request *r)
{
	AUTO_ERR struct err ignored = {0};
	struct audit_seen one = {.status = r->replied ? r->status : 0};

	if (!audit_wants(r))
		return;
	audit_take_subject(r, &one.subject);
	one.source = audit_network(&r->source);
	one.revision = engine_snapshot(a->engine)->revision;
	request_query_bool(r, "dry_run", &ignored, &one.dry_run);
	snprintf(one.result, sizeof(one.result), "%s",
		 !r->replied ? "unanswered" : (r->problem ? r->problem : "ok"));
	if (audit_is_counted(r, one.dry_run))
		audit_count(a, &one);
	else
		audit_write(a, &one, audit_encode_seen(&one));
}

struct audit *audit_new(struct ev_loop *loop, struct engine *engine, usec_t window)
{
	struct audit *a = mem_new(struct audit);

	a->loop = loop;
	a->engine = engine;
	a->others = (struct audit_seen){
		.others = true,
		.result = "others",
		.subject = {.who = "", .via = "", .method = "", .path = ""}};
	ev_timer_init(&a->window, audit_on_window, 0., (double)window / (double)USEC_PER_SEC);
	a->window.data = a;
	return a;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	ev_timer_stop(a->loop, &a->window);
	free(a);
}
