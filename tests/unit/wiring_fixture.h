/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the wiring share: settings from text, and what a check says of them. */
#ifndef ZG_WIRING_FIXTURE_H
#define ZG_WIRING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "settings.h"

#define AUTO_SETTINGS __attribute__((cleanup(settings_clear)))

static inline void wiring_load(struct settings *s, const char *text)
{
	AUTO_ERR struct err e = {0};

	settings_init(s);
	if (settings_load_text(s, text, strlen(text), "z.conf", &e) != 0)
		fail_msg("%s", err_first(&e));
}

static inline void wiring_assert_taken(int (*check)(const struct settings *s, struct err *e),
				       const char *text)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	wiring_load(&s, text);
	if (check(&s, &e) != 0)
		fail_msg("%s: %s", text, err_first(&e));
	assert_false(err_any(&e));
}

/* One fault at `place`, whose sentence holds `part`. */
static inline void wiring_assert_fault(int (*check)(const struct settings *s, struct err *e),
				       const char *text, const char *place, const char *part)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};

	wiring_load(&s, text);
	if (check(&s, &e) == 0)
		fail_msg("taken: %s", text);
	assert_int_equal(e.count, 1);
	assert_string_equal(e.faults[0].pointer, place);
	if (!strstr(e.faults[0].detail, part))
		fail_msg("\"%s\" does not hold \"%s\"", e.faults[0].detail, part);
}

#endif
