// SPDX-License-Identifier: GPL-2.0-or-later
// One packet socket for all links; the kernel makes the head of Ethernet.
#include "host/host_arp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"

#define ANSWERS_MAX 4096

/* Its own hardware address; false: it is no link of Ethernet. */
static bool arp_read_mac(int fd, const struct doctor_link *l, uint8_t ret_mac[ETH_ALEN])
{
	struct ifreq request = {0};

	memcpy(request.ifr_name, l->name, sizeof(l->name));
	if (ioctl(fd, SIOCGIFHWADDR, &request) < 0 || request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return false;
	memcpy(ret_mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
	return true;
}

static bool arp_send(int fd, uint32_t link, const uint8_t mac[ETH_ALEN], const struct addr *vip)
{
	struct ether_arp question = {.ea_hdr = {.ar_hrd = htons(ARPHRD_ETHER),
						.ar_pro = htons(ETH_P_IP),
						.ar_hln = ETH_ALEN,
						.ar_pln = 4,
						.ar_op = htons(ARPOP_REQUEST)}};
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_ARP),
				 .sll_ifindex = (int)link,
				 .sll_halen = ETH_ALEN};

	memset(to.sll_addr, 0xff, ETH_ALEN);
	memcpy(question.arp_sha, mac, ETH_ALEN);
	memcpy(question.arp_tpa, vip->bytes, 4);
	return sendto(fd, &question, sizeof(question), 0, (const struct sockaddr *)&to,
		      sizeof(to)) == (ssize_t)sizeof(question);
}

static bool arp_is_known(const struct doctor_facts *f, const struct doctor_neighbour *n)
{
	for (size_t i = 0; i < f->neighbour_count; i++)
		if (f->neighbours[i].link == n->link && strcmp(f->neighbours[i].mac, n->mac) == 0 &&
		    addr_compare(&f->neighbours[i].address, &n->address) == 0)
			return true;
	return false;
}

/* The kernel answers for a VIP on every link of this host that hears the question. */
static bool arp_is_ours(int fd, const struct doctor_facts *f, const uint8_t mac[ETH_ALEN])
{
	uint8_t own[ETH_ALEN];

	for (size_t i = 0; i < f->link_count; i++)
		if (arp_read_mac(fd, &f->links[i], own) && memcmp(own, mac, ETH_ALEN) == 0)
			return true;
	return false;
}

static void arp_take(int fd, struct doctor_facts *f, const struct doctor_arp *arp, uint32_t link,
		     const struct ether_arp *a)
{
	struct doctor_neighbour n = {.address = {.family = AF_INET}, .link = link};
	bool asked = false;

	memcpy(n.address.bytes, a->arp_spa, 4);
	for (size_t i = 0; i < arp->vip_count; i++)
		asked = asked || addr_compare(&arp->vips[i], &n.address) == 0;
	snprintf(n.mac, sizeof(n.mac), "%02x:%02x:%02x:%02x:%02x:%02x", a->arp_sha[0],
		 a->arp_sha[1], a->arp_sha[2], a->arp_sha[3], a->arp_sha[4], a->arp_sha[5]);
	if (!asked || arp_is_known(f, &n) || arp_is_ours(fd, f, a->arp_sha))
		return;
	f->neighbours = mem_realloc_array(f->neighbours, f->neighbour_count + 1, sizeof(n));
	f->neighbours[f->neighbour_count++] = n;
}

/* Other packets than answers of other machines are passed over. */
static void arp_receive(int fd, struct doctor_facts *f, const struct doctor_arp *arp)
{
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	struct ether_arp a;
	ssize_t got = recvfrom(fd, &a, sizeof(a), MSG_DONTWAIT, (struct sockaddr *)&from, &size);

	if (got != (ssize_t)sizeof(a) || from.sll_pkttype == PACKET_OUTGOING ||
	    a.ea_hdr.ar_op != htons(ARPOP_REPLY) || a.ea_hdr.ar_pro != htons(ETH_P_IP) ||
	    a.ea_hdr.ar_hln != ETH_ALEN || a.ea_hdr.ar_pln != 4)
		return;
	arp_take(fd, f, arp, (uint32_t)from.sll_ifindex, &a);
}

static void arp_wait(int fd, struct doctor_facts *f, const struct doctor_arp *arp)
{
	const usec_t end = time_monotonic() + HOST_ARP_WAIT_MS * USEC_PER_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	for (size_t i = 0; i < ANSWERS_MAX; i++) {
		const usec_t now = time_monotonic();

		if (now >= end || poll(&p, 1, (int)((end - now) / USEC_PER_MS) + 1) <= 0)
			return;
		arp_receive(fd, f, arp);
	}
}

static bool arp_ask_link(int fd, const struct doctor_facts *f, const struct doctor_arp *arp,
			 uint32_t link)
{
	uint8_t mac[ETH_ALEN];
	bool sent = false;

	for (size_t i = 0; i < f->link_count; i++) {
		if (f->links[i].index != link || !arp_read_mac(fd, &f->links[i], mac))
			continue;
		for (size_t j = 0; j < arp->vip_count; j++)
			sent = arp_send(fd, link, mac, &arp->vips[j]) || sent;
	}
	return sent;
}

void host_arp_ask(struct doctor_facts *f, const struct doctor_arp *arp)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ARP));
	struct doctor_arp *asked = &f->arp_asked;

	f->arp_error = fd < 0 ? -errno : 0;
	if (fd < 0)
		return;
	for (size_t i = 0; i < arp->link_count; i++)
		if (arp_ask_link(fd, f, arp, arp->links[i]))
			asked->links[asked->link_count++] = arp->links[i];
	if (asked->link_count) {
		memcpy(asked->vips, arp->vips, sizeof(asked->vips));
		asked->vip_count = arp->vip_count;
		arp_wait(fd, f, arp);
	} else {
		f->arp_error = -ENODEV;
	}
	close(fd);
}
