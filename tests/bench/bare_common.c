// SPDX-License-Identifier: GPL-2.0-or-later
// What the bare probe programs share. Targets are 127.1.0.0 onwards; starts and deadlines lie in slots of 10 ms.
#include "bare_common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS     256
#define TIMEOUT_MS 1000

uint64_t bare_now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

double bare_cpu_usec(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void bare_run_rounds(const struct bare_rounds *r, double seconds)
{
	uint64_t slot = bare_now_usec() / BARE_SLOT_USEC + 1;
	uint64_t last = slot + (uint64_t)(seconds * 1e6) / BARE_SLOT_USEC;

	while (slot < last) {
		uint64_t now = bare_now_usec();
		uint64_t next;

		for (; slot * BARE_SLOT_USEC <= now && slot < last; slot++)
			r->slot(r->ctx, slot, now);
		now = bare_now_usec();
		next = slot * BARE_SLOT_USEC;
		r->harvest(r->ctx, next > now ? (int)((next - now + 999) / 1000) : 0);
	}
}

void bare_print(uint64_t probes, uint64_t failures, double cpu_usec)
{
	printf("probes %ju failures %ju cpu_usec %.1f\n", (uintmax_t)probes, (uintmax_t)failures,
	       probes ? cpu_usec / (double)probes : 0.);
}

void bare_finish_target(struct bare_connects *b, struct bare_target *t, int error)
{
	static const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(t->fd);
	t->fd = -1;
	b->probes++;
	b->failures += error != 0;
}

int bare_connect_error(const struct bare_target *t)
{
	int error = 0;
	socklen_t size = sizeof(error);

	getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return error;
}

static void start(struct bare_connects *b, size_t i, uint64_t now)
{
	struct bare_target *t = &b->targets[i];
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(b->port)};
	struct epoll_event event = {.events = EPOLLOUT, .data.u64 = i};

	if (t->fd >= 0)
		return;
	to.sin_addr.s_addr = htonl(BARE_FIRST + (uint32_t)i);
	t->asked = 0;
	t->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	t->deadline = now + TIMEOUT_MS * 1000;
	if (connect(t->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
		bare_finish_target(b, t, errno);
	else
		(void)epoll_ctl(b->epoll, EPOLL_CTL_ADD, t->fd, &event);
}

/* The targets of one slot: what is still in flight after its time has failed, then the next round. */
static void run_slot(void *ctx, uint64_t slot, uint64_t now)
{
	struct bare_connects *b = ctx;

	for (size_t i = slot % b->slots; i < b->count; i += b->slots) {
		if (b->targets[i].fd >= 0 && now >= b->targets[i].deadline)
			bare_finish_target(b, &b->targets[i], ETIMEDOUT);
		start(b, i, now);
	}
}

static void harvest(void *ctx, int wait_ms)
{
	struct bare_connects *b = ctx;
	struct epoll_event events[EVENTS];
	int n = epoll_wait(b->epoll, events, EVENTS, wait_ms);

	for (int i = 0; i < n; i++)
		b->ready(b, &b->targets[events[i].data.u64]);
}

int bare_probe_connections(int argc, char **argv,
			   void (*ready)(struct bare_connects *b, struct bare_target *t))
{
	struct bare_connects b = {.ready = ready};
	struct bare_rounds rounds = {.ctx = &b, .slot = run_slot, .harvest = harvest};
	double cpu;

	if (argc != 5) {
		fprintf(stderr, "usage: %s TARGETS INTERVAL_MS SECONDS PORT\n", argv[0]);
		return 64;
	}
	b.count = strtoul(argv[1], NULL, 10);
	b.slots = strtoul(argv[2], NULL, 10) * 1000 / BARE_SLOT_USEC;
	b.port = (uint16_t)strtoul(argv[4], NULL, 10);
	b.epoll = epoll_create1(EPOLL_CLOEXEC);
	b.targets = calloc(b.count, sizeof(*b.targets));
	if (!b.targets || !b.slots || b.epoll < 0)
		return 1;
	for (size_t i = 0; i < b.count; i++)
		b.targets[i].fd = -1;
	cpu = bare_cpu_usec();
	bare_run_rounds(&rounds, strtod(argv[3], NULL));
	bare_print(b.probes, b.failures, bare_cpu_usec() - cpu);
	free(b.targets);
	return 0;
}
