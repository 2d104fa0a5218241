// SPDX-License-Identifier: GPL-2.0-or-later
// Servers of every temper take turns on the same sockets, as fast as the scheduler goes: whoever had the socket before, each
// probe ends as its own server makes it end, with that one's words.
#include "probe/probe_sched_parts.h"
#include "probe/probe_spare.h"
#include "probe_net.h"

#include <stdio.h>

#define TARGETS  17 /* of each temper and kind: all but one over IPv4 */
#define RESULTS  20000
#define EACH_MIN 4 /* results of a target at least: the silent ones take T */
#define SECONDS  40.
#define PAUSE    (2 * USEC_PER_MS)
#define PATIENCE 5000 /* ms: a machine that is busy makes no server silent */
#define BLOCK    16384
#define BLOCKS   64

enum temper { GOOD, ENDLESS, FIN, SICK, MUTE, RESETS, REFUSES, DROPS, TEMPERS };

static const struct temper_row {
	enum probe_verdict verdict;
	enum health_reason reason;
	unsigned status;
	int error;
	const char *text;
} rows[TEMPERS] = {
	[GOOD] = {PROBE_PASS, REASON_NONE, 200, 0, "HTTP/1.1 200 Good"},
	[ENDLESS] = {PROBE_PASS, REASON_NONE, 204, 0, "HTTP/1.1 204 Endless"},
	[FIN] = {PROBE_PASS, REASON_NONE, 201, 0, "HTTP/1.0 201 Fin"},
	[SICK] = {PROBE_FAIL_ACTIVE, REASON_HTTP_STATUS_MISMATCH, 503, 0, "HTTP/1.1 503 Sick"},
	[MUTE] = {PROBE_FAIL_SILENT, REASON_RECV_TIMEOUT, 0, 0, ""},
	[RESETS] = {PROBE_FAIL_ACTIVE, REASON_CONNECT_RESET, 0, ECONNRESET, ""},
	[REFUSES] = {PROBE_FAIL_ACTIVE, REASON_CONNECT_REFUSED, 0, ECONNREFUSED, ""},
	[DROPS] = {PROBE_FAIL_SILENT, REASON_CONNECT_TIMEOUT, 0, 0, ""},
};
static const struct temper_row connected = {PROBE_PASS, REASON_NONE, 0, 0, ""};

struct hostile_target {
	const struct temper_row *row;
	unsigned count;
};

struct hostile {
	struct fixture f;                          /* first: it is what a result is told with */
	struct health_check checks[2][2];          /* of HTTP and TCP, of silent and other ones */
	struct fixture_server servers[2][TEMPERS]; /* by family */
	struct hostile_target targets[2 * TEMPERS * TARGETS];
	size_t count;
	size_t ready; /* targets with EACH_MIN results */
	unsigned ended;
};

/* ---- the servers ---- */

static void serve(int fd, void *arg)
{
	static const struct linger reset = {.l_onoff = 1, .l_linger = 0};
	static const char block[BLOCK];
	const enum temper temper = (enum temper)(uintptr_t)arg;
	char bytes[1024];

	if (recv(fd, bytes, sizeof(bytes), 0) <= 0)
		return;
	if (temper == RESETS) {
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		return;
	}
	snprintf(bytes, sizeof(bytes), "%s\r\n\r\n", rows[temper].text);
	fixture_send(fd, bytes);
	if (temper == FIN)
		return;
	for (int i = 0; temper == ENDLESS && i < BLOCKS; i++) {
		if (send(fd, block, sizeof(block), MSG_NOSIGNAL) < 0)
			return;
	}
	fixture_wait_gone(fd, 1000);
}

static void start_servers(struct hostile *h)
{
	static const char *const any[] = {"0.0.0.0", "::1"};

	for (size_t v6 = 0; v6 < 2; v6++) {
		for (uintptr_t t = 0; t < TEMPERS; t++) {
			bool silent = t == MUTE || t == DROPS || t == REFUSES;
			struct fixture_server *s = &h->servers[v6][t];

			fixture_server_start(s, any[v6], silent ? NULL : serve, (void *)t);
			if (t == DROPS)
				net_mute(s->fd);
			if (t == REFUSES)
				fixture_server_stop(s);
		}
	}
}

static void stop_servers(struct hostile *h)
{
	for (size_t v6 = 0; v6 < 2; v6++) {
		for (size_t t = 0; t < TEMPERS; t++) {
			if (t != REFUSES)
				fixture_server_stop(&h->servers[v6][t]);
		}
	}
}

/* ---- the probes ---- */

static usec_t on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct hostile *h = ctx;
	struct hostile_target *t = ref;

	fixture_assert(r, t->row->verdict, t->row->reason);
	assert_int_equal(r->evidence.http_status, t->row->status);
	assert_int_equal(r->evidence.error, t->row->error);
	assert_string_equal(r->evidence.text, t->row->text);
	h->ready += ++t->count == EACH_MIN;
	if (++h->ended >= RESULTS && h->ready == h->count)
		ev_break(h->f.loop, EVBREAK_ALL);
	return r->health.ended + PAUSE;
}

static const struct temper_row *row_of(enum temper temper, const struct health_check *check)
{
	bool connects = temper != REFUSES && temper != DROPS;

	return check->type == CHECK_TCP && connects ? &connected : &rows[temper];
}

static void add_target(struct hostile *h, enum temper temper, const struct health_check *check,
		       unsigned number)
{
	const bool v6 = number == TARGETS - 1;
	struct hostile_target *t = &h->targets[h->count++];
	struct probe_target target = {
		.check = check,
		.address = h->servers[v6][temper].address,
		.port = h->servers[v6][temper].port,
	};

	if (!v6)
		memcpy(target.address.bytes, (uint8_t[]){127, 2, (uint8_t)number, 1}, 4);
	t->row = row_of(temper, check);
	probe_sched_add(h->f.sched, &target, t, time_monotonic());
}

/* Nobody accepts what the mute ones are given: without requests to them the queue would be full of what has gone. */
static void test_each_for_himself(void **state)
{
	static struct hostile h;
	const int files = fixture_count_files();

	(void)state;
	h = (struct hostile){0};
	for (size_t i = 0; i < 2; i++) {
		h.checks[i][0] = h.checks[i][1] = fixture_check(i ? CHECK_TCP : CHECK_HTTP);
		h.checks[i][0].timeout_ms = PATIENCE;
	}
	start_servers(&h);
	fixture_start(&h.f, on_result);
	for (unsigned i = 0; i < 2 * TEMPERS * TARGETS; i++) {
		enum temper temper = (enum temper)(i / 2 % TEMPERS);
		bool silent = temper == MUTE || temper == DROPS;
		const struct health_check *check = &h.checks[i % 2][silent];

		if (temper != MUTE || check->type == CHECK_HTTP)
			add_target(&h, temper, check, i / 2 / TEMPERS);
	}
	fixture_loop(&h.f, SECONDS);
	assert_false(h.f.timed_out);
	assert_true(probe_spare_count(h.f.sched->io.spare) > 0);
	fixture_stop(&h.f);
	stop_servers(&h);
	assert_int_equal(fixture_settled_files(files), files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_for_himself),
	};

	return cmocka_run_group_tests_name("probe_spare_hostile", tests, net_enter, NULL);
}
