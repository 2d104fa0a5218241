// SPDX-License-Identifier: GPL-2.0-or-later
// Opening sockets: unix, plain TCP on loopback only, and TCP for TLS anywhere.
#include "api/sockets.h"

#include "base/addr.h"
#include "base/endpoint.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKETS_BACKLOG 512

/* Whether somebody accepts on the socket at this address. */
static bool sockets_in_use(const struct sockaddr_un *sa)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool used;

	if (fd < 0)
		return true;
	used = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 || errno == EAGAIN;
	close(fd);
	return used;
}

/* Makes room for a new socket: only a socket that nobody listens on goes. */
static int sockets_clear_path(const struct sockaddr_un *sa, struct err *e)
{
	struct stat st;

	if (lstat(sa->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_DUPLICATE, "[api] socket", "%s exists and is no socket",
			       sa->sun_path);
	if (sockets_in_use(sa))
		return err_set(e, ERR_DUPLICATE, "[api] socket",
			       "%s is in use: another daemon listens there", sa->sun_path);
	unlink(sa->sun_path);
	return 0;
}

static int sockets_bind(int fd, const struct sockaddr *sa, socklen_t length)
{
	if (bind(fd, sa, length) < 0 || listen(fd, SOCKETS_BACKLOG) < 0)
		return -errno;
	return 0;
}

int sockets_open_unix(const char *path, struct err *e, int *ret_fd)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	mode_t before;
	int fd, error;

	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(e, ERR_LIMIT, "[api] socket", "%s is longer than %zu bytes", path,
			       sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	if (sockets_clear_path(&sa, e))
		return -EINVAL;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, ERR_UNAVAILABLE, "[api] socket", "no socket: %s",
			       strerror(errno));
	before = umask(0117);
	error = sockets_bind(fd, (const struct sockaddr *)&sa, sizeof(sa));
	umask(before);
	if (error) {
		close(fd);
		return err_set(e, ERR_UNAVAILABLE, "[api] socket", "%s: %s", path,
			       strerror(-error));
	}
	*ret_fd = fd;
	return 0;
}

static const char *sockets_setting(enum front_trust trust)
{
	switch (trust) {
	case FRONT_UNIX:
		return "[api] socket";
	case FRONT_LOOPBACK:
		return "[api] listen";
	case FRONT_TLS:
		break;
	}
	return "[api] tls_listen";
}

static bool sockets_is_loopback(const struct addr *a)
{
	const char *kind = addr_special_kind(a);

	return kind && strcmp(kind, "loopback") == 0;
}

/* What is well formed, and in the clear on loopback; else a fault. */
static int sockets_judge_endpoint(const char *endpoint, enum front_trust trust, struct err *e,
				  struct endpoint *ret_endpoint)
{
	const struct endpoint_rule rule = {sockets_setting(trust), 0, 0};
	struct endpoint p;

	if (endpoint_parse(endpoint, &rule, e, &p) != 0)
		return -EINVAL;
	if (trust != FRONT_TLS && !sockets_is_loopback(&p.address))
		return err_set(
			e, ERR_FORBIDDEN, "[api] listen",
			"%s is not on loopback: plain HTTP would show the token to the network",
			endpoint);
	*ret_endpoint = p;
	return 0;
}

int sockets_check_tcp(const char *endpoint, enum front_trust trust, struct err *e)
{
	struct endpoint p;

	return sockets_judge_endpoint(endpoint, trust, e, &p);
}

int sockets_open_tcp(const char *endpoint, enum front_trust trust, struct err *e, int *ret_fd)
{
	struct sockaddr_storage sa;
	struct endpoint p;
	socklen_t length;
	int fd, error, yes = 1;

	if (sockets_judge_endpoint(endpoint, trust, e, &p))
		return -EINVAL;
	length = addr_to_sockaddr(&p.address, p.port, &sa);
	fd = socket(p.address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, ERR_UNAVAILABLE, sockets_setting(trust), "no socket: %s",
			       strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (p.address.family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
	error = sockets_bind(fd, (const struct sockaddr *)&sa, length);
	if (error) {
		close(fd);
		return err_set(e, ERR_UNAVAILABLE, sockets_setting(trust), "%s: %s%s", endpoint,
			       strerror(-error),
			       error == -EADDRINUSE ? ": `ss -ltnp` shows by which program" : "");
	}
	*ret_fd = fd;
	return 0;
}

int sockets_peer_uid(int fd, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return -errno;
	*ret_uid = peer.uid;
	return 0;
}

void sockets_set_nodelay(int fd)
{
	int yes = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

unsigned sockets_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t length = sizeof(sa);
	struct addr address;
	uint16_t port;

	if (getsockname(fd, (struct sockaddr *)&sa, &length) < 0 ||
	    addr_from_sockaddr((struct sockaddr *)&sa, &address, &port) < 0)
		return 0;
	return port;
}

int sockets_local_address(int fd, struct addr *ret_address)
{
	struct sockaddr_storage sa;
	socklen_t length = sizeof(sa);
	uint16_t port;

	if (getsockname(fd, (struct sockaddr *)&sa, &length) < 0)
		return -errno;
	return addr_from_sockaddr((struct sockaddr *)&sa, ret_address, &port);
}
