// SPDX-License-Identifier: GPL-2.0-or-later
// What GET /system shows of /proc. It changes nothing: what the daemon sets itself goes through the kernel's port.
#include "api/kernel_facts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfs.h"

#define MODULES_FILE "/proc/modules"

/* What decides whether packets are forwarded, what IPVS does with connections whose server is gone, and what it does in a flood. */
static const char *const sysctl_names[] = {
	"net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding",
	"net.ipv4.vs.conntrack",
	"net.ipv4.vs.conn_reuse_mode",
	"net.ipv4.vs.expire_nodest_conn",
	"net.ipv4.vs.expire_quiescent_template",
	"net.ipv4.vs.secure_tcp",
	"net.ipv4.vs.drop_entry",
	"net.ipv4.vs.drop_packet",
	"net.ipv4.vs.amemthresh",
	"net.netfilter.nf_conntrack_max",
};

static bool module_matters(const char *name)
{
	return strncmp(name, "ip_vs", strlen("ip_vs")) == 0 || strcmp(name, "nf_conntrack") == 0;
}

json_t *kernel_facts_modules(const char *file)
{
	json_t *list = json_array();
	struct vec names = {0};

	procfs_list_words(file ? file : MODULES_FILE, &names);
	for (size_t i = 0; i < names.count; i++) {
		if (module_matters(names.items[i]))
			json_array_append_new(list, json_string(names.items[i]));
		free(names.items[i]);
	}
	vec_clear(&names);
	return list;
}

json_t *kernel_facts_sysctls(const char *folder)
{
	json_t *list = json_array();
	long long value;

	for (size_t i = 0; i < sizeof(sysctl_names) / sizeof(sysctl_names[0]); i++)
		if (procfs_read_sysctl(folder ? folder : KERNEL_FACTS_SYSCTLS, sysctl_names[i],
				       &value) == 0)
			json_array_append_new(list, json_pack("{s:s, s:I}", "name", sysctl_names[i],
							      "value", (json_int_t)value));
	return list;
}
