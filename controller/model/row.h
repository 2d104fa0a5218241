/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that are kept beside the configuration, by (kind, key): removals that drain ("drain"), last known health ("health"),
 * VIP addresses that the daemon added ("address"), sysctls before they were set ("sysctl"). */
#ifndef ZG_MODEL_ROW_H
#define ZG_MODEL_ROW_H

struct store_row {
	const char *kind;
	const char *key;
	const char *value; /* JSON text; NULL removes the row */
};

#endif
