/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The client's side of api_rig.h, which includes it: raw HTTP, answers, documents. */
#ifndef ZG_TESTS_API_CLIENT_H
#define ZG_TESTS_API_CLIENT_H

#include "api_rig.h"

static inline int rig_connect(const struct rig *rig)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strcpy(sa.sun_path, rig->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static inline int rig_connect_tcp(const struct rig *rig)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)rig->port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* Sends what goes out within a second of silence; a server that closed meanwhile is not a fault here. */
static inline void rig_send(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		at += n;
		size -= (size_t)n;
	}
}

struct answer {
	char *text; /* whole, with headers */
	size_t size;
	int status; /* 0: the connection ended without one */
	const char *body;
	json_t *json; /* of the body, or NULL */
};

static inline void answer_clear(struct answer *a)
{
	free(a->text);
	json_decref(a->json);
	*a = (struct answer){0};
}
#define AUTO_REPLY __attribute__((cleanup(answer_clear)))

/* Reads to the end of the connection, at most `ms` without a byte. Closes. */
static inline struct answer rig_read(int fd, int ms)
{
	struct answer a = {.text = mem_alloc(1)};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char piece[65536];
	ssize_t n;

	while (poll(&p, 1, ms) == 1 && (n = read(fd, piece, sizeof(piece))) > 0) {
		a.text = mem_realloc_array(a.text, a.size + (size_t)n + 1, 1);
		memcpy(a.text + a.size, piece, (size_t)n);
		a.size += (size_t)n;
		a.text[a.size] = '\0';
	}
	close(fd);
	if (sscanf(a.text, "HTTP/1.1 %d", &a.status) != 1)
		a.status = 0;
	a.body = strstr(a.text, "\r\n\r\n");
	a.body = a.body ? a.body + 4 : "";
	a.json = json_loads(a.body, 0, NULL);
	return a;
}

/* The value of a header of the answer, or "" (valid until the next call). */
static inline const char *answer_header(const struct answer *a, const char *name, char buf[256])
{
	AUTO_FREE char *start = mem_printf("\r\n%s: ", name);
	const char *at = strcasestr(a->text, start);

	buf[0] = '\0';
	if (at && at < a->body)
		snprintf(buf, 256, "%.*s", (int)strcspn(at + strlen(start), "\r"),
			 at + strlen(start));
	return buf;
}

/* One request over the unix socket. `headers`: whole lines with CRLF, or "". `body` NULL: none. */
static inline struct answer rig_ask(const struct rig *rig, const char *method, const char *path,
				    const char *headers, const char *body)
{
	AUTO_FREE char *head = NULL;
	int fd = rig_connect(rig);

	head = mem_printf(
		"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n",
		method, path, headers, body ? strlen(body) : 0);
	rig_send(fd, head, strlen(head));
	if (body)
		rig_send(fd, body, strlen(body));
	return rig_read(fd, 10000);
}

static inline struct answer rig_get(const struct rig *rig, const char *path)
{
	return rig_ask(rig, "GET", path, "", NULL);
}

static inline struct answer rig_put(const struct rig *rig, const char *path, const char *body)
{
	return rig_ask(rig, "PUT", path, "", body);
}

static inline const char *answer_text(const struct answer *a, const char *member)
{
	const char *text = json_string_value(json_object_get(a->json, member));

	return text ? text : "";
}

/* Path by path: "status.state", "errors.0.pointer". NULL if it leads nowhere. */
static inline json_t *answer_at(const struct answer *a, const char *path)
{
	AUTO_FREE char *copy = mem_strdup(path);
	char *rest = copy, *name;
	json_t *at = a->json;

	while (at && (name = strsep(&rest, ".")))
		at = json_is_array(at) ? json_array_get(at, (size_t)atoi(name))
				       : json_object_get(at, name);
	return at;
}

static inline const char *answer_text_at(const struct answer *a, const char *path)
{
	const char *text = json_string_value(answer_at(a, path));

	return text ? text : "";
}

static inline long long answer_number_at(const struct answer *a, const char *path)
{
	json_t *at = answer_at(a, path);

	return json_is_integer(at) ? json_integer_value(at) : -1;
}

/* Two zones, two servers, one load balancer with one listener. */
#define RIG_DOCUMENT                                                                                                 \
	"{\"zones\":{\"za\":{},\"zb\":{\"description\":\"hall 2\"}},"                                                \
	"\"server_groups\":{\"web\":{\"protocol\":\"tcp\",\"health_check\":{\"enabled\":false},\"servers\":{"        \
	"\"w1\":{\"address\":\"10.0.0.1\",\"port\":8080,\"zone\":\"za\"},"                                           \
	"\"w2\":{\"address\":\"10.0.0.2\",\"port\":8080,\"zone\":\"zb\",\"weight\":50}}}},"                          \
	"\"load_balancers\":{\"shop\":{\"zones\":{\"za\":{\"vip4\":\"192.0.2.1\"},\"zb\":{\"vip4\":\"192.0.2.2\"}}," \
	"\"listeners\":{\"http\":{\"protocol\":\"tcp\",\"port\":80,\"server_group\":\"web\"}}}}}"

static inline void rig_load(const struct rig *rig)
{
	struct answer a = rig_ask(rig, "PUT", "/api/v1/config", "If-Match: *\r\n", RIG_DOCUMENT);

	if (a.status != 200)
		fail_msg("%s", a.text);
	answer_clear(&a);
}

/* The load balancer of RIG_DOCUMENT has a name in DNS, and its VIPs have a verdict. */
static inline void rig_publish(const struct rig *rig)
{
	struct answer a = rig_ask(rig, "PATCH", "/api/v1/load-balancers/shop", "",
				  "{\"dns_name\":\"shop.example.net\"}");

	if (a.status != 200)
		fail_msg("%s", a.text);
	answer_clear(&a);
	usleep(50000);
}

/* RIG_DOCUMENT with so many (at most 250) load balancers in the place of "shop": n000, n001 …, each with a name in DNS. New
 * reference. */
static inline json_t *rig_many_balancers(int count)
{
	json_t *document = json_loads(RIG_DOCUMENT, 0, NULL);
	json_t *balancers = json_object_get(document, "load_balancers");

	assert_non_null(document);
	for (int i = 0; i < count; i++) {
		json_t *one = json_deep_copy(json_object_get(balancers, "shop"));
		json_t *zones = json_object_get(one, "zones");
		AUTO_FREE char *name = mem_printf("n%03d", i);

		json_object_set_new(json_object_get(zones, "za"), "vip4",
				    json_sprintf("198.18.0.%d", i + 1));
		json_object_set_new(json_object_get(zones, "zb"), "vip4",
				    json_sprintf("198.18.1.%d", i + 1));
		json_object_set_new(one, "dns_name", json_sprintf("%s.example.net", name));
		json_object_set_new(balancers, name, one);
	}
	json_object_del(balancers, "shop");
	return document;
}

/* A document whose group "big" has so many servers. Caller frees. */
static inline char *rig_big_document(unsigned servers)
{
	json_t *list = json_object(), *all;
	char *text, name[16], address[24];

	for (unsigned i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "s%05u", i);
		snprintf(address, sizeof(address), "10.1.%u.%u", i / 250, i % 250 + 1);
		json_object_set_new(list, name,
				    json_pack("{s:s, s:i}", "address", address, "port", 80));
	}
	all = json_pack("{s:{}, s:{s:{s:s, s:{s:b}, s:o}}, s:{}}", "zones", "server_groups", "big",
			"protocol", "tcp", "health_check", "enabled", 0, "servers", list,
			"load_balancers");
	text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

#endif
