// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of what is in a set: refused, or of the family that was asked for.
#include "kernel/set_parse.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_line(const char *line, enum ruleset_family f)
{
	struct set_line l;

	if (set_parse_line(line, f, &l) || l.creates)
		return;
	assert(ruleset_family_of(&l.address) == f);
	assert(l.protocol || !l.port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A block of its own, so that a byte beyond the end is noticed. */
	AUTO_FREE char *line = mem_alloc(size + 1);

	memcpy(line, data, size);
	fuzz_line(line, RULESET_V4);
	fuzz_line(line, RULESET_V6);
	return 0;
}
