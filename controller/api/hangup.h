/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers that end while nothing is to be sent to them, and nobody reads: told at once, not by the next thing that is sent. */
#ifndef ZG_API_HANGUP_H
#define ZG_API_HANGUP_H

struct ev_loop;
struct hangups;

/* Part of the owner's struct. Zero: not watched. */
struct hangup {
	void (*gone)(void *ctx); /* once, from the loop; may forget it */
	void *ctx;
	struct hangups *by;
	int fd;
};

struct hangups *hangup_new(struct ev_loop *loop); /* NULL: no descriptors */
void hangup_free(struct hangups *h);              /* nobody is watched any more; NULL-safe */

/* `gone` and `ctx` are set. The end of what the peer sends, or an error, is his end. What he sends is left alone. Without
 * descriptors or memory he is not watched. */
void hangup_watch(struct hangups *h, struct hangup *peer, int fd);
/* Before the descriptor is closed. What is not watched is no fault. */
void hangup_forget(struct hangup *peer);

#endif
