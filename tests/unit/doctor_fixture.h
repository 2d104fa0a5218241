/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gateway on which nothing is wrong, and what the doctor says of it. */
#ifndef ZG_TEST_DOCTOR_FIXTURE_H
#define ZG_TEST_DOCTOR_FIXTURE_H

#include "plan/doctor.h"

#include <errno.h>
#include <linux/capability.h>

#include "model_fixture.h"

struct host {
	struct doctor_node node;
	struct doctor_facts facts;
};

static inline void add_name(struct vec *v, const char *name)
{
	vec_push(v, mem_strdup(name));
}

static inline void add_link(struct host *h, uint32_t index, const char *name)
{
	struct doctor_facts *f = &h->facts;

	f->links = mem_realloc_array(f->links, f->link_count + 1, sizeof(*f->links));
	f->links[f->link_count] = (struct doctor_link){.index = index, .mtu = 1500};
	strcpy(f->links[f->link_count++].name, name);
}

static inline int by_address(const void *a, const void *b)
{
	return addr_compare(&((const struct doctor_route *)a)->to,
			    &((const struct doctor_route *)b)->to);
}

/* To every server on the link back0, from 10.0.0.254. */
static inline void add_routes(struct host *h)
{
	struct doctor_facts *f = &h->facts;
	struct addr *list AUTO_FREE = NULL;
	size_t count = doctor_list_servers(&h->node, &list);

	f->routes = mem_alloc_array(count + 1, sizeof(*f->routes));
	for (f->route_count = 0; f->route_count < count; f->route_count++)
		f->routes[f->route_count] = (struct doctor_route){
			.to = list[f->route_count],
			.link = 3,
			.source = {AF_INET, {10, 0, 0, 254}}};
	qsort(f->routes, count, sizeof(f->routes[0]), by_address);
}

#define BASE "{'load_balancers':{'names':null,'shop':{'cross_zone':false}}}"

static inline struct snapshot *snapshot_of(const char *patch)
{
	json_t *document = fixture_patched(BASE), *p = fixture_json(patch);

	fixture_merge(document, p);
	json_decref(p);
	return fixture_snapshot(document);
}

/* A gateway of zone za on which nothing is wrong. */
static inline void host_open(struct host *h, const char *patch)
{
	static const char *const zones[] = {"za"};

	memset(h, 0, sizeof(*h));
	h->node = (struct doctor_node){.snapshot = snapshot_of(patch),
				       .zones = zones,
				       .zone_count = 1,
				       .vip_device = "zonegate0",
				       .vip_device_is_dummy = true};
	add_name(&h->facts.modules, "ip_vs");
	add_name(&h->facts.modules, "ip_vs_wrr");
	add_link(h, 1, "lo");
	add_link(h, 2, "front0");
	add_link(h, 3, "back0");
	add_link(h, 4, "zonegate0");
	h->facts.sysctls[DOCTOR_FORWARD4].value = h->facts.sysctls[DOCTOR_FORWARD6].value = 1;
	h->facts.sysctls[DOCTOR_VS_REUSE].value = 1;
	h->facts.sysctls[DOCTOR_VS_NODEST].value = h->facts.sysctls[DOCTOR_VS_QUIESCENT].value = 1;
	h->facts.sysctls[DOCTOR_TRACK_MAX].value = 262144;
	h->facts.sysctls[DOCTOR_TRACK_LASTS].value = 120;
	h->facts.sysctls[DOCTOR_TRACK_COUNT].value = 5;
	h->facts.ftp_ports[0] = 21;
	h->facts.ftp_port_count = 1;
	h->facts.table_bits.value = 12;
	h->facts.capabilities.value = 1 << CAP_NET_ADMIN | 1 << CAP_NET_RAW;
	h->facts.release[0] = 6;
	h->facts.clients[0].link = h->facts.clients[1].link = 2;
	strcpy(h->facts.iptables, "nft");
	add_routes(h);
}

static inline void host_close(struct host *h)
{
	struct snapshot *s = (struct snapshot *)(uintptr_t)h->node.snapshot;

	doctor_node_clear(&h->node);
	doctor_facts_clear(&h->facts);
	snapshot_unref(s);
}

/* As the program printed them. */
static inline void add_rules(struct host *h, const char *program, const char *text)
{
	struct doctor_rules *r = mem_new(struct doctor_rules);

	snprintf(r->program, sizeof(r->program), "%s", program);
	r->family = strncmp(program, "ip6", 3) == 0 ? RULESET_V6 : RULESET_V4;
	r->text = mem_strdup(text);
	vec_push(&h->facts.rules, r);
}

/* "severity code object: mend\n" each. */
static inline char *host_judge(const struct host *h)
{
	struct doctor_report r;
	char *text = mem_strdup("");
	size_t count = 0;

	doctor_judge(&h->node, &h->facts, &r);
	for (size_t i = 0; i < r.findings.count; i++) {
		const struct doctor_finding *f = r.findings.items[i];
		char *more = mem_printf("%s%s %s %s: %s\n", text, doctor_severity_name(f->severity),
					f->code, f->object, f->mend);

		assert_true(*f->what && *f->why && *f->mend);
		free(text);
		text = more;
	}
	for (enum doctor_severity s = DOCTOR_ERROR; s < DOCTOR_SEVERITIES; s++)
		count += r.counts[s];
	assert_int_equal(count, r.findings.count);
	doctor_report_clear(&r);
	return text;
}

#define SPOIL(name, statement)           \
	static void name(struct host *h) \
	{                                \
		statement;               \
	}

static inline struct doctor_value *sysctl_of(struct host *h, enum doctor_sysctl which)
{
	return &h->facts.sysctls[which];
}

static inline void drop_module(struct host *h, const char *name)
{
	struct vec *v = &h->facts.modules;

	for (size_t i = 0; i < v->count; i++)
		if (strcmp(v->items[i], name) == 0) {
			free(v->items[i]);
			vec_remove(v, i);
		}
}

struct doctor_want {
	const char *patch;
	void (*spoil)(struct host *h); /* NULL: the document alone makes it */
	const char *finding;
};

/* Each is found with its fact, and not without; `stays`: NULL, or which are found in both. */
static inline void host_expect(const struct doctor_want *list, size_t count,
			       bool (*stays)(const char *finding))
{
	for (size_t i = 0; i < count; i++) {
		struct host h;

		host_open(&h, list[i].patch);
		AUTO_FREE char *sound = host_judge(&h);
		if (list[i].spoil)
			list[i].spoil(&h);
		AUTO_FREE char *found = host_judge(&h);
		host_close(&h);
		if (!strstr(found, list[i].finding))
			fail_msg("case %zu\nexpected:\n%s\nfound:\n%s", i, list[i].finding, found);
		if (list[i].spoil && !(stays && stays(list[i].finding)) &&
		    strstr(sound, list[i].finding))
			fail_msg("case %zu\nis said without its fact:\n%s", i, list[i].finding);
	}
}

#endif
