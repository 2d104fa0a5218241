// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/body_charge.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

struct body_budget {
	size_t most;
	_Atomic size_t used;
	_Atomic unsigned refs;
};

struct body_charge {
	struct body_budget *budget;
	size_t bytes;
	_Atomic unsigned refs;
};

struct body_budget *body_budget_new(size_t most)
{
	struct body_budget *b = mem_new(struct body_budget);

	b->most = most;
	b->refs = 1;
	return b;
}

void body_budget_unref(struct body_budget *b)
{
	if (b && atomic_fetch_sub(&b->refs, 1) == 1)
		free(b);
}

size_t body_budget_used(const struct body_budget *b)
{
	return b->used;
}

size_t body_budget_most(const struct body_budget *b)
{
	return b->most;
}

struct body_charge *body_charge_new(struct body_budget *b, size_t bytes)
{
	struct body_charge *c;

	if (atomic_fetch_add(&b->used, bytes) + bytes > b->most) {
		atomic_fetch_sub(&b->used, bytes);
		return NULL;
	}
	c = mem_new(struct body_charge);
	c->budget = b;
	c->bytes = bytes;
	c->refs = 1;
	atomic_fetch_add(&b->refs, 1);
	return c;
}

struct body_charge *body_charge_ref(struct body_charge *c)
{
	if (c)
		atomic_fetch_add(&c->refs, 1);
	return c;
}

void body_charge_unref(struct body_charge *c)
{
	if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	atomic_fetch_sub(&c->budget->used, c->bytes);
	body_budget_unref(c->budget);
	free(c);
}
