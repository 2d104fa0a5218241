// SPDX-License-Identifier: GPL-2.0-or-later
// A step is one exchange; `step` says what its end means. Addresses are host routes of their own: no duplicate address
// detection (another host may still answer for the address in the moment of a move), no prefix route. Decides nothing about
// whose an address is.
#include "kernel/vip.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void vip_take_step(struct vip *v, enum vip_step step);

bool vip_owns(const char *device)
{
	return !strncmp(device, VIP_OWN_PREFIX, strlen(VIP_OWN_PREFIX));
}

/* ---- messages ------------------------------------------------------------------------------- */

static void vip_put_link(struct vip *v, struct netmsg *m, uint16_t type, uint16_t flags)
{
	const bool raises = type == RTM_NEWLINK || type == RTM_SETLINK;
	const struct ifinfomsg head = {.ifi_family = AF_UNSPEC,
				       .ifi_index = (int)(type == RTM_SETLINK ? v->index : 0),
				       .ifi_flags = raises ? IFF_UP : 0,
				       .ifi_change = raises ? IFF_UP : 0};

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

/* Ethernet with neighbours that keep a table of addresses. */
static void vip_take_hardware(struct vip *v, const struct ifinfomsg *head,
			      const struct nlattr *address)
{
	v->seen = (struct announce_link){.index = v->index, .name = v->device};
	if (head->ifi_type != ARPHRD_ETHER || (head->ifi_flags & (IFF_NOARP | IFF_LOOPBACK)) ||
	    !address || nla_len(address) != ANNOUNCE_MAC_SIZE)
		return;
	v->seen.speaks = true;
	memcpy(v->seen.mac, nla_data(address), ANNOUNCE_MAC_SIZE);
}

static int vip_parse(const struct nlmsghdr *m, size_t head_size, struct nlattr **a, int max)
{
	union {
		const uint8_t *read_only;
		struct nlattr *attr;
	} first = {.read_only = (const uint8_t *)m + NLMSG_LENGTH(head_size)};

	if (m->nlmsg_len < NLMSG_LENGTH(head_size))
		return -EBADMSG;
	return nla_parse(a, max, first.attr, (int)(m->nlmsg_len - NLMSG_LENGTH(head_size)), NULL) <
			       0
		       ? -EBADMSG
		       : 0;
}

static void vip_on_link(void *ctx, const struct nlmsghdr *m)
{
	struct nlattr *a[IFLA_MAX + 1];
	struct vip *v = ctx;
	struct ifinfomsg head;

	if (m->nlmsg_type != RTM_NEWLINK || vip_parse(m, sizeof(head), a, IFLA_MAX))
		return;
	memcpy(&head, (const uint8_t *)m + NLMSG_HDRLEN, sizeof(head));
	v->index = (uint32_t)head.ifi_index;
	v->flags = head.ifi_flags;
	vip_take_hardware(v, &head, a[IFLA_ADDRESS]);
}

/* An address of the same value counts whatever its prefix length: a VIP that the network's configuration has put there is
 * used as it is. */
static void vip_on_address(void *ctx, const struct nlmsghdr *m)
{
	struct nlattr *a[IFA_MAX + 1];
	struct addr address = {0};
	struct vip *v = ctx;
	struct ifaddrmsg head;
	const struct nlattr *value;
	size_t size;

	if (m->nlmsg_type != RTM_NEWADDR || vip_parse(m, sizeof(head), a, IFA_MAX))
		return;
	memcpy(&head, (const uint8_t *)m + NLMSG_HDRLEN, sizeof(head));
	size = head.ifa_family == AF_INET ? 4 : 16;
	/* Where there is a peer, IFA_ADDRESS is the peer's. */
	value = a[IFA_LOCAL] ? a[IFA_LOCAL] : a[IFA_ADDRESS];
	if (head.ifa_index != v->index || !value || (size_t)nla_len(value) != size)
		return;
	address.family = head.ifa_family;
	memcpy(address.bytes, nla_data(value), size);
	vip_insert(v, &address);
}

static void vip_on_error(void *ctx, uint32_t index, int error)
{
	struct vip *v = ctx;

	(void)index;
	v->error = error;
}

/* The neighbours are told again when the link came up, or has another hardware address. */
static void vip_update_link(struct vip *v)
{
	const unsigned up = IFF_UP | IFF_RUNNING;
	bool running = (v->flags & up) == up;
	bool news = running && (!v->running || memcmp(v->link.mac, v->seen.mac, ANNOUNCE_MAC_SIZE));

	v->running = running;
	v->link = v->seen;
	announce_set_link(&v->announce, &v->link);
	announce_keep(&v->announce, v->addresses, v->address_count);
	if (news)
		announce_repeat(&v->announce);
}

static void vip_finish(struct vip *v, int error)
{
	if (error) {
		v->index = 0;
		v->address_count = 0;
		v->flags = 0;
		v->seen = (struct announce_link){.name = v->device};
	}
	if (!error || error == -ENODEV)
		vip_update_link(v);
	v->prepared(v->ctx, error);
}

/* After the device was found. */
static void vip_go_on(struct vip *v)
{
	vip_take_step(v, (v->flags & IFF_UP) || !vip_owns(v->device) ? VIP_READ : VIP_RAISE);
}

static void vip_on_end(void *ctx, int error)
{
	struct vip *v = ctx;

	if (!error)
		error = v->error;
	if (error == -ENODEV && v->step == VIP_LOOK && vip_owns(v->device)) {
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
		vip_go_on(v);
		return;
	case VIP_MAKE:
		vip_take_step(v, VIP_LOOK_MADE);
		return;
	case VIP_RAISE:
		v->flags |= IFF_UP;
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
		.ctx = v, .data = vip_on_link, .error = vip_on_error, .end = vip_on_end};
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

static void vip_on_gone(void *ctx, int error)
{
	struct vip *v = ctx;

	v->error = v->error ? v->error : error;
}

/* The kernel does it within the call that sends. */
void vip_remove_device(struct vip *v)
{
	const struct channel_events events = {.ctx = v, .error = vip_on_error, .end = vip_on_gone};

	assert(vip_owns(v->device));
	v->index = 0;
	vip_put_link(v, channel_begin(v->channel), RTM_DELLINK, 0);
	channel_send(v->channel, &events);
}

/* ---- operations ----------------------------------------------------------------------------- */

static void vip_on_op(void *ctx, const struct plan_op *op)
{
	struct vip *v = ctx;

	vip_note_address(v, op);
	if (op->result == -ENODEV)
		v->index = 0;
	if (op->kind == PLAN_ADD_ADDRESS && !op->result)
		announce_add(&v->announce, &op->address);
	else if (op->kind == PLAN_DELETE_ADDRESS)
		announce_remove(&v->announce, &op->address);
}

/* Linux would add an IPv4 address a second time, beside one of another prefix length. */
static bool vip_has(const struct vip *v, const struct plan_op *op)
{
	size_t i = vip_place(v, &op->address);

	return op->kind == PLAN_ADD_ADDRESS && i < v->address_count &&
	       !addr_compare(&v->addresses[i], &op->address);
}

static void vip_go_through(void *ctx)
{
	struct vip *v = ctx;
	size_t first;

	for (; v->next < v->op_count && vip_has(v, &v->ops[v->next]); v->next++)
		v->ops[v->next].result = -EEXIST;
	if (v->next == v->op_count) {
		v->done(v->ctx);
		return;
	}
	first = v->next;
	while (v->next < v->op_count && !vip_has(v, &v->ops[v->next]))
		v->next++;
	batch_start(&v->batch, v->ops + first, v->next - first);
}

void vip_run(struct vip *v, struct plan_op *ops, size_t count)
{
	v->batch.channel = v->channel;
	v->batch.ctx = v;
	v->batch.put = vip_put_op;
	v->batch.may_load = vip_may_load;
	v->batch.note = vip_on_op;
	v->batch.done = vip_go_through;
	v->ops = ops;
	v->op_count = count;
	v->next = 0;
	vip_go_through(v);
}

void vip_clear(struct vip *v)
{
	announce_clear(&v->announce);
	free(v->addresses);
	v->addresses = NULL;
	v->address_count = 0;
}
