// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon's API through libcurl.
#include "cli/cli_client.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CLI_ANSWER_MAX         (512U * 1024 * 1024)
#define CLI_CONNECT_SECONDS    5L
#define CLI_ANSWER_SECONDS     120L
#define CLI_QUICK_MS           700L
#define CLI_STREAM_SILENCE     45L
#define CLI_STREAM_REFUSAL_MAX (64U * 1024)
#define CLI_TOKEN_MAX          512
#define CLI_URL_MAX            4096

struct cli_client {
	CURL *curl;
	const struct cli_options *options;
	char authorization[CLI_TOKEN_MAX + 32]; /* a whole header, or "" */
};

void cli_client_warn_of_open(const char *path, const char *what)
{
	if (file_is_open_to_all(path))
		fprintf(stderr,
			"zonegate: warning: everybody on this machine can read or write %s in "
			"%s: chmod go= it\n",
			what, path);
}

void cli_client_warn_of_tokens(const struct cli_options *o)
{
	if (!o->server || !o->token_file)
		return;
	cli_client_warn_of_open(o->token_file, "the token");
	for (size_t i = 0; i < o->token_count; i++) {
		bool told = strcmp(o->token_files[i], o->token_file) == 0;

		for (size_t j = 0; j < i && !told; j++)
			told = strcmp(o->token_files[i], o->token_files[j]) == 0;
		if (!told)
			cli_client_warn_of_open(o->token_files[i], "the token");
	}
}

static int cli_client_read_token(struct cli_client *c, const char *path)
{
	char token[CLI_TOKEN_MAX] = "";
	FILE *f = fopen(path, "re");

	if (!f || !fgets(token, sizeof(token), f)) {
		fprintf(stderr, "zonegate: %s: %s\n", path, f ? "no token in it" : strerror(errno));
		if (f)
			fclose(f);
		return -EINVAL;
	}
	fclose(f);
	token[strcspn(token, "\r\n")] = '\0';
	snprintf(c->authorization, sizeof(c->authorization), "Authorization: Bearer %s", token);
	explicit_bzero(token, sizeof(token));
	return 0;
}

/* What curl makes of an address without a scheme, or with another one, helps nobody. */
static bool cli_client_is_url(const char *server)
{
	return strncasecmp(server, "http://", 7) == 0 || strncasecmp(server, "https://", 8) == 0;
}

/* "https://host:443/path", all that is left out filled in. False: curl cannot read it, and will say so. */
static bool cli_client_spell_url(const char *url, char ret_text[CLI_URL_MAX])
{
	static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT,
					  CURLUPART_PATH};
	char *found[] = {NULL, NULL, NULL, NULL};
	CURLU *u = curl_url();
	bool read = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK;

	for (size_t i = 0; read && i < sizeof(parts) / sizeof(parts[0]); i++)
		read = curl_url_get(u, parts[i], &found[i], CURLU_DEFAULT_PORT) == CURLUE_OK;
	if (read) {
		size_t length = strlen(found[3]);

		while (length > 0 && found[3][length - 1] == '/')
			found[3][--length] = '\0';
		for (char *c = found[1]; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		snprintf(ret_text, CLI_URL_MAX, "%s://%s:%s%s", found[0], found[1], found[2],
			 found[3]);
	}
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		curl_free(found[i]);
	curl_url_cleanup(u);
	return read;
}

bool cli_client_same_url(const char *a, const char *b)
{
	char left[CLI_URL_MAX], right[CLI_URL_MAX];

	return cli_client_spell_url(a, left) && cli_client_spell_url(b, right) &&
	       strcmp(left, right) == 0;
}

struct cli_client *cli_client_new(const struct cli_options *o)
{
	struct cli_client *c;

	if (o->server && !cli_client_is_url(o->server)) {
		fprintf(stderr,
			"zonegate: --server \"%s\": https://HOST:PORT or http://HOST:PORT is "
			"expected; a socket is given by --socket PATH\n",
			o->server);
		return NULL;
	}
	c = mem_new(struct cli_client);
	c->options = o;
	if (o->server && o->token_file && cli_client_read_token(c, o->token_file)) {
		free(c);
		return NULL;
	}
	curl_global_init(CURL_GLOBAL_DEFAULT);
	c->curl = curl_easy_init();
	assert(c->curl);
	return c;
}

void cli_client_free(struct cli_client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->curl);
	curl_global_cleanup();
	explicit_bzero(c->authorization, sizeof(c->authorization));
	free(c);
}

void cli_client_clear(struct cli_answer *a)
{
	free(a->text);
	json_decref(a->json);
	*a = (struct cli_answer){0};
}

static size_t cli_client_on_body(char *data, size_t one, size_t count, void *ctx)
{
	struct buf_writer *w = ctx;

	buf_write(w, data, one * count);
	return w->failed ? 0 : one * count;
}

/* Keeps the entity tag. */
static size_t cli_client_on_header(char *data, size_t one, size_t count, void *ctx)
{
	struct cli_answer *a = ctx;
	size_t size = one * count;

	if (size > 5 && strncasecmp(data, "ETag:", 5) == 0) {
		size_t skip = 5 + strspn(data + 5, " ");
		size_t length = skip < size ? strcspn(data + skip, "\r\n") : 0;

		if (length < sizeof(a->etag))
			snprintf(a->etag, sizeof(a->etag), "%.*s", (int)length, data + skip);
	}
	return size;
}

static struct curl_slist *cli_client_headers(const struct cli_client *c,
					     const struct cli_call *call)
{
	struct curl_slist *list = NULL;

	list = curl_slist_append(list, "Expect:"); /* one round trip less */
	if (call->body) {
		const char *type = strcmp(call->method, "PATCH") == 0
					   ? "application/merge-patch+json"
					   : "application/json";
		AUTO_FREE char *line = mem_printf("Content-Type: %s",
						  call->type ? call->type : type);

		list = curl_slist_append(list, line);
	}
	if (c->authorization[0])
		list = curl_slist_append(list, c->authorization);
	for (size_t i = 0; call->headers[i]; i++)
		list = curl_slist_append(list, call->headers[i]);
	return list;
}

static void cli_client_prepare(struct cli_client *c, const struct cli_call *call)
{
	AUTO_FREE char *url = mem_printf(
		"%s%s", c->options->server ? c->options->server : "http://localhost", call->path);

	curl_easy_reset(c->curl);
	curl_easy_setopt(c->curl, CURLOPT_URL, url);
	curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, CLI_CONNECT_SECONDS);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, CLI_ANSWER_SECONDS);
	if (c->options->quick)
		curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, CLI_QUICK_MS);
	if (c->options->ca)
		curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->options->ca);
	if (!c->options->server)
		curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->options->socket);
	if (strcmp(call->method, "HEAD") == 0)
		curl_easy_setopt(c->curl, CURLOPT_NOBODY, 1L);
	else
		curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, call->method);
	if (!call->body)
		return;
	curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_size);
	curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, call->body);
}

/* What to do about it. `error` is the errno of the failed connect, 0 if there was none. */
static const char *cli_client_mend(const struct cli_client *c, CURLcode result, long error)
{
	if (result == CURLE_PEER_FAILED_VERIFICATION)
		return "Give --ca FILE with the certificate of the daemon, or of who signed it; the name in --server must stand in it.";
	if (result == CURLE_SSL_CACERT_BADFILE)
		return "Is the file of --ca (ZONEGATE_CA) there, and is it PEM?";
	if (c->options->server)
		return "Is the address right (http:// for [api] listen, https:// for tls_listen), and does the daemon run?";
	if (error == EACCES || error == EPERM)
		return "The socket is for root and the daemon's own user.";
	if (error == ENOENT)
		return "Does the daemon run (systemctl status zonegate), and is this its socket ([api] socket)?";
	return "Does the daemon run (systemctl status zonegate)?";
}

/* curl speaks of localhost and port 80 also where a Unix socket failed: there the errno says it better. */
static void cli_client_say_unreachable(const struct cli_client *c, CURLcode result, const char *why)
{
	const struct cli_options *o = c->options;
	long error = 0;

	curl_easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &error);
	fprintf(stderr, "zonegate: no answer from %s: %s\n%s\n", o->server ? o->server : o->socket,
		!o->server && error ? strerror((int)error) : why,
		cli_client_mend(c, result, error));
}

void cli_client_call(struct cli_client *c, const struct cli_call *call,
		     struct cli_answer *ret_answer)
{
	char why[CURL_ERROR_SIZE] = "";
	struct curl_slist *headers = cli_client_headers(c, call);
	struct buf_writer w;
	CURLcode result;

	*ret_answer = (struct cli_answer){.options = c->options};
	buf_writer_init(&w, CLI_ANSWER_MAX);
	cli_client_prepare(c, call);
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, cli_client_on_body);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &w);
	curl_easy_setopt(c->curl, CURLOPT_HEADERFUNCTION, cli_client_on_header);
	curl_easy_setopt(c->curl, CURLOPT_HEADERDATA, ret_answer);
	result = curl_easy_perform(c->curl);
	curl_slist_free_all(headers);
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &ret_answer->status);
	/* A refusal that came before the whole body was sent is an answer all the same. */
	if (result != CURLE_OK && !(result == CURLE_SEND_ERROR && ret_answer->status >= 400)) {
		ret_answer->status = 0;
		cli_client_say_unreachable(c, result, why[0] ? why : curl_easy_strerror(result));
	}
	ret_answer->size = w.size;
	ret_answer->text = buf_take(&w);
	if (ret_answer->text)
		ret_answer->json = json_loadb(ret_answer->text, ret_answer->size, 0, NULL);
}

/* Who read it may be gone (`… | head`), which is known only when something is written: that may take days. Then it ends as by
 * that write. */
static int cli_client_on_progress(void *ctx, curl_off_t down_total, curl_off_t down,
				  curl_off_t up_total, curl_off_t up)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	(void)ctx, (void)down_total, (void)down, (void)up_total, (void)up;
	if (poll(&out, 1, 0) <= 0 || !(out.revents & POLLERR))
		return 0;
	raise(SIGPIPE);
	return 1;
}

struct cli_client_stream {
	CURL *curl;
	bool (*take)(void *ctx, const char *data, size_t size);
	void *ctx;
	struct buf_writer other;
};

static size_t cli_client_on_stream(char *data, size_t one, size_t count, void *ctx)
{
	struct cli_client_stream *s = ctx;
	size_t size = one * count;
	long status = 0;

	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return s->take(s->ctx, data, size) ? size : 0;
	buf_write(&s->other, data, size);
	return s->other.failed ? 0 : size;
}

void cli_client_stream(struct cli_client *c, const struct cli_call *call,
		       bool (*take)(void *ctx, const char *data, size_t size), void *ctx,
		       struct cli_answer *ret_answer)
{
	struct curl_slist *headers = cli_client_headers(c, call);
	struct cli_client_stream s = {.curl = c->curl, .take = take, .ctx = ctx};

	*ret_answer = (struct cli_answer){.options = c->options};
	buf_writer_init(&s.other, CLI_STREAM_REFUSAL_MAX);
	cli_client_prepare(c, call);
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, 0L);
	/* A heartbeat comes every 15 s. */
	curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c->curl, CURLOPT_LOW_SPEED_TIME, CLI_STREAM_SILENCE);
	curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, cli_client_on_progress);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, cli_client_on_stream);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &s);
	(void)curl_easy_perform(c->curl);
	curl_slist_free_all(headers);
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &ret_answer->status);
	ret_answer->size = s.other.size;
	ret_answer->text = buf_take(&s.other);
	if (ret_answer->text)
		ret_answer->json = json_loadb(ret_answer->text, ret_answer->size, 0, NULL);
}

void cli_client_get(struct cli_client *c, const char *path, struct cli_answer *ret_answer)
{
	cli_client_call(c, &(struct cli_call){.method = "GET", .path = path}, ret_answer);
}

char *cli_client_escape(const char *text)
{
	static const char hex[] = "0123456789ABCDEF";
	char *escaped = mem_alloc(3 * strlen(text) + 1), *to = escaped;

	for (; *text; text++) {
		unsigned char ch = (unsigned char)*text;

		if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
		    (ch >= '0' && ch <= '9') || strchr("-._~", ch)) {
			*to++ = (char)ch;
		} else {
			*to++ = '%';
			*to++ = hex[ch >> 4];
			*to++ = hex[ch & 15];
		}
	}
	return escaped;
}

enum cli_exit cli_client_judge(long status)
{
	if (status >= 200 && status < 300)
		return EXIT_OK;
	switch (status) {
	case 0:
		return EXIT_UNREACHABLE;
	case 400:
	case 413:
	case 422:
		return EXIT_INVALID;
	case 409:
	case 412:
	case 428:
		return EXIT_CONFLICT;
	case 401:
	case 403:
	case 421:
		return EXIT_NOT_ALLOWED;
	case 404:
	case 405:
		return EXIT_NOT_FOUND;
	default:
		return EXIT_NEGATIVE;
	}
}
