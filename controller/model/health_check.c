// SPDX-License-Identifier: GPL-2.0-or-later
// By the field table where all members count, so that a new member is not forgotten.
#include "model/health_check.h"

#include "model/fields_rows.h"

#include <string.h>

bool health_check_equal(const struct health_check *a, const struct health_check *b)
{
	return a == b || fields_equal(fields_health_check, a, b);
}

uint64_t health_check_hash(const struct health_check *c, uint64_t seed)
{
	return fields_hash(fields_health_check, c, seed);
}

const char *health_check_type_name(enum check_type type)
{
	return fields_enum_name(fields_check_types, type);
}

bool health_check_has_port(enum check_type type)
{
	return type != CHECK_ICMP;
}

const char *health_check_dns_type(const struct health_check *c)
{
	return fields_enum_name(fields_dns_types, c->dns_qtype);
}

/* Every server has something to say of the root, if no more than where to go. */
const char *health_check_dns_name(const struct health_check *c)
{
	const char *type = health_check_dns_type(c);

	if (c->dns_name)
		return c->dns_name;
	return strcmp(type, "NS") == 0 || strcmp(type, "SOA") == 0 ? "." : "example.com";
}

bool health_check_takes_silence(const struct health_check *c)
{
	return c->type == CHECK_UDP && c->expect == EXPECT_NO_UNREACHABLE;
}

bool health_check_passes_late(const struct health_check *c)
{
	return c->type == CHECK_ICMP_UDP || health_check_takes_silence(c);
}
