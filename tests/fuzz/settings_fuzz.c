// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as a settings file: it is taken whole, or refused with a fault that names its line; and the same from a file.
#include "settings.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"

#define NAME_MAX_HERE 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_loaded(const struct settings *s, const struct err *e, int result,
			 const char *name)
{
	assert((result == 0) == !err_any(e));
	for (size_t i = 0; i < e->count; i++) {
		assert(strncmp(e->faults[i].pointer, name, strlen(name)) == 0);
		assert(e->faults[i].pointer[strlen(name)] == ':');
	}
	assert(s->node_name && s->store_path && s->kernel_vip_device);
	assert(s->node_zones.count <= SETTINGS_LIST_MAX);
}

/* A file in memory with these bytes; its folder has no conf.d. */
static const char *write_file(const uint8_t *data, size_t size, char name[NAME_MAX_HERE])
{
	static int file = -1;
	ssize_t written;

	if (file < 0)
		file = memfd_create("settings", MFD_CLOEXEC);
	assert(file >= 0 && ftruncate(file, 0) == 0);
	written = pwrite(file, data, size, 0);
	assert(written == (ssize_t)size);
	snprintf(name, NAME_MAX_HERE, "/proc/self/fd/%d", file);
	return name;
}

/* What the manual names as a key's default is taken in a file. */
static void check_reference(void)
{
	AUTO_ERR struct err e = {0};
	struct buf_writer w;
	struct settings s;
	char section[32], key[32], initial[64], line[160];
	int taken = 0;

	buf_writer_init(&w, 65536);
	settings_write_reference(&w);
	settings_init(&s);
	for (const char *at = buf_text(&w); at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (sscanf(at, "%31[^\t]\t%31[^\t]\t%63[^\t]", section, key, initial) != 3)
			continue;
		snprintf(line, sizeof(line), "[%s]\n%s = %s\n", section, key, initial);
		if (strcmp(initial, "-") != 0)
			taken += settings_load_text(&s, line, strlen(line), "default", &e) == 0;
	}
	assert(taken > 5 && !err_any(&e));
	settings_clear(&s);
	buf_writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool reference_checked;
	AUTO_ERR struct err e = {0};
	AUTO_ERR struct err again = {0};
	char name[NAME_MAX_HERE];
	struct settings s;
	int result;

	if (!reference_checked)
		check_reference();
	reference_checked = true;
	settings_init(&s);
	result = settings_load_text(&s, (const char *)data, size, "fuzz", &e);
	check_loaded(&s, &e, result, "fuzz");
	settings_clear(&s);
	settings_init(&s);
	write_file(data, size, name);
	result = settings_load(&s, name, SETTINGS_REQUIRED, &again);
	check_loaded(&s, &again, result, name);
	assert(again.total == e.total);
	settings_clear(&s);
	return 0;
}
