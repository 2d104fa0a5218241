// SPDX-License-Identifier: GPL-2.0-or-later
// Any figure that fell tells that the kernel's counter began anew, at nought; the first look counts nothing.
#include "stats/stats_counter.h"

static bool counter_began_anew(const struct plan_stats *last, const struct plan_stats *now)
{
	return now->connections < last->connections || now->packets_in < last->packets_in ||
	       now->packets_out < last->packets_out || now->bytes_in < last->bytes_in ||
	       now->bytes_out < last->bytes_out;
}

void stats_counter_note(struct stats_counter *c, const struct plan_stats *now,
			struct plan_stats *total)
{
	static const struct plan_stats zero;
	const struct plan_stats *from = &c->last;

	if (!c->known)
		from = now;
	else if (counter_began_anew(&c->last, now))
		from = &zero;
	total->connections += now->connections - from->connections;
	total->packets_in += now->packets_in - from->packets_in;
	total->packets_out += now->packets_out - from->packets_out;
	total->bytes_in += now->bytes_in - from->bytes_in;
	total->bytes_out += now->bytes_out - from->bytes_out;
	c->last = *now;
	c->known = true;
}

void stats_counter_lose(struct stats_counter *c)
{
	c->last = (struct plan_stats){0};
	c->known = true;
}
