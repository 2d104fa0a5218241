// SPDX-License-Identifier: GPL-2.0-or-later
// Two tables from the bytes: what diff makes of them must turn one into the other and leave foreign services alone.
#include "unit/plan_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf_reader r;
	struct plan_table *desired;
	struct plan_table *actual;

	buf_reader_init(&r, data, size);
	desired = tables_read(&r);
	actual = tables_read(&r);
	tables_check_property(desired, actual);
	plan_table_free(desired);
	plan_table_free(actual);
	return 0;
}
