/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else's rules and sets name sets of ours, so that the kernel keeps them: asked of the programs that list them. Only reads. */
#ifndef ZG_KERNEL_HOLDERS_H
#define ZG_KERNEL_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>

struct ev_loop;
struct holders;

/* Begins to look, on libev's default loop. The caller frees it, at any time. */
struct holders *holders_new(struct ev_loop *loop);
void holders_free(struct holders *h); /* NULL-safe */
bool holders_done(const struct holders *h);

/* Once it is done: "zg4-drop: iptables-legacy -t filter -A FORWARD …", the first few, with "; " between; "": none was found. Borrowed. */
const char *holders_text(const struct holders *h);

#endif
