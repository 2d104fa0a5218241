// SPDX-License-Identifier: GPL-2.0-or-later
// The text is taken anew only when it differs: a server that answers the same each second costs no allocation.
#include "health/evidence_kept.h"

#include "base/mem.h"

#include <string.h>

void evidence_keep(struct evidence_kept *k, const struct probe_evidence *ev)
{
	memcpy(k->figures, ev, sizeof(k->figures));
	if (strcmp(k->text ? k->text : "", ev->text) == 0)
		return;
	free(k->text);
	k->text = ev->text[0] ? mem_strdup(ev->text) : NULL;
}

void evidence_recall(const struct evidence_kept *k, struct probe_evidence *ret_ev)
{
	struct probe_evidence ev = {0};

	memcpy(&ev, k->figures, sizeof(k->figures));
	if (k->text)
		memcpy(ev.text, k->text, strlen(k->text)); /* it was one of these */
	*ret_ev = ev;
}

void evidence_forget(struct evidence_kept *k)
{
	free(k->text);
	*k = (struct evidence_kept){0};
}
