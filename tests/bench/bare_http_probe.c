// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine allows: HEAD on a fresh connection by bare epoll, without a line of the product. The answer is taken to be
// whole in one read, and only its status is looked at.
//   bare_http_probe TARGETS INTERVAL_MS SECONDS PORT      prints: probes, failures, CPU µs a probe
#include "bare_common.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static const char request[] = "HEAD / HTTP/1.1\r\nHost: bench\r\nUser-Agent: bare\r\n"
			      "Accept: */*\r\nConnection: close\r\n\r\n";

/* Connected: the request goes out, and reading is waited for. */
static void send_request(struct bare_connects *b, struct bare_target *t)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)(t - b->targets)};
	int error = bare_connect_error(t);

	t->asked = 1;
	if (!error && send(t->fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
		error = errno;
	if (error)
		bare_finish_target(b, t, error);
	else
		(void)epoll_ctl(b->run.epoll, EPOLL_CTL_MOD, t->fd, &event);
}

static void read_answer(struct bare_connects *b, struct bare_target *t)
{
	char answer[4096];
	ssize_t n = recv(t->fd, answer, sizeof(answer), 0);

	bare_finish_target(b, t, n < 12 || memcmp(answer, "HTTP/1.1 2", 10) != 0);
}

static void go_on(struct bare_connects *b, struct bare_target *t)
{
	if (t->asked)
		read_answer(b, t);
	else
		send_request(b, t);
}

int main(int argc, char **argv)
{
	return bare_probe_connections(argc, argv, go_on);
}
