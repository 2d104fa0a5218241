/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept beside the configuration. Rows, replaced by (kind, key): removals that drain ("drain"), last known health
 * ("health"), VIP addresses that the daemon added ("vip"), sysctls before they were set ("sysctl"). Entries of the journal,
 * appended: health transitions ("transition", key GROUP/SERVER), events ("event"). */
#ifndef ZG_MODEL_ROW_H
#define ZG_MODEL_ROW_H

#include "base/time.h"

struct store_row {
	const char *kind;
	const char *key;
	const char *value; /* JSON text; NULL removes the row */
	usec_t wall;       /* not 0: an entry of the journal, made at that time; 0: a row */
};

#endif
