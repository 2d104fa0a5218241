/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The series of /metrics about DNS. */
#ifndef ZG_API_METRICS_DNS_H
#define ZG_API_METRICS_DNS_H

#include "base/buf.h"
#include "engine/status.h"

/* Nothing of a server that does not run, or of another one that is not kept equal. */
void metrics_dns_write(struct buf_writer *w, const struct dns_status *dns,
		       const struct update_status *update);

#endif
