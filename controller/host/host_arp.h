/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks ARP who has an address, as RFC 5227 asks before it takes one: from nobody, so that no neighbour learns anything by it. */
#ifndef ZG_HOST_HOST_ARP_H
#define ZG_HOST_HOST_ARP_H

#include "plan/doctor.h"

#define HOST_ARP_WAIT_MS 300 /* for all answers together */

/* Broadcasts one question for each VIP on each link of Ethernet, and adds to the neighbours of `f` which other hosts answer, each once; notes
 * which VIPs were asked for on which links, or why none was. Needs CAP_NET_RAW. Blocks for HOST_ARP_WAIT_MS: not on the loop. */
void host_arp_ask(struct doctor_facts *f, const struct doctor_arp *arp);

#endif
