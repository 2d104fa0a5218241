// SPDX-License-Identifier: GPL-2.0-or-later
// Answers to DNS probes. The first octet chooses whether the question is put in, so that what follows it is reached too.
#include "probe/dns_question.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t question[DNS_QUESTION_MAX];
	size_t asked;
	struct dns_answer a = {0};
	uint8_t *reply;

	if (!size)
		return 0;
	asked = dns_question_write(question, (uint16_t)(data[0] & 1 ? 0x3030 : data[0]),
				   data[0] & 2 ? "Example.com" : ".", 1);
	size--;
	reply = malloc(size); /* of its exact size, for the sanitizer */
	assert(reply || !size);
	if (size)
		memcpy(reply, data + 1, size);
	if (data[0] & 4 && size >= asked) {
		memcpy(reply, question, 2);
		memcpy(reply + 12, question + 12, asked - 12);
	}
	switch (dns_question_match(reply, size, question, asked, &a)) {
	case DNS_MATCH_ANSWER:
		assert(!a.fault && a.rcode < 16 && reply[2] & 0x80 && size >= 12);
		assert(dns_question_rcode_name(a.rcode));
		break;
	case DNS_MATCH_BROKEN:
		assert(a.fault);
		break;
	case DNS_MATCH_OTHER:
		assert(size < 2 || memcmp(reply, question, 2) != 0);
		break;
	}
	free(reply);
	return 0;
}
