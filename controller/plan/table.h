/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The IPVS table as plain data: what it should be, what the kernel has, and the operations between. Constants follow
 * linux/ip_vs.h; ports and addresses are in host order and `struct addr`. */
#ifndef ZG_PLAN_TABLE_H
#define ZG_PLAN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

#define PLAN_SCHEDULER_MAX 16
/* The user's bits: persistent, one packet, scheduler flags 1–3. */
#define PLAN_FLAGS_MASK (1U | 4U | 8U | 16U | 32U)

/* Key: (family, fwmark) if fwmark is not 0, else (family, protocol, address, port). */
struct plan_key {
	uint8_t family;
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP; 0 with a mark */
	uint16_t port;
	uint32_t fwmark;
	struct addr address;
};

struct plan_stats { /* 64-bit, since the entry was made */
	uint64_t connections;
	uint64_t packets_in;
	uint64_t packets_out;
	uint64_t bytes_in;
	uint64_t bytes_out;
};

struct plan_dest {
	struct addr address; /* key, with port */
	uint16_t port;
	uint8_t forward;     /* IP_VS_CONN_F_MASQ, _DROUTE, _TUNNEL */
	uint8_t tunnel_type; /* IP_VS_CONN_F_TUNNEL_TYPE_IPIP, _GUE, _GRE */
	uint16_t tunnel_port;
	uint16_t tunnel_flags;
	uint32_t weight;
	uint32_t upper;
	uint32_t lower;
};

/* What the kernel counts at a destination; only in tables that were read from it. */
struct plan_dest_counts {
	uint32_t active;
	uint32_t inactive;
	uint32_t persistent; /* templates */
	struct plan_stats stats;
};

struct plan_service {
	struct plan_key key;
	char scheduler[PLAN_SCHEDULER_MAX];
	char engine[PLAN_SCHEDULER_MAX]; /* persistence engine, "" = none */
	uint32_t flags;                  /* within PLAN_FLAGS_MASK */
	uint32_t timeout;                /* persistence, seconds; only with the persistent flag */
	uint32_t netmask; /* IPv4: in network order as the kernel has it; IPv6: prefix length */
	struct plan_dest *dests;         /* sorted by (address, port) */
	struct plan_dest_counts *counts; /* as many as dests, or NULL */
	struct plan_stats stats;
	size_t dest_count;
};

/* Of IPVS in a network namespace, in seconds; 0 = not known, or not to be set. */
enum plan_timeout { PLAN_TIMEOUT_TCP, PLAN_TIMEOUT_TCP_FIN, PLAN_TIMEOUT_UDP, PLAN_TIMEOUTS };
struct plan_timeouts {
	uint32_t s[PLAN_TIMEOUTS];
};
const char *plan_timeout_name(enum plan_timeout t); /* "tcp_s" … */

struct plan_table {
	struct plan_service *services; /* sorted by key */
	size_t count;
	struct plan_timeouts timeouts; /* as read; 0 in a table of one service */
};

/* The order of a table, as of memcmp(). */
int plan_key_compare(const struct plan_key *a, const struct plan_key *b);
int plan_dest_compare(const struct plan_dest *a, const struct plan_dest *b); /* key only */
uint64_t plan_key_hash(const struct plan_key *k);
#define PLAN_KEY_TEXT_MAX 80
/* "tcp 192.0.2.10:80", "fwmark 7 (v6)". */
const char *plan_key_format(const struct plan_key *k, char buf[PLAN_KEY_TEXT_MAX]);

/* Sorts services and destinations (both with counts); a table must be sorted before it is compared. Repeated keys (a dump
 * that ran into a change may repeat entries) are dropped. */
void plan_table_sort(struct plan_table *t);
void plan_service_clear(struct plan_service *s); /* frees what it holds */
void plan_table_free(struct plan_table *t);      /* frees content and the table; NULL-safe */
/* A deep copy of settings and destinations; counts are not copied. */
void plan_service_copy(const struct plan_service *from, struct plan_service *ret_service);
struct plan_service *plan_table_find(const struct plan_table *t, const struct plan_key *k);
struct plan_dest *plan_service_find(const struct plan_service *s, const struct addr *address,
				    uint16_t port);

#endif
