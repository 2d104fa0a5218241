// SPDX-License-Identifier: GPL-2.0-or-later
// "create NAME TYPE …", "add NAME ADDRESS[/LENGTH][,PROTOCOL:PORT[,ADDRESS]] [nomatch] [packets N bytes N]".
#include "kernel/set_parse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "plan/netfilter.h"

#define WORD_MAX 128

/* The next word, and what stands behind it; false: there is none, or it is too long for any of ours. */
static bool set_parse_word(const char **text, char ret_word[WORD_MAX])
{
	const char *p = *text + strspn(*text, " ");
	size_t length = strcspn(p, " ");

	if (!length || length >= WORD_MAX)
		return false;
	memcpy(ret_word, p, length);
	ret_word[length] = '\0';
	*text = p + length;
	return true;
}

static int set_parse_number(const char *text, unsigned long max, unsigned long *ret_number)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return -EBADMSG;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n > max)
		return -EBADMSG;
	*ret_number = n;
	return 0;
}

/* By name where the host has /etc/protocols. */
static int set_parse_protocol(const char *text, uint8_t *ret_protocol)
{
	static const struct {
		const char *name;
		uint8_t number;
	} names[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP}};
	unsigned long number;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, text) != 0)
			continue;
		*ret_protocol = names[i].number;
		return 0;
	}
	if (set_parse_number(text, UINT8_MAX, &number) || number == 0)
		return -EBADMSG;
	*ret_protocol = (uint8_t)number;
	return 0;
}

/* "tcp:80" */
static int set_parse_port(char *text, struct set_line *l)
{
	char *colon = strchr(text, ':');
	unsigned long port;

	if (!colon)
		return -EBADMSG;
	*colon = '\0';
	if (set_parse_number(colon + 1, UINT16_MAX, &port))
		return -EBADMSG;
	l->port = (uint16_t)port;
	return set_parse_protocol(text, &l->protocol);
}

static int set_parse_address(const char *text, enum ruleset_family f, struct addr *ret_addr)
{
	struct addr a;

	if (addr_parse(text, &a) || a.family != ruleset_address_family(f))
		return -EBADMSG;
	*ret_addr = a;
	return 0;
}

/* "tcp:80" or "tcp:80,10.0.0.1" */
static int set_parse_rest(char *text, enum ruleset_family f, struct set_line *l)
{
	char *comma = strchr(text, ',');

	if (comma)
		*comma = '\0';
	if (set_parse_port(text, l))
		return -EBADMSG;
	return comma ? set_parse_address(comma + 1, f, &l->peer) : 0;
}

/* "10.0.0.0/8", "192.0.2.1" */
static int set_parse_prefix(char *text, enum ruleset_family f, struct set_line *l)
{
	char *slash = strchr(text, '/');
	unsigned long length = f == RULESET_V4 ? 32 : 128;

	if (slash && set_parse_number(slash + 1, length, &length))
		return -EBADMSG;
	if (slash)
		*slash = '\0';
	l->length = (uint8_t)length;
	return set_parse_address(text, f, &l->address);
}

static int set_parse_entry(char *text, enum ruleset_family f, struct set_line *l)
{
	char *comma = strchr(text, ',');

	if (comma)
		*comma = '\0';
	if (set_parse_prefix(text, f, l))
		return -EBADMSG;
	return comma ? set_parse_rest(comma + 1, f, l) : 0;
}

static int set_parse_count(const char **text, uint64_t *ret_count)
{
	char word[WORD_MAX];
	unsigned long count;

	if (!set_parse_word(text, word) || set_parse_number(word, ULONG_MAX, &count))
		return -EBADMSG;
	*ret_count = count;
	return 0;
}

/* What stands behind the element. */
static int set_parse_options(const char *text, struct set_line *l)
{
	char word[WORD_MAX];
	int r = 0;

	while (!r && set_parse_word(&text, word)) {
		if (strcmp(word, "nomatch") == 0)
			l->excepted = true;
		else if (strcmp(word, "packets") == 0)
			r = set_parse_count(&text, &l->packets);
		else if (strcmp(word, "bytes") == 0)
			r = set_parse_count(&text, &l->bytes);
		else
			r = -EBADMSG;
	}
	return r;
}

int set_parse_line(const char *line, enum ruleset_family f, struct set_line *ret_line)
{
	struct set_line l = {0};
	char verb[WORD_MAX];
	char name[WORD_MAX];
	char word[WORD_MAX];
	int r = 0;

	if (!set_parse_word(&line, verb) || !set_parse_word(&line, name) ||
	    !set_parse_word(&line, word))
		return -EBADMSG;
	l.creates = strcmp(verb, "create") == 0;
	if (l.creates && strlen(word) < sizeof(l.type))
		memcpy(l.type, word, strlen(word) + 1);
	else if (!l.creates && strcmp(verb, "add") == 0)
		r = set_parse_entry(word, f, &l);
	else
		return -EBADMSG;
	if (!r && !l.creates)
		r = set_parse_options(line, &l);
	if (!r)
		*ret_line = l;
	return r;
}

/* ---- heads ---------------------------------------------------------------------------------- */

/* What stands behind these words, or NULL. */
static const char *set_parse_after(const char *line, const char *words)
{
	size_t length = strlen(words);

	return strncmp(line, words, length) == 0 ? line + length : NULL;
}

const char *set_parse_head_name(const char *line)
{
	return set_parse_after(line, "Name: ");
}

void set_parse_head(const char *line, struct netfilter_set *s)
{
	const char *text;

	if ((text = set_parse_after(line, "Name: "))) {
		snprintf(s->name, sizeof(s->name), "%s", text);
		text_make_utf8(s->name); /* others may take any bytes */
	} else if ((text = set_parse_after(line, "Type: ")))
		snprintf(s->type, sizeof(s->type), "%s", text);
	else if ((text = set_parse_after(line, "Header: family ")))
		s->family = strncmp(text, "inet6", strlen("inet6")) == 0 ? AF_INET6 : AF_INET;
	else if ((text = set_parse_after(line, "Size in memory: ")))
		s->memory = strtoull(text, NULL, 10);
	else if ((text = set_parse_after(line, "References: ")))
		s->references = strtoull(text, NULL, 10);
	else if ((text = set_parse_after(line, "Number of entries: ")))
		s->entries = strtoull(text, NULL, 10);
}
