// SPDX-License-Identifier: GPL-2.0-or-later
// Which lines of listings are somebody else's that name a set of ours.
#include "kernel/holders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fake_child.h"

static void rules_and_sets_of_others(void **state)
{
	struct holders *h = holders_new(NULL);

	(void)state;
	assert_string_equal(fake_child.command, "iptables-legacy-save");
	fake_child_end(
		0,
		"# Generated\n*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n*filter\n:FORWARD ACCEPT [0:0]\n"
		"-A INPUT -j ZONEGATE\n-A FORWARD -m set --match-set zg4-drop dst -j DROP\n"
		"-A FORWARD -m set --match-set zg4-theirs dst -j DROP\n"
		"-A ZONEGATE -m set --match-set zg4-open dst,dst -j RETURN\nCOMMIT\n");
	assert_string_equal(fake_child.command, "ip6tables-legacy-save");
	fake_child_end(1, "-A FORWARD -m set --match-set zg6-drop dst -j DROP\n"); /* it failed */
	fake_child_end(-1, "");
	fake_child_end(0, "");
	assert_string_equal(fake_child.command, "ipset save");
	assert_false(holders_done(h));
	fake_child_end(0, "create all list:set size 8\nadd all zg6-1f\nadd zg4-1f 10.0.0.0/8\n");
	assert_true(holders_done(h));
	assert_string_equal(
		holders_text(h),
		"zg4-drop: iptables-legacy -t filter -A FORWARD -m set --match-set zg4-drop dst -j DROP; "
		"zg6-1f: the set all");
	holders_free(h);
}

static void nobody_and_too_many(void **state)
{
	struct holders *h;

	(void)state;
	memset(&fake_child, 0, sizeof(fake_child));
	fake_child.missing = "ip";
	h = holders_new(NULL);
	assert_true(holders_done(h));
	assert_string_equal(holders_text(h), "");
	holders_free(h);
	holders_free(NULL);
	memset(&fake_child, 0, sizeof(fake_child));
	fake_child.missing = "*tables-legacy-save";
	h = holders_new(NULL);
	assert_string_equal(fake_child.command, "iptables-nft-save");
	fake_child_end(
		0,
		"*filter\n-A X -m set --match-set zg4-drop src\n-A X -m set --match-set zg4-drop src\n"
		"-A X -m set --match-set zg4-drop src\n-A X -m set --match-set zg4-drop src\n"
		"-A X -m set --match-set zg4-drop src\n-A Y -m set --match-set zg4-drop src\n");
	fake_child_end(0, "");
	fake_child_end(0, "");
	assert_true(holders_done(h));
	assert_null(strstr(holders_text(h), "-A Y"));
	holders_free(h);
	memset(&fake_child, 0, sizeof(fake_child));
	h = holders_new(NULL);
	holders_free(h); /* in the middle */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_and_sets_of_others),
		cmocka_unit_test(nobody_and_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
