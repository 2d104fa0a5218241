/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that no start needs before the kernel has its table. GnuTLS and libmicrohttpd bring ten others, and to load them takes
 * half of an exec. Who includes late_gnutls.h or late_http.h instead of the library's header calls its functions as always: the
 * first call loads it. A function that is missing in the lists there is an error of the linker. Like a library that a program
 * is linked with, one that is not there, or has not all functions, ends the program with the reason on stderr. */
#ifndef ZG_LATE_LATE_H
#define ZG_LATE_LATE_H

/* Loads all of them, if they are not there yet, so that no later call has to. May be called from any thread. */
void late_load_all(void);

#define LATE_TEXT_MAX 512
/* The same; one that cannot be used ends nothing: -1, and into `buf` which, why, and what mends it. */
int late_check(char buf[LATE_TEXT_MAX]);

#endif
