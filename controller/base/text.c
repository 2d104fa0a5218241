// SPDX-License-Identifier: GPL-2.0-or-later
// Control characters. Those of C1 are one byte more in UTF-8 and do the same to a terminal.
#include "base/text.h"

bool text_is_clean(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f))
			return false;
	}
	return true;
}
