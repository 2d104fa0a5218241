// SPDX-License-Identifier: GPL-2.0-or-later
#include "dns/rrl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

static struct addr client(const char *text)
{
	struct addr a;

	assert_int_equal(addr_parse(text, &a), 0);
	return a;
}

/* How many of `asked` at `now` are sent. */
static unsigned sent(struct rrl *r, const char *text, unsigned asked, usec_t now)
{
	struct addr a = client(text);
	unsigned count = 0;

	for (unsigned i = 0; i < asked; i++)
		count += rrl_check(r, &a, i, now) == RRL_SEND;
	return count;
}

#define HOUR (3600 * USEC_PER_SEC)

static void test_rate_and_burst(void **state)
{
	struct rrl_settings s = {.rate = 10, .burst = 25, .seed = 7};
	struct rrl *r = rrl_new(&s);

	(void)state;
	assert_int_equal(sent(r, "192.0.2.1", 100, HOUR), 25);
	assert_int_equal(sent(r, "192.0.2.1", 100, HOUR), 0);
	assert_int_equal(sent(r, "192.0.2.1", 100, HOUR + USEC_PER_SEC / 10 - 1), 0);
	assert_int_equal(sent(r, "192.0.2.1", 100, HOUR + USEC_PER_SEC / 10), 1);
	assert_int_equal(sent(r, "192.0.2.1", 100, HOUR + 10 * USEC_PER_SEC / 10), 9);
	assert_int_equal(sent(r, "192.0.2.1", 100, 2 * HOUR), 25); /* never more than the burst */
	rrl_free(r);
}

static void test_steady_rate_is_free(void **state)
{
	struct rrl_settings s = {.rate = 100, .burst = 1, .seed = 7};
	struct rrl *r = rrl_new(&s);
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		count += sent(r, "192.0.2.1", 1, HOUR + i * (USEC_PER_SEC / 100));
	assert_int_equal(count, 1000);
	count = 0;
	for (unsigned i = 0; i < 1000; i++)
		count += sent(r, "198.51.100.1", 1, HOUR + i * (USEC_PER_SEC / 200));
	assert_in_range(count, 499, 501);
	rrl_free(r);
}

static void test_prefixes(void **state)
{
	struct rrl_settings s = {.rate = 5, .seed = 7}; /* the burst is a second's */
	struct rrl *r = rrl_new(&s);

	(void)state;
	assert_int_equal(sent(r, "192.0.2.1", 9, HOUR), 5);
	assert_int_equal(sent(r, "192.0.2.200", 9, HOUR), 0); /* the same /24 */
	assert_int_equal(sent(r, "192.0.3.1", 9, HOUR), 5);
	assert_int_equal(sent(r, "2001:db8::1", 9, HOUR), 5);
	assert_int_equal(sent(r, "2001:db8:0:ff::1", 9, HOUR), 0); /* the same /56 */
	assert_int_equal(sent(r, "2001:db8:0:100::1", 9, HOUR), 5);
	rrl_free(r);
}

static void test_slip(void **state)
{
	struct rrl_settings s = {.rate = 1, .slip = 4, .seed = 7};
	struct rrl *r = rrl_new(&s);
	struct addr a = client("192.0.2.1");
	unsigned counts[3] = {0};

	(void)state;
	for (unsigned i = 0; i < 401; i++)
		counts[rrl_check(r, &a, i, HOUR)]++;
	assert_int_equal(counts[RRL_SEND], 1);
	assert_int_equal(counts[RRL_TRUNCATE], 100);
	assert_int_equal(counts[RRL_DROP], 300);
	rrl_free(r);
}

static void test_off_and_exempt(void **state)
{
	struct rrl_settings s = {.rate = 0};
	struct rrl *r = rrl_new(&s);

	(void)state;
	assert_int_equal(sent(r, "192.0.2.1", 10000, HOUR), 10000);
	rrl_free(r);
	s.rate = 1;
	s.exempt[0].net = client("192.0.2.0");
	s.exempt[0].length = 25;
	s.exempt[1].net = client("2001:db8::");
	s.exempt[1].length = 32;
	s.exempt_count = 2;
	r = rrl_new(&s);
	assert_int_equal(sent(r, "192.0.2.127", 1000, HOUR), 1000);
	assert_int_equal(sent(r, "192.0.2.128", 1000, HOUR), 0); /* its prefix is used up */
	assert_int_equal(sent(r, "2001:db8::1", 1000, HOUR), 1000);
	assert_int_equal(sent(r, "2001:db9::1", 1000, HOUR), 1);
	rrl_free(r);
}

/* Far more prefixes than slots: memory is what it was, and who floods is still held. */
static void test_full_table(void **state)
{
	struct rrl_settings s = {.rate = 10, .burst = 10, .slots = 64, .seed = 7};
	struct rrl *r = rrl_new(&s);
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		struct addr other = {AF_INET, {(uint8_t)(i >> 8), (uint8_t)i, 1, 1}};
		usec_t now = HOUR + i * 10; /* one second in all */

		(void)rrl_check(r, &other, 0, now);
		count += sent(r, "192.0.2.1", 1, now);
	}
	/* Twenty are its due; its slot is the emptiest of its four, so that it is rarely forgotten. */
	assert_in_range(count, 10, 2000);
	rrl_free(r);
}

static void test_clock_comes_round(void **state)
{
	struct rrl_settings s = {.rate = 1, .burst = 1, .seed = 7};
	struct rrl *r = rrl_new(&s);
	usec_t end = 1ULL << 48;

	(void)state;
	assert_int_equal(sent(r, "192.0.2.1", 5, end - 10 * USEC_PER_SEC), 1);
	assert_int_equal(sent(r, "192.0.2.1", 5, end + 10 * USEC_PER_SEC), 1);
	rrl_free(r);
}

struct shared {
	struct rrl *rrl;
	unsigned sent;
};

static void *flood(void *arg)
{
	struct shared *s = arg;

	s->sent = sent(s->rrl, "192.0.2.1", 20000, HOUR);
	return NULL;
}

static void test_threads_share(void **state)
{
	struct rrl_settings s = {.rate = 1000, .seed = 7};
	struct rrl *r = rrl_new(&s);
	struct shared shared[4];
	pthread_t threads[4];
	unsigned count = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		shared[i].rrl = r;
		pthread_create(&threads[i], NULL, flood, &shared[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		count += shared[i].sent;
	}
	assert_int_equal(count, 1000);
	rrl_free(r);
	rrl_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate_and_burst),
		cmocka_unit_test(test_steady_rate_is_free),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_slip),
		cmocka_unit_test(test_off_and_exempt),
		cmocka_unit_test(test_full_table),
		cmocka_unit_test(test_clock_comes_round),
		cmocka_unit_test(test_threads_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
