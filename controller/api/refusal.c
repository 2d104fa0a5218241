// SPDX-License-Identifier: GPL-2.0-or-later
// Answers around the library. Small ones: what does not go into the socket's buffer at once is lost, and a client whose buffer
// is full does not read anyway.
#include "api/refusal.h"

#include "api/request.h"
#include "base/mem.h"
#include "late/late_http.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define REFUSAL_HEAD_MAX 2048

/* A record that does not go out is lost with the rest; the alert tells the client that nothing more will come. */
static void refusal_write_tls(const struct refusal_to *to, const char *head, const char *body,
			      size_t size)
{
	size_t length = strlen(head);

	if (gnutls_record_send(to->tls, head, length) == (ssize_t)length && size > 0)
		(void)!gnutls_record_send(to->tls, body, size);
	gnutls_bye(to->tls, GNUTLS_SHUT_WR);
	shutdown(to->fd, SHUT_WR);
}

static void refusal_write(int fd, const char *head, const char *body, size_t size)
{
	size_t length = strlen(head);

	if (send(fd, head, length, MSG_NOSIGNAL | MSG_DONTWAIT | (size > 0 ? MSG_MORE : 0)) ==
		    (ssize_t)length &&
	    size > 0)
		(void)!send(fd, body, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(fd, SHUT_WR);
}

static size_t refusal_begin(char head[REFUSAL_HEAD_MAX], unsigned status, const char *type,
			    size_t size)
{
	return (size_t)snprintf(head, REFUSAL_HEAD_MAX,
				"HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
				"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
				"Connection: close\r\n",
				status, MHD_get_reason_phrase_for(status), type, size);
}

static size_t refusal_add(char head[REFUSAL_HEAD_MAX], size_t length, const char *name,
			  const char *value)
{
	size_t room = REFUSAL_HEAD_MAX - length;
	int added = snprintf(head + length, room, "%s: %s\r\n", name, value);

	if ((size_t)added < room - 2) /* the empty line must fit too */
		return length + (size_t)added;
	head[length] = '\0';
	return length;
}

void refusal_send(int fd, enum problem_kind kind, const char *detail)
{
	char head[REFUSAL_HEAD_MAX];
	AUTO_FREE char *body = NULL;
	json_t *json;
	size_t length;

	json = json_pack("{s:s, s:s, s:i, s:s}", "type", problem_type(kind), "title",
			 problem_title(kind), "status", (int)problem_status(kind), "detail",
			 detail);
	body = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	length = refusal_begin(head, problem_status(kind), "application/problem+json",
			       strlen(body));
	length = refusal_add(head, length, "Retry-After", "1");
	strcpy(head + length, "\r\n");
	refusal_write(fd, head, body, strlen(body));
}

void refusal_send_reply(const struct refusal_to *to, const struct request *r, const char *method)
{
	size_t size = strcmp(method, "HEAD") == 0 ? 0 : r->body_size;
	char head[REFUSAL_HEAD_MAX];
	size_t length;

	length = refusal_begin(head, r->status, r->content_type ? r->content_type : "text/plain",
			       r->body_size);
	length = refusal_add(head, length, "X-Request-Id", r->id);
	for (size_t i = 0; i < r->header_count; i++)
		length = refusal_add(head, length, r->headers[i].name, r->headers[i].value);
	strcpy(head + length, "\r\n");
	if (to->tls)
		refusal_write_tls(to, head, r->body, size);
	else
		refusal_write(to->fd, head, r->body, size);
}
