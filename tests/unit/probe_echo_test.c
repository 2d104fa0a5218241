// SPDX-License-Identifier: GPL-2.0-or-later
// Which echo replies count: a peer answers the request with replies that are wrong in one thing each, too late, or twice.
#include "probe_net.h"

#include <signal.h>

enum forgery {
	FORGERY_NONE,
	FORGERY_TOKEN,
	FORGERY_SEQUENCE,
	FORGERY_ID,
	FORGERY_SHORT,
	FORGERY_LONG,
	FORGERY_CODE,
	FORGERY_CHECKSUM,
	FORGERY_ADDRESS,
	FORGERY_REQUEST,
	FORGERY_COUNT
};

struct answer {
	enum forgery forgery;
	int times;
	useconds_t delay;
	struct addr from; /* of FORGERY_ADDRESS */
};

static void answer(void *arg, const struct net_packet *p)
{
	const struct answer *a = arg;
	const bool is4 = p->to.family == AF_INET;
	uint8_t m[NET_PACKET_MAX + 8] = {0};
	size_t size = p->size;

	if (p->data[0] != (is4 ? 8 : 128))
		return; /* its own replies, and errors */
	memcpy(m, p->data, size);
	m[0] = is4 ? 0 : 129;
	switch (a->forgery) {
	case FORGERY_TOKEN:
		m[8 + 15] ^= 1;
		break;
	case FORGERY_SEQUENCE:
		m[7] ^= 1;
		break;
	case FORGERY_ID:
		m[5] ^= 1;
		break;
	case FORGERY_SHORT:
		size -= 1;
		break;
	case FORGERY_LONG:
		size += 1;
		break;
	case FORGERY_CODE:
		m[1] = 1;
		break;
	case FORGERY_REQUEST:
		m[0] = p->data[0];
		return;
	case FORGERY_NONE:
	case FORGERY_CHECKSUM:
	case FORGERY_ADDRESS:
	case FORGERY_COUNT:
		break;
	}
	usleep(a->delay);
	for (int i = 0; i < a->times; i++) {
		if (a->forgery == FORGERY_CHECKSUM && is4) {
			net_put16(m + 2, 0);
			net_put16(m + 2, packet_checksum(m, size, 0) ^ 1U);
			net_send(IPPROTO_ICMP, &p->to, &p->from, m, size);
		} else {
			net_send_icmp(a->forgery == FORGERY_ADDRESS ? &a->from : &p->to, &p->from,
				      m, size);
		}
	}
}

static struct probe_result probe_with(const char *address, struct answer *a, unsigned timeout_ms)
{
	const bool is4 = net_addr(address).family == AF_INET;
	struct health_check c = fixture_check(CHECK_ICMP);
	struct probe_result r;
	struct net_peer peer;

	c.timeout_ms = timeout_ms;
	net_peer_start(&peer, is4 ? IPPROTO_ICMP : IPPROTO_ICMPV6, address, answer, a);
	r = net_probe(&c, address, 0);
	net_peer_stop(&peer);
	return r;
}

static const char *const addresses[] = {"127.0.0.1", "::1"};

static void test_forgeries(void **state)
{
	(void)state;
	net_set_echo(false);
	net_run("ip -6 addr add fd00::9/128 dev lo nodad");
	for (size_t f = 0; f < 2; f++) {
		for (int i = FORGERY_NONE + 1; i < FORGERY_COUNT; i++) {
			struct answer a = {.forgery = (enum forgery)i, .times = 1};
			struct probe_result r;

			if (i == FORGERY_CHECKSUM && f)
				continue; /* the kernel has checked it */
			a.from = net_addr(f ? "fd00::9" : "127.0.0.9");
			r = probe_with(addresses[f], &a, 50);
			fixture_assert(&r, PROBE_FAIL_SILENT, REASON_ICMP_NO_REPLY);
		}
	}
}

static void test_true_reply(void **state)
{
	(void)state;
	net_set_echo(false);
	for (size_t f = 0; f < 2; f++) {
		struct answer a = {.times = 1};
		struct probe_result r = probe_with(addresses[f], &a, 500);

		fixture_assert(&r, PROBE_PASS, REASON_NONE);
	}
}

/* Each probe has one result, and the next is not fooled by what came twice. */
static void test_duplicates(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	struct answer a = {.times = 3};
	struct fixture_ref told = {.pause = 5 * FIXTURE_MS};
	struct probe_target t = {.check = &c, .address = net_addr("127.0.0.1")};
	struct net_peer peer;
	struct fixture f;

	(void)state;
	net_set_echo(false);
	c.timeout_ms = 200;
	net_peer_start(&peer, IPPROTO_ICMP, "127.0.0.1", answer, &a);
	fixture_start(&f, fixture_on_result);
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	fixture_loop(&f, 0.3);
	fixture_assert(&told.last, PROBE_PASS, REASON_NONE);
	assert_true(told.count >= 5);
	net_peer_stop(&peer); /* nobody answers any more, but old replies may be about */
	told.pause = USEC_NEVER;
	fixture_loop(&f, FIXTURE_END);
	if (told.last.health.verdict == PROBE_PASS) { /* one was still under way */
		probe_sched_free(f.sched);
		ev_loop_destroy(f.loop);
		return;
	}
	fixture_assert(&told.last, PROBE_FAIL_SILENT, REASON_ICMP_NO_REPLY);
	fixture_stop(&f);
}

static void test_too_late(void **state)
{
	struct answer a = {.times = 1, .delay = 300000};
	struct probe_result r;

	(void)state;
	net_set_echo(false);
	r = probe_with("127.0.0.1", &a, 60);
	fixture_assert(&r, PROBE_FAIL_SILENT, REASON_ICMP_NO_REPLY);
	r = probe_with("127.0.0.1", &a, 2000);
	fixture_assert(&r, PROBE_PASS, REASON_NONE);
	assert_in_range(r.evidence.first_byte_usec, 300000, 1990000);
}

struct hold {
	struct ev_timer timer;
	useconds_t time;
};

static void on_hold(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)loop;
	(void)revents;
	usleep(((struct hold *)w->data)->time);
}

/* The loop is held beyond the deadline: what had come in time counts, at the time at which it came. */
static void test_stall(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	struct answer a = {.times = 1, .delay = 40000};
	struct fixture_ref told = {.pause = USEC_NEVER};
	struct probe_target t = {.check = &c, .address = net_addr("127.0.0.1")};
	struct hold hold = {.time = 400000};
	struct net_peer peer;
	struct fixture f;

	(void)state;
	net_set_echo(false);
	c.timeout_ms = 150;
	net_peer_start(&peer, IPPROTO_ICMP, "127.0.0.1", answer, &a);
	fixture_start(&f, fixture_on_result);
	ev_timer_init(&hold.timer, on_hold, 0.02, 0.);
	hold.timer.data = &hold;
	probe_sched_add(f.sched, &t, &told, time_monotonic());
	ev_timer_start(f.loop, &hold.timer);
	fixture_loop(&f, FIXTURE_END);
	net_peer_stop(&peer);
	fixture_assert(&told.last, PROBE_PASS, REASON_NONE);
	assert_in_range(told.last.evidence.first_byte_usec, 40000, 400000);
	assert_true(told.last.evidence.duration_usec > 400000);
	fixture_stop(&f);
}

/* Many at once, of both families, through two sockets. */
static void test_many(void **state)
{
	struct health_check c = fixture_check(CHECK_ICMP);
	static struct fixture_ref told[400];
	struct fixture f;
	int before = fixture_count_files();

	(void)state;
	net_set_echo(true);
	fixture_start(&f, fixture_on_result);
	for (size_t i = 0; i < 400; i++) {
		struct probe_target t = {.check = &c, .address = net_addr(addresses[i % 2])};

		told[i] = (struct fixture_ref){.pause = 100 * FIXTURE_MS};
		if (t.address.family == AF_INET) {
			t.address.bytes[2] = (uint8_t)(i / 256);
			t.address.bytes[3] = (uint8_t)(i % 256 + 1 - i / 256);
		}
		t.port = (uint16_t)i;
		probe_sched_add(f.sched, &t, &told[i], time_monotonic());
	}
	fixture_loop(&f, 0.5);
	for (size_t i = 0; i < 400; i++) {
		assert_true(told[i].count >= 2);
		fixture_assert(&told[i].last, PROBE_PASS, REASON_NONE);
	}
	fixture_stop(&f);
	assert_int_equal(fixture_settled_files(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forgeries),  cmocka_unit_test(test_true_reply),
		cmocka_unit_test(test_duplicates), cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_stall),      cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, net_enter_stamped, NULL);
}
