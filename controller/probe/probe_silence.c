// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts send few ICMP errors (Linux one a second to each peer, after a handful), and a dead server's probes use them up. So a
// host is never asked because a probe failed, but after a silence that followed a failure.
#include "probe/probe_silence.h"

#include "base/mem.h"
#include "base/vec.h"
#include "probe/probe_datagram.h"
#include "probe/probe_io.h"

#include <sys/random.h>

#define PORTS      2
#define PORT_FIRST 49152 /* dynamic ports, where no service has its place */
#define PORT_COUNT 16383
#define UNUSED_AGE (2 * PROBE_SILENCE_TELLING_AGE)
#define HOSTS_MIN  64 /* below, nothing is swept out */

struct silence_host {
	struct addr address;
	uint32_t mark;
	bool doubted;
	enum evidence_silence known;
	usec_t asked; /* 0 = due */
	usec_t used;
};

struct probe_silence_hosts {
	struct table hosts; /* struct silence_host */
	usec_t swept;
};

struct closed_port {
	struct probe_run watch; /* not a probe: what the epoll set knows the socket by */
	struct probe_target target;
	bool answered;
};

struct probe_silence {
	struct closed_port ports[PORTS];
};

/* ---- hosts ---- */

static uint64_t probe_silence_hash(const struct probe_target *t)
{
	return hash_bytes(t->address.bytes, sizeof(t->address.bytes), t->check->fwmark);
}

static bool probe_silence_is_host(const void *key, const void *item)
{
	const struct probe_target *t = key;
	const struct silence_host *h = item;

	return h->mark == t->check->fwmark && addr_compare(&h->address, &t->address) == 0;
}

static uint64_t probe_silence_hash_host(const struct silence_host *h)
{
	return hash_bytes(h->address.bytes, sizeof(h->address.bytes), h->mark);
}

/* Hosts that nobody probes any more are forgotten. */
static void probe_silence_sweep(struct probe_silence_hosts *hosts, usec_t now)
{
	struct table kept = {0};
	struct silence_host *h;
	size_t cursor = 0;

	if (hosts->hosts.count < HOSTS_MIN || now - hosts->swept < UNUSED_AGE)
		return;
	hosts->swept = now;
	while ((h = table_next(&hosts->hosts, &cursor))) {
		if (now - h->used < UNUSED_AGE)
			table_add(&kept, probe_silence_hash_host(h), h);
		else
			free(h);
	}
	table_clear(&hosts->hosts);
	hosts->hosts = kept;
}

static struct silence_host *probe_silence_host(struct probe_run *r, usec_t now)
{
	struct probe_silence_hosts *hosts = r->io->silence;
	const uint64_t hash = probe_silence_hash(r->target);
	struct silence_host *h;

	if (!hosts) {
		hosts = mem_new(struct probe_silence_hosts);
		hosts->swept = now;
		r->io->silence = hosts;
	}
	h = table_find(&hosts->hosts, hash, r->target, probe_silence_is_host);
	if (!h) {
		probe_silence_sweep(hosts, now);
		h = mem_new(struct silence_host);
		h->address = r->target->address;
		h->mark = r->target->check->fwmark;
		h->known = SILENCE_UNTESTED;
		table_add(&hosts->hosts, hash, h);
	}
	h->used = now;
	return h;
}

void probe_silence_free(struct probe_silence_hosts *hosts)
{
	struct silence_host *h;
	size_t cursor = 0;

	if (!hosts)
		return;
	while ((h = table_next(&hosts->hosts, &cursor)))
		free(h);
	table_clear(&hosts->hosts);
	free(hosts);
}

/* ---- closed ports ---- */

static void probe_silence_on_ready(struct probe_run *r, uint32_t events)
{
	struct closed_port *c = (struct closed_port *)(void *)r;
	char text[PROBE_EVIDENCE_MAX];
	struct probe_outcome o;

	for (int i = 0; i < DATAGRAMS_A_RUN; i++) {
		struct datagram d;
		enum datagram_kind kind = probe_datagram_next(r, events, &d);

		if (kind == DATAGRAM_NONE)
			return;
		if (probe_datagram_judge(r, kind, &d, text, &o) &&
		    o.reason == REASON_ICMP_PORT_UNREACHABLE)
			c->answered = true;
	}
}

static const struct probe_kind probe_silence_watch = {.ready = probe_silence_on_ready};

static uint16_t probe_silence_pick_port(uint16_t taken)
{
	uint16_t port = 0;

	(void)!getrandom(&port, sizeof(port), 0);
	port = (uint16_t)(PORT_FIRST + port % PORT_COUNT);
	return port == taken ? (uint16_t)(port + 1) : port;
}

static void probe_silence_open(struct probe_run *r, struct closed_port *c)
{
	static const char nothing[1];

	c->watch = (struct probe_run){.kind = &probe_silence_watch,
				      .target = &c->target,
				      .io = r->io,
				      .owner = r->owner,
				      .started = r->started,
				      .stalled = r->stalled,
				      .fd = -1};
	c->target = *r->target;
	c->target.port = probe_silence_pick_port(r->target->port);
	(void)probe_datagram_open(&c->watch, nothing, sizeof(nothing));
}

static bool probe_silence_is_due(const struct silence_host *h, usec_t now)
{
	const usec_t age = h->known == SILENCE_TELLING ? PROBE_SILENCE_TELLING_AGE
						       : PROBE_SILENCE_UNTELLING_AGE;

	return !h->asked || now - h->asked >= age;
}

struct probe_silence *probe_silence_ask(struct probe_run *r)
{
	const usec_t now = time_monotonic();
	struct silence_host *h = probe_silence_host(r, now);
	struct probe_silence *s;
	bool open = false;

	if (!probe_silence_is_due(h, now))
		return NULL;
	s = mem_new(struct probe_silence);
	for (size_t i = 0; i < PORTS; i++) {
		probe_silence_open(r, &s->ports[i]);
		open |= s->ports[i].watch.fd >= 0;
	}
	h->asked = now;
	if (open)
		return s;
	probe_silence_cancel(s);
	return NULL;
}

enum evidence_silence probe_silence_judge(struct probe_run *r, struct probe_silence *asked)
{
	struct silence_host *h = probe_silence_host(r, time_monotonic());

	if (asked) {
		h->known = SILENCE_UNTELLING;
		for (size_t i = 0; i < PORTS; i++) {
			if (asked->ports[i].answered)
				h->known = SILENCE_TELLING;
		}
		h->doubted = false;
		probe_silence_cancel(asked);
	} else if (h->doubted) {
		h->known = SILENCE_UNTESTED;
		h->doubted = false;
		h->asked = 0;
	}
	return h->known;
}

void probe_silence_doubt(struct probe_run *r)
{
	probe_silence_host(r, time_monotonic())->doubted = true;
}

void probe_silence_cancel(struct probe_silence *asked)
{
	if (!asked)
		return;
	for (size_t i = 0; i < PORTS; i++)
		probe_datagram_close(&asked->ports[i].watch);
	free(asked);
}
