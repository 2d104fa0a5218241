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

/* Anybody on a link can answer for a VIP, from as many addresses as he likes. */
static void of_many_who_answer_some_are_told(void **state)
{
	struct doctor_report r;
	struct host h;
	size_t told = 0;

	(void)state;
	host_open(&h, "{}");
	h.facts.neighbour_count = 4000;
	h.facts.neighbours = mem_alloc_array(h.facts.neighbour_count, sizeof(*h.facts.neighbours));
	for (size_t i = 0; i < h.facts.neighbour_count; i++) {
		struct doctor_neighbour *n = &h.facts.neighbours[i];

		*n = (struct doctor_neighbour){.address = {AF_INET, {192, 0, 2, 1}}, .link = 3};
		snprintf(n->mac, sizeof(n->mac), "02:00:00:00:%02x:%02x", (unsigned)(i >> 8),
			 (unsigned)(i & 255));
	}
	doctor_judge(&h.node, &h.facts, &r);
	for (size_t i = 0; i < r.findings.count; i++) {
		const struct doctor_finding *f = r.findings.items[i];

		if (strcmp(f->code, "vip_answered_elsewhere") != 0)
			continue;
		told++;
		assert_true((told == 10) == (strstr(f->what, "; and so do 3990 more") != NULL));
	}
	assert_int_equal(told, 10);
	doctor_report_clear(&r);
	host_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_fact),
		cmocka_unit_test(kube_proxy_is_told_once),
		cmocka_unit_test(of_many_who_answer_some_are_told),
		cmocka_unit_test(firewalld_does_no_harm_to_direct_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
