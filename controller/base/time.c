// SPDX-License-Identifier: GPL-2.0-or-later
// Clocks and the one text form of a point in time. Never local time.
#include "base/time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WALL_MAX_SEC 253402300799ULL /* 9999-12-31T23:59:59Z, the last that RFC 3339 can write */

static usec_t time_read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts); /* cannot fail for the two clocks used here */
	return (usec_t)ts.tv_sec * USEC_PER_SEC + (usec_t)ts.tv_nsec / 1000;
}

usec_t time_monotonic(void)
{
	return time_read_clock(CLOCK_MONOTONIC);
}

usec_t time_wall(void)
{
	return time_read_clock(CLOCK_REALTIME);
}

const char *time_format_wall(usec_t wall, char buf[TIME_TEXT_MAX])
{
	usec_t sec = wall / USEC_PER_SEC;
	unsigned ms = (unsigned)(wall % USEC_PER_SEC / USEC_PER_MS);
	struct tm tm;
	time_t t;
	size_t used;

	if (sec > WALL_MAX_SEC) {
		sec = WALL_MAX_SEC;
		ms = 999;
	}
	t = (time_t)sec;
	gmtime_r(&t, &tm);
	used = strftime(buf, TIME_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + used, TIME_TEXT_MAX - used, ".%03uZ", ms % 1000);
	return buf;
}

/* Reads exactly `digits` digits and steps over them. */
static bool time_take_number(const char **text, int digits, int *ret_value)
{
	int value = 0;

	for (int i = 0; i < digits; i++) {
		char c = (*text)[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	*text += digits;
	*ret_value = value;
	return true;
}

static bool time_take_char(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

/* ".5", ".678", up to microseconds; none at all is 0. */
static bool time_take_fraction(const char **text, usec_t *ret_usec)
{
	usec_t value = 0;
	usec_t unit = USEC_PER_SEC;
	int digit;

	if (time_take_char(text, '.')) {
		if (!time_take_number(text, 1, &digit))
			return false;
		do {
			unit /= 10;
			value += (usec_t)digit * unit;
		} while (unit > 1 && time_take_number(text, 1, &digit));
	}
	*ret_usec = value;
	return true;
}

static bool time_take_tm(const char **text, struct tm *tm)
{
	return time_take_number(text, 4, &tm->tm_year) && time_take_char(text, '-') &&
	       time_take_number(text, 2, &tm->tm_mon) && time_take_char(text, '-') &&
	       time_take_number(text, 2, &tm->tm_mday) && time_take_char(text, 'T') &&
	       time_take_number(text, 2, &tm->tm_hour) && time_take_char(text, ':') &&
	       time_take_number(text, 2, &tm->tm_min) && time_take_char(text, ':') &&
	       time_take_number(text, 2, &tm->tm_sec);
}

const char *time_format_span(usec_t span, char buf[TIME_TEXT_MAX])
{
	unsigned long minutes = (unsigned long)(span / USEC_PER_SEC / 60);
	unsigned long hours = minutes / 60;

	if (minutes < 2)
		snprintf(buf, TIME_TEXT_MAX, "%.1f s", (double)span / (double)USEC_PER_SEC);
	else if (hours < 2)
		snprintf(buf, TIME_TEXT_MAX, "%lu min", minutes);
	else if (hours < 48)
		snprintf(buf, TIME_TEXT_MAX, "%lu h %lu min", hours, minutes % 60);
	else
		snprintf(buf, TIME_TEXT_MAX, "%lu d %lu h", hours / 24, hours % 24);
	return buf;
}

/* "90m" of the text; 0: it is no number with a unit. */
static usec_t time_take_span(const char **text, size_t *unit)
{
	static const struct {
		char letter;
		usec_t seconds;
	} units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
	size_t digits = strspn(*text, "0123456789");
	usec_t number = 0;

	if (digits == 0 || digits > 8)
		return 0;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (usec_t)((*text)[i] - '0');
	/* Each unit is smaller than the one before. */
	for (; *unit < sizeof(units) / sizeof(units[0]); (*unit)++) {
		if (units[*unit].letter != (*text)[digits])
			continue;
		*text += digits + 1;
		return number * units[(*unit)++].seconds * USEC_PER_SEC;
	}
	return 0;
}

int time_parse_span(const char *text, usec_t most, usec_t *ret_span)
{
	usec_t sum = 0, part;
	size_t unit = 0;

	do {
		part = time_take_span(&text, &unit);
		sum += part;
	} while (part && *text);
	if (part == 0 || sum > most)
		return -EINVAL;
	*ret_span = sum;
	return 0;
}

int time_parse_wall(const char *text, usec_t *ret_wall)
{
	struct tm tm = {0};
	struct tm want;
	usec_t fraction;
	time_t sec;

	if (!time_take_tm(&text, &tm) || !time_take_fraction(&text, &fraction) ||
	    strcmp(text, "Z") != 0)
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	want = tm;
	sec = timegm(&tm);
	/* timegm() carries what is out of range ("02-30") into the next field: then it differs. */
	if (sec < 0 || tm.tm_mon != want.tm_mon || tm.tm_mday != want.tm_mday ||
	    tm.tm_hour != want.tm_hour || tm.tm_min != want.tm_min || tm.tm_sec != want.tm_sec)
		return -EINVAL;
	*ret_wall = (usec_t)sec * USEC_PER_SEC + fraction;
	return 0;
}
