// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of sets in netlink answers with any body: refused, or read within their length.
#include "kernel/ipset_parse.h"

#include <assert.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_list(const struct nlmsghdr *m, enum ruleset_family f, enum ruleset_set s)
{
	struct ruleset r = {0};

	(void)ipset_parse_list(m, f, s, &r);
	for (size_t i = 0; i < r.count; i++) {
		assert(ruleset_family_of(&r.entries[i].address) == f);
		assert(r.entries[i].set == s);
	}
	ruleset_sort(&r);
	ruleset_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block of its own, so that a byte beyond the end is noticed. */
	AUTO_FREE uint8_t *block = mem_alloc(NLMSG_HDRLEN + size);
	struct nlmsghdr *m = (struct nlmsghdr *)(void *)block;

	memcpy(block + NLMSG_HDRLEN, data, size);
	m->nlmsg_len = (uint32_t)(NLMSG_HDRLEN + size);
	fuzz_list(m, RULESET_V4, RULESET_OPEN);
	fuzz_list(m, RULESET_V6, RULESET_DROP);
	return 0;
}
