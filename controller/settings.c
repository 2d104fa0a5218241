// SPDX-License-Identifier: GPL-2.0-or-later
// The settings file: one row per key decodes it, bounds it and prints its help. inih splits lines; what they mean is here.
#include "settings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"

enum key_type { KEY_TEXT, KEY_LIST, KEY_NUMBER, KEY_CHOICE, KEY_LATER };

struct key {
	const char *section;
	const char *name;
	enum key_type type;
	size_t offset;
	const char *initial; /* as it would stand in the file; NULL = not set */
	unsigned min;
	unsigned max;
	const char *choices; /* in the order of their numbers, separated by | */
	const char *help;
};

#define AT(member) offsetof(struct settings, member)

static const struct key keys[] = {
	{"node", "name", KEY_TEXT, AT(node_name), NULL, 0, 0, NULL,
	 "name of this node (default: the host's name)"},
	{"node", "zones", KEY_LIST, AT(node_zones), NULL, 0, 0, NULL,
	 "zones whose VIPs this node programs, separated by commas (default: all)"},
	{"node", "vip_link", KEY_TEXT, AT(node_vip_link), NULL, 0, 0, NULL,
	 "interface on which packets for the VIPs arrive; without carrier its VIPs are unhealthy (default: not looked at)"},
	{"api", "socket", KEY_TEXT, AT(api_socket), "/run/zonegate/api.sock", 0, 0, NULL,
	 "unix socket of the API; root has every right on it"},
	{"api", "listen", KEY_LIST, AT(api_listen), NULL, 0, 0, NULL,
	 "address:port of plain HTTP, loopback only, for holders of the token (default: none)"},
	{"api", "token_file", KEY_TEXT, AT(api_token_file), NULL, 0, 0, NULL,
	 "file with the token, one line of 16 to 512 printable characters; without it there is no TCP listener"},
	{"api", "allowed_hosts", KEY_LIST, AT(api_allowed_hosts), NULL, 0, 0, NULL,
	 "host names beside localhost that requests over TCP may be addressed to"},
	{"api", "tls_listen", KEY_LATER, 0, NULL, 0, 0, NULL, "address:port of HTTPS"},
	{"api", "tls_cert", KEY_LATER, 0, NULL, 0, 0, NULL, "certificate file"},
	{"api", "tls_key", KEY_LATER, 0, NULL, 0, 0, NULL, "key file"},
	{"store", "path", KEY_TEXT, AT(store_path), "/var/lib/zonegate", 0, 0, NULL,
	 "folder of the database"},
	{"dns", "listen", KEY_LIST, AT(dns_listen), NULL, 0, 0, NULL,
	 "addresses on which DNS is answered, UDP and TCP: 192.0.2.53, [2001:db8::53]:53 (default: none)"},
	{"dns", "apex", KEY_LIST, AT(dns_apex), NULL, 0, 0, NULL,
	 "names that are served with SOA and NS; load balancers' names lie under them (default: each name is its own)"},
	{"dns", "ns", KEY_LIST, AT(dns_ns), NULL, 0, 0, NULL,
	 "name servers, in the order of the NS records: NAME, or NAME=ADDRESS=ADDRESS with the addresses that are answered when the "
	 "name is under an apex"},
	{"dns", "hostmaster", KEY_TEXT, AT(dns_hostmaster), NULL, 0, 0, NULL,
	 "mailbox of the SOA record (default: hostmaster at the apex)"},
	{"dns", "rrl", KEY_NUMBER, AT(dns_rrl), "200", 0, 1000000, NULL,
	 "like answers a second to one network of clients (/24, /56) before they are limited; 0: no limit"},
	{"dns", "rrl_exempt", KEY_LIST, AT(dns_rrl_exempt), NULL, 0, 0, NULL,
	 "networks that are not limited"},
	{"dns", "nsid", KEY_TEXT, AT(dns_nsid), NULL, 0, 0, NULL,
	 "answer to NSID (default: the name of the node)"},
	{"dns_update", "server", KEY_TEXT, AT(dns_update_server), NULL, 0, 0, NULL,
	 "name server that is kept equal by RFC 2136: address or address:port (default: none)"},
	{"dns_update", "zone", KEY_TEXT, AT(dns_update_zone), NULL, 0, 0, NULL, "its zone"},
	{"dns_update", "key_file", KEY_TEXT, AT(dns_update_key_file), NULL, 0, 0, NULL,
	 "file with the TSIG key"},
	{"kernel", "ipvs", KEY_CHOICE, AT(kernel_ipvs), "auto", 0, 0, "auto|off",
	 "auto: program the kernel; off: only probe and plan"},
	{"kernel", "on_stop", KEY_CHOICE, AT(kernel_on_stop), "keep", 0, 0, "keep|flush",
	 "what a stop does to our virtual services"},
	{"kernel", "audit_interval_s", KEY_NUMBER, AT(kernel_audit_interval_s), "30", 1, 86400,
	 NULL, "seconds between two comparisons of the kernel's table with what it should be"},
	{"kernel", "vip_device", KEY_TEXT, AT(kernel_vip_device), "zonegate0", 0, 0, NULL,
	 "device that the VIP addresses are kept on, or none; a name that begins with zonegate is a dummy that the daemon "
	 "makes, any other must exist, and the addresses are announced on its link"},
	{"kernel", "iptables", KEY_LATER, 0, NULL, 0, 0, NULL, "nft or legacy"},
	{"kernel", "manage_sysctls", KEY_CHOICE, AT(kernel_manage_sysctls), "yes", 0, 0, "yes|no",
	 "set the sysctls below net.ipv4.vs that the configuration needs"},
	{"kernel", "mark_mask", KEY_LATER, 0, NULL, 0, 0, NULL,
	 "bits of the firewall mark that are ours"},
	{"log", "level", KEY_CHOICE, AT(log_level), "info", 0, 0, "error|warning|notice|info|debug",
	 "the least important lines that are written"},
	{"log", "target", KEY_CHOICE, AT(log_target), "journald", 0, 0, "stderr|journald",
	 "where the log goes"},
};
#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

/* One file being read: inih has no line numbers in its handler, so the reader counts. */
struct reading {
	struct settings *settings;
	struct err *err;
	const char *name;
	FILE *file;
	unsigned line;
	bool section_told; /* the section under way is unknown, and that was told */
	bool seen
		[KEY_COUNT]; /* in this file: a list starts anew, a second single value is an error */
};

static void fault(struct reading *r, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void fault(struct reading *r, enum err_code code, const char *fmt, ...)
{
	char place[PATH_MAX + 16];
	char detail[SETTINGS_LINE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	snprintf(place, sizeof(place), "%s:%u", r->name, r->line);
	err_set(r->err, code, place, "%s", detail);
}

static int choice_parse(const char *choices, const char *value, unsigned *ret_number)
{
	const char *at = choices;

	for (unsigned n = 0; at; n++) {
		size_t length = strcspn(at, "|");

		if (strlen(value) == length && strncmp(at, value, length) == 0) {
			*ret_number = n;
			return 0;
		}
		at = at[length] ? at + length + 1 : NULL;
	}
	return -EINVAL;
}

static int number_parse(const char *value, unsigned *ret_number)
{
	char *end;
	unsigned long n;

	if (!isdigit((unsigned char)value[0]))
		return -EINVAL;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || n > UINT_MAX)
		return -EINVAL;
	*ret_number = (unsigned)n;
	return 0;
}

static void list_clear(struct settings_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	list->count = 0;
}

static void list_add(struct reading *r, const struct key *k, struct settings_list *list,
		     const char *value)
{
	char *copy AUTO_FREE = mem_strdup(value);
	char *save = NULL;

	for (char *item = strtok_r(copy, ", \t", &save); item;
	     item = strtok_r(NULL, ", \t", &save)) {
		if (list->count == SETTINGS_LIST_MAX) {
			fault(r, ERR_LIMIT, "%s has more than %d items", k->name,
			      SETTINGS_LIST_MAX);
			return;
		}
		list->items[list->count++] = mem_strdup(item);
	}
}

static void set_number(struct reading *r, const struct key *k, const char *value,
		       unsigned *ret_number)
{
	unsigned n;

	if (k->type == KEY_CHOICE) {
		if (choice_parse(k->choices, value, ret_number) != 0)
			fault(r, ERR_RANGE, "%s = %s: must be one of %s", k->name, value,
			      k->choices);
		return;
	}
	if (number_parse(value, &n) != 0 || n < k->min || n > k->max)
		fault(r, ERR_RANGE, "%s = %s: must be a whole number from %u to %u", k->name, value,
		      k->min, k->max);
	else
		*ret_number = n;
}

static void set_key(struct reading *r, size_t index, const char *value)
{
	const struct key *k = &keys[index];
	void *at = (char *)r->settings + k->offset;

	if (k->type == KEY_LATER) {
		fault(r, ERR_UNSUPPORTED, "%s of [%s] is not supported yet", k->name, k->section);
		return;
	}
	if (!value[0]) {
		fault(r, ERR_FORMAT, "%s has no value: give one, or take the line away", k->name);
		return;
	}
	if (r->seen[index] && k->type != KEY_LIST) {
		fault(r, ERR_DUPLICATE, "%s stands twice in [%s]: keep one", k->name, k->section);
		return;
	}
	if (k->type == KEY_LIST) {
		if (!r->seen[index])
			list_clear(at);
		list_add(r, k, at, value);
	} else if (k->type == KEY_TEXT) {
		free(*(char **)at);
		*(char **)at = mem_strdup(value);
	} else {
		set_number(r, k, value, at);
	}
	r->seen[index] = true;
}

static bool section_known(const char *section)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (strcmp(keys[i].section, section) == 0)
			return true;
	return false;
}

static void fault_section(struct reading *r, const char *section)
{
	if (!r->section_told)
		fault(r, ERR_UNKNOWN,
		      "unknown section [%s]; known are [node] [api] [store] [dns] [dns_update] [kernel] [log]",
		      section);
	r->section_told = true;
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
	struct reading *r = user;

	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0) {
			set_key(r, i, value ? value : "");
			return 1;
		}
	}
	if (!section[0])
		fault(r, ERR_UNKNOWN, "\"%s\" stands before any [section]", name);
	else if (!section_known(section))
		fault_section(r, section);
	else
		fault(r, ERR_UNKNOWN, "unknown key \"%s\" in section [%s]: see zonegate.conf(5)",
		      name, section);
	return 1;
}

/* The rest of a line whose beginning is in hand. */
static void skip_line(struct reading *r)
{
	int c;

	do
		c = fgetc(r->file);
	while (c != '\n' && c != EOF);
}

/* Also a section in which nothing stands: inih tells sections with their keys only. */
static void check_heading(struct reading *r, const char *line)
{
	char section[SETTINGS_LINE_MAX];

	if (sscanf(line, " [%1023[^]\r\n]", section) != 1)
		return;
	r->section_told = false;
	if (!section_known(section))
		fault_section(r, section);
}

/* What inih would silently join, cut or take as part of a value is refused here. */
static char *read_line(char *text, int size, void *stream)
{
	struct reading *r = stream;
	const char *end;
	char *line;
	size_t skip;

	memset(text, ' ', (size_t)size);
	line = fgets(text, size, r->file);
	if (!line)
		return NULL;
	r->line++;
	end = memrchr(text, '\0', (size_t)size); /* spaces stand behind what was read */
	assert(end);
	if ((end == text || end[-1] != '\n') && !feof(r->file)) {
		fault(r, ERR_LIMIT, "the line is longer than %d bytes", size - 2);
		skip_line(r);
		line[0] = '\0';
	} else if (strlen(line) < (size_t)(end - line)) {
		fault(r, ERR_FORMAT, "a NUL byte stands in the line");
		line[0] = '\0';
	}
	check_heading(r, line);
	skip = strspn(line, " \t");
	if (skip && line[skip] && !strchr("#;\r\n", line[skip]))
		memmove(line, line + skip, strlen(line + skip) + 1);
	return line;
}

static int load_stream(struct settings *s, FILE *file, const char *name, struct err *e)
{
	struct reading r = {.settings = s, .err = e, .name = name, .file = file};
	size_t before = e->total;
	int line = ini_parse_stream(read_line, &r, on_line, &r);

	if (line > 0) {
		r.line = (unsigned)line;
		fault(&r, ERR_SYNTAX, "neither [section], nor key = value, nor a comment");
	} else if (line < 0) {
		fault(&r, ERR_INTERNAL, "cannot be parsed");
	}
	if (ferror(file))
		fault(&r, ERR_NOT_FOUND, "cannot be read: %s", strerror(errno));
	return e->total == before ? 0 : -EINVAL;
}

int settings_load_text(struct settings *s, const char *text, size_t size, const char *name,
		       struct err *e)
{
	FILE *file;
	int result;
	char *copy AUTO_FREE = mem_alloc(size + 1);

	memcpy(copy, text, size);
	file = fmemopen(copy, size, "r");
	if (!file)
		return err_set(e, ERR_INTERNAL, name, "%s", strerror(errno));
	result = load_stream(s, file, name, e);
	fclose(file);
	return result;
}

static int load_file(struct settings *s, const char *path, enum settings_presence presence,
		     struct err *e)
{
	FILE *file = fopen(path, "re");
	int result;

	if (!file && errno == ENOENT && presence == SETTINGS_OPTIONAL)
		return 0;
	if (!file)
		return err_set(e, ERR_NOT_FOUND, path, "cannot be read: %s", strerror(errno));
	result = load_stream(s, file, path, e);
	fclose(file);
	return result;
}

static int is_conf(const struct dirent *d)
{
	size_t length = strlen(d->d_name);

	return d->d_name[0] != '.' && length > 5 && strcmp(d->d_name + length - 5, ".conf") == 0;
}

static void load_folder(struct settings *s, const char *path, struct err *e)
{
	char *folder AUTO_FREE = NULL;
	const char *slash = strrchr(path, '/');
	struct dirent **entries = NULL;
	int count;

	folder = slash ? mem_printf("%.*s/conf.d", (int)(slash - path), path)
		       : mem_strdup("conf.d");
	count = scandir(folder, &entries, is_conf, alphasort);
	for (int i = 0; i < count; i++) {
		char *file AUTO_FREE = mem_printf("%s/%s", folder, entries[i]->d_name);

		load_file(s, file, SETTINGS_REQUIRED, e);
		free(entries[i]);
	}
	free(entries);
}

int settings_load(struct settings *s, const char *path, enum settings_presence presence,
		  struct err *e)
{
	size_t before = e->total;

	load_file(s, path, presence, e);
	load_folder(s, path, e);
	return e->total == before ? 0 : -EINVAL;
}

void settings_init(struct settings *s)
{
	char host[256] = "localhost";
	struct err e = {0};
	struct reading r = {.settings = s, .err = &e, .name = "defaults"};

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (keys[i].initial)
			set_key(&r, i, keys[i].initial);
	assert(!err_any(&e));
	gethostname(host, sizeof(host) - 1);
	s->node_name = mem_strdup(host);
}

void settings_clear(struct settings *s)
{
	for (size_t i = 0; i < KEY_COUNT; i++) {
		void *at = (char *)s + keys[i].offset;

		if (keys[i].type == KEY_TEXT)
			free(*(char **)at);
		else if (keys[i].type == KEY_LIST)
			list_clear(at);
	}
	memset(s, 0, sizeof(*s));
}

void settings_write_reference(struct buf_writer *w)
{
	for (size_t i = 0; i < KEY_COUNT; i++) {
		const struct key *k = &keys[i];

		if (k->type == KEY_LATER)
			continue;
		buf_write_format(w, "%s\t%s\t%s\t%s%s%s%s\n", k->section, k->name,
				 k->initial ? k->initial : "-", k->help, k->choices ? " (" : "",
				 k->choices ? k->choices : "", k->choices ? ")" : "");
	}
}
