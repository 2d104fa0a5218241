// SPDX-License-Identifier: GPL-2.0-or-later
// The settings file: read whole, split into lines by inih, and each value put where its row of settings_keys.c says.
#include "settings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "settings_keys.h"
#include "settings_value.h"

#define FAULT_MAX 1024

/* One file being read: inih has no line numbers in its handler, so the reader counts. */
struct reading {
	struct settings *settings;
	struct err *err;
	const char *name;
	const char *at; /* what is not read yet */
	const char *end;
	unsigned line;
	bool section_told; /* the section under way is unknown, and that was told */
	bool seen
		[SETTINGS_KEYS_MAX]; /* in this file: a list starts anew, a second single value is an error */
};

static void fault(struct reading *r, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void fault(struct reading *r, enum err_code code, const char *fmt, ...)
{
	char place[PATH_MAX + 16];
	char detail[FAULT_MAX];
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

static bool list_holds(const struct settings_list *list, const char *item)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], item) == 0)
			return true;
	return false;
}

/* Tells what is wrong with one value, as it stands there: its bytes are printed, so they are looked at first. */
static bool value_is_good(struct reading *r, const struct settings_key *k, const char *value)
{
	const char *wrong = settings_value_fault(k->form, value);
	bool printable = !settings_value_fault(VALUE_PRINTABLE, value);

	if (wrong && printable)
		fault(r, ERR_FORMAT, "%s: \"%.200s\" %s", k->name, value, wrong);
	else if (wrong)
		fault(r, ERR_FORMAT, "%s: a value with other than printable characters %s", k->name,
		      wrong);
	return !wrong;
}

static void list_add(struct reading *r, const struct settings_key *k, struct settings_list *list,
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
		if (!value_is_good(r, k, item))
			continue;
		if (list_holds(list, item))
			fault(r, ERR_DUPLICATE, "%s: %s stands there twice: keep one", k->name,
			      item);
		else
			list->items[list->count++] = mem_strdup(item);
	}
}

static void set_text(struct reading *r, const struct settings_key *k, char **at, const char *value)
{
	if (!value_is_good(r, k, value))
		return;
	free(*at);
	*at = mem_strdup(value);
}

static void set_number(struct reading *r, const struct settings_key *k, const char *value,
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

/* Defaults stand in no line. */
static void note_place(struct reading *r, size_t index)
{
	struct settings_place *p = &r->settings->places[index];

	if (r->line == 0)
		return;
	free(p->file);
	*p = (struct settings_place){mem_strdup(r->name), r->line, ++r->settings->places_given};
}

static void set_key(struct reading *r, size_t index, const char *value)
{
	const struct settings_key *k = &settings_keys[index];
	void *at = (char *)r->settings + k->offset;

	if (!value[strspn(value, k->type == KEY_LIST ? ", \t" : "")]) {
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
		set_text(r, k, at, value);
	} else {
		set_number(r, k, value, at);
	}
	r->seen[index] = true;
	note_place(r, index);
}

static bool section_known(const char *section)
{
	for (size_t i = 0; i < settings_keys_count; i++)
		if (strcmp(settings_keys[i].section, section) == 0)
			return true;
	return false;
}

/* Rows of a section stand together in the table. */
static void fault_section(struct reading *r, const char *section)
{
	char known[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < settings_keys_count && at < sizeof(known); i++)
		if (i == 0 || strcmp(settings_keys[i].section, settings_keys[i - 1].section) != 0)
			at += (size_t)snprintf(known + at, sizeof(known) - at, " [%s]",
					       settings_keys[i].section);
	if (!r->section_told)
		fault(r, ERR_UNKNOWN, "unknown section [%s]; known are%s", section, known);
	r->section_told = true;
}

static void fault_key(struct reading *r, const char *section, const char *name)
{
	struct nearest n = {.typed = name};

	for (size_t i = 0; i < settings_keys_count; i++)
		if (strcmp(settings_keys[i].section, section) == 0)
			nearest_look_at(&n, settings_keys[i].name);
	if (n.word)
		fault(r, ERR_UNKNOWN, "unknown key \"%s\" in section [%s]; did you mean \"%s\"?",
		      name, section, n.word);
	else
		fault(r, ERR_UNKNOWN, "unknown key \"%s\" in section [%s]: see zonegate.conf(5)",
		      name, section);
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
	struct reading *r = user;

	for (size_t i = 0; i < settings_keys_count; i++) {
		if (strcmp(settings_keys[i].section, section) == 0 &&
		    strcmp(settings_keys[i].name, name) == 0) {
			set_key(r, i, value ? value : "");
			return 1;
		}
	}
	if (!section[0])
		fault(r, ERR_UNKNOWN, "\"%s\" stands before any [section]", name);
	else if (!section_known(section))
		fault_section(r, section);
	else
		fault_key(r, section, name);
	return 1;
}

/* Also a section in which nothing stands: inih tells sections with their keys only. */
static void check_heading(struct reading *r, const char *line)
{
	const char *begin = line + strspn(line, " \t");
	size_t length = strcspn(begin, "]");
	char *section AUTO_FREE = NULL;

	if (begin[0] != '[' || length < 2 || !begin[length])
		return;
	section = mem_printf("%.*s", (int)length - 1, begin + 1);
	r->section_told = false;
	if (!section_known(section))
		fault_section(r, section);
}

/* What inih would silently join, cut or take as part of a value; and what no terminal should be shown. */
static bool line_is_good(struct reading *r, const char *line, size_t length)
{
	size_t begin = strspn(line, " \t");

	if (length > SETTINGS_LINE_MAX)
		fault(r, ERR_LIMIT, "the line has %zu bytes, more than the %d that are taken",
		      length, SETTINGS_LINE_MAX);
	else if (strlen(line) < length)
		fault(r, ERR_FORMAT, "a NUL byte stands in the line");
	else if (line[begin] != '#' && line[begin] != ';' && settings_value_has_control(line))
		fault(r, ERR_FORMAT, "a control character stands in the line");
	else
		return true;
	return false;
}

/* inih's reader: the next line without blanks before it (they would join it to the one before), empty if it was refused. */
static char *read_line(char *text, int size, void *stream)
{
	struct reading *r = stream;
	const char *newline;
	char *line AUTO_FREE = NULL;
	size_t length;
	size_t skip;

	if (r->at == r->end)
		return NULL;
	r->line++;
	newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
	length = (size_t)((newline ? newline : r->end) - r->at);
	line = mem_alloc(length + 1);
	memcpy(line, r->at, length);
	line[length] = '\0';
	r->at = newline ? newline + 1 : r->end;
	if (length > 0 && line[length - 1] == '\r')
		line[--length] = '\0';
	text[0] = '\0';
	if (!line_is_good(r, line, length))
		return text;
	assert(length < (size_t)size);
	check_heading(r, line);
	skip = strspn(line, " \t");
	memcpy(text, line + skip, length - skip + 1);
	return text;
}

int settings_load_text(struct settings *s, const char *text, size_t size, const char *name,
		       struct err *e)
{
	struct reading r = {.settings = s, .err = e, .name = name, .at = text, .end = text + size};
	size_t before = e->total;
	int line;

	ini_max_line = SETTINGS_LINE_MAX + 3; /* else 200 bytes; 3 are for its line end and NUL */
	line = ini_parse_stream(read_line, &r, on_line, &r);
	if (line > 0) {
		r.line = (unsigned)line;
		fault(&r, ERR_SYNTAX, "neither [section], nor key = value, nor a comment");
	} else if (line < 0) {
		fault(&r, ERR_INTERNAL, "cannot be parsed");
	}
	return e->total == before ? 0 : -EINVAL;
}

static int load_file(struct settings *s, const char *path, enum settings_presence presence,
		     struct err *e)
{
	char *text AUTO_FREE = NULL;
	char why[FILE_FAULT_MAX];
	size_t size;
	int result = file_read(path, SETTINGS_FILE_MAX, &text, &size);

	if (result == -ENOENT && presence == SETTINGS_OPTIONAL)
		return 0;
	if (result < 0)
		return err_set(e, result == -EFBIG ? ERR_LIMIT : ERR_NOT_FOUND, path, "%s",
			       file_describe_fault(path, SETTINGS_FILE_MAX, result, why));
	return settings_load_text(s, text, size, path, e);
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
	for (size_t i = 0; i < settings_keys_count; i++)
		if (settings_keys[i].initial)
			set_key(&r, i, settings_keys[i].initial);
	assert(!err_any(&e));
	gethostname(host, sizeof(host) - 1);
	/* Nobody has to name the host as we want nodes to be named. */
	s->node_name = mem_strdup(settings_value_fault(VALUE_HOST, host) ? "localhost" : host);
}

void settings_clear(struct settings *s)
{
	for (size_t i = 0; i < settings_keys_count; i++) {
		void *at = (char *)s + settings_keys[i].offset;

		free(s->places[i].file);
		if (settings_keys[i].type == KEY_TEXT)
			free(*(char **)at);
		else if (settings_keys[i].type == KEY_LIST)
			list_clear(at);
	}
	memset(s, 0, sizeof(*s));
}

void settings_write_reference(struct buf_writer *w)
{
	for (size_t i = 0; i < settings_keys_count; i++) {
		const struct settings_key *k = &settings_keys[i];

		buf_write_format(w, "%s\t%s\t%s\t%s%s%s%s\n", k->section, k->name,
				 k->initial ? k->initial : "-", k->help, k->choices ? " (" : "",
				 k->choices ? k->choices : "", k->choices ? ")" : "");
	}
}
