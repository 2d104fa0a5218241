// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel runs one dump a socket at a time, so it is one exchange after the other; the channel reads data and end of a small
// one by one system call, which makes two a service.
#include "kernel/dump.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/ipvs.h"
#include "kernel/ipvs_parse.h"

static void dump_next_service(struct dump *d);

static void dump_finish(struct dump *d, int error)
{
	struct plan_table *t = d->table;

	d->table = NULL;
	if (error) {
		plan_table_free(t);
		t = NULL;
	} else {
		plan_table_sort(t);
	}
	d->done(d->ctx, t, error);
}

static size_t dump_grow(size_t capacity)
{
	return capacity ? capacity * 2 : 16;
}

static void dump_on_error(void *ctx, uint32_t index, int error)
{
	struct dump *d = ctx;

	(void)index;
	d->error = error;
}

static void dump_on_dest(void *ctx, const struct nlmsghdr *m)
{
	struct dump *d = ctx;
	struct plan_service *s = &d->table->services[d->next];
	size_t i = s->dest_count;

	if (i == d->dest_capacity) {
		d->dest_capacity = dump_grow(i);
		s->dests = mem_realloc_array(s->dests, d->dest_capacity, sizeof(*s->dests));
		s->counts = mem_realloc_array(s->counts, d->dest_capacity, sizeof(*s->counts));
	}
	if (ipvs_parse_dest(m, s->key.family, &s->dests[i], &s->counts[i]))
		d->error = -EBADMSG;
	else
		s->dest_count++;
}

static void dump_on_dests_end(void *ctx, int error)
{
	struct dump *d = ctx;

	if (error || d->error) {
		dump_finish(d, error ? error : d->error);
		return;
	}
	d->next++;
	dump_next_service(d);
}

static void dump_on_config(void *ctx, const struct nlmsghdr *m)
{
	struct dump *d = ctx;

	if (ipvs_parse_config(m, &d->table->timeouts))
		d->error = -EBADMSG;
}

static void dump_on_config_end(void *ctx, int error)
{
	struct dump *d = ctx;

	dump_finish(d, error ? error : d->error);
}

/* Behind a whole table: the timeouts. */
static void dump_config(struct dump *d)
{
	const struct channel_events events = {.ctx = d,
					      .data = dump_on_config,
					      .error = dump_on_error,
					      .end = dump_on_config_end};

	if (!d->whole) {
		dump_finish(d, 0);
		return;
	}
	ipvs_put_get_config(channel_begin(d->channel), d->family);
	channel_send(d->channel, &events);
}

static void dump_next_service(struct dump *d)
{
	const struct channel_events events = {
		.ctx = d, .data = dump_on_dest, .error = dump_on_error, .end = dump_on_dests_end};

	if (d->next == d->table->count) {
		dump_config(d);
		return;
	}
	d->dest_capacity = 0;
	ipvs_put_get_dests(channel_begin(d->channel), d->family, &d->table->services[d->next].key);
	channel_send(d->channel, &events);
}

static void dump_on_service(void *ctx, const struct nlmsghdr *m)
{
	struct dump *d = ctx;
	struct plan_table *t = d->table;

	if (t->count == d->service_capacity) {
		d->service_capacity = dump_grow(t->count);
		t->services = mem_realloc_array(t->services, d->service_capacity,
						sizeof(*t->services));
	}
	if (ipvs_parse_service(m, &t->services[t->count]))
		d->error = -EBADMSG;
	else
		t->count++;
}

static void dump_on_services_end(void *ctx, int error)
{
	struct dump *d = ctx;

	if (error || d->error)
		dump_finish(d, error ? error : d->error);
	else
		dump_next_service(d);
}

static struct netmsg *dump_begin(struct dump *d, uint16_t family)
{
	assert(!d->table);
	d->family = family;
	d->table = mem_new(struct plan_table);
	d->service_capacity = 0;
	d->next = 0;
	d->error = 0;
	return channel_begin(d->channel);
}

static void dump_send(struct dump *d)
{
	const struct channel_events events = {.ctx = d,
					      .data = dump_on_service,
					      .error = dump_on_error,
					      .end = dump_on_services_end};

	channel_send(d->channel, &events);
}

void dump_start_table(struct dump *d, uint16_t family)
{
	ipvs_put_get_services(dump_begin(d, family), family);
	d->whole = true;
	dump_send(d);
}

void dump_start_service(struct dump *d, uint16_t family, const struct plan_key *k)
{
	ipvs_put_get_service(dump_begin(d, family), family, k);
	d->whole = false;
	dump_send(d);
}

void dump_clear(struct dump *d)
{
	plan_table_free(d->table);
	d->table = NULL;
}
