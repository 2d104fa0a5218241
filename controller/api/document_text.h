/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of one revision of the whole document, made on the worker once for all who ask for it meanwhile. It goes with the last
 * answer that it is in: nothing is kept for those who might come. */
#ifndef ZG_API_DOCUMENT_TEXT_H
#define ZG_API_DOCUMENT_TEXT_H

#include "api/request.h"
#include "model/snapshot.h"

/* Replies with 200 and the document, as it would be written or (heads) with revisions and times. */
enum document_view { DOCUMENT_HEADS, DOCUMENT_CONFIG };
void document_text_reply(struct request *r, const struct snapshot *s, enum document_view view);

#endif
