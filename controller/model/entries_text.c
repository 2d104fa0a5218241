// SPDX-License-Identifier: GPL-2.0-or-later
// Prefixes and actions of entries to and from text.
#include "model/entries_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_DIGITS 3

const char *entries_action_name(enum access_action action)
{
	return action == ACCESS_ALLOW ? "allow" : "deny";
}

const char *entries_format_cidr(const struct entry *x, char buf[ENTRIES_CIDR_MAX])
{
	char text[ADDR_TEXT_MAX];

	snprintf(buf, ENTRIES_CIDR_MAX, "%s/%u", addr_format(&x->net, text), x->length);
	return buf;
}

/* 0 to `max` without leading zeros; -1: it is not. */
static int parse_length(const char *text, int max)
{
	int value = 0;

	if (!*text || strlen(text) > LENGTH_DIGITS || (text[0] == '0' && text[1]))
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		value = 10 * value + (*text - '0');
	}
	return value <= max ? value : -1;
}

static void clear_host_bits(struct entry *x)
{
	for (unsigned bit = x->length; bit < 8 * sizeof(x->net.bytes); bit++)
		x->net.bytes[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
}

static int fault_host_bits(struct entry given, const char *pointer, struct err *e)
{
	struct entry alone = given, net = given;
	char text[3][ENTRIES_CIDR_MAX];

	alone.length = given.net.family == AF_INET ? 32 : 128;
	clear_host_bits(&net);
	return err_set(e, ERR_FORMAT, pointer,
		       "%s has bits set beyond its length: write %s, or %s for this address alone",
		       entries_format_cidr(&given, text[0]), entries_format_cidr(&net, text[1]),
		       entries_format_cidr(&alone, text[2]));
}

/* The address and the length that stand there, whatever they mean together. */
static int split(const char *text, struct entry *x)
{
	char copy[ENTRIES_CIDR_MAX];
	size_t size = strlen(text) + 1;
	char *slash;
	int length, max;

	if (size > sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	if (addr_parse(copy, &x->net) < 0)
		return -EINVAL;
	max = x->net.family == AF_INET ? 32 : 128;
	length = slash ? parse_length(slash, max) : max;
	x->length = (uint8_t)length;
	return length < 0 ? -EINVAL : 0;
}

/* For a message: what stands there may be no text at all. */
static const char *quote(const char *text, char buf[ENTRIES_CIDR_MAX])
{
	size_t i;

	for (i = 0; i < ENTRIES_CIDR_MAX - 1 && text[i]; i++)
		buf[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	buf[i] = '\0';
	return buf;
}

int entries_parse_cidr(const char *text, const char *pointer, struct err *e, struct entry *ret_x)
{
	struct entry x = {.length = 0}, net;
	char shown[ENTRIES_CIDR_MAX];

	if (split(text, &x) < 0)
		return err_set(e, ERR_FORMAT, pointer,
			       "\"%s\" is not a prefix like \"198.51.100.0/24\" or an address",
			       quote(text, shown));
	if (x.length == 0)
		return err_set(e, ERR_RANGE, pointer,
			       "%s is every address: use default_action instead", text);
	net = x;
	clear_host_bits(&net);
	if (entries_compare(&net, &x) != 0)
		return fault_host_bits(x, pointer, e);
	ret_x->net = x.net;
	ret_x->length = x.length;
	return 0;
}
