// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with a single value of a health check, and the names of DNS.
#include <string.h>

#include "model/fields_rows.h"
#include "model/validate.h"

#define DNS_LABEL_MAX 63

// ---- checks of single values ------------------------------------------------------------------

const char *fields_check_path(const void *value)
{
	const char *text = value;
	if (text[0] != '/')
		return "must begin with \"/\"";
	for (; *text; text++) {
		if (*text <= ' ' || *text > '~' || *text == '#')
			return "may hold printable ASCII only, without spaces and \"#\": percent-encode them";
	}
	return NULL;
}

const char *fields_check_host(const void *value)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
	const char *text = value;
	return text[strspn(text, allowed)] == '\0' ? NULL : "is not a host name or address";
}

const char *fields_check_status(const void *value)
{
	return validate_status_list(value)
		       ? NULL
		       : "must be status codes 100-599 and ranges of them, as in \"200-299,301\"";
}

const char *fields_check_dns_name(const void *value)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*";
	const char *text = value;
	if (strcmp(text, ".") == 0)
		return NULL;
	while (*text) {
		size_t length = strspn(text, allowed);
		if (length == 0 || length > DNS_LABEL_MAX)
			return "is not a domain name (labels of 1 to 63 letters, digits, - and _)";
		text += length;
		if (*text == '.')
			text++;
		else if (*text)
			return "is not a domain name (labels of 1 to 63 letters, digits, - and _)";
	}
	return NULL;
}

const char *fields_check_sni(const void *value)
{
	struct addr a;
	const char *text = value;
	if (addr_parse(text, &a) == 0)
		return "is an address: a server name in TLS is a host name";
	return text[strlen(text) - 1] == '.' || fields_check_dns_name(value) ? "is not a host name"
									     : NULL;
}

const char *fields_check_file(const void *value)
{
	return ((const char *)value)[0] == '/' ? NULL : "must be an absolute path";
}

const char *fields_check_service(const void *value)
{
	for (const char *text = value; *text; text++) {
		if (*text <= ' ' || *text > '~')
			return "may hold printable ASCII only, without spaces";
	}
	return NULL;
}

// Numbers of the IANA registry of RR types.
const struct field_name fields_dns_types[] = {
	{"A", 1, false},     {"NS", 2, false},     {"CNAME", 5, false}, {"SOA", 6, false},
	{"PTR", 12, false},  {"MX", 15, false},    {"TXT", 16, false},  {"AAAA", 28, false},
	{"SRV", 33, false},  {"NAPTR", 35, false}, {"DS", 43, false},   {"DNSKEY", 48, false},
	{"SVCB", 64, false}, {"HTTPS", 65, false}, {"CAA", 257, false}, {0},
};
const struct field_name fields_dns_rcodes[] = {
	{"NOERROR", 1U << 0, false},  {"FORMERR", 1U << 1, false},  {"SERVFAIL", 1U << 2, false},
	{"NXDOMAIN", 1U << 3, false}, {"NOTIMP", 1U << 4, false},   {"REFUSED", 1U << 5, false},
	{"YXDOMAIN", 1U << 6, false}, {"YXRRSET", 1U << 7, false},  {"NXRRSET", 1U << 8, false},
	{"NOTAUTH", 1U << 9, false},  {"NOTZONE", 1U << 10, false}, {0},
};
