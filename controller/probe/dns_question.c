// SPDX-License-Identifier: GPL-2.0-or-later
// The question of an answer is that of the query byte by byte, but for the case of letters: nothing stands before it that it
// could be compressed to. So no name of a reply is ever parsed.
#include "probe/dns_question.h"

#include "base/buf.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#define HEADER_SIZE     12
#define QUERY_FLAGS     0x0100 /* recursion desired, as stub resolvers ask */
#define FLAG_RESPONSE   0x8000
#define OPCODE_MASK     0x7800
#define RCODE_MASK      0x000f
#define CLASS_IN        1
#define TYPE_CLASS_SIZE 4
#define RCODES          16
#define NAME_TEXT_MAX   254 /* with the last dot */

static const char *const dns_question_rcodes[RCODES] = {
	"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",  "REFUSED", "YXDOMAIN", "YXRRSET",
	"NXRRSET", "NOTAUTH", "NOTZONE",  "RCODE11",  "RCODE12", "RCODE13", "RCODE14",  "RCODE15",
};

const char *dns_question_rcode_name(unsigned rcode)
{
	return dns_question_rcodes[rcode % RCODES];
}

static uint8_t *dns_question_put_be16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

static uint8_t *dns_question_put_name(uint8_t *p, const char *name)
{
	assert(strlen(name) <= NAME_TEXT_MAX);
	while (*name && *name != '.') {
		size_t length = strcspn(name, ".");

		assert(length <= 63);
		*p++ = (uint8_t)length;
		memcpy(p, name, length);
		p += length;
		name += length;
		if (*name == '.')
			name++;
	}
	*p++ = 0;
	return p;
}

size_t dns_question_write(uint8_t bytes[DNS_QUESTION_MAX], uint16_t id, const char *name,
			  uint16_t type)
{
	uint8_t *p = bytes;

	p = dns_question_put_be16(p, id);
	p = dns_question_put_be16(p, QUERY_FLAGS);
	p = dns_question_put_be16(p, 1);
	p = dns_question_put_be16(p, 0);
	p = dns_question_put_be16(p, 0);
	p = dns_question_put_be16(p, 0);
	p = dns_question_put_name(p, name);
	p = dns_question_put_be16(p, type);
	p = dns_question_put_be16(p, CLASS_IN);
	return (size_t)(p - bytes);
}

/* Labels have at most 63 octets, so no length is mistaken for a letter. */
static bool dns_question_is_same(const uint8_t *a, const uint8_t *b, size_t size)
{
	const size_t name = size - TYPE_CLASS_SIZE;

	for (size_t i = 0; i < name; i++) {
		if (tolower(a[i]) != tolower(b[i]))
			return false;
	}
	return memcmp(a + name, b + name, TYPE_CLASS_SIZE) == 0;
}

static const char *dns_question_find_fault(struct buf_reader *r, unsigned flags, unsigned questions,
					   const uint8_t *question, size_t size)
{
	const uint8_t *asked;

	if (!(flags & FLAG_RESPONSE))
		return "a query came back, not an answer";
	if (flags & OPCODE_MASK)
		return "an answer to another kind of request";
	/* Servers that understood nothing of it may leave the question out. */
	if (questions == 0 && flags & RCODE_MASK)
		return NULL;
	asked = buf_read_bytes(r, size);
	if (questions != 1 || !asked || !dns_question_is_same(asked, question, size))
		return "an answer to another question";
	return NULL;
}

enum dns_match dns_question_match(const void *reply, size_t size, const uint8_t *question,
				  size_t question_size, struct dns_answer *ret_answer)
{
	struct dns_answer a = {0};
	struct buf_reader r;
	unsigned flags, questions;
	bool ours;

	assert(question_size > HEADER_SIZE + TYPE_CLASS_SIZE);
	buf_reader_init(&r, reply, size);
	ours = buf_read_be16(&r) == (question[0] << 8 | question[1]);
	flags = buf_read_be16(&r);
	questions = buf_read_be16(&r);
	a.answers = buf_read_be16(&r);
	buf_skip(&r, 4);
	if (size < 2 || !ours)
		return DNS_MATCH_OTHER;
	a.rcode = flags & RCODE_MASK;
	a.fault = r.failed ? "less than a header"
			   : dns_question_find_fault(&r, flags, questions, question + HEADER_SIZE,
						     question_size - HEADER_SIZE);
	*ret_answer = a;
	return a.fault ? DNS_MATCH_BROKEN : DNS_MATCH_ANSWER;
}
