// SPDX-License-Identifier: GPL-2.0-or-later
// Raw sockets: times of receipt, order, what had come when it was asked for, and nothing after that.
#include "probe/probe_raw.h"
#include "probe_net.h"

#include <time.h>

static struct health_check check = {.type = CHECK_ICMP};

static int open_raw(void)
{
	int fd = probe_raw_open(AF_INET, 253); /* a protocol for experiments */

	assert_true(fd >= 0);
	return fd;
}

static void send_byte(int fd, uint8_t byte)
{
	const struct probe_target t = {.check = &check, .address = net_addr("127.0.0.1")};
	const struct iovec data = {&byte, 1};

	assert_int_equal(probe_raw_send(fd, &t, NULL, &data), 0);
}

struct seen {
	int fd; /* not -1: for each that comes, one is sent */
	size_t count;
	uint8_t bytes[4096];
	usec_t received[4096];
};

static void note(void *ctx, const struct raw_packet *p)
{
	struct seen *s = ctx;

	assert_int_equal(p->size, 21);
	assert_memory_equal(p->from.bytes, "\177\0\0\1", 4);
	assert_true(s->count < 4096);
	s->bytes[s->count] = p->data[20];
	s->received[s->count++] = p->received;
	if (s->fd >= 0)
		send_byte(s->fd, p->data[20]);
}

static void test_order_and_times(void **state)
{
	static struct seen s = {.fd = -1};
	int fd = open_raw();
	usec_t before = time_monotonic();
	usec_t middle, after;

	(void)state;
	for (int i = 0; i < 100; i++)
		send_byte(fd, (uint8_t)i);
	middle = time_monotonic();
	usleep(50000);
	for (int i = 100; i < 200; i++)
		send_byte(fd, (uint8_t)i);
	after = time_monotonic();
	usleep(50000);
	probe_raw_drain(fd, note, &s);
	assert_int_equal(s.count, 200);
	for (size_t i = 0; i < 200; i++) {
		assert_int_equal(s.bytes[i], i);
		assert_in_range(s.received[i], (i < 100 ? before : middle) - 2000,
				(i < 100 ? middle : after) + 2000);
	}
	probe_raw_drain(fd, note, &s); /* nothing there: no harm */
	assert_int_equal(s.count, 200);
	close(fd);
}

/* What comes in faster than it is read does not hold the loop. */
static void test_ends(void **state)
{
	static struct seen s;
	int fd = open_raw();

	(void)state;
	s = (struct seen){.fd = fd};
	for (int i = 0; i < 64; i++)
		send_byte(fd, 1);
	probe_raw_drain(fd, note, &s); /* each brings another one */
	assert_in_range(s.count, 64, 1000);
	close(fd);
}

static usec_t received_with(const struct timespec *at)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(*at))] = {0};
	struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_TIMESTAMPNS;
	c->cmsg_len = CMSG_LEN(sizeof(*at));
	memcpy(CMSG_DATA(c), at, sizeof(*at));
	return probe_raw_received(&msg);
}

static void test_impossible_times(void **state)
{
	struct msghdr none = {0};
	struct timespec at;
	usec_t now;

	(void)state;
	clock_gettime(CLOCK_REALTIME, &at);
	now = time_monotonic();
	at.tv_sec -= 2;
	assert_in_range(received_with(&at), now - 2100000, now - 1900000);
	/* The clock was set meanwhile, or there is no time: now. */
	at.tv_sec += 100;
	assert_in_range(received_with(&at), now, now + 1000000);
	at.tv_sec -= 100000;
	assert_in_range(received_with(&at), now, now + 1000000);
	assert_in_range(probe_raw_received(&none), now, now + 1000000);
}

static void test_errors(void **state)
{
	const struct probe_target t = {.check = &check, .address = net_addr("192.0.2.1")};
	const struct iovec data = {(void *)(uintptr_t) "x", 1};
	const struct addr alien = net_addr("192.0.2.77");
	int fd = open_raw();

	(void)state;
	assert_int_equal(probe_raw_send(fd, &t, NULL, &data), -ENETUNREACH);
	assert_int_equal(probe_raw_send(fd, &t, &alien, &data), -EADDRNOTAVAIL);
	close(fd);
	assert_true(probe_raw_open(AF_INET, -1) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_times),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_impossible_times),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, net_enter_stamped, NULL);
}
