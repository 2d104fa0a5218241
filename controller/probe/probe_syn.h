/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kind `tcp` with handshake half_open: a SYN from a raw socket; the SYN-ACK is the pass, and the kernel, which knows of no
 * connection, answers it with RST by itself. The server's application sees nothing. */
#ifndef ZG_PROBE_PROBE_SYN_H
#define ZG_PROBE_PROBE_SYN_H

#include "probe/icmp_error.h"
#include "probe/packet_parse.h"

/* An ICMP error about a TCP packet of this host: may end the run whose SYN it quotes. */
void probe_syn_note_error(struct probe_io *io, const struct packet_quote *q,
			  const struct icmp_error *e);

struct probe_syn_pool;
void probe_syn_free(struct probe_syn_pool *pool); /* NULL-safe */

#endif
