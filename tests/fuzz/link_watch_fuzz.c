// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of rtnetlink with any content: read within their length; only what concerns the device counts as a change.
#include "kernel/link_watch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE "eth0"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_change(void *ctx)
{
	++*(unsigned *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned changes = 0;
	struct link_watch w = {.device = DEVICE, .changed = count_change, .ctx = &changes};
	uint8_t *block = malloc(size); /* of its exact size and aligned, as what is received is */

	assert(block || !size);
	if (size)
		memcpy(block, data, size);
	link_watch_take(&w, block, size);
	assert(changes <= 1);
	assert(!changes || memmem(data, size, DEVICE, sizeof(DEVICE)));
	link_watch_take(&w, block, size);
	assert(changes <= 2);
	free(block);
	return 0;
}
