/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The node's settings: an INI file and the files of conf.d beside it. One table of keys; anything else is an error with its
 * file and line. */
#ifndef ZG_SETTINGS_H
#define ZG_SETTINGS_H

#include "base/err.h"

#define SETTINGS_LIST_MAX 64
#define SETTINGS_LINE_MAX 4096 /* without its end */
#define SETTINGS_FILE_MAX (1024 * 1024)
#define SETTINGS_KEYS_MAX 64

struct settings_list {
	char *items[SETTINGS_LIST_MAX];
	size_t count;
};

/* The last line that gave a key its value. For settings_place.c. */
struct settings_place {
	char *file; /* NULL: it has its default */
	unsigned line;
	unsigned order; /* of all lines that were read */
};

struct settings {
	char *node_name;
	struct settings_list node_zones;
	struct settings_list node_peers;
	char *api_socket;
	struct settings_list api_listen;
	char *api_token_file;
	struct settings_list api_tls_listen;
	char *api_tls_cert;
	char *api_tls_key;
	struct settings_list api_allowed_hosts;
	char *node_vip_link;
	char *store_path;
	struct settings_list dns_listen;
	struct settings_list dns_apex;
	struct settings_list dns_ns;
	char *dns_hostmaster;
	unsigned dns_rrl; /* like answers a second to one network; 0 = no limit */
	struct settings_list dns_rrl_exempt;
	char *dns_nsid;
	char *dns_update_server;
	char *dns_update_zone;
	char *dns_update_key_file;
	unsigned kernel_ipvs;    /* 0 auto, 1 off */
	unsigned kernel_on_stop; /* 0 keep, 1 flush */
	unsigned kernel_audit_interval_s;
	char *kernel_vip_device;        /* "none" or a device name */
	unsigned kernel_manage_sysctls; /* 0 yes, 1 no */
	unsigned kernel_iptables;       /* 0 auto, 1 nft, 2 legacy */
	char *kernel_marks;             /* marks_parse_space() takes it */
	struct settings_list notify_url;
	char *notify_secret_file;
	unsigned notify_min_severity; /* enum event_severity */
	struct settings_list notify_types;
	unsigned notify_pace_ms;
	unsigned notify_timeout_s;
	unsigned log_level;                              /* enum log_level */
	unsigned log_target;                             /* enum log_target */
	struct settings_place places[SETTINGS_KEYS_MAX]; /* by the table of keys */
	unsigned places_given;
};

/* The defaults; `s` is to be cleared by settings_clear(). */
void settings_init(struct settings *s);
void settings_clear(struct settings *s);

/* Reads `path` (it must exist unless `optional`) and `conf.d/NAME.conf` beside it, in the order of their names; later ones win.
 * Every fault goes to `e`, its pointer being "FILE:LINE", or "FILE" if it cannot be read: only regular files of at most
 * SETTINGS_FILE_MAX are. Returns 0 or -EINVAL. */
enum settings_presence { SETTINGS_REQUIRED, SETTINGS_OPTIONAL };
int settings_load(struct settings *s, const char *path, enum settings_presence presence,
		  struct err *e);

/* One file's text, for tests and fuzzing: `name` stands in the faults. */
int settings_load_text(struct settings *s, const char *text, size_t size, const char *name,
		       struct err *e);

/* Prints the reference: section, key, default, help; tab-separated, a line each. */
struct buf_writer;
void settings_write_reference(struct buf_writer *w);

#endif
