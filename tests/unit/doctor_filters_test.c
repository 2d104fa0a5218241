// SPDX-License-Identifier: GPL-2.0-or-later
// Which backend is told; faults of sets and rules are in doctor_test.c.
#include "doctor_fixture.h"

static void legacy_works(struct host *h)
{
	strcpy(h->node.backends[RULESET_V4], "iptables-legacy");
}

static void legacy_works_for_v6(struct host *h)
{
	strcpy(h->node.backends[RULESET_V6], "ip6tables-legacy");
}

static void nft_works(struct host *h)
{
	strcpy(h->node.backends[RULESET_V4], "iptables-nft");
}

#define OTHER                                                                 \
	"info iptables_command iptables: update-alternatives --set iptables " \
	"/usr/sbin/iptables-legacy && update-alternatives --set ip6tables /usr/sbin/ip6tables-legacy\n"

static const struct doctor_want cases[] = {
	{"{}", NULL, "info iptables_backend : iptables-nft -S\n"},
	{"{}", legacy_works, "info iptables_backend : iptables-legacy -S ZONEGATE\n"},
	{"{}", legacy_works, OTHER},
	{"{}", legacy_works_for_v6, OTHER},
	{"{}", nft_works, "info iptables_backend : iptables-nft -S ZONEGATE\n"},
};

static void the_backend_is_the_one_that_works(void **state)
{
	(void)state;
	host_expect(cases, sizeof(cases) / sizeof(cases[0]), NULL);
}

/* A command of the same backend shows what there is. */
static void a_command_that_shows_the_rules_is_let_be(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	nft_works(&h);
	AUTO_FREE char *text = host_judge(&h);
	assert_null(strstr(text, "iptables_command"));
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_backend_is_the_one_that_works),
		cmocka_unit_test(a_command_that_shows_the_rules_is_let_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
