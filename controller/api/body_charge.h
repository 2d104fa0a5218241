/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is made of bodies counts until nobody has it any more: an operation may keep it when its client is long gone. Large answers
 * count in the same way. */
#ifndef ZG_API_BODY_CHARGE_H
#define ZG_API_BODY_CHARGE_H

#include <stddef.h>

struct body_budget; /* of all together; lives as long as a charge to it */
struct body_charge;

struct body_budget *body_budget_new(size_t most);
void body_budget_unref(struct body_budget *b); /* its maker's; NULL-safe */
size_t body_budget_used(const struct body_budget *b);
size_t body_budget_most(const struct body_budget *b);

/* NULL: there is no room for so much beside what others have. On any thread, as all of these. */
struct body_charge *body_charge_new(struct body_budget *b, size_t bytes);
struct body_charge *body_charge_ref(struct body_charge *c); /* NULL-safe */
void body_charge_unref(struct body_charge *c);              /* the last gives it back; NULL-safe */

#endif
