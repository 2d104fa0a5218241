// SPDX-License-Identifier: GPL-2.0-or-later
// A client that asks as fast as it is answered: so many queries are always on their way, sent and received in batches.
//   dns_bench ADDRESS PORT SECONDS WINDOW NAME      prints: answers N seconds S wrong N lost N
// An answer is wrong without NOERROR and at least one record. What is not there after a second is lost.
#include "dns/wire_reply.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define BATCH   64
#define SIZE    1500
#define SOCKETS 16 /* so many clients: servers may not rely on one flow */

struct bench {
	int fds[SOCKETS];
	unsigned on_way[SOCKETS];
	unsigned window; /* of each socket */
	uint8_t query[512];
	size_t query_size;
	uint64_t answers;
	uint64_t wrong;
	uint64_t lost;
	uint16_t id;
};

static uint8_t replies[BATCH][SIZE];
static uint8_t queries[BATCH][512];
static struct iovec in_parts[BATCH];
static struct iovec out_parts[BATCH];
static struct mmsghdr in[BATCH];
static struct mmsghdr out[BATCH];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void ask(struct bench *b, int s)
{
	while (b->on_way[s] < b->window) {
		unsigned count = b->window - b->on_way[s];
		int n;

		if (count > BATCH)
			count = BATCH;
		for (unsigned i = 0; i < count; i++) {
			b->id++;
			queries[i][0] = (uint8_t)(b->id >> 8);
			queries[i][1] = (uint8_t)b->id;
		}
		n = sendmmsg(b->fds[s], out, count, 0);
		if (n <= 0)
			return;
		b->on_way[s] += (unsigned)n;
	}
}

/* Takes what there is, after at most a second the first one. */
static void take(struct bench *b, int s)
{
	int n = recvmmsg(b->fds[s], in, BATCH, MSG_WAITFORONE, NULL);

	if (n <= 0) {
		b->lost += b->on_way[s];
		b->on_way[s] = 0;
		return;
	}
	for (int i = 0; i < n; i++) {
		const uint8_t *r = replies[i];

		if (in[i].msg_len < 12 || (r[3] & 15) != 0 || r[7] == 0)
			b->wrong++;
	}
	b->answers += (unsigned)n;
	b->on_way[s] -= b->on_way[s] < (unsigned)n ? b->on_way[s] : (unsigned)n;
}

static int open_sockets(struct bench *b, const char *address, int port)
{
	static const struct timeval wait = {.tv_sec = 1};
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	if (inet_pton(AF_INET, address, &sa.sin_addr) != 1)
		return -1;
	for (int s = 0; s < SOCKETS; s++) {
		b->fds[s] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (connect(b->fds[s], (const struct sockaddr *)&sa, sizeof(sa)) < 0)
			return -1;
		(void)setsockopt(b->fds[s], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	}
	return 0;
}

static int make_query(struct bench *b, const char *name)
{
	struct dns_name wire;
	struct buf_writer w;

	if (dns_name_parse(name, &wire) < 0)
		return -1;
	wire_writer_init(&w, b->query, sizeof(b->query));
	wire_write_query(&w, 0, &wire, WIRE_TYPE_A);
	b->query_size = w.size;
	for (int i = 0; i < BATCH; i++) {
		memcpy(queries[i], b->query, w.size);
		out_parts[i] = (struct iovec){queries[i], w.size};
		in_parts[i] = (struct iovec){replies[i], SIZE};
		out[i].msg_hdr = (struct msghdr){.msg_iov = &out_parts[i], .msg_iovlen = 1};
		in[i].msg_hdr = (struct msghdr){.msg_iov = &in_parts[i], .msg_iovlen = 1};
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench b;
	double begin;
	double end;

	if (argc != 6)
		return 64;
	b.window = ((unsigned)atoi(argv[4]) + SOCKETS - 1) / SOCKETS;
	if (make_query(&b, argv[5]) < 0 || open_sockets(&b, argv[1], atoi(argv[2])) < 0) {
		perror("dns_bench");
		return 1;
	}
	begin = now();
	end = begin + atof(argv[3]);
	while (now() < end) {
		for (int s = 0; s < SOCKETS; s++)
			ask(&b, s);
		for (int s = 0; s < SOCKETS; s++)
			take(&b, s);
	}
	printf("answers %llu seconds %.3f wrong %llu lost %llu\n", (unsigned long long)b.answers,
	       now() - begin, (unsigned long long)b.wrong, (unsigned long long)b.lost);
	return 0;
}
