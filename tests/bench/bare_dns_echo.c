// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: UDP datagrams that come in, are marked as answers, get one record behind them and go back, by
// recvmmsg() and sendmmsg(), without a line of the product.
//   bare_dns_echo ADDRESS PORT      until it is killed
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define BATCH 64
#define SIZE  1500

static const uint8_t record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1};

struct slot {
	struct sockaddr_in from;
	struct iovec in;
	struct iovec out;
	uint8_t data[SIZE + sizeof(record)];
};

static struct slot slots[BATCH];
static struct mmsghdr in[BATCH];
static struct mmsghdr out[BATCH];

static void answer(int i)
{
	size_t size = in[i].msg_len;

	slots[i].data[2] |= 0x84;
	slots[i].data[7] = 1;
	memcpy(slots[i].data + size, record, sizeof(record));
	slots[i].out = (struct iovec){slots[i].data, size + sizeof(record)};
	out[i].msg_hdr = in[i].msg_hdr;
	out[i].msg_hdr.msg_iov = &slots[i].out;
	in[i].msg_hdr.msg_namelen = sizeof(slots[i].from);
}

int main(int argc, char **argv)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (argc != 3 || inet_pton(AF_INET, argv[1], &sa.sin_addr) != 1)
		return 64;
	sa.sin_port = htons((uint16_t)atoi(argv[2]));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0) {
		perror("bare_dns_echo");
		return 1;
	}
	for (int i = 0; i < BATCH; i++) {
		slots[i].in = (struct iovec){slots[i].data, SIZE};
		in[i].msg_hdr = (struct msghdr){.msg_name = &slots[i].from,
						.msg_namelen = sizeof(slots[i].from),
						.msg_iov = &slots[i].in,
						.msg_iovlen = 1};
	}
	for (;;) {
		int n = recvmmsg(fd, in, BATCH, MSG_WAITFORONE, NULL);

		for (int i = 0; i < n; i++)
			answer(i);
		if (n > 0)
			(void)sendmmsg(fd, out, (unsigned)n, 0);
	}
}
