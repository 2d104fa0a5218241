/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The series of /metrics about this process: build, start, CPU, memory, descriptors. */
#ifndef ZG_API_METRICS_PROCESS_H
#define ZG_API_METRICS_PROCESS_H

#include "base/time.h"

struct buf_writer;

/* What the process has taken, and what was built. Reads /proc: not on the loop. */
void metrics_process_write(struct buf_writer *w, const char *version, usec_t started_wall);

#endif
