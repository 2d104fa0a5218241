/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domain names in wire form (length octets, no compression, the root's zero at the end), as values. Comparison and hash take
 * lower-cased names: dns_name_lower() once, then bytes. */
#ifndef ZG_DNS_DNS_NAME_H
#define ZG_DNS_DNS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_MAX        255 /* octets, with the root's */
#define DNS_NAME_LABEL_MAX  63
#define DNS_NAME_LABELS_MAX 127
#define DNS_NAME_TEXT_MAX   1017 /* every octet as "\DDD", with dots and NUL */

struct dns_name {
	uint8_t size;                    /* octets used, with the root's: 1 is the root */
	uint8_t labels;                  /* without the root's */
	uint8_t bytes[DNS_NAME_MAX + 1]; /* whole words: the octets behind `size` are anything */
};

/* "shop.lb.example.net", with or without a dot at the end; "." is the root. Any octet but NUL and '.' may stand in a label;
 * no escapes. Returns 0 or -EINVAL (an empty or too long label, a name that is too long). */
int dns_name_parse(const char *text, struct dns_name *ret_name);

/* Master file form without the last dot ("." for the root), "\DDD" for what is not printable. */
const char *dns_name_format(const struct dns_name *n, char buf[DNS_NAME_TEXT_MAX]);

/* ASCII letters in lower case; all other octets stay. */
void dns_name_lower(struct dns_name *n);

/* "LABEL.rest". Returns 0 or -EINVAL: the label is empty or too long, or the name would be. */
int dns_name_prepend(const char *label, const struct dns_name *rest, struct dns_name *ret_name);

/* Octet for octet: both in lower case, else letters differ. */
bool dns_name_equal(const struct dns_name *a, const struct dns_name *b);
/* `n` is `suffix` or lies beneath it. */
bool dns_name_within(const struct dns_name *n, const struct dns_name *suffix);
/* Takes the first label off; false for the root. */
bool dns_name_up(struct dns_name *n);

/* Of a name in wire form; not for keys that somebody hostile may add. */
uint64_t dns_name_hash(const uint8_t *bytes, size_t size);

#endif
