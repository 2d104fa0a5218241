// SPDX-License-Identifier: GPL-2.0-or-later
// A client of the API that costs little: one request after the other on each of some kept connections.
//   api_bench ADDRESS PATH SECONDS [TOKEN]   ADDRESS: a unix socket, or a port of 127.0.0.1
// Prints "requests N seconds S".
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 16
#define ANSWER_MAX  65536

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static int connect_unix(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof(sa.sun_path))
		give_up(path);
	strcpy(sa.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		give_up("connect");
	return fd;
}

static int connect_port(const char *port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		give_up("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

/* Reads one answer, which must be a 200 of known length. */
static void read_answer(int fd)
{
	static char text[ANSWER_MAX];
	size_t size = 0, whole = 0;

	while (whole == 0 || size < whole) {
		ssize_t n = read(fd, text + size, sizeof(text) - 1 - size);
		const char *length, *body;

		if (n <= 0)
			give_up("read");
		size += (size_t)n;
		text[size] = '\0';
		body = strstr(text, "\r\n\r\n");
		if (!body || whole)
			continue;
		length = strstr(text, "Content-Length: ");
		if (strncmp(text, "HTTP/1.1 200 ", 13) != 0 || !length) {
			fprintf(stderr, "%s\n", text);
			exit(1);
		}
		whole = (size_t)(body + 4 - text) + strtoul(length + 16, NULL, 10);
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	char request[2048];
	int fds[CONNECTIONS];
	unsigned long count = 0;
	double begin, end;
	int length;

	if (argc < 4)
		return 64;
	length = snprintf(request, sizeof(request),
			  "GET %s HTTP/1.1\r\nHost: localhost\r\n%s%s%s\r\n", argv[2],
			  argc > 4 ? "Authorization: Bearer " : "", argc > 4 ? argv[4] : "",
			  argc > 4 ? "\r\n" : "");
	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = argv[1][0] == '/' ? connect_unix(argv[1]) : connect_port(argv[1]);
	begin = now();
	end = begin + atof(argv[3]);
	while (now() < end) {
		for (int i = 0; i < CONNECTIONS; i++) {
			if (write(fds[i], request, (size_t)length) != length)
				give_up("write");
		}
		for (int i = 0; i < CONNECTIONS; i++)
			read_answer(fds[i]);
		count += CONNECTIONS;
	}
	printf("requests %lu seconds %.6f\n", count, now() - begin);
	return 0;
}
