/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that hold rows share: fields_table.c, fields_group.c and fields_check.c. */
#ifndef ZG_MODEL_FIELDS_ROWS_H
#define ZG_MODEL_FIELDS_ROWS_H

#include <stddef.h>

#include "model/fields.h"

/* Parts of a row: its place in the struct, a member that only readers get. */
#define AT(type, member) .offset = offsetof(struct type, member)
#define READ_ONLY(title, text)                                           \
	{                                                                \
		.name = (title), .type = FIELD_READ_ONLY, .help = (text) \
	}
#define READ_ONLY_ROWS                                                                             \
	READ_ONLY("uid", "identity of the object: another one after delete and create"),           \
		READ_ONLY("revision", "revision of the last change to it or anything beneath it"), \
		READ_ONLY("created_at", "when it was created"),                                    \
		READ_ONLY("updated_at", "when it or anything beneath it was last changed"),        \
		READ_ONLY("status", "what is observed, not configured")

/* In fields_check.c: of struct health_check. */
extern const struct field fields_health_check[];
extern const struct field_name fields_check_types[];

/* In fields_values.c: names by the numbers of the wire; what is wrong with a text, or NULL. */
extern const struct field_name fields_dns_types[];
extern const struct field_name fields_dns_rcodes[]; /* bit n: RCODE n */
const char *fields_check_path(const void *value);
const char *fields_check_host(const void *value);
const char *fields_check_status(const void *value);
const char *fields_check_dns_name(const void *value);
const char *fields_check_sni(const void *value);
const char *fields_check_file(const void *value);
const char *fields_check_service(const void *value);

/* In fields_group.c. */
extern const struct field fields_server_group[];
extern const struct field fields_server[];

/* In fields_table.c. The checks say what is wrong with the text, or the struct addr; NULL: nothing. */
extern const struct field_name fields_protocol_names[];
const char *fields_check_name(const void *value);
const char *fields_check_unicast(const void *value);

#endif
