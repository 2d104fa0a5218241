// SPDX-License-Identifier: GPL-2.0-or-later
// Programs beside; machines that answer for a VIP are in doctor_test.c.
#include "doctor_fixture.h"

static void kube_device(struct host *h)
{
	add_link(h, 9, "kube-ipvs0");
}
SPOIL(kube_process, add_name(&h->facts.processes, "kube-proxy"))
SPOIL(firewalld, add_name(&h->facts.processes, "firewalld"))
SPOIL(another, h->facts.other_daemon = 77)

#define BESIDE "info kube_proxy_beside kube-proxy: kubectl "

static const struct doctor_want cases[] = {
	{"{}", kube_device, "warning kube_proxy kube-ipvs0: kubectl "},
	{"{}", kube_process, BESIDE},
	{"{}", firewalld,
	 "info firewalld_beside firewalld: firewall-cmd --permanent --zone=trusted --change-interface=back0 && "},
	{"{}", another, "error second_daemon zonegated: kill 77  # or"},
};

static void each_has_its_fact(void **state)
{
	(void)state;
	host_expect(cases, sizeof(cases) / sizeof(cases[0]), NULL);
}

static void kube_proxy_is_told_once(void **state)
{
	struct host h;

	(void)state;
	host_open(&h, "{}");
	kube_process(&h);
	kube_device(&h);
	AUTO_FREE char *text = host_judge(&h);
	assert_non_null(strstr(text, "kube_proxy kube-ipvs0"));
	assert_null(strstr(text, "kube_proxy_beside"));
	assert_null(strstr(text, "rival_process"));
	host_close(&h);
}

/* It forwards nothing where servers answer by themselves. */
static void firewalld_does_no_harm_to_direct_servers(void **state)
{
	struct host h;

	(void)state;
	host_open(&h,
		  "{'server_groups':{'web':{'forward_method':'direct','servers':{'w1':{'port':80},"
		  "'w2':{'port':80}}}}}");
	firewalld(&h);
	AUTO_FREE char *text = host_judge(&h);
	assert_null(strstr(text, "firewalld"));
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_fact),
		cmocka_unit_test(kube_proxy_is_told_once),
		cmocka_unit_test(firewalld_does_no_harm_to_direct_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
