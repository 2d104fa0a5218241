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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity_is_the_peer_on_a_unix_socket),
		cmocka_unit_test(identity_is_the_token_on_loopback),
		cmocka_unit_test(identity_knows_the_node_over_tls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
