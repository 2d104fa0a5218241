// SPDX-License-Identifier: GPL-2.0-or-later
// operation × errno → a sentence with the mend. IPVS sends no text of its own.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "kernel/kernel.h"
#include "kernel/setlib.h"
#include "kernel/vip.h"
#include "model/scheduler.h"

#define BIT(kind)   (1U << (kind))
#define ANY         (BIT(PLAN_OP_KIND_COUNT) - 1)
#define ADD_OR_EDIT (BIT(PLAN_ADD_SERVICE) | BIT(PLAN_EDIT_SERVICE))
#define CHANGE      (BIT(PLAN_EDIT_SERVICE) | BIT(PLAN_DELETE_SERVICE))
#define DESTS       (BIT(PLAN_ADD_DEST) | BIT(PLAN_EDIT_DEST) | BIT(PLAN_DELETE_DEST))
#define SETS                                                                                     \
	(BIT(PLAN_FILL_SET) | BIT(PLAN_ADD_SET) | BIT(PLAN_ADD_ENTRY) | BIT(PLAN_DELETE_ENTRY) | \
	 BIT(PLAN_DELETE_SET))
#define RULES     (BIT(PLAN_SET_RULES) | BIT(PLAN_DELETE_RULES))
#define ADDRESSES (BIT(PLAN_ADD_ADDRESS) | BIT(PLAN_DELETE_ADDRESS))

/* In the text: @k the virtual service, @d the destination, @a the address, @s the scheduler, @h what mends it, @e the persistence engine,
 * @y the sysctl, @v its value, @n the set, @p the program of iptables. The first row that fits counts. */
static const struct {
	unsigned kinds;
	int error;
	bool with_engine; /* only for services with a persistence engine */
	const char *text;
} advise_rows[] = {
	{ADD_OR_EDIT, ENOENT, true,
	 "Linux has no scheduler \"@s\" or no persistence engine \"@e\": modprobe ip_vs_@s ip_vs_pe_@e"},
	{ADD_OR_EDIT, ENOENT, false, "Linux has no scheduler \"@s\"@h"},
	{ADD_OR_EDIT, EINVAL, false,
	 "the kernel takes no service @k like this: a persistence prefix of IPv6 is 1 to 128"},
	{BIT(PLAN_ADD_SERVICE), EEXIST, false,
	 "@k was made by another program meanwhile: the table is read again and the service adopted"},
	{CHANGE, ESRCH, false,
	 "@k is gone, another program deleted it: the table is read again and mended"},
	{DESTS, ESRCH, false,
	 "the virtual service @k is not in the kernel: the table is read again and mended"},
	{BIT(PLAN_ADD_DEST), EEXIST, false,
	 "@d was added to @k by another program meanwhile: the table is read again"},
	{BIT(PLAN_EDIT_DEST) | BIT(PLAN_DELETE_DEST), ENOENT, false,
	 "@d is gone from @k, another program deleted it: the table is read again and mended"},
	{DESTS, EINVAL, false,
	 "the kernel takes IPv4 servers only once \"lo\" was up in this network namespace (ip link set lo up), "
	 "and servers of the other address family only with forward_method \"tunnel\" and without a sync daemon"},
	{DESTS, ERANGE, false,
	 "the kernel takes weights up to 2147483647, and a lower threshold up to the upper one"},
	{ADD_OR_EDIT | DESTS, EAFNOSUPPORT, false,
	 "this kernel has no IPVS for this address family (CONFIG_IP_VS_IPV6)"},
	{ADDRESSES, EAFNOSUPPORT, false, "this kernel has no IPv6: boot it without ipv6.disable=1"},
	{ADDRESSES, EOPNOTSUPP, false,
	 "the VIP device cannot be made or takes no such address: modprobe dummy, and IPv6 must not be disabled"},
	{BIT(PLAN_ADD_ADDRESS), EACCES, false,
	 "IPv6 is switched off on the VIP device: sysctl -w net.ipv6.conf.default.disable_ipv6=0, and for the device"},
	{BIT(PLAN_ADD_ADDRESS), EEXIST, false,
	 "@a is on the VIP device already: it is used, and not removed by zonegated"},
	{BIT(PLAN_DELETE_ADDRESS), EADDRNOTAVAIL, false, "@a is gone from the VIP device already"},
	{ADDRESSES, ENODEV, false,
	 "there is no VIP device now: one whose name begins with \"zonegate\" is made again at the next look, another "
	 "([kernel] vip_device) must be made on the host and is used as soon as it appears"},
	{BIT(PLAN_SET_SYSCTL), ENOENT, false,
	 "there is no @y: ip_vs is not loaded (modprobe ip_vs), or this kernel is too old for it"},
	{BIT(PLAN_SET_SYSCTL), EROFS, false,
	 "/proc/sys is read-only here: run zonegated without ProtectKernelTunables, or set @y = @v "
	 "yourself and [kernel] manage_sysctls = no"},
	{BIT(PLAN_SET_SYSCTL), EACCES, false,
	 "@y needs CAP_NET_ADMIN in the network namespace: start zonegated by its systemd unit"},
	{BIT(PLAN_SET_TIMEOUTS), EINVAL, false,
	 "the kernel takes no such timeout: they end at 2147483 s, with a slower clock later"},
	{BIT(PLAN_SET_SYSCTL), EINVAL, false, "the kernel does not take @v for @y"},
	{BIT(PLAN_FILL_SET) | BIT(PLAN_ADD_SET), EEXIST, false,
	 "there is a set @n of another kind, which is not ours: ipset destroy @n (or rename it)"},
	{SETS, ENOENT, false, "the set @n is not in the kernel: it is looked for again and made"},
	{SETS, EINVAL, false,
	 "this kernel has no ipset: modprobe ip_set ip_set_hash_ip ip_set_hash_ipport "
	 "ip_set_hash_ipportip ip_set_hash_net"},
	{SETS, EPROTONOSUPPORT, false,
	 "this kernel has no ipset: modprobe ip_set ip_set_hash_ip ip_set_hash_ipport "
	 "ip_set_hash_ipportip ip_set_hash_net"},
	{RULES, ENOENT, false,
	 "there is no program @p, so vip_guard, access lists, port_range, limits and snat have no effect: apt-get install iptables"},
	{RULES, EOPNOTSUPP, false,
	 "@p does not work with this kernel, so vip_guard, access lists, port_range, limits and snat have no effect: modprobe @t, or "
	 "nf_tables and nft_compat"},
	{RULES, EACCES, false,
	 "@p cannot open its lock, so vip_guard, access lists, port_range, limits and snat have no effect: systemd-tmpfiles --create zonegate.conf"},
	{RULES, ENOEXEC, false,
	 "the daemon's user may not execute @p, so vip_guard, access lists, port_range, limits and snat have no effect: chmod a+rx on it "
	 "and its folders, and no mount with noexec (namei -lx $(command -v @p))"},
	{RULES, EPROTO, false,
	 "@p refused the rules, so vip_guard, access lists, port_range, limits and snat have no effect"},
	{RULES, ETIMEDOUT, false, "@p did not end within 10 s and was stopped; it is tried again"},
	{RULES, EBUSY, false,
	 "another program held the lock of @p for more than 1 s; it is tried again"},
	{ANY, ENOENT, false, "the kernel has no IPVS: modprobe ip_vs"},
	{ANY, EPERM, false,
	 "the kernel allows this only with CAP_NET_ADMIN: start zonegated by its systemd unit, or with that capability"},
	{ANY, ENOBUFS, false,
	 "answers of the kernel were lost, so the outcome is not known: the table is read again and mended"},
	{ANY, ETIMEDOUT, false,
	 "the kernel did not answer within 2 s, so the outcome is not known: the table is read again and mended"},
	{ANY, ENOMEM, false, "the kernel has no memory for it: it is tried again"},
};

/* One that Linux has is a module; no module mends a slip. */
static void advise_put_scheduler(struct buf_writer *w, const char *name)
{
	char hint[SCHEDULER_HINT_MAX];

	if (scheduler_is_of_linux(name))
		buf_write_format(w, ": modprobe ip_vs_%s", name);
	else
		buf_write_text(w, scheduler_hint(name, hint));
}

static void advise_put_dest(struct buf_writer *w, const struct plan_dest *d)
{
	char text[ADDR_ENDPOINT_TEXT_MAX];

	buf_write_text(w, addr_format_endpoint(&d->address, d->port, text));
}

static void advise_put(struct buf_writer *w, char what, const struct plan_op *op)
{
	char text[PLAN_KEY_TEXT_MAX];

	switch (what) {
	case 'k':
		buf_write_text(w, plan_key_format(&op->service.key, text));
		break;
	case 'd':
		advise_put_dest(w, &op->dest);
		break;
	case 'a':
		buf_write_text(w, addr_format(&op->address, text));
		break;
	case 's':
		buf_write_text(w, op->service.scheduler);
		break;
	case 'h':
		advise_put_scheduler(w, op->service.scheduler);
		break;
	case 'e':
		buf_write_text(w, op->service.engine);
		break;
	case 'y':
		buf_write_format(w, "%s%s", strchr(op->sysctl, '.') ? "" : "net.ipv4.vs.",
				 op->sysctl);
		break;
	case 'n':
		buf_write_text(w, ruleset_format_id(&op->entry.set, text));
		break;
	case 'p':
		buf_write_text(w, op->entry.set.family == RULESET_V4 ? "iptables" : "ip6tables");
		break;
	case 't':
		buf_write_text(w, op->entry.set.family == RULESET_V4 ? "ip_tables" : "ip6_tables");
		break;
	case 'v':
		buf_write_format(w, "%d", op->value);
		break;
	}
}

static const char *advise_find(const struct plan_op *op)
{
	for (size_t i = 0; i < sizeof(advise_rows) / sizeof(advise_rows[0]); i++)
		if ((advise_rows[i].kinds & BIT(op->kind)) && advise_rows[i].error == -op->result &&
		    (!advise_rows[i].with_engine || op->service.engine[0]))
			return advise_rows[i].text;
	return SETS & BIT(op->kind) ? setlib_advise(op->result) : NULL;
}

bool kernel_is_held(int error)
{
	return setlib_is_held(error);
}

/* In one line. Who did not run has said nothing. */
static void advise_put_words(struct buf_writer *w, const struct plan_op *op)
{
	const char *words = RULES & BIT(op->kind) ? op->words : NULL;
	size_t length = words ? strlen(words) : 0;

	while (length && words[length - 1] == '\n')
		length--;
	if (!length || !op->result || op->result == -ENOENT || op->result == -ENOEXEC)
		return;
	buf_write_text(w, "; in its own words: ");
	for (size_t i = 0; i < length; i++)
		buf_write(w, words[i] == '\n' ? " " : words + i, 1);
}

const char *kernel_advise(const struct plan_op *op, char *buf, size_t size)
{
	AUTO_BUF struct buf_writer w = {0};
	const char *text = op->result ? advise_find(op) : "";

	assert(size);
	buf_writer_init(&w, 4096);
	if (!text)
		buf_write_format(&w, "the kernel refused: %s", strerror(-op->result));
	for (const char *p = text; p && *p; p++) {
		if (*p != '@' || !p[1])
			buf_write(&w, p, 1);
		else
			advise_put(&w, *++p, op);
	}
	advise_put_words(&w, op);
	snprintf(buf, size, "%s", buf_text(&w));
	return text_trim(buf);
}

const char *kernel_advise_device(const char *device, int error, char *buf, size_t size)
{
	const struct plan_op op = {.kind = PLAN_ADD_ADDRESS, .result = error};

	if (error != -ENODEV)
		return kernel_advise(&op, buf, size);
	snprintf(
		buf, size,
		"there is no network device \"%s\" ([kernel] vip_device): make it, or correct the name; it is "
		"used as soon as it appears. Only a device whose name begins with \"" VIP_OWN_PREFIX
		"\" is made by zonegated itself",
		device);
	return buf;
}
