// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into linux.uml on hosts whose CPU has a larger register area than
 * the 6.1 user-mode kernel knows (AMX: 11008 bytes instead of 2696).
 *
 * There the host refuses PTRACE_SETREGSET with EFAULT because the record is
 * not exactly as long as its own; reading a shorter one is allowed. The shim
 * lengthens the record with zeros, which means "initial state" for registers
 * that nobody in the lab uses. It changes no other call.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#define AREA_MAX  65536U
#define XSTATE_BV 512U

/* The caller's stack is a kernel stack of 16 KiB: the area cannot live there.
 * linux.uml traces from one thread only. */
static uint64_t area[AREA_MAX / sizeof(uint64_t)];
static size_t area_len;

typedef long ptrace_fn(int request, pid_t pid, void *addr, void *data);

static ptrace_fn *next_ptrace(void)
{
	static ptrace_fn *next;

	if (!next) {
		void *symbol = dlsym(RTLD_NEXT, "ptrace");
		memcpy(&next, &symbol, sizeof(next));
	}
	return next;
}

static long set_xstate(ptrace_fn *next, pid_t pid, void *addr, struct iovec *given)
{
	struct iovec full = {.iov_base = area, .iov_len = sizeof(area)};

	if (area_len == 0) {
		if (next(PTRACE_GETREGSET, pid, addr, &full) < 0)
			return next(PTRACE_SETREGSET, pid, addr, given);
		area_len = full.iov_len;
	}
	if (area_len <= given->iov_len)
		return next(PTRACE_SETREGSET, pid, addr, given);
	memset(area, 0, area_len);
	memcpy(area, given->iov_base, given->iov_len);
	/* Components beyond the given record are in their initial state. */
	area[XSTATE_BV / sizeof(uint64_t)] &= (uint64_t)0x3ff;
	full.iov_len = area_len;
	return next(PTRACE_SETREGSET, pid, addr, &full);
}

__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...)
{
	va_list args;

	va_start(args, request);
	pid_t pid = va_arg(args, pid_t);
	void *addr = va_arg(args, void *);
	void *data = va_arg(args, void *);
	va_end(args);
	if ((int)request == PTRACE_SETREGSET && (uintptr_t)addr == NT_X86_XSTATE)
		return set_xstate(next_ptrace(), pid, addr, data);
	return next_ptrace()((int)request, pid, addr, data);
}
