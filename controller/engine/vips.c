// SPDX-License-Identifier: GPL-2.0-or-later
// The VIP addresses: which are ours, which stand on the device, which we added and may therefore remove.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"
#include "engine/told.h"

#define TOLD_DEVICE "vip_device"

static int vip_key(const void *key, const void *item)
{
	const struct engine_vip *v = item;

	return addr_compare(key, &v->address);
}

static int address_compare(const void *a, const void *b)
{
	return addr_compare(a, b);
}

static bool on_device(const struct engine *e, const struct addr *a)
{
	const struct addr *addresses = NULL;
	size_t count = e->ports.kernel_addresses(e->ports.ctx, &addresses);

	for (size_t i = 0; i < count; i++)
		if (addr_compare(&addresses[i], a) == 0)
			return true;
	return false;
}

static struct engine_vip *vip_get(struct engine *e, const struct addr *a)
{
	size_t index;
	struct engine_vip *v = vec_find(&e->vips, a, vip_key, &index);

	if (v)
		return v;
	v = mem_new(struct engine_vip);
	v->address = *a;
	v->present = e->started && e->settings.manage_addresses && on_device(e, a);
	vec_insert(&e->vips, index, v);
	return v;
}

bool vips_hold(const struct engine *e, const struct addr *a)
{
	const struct engine_vip *v = vec_find(&e->vips, a, vip_key, NULL);

	return v && (v->wanted || v->held);
}

bool vips_is_present(const struct engine *e, const struct addr *a)
{
	const struct engine_vip *v = vec_find(&e->vips, a, vip_key, NULL);

	return v && v->present;
}

void vips_list(const struct engine *e, const struct snapshot *s, struct vec *ret_addresses)
{
	for (size_t i = 0; i < s->load_balancers.count; i++) {
		const struct load_balancer *lb = s->load_balancers.items[i];

		for (size_t j = 0; lb->enabled && j < lb->zones.count; j++) {
			struct lb_zone *z = lb->zones.items[j];

			if (!services_has_zone(e, z->o.name))
				continue;
			if (addr_is_set(&z->vip4))
				vec_push(ret_addresses, &z->vip4);
			if (addr_is_set(&z->vip6))
				vec_push(ret_addresses, &z->vip6);
		}
	}
	vec_sort(ret_addresses, address_compare);
}

static char *vip_value(bool added)
{
	return mem_printf("{\"added\":%s}", added ? "true" : "false");
}

void vips_note_candidates(struct engine *e, const struct snapshot *s, struct vec *rows)
{
	struct vec list = {0};
	char text[ADDR_TEXT_MAX];

	vips_list(e, s, &list);
	for (size_t i = 0; i < list.count; i++) {
		const struct addr *a = list.items[i];
		bool repeated = i > 0 && addr_compare(list.items[i - 1], a) == 0;

		if (!repeated && !vec_find(&e->vips, a, vip_key, NULL))
			rows_add(rows, "vip", addr_format(a, text),
				 vip_value(e->settings.manage_addresses && !on_device(e, a)));
	}
	vec_clear(&list);
}

void vips_load_row(struct engine *e, const struct store_row *row)
{
	struct addr a;
	struct engine_vip *v;

	if (addr_parse(row->key, &a) != 0)
		return;
	v = vip_get(e, &a);
	v->held = true;
	v->added = strstr(row->value, "true") != NULL;
	v->put = !e->started; /* by the daemon before this one */
}

void vips_claim(struct engine *e)
{
	const struct addr *addresses = NULL;
	size_t count = e->ports.kernel_addresses(e->ports.ctx, &addresses);

	for (size_t i = 0; e->settings.vip_device_is_dummy && i < count; i++) {
		struct engine_vip *v = vip_get(e, &addresses[i]);

		v->held = v->added = v->put = true;
	}
}

void vips_sync(struct engine *e)
{
	struct vec list = {0};
	char text[ADDR_TEXT_MAX];

	for (size_t i = 0; i < e->vips.count; i++) {
		struct engine_vip *v = e->vips.items[i];

		v->wanted = false;
	}
	vips_list(e, e->snapshot, &list);
	for (size_t i = 0; i < list.count; i++) {
		struct engine_vip *v = vec_find(&e->vips, list.items[i], vip_key, NULL);

		if (!v) {
			/* Not by a commit, which writes the row itself: the zones of the node were changed. */
			v = vip_get(e, list.items[i]);
			v->held = true;
			v->added = e->settings.manage_addresses && !on_device(e, &v->address);
			rows_put(e, "vip", addr_format(&v->address, text), vip_value(v->added));
		}
		v->wanted = true;
	}
	vec_clear(&list);
	engine_mark(e, MARK_PLAN);
}

/* Somebody else's: used, never removed. */
static void vip_yield(struct engine *e, struct engine_vip *v)
{
	char text[ADDR_TEXT_MAX];

	v->added = false;
	rows_put(e, "vip", addr_format(&v->address, text), vip_value(false));
}

/* With operations under way it may be there in a moment. */
static void tell_missing(struct engine *e, const struct engine_vip *v)
{
	char text[ADDR_TEXT_MAX];

	if (!e->kernel_known || e->failing || e->lists_done != e->lists_submitted ||
	    !e->settings.manage_addresses)
		return;
	acks_note_drift(e, addr_format(&v->address, text), 1, "the address is not on the device");
}

void vips_note_addresses(struct engine *e)
{
	for (size_t i = 0; i < e->vips.count; i++) {
		struct engine_vip *v = e->vips.items[i];
		bool present = on_device(e, &v->address);

		if (present != v->present && v->wanted && e->settings.manage_addresses)
			engine_mark(e, MARK_PLAN);
		if (!present && v->present && v->wanted)
			tell_missing(e, v);
		/* Not by the operation under way (then it would be marked as present): it came with its device. */
		if (present && !v->present && v->added && !v->put)
			vip_yield(e, v);
		v->present = present;
	}
}

void vips_plan_adds(struct engine *e)
{
	if (guards_holding(e))
		return; /* first the guard, then what it guards */
	for (size_t i = 0; e->settings.manage_addresses && i < e->vips.count; i++) {
		struct engine_vip *v = e->vips.items[i];

		if (!v->wanted || v->present)
			continue;
		plan_ops_push(&e->ops, PLAN_ADD_ADDRESS)->address = v->address;
		v->present = true;
	}
}

static void vip_forget(struct engine *e, size_t index)
{
	struct engine_vip *v = e->vips.items[index];
	char text[ADDR_TEXT_MAX];

	if (!e->flushing)
		rows_put(e, "vip", addr_format(&v->address, text), NULL);
	free(v);
	vec_remove(&e->vips, index);
}

void vips_plan_deletes(struct engine *e)
{
	for (size_t i = e->vips.count; i-- > 0;) {
		struct engine_vip *v = e->vips.items[i];

		if (v->wanted)
			continue;
		if (v->added && v->present) {
			plan_ops_push(&e->ops, PLAN_DELETE_ADDRESS)->address = v->address;
			v->present = false;
			v->leaving = false;
		}
		if (v->leaving) /* its operations are under way */
			continue;
		v->leaving = true;
		v->leave_after = e->lists_submitted + 1;
	}
}

void vips_finish(struct engine *e)
{
	for (size_t i = e->vips.count; i-- > 0;) {
		struct engine_vip *v = e->vips.items[i];

		if (v->wanted) {
			v->leaving = false;
			continue;
		}
		if (v->leaving && e->lists_done >= v->leave_after && !e->failing)
			vip_forget(e, i);
	}
}

void vips_note_op(struct engine *e, const struct plan_op *op)
{
	struct engine_vip *v = vec_find(&e->vips, &op->address, vip_key, NULL);

	if (!v || op->kind != PLAN_ADD_ADDRESS)
		return;
	if (op->result == 0 || op->result == -ETIMEDOUT || op->result == -ENOBUFS)
		v->put = true;
	if (op->result == -EEXIST && v->added && !v->put)
		vip_yield(e, v);
	if (op->result != 0 && op->result != -EEXIST)
		v->present = false;
	else
		v->failed = false;
}

bool vips_note_failure(struct engine *e, const struct plan_op *op)
{
	struct engine_vip *v = vec_find(&e->vips, &op->address, vip_key, NULL);
	bool first = !v || !v->failed;

	if (v)
		v->failed = true;
	return first;
}

void engine_note_device(struct engine *e, int error, const char *mend)
{
	free(e->device_fault);
	e->device_fault = error ? mem_strdup(mend) : NULL;
	if (error) {
		if (told_is_news(e, TOLD_DEVICE, mend))
			engine_emit(e, EVENT_VIP_DEVICE_UNAVAILABLE, "", "%s", mend);
		return;
	}
	if (told_knows(e, TOLD_DEVICE) && told_is_news(e, TOLD_DEVICE, ""))
		engine_emit(e, EVENT_VIP_DEVICE_AVAILABLE, "",
			    "%s is there: addresses that are missing on it are added",
			    e->settings.vip_device);
	e->retry_at = USEC_NEVER; /* this is the next attempt */
	acks_request_table(e);
}

const char *vips_advise(const struct engine *e)
{
	bool any = false;

	for (size_t i = 0; i < e->vips.count; i++) {
		const struct engine_vip *v = e->vips.items[i];

		any = any || (v->wanted && v->address.family == AF_INET6);
	}
	if (!any || !e->settings.manage_addresses || !e->settings.vip_device_is_dummy)
		return NULL;
	return "IPv6 VIPs stand on a dummy device, for which Linux answers no neighbor solicitation: route them to "
	       "this host, or for each: sysctl -w net.ipv6.conf.LINK.proxy_ndp=1 and ip -6 neigh add proxy VIP dev "
	       "LINK, or set [kernel] vip_device to the link";
}

void vips_preview(const struct engine *e, const struct snapshot *s, struct plan_ops *ops)
{
	struct vec list = {0};

	vips_list(e, s, &list);
	for (size_t i = 0; e->settings.manage_addresses && i < list.count; i++) {
		const struct engine_vip *v = vec_find(&e->vips, list.items[i], vip_key, NULL);
		bool repeated = i > 0 && addr_compare(list.items[i - 1], list.items[i]) == 0;

		if (!repeated && !(v && v->present) && !on_device(e, list.items[i]))
			plan_ops_push(ops, PLAN_ADD_ADDRESS)->address = *(const struct addr *)
										 list.items[i];
	}
	for (size_t i = 0; i < e->vips.count; i++) {
		const struct engine_vip *v = e->vips.items[i];

		if (v->added && v->present && !vec_find(&list, &v->address, address_compare, NULL))
			plan_ops_push(ops, PLAN_DELETE_ADDRESS)->address = v->address;
	}
	vec_clear(&list);
}
