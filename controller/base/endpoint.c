// SPDX-License-Identifier: GPL-2.0-or-later
// ADDRESS:PORT as text becomes a value. Resolves nothing.
#include "base/endpoint.h"

#include <errno.h>
#include <string.h>

#define PORT_DIGITS 5

/* The text cut in two; `port` is NULL without a colon for it. */
struct pieces {
	char address[ADDR_TEXT_MAX];
	const char *port;
};

/* Returns what is wrong, or NULL. A second colon without brackets is an IPv6 address by itself. */
static const char *cut(const char *text, struct pieces *p)
{
	const char *start = text;
	const char *end = strchr(text, ':');

	p->port = NULL;
	if (text[0] == '[') {
		start = text + 1;
		end = strchr(start, ']');
		if (!end)
			return "its bracket is not closed";
		if (end[1] != ':' && end[1] != '\0')
			return "only :PORT may stand behind the bracket";
		p->port = end[1] ? end + 2 : NULL;
	} else if (end && !strchr(end + 1, ':')) {
		p->port = end + 1;
	} else {
		end = text + strlen(text);
	}
	if ((size_t)(end - start) >= sizeof(p->address))
		return "it is too long for an address";
	memcpy(p->address, start, (size_t)(end - start));
	p->address[end - start] = '\0';
	return NULL;
}

static int parse_port(const char *text, uint16_t lowest, uint16_t *ret_port)
{
	unsigned long number = 0;

	if (text[0] == '\0' || strlen(text) > PORT_DIGITS)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		number = number * 10 + (unsigned long)(*text - '0');
	}
	if (number < lowest || number > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)number;
	return 0;
}

/* Returns what is wrong, or NULL. */
static const char *judge(const char *text, const struct endpoint_rule *rule, struct endpoint *p)
{
	struct pieces pieces;
	const char *wrong = cut(text, &pieces);

	if (wrong)
		return wrong;
	if (addr_parse(pieces.address, &p->address) != 0)
		return "it names no IP address";
	if (text[0] == '[' && p->address.family != AF_INET6)
		return "brackets are for IPv6";
	p->port = rule->port;
	if (!pieces.port)
		return rule->port ? NULL : "it has no port";
	if (parse_port(pieces.port, rule->lowest_port, &p->port) != 0)
		return rule->lowest_port ? "the port is no number from 1 to 65535"
					 : "the port is no number from 0 to 65535";
	return NULL;
}

int endpoint_parse(const char *text, const struct endpoint_rule *rule, struct err *e,
		   struct endpoint *ret_endpoint)
{
	struct endpoint p;
	const char *wrong = judge(text, rule, &p);

	if (wrong)
		return err_set(e, ERR_FORMAT, rule->place,
			       "\"%s\" is not %sADDRESS:PORT or [ADDRESS]:PORT: %s", text,
			       rule->port ? "ADDRESS, " : "", wrong);
	*ret_endpoint = p;
	return 0;
}
