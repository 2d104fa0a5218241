/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What silence is worth: beside a probe that waits for no "port unreachable", two datagrams now and then to ports of the same
 * host that are surely closed. A host that does not answer those either (a firewall, a rate limit) proves nothing by its
 * silence. It changes no verdict, only what is said of it. */
#ifndef ZG_PROBE_PROBE_SILENCE_H
#define ZG_PROBE_PROBE_SILENCE_H

#include "probe/probe_kind.h"

#define PROBE_SILENCE_TELLING_AGE   (600 * USEC_PER_SEC) /* until a host is asked again */
#define PROBE_SILENCE_UNTELLING_AGE (60 * USEC_PER_SEC)

struct probe_silence;

/* Beside the probe that has just been sent: asks the host if that is due. NULL if it is not, or cannot be done. */
struct probe_silence *probe_silence_ask(struct probe_run *r);

/* At the end of T, without an error: what the silence is worth. Releases `asked` (may be NULL). */
enum evidence_silence probe_silence_judge(struct probe_run *r, struct probe_silence *asked);

/* The host has said "port unreachable" to the probe itself: the next silence is to be doubted. */
void probe_silence_doubt(struct probe_run *r);

void probe_silence_cancel(struct probe_silence *asked); /* NULL-safe */

struct probe_silence_hosts;
void probe_silence_free(struct probe_silence_hosts *hosts); /* NULL-safe */

#endif
