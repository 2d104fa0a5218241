/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One call of a webhook: what curl is told on its standard input, and what its answer means. Pure. */
#ifndef ZG_WEBHOOK_WEBHOOK_CALL_H
#define ZG_WEBHOOK_WEBHOOK_CALL_H

#include "base/buf.h"
#include "base/time.h"
#include "child/child.h"

#define WEBHOOK_SECRET_MIN 16
#define WEBHOOK_SECRET_MAX 512
#define WEBHOOK_ERROR_MAX  200
#define WEBHOOK_ORIGIN_MAX 300
#define WEBHOOK_SIGNATURE_MAX \
	(64 + 40) /* "t=SECONDS,v1=" and the hexadecimal digits of an HMAC-SHA256 */

/* Whether a text can be an URL of a webhook: http or https, printable, with a host. What is wrong as the rest of a sentence, or
 * NULL. */
const char *webhook_call_url_fault(const char *url);
/* Scheme, host and port: paths, queries and users may be secrets. Returns `buf`. */
const char *webhook_call_origin(const char *url, char buf[WEBHOOK_ORIGIN_MAX]);
/* SHA-256 of it in hexadecimal digits: its key in the store. */
void webhook_call_key(const char *url, char ret_key[65]);

/* HMAC-SHA256 over "SECONDS.BODY", as "t=SECONDS,v1=DIGITS". */
void webhook_call_sign(const char *secret, usec_t wall, const char *body,
		       char ret_signature[WEBHOOK_SIGNATURE_MAX]);

/* The secret of a file: one line of printable characters. 0, or -EINVAL with the sentence. It is not kept. */
int webhook_call_read_secret(const char *path, char ret_secret[WEBHOOK_SECRET_MAX + 1],
			     char ret_error[WEBHOOK_ERROR_MAX]);

/* curl's configuration. `signature` NULL: none. */
void webhook_call_write(const char *url, const char *body, const char *signature, usec_t timeout,
			struct buf_writer *w);

/* Whether the call has succeeded; *ret_status is that of HTTP, 0 = there was no answer. ret_error "" = it has. */
bool webhook_call_judge(const struct child_end *end, unsigned *ret_status,
			char ret_error[WEBHOOK_ERROR_MAX]);

#endif
