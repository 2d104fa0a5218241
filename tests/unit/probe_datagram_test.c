// SPDX-License-Identifier: GPL-2.0-or-later
// What is sent, and the stall rule: a reply is judged by the time at which the kernel received it.
#include "probe/probe_datagram.h"
#include "probe_net.h"

static char text_request[] = "\\00\\01abc\\\\";
static char text_longest[3 * ESCAPE_BYTES_MAX + 1];

static void test_request(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	uint8_t bytes[ESCAPE_BYTES_MAX];

	(void)state;
	c.request = text_request;
	assert_int_equal(probe_datagram_write_request(&c, 0x1234, bytes), 6);
	assert_memory_equal(bytes, "\0\1abc\\", 6);
	for (size_t i = 0; i < ESCAPE_BYTES_MAX; i++)
		memcpy(text_longest + 3 * i, "\\ff", 3);
	c.request = text_longest;
	assert_int_equal(probe_datagram_write_request(&c, 0x1234, bytes), ESCAPE_BYTES_MAX);
	assert_int_equal(bytes[ESCAPE_BYTES_MAX - 1], 0xff);
	c.request = NULL; /* "A example.com" */
	assert_int_equal(probe_datagram_write_request(&c, 0x1234, bytes), 29);
	assert_memory_equal(bytes, "\x12\x34", 2);
}

struct late {
	int fd;
	useconds_t delay;
};

static void *answer_late(void *arg)
{
	const struct late *l = arg;
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);
	char bytes[512];

	if (recvfrom(l->fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&sa, &size) < 0)
		return NULL;
	usleep(l->delay);
	(void)sendto(l->fd, "x", 1, 0, (const struct sockaddr *)&sa, size);
	return NULL;
}

static void hold(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)loop;
	(void)revents;
	usleep(*(useconds_t *)w->data);
}

/* The loop is held for 400 ms from the 20th on; the reply comes after `delay`, T is 150 ms. */
static struct probe_result probe_stalled(useconds_t delay)
{
	struct health_check c = fixture_check(CHECK_UDP);
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct probe_target t = {.check = &c, .address = net_addr("127.0.0.1")};
	struct late late = {.delay = delay};
	useconds_t held = 400000;
	struct ev_timer timer;
	pthread_t thread;
	struct fixture f;

	c.timeout_ms = 150;
	late.fd = net_udp_open("127.0.0.1", &t.port);
	assert_int_equal(pthread_create(&thread, NULL, answer_late, &late), 0);
	fixture_start(&f, fixture_on_result);
	ev_timer_init(&timer, hold, 0.02, 0.);
	timer.data = &held;
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	ev_timer_start(f.loop, &timer);
	fixture_loop(&f, FIXTURE_END);
	pthread_join(thread, NULL);
	fixture_stop(&f);
	close(late.fd);
	return told.last;
}

static void test_stall(void **state)
{
	struct probe_result r = probe_stalled(60000);

	(void)state;
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_in_range(r.evidence.first_byte_usec, 60000, 400000);
	/* What the stall took is given back. */
	r = probe_stalled(300000);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_in_range(r.evidence.first_byte_usec, 300000, 410000);
	r = probe_stalled(1500000);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_UDP_NO_REPLY);
}

/* The clock was on time: a reply between T and the moment at which that is noticed is too late. */
static void test_too_late(void **state)
{
	struct health_check c = fixture_check(CHECK_UDP);
	unsigned passes = 0;

	(void)state;
	c.timeout_ms = 41; /* of slots of 10 ms */
	for (int i = 0; i < 10; i++) {
		struct late late = {.delay = 43000};
		struct probe_result r;
		pthread_t thread;
		uint16_t port;

		late.fd = net_udp_open("127.0.0.1", &port);
		assert_int_equal(pthread_create(&thread, NULL, answer_late, &late), 0);
		r = net_probe(&c, "127.0.0.1", port);
		pthread_join(thread, NULL);
		close(late.fd);
		/* Unless the machine stalled: then it was not. */
		passes += r.health.verdict == PROBE_PASS && r.evidence.duration_usec < 80000;
	}
	assert_int_equal(passes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_stall),
		cmocka_unit_test(test_too_late),
	};

	return cmocka_run_group_tests(tests, net_enter_stamped, NULL);
}
