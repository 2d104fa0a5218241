// SPDX-License-Identifier: GPL-2.0-or-later
// The forms of texts in the settings, one small function each; none knows of files or lines.
#include "settings_value.h"

#include <stddef.h>
#include <string.h>

#include "base/addr.h"
#include "model/marks.h"
#include "model/object.h"

#define LABEL_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
#define LABEL_MAX        63
#define HOST_MAX         253

bool settings_value_has_control(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if ((*at < ' ' && *at != '\t') || *at == 0x7f ||
		    (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f))
			return true;
	return false;
}

static bool is_printable(const char *value)
{
	for (const char *at = value; *at; at++)
		if (*at < ' ' || *at > '~')
			return false;
	return true;
}

/* `length` bytes of labels and dots; no label begins or ends with a hyphen. */
static bool is_domain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool first = i == 0 || text[i - 1] == '.';
		bool last = i + 1 == length || text[i + 1] == '.';

		if (text[i] == '.')
			continue;
		if (!strchr(LABEL_CHARACTERS, text[i]) || (text[i] == '-' && (first || last)))
			return false;
	}
	return true;
}

static bool is_host(const char *value)
{
	size_t length = strlen(value);
	size_t label = 0;

	if (length > HOST_MAX || !is_domain(value, length))
		return false;
	for (size_t i = 0; i <= length; i++) {
		bool end = i == length || value[i] == '.';

		if (end && (label == 0 || label > LABEL_MAX))
			return false;
		label = end ? 0 : label + 1;
	}
	return true;
}

static bool is_device(const char *value)
{
	return is_printable(value) && !strpbrk(value, "/: ") && strcmp(value, ".") != 0 &&
	       strcmp(value, "..") != 0;
}

static bool is_mailbox(const char *value)
{
	static const char user[] = LABEL_CHARACTERS ".+";
	const char *at = strchr(value, '@');

	if (!at)
		return is_domain(value, strlen(value));
	return strspn(value, user) == (size_t)(at - value) && is_domain(at + 1, strlen(at + 1));
}

static bool is_name_server(const char *value)
{
	return is_printable(value) && is_domain(value, strcspn(value, "="));
}

static bool is_address(const char *value)
{
	struct addr a;

	return addr_parse(value, &a) == 0;
}

static bool is_addressed_host(const char *value)
{
	char text[ADDR_TEXT_MAX];
	size_t length = strlen(value);
	struct addr a;

	if (value[0] != '[')
		return is_host(value);
	if (value[length - 1] != ']' || length < 4 || length - 2 >= sizeof(text))
		return false;
	memcpy(text, value + 1, length - 2);
	text[length - 2] = '\0';
	return addr_parse(text, &a) == 0;
}

const char *settings_value_fault(enum value_form form, const char *value)
{
	struct mark_space space;

	switch (form) {
	case VALUE_PRINTABLE:
		return is_printable(value) ? NULL : "may only hold printable ASCII characters";
	case VALUE_HOST:
		return is_host(value) ? NULL
				      : "must be like a host's name: letters, digits, inner - and "
					"_, in labels of at most 63 with dots between them";
	case VALUE_NAME:
		return object_name_valid(value)
			       ? NULL
			       : "is no name of a zone (a-z, 0-9 and inner -, at most 63)";
	case VALUE_PATH:
		if (settings_value_has_control(value))
			return "may hold no control characters: it is the path of a file";
		return value[0] == '/' ? NULL : "is no whole path: it must begin with /";
	case VALUE_DEVICE:
		return is_device(value) ? NULL : "is no name of a network interface";
	case VALUE_DOMAIN:
		return is_domain(value, strlen(value))
			       ? NULL
			       : "is no domain name of letters, digits, inner - and _";
	case VALUE_MAILBOX:
		return is_mailbox(value) ? NULL : "is no mailbox like hostmaster@example.net";
	case VALUE_NAME_SERVER:
		return is_name_server(value) ? NULL : "is not NAME or NAME=ADDRESS=ADDRESS";
	case VALUE_ADDRESS:
		return is_address(value) ? NULL : "is no IPv4 or IPv6 address";
	case VALUE_ADDRESSED_HOST:
		return is_addressed_host(value)
			       ? NULL
			       : "is no name of a host, no IPv4 address and no [IPv6 address]";
	case VALUE_MARKS:
		return marks_parse_space(value, &space)
			       ? NULL
			       : "is not VALUE/MASK like " MARKS_DEFAULT_TEXT
				 ": VALUE may have no bits beside MASK, which leaves 1 to 12 bits free";
	}
	return NULL;
}
