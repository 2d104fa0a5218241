/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connected UDP socket under the kinds that send a datagram: the kernel hands over replies from the server's address and
 * port only, and the ICMP errors about what was sent. */
#ifndef ZG_PROBE_PROBE_DATAGRAM_H
#define ZG_PROBE_PROBE_DATAGRAM_H

#include "model/escape.h"
#include "probe/icmp_error.h"

#define DATAGRAM_MAX    1024 /* of a reply, as much as is of interest */
#define DATAGRAMS_A_RUN 1024 /* that are looked at for one event */

enum datagram_kind { DATAGRAM_NONE, DATAGRAM_REPLY, DATAGRAM_ICMP, DATAGRAM_FAULT };

struct datagram {
	usec_t received; /* of a reply; monotonic */
	size_t size;     /* of the whole reply: may be more than there is of it */
	uint8_t bytes[DATAGRAM_MAX];
	struct icmp_error icmp;
	int error; /* of a fault: positive errno */
};

/* Opens r->fd and sends to r->target: 0 or a negative errno, and then nothing is open. */
int probe_datagram_open(struct probe_run *r, const void *data, size_t size);

/* The same; a failure ends the run and returns false. */
bool probe_datagram_start(struct probe_run *r, const void *data, size_t size);

/* What has come; `events` are those of epoll. A reply after the deadline is none. Notes r->first_byte_usec. */
enum datagram_kind probe_datagram_next(struct probe_run *r, uint32_t events,
				       struct datagram *ret_datagram);

/* The outcome of an ICMP error or a fault; false when it says nothing about the server. */
bool probe_datagram_judge(const struct probe_run *r, enum datagram_kind kind,
			  const struct datagram *d, char text[PROBE_EVIDENCE_MAX],
			  struct probe_outcome *ret_outcome);

/* No harm if nothing is open. */
void probe_datagram_close(struct probe_run *r);

/* What the check wants to be sent; `id` is that of the query which is sent without such a wish. Returns the size. */
size_t probe_datagram_write_request(const struct health_check *check, uint16_t id,
				    uint8_t bytes[ESCAPE_BYTES_MAX]);

#endif
