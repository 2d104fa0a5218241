// SPDX-License-Identifier: GPL-2.0-or-later
// Authentication. Never logs a token, never says in what way one was wrong.
#include "api/auth.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct auth_token {
	char *path;
	struct stat seen; /* of the content in `text` */
	size_t length;    /* 0 = nobody gets in */
	unsigned version; /* of the text */
	char text[AUTH_TOKEN_MAX + 1];
};

enum role auth_peer_role(uid_t uid, uid_t own)
{
	return uid == 0 || uid == own ? ROLE_ADMIN : ROLE_NOBODY;
}

const char *auth_peer_name(uid_t uid, char buf[AUTH_NAME_MAX])
{
	if (uid == 0)
		snprintf(buf, AUTH_NAME_MAX, "root");
	else
		snprintf(buf, AUTH_NAME_MAX, "uid %u", (unsigned)uid);
	return buf;
}

/* Takes the token out of what was read: one line of printable characters without blanks. Returns its length or 0. */
static size_t auth_trim(char *text, size_t size)
{
	while (size > 0 &&
	       (text[size - 1] == '\n' || text[size - 1] == '\r' || text[size - 1] == ' '))
		size--;
	for (size_t i = 0; i < size; i++) {
		if (text[i] <= ' ' || text[i] > '~')
			return 0;
	}
	text[size] = '\0';
	return size >= AUTH_TOKEN_MIN && size <= AUTH_TOKEN_MAX ? size : 0;
}

static int auth_token_read(struct auth_token *t, struct err *e)
{
	char text[AUTH_TOKEN_MAX + 3];
	int fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size;

	t->length = 0;
	if (fd < 0)
		return err_set(e, ERR_NOT_FOUND, "[api] token_file", "%s: %s", t->path,
			       strerror(errno));
	size = fstat(fd, &t->seen) == 0 && S_ISREG(t->seen.st_mode)
		       ? read(fd, text, sizeof(text) - 1)
		       : -1;
	close(fd);
	if (size < 0)
		return err_set(e, ERR_FORMAT, "[api] token_file", "%s cannot be read as a file",
			       t->path);
	if (t->seen.st_mode & S_IROTH)
		return err_set(e, ERR_FORBIDDEN, "[api] token_file",
			       "%s is readable by everybody: chmod o= it", t->path);
	t->length = auth_trim(text, (size_t)size);
	if (t->length == 0)
		return err_set(e, ERR_FORMAT, "[api] token_file",
			       "%s does not hold one line of %d to %d printable characters",
			       t->path, AUTH_TOKEN_MIN, AUTH_TOKEN_MAX);
	memset(t->text, 0, sizeof(t->text));
	memcpy(t->text, text, t->length);
	explicit_bzero(text, sizeof(text));
	return 0;
}

int auth_token_new(const char *path, struct err *e, struct auth_token **ret_token)
{
	struct auth_token *t = mem_new(struct auth_token);

	t->path = mem_strdup(path);
	t->version = 1;
	if (auth_token_read(t, e)) {
		auth_token_free(t);
		return -EINVAL;
	}
	*ret_token = t;
	return 0;
}

void auth_token_free(struct auth_token *t)
{
	if (!t)
		return;
	explicit_bzero(t->text, sizeof(t->text));
	free(t->path);
	free(t);
}

static bool auth_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static void auth_token_refresh(struct auth_token *t)
{
	AUTO_ERR struct err ignored = {0};
	char former[AUTH_TOKEN_MAX + 1];
	size_t length = t->length;
	struct stat now;

	if (stat(t->path, &now) == 0 && auth_same_file(&now, &t->seen))
		return;
	memcpy(former, t->text, sizeof(former));
	auth_token_read(t, &ignored);
	if (t->length != length || memcmp(former, t->text, sizeof(former)) != 0)
		t->version++;
	explicit_bzero(former, sizeof(former));
}

unsigned auth_token_version(struct auth_token *t)
{
	auth_token_refresh(t);
	return t->version;
}

bool auth_token_matches(struct auth_token *t, const char *authorization)
{
	char given[AUTH_TOKEN_MAX + 1] = "";
	unsigned difference;
	size_t length;

	auth_token_refresh(t);
	if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
		return false;
	authorization += 7;
	authorization += strspn(authorization, " ");
	length = strnlen(authorization, AUTH_TOKEN_MAX + 1);
	memcpy(given, authorization, length < sizeof(given) ? length : sizeof(given));
	difference = length != t->length || t->length == 0;
	for (size_t i = 0; i < sizeof(given); i++)
		difference |= (unsigned char)(given[i] ^ t->text[i]);
	return difference == 0;
}

/* "name", "name:port", "[::1]:port" → the length of the name, or 0. */
static size_t auth_host_name_length(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":");

	if (!end)
		return 0;
	if (*host == '[')
		end++;
	if (*end == '\0')
		return (size_t)(end - host);
	if (*end != ':' || end[1] == '\0' || end[1 + strspn(end + 1, "0123456789")] != '\0')
		return 0;
	return (size_t)(end - host);
}

static bool auth_host_is(const char *host, size_t length, const char *name)
{
	return strlen(name) == length && strncasecmp(host, name, length) == 0;
}

bool auth_host_allowed(const char *host, const char *const *hosts, size_t count)
{
	size_t length = host ? auth_host_name_length(host) : 0;

	if (length == 0)
		return false;
	if (auth_host_is(host, length, "localhost") || auth_host_is(host, length, "127.0.0.1") ||
	    auth_host_is(host, length, "[::1]"))
		return true;
	for (size_t i = 0; i < count; i++) {
		if (auth_host_is(host, length, hosts[i]))
			return true;
	}
	return false;
}
