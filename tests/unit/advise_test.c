// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences for what the kernel refuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "kernel/kernel.h"

static void test_expect(const struct plan_op *op, const char *part)
{
	char text[512];

	kernel_advise(op, text, sizeof(text));
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in \"%s\"", part, text);
	assert_null(strchr(text, '@'));
}

static void test_sentences(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE, .result = -ENOENT};

	(void)unused;
	op.service.key = (struct plan_key){AF_INET, IPPROTO_TCP, 80, 0, {AF_INET, {192, 0, 2, 1}}};
	op.dest = (struct plan_dest){.address = {AF_INET, {10, 0, 0, 1}}, .port = 8080};
	strcpy(op.service.scheduler, "mh");
	test_expect(&op, "Linux has no scheduler \"mh\": modprobe ip_vs_mh");
	strcpy(op.service.scheduler, "wrrr");
	test_expect(&op, "Linux has no scheduler \"wrrr\"; did you mean \"wrr\"?");
	strcpy(op.service.scheduler, "mh");
	strcpy(op.service.engine, "sip");
	test_expect(&op, "modprobe ip_vs_mh ip_vs_pe_sip");
	op.kind = PLAN_EDIT_DEST;
	test_expect(&op, "10.0.0.1:8080 is gone from tcp 192.0.2.1:80");
	op.result = -ESRCH;
	test_expect(&op, "the virtual service tcp 192.0.2.1:80 is not in the kernel");
	op.result = -EINVAL;
	test_expect(&op, "ip link set lo up");
	op.result = -EPERM;
	test_expect(&op, "CAP_NET_ADMIN");
	op = (struct plan_op){.kind = PLAN_SET_SYSCTL, .sysctl = "conntrack", .value = 1};
	op.result = -EROFS;
	test_expect(&op, "net.ipv4.vs.conntrack = 1");
	op = (struct plan_op){.kind = PLAN_SET_SYSCTL, .sysctl = "net.ipv4.ip_forward", .value = 1};
	op.result = -EACCES;
	test_expect(&op, "net.ipv4.ip_forward needs CAP_NET_ADMIN");
	op = (struct plan_op){.kind = PLAN_ADD_ADDRESS, .address = {AF_INET, {192, 0, 2, 1}}};
	op.result = -EEXIST;
	test_expect(&op, "192.0.2.1 is on the VIP device already");
	op.result = -ETIMEDOUT;
	test_expect(&op, "outcome is not known");
}

static void test_guard(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_SET, .result = -EEXIST};

	(void)unused;
	op.entry.set = (struct ruleset_id){.kind = RULESET_DROP, .family = RULESET_V6};
	test_expect(&op, "ipset destroy zg6-drop");
	op.result = -EINVAL;
	test_expect(&op, "modprobe ip_set");
	op.result = -4098; /* IPSET_ERR_FIND_TYPE */
	test_expect(&op, "modprobe ip_set_hash_ip");
	op.kind = PLAN_SET_RULES;
	op.result = -ENOENT;
	test_expect(&op, "there is no program ip6tables");
	op.result = -EACCES;
	test_expect(&op, "systemd-tmpfiles --create zonegate.conf");
	op.result = -EOPNOTSUPP;
	test_expect(&op, "modprobe ip6_tables");
	op.result = -ETIMEDOUT;
	test_expect(&op, "within 10 s and was stopped");
	op.result = -EBUSY;
	test_expect(&op, "another program held the lock of ip6tables for more than 1 s");
}

/* Whatever the errno, there is a sentence; for success there is none. */
static void test_every_error(void **unused)
{
	struct plan_op op = {.sysctl = "conntrack"};
	char text[512];

	(void)unused;
	for (int kind = 0; kind < PLAN_OP_KIND_COUNT; kind++) {
		if (plan_op_is_ruleset((enum plan_op_kind)kind))
			op = (struct plan_op){
				.entry.set = {.kind = RULESET_FTP, .family = RULESET_V6}};
		op.kind = (enum plan_op_kind)kind;
		for (op.result = -133; op.result < 0; op.result++)
			assert_true(strlen(kernel_advise(&op, text, sizeof(text))) > 10);
		op.result = 0;
		assert_string_equal(kernel_advise(&op, text, sizeof(text)), "");
	}
	op = (struct plan_op){.kind = PLAN_ADD_SERVICE, .result = -EXDEV};
	assert_string_equal(kernel_advise(&op, text, sizeof(text)),
			    "the kernel refused: Invalid cross-device link");
}

static void test_short_buffer(void **unused)
{
	struct plan_op op = {.kind = PLAN_ADD_SERVICE, .result = -ENOENT};
	char text[8] = "xxxxxxx";

	(void)unused;
	assert_string_equal(kernel_advise(&op, text, 6), "Linux");
	assert_int_equal(text[6], 'x');
}

static void words_of_programs_follow(void **unused)
{
	struct plan_op op = {.kind = PLAN_SET_RULES, .result = -EBUSY, .words = "it\nis held\n"};
	char text[400];

	(void)unused;
	kernel_advise(&op, text, sizeof(text));
	assert_string_equal(strstr(text, "; in its"), "; in its own words: it is held");
	op.result = -ENOENT;
	assert_null(strstr(kernel_advise(&op, text, sizeof(text)), "words"));
	op.result = 0;
	assert_string_equal(kernel_advise(&op, text, sizeof(text)), "");
	op = (struct plan_op){.kind = PLAN_ADD_SERVICE, .result = -EINVAL};
	assert_null(strstr(kernel_advise(&op, text, sizeof(text)), "words"));
}

static void test_device(void **unused)
{
	char text[400];

	(void)unused;
	assert_non_null(strstr(kernel_advise_device("eth9", -ENODEV, text, sizeof(text)), "eth9"));
	assert_non_null(strstr(text, "vip_device"));
	assert_non_null(
		strstr(kernel_advise_device("eth9", -EPERM, text, sizeof(text)), "CAP_NET_ADMIN"));
	assert_true(kernel_owns_device("zonegate7"));
	assert_false(kernel_owns_device("eth0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),           cmocka_unit_test(test_guard),
		cmocka_unit_test(test_every_error),         cmocka_unit_test(test_device),
		cmocka_unit_test(words_of_programs_follow), cmocka_unit_test(test_short_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
