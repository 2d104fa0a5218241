// SPDX-License-Identifier: GPL-2.0-or-later
// Preloaded into keepalived on hosts without IPVS: its socket options are answered as if the kernel had taken everything, and
// generic netlink has no family IPVS, so that it uses them. What it costs to check servers is then measured without a kernel.
#include <dlfcn.h>
#include <errno.h>
#include <linux/ip_vs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define NLE_OBJ_NOTFOUND 12 /* netlink/errno.h */

struct nl_sock;
int genl_ctrl_resolve(struct nl_sock *sk, const char *name);

typedef int getsockopt_fn(int, int, int, void *restrict, socklen_t *restrict);
typedef int setsockopt_fn(int, int, int, const void *, socklen_t);
typedef int resolve_fn(struct nl_sock *, const char *);

static int is_ipvs(int level, int name)
{
	return level == IPPROTO_IP && name >= IP_VS_BASE_CTL && name < IP_VS_BASE_CTL + 64;
}

/* A pointer to a function does not convert from one to data. */
static void find_next(const char *name, void *ret_function)
{
	void *symbol = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
}

__attribute__((visibility("default"))) int getsockopt(int fd, int level, int name,
						      void *restrict value,
						      socklen_t *restrict size)
{
	static getsockopt_fn *next;

	if (!is_ipvs(level, name)) {
		if (!next)
			find_next("getsockopt", &next);
		return next(fd, level, name, value, size);
	}
	memset(value, 0, *size);
	if (name == IP_VS_SO_GET_INFO && *size >= sizeof(struct ip_vs_getinfo)) {
		struct ip_vs_getinfo info = {.version = 0x010201, .size = 4096};

		memcpy(value, &info, sizeof(info));
	}
	return 0;
}

__attribute__((visibility("default"))) int setsockopt(int fd, int level, int name,
						      const void *value, socklen_t size)
{
	static setsockopt_fn *next;

	if (is_ipvs(level, name))
		return 0;
	if (!next)
		find_next("setsockopt", &next);
	return next(fd, level, name, value, size);
}

__attribute__((visibility("default"))) int genl_ctrl_resolve(struct nl_sock *sk, const char *name)
{
	static resolve_fn *next;

	if (strcmp(name, IPVS_GENL_NAME) == 0)
		return -NLE_OBJ_NOTFOUND;
	if (!next)
		find_next("genl_ctrl_resolve", &next);
	return next(sk, name);
}
