// SPDX-License-Identifier: GPL-2.0-or-later
// The first set-up, who one is, and users.
#include "cli/cli_commands.h"

#include "base/mem.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/cli_args.h"
#include "cli/cli_complete.h"
#include "cli/cli_escape.h"
#include "cli/cli_password.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>

/* Takes the body, which may hold a password. */
static void cli_access_send(struct cli *cli, const char *method, const char *path, json_t *body,
			    struct cli_answer *ret_answer)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	cli_client_call(cli->client,
			&(struct cli_call){.method = method,
					   .path = path,
					   .body = text,
					   .body_size = text ? strlen(text) : 0},
			ret_answer);
	cli_password_free(text);
	json_decref(body);
}

static char *cli_access_user_path(const char *name)
{
	AUTO_FREE char *escaped = cli_client_escape(name);

	return mem_printf(CLI_BASE "/users/%s", escaped);
}

/* Of a change: a dry run if that is asked for. Takes the body. */
static void cli_access_change(struct cli *cli, const char *method, const char *path, json_t *body,
			      struct cli_answer *ret_answer)
{
	AUTO_FREE char *url = mem_printf("%s%s", path, cli->options.dry_run ? "?dry_run=true" : "");

	cli_access_send(cli, method, url, body, ret_answer);
}

/* Shows what a write answered. */
static enum cli_exit cli_access_tell(const struct cli *cli, const struct cli_answer *a,
				     const char *what, const char *name)
{
	if (cli_client_judge(a->status) != EXIT_OK)
		return cli_print_problem(a);
	if (cli->options.dry_run)
		return cli_print_dry_run(cli, a->json);
	if (cli->options.format == FORMAT_JSON && a->json)
		cli_print_json(a->json);
	else
		printf("%s %s.\n", name, what);
	return EXIT_OK;
}

/* ---- set-up ---- */

static const char *cli_access_fingerprint(const json_t *system)
{
	const json_t *tls = json_object_get(json_object_get(system, "api"), "tls");

	return cli_print_text(tls, "fingerprint_sha256");
}

static void cli_access_print_setup(const json_t *code, const json_t *system)
{
	const json_int_t minutes = cli_print_number(code, "expires_in_s") / 60;
	const json_t *urls = json_object_get(code, "urls");
	json_t *url;
	size_t i;

	if (json_is_false(json_object_get(code, "pages"))) {
		printf("This zonegated was built without the pages for a browser (make deps && make builds them in).\n"
		       "The first admin: zonegate setup --user NAME\n");
		return;
	}
	if (json_array_size(urls) == 0)
		printf("The daemon listens for no browser: set [api] listen (a browser on this host) or "
		       "tls_listen, and start it again.\n");
	else
		printf("Within %" JSON_INTEGER_FORMAT
		       " minute%s open in a browser, and type the code:\n",
		       minutes, TEXT_S(minutes));
	json_array_foreach (urls, i, url)
		printf("  %s\n", cli_escape_string(url));
	printf("Code:         %s\n", cli_print_text(code, "code"));
	if (*cli_access_fingerprint(system))
		printf("Certificate:  SHA-256 %s\n", cli_access_fingerprint(system));
}

static enum cli_exit cli_access_make_code(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0}, system = {0};

	cli_access_send(cli, "POST", CLI_BASE "/auth/setup", NULL, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
		return EXIT_OK;
	}
	cli_client_get(cli->client, CLI_BASE "/system", &system);
	cli_access_print_setup(a.json, system.json);
	return EXIT_OK;
}

enum cli_exit cli_access_setup(struct cli *cli)
{
	const char *user = cli->options.user;
	AUTO_ANSWER struct cli_answer a = {0};
	AUTO_FREE char *path = NULL;
	char *password;

	if (!user)
		return cli_access_make_code(cli);
	password = cli_password_read(cli, user);
	if (!password)
		return EXIT_USAGE;
	path = cli_access_user_path(user);
	cli_access_send(cli, "PUT", path,
			json_pack("{s:s, s:s}", "role", "admin", "password", password), &a);
	cli_password_free(password);
	return cli_access_tell(cli, &a, "is admin and can sign in", user);
}

enum cli_exit cli_access_whoami(struct cli *cli)
{
	AUTO_ANSWER struct cli_answer a = {0};
	const char *expires;

	cli_client_get(cli->client, CLI_BASE "/auth/session", &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	if (cli->options.format == FORMAT_JSON) {
		cli_print_json(a.json);
		return EXIT_OK;
	}
	expires = cli_print_text(a.json, "expires_at");
	printf("%s, %s, by %s over %s%s%.19s\n", cli_print_text(a.json, "who"),
	       cli_print_text(a.json, "role"), cli_print_text(a.json, "authenticated_by"),
	       cli_print_text(a.json, "via"), *expires ? ", until " : "", expires);
	return EXIT_OK;
}

/* ---- users ---- */

static void cli_access_add_user(struct cli_table *t, const json_t *user)
{
	AUTO_FREE char *login = mem_printf("%.19s", cli_print_text(user, "last_login_at"));
	AUTO_FREE char *sessions = mem_printf("%" JSON_INTEGER_FORMAT,
					      cli_print_number(user, "sessions"));

	cli_table_add(t,
		      (const char *[]){cli_print_text(user, "name"), cli_print_text(user, "role"),
				       *login ? login : "never", sessions});
}

/* One user, or the items of a list. */
static void cli_access_print_users(const json_t *users)
{
	static const char *const heads[] = {"NAME", "ROLE", "LAST LOGIN (UTC)", ">SESSIONS", NULL};
	struct cli_table *t = cli_table_new(heads);
	const json_t *user;
	size_t i;

	json_array_foreach (users, i, user)
		cli_access_add_user(t, user);
	if (json_is_object(users))
		cli_access_add_user(t, users);
	cli_print_table_or(t, "No users yet: zonegate setup");
}

static enum cli_exit cli_access_show(struct cli *cli, const char *path)
{
	AUTO_ANSWER struct cli_answer a = {0};
	const json_t *items;

	cli_client_get(cli->client, path, &a);
	if (cli_client_judge(a.status) != EXIT_OK)
		return cli_print_problem(&a);
	items = json_object_get(a.json, "items");
	if (cli->options.format == FORMAT_JSON)
		cli_print_json(items ? items : a.json);
	else
		cli_access_print_users(items ? items : a.json);
	return EXIT_OK;
}

enum cli_exit cli_access_list_users(struct cli *cli)
{
	return cli_access_show(cli, CLI_BASE "/users?limit=1000");
}

enum cli_exit cli_access_show_user(struct cli *cli)
{
	AUTO_FREE char *path = cli_access_user_path(cli->args[0]);

	return cli_access_show(cli, path);
}

/* Whether there is such a user; anything but yes or no is `ret_exit` (said). */
static bool cli_access_has_user(struct cli *cli, const char *path, enum cli_exit *ret_exit)
{
	AUTO_ANSWER struct cli_answer a = {0};

	cli_client_get(cli->client, path, &a);
	if (a.status == 404)
		return false;
	*ret_exit = cli_client_judge(a.status);
	if (*ret_exit != EXIT_OK)
		cli_print_problem(&a);
	return true;
}

/* Before a password is asked for. */
static bool cli_access_is_role(const char *role)
{
	const char *nearest;
	size_t count = 0;

	if (!role)
		return true;
	for (; cli_complete_roles[count]; count++)
		if (strcmp(role, cli_complete_roles[count]) == 0)
			return true;
	nearest = nearest_find(role, cli_complete_roles, count);
	fprintf(stderr,
		"zonegate: --role \"%s\": metrics, viewer, operator, editor or admin is expected%s%s%s\n",
		role, nearest ? "; do you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	return false;
}

/* A new one needs a password, one that is there keeps his. */
enum cli_exit cli_access_set_user(struct cli *cli)
{
	AUTO_FREE char *path = cli_access_user_path(cli->args[0]);
	AUTO_ANSWER struct cli_answer a = {0};
	enum cli_exit exit = EXIT_OK;
	json_t *body = json_object();
	char *password;

	if (!cli_access_is_role(cli->options.role)) {
		json_decref(body);
		return EXIT_USAGE;
	}
	bool there = cli_access_has_user(cli, path, &exit);
	if (exit != EXIT_OK) {
		json_decref(body);
		return exit;
	}
	if (cli->options.role)
		json_object_set_new(body, "role", json_string(cli->options.role));
	if (!there || cli->options.password_file) {
		password = cli_password_read(cli, cli->args[0]);
		if (!password) {
			json_decref(body);
			return EXIT_USAGE;
		}
		json_object_set_new(body, "password", json_string(password));
		cli_password_free(password);
	}
	cli_access_change(cli, there ? "PATCH" : "PUT", path, body, &a);
	return cli_access_tell(cli, &a, there ? "is changed" : "is made", cli->args[0]);
}

enum cli_exit cli_access_delete_user(struct cli *cli)
{
	AUTO_FREE char *path = cli_access_user_path(cli->args[0]);
	AUTO_ANSWER struct cli_answer a = {0};

	cli_access_change(cli, "DELETE", path, NULL, &a);
	return cli_access_tell(cli, &a, "is removed", cli->args[0]);
}

enum cli_exit cli_access_set_password(struct cli *cli)
{
	AUTO_FREE char *path = cli_access_user_path(cli->args[0]);
	AUTO_ANSWER struct cli_answer a = {0};
	char *password = cli_password_read(cli, cli->args[0]);

	if (!password)
		return EXIT_USAGE;
	cli_access_change(cli, "PATCH", path, json_pack("{s:s}", "password", password), &a);
	cli_password_free(password);
	return cli_access_tell(cli, &a, "has a new password; his sessions have ended",
			       cli->args[0]);
}
