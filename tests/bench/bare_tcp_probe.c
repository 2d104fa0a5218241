// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: TCP probes by bare epoll, without a line of the product. Targets are 127.1.0.0 onwards; starts
// and deadlines lie in slots of 10 ms; connect, watch, ask for the error, close with RST.
//   bare_tcp_probe TARGETS INTERVAL_MS SECONDS PORT      prints: probes, failures, CPU µs a probe
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SLOT_USEC  10000
#define EVENTS     256
#define TIMEOUT_MS 1000

struct target {
	int fd; /* -1 = waits */
	uint64_t deadline;
};

struct bench {
	int epoll;
	uint16_t port;
	size_t count;
	size_t slots; /* of one interval */
	struct target *targets;
	uint64_t probes;
	uint64_t failures;
};

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void finish(struct bench *b, struct target *t, int error)
{
	static const struct linger reset = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(t->fd);
	t->fd = -1;
	b->probes++;
	b->failures += error != 0;
}

static void start(struct bench *b, size_t i, uint64_t now)
{
	struct target *t = &b->targets[i];
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(b->port)};
	struct epoll_event event = {.events = EPOLLOUT, .data.u64 = i};

	if (t->fd >= 0)
		return;
	to.sin_addr.s_addr = htonl(0x7f010000u + (uint32_t)i);
	t->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	t->deadline = now + TIMEOUT_MS * 1000;
	if (connect(t->fd, (const struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
		finish(b, t, errno);
	else
		(void)epoll_ctl(b->epoll, EPOLL_CTL_ADD, t->fd, &event);
}

/* The targets of one slot: what is still in flight after its time has failed, then the next round. */
static void run_slot(struct bench *b, uint64_t slot, uint64_t now)
{
	for (size_t i = slot % b->slots; i < b->count; i += b->slots) {
		if (b->targets[i].fd >= 0 && now >= b->targets[i].deadline)
			finish(b, &b->targets[i], ETIMEDOUT);
		start(b, i, now);
	}
}

static void harvest(struct bench *b, int wait_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(b->epoll, events, EVENTS, wait_ms);

	for (int i = 0; i < n; i++) {
		struct target *t = &b->targets[events[i].data.u64];
		int error = 0;
		socklen_t size = sizeof(error);

		getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		finish(b, t, error);
	}
}

static void run(struct bench *b, uint64_t seconds)
{
	uint64_t slot = now_usec() / SLOT_USEC + 1;
	uint64_t last = slot + seconds * 1000000 / SLOT_USEC;

	while (slot < last) {
		uint64_t now = now_usec();

		for (; slot * SLOT_USEC <= now && slot < last; slot++)
			run_slot(b, slot, now);
		now = now_usec();
		harvest(b,
			slot * SLOT_USEC > now ? (int)((slot * SLOT_USEC - now + 999) / 1000) : 0);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	struct rusage before;
	struct rusage after;
	double cpu;

	if (argc != 5) {
		fprintf(stderr, "usage: bare_tcp_probe TARGETS INTERVAL_MS SECONDS PORT\n");
		return 64;
	}
	b.count = strtoul(argv[1], NULL, 10);
	b.slots = strtoul(argv[2], NULL, 10) * 1000 / SLOT_USEC;
	b.port = (uint16_t)strtoul(argv[4], NULL, 10);
	b.epoll = epoll_create1(EPOLL_CLOEXEC);
	b.targets = calloc(b.count, sizeof(*b.targets));
	if (!b.targets || !b.slots || b.epoll < 0)
		return 1;
	for (size_t i = 0; i < b.count; i++)
		b.targets[i].fd = -1;
	getrusage(RUSAGE_SELF, &before);
	run(&b, strtoul(argv[3], NULL, 10));
	getrusage(RUSAGE_SELF, &after);
	cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
		       before.ru_stime.tv_sec) *
		      1e6 +
	      (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
		       before.ru_stime.tv_usec);
	printf("probes %ju failures %ju cpu_usec %.1f\n", (uintmax_t)b.probes,
	       (uintmax_t)b.failures, b.probes ? cpu / (double)b.probes : 0.);
	return 0;
}
