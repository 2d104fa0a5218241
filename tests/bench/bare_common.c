// SPDX-License-Identifier: GPL-2.0-or-later
// What the bare probe programs share. Targets are 127.1.0.0 onwards; starts and deadlines lie in slots of 10 ms.
#include "bare_common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static double cpu_usec(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void run_rounds(const struct bare_rounds *r, double seconds)
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

int bare_run_begin(struct bare_run *run, const char *const *kinds, int argc, char **argv)
{
	int first = kinds ? 2 : 1; /* TARGETS */

	*run = (struct bare_run){.epoll = -1};
	while (kinds && argc > 1 && kinds[run->kind] && strcmp(kinds[run->kind], argv[1]) != 0)
		run->kind++;
	if (argc != (kinds ? 7 : 5) || (kinds && !kinds[run->kind])) {
		fprintf(stderr, "usage: %s %sTARGETS INTERVAL_MS SECONDS PORT%s\n", argv[0],
			kinds ? "KIND " : "", kinds ? " WARM_SECONDS" : "");
		return 64;
	}
	run->count = strtoul(argv[first], NULL, 10);
	run->slots = strtoul(argv[first + 1], NULL, 10) * 1000 / BARE_SLOT_USEC;
	run->seconds = strtod(argv[first + 2], NULL);
	run->port = (uint16_t)strtoul(argv[first + 3], NULL, 10);
	run->warm = kinds ? strtod(argv[first + 4], NULL) : 0;
	run->epoll = epoll_create1(EPOLL_CLOEXEC);
	return !run->count || !run->slots || run->epoll < 0;
}

void bare_run_measure(struct bare_run *run, const struct bare_rounds *rounds)
{
	double cpu;

	run_rounds(rounds, run->warm);
	run->probes = run->failures = 0;
	cpu = cpu_usec();
	run_rounds(rounds, run->seconds);
	cpu = cpu_usec() - cpu;
	printf("probes %ju failures %ju cpu_usec %.1f\n", (uintmax_t)run->probes,
	       (uintmax_t)run->failures, run->probes ? cpu / (double)run->probes : 0.);
}

struct sockaddr_in bare_address(const struct bare_run *run, size_t target)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(run->port),
				    .sin_addr.s_addr = htonl(BARE_FIRST + (uint32_t)target)};
}

void bare_close_reset(int fd)
{
	static const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

/* ---- connections ---- */

void bare_finish_target(struct bare_connects *b, struct bare_target *t, int error)
{
	bare_close_reset(t->fd);
	t->fd = -1;
	b->run.probes++;
	b->run.failures += error != 0;
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
	const struct sockaddr_in to = bare_address(&b->run, i);
	struct epoll_event event = {.events = EPOLLOUT, .data.u64 = i};

	if (t->fd >= 0)
		return;
	t->asked = 0;
	t->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	t->deadline = now + TIMEOUT_MS * 1000;
	if (connect(t->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
		bare_finish_target(b, t, errno);
	else
		(void)epoll_ctl(b->run.epoll, EPOLL_CTL_ADD, t->fd, &event);
}

/* The targets of one slot: what is still in flight after its time has failed, then the next round. */
static void run_slot(void *ctx, uint64_t slot, uint64_t now)
{
	struct bare_connects *b = ctx;

	for (size_t i = slot % b->run.slots; i < b->run.count; i += b->run.slots) {
		if (b->targets[i].fd >= 0 && now >= b->targets[i].deadline)
			bare_finish_target(b, &b->targets[i], ETIMEDOUT);
		start(b, i, now);
	}
}

static void harvest(void *ctx, int wait_ms)
{
	struct bare_connects *b = ctx;
	struct epoll_event events[EVENTS];
	int n = epoll_wait(b->run.epoll, events, EVENTS, wait_ms);

	for (int i = 0; i < n; i++)
		b->ready(b, &b->targets[events[i].data.u64]);
}

int bare_probe_connections(int argc, char **argv,
			   void (*ready)(struct bare_connects *b, struct bare_target *t))
{
	struct bare_connects b = {.ready = ready};
	struct bare_rounds rounds = {.ctx = &b, .slot = run_slot, .harvest = harvest};
	int status = bare_run_begin(&b.run, NULL, argc, argv);

	if (status)
		return status;
	b.targets = calloc(b.run.count, sizeof(*b.targets));
	if (!b.targets)
		return 1;
	for (size_t i = 0; i < b.run.count; i++)
		b.targets[i].fd = -1;
	bare_run_measure(&b.run, &rounds);
	free(b.targets);
	return 0;
}
