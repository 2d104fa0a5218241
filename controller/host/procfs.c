// SPDX-License-Identifier: GPL-2.0-or-later
// Small files of the kernel, read whole or not at all.
#include "host/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define PATH_SIZE 512
#define WORDS_MAX 20000

static int open_file(const char *path, FILE **ret_file)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return errno ? -errno : -ENOENT;
	*ret_file = file;
	return 0;
}

int procfs_read_number(const char *path, long long *ret_value)
{
	FILE *file;
	long long value;
	int error = open_file(path, &file);

	if (error)
		return error;
	if (fscanf(file, "%lld", &value) != 1)
		error = -EINVAL;
	else
		*ret_value = value;
	fclose(file);
	return error;
}

/* Dots of the name are slashes of the path. */
int procfs_read_sysctl(const char *folder, const char *name, long long *ret_value)
{
	char path[PATH_SIZE];
	int length = snprintf(path, sizeof(path), "%s/%s", folder, name);

	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	for (char *c = path + strlen(folder); *c; c++)
		if (*c == '.')
			*c = '/';
	return procfs_read_number(path, ret_value);
}

int procfs_list_words(const char *path, struct vec *ret_words)
{
	char word[256];
	FILE *file;
	int error = open_file(path, &file);

	if (error)
		return error;
	/* "ip_vs_wrr 16384 2 - Live 0x0000000000000000" */
	for (size_t i = 0; i < WORDS_MAX && fscanf(file, "%255s%*[^\n]", word) == 1; i++)
		vec_push(ret_words, mem_strdup(word));
	fclose(file);
	return 0;
}
