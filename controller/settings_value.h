/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a text of the settings may look like. Forms are narrow: what stands in a log line, a DNS answer or an answer of the API
 * is printable whatever the file holds. */
#ifndef ZG_SETTINGS_VALUE_H
#define ZG_SETTINGS_VALUE_H

#include <stdbool.h>

enum value_form {
	VALUE_PRINTABLE, /* printable ASCII; what it means is judged elsewhere */
	VALUE_HOST,      /* labels of letters, digits, - and _ */
	VALUE_NAME,      /* of an object: what the model takes */
	VALUE_PATH,      /* of a file: no control characters */
	VALUE_DEVICE,    /* of a network interface */
	VALUE_DOMAIN, /* the characters of a domain name; its lengths are judged with the others of [dns] */
	VALUE_MAILBOX,        /* user@domain, or a domain */
	VALUE_NAME_SERVER,    /* domain, or domain=ADDRESS=ADDRESS */
	VALUE_ADDRESS,        /* IPv4 or IPv6 */
	VALUE_ADDRESSED_HOST, /* host, IPv4 address or [IPv6 address] */
	VALUE_MARKS,          /* VALUE/MASK: marks_parse_space() */
};

/* What is wrong, as the rest of a sentence, or NULL if nothing is. */
const char *settings_value_fault(enum value_form form, const char *value);

/* Whether a control character stands in it: also those that UTF-8 has beyond ASCII. A tab is none. */
bool settings_value_has_control(const char *text);

#endif
