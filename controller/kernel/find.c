// SPDX-License-Identifier: GPL-2.0-or-later
// GETFAMILY makes the kernel run modprobe when the family is missing; GET_INFO is the cheapest command that needs the capability.
#include "kernel/find.h"

#include <errno.h>
#include <unistd.h>

#include "kernel/ipvs.h"
#include "kernel/ipvs_parse.h"

static void find_on_error(void *ctx, uint32_t index, int error)
{
	struct find *f = ctx;

	(void)index;
	f->error = error;
}

static void find_on_info_end(void *ctx, int error)
{
	struct find *f = ctx;

	f->done(f->ctx, error ? error : f->error, f->family);
}

static void find_on_family(void *ctx, const struct nlmsghdr *m)
{
	struct find *f = ctx;

	if (ipvs_parse_family(m, &f->family))
		f->error = -EBADMSG;
}

static void find_on_family_end(void *ctx, int error)
{
	const struct channel_events events = {
		.ctx = ctx, .error = find_on_error, .end = find_on_info_end};
	struct find *f = ctx;

	if (!error)
		error = f->error;
	if (!error && !f->family)
		error = -EBADMSG;
	if (error) {
		f->done(f->ctx, error, 0);
		return;
	}
	ipvs_put_get_info(channel_begin(f->channel), f->family);
	channel_send(f->channel, &events);
}

void find_start(struct find *f)
{
	const struct channel_events events = {.ctx = f,
					      .data = find_on_family,
					      .error = find_on_error,
					      .end = find_on_family_end};

	f->family = 0;
	f->error = 0;
	ipvs_put_get_family(channel_begin(f->channel));
	if (f->module && access(f->module, F_OK) == 0)
		channel_send(f->channel, &events); /* nothing to load */
	else
		channel_send_aside(f->channel, &events);
}
