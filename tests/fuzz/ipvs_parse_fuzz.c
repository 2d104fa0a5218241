// SPDX-License-Identifier: GPL-2.0-or-later
// Netlink answers with any body: refused, or read within their length into values that hold.
#include "kernel/ipvs_parse.h"

#include <assert.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_service(const struct nlmsghdr *m)
{
	char text[PLAN_KEY_TEXT_MAX];
	struct plan_service s;

	if (ipvs_parse_service(m, &s))
		return;
	assert(s.key.family == AF_INET || s.key.family == AF_INET6);
	assert(memchr(s.scheduler, 0, sizeof(s.scheduler)) &&
	       memchr(s.engine, 0, sizeof(s.engine)));
	assert(!(s.flags & ~PLAN_FLAGS_MASK));
	assert(plan_key_format(&s.key, text)[0]);
}

static void fuzz_dest(const struct nlmsghdr *m)
{
	struct plan_dest d;
	struct plan_dest_counts c;

	if (ipvs_parse_dest(m, AF_INET, &d, &c))
		return;
	assert(d.address.family == AF_INET || d.address.family == AF_INET6);
	assert(d.forward <= 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block of its own, so that a byte beyond the end is noticed. */
	AUTO_FREE uint8_t *block = mem_alloc(NLMSG_HDRLEN + size);
	struct nlmsghdr *m = (struct nlmsghdr *)(void *)block;
	struct plan_timeouts timeouts;
	uint16_t family;

	memcpy(block + NLMSG_HDRLEN, data, size);
	m->nlmsg_len = (uint32_t)(NLMSG_HDRLEN + size);
	fuzz_service(m);
	fuzz_dest(m);
	(void)ipvs_parse_family(m, &family);
	(void)ipvs_parse_config(m, &timeouts);
	return 0;
}
