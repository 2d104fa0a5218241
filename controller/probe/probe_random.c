// SPDX-License-Identifier: GPL-2.0-or-later
// Taken from the end. Each octet is used once.
#include "probe/probe_random.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

static int probe_random_fill(struct probe_random *p)
{
	ssize_t n = getrandom(p->bytes, sizeof(p->bytes), 0);

	if (n < 0)
		return -errno;
	if ((size_t)n < sizeof(p->bytes))
		return -EIO;
	p->left = sizeof(p->bytes);
	return 0;
}

int probe_random_take(struct probe_random *p, void *ret_bytes, size_t size)
{
	int error;

	assert(size <= sizeof(p->bytes));
	if (p->left < size) {
		error = probe_random_fill(p);
		if (error)
			return error;
	}
	p->left -= size;
	memcpy(ret_bytes, p->bytes + p->left, size);
	memset(p->bytes + p->left, 0, size);
	return 0;
}

uint16_t probe_random_take_id(struct probe_random *p)
{
	uint16_t id = 0;

	(void)probe_random_take(p, &id, sizeof(id));
	return id;
}
