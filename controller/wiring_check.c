// SPDX-License-Identifier: GPL-2.0-or-later
// The settings as a start judges them: all faults, and nothing opened but files that they name.
#include "wiring_check.h"

#include <errno.h>
#include <net/if.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/api.h"
#include "api/auth.h"
#include "api/sockets.h"
#include "api/tls.h"
#include "base/file.h"
#include "late/late.h"
#include "settings.h"
#include "wiring_dns.h"
#include "wiring_notify.h"
#include "wiring_update.h"

static void check_api(const struct settings *s, struct err *e)
{
	const struct sockaddr_un *sa = NULL;

	if (s->api_listen.count > API_LISTEN_MAX)
		err_set(e, ERR_LIMIT, "[api] listen", "at most %d addresses", API_LISTEN_MAX);
	if (s->api_allowed_hosts.count > API_HOSTS_MAX)
		err_set(e, ERR_LIMIT, "[api] allowed_hosts", "at most %d names", API_HOSTS_MAX);
	if (strlen(s->api_socket) >= sizeof(sa->sun_path))
		err_set(e, ERR_LIMIT, "[api] socket", "is longer than %zu bytes",
			sizeof(sa->sun_path) - 1);
	for (size_t i = 0; i < s->api_listen.count; i++)
		sockets_check_tcp(s->api_listen.items[i], FRONT_LOOPBACK, e);
}

static void check_tls(const struct settings *s, struct err *e)
{
	if (!s->api_tls_cert != !s->api_tls_key)
		err_set(e, ERR_MISSING, s->api_tls_cert ? "[api] tls_cert" : "[api] tls_key",
			"tls_cert and tls_key go together: %s is missing",
			s->api_tls_cert ? "tls_key" : "tls_cert");
	if (s->api_tls_cert && s->api_tls_listen.count == 0)
		err_set(e, ERR_MISSING, "[api] tls_cert", "needs [api] tls_listen");
	if (s->api_tls_listen.count > API_LISTEN_MAX)
		err_set(e, ERR_LIMIT, "[api] tls_listen", "at most %d addresses", API_LISTEN_MAX);
	for (size_t i = 0; i < s->api_tls_listen.count; i++)
		sockets_check_tcp(s->api_tls_listen.items[i], FRONT_TLS, e);
}

static void check_device(const char *name, const char *place, struct err *e)
{
	if (name && strlen(name) >= IFNAMSIZ)
		err_set(e, ERR_LIMIT, place, "%s: the name of a device has at most %d bytes", name,
			IFNAMSIZ - 1);
}

/* Looked at from outside only: it may belong to another user, and it may come later. */
static void check_file(const char *path, const char *place, struct err *e)
{
	int error = path ? file_check(path, 0) : 0;
	char why[FILE_FAULT_MAX];

	if (error == -EMEDIUMTYPE)
		err_set(e, ERR_FORMAT, place, "%s %s", path,
			file_describe_fault(path, 0, error, why));
}

/* It holds what only the daemon may know. */
static void check_secret(const char *path, const char *place, struct err *e)
{
	size_t before = e->total;

	check_file(path, place, e);
	if (path && e->total == before && file_is_open_to_all(path))
		err_set(e, ERR_FORBIDDEN, place, "%s is open to everybody: chmod o= it", path);
}

static bool is_readable(const struct stat *st, const struct passwd *reader)
{
	if (reader->pw_uid == 0)
		return true;
	if (st->st_uid == reader->pw_uid)
		return st->st_mode & S_IRUSR;
	return st->st_mode & (st->st_gid == reader->pw_gid ? S_IRGRP : S_IROTH);
}

void wiring_check_files(const struct settings *s, const struct passwd *reader,
			struct err *ret_obstacles)
{
	const struct {
		const char *path, *place;
	} files[] = {
		{s->api_token_file, "[api] token_file"},
		{s->api_tls_cert, "[api] tls_cert"},
		{s->api_tls_key, "[api] tls_key"},
		{s->dns_update_key_file, "[dns_update] key_file"},
		{s->notify_secret_file, "[notify] secret_file"},
	};
	struct stat st;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!files[i].path)
			continue;
		if (stat(files[i].path, &st) != 0)
			err_set(ret_obstacles, ERR_MISSING, files[i].place, "%s is not there: %s",
				files[i].path, strerror(errno));
		else if (reader && !is_readable(&st, reader))
			err_set(ret_obstacles, ERR_FORBIDDEN, files[i].place,
				"the user %s cannot read %s: chgrp %s it, and chmod 640",
				reader->pw_name, files[i].path, reader->pw_name);
	}
}

static void check_token(const char *path, struct err *e)
{
	struct auth_token *token;

	if (auth_token_new(path, e, &token) == 0)
		auth_token_free(token);
}

static void check_certificate(const struct settings *s, struct err *e)
{
	const struct tls_settings ts = {.cert = s->api_tls_cert, .key = s->api_tls_key};
	struct tls *tls;

	if (tls_new(&ts, e, &tls) == 0)
		tls_free(tls);
}

int wiring_check_libraries(struct err *e)
{
	char text[LATE_TEXT_MAX];

	return late_check(text) ? err_set(e, ERR_UNAVAILABLE, "", "%s", text) : 0;
}

int wiring_check_contents(const struct settings *s, struct err *e)
{
	size_t before = e->total;

	if (s->api_token_file && access(s->api_token_file, R_OK) == 0)
		check_token(s->api_token_file, e);
	if (s->api_tls_cert && s->api_tls_key && access(s->api_tls_cert, R_OK) == 0 &&
	    access(s->api_tls_key, R_OK) == 0)
		check_certificate(s, e);
	return e->total == before ? 0 : -EINVAL;
}

int wiring_check(const struct settings *s, struct err *e)
{
	size_t before = e->total;

	check_api(s, e);
	check_tls(s, e);
	wiring_dns_check(s, e);
	wiring_update_check(s, e);
	wiring_notify_check(s, e);
	check_device(s->node_vip_link, "[node] vip_link", e);
	check_device(s->kernel_vip_device, "[kernel] vip_device", e);
	check_secret(s->api_token_file, "[api] token_file", e);
	check_file(s->api_tls_cert, "[api] tls_cert", e);
	check_secret(s->api_tls_key, "[api] tls_key", e);
	check_secret(s->dns_update_key_file, "[dns_update] key_file", e);
	check_secret(s->notify_secret_file, "[notify] secret_file", e);
	return e->total == before ? 0 : -EINVAL;
}
