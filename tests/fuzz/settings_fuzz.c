// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as a settings file: it is taken whole, or refused with a fault that names its line.
#include "settings.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ERR struct err e = {0};
	struct settings s;
	int result;

	settings_init(&s);
	result = settings_load_text(&s, (const char *)data, size, "fuzz", &e);
	assert((result == 0) == !err_any(&e));
	for (size_t i = 0; i < e.count; i++)
		assert(strncmp(e.faults[i].pointer, "fuzz:", 5) == 0);
	assert(s.node_name && s.store_path && s.kernel_vip_device);
	assert(s.node_zones.count <= SETTINGS_LIST_MAX);
	settings_clear(&s);
	return 0;
}
