// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access_fixture.h"
#include "api/conns.h"
#include "api/context.h"
#include "api/head.h"
#include "api/request.h"

#define TOKEN "a-token-of-the-tests-0123456789"

static struct api_context context;

static struct request *determine(const struct identity_rules *rules, const struct conn *conn,
				 const char *host, const char *authorization)
{
	struct request *r = request_new(&context, "/livez");
	struct head h = {.version = "HTTP/1.1"};

	r->trust = conn->trust;
	if (host)
		head_add(&h, "Host", host);
	if (authorization)
		head_add(&h, "Authorization", authorization);
	identity_determine(rules, conn, &h, r);
	return r;
}

static void assert_identity(struct request *r, enum role role, const char *who)
{
	assert_false(r->replied);
	assert_int_equal(r->role, role);
	assert_string_equal(r->who, who);
	request_free(r);
}

/* The kernel's word, whatever the head says. */
static void identity_is_the_peer_on_a_unix_socket(void **state)
{
	const struct identity_rules rules = {0};
	struct conn conn = {.trust = FRONT_UNIX, .uid = 0};

	(void)state;
	assert_identity(determine(&rules, &conn, "evil.example", NULL), ROLE_ADMIN, "root");
	conn.uid = 54321;
	assert_identity(determine(&rules, &conn, "localhost", "Bearer " TOKEN), ROLE_NOBODY,
			"uid 54321");
}

static void identity_is_the_token_on_loopback(void **state)
{
	static const char *const hosts[] = {"gate.example"};
	AUTO_ERR struct err e = {0};
	struct identity_rules rules = {.hosts = hosts, .host_count = 1};
	const struct conn conn = {.trust = FRONT_LOOPBACK};
	char path[] = "/tmp/zonegate-identity-XXXXXX";
	int fd = mkstemp(path);
	struct request *r;

	(void)state;
	assert_true(write(fd, TOKEN "\n", strlen(TOKEN) + 1) > 0);
	assert_int_equal(fchmod(fd, 0600), 0);
	close(fd);
	assert_identity(determine(&rules, &conn, "localhost", "Bearer " TOKEN), ROLE_NOBODY,
			"nobody"); /* no token is set */
	assert_int_equal(auth_token_new(path, &e, &rules.token), 0);
	assert_identity(determine(&rules, &conn, "localhost:7480", "Bearer " TOKEN), ROLE_ADMIN,
			"token");
	assert_identity(determine(&rules, &conn, "gate.example", "Bearer x" TOKEN), ROLE_NOBODY,
			"nobody");
	assert_identity(determine(&rules, &conn, "localhost", NULL), ROLE_NOBODY, "nobody");
	r = determine(&rules, &conn, "evil.example", "Bearer " TOKEN);
	assert_int_equal(r->status, 421);
	assert_int_equal(r->role, ROLE_NOBODY);
	request_free(r);
	r = determine(&rules, &conn, NULL, "Bearer " TOKEN);
	assert_int_equal(r->status, 421);
	request_free(r);
	auth_token_free(rules.token);
	unlink(path);
}

/* Over TLS the node is also asked for by its name and by the address that was connected to; by no other. */
static void identity_knows_the_node_over_tls(void **state)
{
	const struct identity_rules rules = {.node_name = "gw-1"};
	struct conn conn = {.trust = FRONT_TLS};
	struct request *r;

	(void)state;
	assert_int_equal(addr_parse("192.0.2.7", &conn.local), 0);
	assert_identity(determine(&rules, &conn, "gw-1:7443", NULL), ROLE_NOBODY, "nobody");
	assert_identity(determine(&rules, &conn, "192.0.2.7:7443", NULL), ROLE_NOBODY, "nobody");
	assert_identity(determine(&rules, &conn, "localhost", NULL), ROLE_NOBODY, "nobody");
	r = determine(&rules, &conn, "192.0.2.8", NULL);
	assert_int_equal(r->status, 421);
	request_free(r);
	assert_int_equal(addr_parse("2001:db8::7", &conn.local), 0);
	assert_identity(determine(&rules, &conn, "[2001:db8::7]:7443", NULL), ROLE_NOBODY,
			"nobody");
	conn.trust = FRONT_LOOPBACK;
	r = determine(&rules, &conn, "gw-1", NULL);
	assert_int_equal(r->status, 421);
	request_free(r);
}

static struct request *use(const struct identity_rules *rules, enum request_method method,
			   const char *name, const char *value, const char *site)
{
	const struct conn conn = {.trust = FRONT_TLS};
	struct request *r = request_new(&context, "/livez");
	struct head h = {.version = "HTTP/1.1"};

	r->trust = conn.trust;
	r->method = method;
	r->source = world_addr("192.0.2.1");
	head_add(&h, "Host", "localhost");
	head_add(&h, name, value);
	if (site)
		head_add(&h, "Sec-Fetch-Site", site);
	identity_determine(rules, &conn, &h, r);
	return r;
}

static void identity_is_the_token_or_the_session(void **state)
{
	struct world *w = *state;
	const struct identity_rules rules = {.access = w->access};
	char bearer[ACCESS_TOKEN_TEXT_MAX + 8], cookie[128];
	struct request *r;

	world_put(w, "alice", ROLE_EDITOR, GOOD);
	world_login(w, "alice", GOOD, "192.0.2.1");
	snprintf(cookie, sizeof(cookie), "__Host-zonegate=%s", w->secret);
	world_wish(w, &(struct access_wish){
			      .verb = ACCESS_ADD_TOKEN, .name = "ci", .role = ROLE_VIEWER});
	snprintf(bearer, sizeof(bearer), "Bearer %s", w->secret);
	r = use(&rules, METHOD_PUT, "Authorization", bearer, NULL);
	assert_int_equal(r->way, ACCESS_BY_TOKEN);
	assert_string_equal(r->token, w->id);
	assert_identity(r, ROLE_VIEWER, "token:ci");
	r = use(&rules, METHOD_GET, "Cookie", cookie, NULL);
	assert_int_equal(r->way, ACCESS_BY_SESSION);
	assert_int_equal(strlen(r->session), ACCESS_ID_MAX - 1);
	assert_identity(r, ROLE_EDITOR, "alice");
	assert_identity(use(&rules, METHOD_PUT, "Cookie", cookie, "same-origin"), ROLE_EDITOR,
			"alice");
	r = use(&rules, METHOD_PUT, "Cookie", cookie, NULL);
	assert_int_equal(r->status, 403);
	assert_int_equal(r->role, ROLE_NOBODY);
	request_free(r);
}

/* The answer gives the new secret of a session when its time has come. */
static void identity_hands_out_new_secrets(void **state)
{
	struct world *w = *state;
	const struct identity_rules rules = {.access = w->access};
	char cookie[128];
	struct request *r;

	world_put(w, "alice", ROLE_EDITOR, GOOD);
	world_login(w, "alice", GOOD, "192.0.2.1");
	snprintf(cookie, sizeof(cookie), "__Host-zonegate=%s", w->secret);
	world_pass(w, ACCESS_SESSION_ROTATE);
	request_free(use(&rules, METHOD_GET, "Cookie", cookie, NULL));
	r = use(&rules, METHOD_GET, "Cookie", cookie, NULL);
	assert_int_equal(r->header_count, 1);
	assert_string_equal(r->headers[0].name, "Set-Cookie");
	assert_memory_equal(r->headers[0].value, "__Host-zonegate=", 16);
	assert_memory_not_equal(r->headers[0].value, cookie, strlen(cookie));
	request_free(r);
}

/* Nobody gets the new secret by a request that is refused for its page: the one that the browser has must stay good. */
static void identity_rotates_nothing_for_foreign_pages(void **state)
{
	struct world *w = *state;
	const struct identity_rules rules = {.access = w->access};
	char cookie[128];
	struct request *r;

	world_put(w, "alice", ROLE_EDITOR, GOOD);
	world_login(w, "alice", GOOD, "192.0.2.1");
	snprintf(cookie, sizeof(cookie), "__Host-zonegate=%s", w->secret);
	world_pass(w, ACCESS_SESSION_ROTATE);
	request_free(use(&rules, METHOD_GET, "Cookie", cookie, NULL));
	r = use(&rules, METHOD_POST, "Cookie", cookie, "same-site");
	assert_int_equal(r->status, 403);
	assert_int_equal(r->header_count, 0);
	request_free(r);
	world_pass(w, 2 * ACCESS_SESSION_FORMER);
	r = use(&rules, METHOD_POST, "Cookie", "__Host-zonegate=none", "same-site");
	assert_false(r->replied); /* of no session: nobody asks */
	request_free(r);
	r = use(&rules, METHOD_GET, "Cookie", cookie, NULL);
	assert_int_equal(r->header_count, 1);
	assert_identity(r, ROLE_EDITOR, "alice");
}

static void identity_tells_how_long_guesses_wait(void **state)
{
	struct world *w = *state;
	const struct identity_rules rules = {.access = w->access};
	struct request *r;

	for (unsigned i = 0; i < 10; i++) {
		r = use(&rules, METHOD_GET, "Authorization", "Bearer zg_guess", NULL);
		assert_int_equal(r->wait, 0);
		request_free(r);
	}
	r = use(&rules, METHOD_GET, "Authorization", "Bearer zg_guess", NULL);
	assert_int_equal(r->wait, MINUTE);
	request_free(r);
}

int main(void)
{
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity_is_the_peer_on_a_unix_socket),
		cmocka_unit_test(identity_is_the_token_on_loopback),
		IN_A_WORLD(identity_is_the_token_or_the_session),
		IN_A_WORLD(identity_hands_out_new_secrets),
		IN_A_WORLD(identity_rotates_nothing_for_foreign_pages),
		IN_A_WORLD(identity_tells_how_long_guesses_wait),
		cmocka_unit_test(identity_knows_the_node_over_tls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
