// SPDX-License-Identifier: GPL-2.0-or-later
// Neither an URL nor a secret stands on a command line: all of it goes to curl's standard input.
#include "webhook/webhook_call.h"

#include "base/file.h"
#include "late/late_gnutls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DIGEST_SIZE 32
#define STATUS_MARK "zonegate-status "

static void call_write_hex(const uint8_t *bytes, char *ret_text)
{
	for (size_t i = 0; i < DIGEST_SIZE; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- the URL ------------------------------------------------------------------------------------ */

static const char *call_find_host(const char *url)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
			return url + strlen(schemes[i]);
	return NULL;
}

const char *webhook_call_url_fault(const char *url)
{
	const char *host = call_find_host(url);
	const char *user = host ? memchr(host, '@', strcspn(host, "/?#")) : NULL;

	if (!host)
		return "begins with neither http:// nor https://";
	if (strcspn(user ? user + 1 : host, "/?#") == 0)
		return "names no host";
	if (user && memchr(user + 1, '@', strcspn(user + 1, "/?#")))
		return "has more than one @ before its path: in a password it is %40";
	for (; *url; url++)
		if (*url <= ' ' || *url > '~' || *url == '"' || *url == '\\')
			return "has characters that an URL has not";
	return NULL;
}

const char *webhook_call_origin(const char *url, char buf[WEBHOOK_ORIGIN_MAX])
{
	const char *host = call_find_host(url);
	size_t scheme = (size_t)(host - url), length = strcspn(host, "/?#");
	const char *user = memrchr(host, '@', length);

	if (user) {
		length -= (size_t)(user + 1 - host);
		host = user + 1;
	}
	snprintf(buf, WEBHOOK_ORIGIN_MAX, "%.*s%.*s", (int)scheme, url, (int)length, host);
	return buf;
}

void webhook_call_key(const char *url, char ret_key[65])
{
	uint8_t digest[DIGEST_SIZE] = {0};

	(void)gnutls_hash_fast(GNUTLS_DIG_SHA256, url, strlen(url), digest);
	call_write_hex(digest, ret_key);
}

/* ---- the signature ------------------------------------------------------------------------------ */

void webhook_call_sign(const char *secret, usec_t wall, const char *body,
		       char ret_signature[WEBHOOK_SIGNATURE_MAX])
{
	uint8_t digest[DIGEST_SIZE] = {0};
	char head[32];
	gnutls_hmac_hd_t hmac;
	int length = snprintf(head, sizeof(head), "%llu.",
			      (unsigned long long)(wall / USEC_PER_SEC));

	if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, secret, strlen(secret)) < 0)
		abort(); /* the library has it, or nothing */
	(void)gnutls_hmac(hmac, head, (size_t)length);
	(void)gnutls_hmac(hmac, body, strlen(body));
	gnutls_hmac_deinit(hmac, digest);
	length = snprintf(ret_signature, WEBHOOK_SIGNATURE_MAX, "t=%.*s,v1=", length - 1, head);
	call_write_hex(digest, ret_signature + length);
}

static int call_take_secret(const char *path, const char *text, size_t size,
			    char ret_secret[WEBHOOK_SECRET_MAX + 1],
			    char ret_error[WEBHOOK_ERROR_MAX])
{
	while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	for (size_t i = 0; i < size; i++)
		if (text[i] < ' ' || text[i] > '~')
			size = 0;
	if (size < WEBHOOK_SECRET_MIN || size > WEBHOOK_SECRET_MAX) {
		snprintf(ret_error, WEBHOOK_ERROR_MAX,
			 "%.80s does not hold one line of %d to %d printable characters", path,
			 WEBHOOK_SECRET_MIN, WEBHOOK_SECRET_MAX);
		return -EINVAL;
	}
	memcpy(ret_secret, text, size);
	ret_secret[size] = '\0';
	return 0;
}

int webhook_call_read_secret(const char *path, char ret_secret[WEBHOOK_SECRET_MAX + 1],
			     char ret_error[WEBHOOK_ERROR_MAX])
{
	char why[FILE_FAULT_MAX];
	struct stat st;
	char *text;
	size_t size;
	int r = file_read(path, WEBHOOK_SECRET_MAX + 2, &text, &size);

	if (r < 0) {
		snprintf(ret_error, WEBHOOK_ERROR_MAX, "%.60s %.120s", path,
			 file_describe_fault(path, WEBHOOK_SECRET_MAX + 2, r, why));
		return -EINVAL;
	}
	if (stat(path, &st) == 0 && st.st_mode & S_IROTH) {
		snprintf(ret_error, WEBHOOK_ERROR_MAX,
			 "%.100s is readable by everybody: chmod o= it", path);
		r = -EINVAL;
	} else {
		r = call_take_secret(path, text, size, ret_secret, ret_error);
	}
	explicit_bzero(text, size);
	free(text);
	return r;
}

/* ---- the call ----------------------------------------------------------------------------------- */

/* As curl reads what stands in quotes; there are no control characters in an URL, nor in compact JSON. */
static void call_write_quoted(const char *key, const char *value, struct buf_writer *w)
{
	buf_write_format(w, "%s = \"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_write(w, "\\", 1);
		buf_write(w, value, 1);
	}
	buf_write(w, "\"\n", 2);
}

void webhook_call_write(const char *url, const char *body, const char *signature, usec_t timeout,
			struct buf_writer *w)
{
	call_write_quoted("url", url, w);
	buf_write_text(w, "request = \"POST\"\nsilent\nshow-error\nglobloff\n"
			  "proto = \"=http,https\"\noutput = \"/dev/null\"\n"
			  "write-out = \"\\n" STATUS_MARK "%{http_code}\\n\"\n"
			  "header = \"Content-Type: application/json\"\nheader = \"Expect:\"\n"
			  "user-agent = \"zonegate/" ZONEGATE_VERSION "\"\n");
	/* An answer without an end is taken slowly until the time is over: unbounded it came to gigabytes. */
	buf_write_text(w, "limit-rate = \"1M\"\n");
	buf_write_format(w, "max-time = %.1f\nconnect-timeout = %.1f\n",
			 (double)timeout / (double)USEC_PER_SEC,
			 (double)timeout / 2. / (double)USEC_PER_SEC);
	if (signature)
		buf_write_format(w, "header = \"Zonegate-Signature: %s\"\n", signature);
	call_write_quoted("data-binary", body, w);
}

/* Its first line, without its own name. */
static void call_copy_words(const char *output, char ret_error[WEBHOOK_ERROR_MAX])
{
	size_t length = strcspn(output, "\n");

	snprintf(ret_error, WEBHOOK_ERROR_MAX, "%.*s", (int)length, output);
	for (char *c = ret_error; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
}

bool webhook_call_judge(const struct child_end *end, unsigned *ret_status,
			char ret_error[WEBHOOK_ERROR_MAX])
{
	const char *mark = strstr(end->output, STATUS_MARK);

	*ret_status = mark ? (unsigned)strtoul(mark + strlen(STATUS_MARK), NULL, 10) : 0;
	ret_error[0] = '\0';
	if (end->status == 0 && *ret_status >= 200 && *ret_status < 300)
		return true;
	if (end->status == -1)
		snprintf(ret_error, WEBHOOK_ERROR_MAX, "it took too long");
	else if (end->status == 0 && *ret_status)
		snprintf(ret_error, WEBHOOK_ERROR_MAX, "the answer is status %u", *ret_status);
	else if (WIFEXITED(end->status) && WEXITSTATUS(end->status) == 127)
		snprintf(ret_error, WEBHOOK_ERROR_MAX, "there is no curl: apt install curl");
	else
		call_copy_words(end->output[0] ? end->output : "curl failed without a word",
				ret_error);
	return false;
}
