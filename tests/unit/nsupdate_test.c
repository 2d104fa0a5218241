// SPDX-License-Identifier: GPL-2.0-or-later
// The real nsupdate(1) and a server in this process that takes its updates: what gets there, what is said when it does not,
// and that the loop goes on meanwhile.
#include "dns_fixture.h"
#include "dnsio/nsupdate.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_MAX     256
#define OPCODE       0x7800
#define UPDATE       0x2800
#define CLASS_DELETE 254 /* one record; 255: all of the type */

struct held {
	struct dns_name name;
	uint16_t type;
	uint32_t ttl;
	uint8_t size;
	uint8_t data[16];
};

static struct {
	struct ev_loop *loop;
	int fd;
	int listener;
	struct addr address;
	uint16_t port;
	ev_io io;
	ev_io accept;
	ev_timer limit;
	ev_timer tick;
	struct held held[HELD_MAX];
	size_t count;
	unsigned queries;
	unsigned updates;
	unsigned ticks;
	uint8_t update_rcode;
	bool deaf;      /* answers nothing */
	bool forgetful; /* says yes, does nothing */
	unsigned ended;
	struct nsupdate_state state; /* the last one that was told */
	unsigned wait_for;           /* successes and failures */
	char names[1024];            /* the last ones that were told */
} test;

/* ---- the server ---- */

static void held_remove(const struct held *h, unsigned class)
{
	for (size_t i = test.count; i-- > 0;) {
		struct held *x = &test.held[i];

		if (!dns_name_equal(&x->name, &h->name) || x->type != h->type)
			continue;
		if (class == CLASS_DELETE &&
		    (x->size != h->size || memcmp(x->data, h->data, h->size)))
			continue;
		*x = test.held[--test.count];
	}
}

static void take_update(struct buf_reader *r, unsigned count)
{
	test.updates++;
	for (unsigned i = 0; i < count; i++) {
		struct held h = {0};
		unsigned class;
		const uint8_t *data;

		wire_read_name(r, &h.name);
		h.type = buf_read_be16(r);
		class = buf_read_be16(r);
		h.ttl = buf_read_be32(r);
		h.size = (uint8_t)buf_read_be16(r);
		data = buf_read_bytes(r, h.size);
		assert_false(r->failed || h.size > sizeof(h.data));
		if (h.size)
			memcpy(h.data, data, h.size);
		if (test.forgetful)
			continue;
		if (class != WIRE_CLASS_IN) {
			held_remove(&h, class);
			continue;
		}
		assert_true(test.count < HELD_MAX);
		test.held[test.count++] = h;
	}
}

static size_t answer(uint8_t *message, size_t size, size_t capacity)
{
	struct wire_query q;
	struct buf_writer w;
	unsigned count = 0;

	assert_int_equal(wire_read_query(message, size, &q), WIRE_READ);
	test.queries++;
	wire_writer_init(&w, message, capacity);
	w.size = 12u + q.question_size;
	for (size_t i = 0; i < test.count; i++) {
		const struct held *h = &test.held[i];

		if (!dns_name_equal(&h->name, &q.name) || h->type != q.type)
			continue;
		buf_write_be16(&w, 0xc00c);
		buf_write_be16(&w, h->type);
		buf_write_be16(&w, WIRE_CLASS_IN);
		buf_write_be32(&w, h->ttl);
		buf_write_be16(&w, h->size);
		buf_write(&w, h->data, h->size);
		count++;
	}
	wire_patch_be16(&w, 2, WIRE_QR | WIRE_AA);
	wire_patch_be16(&w, 6, (uint16_t)count);
	wire_patch_be16(&w, 10, 0);
	return w.size;
}

/* Writes the reply over the message; its size. */
static size_t serve(uint8_t *message, size_t size, size_t capacity)
{
	struct buf_reader r;
	struct dns_name zone;

	if ((fixture_be16(message + 2) & OPCODE) != UPDATE)
		return answer(message, size, capacity);
	buf_reader_init(&r, message, size);
	buf_skip(&r, 12);
	wire_read_name(&r, &zone);
	buf_skip(&r, 4);
	if (test.update_rcode == 0)
		take_update(&r, fixture_be16(message + 8));
	message[2] |= 0x80;
	message[3] = test.update_rcode;
	memset(message + 4, 0, 8);
	return 12;
}

static void on_query(struct ev_loop *loop, ev_io *io, int events)
{
	uint8_t message[4096];
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	ssize_t n = recvfrom(test.fd, message, sizeof(message), MSG_DONTWAIT,
			     (struct sockaddr *)&sa, &size);

	(void)loop;
	(void)io;
	(void)events;
	if (n < 12 || test.deaf)
		return;
	n = (ssize_t)serve(message, (size_t)n, sizeof(message));
	sendto(test.fd, message, (size_t)n, 0, (const struct sockaddr *)&sa, size);
}

/* Long updates come by TCP. */
static void on_connection(struct ev_loop *loop, ev_io *io, int events)
{
	static uint8_t message[2 + 65535];
	int fd = accept4(test.listener, NULL, NULL, SOCK_CLOEXEC);
	size_t size;

	(void)loop;
	(void)io;
	(void)events;
	assert_true(fd >= 0);
	assert_int_equal(recv(fd, message, 2, MSG_WAITALL), 2);
	size = fixture_be16(message);
	assert_int_equal(recv(fd, message + 2, size, MSG_WAITALL), size);
	size = serve(message + 2, size, sizeof(message) - 2);
	message[0] = (uint8_t)(size >> 8);
	message[1] = (uint8_t)size;
	assert_int_equal(send(fd, message, size + 2, MSG_NOSIGNAL), size + 2);
	close(fd);
}

static const char *held_text(const char *name, uint16_t type, char buf[256])
{
	struct dns_name n;
	size_t at = 0;

	dns_name_parse(name, &n);
	buf[0] = '\0';
	for (size_t i = 0; i < test.count; i++) {
		const struct held *h = &test.held[i];
		struct addr a = {type == WIRE_TYPE_A ? AF_INET : AF_INET6, {0}};
		char text[ADDR_TEXT_MAX];

		if (!dns_name_equal(&h->name, &n) || h->type != type)
			continue;
		memcpy(a.bytes, h->data, h->size);
		at += (size_t)snprintf(buf + at, 256 - at, "%s%u %s", at ? " " : "", h->ttl,
				       addr_format(&a, text));
	}
	return buf;
}

/* ---- the loop ---- */

static void on_ended(void *ctx, const struct nsupdate_state *s)
{
	(void)ctx;
	test.state = *s;
	test.ended++;
	if (test.ended >= test.wait_for)
		ev_break(test.loop, EVBREAK_ALL);
}

static void on_names(void *ctx, const char *names)
{
	(void)ctx;
	snprintf(test.names, sizeof(test.names), " %s ", names);
}

static void on_limit(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)w;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

static void on_tick(struct ev_loop *loop, ev_timer *w, int events)
{
	(void)loop;
	(void)w;
	(void)events;
	test.ticks++;
}

/* Until so many more rounds have ended. */
static void run(unsigned rounds, double seconds)
{
	test.wait_for = test.ended + rounds;
	ev_timer_set(&test.limit, seconds, 0.);
	ev_timer_start(test.loop, &test.limit);
	ev_run(test.loop, 0);
	ev_timer_stop(test.loop, &test.limit);
	assert_int_equal(test.ended, test.wait_for);
}

static void run_for(double seconds)
{
	test.wait_for = test.ended + 1;
	ev_timer_set(&test.limit, seconds, 0.);
	ev_timer_start(test.loop, &test.limit);
	ev_run(test.loop, 0);
	ev_timer_stop(test.loop, &test.limit);
}

/* Both sockets on one port: that of the first may be taken for the second. */
static bool open_sockets(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(sa);

	test.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	test.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(test.fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(test.fd, (struct sockaddr *)&sa, &size), 0);
	addr_from_sockaddr((const struct sockaddr *)&sa, &test.address, &test.port);
	if (bind(test.listener, (const struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	    listen(test.listener, 8) == 0)
		return true;
	close(test.fd);
	close(test.listener);
	return false;
}

static int setup(void **state)
{
	bool opened = false;

	(void)state;
	memset(&test, 0, sizeof(test));
	test.loop = ev_default_loop(EVFLAG_AUTO);
	for (int i = 0; i < 20 && !opened; i++)
		opened = open_sockets();
	assert_true(opened);
	ev_io_init(&test.accept, on_connection, test.listener, EV_READ);
	ev_io_start(test.loop, &test.accept);
	ev_io_init(&test.io, on_query, test.fd, EV_READ);
	ev_io_start(test.loop, &test.io);
	ev_init(&test.limit, on_limit);
	ev_timer_init(&test.tick, on_tick, 0.01, 0.01);
	ev_timer_start(test.loop, &test.tick);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ev_io_stop(test.loop, &test.io);
	ev_io_stop(test.loop, &test.accept);
	close(test.listener);
	ev_timer_stop(test.loop, &test.tick);
	close(test.fd);
	return 0;
}

static struct nsupdate *start(const char *program, unsigned check_s)
{
	struct nsupdate_settings s = {.server = test.address,
				      .port = test.port,
				      .zone = "lb.example.net",
				      .program = program,
				      .check_s = check_s};
	struct nsupdate_callbacks cb = {NULL, on_ended, on_names};
	struct nsupdate *n;

	assert_int_equal(nsupdate_new(test.loop, &s, &cb, &n), 0);
	return n;
}

static void publish(struct nsupdate *n, uint32_t serial)
{
	struct view *v = fixture_view(serial);

	nsupdate_publish(n, v);
	view_unref(v);
}

static struct view *other_view(uint32_t serial)
{
	struct view_builder *b = view_builder_new(serial, NULL);
	struct view *v;

	fixture_add_one(b, "shop.lb.example.net", 30,
			fixture_zone("zone-a", "192.0.2.11", NULL, true));
	assert_int_equal(view_builder_finish(b, &v), 0);
	return v;
}

static void test_all_gets_there(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct view *other = other_view(8);
	struct nsupdate_state s;
	char buf[256];
	unsigned queries;

	(void)state;
	publish(n, 7);
	run(1, 20.);
	assert_int_equal(test.state.phase, NSUPDATE_IDLE);
	assert_string_equal(test.state.error, "");
	assert_int_equal(test.state.synced_serial, 7);
	assert_int_equal(test.state.records, 0); /* filled in by who reads the state */
	assert_string_equal(held_text("shop.lb.example.net", WIRE_TYPE_A, buf),
			    "60 192.0.2.10 60 192.0.2.20");
	assert_string_equal(held_text("shop.lb.example.net", WIRE_TYPE_AAAA, buf),
			    "60 2001:db8::10");
	assert_string_equal(held_text("zone-c.near.lb.example.net", WIRE_TYPE_A, buf),
			    "60 192.0.2.30");
	assert_string_equal(held_text("alone.example.com", WIRE_TYPE_A, buf), "");
	assert_int_equal(test.updates, 1);
	/* The same again: nothing is read, nothing is sent. */
	queries = test.queries;
	publish(n, 8);
	run(1, 20.);
	assert_int_equal(test.updates, 1);
	assert_int_equal(test.queries, queries);
	/* Another one: what differs is sent, what is gone is removed. */
	nsupdate_publish(n, other);
	run(1, 20.);
	assert_int_equal(test.updates, 2);
	assert_string_equal(held_text("shop.lb.example.net", WIRE_TYPE_A, buf), "30 192.0.2.11");
	assert_string_equal(held_text("shop.lb.example.net", WIRE_TYPE_AAAA, buf), "");
	assert_int_equal(test.count, 2);
	nsupdate_read_state(n, &s);
	assert_int_equal(s.updates, 2);
	assert_int_equal(s.records, 4);
	assert_int_equal(s.failures, 0);
	assert_true(s.success_wall > 0 && s.failure_wall == 0);
	view_unref(other);
	nsupdate_free(n);
}

/* Names of an earlier run that are in no view any more go; what is told is known next time. */
static void test_names_are_remembered(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct view *other = other_view(8);
	char names[sizeof(test.names)];
	char buf[256];

	(void)state;
	publish(n, 7);
	run(1, 20.);
	assert_non_null(strstr(test.names, " shop.lb.example.net "));
	assert_non_null(strstr(test.names, " zone-c.near.lb.example.net "));
	assert_null(strstr(test.names, "alone.example.com"));
	nsupdate_free(n);

	strcpy(names, test.names);
	test.names[0] = '\0';
	n = start(NULL, 0);
	nsupdate_remember(n, "alone.example.com bad..name");
	nsupdate_remember(n, names);
	nsupdate_publish(n, other);
	run(1, 20.);
	assert_int_equal(test.state.failures, 0);
	assert_string_equal(held_text("zone-c.near.lb.example.net", WIRE_TYPE_A, buf), "");
	assert_int_equal(test.count, 2);
	run_for(0.05);
	assert_string_equal(test.names, " shop.lb.example.net zone-a.shop.lb.example.net ");
	view_unref(other);
	nsupdate_free(n);
}

/* What somebody else changed there is put right at the next check. */
static void test_drift(void **state)
{
	struct nsupdate *n = start(NULL, 1);
	char buf[256];

	(void)state;
	publish(n, 1);
	run(1, 20.);
	test.count = 0;
	run(1, 20.);
	assert_string_equal(held_text("shop.lb.example.net", WIRE_TYPE_A, buf),
			    "60 192.0.2.10 60 192.0.2.20");
	nsupdate_free(n);
}

static void test_refused_then_taken(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct nsupdate_state s;
	usec_t begin = time_monotonic();

	(void)state;
	test.update_rcode = WIRE_REFUSED;
	publish(n, 1);
	run(1, 20.);
	assert_int_equal(test.state.phase, NSUPDATE_WAITING);
	assert_int_equal(test.state.failures, 1);
	assert_string_equal(test.state.error,
			    "nsupdate ended with status 2: update failed: REFUSED");
	nsupdate_read_state(n, &s);
	assert_false(s.synced);
	run(1, 20.);
	assert_int_equal(test.state.failures, 2);
	assert_true(time_monotonic() - begin >= USEC_PER_SEC); /* after the first wait */
	/* Published while it waits: taken with the next try, which comes after two seconds. */
	test.update_rcode = 0;
	publish(n, 9);
	begin = time_monotonic();
	run(1, 20.);
	assert_true(time_monotonic() - begin >= 1500 * USEC_PER_MS);
	assert_int_equal(test.state.failures, 0);
	assert_int_equal(test.state.synced_serial, 9);
	nsupdate_free(n);
}

static void test_says_yes_does_nothing(void **state)
{
	struct nsupdate *n = start(NULL, 0);

	(void)state;
	test.forgetful = true;
	publish(n, 1);
	run(1, 20.);
	assert_int_equal(test.state.failures, 1);
	assert_non_null(strstr(test.state.error, "is not as it was sent"));
	nsupdate_free(n);
}

static void test_deaf_server(void **state)
{
	struct nsupdate *n = start(NULL, 0);

	(void)state;
	test.deaf = true;
	publish(n, 1);
	run(1, 20.);
	assert_int_equal(test.state.phase, NSUPDATE_WAITING);
	assert_non_null(strstr(test.state.error, "no answer"));
	assert_int_equal(test.state.updates, 0);
	nsupdate_free(n);
}

static void test_program(void **state)
{
	struct nsupdate *n = start("/nonexistent/nsupdate", 0);

	(void)state;
	publish(n, 1);
	run(1, 20.);
	assert_non_null(
		strstr(test.state.error, "/nonexistent/nsupdate cannot be started: No such file"));
	nsupdate_free(n);
	/* One that ends without reading what it is given. */
	n = start("false", 0);
	publish(n, 1);
	run(1, 20.);
	assert_string_equal(test.state.error, "false ended with status 1");
	nsupdate_free(n);
}

/* A view that comes during a round is what the next round is about. */
static void test_published_meanwhile(void **state)
{
	struct nsupdate *n = start(NULL, 0);
	struct view *other = other_view(3);
	char buf[256];

	(void)state;
	publish(n, 1);
	publish(n, 2);
	nsupdate_publish(n, other);
	run(2, 20.);
	assert_int_equal(test.state.synced_serial, 3);
	assert_string_equal(held_text("shop.lb.example.net", WIRE_TYPE_A, buf), "30 192.0.2.11");
	/* Ended in the middle of a round. */
	publish(n, 4);
	nsupdate_free(n);
	nsupdate_free(NULL);
	view_unref(other);
}

static void test_loop_goes_on(void **state)
{
	char path[] = "/tmp/zonegate-nsupdate-XXXXXX";
	static const char script[] = "#!/bin/sh\nsleep 0.5\nexit 3\n";
	int fd = mkstemp(path);
	struct nsupdate *n;

	(void)state;
	assert_int_equal(write(fd, script, sizeof(script) - 1), sizeof(script) - 1);
	fchmod(fd, 0700);
	close(fd);
	n = start(path, 0);
	publish(n, 1);
	run(1, 20.);
	assert_non_null(strstr(test.state.error, "ended with status 3"));
	assert_in_range(test.ticks, 25, 200); /* fifty times 10 ms, on a busy machine fewer */
	nsupdate_free(n);
	/* Freed while it runs. */
	n = start(path, 0);
	publish(n, 1);
	test.wait_for = test.ended + 1;
	ev_timer_set(&test.limit, 0.2, 0.);
	ev_timer_start(test.loop, &test.limit);
	ev_run(test.loop, 0);
	nsupdate_free(n);
	unlink(path);
}

static void test_zone_is_a_name(void **state)
{
	struct nsupdate_settings s = {.server = test.address, .zone = "a..b"};
	struct nsupdate_callbacks cb = {NULL, on_ended, NULL};
	struct nsupdate *n = NULL;

	(void)state;
	assert_int_equal(nsupdate_new(test.loop, &s, &cb, &n), -EINVAL);
	assert_null(n);
	for (int i = 0; i < NSUPDATE_PHASE_COUNT; i++)
		assert_non_null(nsupdate_phase_names[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_gets_there),      TEST(test_drift),
		TEST(test_refused_then_taken),  TEST(test_says_yes_does_nothing),
		TEST(test_deaf_server),         TEST(test_program),
		TEST(test_published_meanwhile), TEST(test_loop_goes_on),
		TEST(test_zone_is_a_name),      TEST(test_names_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
