// SPDX-License-Identifier: GPL-2.0-or-later
// Reads /proc for GET /system. It changes nothing: what the daemon sets itself goes through the kernel's port.
#include "api/kernel_facts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MODULES_FILE  "/proc/modules"
#define SYSCTL_FOLDER "/proc/sys"
#define PATH_SIZE     256

/* What decides whether packets are forwarded, and what IPVS does with connections whose server is gone. */
static const char *const sysctl_names[] = {
	"net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding",
	"net.ipv4.vs.conntrack",
	"net.ipv4.vs.conn_reuse_mode",
	"net.ipv4.vs.expire_nodest_conn",
	"net.ipv4.vs.expire_quiescent_template",
	"net.netfilter.nf_conntrack_max",
};

static bool module_matters(const char *name)
{
	return strncmp(name, "ip_vs", strlen("ip_vs")) == 0 || strcmp(name, "nf_conntrack") == 0;
}

json_t *kernel_facts_modules(const char *file)
{
	json_t *list = json_array();
	FILE *modules = fopen(file ? file : MODULES_FILE, "re");
	char name[64];

	if (!modules)
		return list;
	/* "ip_vs_wrr 16384 2 - Live 0x0000000000000000" */
	while (fscanf(modules, "%63s%*[^\n]", name) == 1)
		if (module_matters(name))
			json_array_append_new(list, json_string(name));
	fclose(modules);
	return list;
}

/* Dots of the name are slashes of the path. Returns 0, or -1 when it is not there or no number. */
static int read_number(const char *folder, const char *name, long long *ret_value)
{
	char path[PATH_SIZE];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file;
	int found;

	if (length < 0 || (size_t)length >= sizeof(path))
		return -1;
	for (char *c = path + strlen(folder); *c; c++)
		if (*c == '.')
			*c = '/';
	file = fopen(path, "re");
	if (!file)
		return -1;
	found = fscanf(file, "%lld", ret_value);
	fclose(file);
	return found == 1 ? 0 : -1;
}

json_t *kernel_facts_sysctls(const char *folder)
{
	json_t *list = json_array();
	long long value;

	for (size_t i = 0; i < sizeof(sysctl_names) / sizeof(sysctl_names[0]); i++)
		if (read_number(folder ? folder : SYSCTL_FOLDER, sysctl_names[i], &value) == 0)
			json_array_append_new(list, json_pack("{s:s, s:I}", "name", sysctl_names[i],
							      "value", (json_int_t)value));
	return list;
}
