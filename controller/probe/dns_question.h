/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plainest DNS query, without EDNS, so that every server understands it, and whether a datagram answers it. */
#ifndef ZG_PROBE_DNS_QUESTION_H
#define ZG_PROBE_DNS_QUESTION_H

#include <stddef.h>
#include <stdint.h>

#define DNS_QUESTION_MAX    (12 + 255 + 4)
#define DNS_QUESTION_TYPE_A 1

/* Writes the query; `name` as the model allows it ("." or labels, with or without the last dot). Returns the size. */
size_t dns_question_write(uint8_t bytes[DNS_QUESTION_MAX], uint16_t id, const char *name,
			  uint16_t type);

enum dns_match {
	DNS_MATCH_ANSWER, /* rcode and the count of answers are known */
	DNS_MATCH_OTHER,  /* another id: an answer to something else */
	DNS_MATCH_BROKEN  /* our id, but no answer to the question */
};

struct dns_answer {
	unsigned rcode;
	unsigned answers;  /* records in the answer section, as its header says */
	const char *fault; /* of a broken one: a constant */
};

enum dns_match dns_question_match(const void *reply, size_t size, const uint8_t *question,
				  size_t question_size, struct dns_answer *ret_answer);

/* "NOERROR" … */
const char *dns_question_rcode_name(unsigned rcode);

#endif
