/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log sink: one line per decision, to journald (native protocol, with fields) or stderr. A sink that blocks or is gone
 * loses lines and counts them; it never holds the caller. */
#ifndef ZG_BASE_LOG_H
#define ZG_BASE_LOG_H

#include <stdint.h>

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_COUNT
};
enum log_target { LOG_TARGET_STDERR, LOG_TARGET_JOURNALD, LOG_TARGET_COUNT };

struct log_field {
	const char *name; /* upper case, journald rules: "ZG_SERVER" */
	const char *value;
};

/* Opens the sink (non-blocking). journald absent: falls back to stderr, says so once. */
void log_open(enum log_target target, enum log_level level);
void log_close(void);
void log_set_level(enum log_level level);

/* Lines that could not be written since the start. */
uint64_t log_dropped_count(void);

/* One line, without a newline at the end, if the level is one that is logged. Any thread; never waits. */
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As log_write, with at most 12 more fields (journald only). `fields` ends with a NULL name, or is NULL. */
void log_write_fields(enum log_level level, const struct log_field *fields, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "error" … "debug"; -1 if `name` is none. */
int log_level_parse(const char *name);
int log_target_parse(const char *name);

#endif
