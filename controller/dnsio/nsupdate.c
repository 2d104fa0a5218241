// SPDX-License-Identifier: GPL-2.0-or-later
//                    publish, check timer
//   IDLE, WAITING ───────────────────────▶ READING ── nothing differs ──▶ IDLE
//                                             │ differs        any failure ──▶ WAITING
//                                             ▼
//                                          SENDING ──▶ VERIFYING ── all there ──▶ IDLE
// A view that is published meanwhile is taken when the round has ended; then the next round begins at once.
#include "dnsio/nsupdate.h"

#include "base/mem.h"
#include "child/child.h"
#include "dnsio/nsupdate_read.h"
#include "dnsio/nsupdate_records.h"

#include <errno.h>
#include <ev.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PORT_DEFAULT   53
#define CHECK_DEFAULT  300
#define SEND_TIMEOUT   (30 * USEC_PER_SEC)
#define RETRY_FIRST_MS 1000
#define RETRY_LAST_MS  60000
#define INPUT_MAX      (64u << 20)

const char *const nsupdate_phase_names[NSUPDATE_PHASE_COUNT] = {[NSUPDATE_IDLE] = "idle",
								[NSUPDATE_READING] = "reading",
								[NSUPDATE_SENDING] = "sending",
								[NSUPDATE_VERIFYING] = "verifying",
								[NSUPDATE_WAITING] = "waiting"};

struct nsupdate {
	struct ev_loop *loop;
	struct nsupdate_callbacks cb;
	struct nsupdate_target target;
	char *zone;
	char *key_file;
	char *program;
	double check_s;
	struct nsupdate_records *records;
	struct nsupdate_read *read;
	struct child *child;
	const struct view *next; /* published during a round; a reference */
	uint32_t round_serial;   /* of the view that this round is about */
	ev_timer timer;          /* IDLE: the next check; WAITING: the next try */
	ev_timer telling;        /* of names, from the loop */
	uint64_t told_version;
	struct nsupdate_state state;
};

static void nsupdate_start_reading(struct nsupdate *n, enum nsupdate_phase phase);

static void nsupdate_on_telling(struct ev_loop *loop, ev_timer *w, int events)
{
	struct nsupdate *n = w->data;
	AUTO_BUF struct buf_writer names;

	(void)loop;
	(void)events;
	n->told_version = nsupdate_records_version(n->records);
	buf_writer_init(&names, INPUT_MAX);
	nsupdate_records_write_names(n->records, &names);
	n->cb.names(n->cb.ctx, names.failed ? "" : buf_text(&names));
}

static void nsupdate_tell_names(struct nsupdate *n)
{
	if (n->cb.names && n->told_version != nsupdate_records_version(n->records))
		ev_timer_start(n->loop, &n->telling);
}

static void nsupdate_take_view(struct nsupdate *n, const struct view *v)
{
	nsupdate_records_want(n->records, v);
	n->round_serial = view_serial(v);
	nsupdate_tell_names(n);
}

/* ---- the end of a round ---- */

static void nsupdate_rest(struct nsupdate *n, enum nsupdate_phase phase, double seconds)
{
	n->state.phase = phase;
	n->timer.repeat = seconds;
	ev_timer_again(n->loop, &n->timer);
	n->cb.ended(n->cb.ctx, &n->state);
}

/* Takes what was published meanwhile. True if there was something. */
static bool nsupdate_take_next(struct nsupdate *n)
{
	const struct view *v = n->next;

	if (!v)
		return false;
	n->next = NULL;
	nsupdate_take_view(n, v);
	view_unref(v);
	return true;
}

static void nsupdate_succeed(struct nsupdate *n)
{
	n->state.failures = 0;
	n->state.synced = true;
	n->state.synced_serial = n->round_serial;
	n->state.success_wall = time_wall();
	nsupdate_records_prune(n->records);
	nsupdate_tell_names(n);
	nsupdate_rest(n, NSUPDATE_IDLE, n->check_s);
	if (nsupdate_take_next(n))
		nsupdate_start_reading(n, NSUPDATE_READING);
}

static void nsupdate_fail(struct nsupdate *n, const char *error)
{
	uint64_t wait_ms = RETRY_FIRST_MS;

	for (unsigned i = 0; i < n->state.failures && wait_ms < RETRY_LAST_MS; i++)
		wait_ms *= 2;
	if (wait_ms > RETRY_LAST_MS)
		wait_ms = RETRY_LAST_MS;
	n->state.failures++;
	n->state.failure_wall = time_wall();
	n->state.retry_at = time_monotonic() + wait_ms * USEC_PER_MS;
	snprintf(n->state.error, sizeof(n->state.error), "%s", error);
	/* Whatever was believed of the other server: it is read anew. */
	nsupdate_records_forget(n->records);
	(void)nsupdate_take_next(n);
	nsupdate_rest(n, NSUPDATE_WAITING, (double)wait_ms / 1000.);
}

/* ---- sending ---- */

/* The first line that the program said, without the line's end. */
static void nsupdate_describe(const struct nsupdate *n, const struct child_end *end, char *buf,
			      size_t size)
{
	int length = (int)strcspn(end->output, "\n");
	int at;

	if (end->status < 0)
		at = snprintf(buf, size, "%s did not end in time", n->program);
	else if (WIFEXITED(end->status))
		at = snprintf(buf, size, "%s ended with status %d", n->program,
			      WEXITSTATUS(end->status));
	else
		at = snprintf(buf, size, "%s was ended by signal %d", n->program,
			      WTERMSIG(end->status));
	if (length && at > 0 && (size_t)at < size)
		snprintf(buf + at, size - (size_t)at, ": %.*s", length, end->output);
}

static void nsupdate_on_sent(void *ctx, const struct child_end *end)
{
	struct nsupdate *n = ctx;
	char error[NSUPDATE_ERROR_MAX];

	n->child = NULL;
	if (end->status == 0) {
		nsupdate_start_reading(n, NSUPDATE_VERIFYING);
		return;
	}
	nsupdate_describe(n, end, error, sizeof(error));
	nsupdate_fail(n, error);
}

static void nsupdate_send(struct nsupdate *n)
{
	AUTO_BUF struct buf_writer input;
	const char *argv[] = {n->program, n->key_file ? "-k" : NULL, n->key_file, NULL};
	struct child_job job = {
		.argv = argv, .timeout = SEND_TIMEOUT, .ctx = n, .done = nsupdate_on_sent};
	char error[NSUPDATE_ERROR_MAX];
	int r;

	buf_writer_init(&input, INPUT_MAX);
	(void)nsupdate_records_write(n->records, &n->target, &input);
	job.input = buf_text(&input);
	job.input_size = input.size;
	n->state.phase = NSUPDATE_SENDING;
	n->state.updates++;
	r = input.failed ? -E2BIG : child_start(n->loop, &job, &n->child);
	if (r == 0)
		return;
	snprintf(error, sizeof(error), "%s cannot be started: %s", n->program, strerror(-r));
	nsupdate_fail(n, error);
}

/* ---- reading ---- */

static const struct nsupdate_record *nsupdate_first_difference(struct nsupdate *n)
{
	for (size_t i = 0; i < nsupdate_records_count(n->records); i++) {
		const struct nsupdate_record *record = nsupdate_records_at(n->records, i);

		if (nsupdate_records_differs(record))
			return record;
	}
	return NULL;
}

static void nsupdate_compare(struct nsupdate *n)
{
	const struct nsupdate_record *record = nsupdate_first_difference(n);
	char name[DNS_NAME_TEXT_MAX];
	char error[NSUPDATE_ERROR_MAX];

	if (!record) {
		nsupdate_succeed(n);
		return;
	}
	if (n->state.phase == NSUPDATE_READING) {
		nsupdate_send(n);
		return;
	}
	snprintf(error, sizeof(error),
		 "the server took the update, but %s %s is not as it was sent",
		 dns_name_format(&record->name, name), record->family == VIEW_V4 ? "A" : "AAAA");
	nsupdate_fail(n, error);
}

static void nsupdate_on_read(void *ctx, const char *error)
{
	struct nsupdate *n = ctx;
	struct nsupdate_read *read = n->read;

	n->read = NULL;
	nsupdate_read_free(read);
	if (error)
		nsupdate_fail(n, error);
	else
		nsupdate_compare(n);
}

static void nsupdate_start_reading(struct nsupdate *n, enum nsupdate_phase phase)
{
	struct nsupdate_read_callbacks cb = {n, nsupdate_on_read};
	char error[NSUPDATE_ERROR_MAX];
	int r;

	ev_timer_stop(n->loop, &n->timer);
	n->state.phase = phase;
	r = nsupdate_read_start(n->loop, &n->target, n->records, &cb, &n->read);
	if (r == 0)
		return;
	snprintf(error, sizeof(error), "reading back: %s", strerror(-r));
	nsupdate_fail(n, error);
}

static void nsupdate_on_timer(struct ev_loop *loop, ev_timer *w, int events)
{
	struct nsupdate *n = w->data;

	(void)loop;
	(void)events;
	nsupdate_records_forget(n->records);
	nsupdate_start_reading(n, NSUPDATE_READING);
}

/* ---- life ---- */

int nsupdate_new(struct ev_loop *loop, const struct nsupdate_settings *s,
		 const struct nsupdate_callbacks *cb, struct nsupdate **ret_nsupdate)
{
	struct dns_name zone;
	struct nsupdate *n;

	if (dns_name_parse(s->zone, &zone) < 0)
		return -EINVAL;
	n = mem_new(struct nsupdate);
	n->loop = loop;
	n->cb = *cb;
	n->zone = mem_strdup(s->zone);
	n->key_file = s->key_file ? mem_strdup(s->key_file) : NULL;
	n->program = mem_strdup(s->program ? s->program : "nsupdate");
	n->check_s = s->check_s ? s->check_s : CHECK_DEFAULT;
	n->target = (struct nsupdate_target){
		.zone = n->zone, .server = s->server, .port = s->port ? s->port : PORT_DEFAULT};
	n->records = nsupdate_records_new(&zone);
	ev_init(&n->timer, nsupdate_on_timer);
	ev_timer_init(&n->telling, nsupdate_on_telling, 0., 0.);
	n->timer.data = n->telling.data = n;
	*ret_nsupdate = n;
	return 0;
}

void nsupdate_free(struct nsupdate *n)
{
	if (!n)
		return;
	ev_timer_stop(n->loop, &n->timer);
	ev_timer_stop(n->loop, &n->telling);
	nsupdate_read_free(n->read);
	child_free(n->child);
	nsupdate_records_free(n->records);
	view_unref(n->next);
	free(n->zone);
	free(n->key_file);
	free(n->program);
	free(n);
}

void nsupdate_remember(struct nsupdate *n, const char *names)
{
	char *copy AUTO_FREE = mem_strdup(names);
	char *save = NULL;
	struct dns_name name;

	for (char *text = strtok_r(copy, " ", &save); text; text = strtok_r(NULL, " ", &save)) {
		if (dns_name_parse(text, &name) != 0)
			continue;
		dns_name_lower(&name);
		nsupdate_records_remember(n->records, &name);
	}
	n->told_version = nsupdate_records_version(n->records);
}

/* While a round runs its records stay as they are. After a failure the other server keeps its rest, with the new view. */
void nsupdate_publish(struct nsupdate *n, const struct view *v)
{
	n->state.serial = view_serial(v);
	if (n->read || n->child) {
		view_unref(n->next);
		n->next = view_ref(v);
		return;
	}
	nsupdate_take_view(n, v);
	if (n->state.phase == NSUPDATE_IDLE)
		nsupdate_start_reading(n, NSUPDATE_READING);
}

void nsupdate_read_state(const struct nsupdate *n, struct nsupdate_state *ret_state)
{
	*ret_state = n->state;
	ret_state->records = nsupdate_records_count(n->records);
}
