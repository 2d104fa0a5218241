// SPDX-License-Identifier: GPL-2.0-or-later
// Gathers, and judges nothing: what cannot be read is noted with its error.
#include "host/host_facts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/host_arp.h"
#include "host/host_net.h"
#include "host/host_rules.h"
#include "host/procfs.h"

#define PROCESSES_MAX 100000

static void read_value(const char *path, struct doctor_value *ret_value)
{
	ret_value->error = procfs_read_number(path, &ret_value->value);
}

static void read_sysctls(const char *root, struct doctor_facts *f)
{
	AUTO_FREE char *folder = mem_printf("%s/proc/sys", root);

	for (enum doctor_sysctl i = 0; i < DOCTOR_SYSCTLS; i++)
		f->sysctls[i].error = procfs_read_sysctl(folder, doctor_sysctl_name(i),
							 &f->sysctls[i].value);
}

/* ---- the kernel ---- */

/* "kernel/net/netfilter/ipvs/ip_vs.ko" → "ip_vs" */
static void strip_path(char *path)
{
	const char *slash = strrchr(path, '/');
	char *end;

	if (slash)
		memmove(path, slash + 1, strlen(slash));
	end = strstr(path, ".ko");
	if (end)
		*end = '\0';
	for (char *c = path; *c; c++)
		if (*c == '-')
			*c = '_';
}

static void read_modules(const char *root, struct doctor_facts *f)
{
	AUTO_FREE char *loaded = mem_printf("%s/proc/modules", root);
	AUTO_FREE char *bits = mem_printf("%s/sys/module/ip_vs/parameters/conn_tab_bits", root);
	AUTO_FREE char *builtin = NULL;
	struct utsname name;

	f->modules_error = procfs_list_words(loaded, &f->modules);
	read_value(bits, &f->table_bits);
	if (uname(&name) < 0) {
		f->builtin_error = -errno;
		return;
	}
	if (sscanf(name.release, "%u.%u", &f->release[0], &f->release[1]) != 2)
		f->release[0] = 0;
	builtin = mem_printf("%s/lib/modules/%s/modules.builtin", root, name.release);
	f->builtin_error = procfs_list_words(builtin, &f->builtin);
	for (size_t i = 0; i < f->builtin.count; i++)
		strip_path(f->builtin.items[i]);
}

/* "21,2121" */
static void read_ftp(const char *root, struct doctor_facts *f)
{
	AUTO_FREE char *path = mem_printf("%s/sys/module/ip_vs_ftp/parameters/ports", root);
	FILE *file = fopen(path, "re");
	unsigned port;

	f->ftp_error = file ? 0 : -errno;
	while (file && f->ftp_port_count < DOCTOR_FTP_MAX && fscanf(file, "%u", &port) == 1) {
		f->ftp_ports[f->ftp_port_count++] = (uint16_t)port;
		(void)fgetc(file);
	}
	if (file)
		fclose(file);
}

static void read_capabilities(const char *root, struct doctor_value *ret_value)
{
	AUTO_FREE char *path = mem_printf("%s/proc/self/status", root);
	FILE *file = fopen(path, "re");
	unsigned long long mask;
	char line[256];

	ret_value->error = file ? -EINVAL : -errno;
	while (file && ret_value->error && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %llx", &mask) != 1)
			continue;
		ret_value->error = 0;
		ret_value->value = (long long)mask;
	}
	if (file)
		fclose(file);
}

/* ---- others ---- */

static bool manages_ipvs(const char *name)
{
	static const char *const names[] = {"keepalived", "ldirectord", "kube-proxy", "kube-router",
					    "nanny",      "pulse",      "zonegated",  "firewalld"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Of another network namespace than this process, or at its end. Everybody may look at proc/ID/net, whose entries have their own inodes
 * in each namespace; proc/ID/ns is closed. */
static bool is_elsewhere(const char *folder, const char *id)
{
	AUTO_FREE char *theirs = mem_printf("%s/%s/net/stat", folder, id);
	AUTO_FREE char *ours = mem_printf("%s/self/net/stat", folder);
	struct stat a, b;

	return stat(ours, &a) == 0 && (stat(theirs, &b) < 0 || a.st_ino != b.st_ino);
}

/* Started by this one: until it becomes another program it has our name. Its own name may hold anything. */
static bool is_own_child(const char *folder, const char *id)
{
	AUTO_FREE char *path = mem_printf("%s/%s/stat", folder, id);
	FILE *file = fopen(path, "re");
	char line[256] = "";
	const char *end;
	int parent = 0;

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	end = strrchr(line, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent == getpid();
}

/* The name of process `id` is pushed, if it is of such a program in this network namespace and not there yet. 0 or a negative errno. */
static int read_process(const char *folder, const char *id, struct doctor_facts *f)
{
	struct vec *names = &f->processes;
	AUTO_FREE char *path = mem_printf("%s/%s/comm", folder, id);
	FILE *file = fopen(path, "re");
	char name[64];
	int found;

	if (!file)
		return -errno;
	found = fscanf(file, "%63[^\n]", name);
	fclose(file);
	if (found != 1 || !manages_ipvs(name) || is_elsewhere(folder, id))
		return 0;
	if (strcmp(name, "zonegated") == 0) {
		int process = atoi(id);

		if (process != getpid() && !is_own_child(folder, id))
			f->other_daemon = process;
	} else if (!doctor_has_name(names, name)) {
		vec_push(names, mem_strdup(name));
	}
	return 0;
}

static void read_processes(const char *root, struct doctor_facts *f)
{
	AUTO_FREE char *path = mem_printf("%s/proc", root);
	DIR *folder = opendir(path);
	const struct dirent *d;

	f->processes_error = folder ? 0 : -errno;
	if (!folder)
		return;
	for (size_t i = 0; i < PROCESSES_MAX && (d = readdir(folder)) != NULL; i++)
		if (isdigit((unsigned char)d->d_name[0]))
			(void)read_process(path, d->d_name, f); /* it may end meanwhile */
	closedir(folder);
	/* Everybody sees the first process, unless the processes of others are hidden (hidepid). */
	f->processes_error = read_process(path, "1", f);
}

/* By where the command leads: running it would ask more of the host than a look is worth. */
static void read_iptables(const char *root, struct doctor_facts *f)
{
	static const char *const folders[] = {"/usr/sbin", "/sbin", "/usr/bin", "/usr/local/sbin"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !f->iptables[0]; i++) {
		AUTO_FREE char *path = mem_printf("%s%s/iptables", root, folders[i]);
		AUTO_FREE char *real = realpath(path, NULL);
		const char *name = real ? strrchr(real, '/') : NULL;

		if (name && strstr(name, "legacy"))
			strcpy(f->iptables, "legacy");
		else if (name && strstr(name, "nft"))
			strcpy(f->iptables, "nft");
	}
}

static void read_net(const char *root, const struct doctor_node *n, struct doctor_facts *f)
{
	AUTO_FREE struct addr *servers = NULL, *vips = NULL;
	size_t server_count = doctor_list_servers(n, &servers);
	size_t vip_count = doctor_list_vips(n, &vips);
	struct doctor_arp arp;

	host_net_read_links(f);
	for (size_t i = 0; i < f->link_count; i++) {
		AUTO_FREE char *path = mem_printf("%s/proc/sys/net/ipv4/conf/%s/rp_filter", root,
						  f->links[i].name);

		read_value(path, &f->links[i].rp_filter);
	}
	host_net_read_routes(f, servers, server_count);
	host_net_read_neighbours(f, vips, vip_count);
	host_net_read_neighbours(f, servers, f->route_count);
	if (doctor_list_arp(n, f, &arp))
		host_arp_ask(f, &arp);
}

void host_facts_read(const char *root, const struct doctor_node *n, struct doctor_facts *ret_facts)
{
	*ret_facts = (struct doctor_facts){0};
	read_modules(root, ret_facts);
	read_ftp(root, ret_facts);
	read_sysctls(root, ret_facts);
	read_capabilities(root, &ret_facts->capabilities);
	read_processes(root, ret_facts);
	read_iptables(root, ret_facts);
	if (n->kernel_off)
		return;
	read_net(root, n, ret_facts);
	host_rules_read(root, ret_facts);
}
