/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the kernel answers. The messages' lengths were checked by the channel; all else is checked here. */
#ifndef ZG_KERNEL_IPVS_PARSE_H
#define ZG_KERNEL_IPVS_PARSE_H

#include "plan/table.h"

struct nlmsghdr;

/* A service without destinations. Returns 0 or -EBADMSG. */
int ipvs_parse_service(const struct nlmsghdr *m, struct plan_service *ret_service);

/* A destination of a service of address family `family`. Returns 0 or -EBADMSG. */
int ipvs_parse_dest(const struct nlmsghdr *m, uint8_t family, struct plan_dest *ret_dest,
		    struct plan_dest_counts *ret_counts);

/* The answer to ipvs_put_get_config(). Returns 0 or -EBADMSG. */
int ipvs_parse_config(const struct nlmsghdr *m, struct plan_timeouts *ret_timeouts);

/* The answer to ipvs_put_get_family(). Returns 0 or -EBADMSG. */
int ipvs_parse_family(const struct nlmsghdr *m, uint16_t *ret_family);

/* The answer to ipvs_put_get_info(): buckets of the table of connections. Returns 0 or -EBADMSG. */
int ipvs_parse_info(const struct nlmsghdr *m, uint32_t *ret_table_size);

#endif
