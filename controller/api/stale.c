// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/stale.h"

#include "api/status_json.h"
#include "base/mem.h"

#include <inttypes.h>

void stale_refuse(struct request *r, const struct err *unmet, const struct stale_change *by)
{
	json_t *changed = json_pack("{s:o, s:s, s:s*, s:s?}", "at", status_json_time(by->at_wall),
				    "who", by->who, "via", by->via, "comment", by->comment);
	AUTO_FREE char *detail = NULL;

	if (by->revision) {
		json_object_set_new(changed, "revision", json_integer((json_int_t)by->revision));
		detail = mem_printf("%s (revision %" PRIu64 " by %s)", unmet->faults[0].detail,
				    by->revision, by->who);
	} else {
		detail = mem_printf("%s (by %s)", unmet->faults[0].detail, by->who);
	}
	request_fail_changed(r, unmet, detail, changed);
	json_decref(changed);
}
