/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash-2-4 (Aumasson, Bernstein): a keyed hash of 64 bits for short inputs. */
#ifndef ZG_DNS_SIPHASH_H
#define ZG_DNS_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_SIZE 16

/* Of `size` octets at `data`, with the key of 16 octets. */
uint64_t siphash_bytes(const uint8_t key[SIPHASH_KEY_SIZE], const void *data, size_t size);

#endif
