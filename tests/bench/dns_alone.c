// SPDX-License-Identifier: GPL-2.0-or-later
// The DNS server of the product by itself: one worker, one load balancer with one A record.
//   dns_alone ADDRESS PORT NAME      until it is killed
#include "dns/view_builder.h"
#include "dnsio/dnsd.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct view *make_view(const char *name)
{
	struct view_builder *b = view_builder_new(1, NULL);
	struct view_builder_zone zone = {.name = "zone-a", .published = {true}};
	const struct view_builder_name n = {
		.balancer = "x", .dns_name = name, .ttl = 60, .zones = &zone, .zone_count = 1};
	struct view *v = NULL;

	if (addr_parse("192.0.2.1", &zone.address[VIEW_V4]) < 0 ||
	    view_builder_add_name(b, &n) < 0 || view_builder_finish(b, &v) < 0)
		return NULL;
	return v;
}

int main(int argc, char **argv)
{
	struct dnsd_settings s;
	struct err e = {0};
	struct dnsd *d;
	struct view *v;

	if (argc != 4)
		return 64;
	dnsd_settings_init(&s);
	v = make_view(argv[3]);
	if (!v || addr_parse(argv[1], &s.listen[0].address) < 0)
		return 64;
	s.listen[0].port = (uint16_t)atoi(argv[2]);
	s.listen_count = 1;
	if (dnsd_new(&s, v, &e, &d) < 0) {
		fprintf(stderr, "dns_alone: %s\n", err_first(&e));
		return 1;
	}
	for (;;)
		pause();
}
