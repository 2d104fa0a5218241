// SPDX-License-Identifier: GPL-2.0-or-later
// The log sink. Every write is one attempt that cannot block; a line that does not go is counted and forgotten.
// Never sets O_NONBLOCK on the descriptor that other processes share as their stderr.
#include "base/log.h"

#include "base/metrics.h"
#include "base/time.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define LOG_IDENTIFIER "zonegated"
#define LOG_LINE_MAX \
	2048 /* a stderr line with its head stays below PIPE_BUF, so a pipe takes it whole or not */
#define LOG_FIELDS_MAX 12
#define LOG_VALUE_MAX  1024
#define LOG_PACKET_MAX (LOG_LINE_MAX + LOG_FIELDS_MAX * (LOG_VALUE_MAX + 80) + 256)

enum log_sink {
	LOG_SINK_POLLED, /* asked with poll() first: a tty or pipe that could not be opened anew */
	LOG_SINK_DIRECT, /* a regular file, or our own non-blocking description */
	LOG_SINK_SOCKET, /* stderr is a socket */
	LOG_SINK_JOURNALD,
};

struct log_state {
	pthread_mutex_t lock; /* guards all but `level` */
	enum log_sink sink;
	int fd;
	bool owned;          /* fd is ours to close */
	bool stream_journal; /* stderr ends in journald: lines carry "<3>" and no time */
};

static struct log_state log_state = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .sink = LOG_SINK_POLLED, .fd = STDERR_FILENO};
static _Atomic int log_level_now = LOG_LEVEL_INFO;

static const char *const log_level_names[] = {
	[LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_NOTICE] = "notice",
	[LOG_LEVEL_INFO] = "info",   [LOG_LEVEL_DEBUG] = "debug",
};
_Static_assert(sizeof(log_level_names) / sizeof(log_level_names[0]) == LOG_LEVEL_COUNT, "names");

static const int log_syslog_priorities[] = {
	[LOG_LEVEL_ERROR] = 3, [LOG_LEVEL_WARNING] = 4, [LOG_LEVEL_NOTICE] = 5,
	[LOG_LEVEL_INFO] = 6,  [LOG_LEVEL_DEBUG] = 7,
};

static const char *const log_target_names[] = {
	[LOG_TARGET_STDERR] = "stderr",
	[LOG_TARGET_JOURNALD] = "journald",
};
_Static_assert(sizeof(log_target_names) / sizeof(log_target_names[0]) == LOG_TARGET_COUNT, "names");

static int log_find_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return -1;
}

int log_level_parse(const char *name)
{
	return log_find_name(log_level_names, LOG_LEVEL_COUNT, name);
}

int log_target_parse(const char *name)
{
	return log_find_name(log_target_names, LOG_TARGET_COUNT, name);
}

static int log_connect_journal(void)
{
	const struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* systemd tells in JOURNAL_STREAM which descriptor leads to the journal: "device:inode". */
static bool log_is_journal_stream(const struct stat *st)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device;
	unsigned long long inode;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       device == st->st_dev && inode == st->st_ino;
}

static void log_open_stderr(struct log_state *s)
{
	struct stat st;
	int fd;

	s->sink = LOG_SINK_POLLED;
	s->fd = STDERR_FILENO;
	s->owned = false;
	s->stream_journal = false;
	if (fstat(STDERR_FILENO, &st) < 0)
		return;
	s->stream_journal = log_is_journal_stream(&st);
	if (S_ISSOCK(st.st_mode)) {
		s->sink = LOG_SINK_SOCKET;
		return;
	}
	if (S_ISREG(st.st_mode)) {
		s->sink = LOG_SINK_DIRECT;
		return;
	}
	/* A description of our own can be non-blocking without a change for those who share stderr. */
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	s->fd = fd;
	s->owned = true;
	s->sink = LOG_SINK_DIRECT;
}

static void log_close_sink(struct log_state *s)
{
	if (s->owned)
		close(s->fd);
	s->sink = LOG_SINK_POLLED;
	s->fd = STDERR_FILENO;
	s->owned = false;
}

void log_open(enum log_target target, enum log_level level)
{
	int fd = -1;

	signal(SIGPIPE,
	       SIG_IGN); /* a reader of our stderr that went away costs lines, not the daemon */
	log_set_level(level);
	pthread_mutex_lock(&log_state.lock);
	log_close_sink(&log_state);
	if (target == LOG_TARGET_JOURNALD)
		fd = log_connect_journal();
	if (fd >= 0) {
		log_state.sink = LOG_SINK_JOURNALD;
		log_state.fd = fd;
		log_state.owned = true;
	} else {
		log_open_stderr(&log_state);
	}
	pthread_mutex_unlock(&log_state.lock);
	if (target == LOG_TARGET_JOURNALD && fd < 0)
		log_write(LOG_LEVEL_WARNING,
			  "log: journald cannot be reached (%s), logging to stderr", strerror(-fd));
}

void log_close(void)
{
	pthread_mutex_lock(&log_state.lock);
	log_close_sink(&log_state);
	pthread_mutex_unlock(&log_state.lock);
}

void log_set_level(enum log_level level)
{
	atomic_store_explicit(&log_level_now, (int)level, memory_order_relaxed);
}

uint64_t log_dropped_count(void)
{
	return (uint64_t)metrics_get(METRIC_LOG_DROPPED);
}

struct log_packet {
	char data[LOG_PACKET_MAX];
	size_t size;
};

static void log_packet_add(struct log_packet *p, const void *data, size_t size)
{
	assert(size <= sizeof(p->data) - p->size); /* every part is cut to its bound before */
	memcpy(p->data + p->size, data, size);
	p->size += size;
}

/* The native protocol's form for any value: name, newline, little-endian length, bytes, newline. */
static void log_packet_add_field(struct log_packet *p, const char *name, const char *value)
{
	size_t size = strnlen(value, LOG_LINE_MAX);
	uint8_t length[8];

	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (uint8_t)((uint64_t)size >> (8 * i));
	log_packet_add(p, name, strnlen(name, 64));
	log_packet_add(p, "\n", 1);
	log_packet_add(p, length, sizeof(length));
	log_packet_add(p, value, size);
	log_packet_add(p, "\n", 1);
}

static bool log_send_packet(struct log_state *s, const struct log_packet *p)
{
	int fd;

	if (send(s->fd, p->data, p->size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno != ECONNREFUSED && errno != ENOTCONN && errno != ECONNRESET)
		return false;
	/* journald was restarted: its socket is a new one. */
	fd = log_connect_journal();
	if (fd < 0)
		return false;
	close(s->fd);
	s->fd = fd;
	return send(s->fd, p->data, p->size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool log_write_journal(struct log_state *s, enum log_level level,
			      const struct log_field *fields, const char *message)
{
	struct log_packet p = {.size = 0};
	char priority[2] = {(char)('0' + log_syslog_priorities[level]), '\0'};
	char value[LOG_VALUE_MAX];

	log_packet_add_field(&p, "PRIORITY", priority);
	log_packet_add_field(&p, "SYSLOG_IDENTIFIER", LOG_IDENTIFIER);
	log_packet_add_field(&p, "MESSAGE", message);
	for (size_t i = 0; fields && fields[i].name && i < LOG_FIELDS_MAX; i++) {
		snprintf(value, sizeof(value), "%s", fields[i].value ? fields[i].value : "");
		log_packet_add_field(&p, fields[i].name, value);
	}
	return log_send_packet(s, &p);
}

static bool log_write_stderr(struct log_state *s, enum log_level level, const char *message)
{
	char line[LOG_LINE_MAX + 128];
	char now[TIME_TEXT_MAX];
	struct pollfd pfd = {.fd = s->fd, .events = POLLOUT};
	size_t size;
	int n;

	if (s->stream_journal)
		n = snprintf(line, sizeof(line), "<%d>%s\n", log_syslog_priorities[level], message);
	else
		n = snprintf(line, sizeof(line), "%s %s %s\n", time_format_wall(time_wall(), now),
			     log_level_names[level], message);
	size = (size_t)n;
	assert(size < sizeof(line));
	if (s->sink == LOG_SINK_SOCKET)
		return send(s->fd, line, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
	if (s->sink == LOG_SINK_POLLED && (poll(&pfd, 1, 0) != 1 || !(pfd.revents & POLLOUT)))
		return false;
	return write(s->fd, line, size) == (ssize_t)size;
}

/* A name from outside in a message must not start a line of its own. */
static void log_flatten(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
	}
}

static void log_write_args(enum log_level level, const struct log_field *fields, const char *fmt,
			   va_list args) __attribute__((format(printf, 3, 0)));

static void log_write_args(enum log_level level, const struct log_field *fields, const char *fmt,
			   va_list args)
{
	char message[LOG_LINE_MAX];
	int saved = errno;
	bool written;

	assert(level < LOG_LEVEL_COUNT);
	if ((int)level > atomic_load_explicit(&log_level_now, memory_order_relaxed))
		return;
	if (vsnprintf(message, sizeof(message), fmt, args) < 0)
		message[0] = '\0';
	log_flatten(message);
	pthread_mutex_lock(&log_state.lock);
	if (log_state.sink == LOG_SINK_JOURNALD)
		written = log_write_journal(&log_state, level, fields, message);
	else
		written = log_write_stderr(&log_state, level, message);
	pthread_mutex_unlock(&log_state.lock);
	if (!written)
		metrics_add(METRIC_LOG_DROPPED, 1);
	errno = saved;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_write_args(level, NULL, fmt, args);
	va_end(args);
}

void log_write_fields(enum log_level level, const struct log_field *fields, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_write_args(level, fields, fmt, args);
	va_end(args);
}
