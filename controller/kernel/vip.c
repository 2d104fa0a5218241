// SPDX-License-Identifier: GPL-2.0-or-later
// A step is one exchange; `step` says what its end means. Addresses are host routes of their own: no duplicate address
// detection, no prefix route. Decides nothing about whose an address is.
#include "kernel/vip.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void vip_take_step(struct vip *v, enum vip_step step);

/* ---- messages ------------------------------------------------------------------------------- */

static void vip_put_link(struct vip *v, struct netmsg *m, uint16_t type, uint16_t flags)
{
	const struct ifinfomsg head = {.ifi_family = AF_UNSPEC,
				       .ifi_index = (int)(type == RTM_SETLINK ? v->index : 0),
				       .ifi_flags = type == RTM_GETLINK ? 0 : IFF_UP,
				       .ifi_change = type == RTM_GETLINK ? 0 : IFF_UP};

	netmsg_begin(m, type, flags | NLM_F_ACK);
	netmsg_put_head(m, &head, sizeof(head));
	if (type != RTM_SETLINK)
		netmsg_put_text(m, IFLA_IFNAME, v->device);
	if (type == RTM_NEWLINK) {
		size_t nest = netmsg_begin_nest(m, IFLA_LINKINFO);

		netmsg_put_text(m, IFLA_INFO_KIND, "dummy");
		netmsg_end_nest(m, nest);
	}
	netmsg_end(m);
}

static void vip_put_read(struct vip *v, struct netmsg *m)
{
	const struct ifaddrmsg head = {.ifa_family = AF_UNSPEC, .ifa_index = v->index};

	netmsg_begin(m, RTM_GETADDR, NLM_F_DUMP);
	netmsg_put_head(m, &head, sizeof(head));
	netmsg_end(m);
}

static void vip_put_op(void *ctx, struct netmsg *m, const struct plan_op *op)
{
	const struct vip *v = ctx;
	const struct addr *a = &op->address;
	const size_t size = a->family == AF_INET ? 4 : 16;
	const struct ifaddrmsg head = {.ifa_family = a->family,
				       .ifa_prefixlen = (uint8_t)(size * 8),
				       .ifa_scope = RT_SCOPE_UNIVERSE,
				       .ifa_index = v->index};

	if (op->kind == PLAN_ADD_ADDRESS)
		netmsg_begin(m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
	else
		netmsg_begin(m, RTM_DELADDR, 0);
	netmsg_put_head(m, &head, sizeof(head));
	netmsg_put(m, IFA_LOCAL, a->bytes, size);
	netmsg_put(m, IFA_ADDRESS, a->bytes, size);
	if (op->kind == PLAN_ADD_ADDRESS)
		netmsg_put_u32(m, IFA_FLAGS, IFA_F_NODAD | IFA_F_NOPREFIXROUTE);
	netmsg_end(m);
}

static bool vip_may_load(void *ctx, const struct plan_op *op)
{
	(void)ctx;
	(void)op;
	return false;
}

/* ---- the list of addresses ------------------------------------------------------------------ */

static size_t vip_place(const struct vip *v, const struct addr *a)
{
	size_t i = 0;

	while (i < v->address_count && addr_compare(&v->addresses[i], a) < 0)
		i++;
	return i;
}

static void vip_insert(struct vip *v, const struct addr *a)
{
	size_t i = vip_place(v, a);

	if (i < v->address_count && !addr_compare(&v->addresses[i], a))
		return;
	v->addresses = mem_realloc_array(v->addresses, v->address_count + 1, sizeof(*v->addresses));
	memmove(v->addresses + i + 1, v->addresses + i,
		(v->address_count - i) * sizeof(*v->addresses));
	v->addresses[i] = *a;
	v->address_count++;
}

static void vip_remove(struct vip *v, const struct addr *a)
{
	size_t i = vip_place(v, a);

	if (i == v->address_count || addr_compare(&v->addresses[i], a))
		return;
	v->address_count--;
	memmove(v->addresses + i, v->addresses + i + 1,
		(v->address_count - i) * sizeof(*v->addresses));
}

void vip_note_address(struct vip *v, const struct plan_op *op)
{
	if (op->kind == PLAN_ADD_ADDRESS && (!op->result || op->result == -EEXIST))
		vip_insert(v, &op->address);
	else if (op->kind == PLAN_DELETE_ADDRESS && (!op->result || op->result == -EADDRNOTAVAIL))
		vip_remove(v, &op->address);
}

/* ---- the device ----------------------------------------------------------------------------- */

static void vip_on_data(void *ctx, const struct nlmsghdr *m)
{
	const uint8_t *body = (const uint8_t *)m + NLMSG_HDRLEN;
	struct vip *v = ctx;

	if (m->nlmsg_type == RTM_NEWLINK &&
	    m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg))) {
		struct ifinfomsg head;

		memcpy(&head, body, sizeof(head));
		v->index = (uint32_t)head.ifi_index;
		v->flags = head.ifi_flags;
	}
}

static void vip_on_address(void *ctx, const struct nlmsghdr *m)
{
	union {
		const uint8_t *read_only;
		struct nlattr *attr;
	} first = {.read_only = (const uint8_t *)m + NLMSG_LENGTH(sizeof(struct ifaddrmsg))};
	struct nlattr *a[IFA_MAX + 1];
	struct vip *v = ctx;
	struct ifaddrmsg head;
	struct addr address = {0};
	size_t size;

	if (m->nlmsg_type != RTM_NEWADDR || m->nlmsg_len < NLMSG_LENGTH(sizeof(head)))
		return;
	memcpy(&head, (const uint8_t *)m + NLMSG_HDRLEN, sizeof(head));
	size = head.ifa_family == AF_INET ? 4 : 16;
	if (head.ifa_index != v->index || head.ifa_prefixlen != size * 8 ||
	    head.ifa_scope != RT_SCOPE_UNIVERSE ||
	    nla_parse(a, IFA_MAX, first.attr, (int)(m->nlmsg_len - NLMSG_LENGTH(sizeof(head))),
		      NULL) < 0 ||
	    !a[IFA_ADDRESS] || (size_t)nla_len(a[IFA_ADDRESS]) != size)
		return;
	address.family = head.ifa_family;
	memcpy(address.bytes, nla_data(a[IFA_ADDRESS]), size);
	vip_insert(v, &address);
}

static void vip_on_error(void *ctx, uint32_t index, int error)
{
	struct vip *v = ctx;

	(void)index;
	v->error = error;
}

static void vip_finish(struct vip *v, int error)
{
	if (error) {
		v->index = 0;
		v->address_count = 0;
	}
	v->prepared(v->ctx, error);
}

static void vip_on_end(void *ctx, int error)
{
	struct vip *v = ctx;

	if (!error)
		error = v->error;
	if (error == -ENODEV && v->step == VIP_LOOK) {
		vip_take_step(v, VIP_MAKE);
		return;
	}
	if (error == -EEXIST && v->step == VIP_MAKE)
		error = 0; /* somebody was faster */
	if (error) {
		vip_finish(v, error);
		return;
	}
	switch (v->step) {
	case VIP_LOOK:
	case VIP_LOOK_MADE:
		vip_take_step(v, v->flags & IFF_UP ? VIP_READ : VIP_RAISE);
		return;
	case VIP_MAKE:
		vip_take_step(v, VIP_LOOK_MADE);
		return;
	case VIP_RAISE:
		vip_take_step(v, VIP_READ);
		return;
	case VIP_READ:
		vip_finish(v, 0);
		return;
	}
}

static void vip_take_step(struct vip *v, enum vip_step step)
{
	struct channel_events events = {
		.ctx = v, .data = vip_on_data, .error = vip_on_error, .end = vip_on_end};
	struct netmsg *m = channel_begin(v->channel);

	v->step = step;
	v->error = 0;
	switch (step) {
	case VIP_LOOK:
	case VIP_LOOK_MADE:
		v->index = 0;
		vip_put_link(v, m, RTM_GETLINK, 0);
		break;
	case VIP_MAKE: /* may load the module "dummy" */
		vip_put_link(v, m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
		channel_send_aside(v->channel, &events);
		return;
	case VIP_RAISE:
		vip_put_link(v, m, RTM_SETLINK, 0);
		break;
	case VIP_READ:
		v->address_count = 0;
		events.data = vip_on_address;
		vip_put_read(v, m);
		break;
	}
	channel_send(v->channel, &events);
}

void vip_prepare(struct vip *v)
{
	vip_take_step(v, VIP_LOOK);
}

/* ---- operations ----------------------------------------------------------------------------- */

static void vip_on_op(void *ctx, const struct plan_op *op)
{
	struct vip *v = ctx;

	vip_note_address(v, op);
	if (op->result == -ENODEV)
		v->index = 0;
}

static void vip_on_batch(void *ctx)
{
	struct vip *v = ctx;

	v->done(v->ctx);
}

void vip_run(struct vip *v, struct plan_op *ops, size_t count)
{
	v->batch.channel = v->channel;
	v->batch.ctx = v;
	v->batch.put = vip_put_op;
	v->batch.may_load = vip_may_load;
	v->batch.note = vip_on_op;
	v->batch.done = vip_on_batch;
	batch_start(&v->batch, ops, count);
}

void vip_clear(struct vip *v)
{
	free(v->addresses);
	v->addresses = NULL;
	v->address_count = 0;
}
