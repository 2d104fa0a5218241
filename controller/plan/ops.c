// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of operations, and the one line that says what an operation does.
#include "plan/ops.h"

#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define OPS_FIRST_CAPACITY 16

static const struct {
	const char *name;
	const char *command; /* as the kernel calls it */
} ops_names[] = {
	[PLAN_SET_SYSCTL] = {"set_sysctl", "SYSCTL"},
	[PLAN_SET_TIMEOUTS] = {"set_timeouts", "SET_CONFIG"},
	[PLAN_ADD_SERVICE] = {"add_service", "NEW_SERVICE"},
	[PLAN_EDIT_SERVICE] = {"edit_service", "SET_SERVICE"},
	[PLAN_ADD_DEST] = {"add_dest", "NEW_DEST"},
	[PLAN_EDIT_DEST] = {"edit_dest", "SET_DEST"},
	[PLAN_DELETE_DEST] = {"delete_dest", "DEL_DEST"},
	[PLAN_ADD_ADDRESS] = {"add_address", "NEW_ADDRESS"},
	[PLAN_DELETE_ADDRESS] = {"delete_address", "DEL_ADDRESS"},
	[PLAN_DELETE_SERVICE] = {"delete_service", "DEL_SERVICE"},
	[PLAN_FILL_SET] = {"fill_set", "FILL_SET"},
	[PLAN_ADD_SET] = {"add_set", "NEW_SET"},
	[PLAN_ADD_ENTRY] = {"add_entry", "NEW_ENTRY"},
	[PLAN_SET_RULES] = {"set_rules", "SET_RULES"},
	[PLAN_DELETE_RULES] = {"delete_rules", "DEL_RULES"},
	[PLAN_DELETE_ENTRY] = {"delete_entry", "DEL_ENTRY"},
	[PLAN_DELETE_SET] = {"delete_set", "DEL_SET"},
};
_Static_assert(sizeof(ops_names) / sizeof(ops_names[0]) == PLAN_OP_KIND_COUNT,
	       "a name for each kind");

struct plan_op *plan_ops_push(struct plan_ops *l, enum plan_op_kind kind)
{
	struct plan_op *op;

	if (l->count == l->capacity) {
		l->capacity = l->capacity ? l->capacity * 2 : OPS_FIRST_CAPACITY;
		l->ops = mem_realloc_array(l->ops, l->capacity, sizeof(*l->ops));
	}
	op = &l->ops[l->count++];
	*op = (struct plan_op){.kind = kind};
	return op;
}

struct plan_kept {
	struct plan_kept *next;
	struct entries *entries; /* a reference, or NULL */
	char text[];
};

static struct plan_kept *plan_ops_keep(struct plan_ops *l, size_t size)
{
	struct plan_kept *k = mem_alloc(sizeof(*k) + size);

	k->next = l->kept;
	l->kept = k;
	return k;
}

void plan_ops_keep_entries(struct plan_ops *l, const struct entries *entries)
{
	plan_ops_keep(l, 0)->entries = entries_ref(entries);
}

const char *plan_ops_keep_text(struct plan_ops *l, const char *text)
{
	size_t size = strlen(text) + 1;
	struct plan_kept *k = plan_ops_keep(l, size);

	memcpy(k->text, text, size);
	return k->text;
}

void plan_ops_clear(struct plan_ops *l)
{
	while (l->kept) {
		struct plan_kept *k = l->kept;

		l->kept = k->next;
		entries_unref(k->entries);
		free(k);
	}
	free(l->ops);
	*l = (struct plan_ops){0};
}

bool plan_op_is_ruleset(enum plan_op_kind kind)
{
	return kind >= PLAN_FILL_SET && kind <= PLAN_DELETE_SET;
}

const char *plan_op_name(enum plan_op_kind kind)
{
	assert(kind < PLAN_OP_KIND_COUNT);
	return ops_names[kind].name;
}

static const char *ops_forward_name(const struct plan_dest *d)
{
	static const char *const tunnels[] = {
		[IP_VS_CONN_F_TUNNEL_TYPE_IPIP] = "ipip",
		[IP_VS_CONN_F_TUNNEL_TYPE_GUE] = "gue",
		[IP_VS_CONN_F_TUNNEL_TYPE_GRE] = "gre",
	};

	switch (d->forward) {
	case IP_VS_CONN_F_MASQ:
		return "nat";
	case IP_VS_CONN_F_DROUTE:
		return "direct";
	case IP_VS_CONN_F_TUNNEL:
		return d->tunnel_type < IP_VS_CONN_F_TUNNEL_TYPE_MAX ? tunnels[d->tunnel_type]
								     : "tunnel";
	}
	return "other";
}

struct ops_text {
	char *text;
	size_t size;
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void ops_append(struct ops_text *t, const char *fmt,
							     ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->text + t->used, t->size - t->used, fmt, ap);
	va_end(ap);
	t->used += n < 0 || (size_t)n >= t->size - t->used ? 0 : (size_t)n;
}

static void ops_append_netmask(struct ops_text *t, const struct plan_service *s)
{
	struct addr mask = {.family = AF_INET};
	char text[ADDR_TEXT_MAX];

	memcpy(mask.bytes, &s->netmask, sizeof(s->netmask));
	if (s->key.family == AF_INET6)
		ops_append(t, " netmask /%u", s->netmask);
	else
		ops_append(t, " netmask %s", addr_format(&mask, text));
}

/* What a service operation carries beside the key, and of an edit what it takes away; `text` begins with a space. */
static void ops_format_service(const struct plan_op *op, char *text, size_t size)
{
	const struct plan_service *s = &op->service;
	const uint32_t flags = s->flags & ~(uint32_t)IP_VS_SVC_F_PERSISTENT;
	struct ops_text t = {text, size, 0};

	ops_append(&t, " scheduler %s", s->scheduler);
	if (s->flags & IP_VS_SVC_F_PERSISTENT)
		ops_append(&t, " persistent %u s", s->timeout);
	else if (op->changes & PLAN_CHANGE_FLAGS)
		ops_append(&t, " not persistent");
	if (flags || (!s->flags && (op->changes & PLAN_CHANGE_FLAGS)))
		ops_append(&t, " flags 0x%x", s->flags);
	if (op->changes & PLAN_CHANGE_NETMASK)
		ops_append_netmask(&t, s);
	if (op->changes & PLAN_CHANGE_ENGINE)
		ops_append(&t, " engine %s", s->engine[0] ? s->engine : "none");
}

/* Of an edit the weight and what else becomes otherwise. */
static void ops_format_dest(const struct plan_op *op, char *text, size_t size)
{
	char endpoint[ADDR_ENDPOINT_TEXT_MAX];
	const struct plan_dest *d = &op->dest;
	const bool added = op->kind == PLAN_ADD_DEST;
	struct ops_text t = {text, size, 0};

	ops_append(&t, " %s", addr_format_endpoint(&d->address, d->port, endpoint));
	if (op->kind == PLAN_DELETE_DEST)
		return;
	ops_append(&t, " weight %u", d->weight);
	if (added || (op->changes & (PLAN_CHANGE_FORWARD | PLAN_CHANGE_TUNNEL)))
		ops_append(&t, " %s", ops_forward_name(d));
	if (op->changes & PLAN_CHANGE_TUNNEL)
		ops_append(&t, " port %u flags 0x%x", d->tunnel_port, d->tunnel_flags);
	if ((added && d->upper) || (op->changes & PLAN_CHANGE_LIMITS))
		ops_append(&t, " upper %u lower %u", d->upper, d->lower);
}

/* Those that are set; `text` begins with a space or is empty. */
static void ops_format_timeouts(const struct plan_timeouts *t, char *text, size_t size)
{
	size_t used = 0;

	for (enum plan_timeout i = 0; i < PLAN_TIMEOUTS; i++) {
		int n = t->s[i] ? snprintf(text + used, size - used, " %s %u", plan_timeout_name(i),
					   t->s[i])
				: 0;

		used += n < 0 || (size_t)n >= size - used ? 0 : (size_t)n;
	}
}

/* Of a set, an entry or a chain; `text` begins with a space. */
static void ops_format_ruleset(const struct plan_op *op, char *text, size_t size)
{
	const struct ruleset_entry *e = &op->entry;
	const char *peer = addr_is_set(&e->peer) ? " " : "";
	char address[ADDR_TEXT_MAX] = "";
	char name[RULESET_NAME_MAX];

	if (op->kind == PLAN_SET_RULES || op->kind == PLAN_DELETE_RULES) {
		snprintf(text, size, " %s", e->set.family == RULESET_V4 ? "IPv4" : "IPv6");
		return;
	}
	ruleset_format_id(&e->set, name);
	if (op->kind == PLAN_FILL_SET || op->kind == PLAN_ADD_SET || op->kind == PLAN_DELETE_SET) {
		snprintf(text, size, " %s", name);
	} else if (e->protocol) {
		const struct plan_key key = {.family = e->address.family,
					     .protocol = e->protocol,
					     .port = e->port,
					     .address = e->address};
		char endpoint[PLAN_KEY_TEXT_MAX];

		if (*peer)
			addr_format(&e->peer, address);
		snprintf(text, size, " %s %s%s%s", name, plan_key_format(&key, endpoint), peer,
			 address);
	} else {
		snprintf(text, size, " %s %s", name, addr_format(&e->address, address));
	}
}

const char *plan_op_format(const struct plan_op *op, char *buf, size_t size)
{
	const char *command = ops_names[op->kind].command;
	char key[PLAN_KEY_TEXT_MAX];
	char address[ADDR_TEXT_MAX];
	char rest[160] = "";

	switch (op->kind) {
	case PLAN_SET_SYSCTL:
		snprintf(buf, size, "%s %s = %d", command, op->sysctl, op->value);
		return buf;
	case PLAN_SET_TIMEOUTS:
		ops_format_timeouts(&op->timeouts, rest, sizeof(rest));
		snprintf(buf, size, "%s%s", command, rest);
		return buf;
	case PLAN_ADD_ADDRESS:
	case PLAN_DELETE_ADDRESS:
		snprintf(buf, size, "%s %s", command, addr_format(&op->address, address));
		return buf;
	case PLAN_FILL_SET:
	case PLAN_ADD_SET:
	case PLAN_ADD_ENTRY:
	case PLAN_SET_RULES:
	case PLAN_DELETE_RULES:
	case PLAN_DELETE_ENTRY:
	case PLAN_DELETE_SET:
		ops_format_ruleset(op, rest, sizeof(rest));
		snprintf(buf, size, "%s%s", command, rest);
		return buf;
	case PLAN_ADD_SERVICE:
	case PLAN_EDIT_SERVICE:
		ops_format_service(op, rest, sizeof(rest));
		break;
	case PLAN_ADD_DEST:
	case PLAN_EDIT_DEST:
	case PLAN_DELETE_DEST:
		ops_format_dest(op, rest, sizeof(rest));
		break;
	case PLAN_DELETE_SERVICE:
	case PLAN_OP_KIND_COUNT:
		break;
	}
	snprintf(buf, size, "%s %s%s", command, plan_key_format(&op->service.key, key), rest);
	return buf;
}
