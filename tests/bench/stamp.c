// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the moment at which a program begins (CLOCK_REALTIME, ns) to a file, then becomes that program.
//   stamp FILE PROGRAM [ARGUMENT...]
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[32];
	struct timespec ts;
	int length;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: stamp FILE PROGRAM [ARGUMENT...]\n");
		return 64;
	}
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	clock_gettime(CLOCK_REALTIME, &ts);
	length = snprintf(text, sizeof(text), "%jd%09ld\n", (intmax_t)ts.tv_sec, ts.tv_nsec);
	if (fd < 0 || write(fd, text, (size_t)length) != length) {
		perror(argv[1]);
		return 1;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
