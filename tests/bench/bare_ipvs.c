// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: IPVS by netlink in batches, without a line of the product. Service i is 10.128.0.0 + i port 80,
// its servers are 10.0.0.0 + i * SERVERS + j port 8080 (or the first SERVERS, shared by all, for `weights`).
//   bare_ipvs load SERVICES SERVERS            adds all of them
//   bare_ipvs weights SERVICES SERVERS WEIGHT  sets the weight of the first server of each service, shared by all
//   bare_ipvs watch INDEX SERVERS SECONDS      waits until service INDEX has so many servers, prints when (REALTIME, ns)
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH     256
#define FIRST_VIP 0x0a800000u
#define FIRST_RIP 0x0a000000u
#define PORT      80
#define RIP_PORT  8080
#define WEIGHT    100
#define PAUSE_NS  5000000

/* Length on the wire, from one record to the next. */
static size_t padded(size_t length)
{
	return (length + 3) & ~(size_t)3;
}

struct bench {
	int fd;
	uint16_t family;
	uint32_t sequence;
	uint32_t services;
	uint32_t servers;
	unsigned queued;
	size_t used;
	struct nlmsghdr *last;
	_Alignas(8) unsigned char data[BATCH * 192];
	_Alignas(8) unsigned char answer[1 << 18];
};

/* ---- messages ---- */

static void *reserve(struct bench *b, size_t size)
{
	void *at = b->data + b->used;

	b->used += padded(size);
	if (b->used > sizeof(b->data))
		abort();
	memset(at, 0, padded(size));
	return at;
}

static struct nlattr *put(struct bench *b, uint16_t type, const void *value, size_t size)
{
	struct nlattr *a = reserve(b, sizeof(*a) + size);

	a->nla_type = type;
	a->nla_len = (uint16_t)(sizeof(*a) + size);
	if (size)
		memcpy(a + 1, value, size);
	return a;
}

static void put_u32(struct bench *b, uint16_t type, uint32_t value)
{
	put(b, type, &value, sizeof(value));
}

static void put_u16(struct bench *b, uint16_t type, uint16_t value)
{
	put(b, type, &value, sizeof(value));
}

static void put_address(struct bench *b, uint16_t type, uint32_t address)
{
	uint32_t value[4] = {htonl(address)};

	put(b, type, value, sizeof(value));
}

static void end(struct bench *b, struct nlattr *nest)
{
	nest->nla_len = (uint16_t)(b->data + b->used - (unsigned char *)nest);
}

static void begin_message(struct bench *b, uint16_t type, uint16_t flags, uint8_t command)
{
	struct nlmsghdr *h = reserve(b, sizeof(*h));
	struct genlmsghdr *g = reserve(b, sizeof(*g));

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = ++b->sequence;
	g->cmd = command;
	g->version = 1;
	b->last = h;
}

static void end_message(struct bench *b)
{
	b->last->nlmsg_len = (uint32_t)(b->data + b->used - (unsigned char *)b->last);
	b->queued++;
}

/* ---- exchanges ---- */

static void send_all(struct bench *b)
{
	if (send(b->fd, b->data, b->used, 0) != (ssize_t)b->used) {
		perror("bare_ipvs: send");
		exit(1);
	}
	b->used = 0;
	b->queued = 0;
}

static size_t receive(struct bench *b)
{
	ssize_t n = recv(b->fd, b->answer, sizeof(b->answer), 0);

	if (n <= 0) {
		perror("bare_ipvs: recv");
		exit(1);
	}
	return (size_t)n;
}

static void judge(const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = (const void *)(h + 1);

	if (h->nlmsg_type == NLMSG_ERROR && e->error) {
		fprintf(stderr, "bare_ipvs: message %u: %s\n", h->nlmsg_seq, strerror(-e->error));
		exit(1);
	}
}

/* Sends what is queued, with an ACK of the last message only, and waits for that. */
static void flush(struct bench *b)
{
	if (!b->queued)
		return;
	b->last->nlmsg_flags |= NLM_F_ACK;
	send_all(b);
	for (;;) {
		const struct nlmsghdr *h = (const void *)b->answer;
		size_t left = receive(b);

		while (left >= sizeof(*h) && h->nlmsg_len >= sizeof(*h) && h->nlmsg_len <= left) {
			judge(h);
			if (h->nlmsg_seq == b->sequence)
				return;
			if (padded(h->nlmsg_len) >= left)
				break;
			left -= padded(h->nlmsg_len);
			h = (const void *)((const char *)h + padded(h->nlmsg_len));
		}
	}
}

static void queue(struct bench *b)
{
	end_message(b);
	if (b->queued == BATCH)
		flush(b);
}

static void find_family(struct bench *b)
{
	const struct nlattr *a = (const void *)(b->answer + sizeof(struct nlmsghdr) +
						sizeof(struct genlmsghdr));
	size_t left;

	begin_message(b, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	put(b, CTRL_ATTR_FAMILY_NAME, IPVS_GENL_NAME, sizeof(IPVS_GENL_NAME));
	end_message(b);
	send_all(b);
	left = receive(b) - sizeof(struct nlmsghdr) - sizeof(struct genlmsghdr);
	judge((const void *)b->answer);
	while (left >= sizeof(*a) && a->nla_len >= sizeof(*a) && a->nla_len <= left) {
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&b->family, a + 1, sizeof(b->family));
		if (padded(a->nla_len) >= left)
			return;
		left -= padded(a->nla_len);
		a = (const void *)((const char *)a + padded(a->nla_len));
	}
}

/* ---- the table ---- */

static void put_service(struct bench *b, uint32_t i)
{
	struct nlattr *nest = put(b, IPVS_CMD_ATTR_SERVICE, NULL, 0);

	put_u16(b, IPVS_SVC_ATTR_AF, AF_INET);
	put_u16(b, IPVS_SVC_ATTR_PROTOCOL, IPPROTO_TCP);
	put_address(b, IPVS_SVC_ATTR_ADDR, FIRST_VIP + i);
	put_u16(b, IPVS_SVC_ATTR_PORT, htons(PORT));
	end(b, nest);
}

static void add_service(struct bench *b, uint32_t i)
{
	static const struct ip_vs_flags flags = {.flags = 0, .mask = ~0u};
	struct nlattr *nest;

	begin_message(b, b->family, 0, IPVS_CMD_NEW_SERVICE);
	nest = put(b, IPVS_CMD_ATTR_SERVICE, NULL, 0);
	put_u16(b, IPVS_SVC_ATTR_AF, AF_INET);
	put_u16(b, IPVS_SVC_ATTR_PROTOCOL, IPPROTO_TCP);
	put_address(b, IPVS_SVC_ATTR_ADDR, FIRST_VIP + i);
	put_u16(b, IPVS_SVC_ATTR_PORT, htons(PORT));
	put(b, IPVS_SVC_ATTR_SCHED_NAME, "wrr", sizeof("wrr"));
	put(b, IPVS_SVC_ATTR_FLAGS, &flags, sizeof(flags));
	put_u32(b, IPVS_SVC_ATTR_TIMEOUT, 0);
	put_u32(b, IPVS_SVC_ATTR_NETMASK, ~0u);
	end(b, nest);
	queue(b);
}

static void put_server(struct bench *b, uint8_t command, uint32_t service, uint32_t server,
		       uint32_t weight)
{
	struct nlattr *nest;

	begin_message(b, b->family, 0, command);
	put_service(b, service);
	nest = put(b, IPVS_CMD_ATTR_DEST, NULL, 0);
	put_u16(b, IPVS_DEST_ATTR_ADDR_FAMILY, AF_INET);
	put_address(b, IPVS_DEST_ATTR_ADDR, FIRST_RIP + server);
	put_u16(b, IPVS_DEST_ATTR_PORT, htons(RIP_PORT));
	put_u32(b, IPVS_DEST_ATTR_FWD_METHOD, IP_VS_CONN_F_MASQ);
	put_u32(b, IPVS_DEST_ATTR_WEIGHT, weight);
	put_u32(b, IPVS_DEST_ATTR_U_THRESH, 0);
	put_u32(b, IPVS_DEST_ATTR_L_THRESH, 0);
	end(b, nest);
	queue(b);
}

static void load(struct bench *b)
{
	for (uint32_t i = 0; i < b->services; i++) {
		add_service(b, i);
		for (uint32_t j = 0; j < b->servers; j++)
			put_server(b, IPVS_CMD_NEW_DEST, i, i * b->servers + j, WEIGHT);
	}
	flush(b);
}

static void set_weights(struct bench *b, uint32_t weight)
{
	for (uint32_t i = 0; i < b->services; i++)
		put_server(b, IPVS_CMD_SET_DEST, i, 0, weight);
	flush(b);
}

/* How many servers the kernel shows for one service. */
static uint32_t count_servers(struct bench *b, uint32_t service)
{
	uint32_t count = 0;

	begin_message(b, b->family, NLM_F_DUMP, IPVS_CMD_GET_DEST);
	put_service(b, service);
	end_message(b);
	send_all(b);
	for (;;) {
		const struct nlmsghdr *h = (const void *)b->answer;
		size_t left = receive(b);

		while (left >= sizeof(*h) && h->nlmsg_len >= sizeof(*h) && h->nlmsg_len <= left) {
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				return count;
			count++;
			if (padded(h->nlmsg_len) >= left)
				break;
			left -= padded(h->nlmsg_len);
			h = (const void *)((const char *)h + padded(h->nlmsg_len));
		}
	}
}

static int watch(struct bench *b, uint32_t service, uint32_t seconds)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint32_t looks = seconds * (1000000000 / PAUSE_NS);
	struct timespec now;

	for (uint32_t i = 0; i < looks; i++) {
		if (count_servers(b, service) >= b->servers) {
			clock_gettime(CLOCK_REALTIME, &now);
			printf("%jd%09ld\n", (intmax_t)now.tv_sec, now.tv_nsec);
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	return 1;
}

static uint32_t number(char **argv, int argc, int index)
{
	return index < argc ? (uint32_t)strtoul(argv[index], NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	static struct bench b;
	const char *what = argc > 3 ? argv[1] : "";

	b.services = number(argv, argc, 2);
	b.servers = number(argv, argc, 3);
	b.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (b.fd < 0)
		return 1;
	find_family(&b);
	if (strcmp(what, "load") == 0)
		load(&b);
	else if (strcmp(what, "weights") == 0 && argc > 4)
		set_weights(&b, number(argv, argc, 4));
	else if (strcmp(what, "watch") == 0 && argc > 4)
		return watch(&b, b.services, number(argv, argc, 4));
	else
		return 64;
	return 0;
}
