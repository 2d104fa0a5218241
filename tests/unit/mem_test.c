// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void mem_gives_zeroed_memory(void **state)
{
	AUTO_FREE unsigned char *p = mem_alloc_array(100, 3);
	AUTO_FREE void *nothing = mem_alloc_array(0, 8);

	(void)state;
	assert_non_null(nothing);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(p[i], 0);
	memset(p, 1, 300);
	p = mem_realloc_array(p, 1000, 3);
	assert_int_equal(p[299], 1);
}

static void mem_copies(void **state)
{
	AUTO_FREE char *text = mem_strdup("abc");
	AUTO_FREE char *bytes = mem_dup("a\0b", 4);
	AUTO_FREE char *printed = mem_printf("%s-%d", text, 7);
	AUTO_FREE char *empty = mem_dup(NULL, 0);

	(void)state;
	assert_string_equal(text, "abc");
	assert_memory_equal(bytes, "a\0b", 4);
	assert_string_equal(printed, "abc-7");
	assert_non_null(empty);
}

/* The signal that ended a child which asks for `count` × `size` bytes, or 0. */
static int signal_of_child(size_t count, size_t size)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit no_core = {0, 0};

		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		free(mem_realloc_array(NULL, count, size));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void mem_aborts_on_overflow(void **state)
{
	(void)state;
	assert_int_equal(signal_of_child(10, 10), 0);
	assert_int_equal(signal_of_child(SIZE_MAX / 2, 4), SIGABRT);
}

static void arena_is_zeroed_and_aligned(void **state)
{
	AUTO_ARENA struct arena *a = arena_new(64);
	unsigned char *last = NULL;

	(void)state;
	for (size_t size = 0; size < 200; size++) {
		unsigned char *p = arena_alloc(a, size);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		assert_ptr_not_equal(p, last);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, size);
		last = p;
	}
	assert_string_equal(arena_strdup(a, "text"), "text");
}

static void arena_counts_its_size(void **state)
{
	AUTO_ARENA struct arena *a = arena_new(0);
	size_t before;
	char *first = arena_alloc(a, 16);
	char *second;

	(void)state;
	before = arena_size(a);
	assert_true(before >= 4096);
	arena_alloc(a, 1000000); /* a chunk of its own … */
	assert_true(arena_size(a) >= before + 1000000);
	second = arena_alloc(a, 16); /* … and the first one is still in use */
	assert_ptr_equal(second, first + 16);
	arena_free(NULL);
}

static long count_faults(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_minflt;
}

/* Small pieces of `size` bytes together; returns the page faults that they took. */
static long fill_heap(size_t size)
{
	size_t count = size / 4096;
	char **pieces = mem_alloc_array(count, sizeof(*pieces));
	long before = count_faults();

	for (size_t i = 0; i < count; i++)
		pieces[i] = mem_alloc(4000);
	before = count_faults() - before;
	for (size_t i = 0; i < count; i++)
		free(pieces[i]);
	free(pieces);
	return before;
}

static void mem_reserve_spares_the_page_faults(void **state)
{
	const size_t size = 8U << 20;
	const long pages = (long)(size / 4096);
	long first;

	(void)state;
	first = fill_heap(size);
	mem_reserve(size + size / 8);
	if (mallinfo2().arena ==
	    0) { /* another heap than glibc's, under a sanitizer: it is only to do no harm */
		fill_heap(size);
		mem_reserve_end();
		return;
	}
	assert_true(first > pages / 2);
	assert_true(fill_heap(size) < pages / 8);
	assert_true(fill_heap(size) < pages / 8); /* it is kept meanwhile */
	mem_reserve_end();
	assert_true(mallinfo2().fordblks < 1U << 20); /* and given back */
	mem_reserve(0);
	mem_reserve_end();
}

/* Whoever frees something large next finds nothing left to do. */
static void mem_settle_leaves_nothing_behind(void **state)
{
	void *pieces[1000];

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		pieces[i] = mem_alloc(40);
	for (size_t i = 0; i < 1000; i++)
		free(pieces[i]);
	if (mallinfo2().arena == 0) { /* another heap than glibc's: it is only to do no harm */
		mem_settle();
		return;
	}
	assert_true(mallinfo2().fsmblks > 0);
	mem_settle();
	assert_int_equal(mallinfo2().fsmblks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mem_gives_zeroed_memory),
		cmocka_unit_test(mem_copies),
		cmocka_unit_test(mem_aborts_on_overflow),
		cmocka_unit_test(arena_is_zeroed_and_aligned),
		cmocka_unit_test(arena_counts_its_size),
		cmocka_unit_test(mem_reserve_spares_the_page_faults),
		cmocka_unit_test(mem_settle_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
