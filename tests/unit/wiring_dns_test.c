// SPDX-License-Identifier: GPL-2.0-or-later
#include "wiring_dns.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "dns/view_builder.h"
#include "dnsio/dnsd.h"
#include "engine/engine.h"
#include "engine/status.h"
#include "wiring_fixture.h"

static void assert_taken(const char *text)
{
	wiring_assert_taken(wiring_dns_check, text);
}

static void assert_fault(const char *text, const char *place, const char *part)
{
	wiring_assert_fault(wiring_dns_check, text, place, part);
}

static void addresses_with_and_without_a_port(void **state)
{
	(void)state;
	assert_taken("");
	assert_taken("[dns]\nlisten = 192.0.2.53, 192.0.2.53:5353, 2001:db8::53, [2001:db8::1], "
		     "[2001:db8::53]:5353, 0.0.0.0:54, ::\n");
	assert_fault("[dns]\nlisten = ns1.example.net\n", "[dns] listen", "ADDRESS:PORT");
	assert_fault("[dns]\nlisten = 192.0.2.53:\n", "[dns] listen", "\"192.0.2.53:\"");
	assert_fault("[dns]\nlisten = 192.0.2.53:0\n", "[dns] listen", "ADDRESS:PORT");
	assert_fault("[dns]\nlisten = 192.0.2.53:65536\n", "[dns] listen", "ADDRESS:PORT");
	assert_fault("[dns]\nlisten = 192.0.2.53:53x\n", "[dns] listen", "ADDRESS:PORT");
	assert_fault("[dns]\nlisten = [2001:db8::53\n", "[dns] listen", "ADDRESS:PORT");
	assert_fault("[dns]\nlisten = [2001:db8::53]53\n", "[dns] listen", "ADDRESS:PORT");
	assert_fault("[dns]\nlisten = 192.0.2.53, 192.0.2.53:53\n", "[dns] listen", "twice");
}

static void lists_have_their_ends(void **state)
{
	char text[4096] = "[dns]\n";

	(void)state;
	for (int i = 0; i <= DNSD_LISTEN_MAX; i++)
		sprintf(text + strlen(text), "listen = 192.0.2.%d\n", i + 1);
	assert_fault(text, "[dns] listen", "at most 16");
	strcpy(text, "[dns]\n");
	for (int i = 0; i <= 16; i++)
		sprintf(text + strlen(text), "apex = l%d.example.net\n", i);
	assert_fault(text, "[dns] apex", "at most 16");
	strcpy(text, "[dns]\n");
	for (int i = 0; i <= 13; i++)
		sprintf(text + strlen(text), "ns = ns%d.example.net\n", i);
	assert_fault(text, "[dns] ns", "at most 13");
}

static void names_are_names(void **state)
{
	(void)state;
	assert_taken("[dns]\napex = lb.example.net, lb.example.org.\nns = ns1.example.net\n"
		     "hostmaster = admin@example.net\nnsid = gateway-1\n");
	assert_taken("[dns]\nhostmaster = admin.example.net\n");
	assert_fault("[dns]\napex = lb..example.net\n", "[dns] apex", "no domain name");
	assert_fault("[dns]\napex = lb.example.net, LB.example.net.\n", "[dns] apex", "twice");
	assert_fault("[dns]\nns = .ns1\n", "[dns] ns", "no domain name");
	assert_fault("[dns]\nns = ns1.example.net, NS1.example.net=192.0.2.1\n", "[dns] ns",
		     "twice");
	assert_fault("[dns]\nhostmaster = @example.net\n", "[dns] hostmaster", "mailbox");
	assert_fault("[dns]\nhostmaster = admin@\n", "[dns] hostmaster", "mailbox");
}

static void name_servers_with_addresses(void **state)
{
	struct engine_name_server ns;
	struct addr a;
	char text[512];

	(void)state;
	assert_taken("[dns]\nns = ns1.lb.example.net=192.0.2.53=2001:db8::53, ns2.example.org\n");
	assert_fault("[dns]\nns = ns1.example.net=\n", "[dns] ns", "NAME=ADDRESS");
	assert_fault("[dns]\nns = ns1.example.net=192.0.2.256\n", "[dns] ns", "192.0.2.256");
	assert_fault("[dns]\nns = ns1.example.net=10.0.0.1=10.0.0.1\n", "[dns] ns", "different");
	assert_fault("[dns]\nns = =10.0.0.1\n", "[dns] ns", "no domain name");
	assert_int_equal(wiring_dns_parse_ns("ns1.example.net=192.0.2.53=2001:db8::53", &ns), 0);
	assert_string_equal(ns.name, "ns1.example.net");
	assert_int_equal(ns.address_count, 2);
	assert_int_equal(addr_parse("2001:db8::53", &a), 0);
	assert_int_equal(addr_compare(&ns.addresses[1], &a), 0);
	assert_int_equal(wiring_dns_parse_ns("ns2", &ns), 0);
	assert_int_equal(ns.address_count, 0);
	strcpy(text, "ns");
	for (int i = 0; i < ENGINE_NS_ADDRESSES_MAX; i++)
		sprintf(text + strlen(text), "=10.0.0.%d", i);
	assert_int_equal(wiring_dns_parse_ns(text, &ns), 0);
	strcat(text, "=10.0.0.9");
	assert_int_not_equal(wiring_dns_parse_ns(text, &ns), 0);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_not_equal(wiring_dns_parse_ns(text, &ns), 0);
}

static void limits_and_identity(void **state)
{
	char text[256];

	(void)state;
	assert_taken("[dns]\nrrl = 0\nrrl_exempt = 10.0.0.0/8, 2001:db8::/32\n");
	assert_fault("[dns]\nrrl_exempt = 10.0.0.0/33\n", "[dns] rrl_exempt", "10.0.0.0/33");
	snprintf(text, sizeof(text), "[dns]\nnsid = %0*d\n", ANSWER_NSID_MAX, 7);
	assert_taken(text);
	snprintf(text, sizeof(text), "[dns]\nnsid = %0*d\n", ANSWER_NSID_MAX + 1, 7);
	assert_fault(text, "[dns] nsid", "longer");
}

static struct view *empty_view(void)
{
	struct view_builder *b = view_builder_new(1, NULL);
	struct view *v = NULL;

	view_builder_add_apex(b, "lb.example.net");
	view_builder_finish(b, &v);
	return v;
}

static uint16_t free_port(void)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &size), 0);
	close(fd);
	return ntohs(sa.sin_port);
}

/* The server listens at the port that was asked for, and at none without `listen`. */
static void the_server_is_started(void **state)
{
	AUTO_SETTINGS struct settings s;
	AUTO_ERR struct err e = {0};
	struct view *v = empty_view();
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	uint16_t port = free_port();
	struct dnsd *d = NULL;
	struct dns_status status;
	char text[128];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	wiring_load(&s, "");
	assert_int_equal(wiring_dns_start(&s, v, &e, &d), 0);
	assert_null(d);
	settings_clear(&s);

	snprintf(text, sizeof(text), "[dns]\nlisten = 127.0.0.1:%u\n", port);
	wiring_load(&s, text);
	assert_int_equal(wiring_dns_start(&s, v, &e, &d), 0);
	assert_non_null(d);
	sa.sin_port = htons(port);
	assert_int_equal(connect(fd, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	close(fd);
	wiring_dns_read(NULL, &status);
	assert_false(status.served);
	wiring_dns_read(d, &status);
	assert_true(status.served);
	assert_int_equal(status.query_count, DNSD_QTYPE_COUNT * 6 * DNSD_TRANSPORT_COUNT);
	assert_string_equal(status.queries[0].rcode, "NOERROR");
	assert_int_equal(status.queries[0].value, 0); /* nobody asked yet */
	assert_int_equal(status.latency_count, DNSD_LATENCY_COUNT);
	dnsd_free(d);
	settings_clear(&s);

	wiring_load(&s, "[dns]\nlisten = nowhere\n");
	assert_int_not_equal(wiring_dns_start(&s, v, &e, &d), 0);
	assert_null(d);
	assert_string_equal(e.faults[0].pointer, "[dns] listen");
	view_unref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_with_and_without_a_port),
		cmocka_unit_test(lists_have_their_ends),
		cmocka_unit_test(names_are_names),
		cmocka_unit_test(name_servers_with_addresses),
		cmocka_unit_test(limits_and_identity),
		cmocka_unit_test(the_server_is_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
