/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The answer for an object that is not there. */
#ifndef ZG_API_ABSENT_H
#define ZG_API_ABSENT_H

#include "api/request.h"
#include "model/object.h"

/* 404, with the name that was probably meant; of its parent where that is not there either. */
void absent_refuse(struct request *r, const struct object_path *path);

#endif
