// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: TCP probes by bare epoll, without a line of the product: connect, watch, ask for the error, close
// with RST.
//   bare_tcp_probe TARGETS INTERVAL_MS SECONDS PORT      prints: probes, failures, CPU µs a probe
#include "bare_common.h"

static void take_error(struct bare_connects *b, struct bare_target *t)
{
	bare_finish_target(b, t, bare_connect_error(t));
}

int main(int argc, char **argv)
{
	return bare_probe_connections(argc, argv, take_error);
}
