/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at a kernel that a test makes up: the fixture's document, listener http of shop at 192.0.2.1 (za) and 192.0.2.2 (zb). */
#ifndef ZG_TESTS_STATS_FIXTURE_H
#define ZG_TESTS_STATS_FIXTURE_H

#include <errno.h>
#include <netinet/in.h>

#include "stats/stats_history.h"
#include "unit/model_fixture.h"

#define FIXTURE_SECOND(n) ((usec_t)(n)*USEC_PER_SEC + USEC_PER_SEC / 2)

struct fixture_dest {
	const char *address;
	uint16_t port;
	uint32_t active;
	uint32_t inactive;
	uint64_t connections;
	uint64_t bytes_in;
};

static inline struct plan_key fixture_key(const char *vip)
{
	struct plan_key k = {.family = AF_INET, .protocol = IPPROTO_TCP, .port = 80};

	assert_int_equal(addr_parse(vip, &k.address), 0);
	return k;
}

/* The fixture's document, in which listener http has a range and mark 7 in za. */
static inline struct snapshot *fixture_ranged(void)
{
	struct snapshot *s = fixture_snapshot(
		fixture_patched("{'load_balancers':{'shop':{'listeners':{'http':{'port':null,"
				"'port_range':[8000,8100]}}}}}"));
	char names[][8] = {"shop", "za", "http"};
	const struct mark m = {.lb = names[0], .zone = names[1], .listener = names[2], .mark = 7};
	struct vec list = {0};

	vec_push(&list, marks_copy_mark(&m));
	snapshot_set_marks(s, marks_new(&list));
	return s;
}

/* A service with its destinations in the look under way. Whether it is ours. */
static inline bool fixture_tell(struct stats *s, const char *vip, uint64_t connections,
				const struct fixture_dest *dests, size_t count)
{
	struct plan_service service = {.key = fixture_key(vip),
				       .stats = {.connections = connections}};
	struct plan_dest d[16] = {0};
	struct plan_dest_counts c[16] = {0};

	assert_true(count <= 16);
	if (!stats_note_service(s, &service))
		return false;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(addr_parse(dests[i].address, &d[i].address), 0);
		d[i].port = dests[i].port;
		c[i].active = dests[i].active;
		c[i].inactive = dests[i].inactive;
		c[i].stats = (struct plan_stats){.connections = dests[i].connections,
						 .bytes_in = dests[i].bytes_in};
	}
	stats_note_dests(s, &service.key, &(struct stats_dests){d, c, count});
	return true;
}

/* Statistics of the fixture's document, not looked at yet. */
static inline struct stats *fixture_stats(void)
{
	struct stats *s = stats_new(NULL, 0);

	stats_follow(s, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	return s;
}

/* A whole look in second `n`: connections of the service at 192.0.2.1 and of w1 in it. */
static inline void fixture_look(struct stats *s, unsigned n, uint64_t connections, uint32_t active)
{
	const struct fixture_dest dest = {"10.0.0.1", 8080,        active,
					  2,          connections, connections * 1000};

	stats_begin(s);
	assert_true(fixture_tell(s, "192.0.2.1", connections, &dest, 1));
	stats_end(s, FIXTURE_SECOND(n));
}

#endif
