// SPDX-License-Identifier: GPL-2.0-or-later
// The server side of the probe benchmarks: accepts on every address of one port, answers HTTP if asked to, and measures
// from its own clock how regularly each address (its last 17 bits are the number of the target) is visited.
//   listener PORT tcp|http|kept|syn     SIGUSR1: prints and forgets what it saw so far; SIGTERM: prints and ends
// kept: HTTP, many requests on a connection, each of them a visit; syn: the handshakes that are begun are the visits.
// Prints: connections, targets, and of the intervals their number, mean, p1, p50, p99 and maximum in µs.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TARGETS       131072
#define INTERVALS_MAX 20000000
#define EVENTS        256
#define BACKLOG       65535
#define BUFFER        (16 << 20)
#define TCP_FLAGS_AT  13

static const char answer[] = "HTTP/1.1 200 OK\r\nServer: listener\r\nContent-Type: text/plain\r\n"
			     "Content-Length: 3\r\nConnection: close\r\n\r\n";
static const char kept_answer[] =
	"HTTP/1.1 200 OK\r\nServer: listener\r\nContent-Type: text/plain\r\n"
	"Content-Length: 3\r\nConnection: keep-alive\r\n\r\n";

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t asked;

struct listener {
	int fd;
	int epoll;
	int raw; /* sees the SYNs of handshakes that are never completed; -1 = not asked for */
	bool http;
	bool kept;
	uint64_t connections;
	size_t intervals;
	uint64_t first[TARGETS];
	uint64_t last[TARGETS];
	uint32_t *interval; /* microseconds */
};

static void on_signal(int number)
{
	if (number == SIGUSR1)
		asked = 1;
	else
		stopped = 1;
}

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void note_target(struct listener *l, uint32_t address, uint64_t now)
{
	uint32_t target = ntohl(address) & (TARGETS - 1);

	if (!l->last[target])
		l->first[target] = now;
	else if (l->intervals < INTERVALS_MAX)
		l->interval[l->intervals++] = (uint32_t)(now - l->last[target]);
	l->last[target] = now;
}

static void note_visit(struct listener *l, int fd, uint64_t now)
{
	struct sockaddr_in local;
	socklen_t size = sizeof(local);

	l->connections++;
	if (getsockname(fd, (struct sockaddr *)&local, &size) == 0)
		note_target(l, local.sin_addr.s_addr, now);
}

static void note_syns(struct listener *l)
{
	struct iphdr packets[EVENTS];
	struct iovec iovs[EVENTS];
	struct mmsghdr messages[EVENTS] = {0};
	int n = EVENTS;

	while (n == EVENTS) {
		for (int i = 0; i < EVENTS; i++) {
			iovs[i] = (struct iovec){&packets[i], sizeof(packets[i])};
			messages[i].msg_hdr = (struct msghdr){.msg_iov = &iovs[i], .msg_iovlen = 1};
		}
		n = recvmmsg(l->raw, messages, EVENTS, MSG_DONTWAIT, NULL);
		for (int i = 0; i < n; i++) {
			l->connections++;
			note_target(l, packets[i].daddr, now_usec());
		}
	}
}

static void accept_all(struct listener *l)
{
	for (;;) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

		if (fd < 0)
			return;
		if (!l->kept && l->raw < 0)
			note_visit(l, fd, now_usec());
		if (!l->http || epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
			close(fd);
	}
}

static void answer_kept(struct listener *l, int fd)
{
	char request[4096];

	if (recv(fd, request, sizeof(request), 0) <= 0) {
		close(fd);
		return;
	}
	note_visit(l, fd, now_usec());
	(void)send(fd, kept_answer, sizeof(kept_answer) - 1, MSG_NOSIGNAL);
}

static void answer_one(int fd)
{
	char request[4096];

	if (recv(fd, request, sizeof(request), 0) > 0)
		(void)send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL);
	close(fd);
}

static int open_port(uint16_t port)
{
	const int on = 1;
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)) < 0 || listen(fd, BACKLOG) < 0) {
		perror("listener");
		exit(1);
	}
	return fd;
}

/* Only SYNs to the port; X is where the TCP header begins. */
static int open_raw(uint16_t port)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, TCP_FLAGS_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TH_SYN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
	const int size = BUFFER;
	int fd = socket(AF_INET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0) {
		perror("listener");
		exit(1);
	}
	return fd;
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a;
	const uint32_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void report(struct listener *l)
{
	size_t n = l->intervals;
	const uint32_t *v = l->interval;
	uint64_t span = 0;
	unsigned targets = 0;

	for (size_t i = 0; i < TARGETS; i++) {
		if (!l->last[i])
			continue;
		targets++;
		span += l->last[i] - l->first[i];
	}
	qsort(l->interval, n, sizeof(*l->interval), compare);
	printf("connections %ju targets %u intervals %zu mean %.1f p1 %u p50 %u p99 %u max %u\n",
	       (uintmax_t)l->connections, targets, n, n ? (double)span / (double)n : 0.,
	       n ? v[n / 100] : 0, n ? v[n / 2] : 0, n ? v[n - 1 - n / 100] : 0, n ? v[n - 1] : 0);
	fflush(stdout);
}

static void forget_all(struct listener *l)
{
	asked = 0;
	l->connections = 0;
	l->intervals = 0;
	memset(l->last, 0, sizeof(l->last));
}

static void serve(struct listener *l)
{
	struct epoll_event events[EVENTS];

	while (!stopped) {
		int n = epoll_wait(l->epoll, events, EVENTS, 1000);

		if (asked) {
			report(l);
			forget_all(l);
		}
		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == l->fd)
				accept_all(l);
			else if (events[i].data.fd == l->raw)
				note_syns(l);
			else if (l->kept)
				answer_kept(l, events[i].data.fd);
			else
				answer_one(events[i].data.fd);
		}
	}
}

int main(int argc, char **argv)
{
	static struct listener l;
	struct epoll_event event = {.events = EPOLLIN};
	struct sigaction action = {.sa_handler = on_signal};

	if (argc != 3) {
		fprintf(stderr, "usage: listener PORT tcp|http|kept|syn\n");
		return 64;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	l.kept = strcmp(argv[2], "kept") == 0;
	l.http = l.kept || strcmp(argv[2], "http") == 0;
	l.interval = malloc(INTERVALS_MAX * sizeof(*l.interval));
	l.fd = open_port((uint16_t)atoi(argv[1]));
	l.epoll = epoll_create1(EPOLL_CLOEXEC);
	event.data.fd = l.fd;
	if (!l.interval || epoll_ctl(l.epoll, EPOLL_CTL_ADD, l.fd, &event) < 0)
		return 1;
	l.raw = strcmp(argv[2], "syn") == 0 ? open_raw((uint16_t)atoi(argv[1])) : -1;
	event.data.fd = l.raw;
	if (l.raw >= 0 && epoll_ctl(l.epoll, EPOLL_CTL_ADD, l.raw, &event) < 0)
		return 1;
	serve(&l);
	report(&l);
	return 0;
}
