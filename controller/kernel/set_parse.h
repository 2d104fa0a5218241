/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads lines of "ipset save", which is the form in which libipset gives what is in a set. */
#ifndef ZG_KERNEL_SET_PARSE_H
#define ZG_KERNEL_SET_PARSE_H

#include "plan/ruleset.h"

struct set_line {
	bool creates;  /* the line of the set itself, not of an entry */
	char type[24]; /* with `creates`: "hash:ip,port" */
	struct addr address;
	struct addr peer; /* not set: there is none */
	uint8_t protocol; /* 0: no port */
	uint16_t port;
	uint8_t length; /* of a prefix; all of an address */
	bool excepted;  /* "nomatch" */
	uint64_t packets;
	uint64_t bytes;
};

/* Returns 0, or -EBADMSG: not of the family, or not of what is put into sets of ours. */
int set_parse_line(const char *line, enum ruleset_family f, struct set_line *ret_line);

/* A line of "ipset list -t": what it says goes into `s`. */
struct netfilter_set;
void set_parse_head(const char *line, struct netfilter_set *s);
/* The name of the set with which its lines begin; NULL: it is another line. */
const char *set_parse_head_name(const char *line);

#endif
