// SPDX-License-Identifier: GPL-2.0-or-later
// What was told last, one row for each thing. It decides nothing but whether something is news.
#include "engine/told.h"

#include <string.h>

#include "base/mem.h"
#include "engine/parts.h"

#define TOLD_KIND "told"

struct told_entry {
	char *key;
	char *value;
};

static bool entry_is(const void *key, const void *item)
{
	const struct told_entry *entry = item;

	return strcmp(key, entry->key) == 0;
}

static void entry_free(struct told_entry *entry)
{
	free(entry->key);
	free(entry->value);
	free(entry);
}

static struct told_entry *find(const struct engine *e, const char *key)
{
	return table_find(&e->told, hash_text(key, 0), key, entry_is);
}

static void set(struct engine *e, const char *key, const char *value)
{
	struct told_entry *entry = find(e, key);

	if (!entry) {
		entry = mem_new(struct told_entry);
		entry->key = mem_strdup(key);
		table_add(&e->told, hash_text(key, 0), entry);
	}
	free(entry->value);
	entry->value = mem_strdup(value);
}

static char *encode(const char *value)
{
	json_t *json = json_string(value);
	char *text = json_dumps(json, JSON_ENCODE_ANY);

	json_decref(json);
	assert(text);
	return text;
}

bool told_is_news(struct engine *e, const char *key, const char *value)
{
	if (told_was(e, key, value))
		return false;
	set(e, key, value);
	rows_put(e, TOLD_KIND, key, encode(value));
	return true;
}

bool told_was(const struct engine *e, const char *key, const char *value)
{
	const struct told_entry *entry = find(e, key);

	return entry && strcmp(entry->value, value) == 0;
}

bool told_knows(const struct engine *e, const char *key)
{
	return find(e, key);
}

void told_forget(struct engine *e, const char *key)
{
	struct told_entry *entry = table_remove(&e->told, hash_text(key, 0), key, entry_is);

	if (!entry)
		return;
	entry_free(entry);
	rows_put(e, TOLD_KIND, key, NULL);
}

void told_load_row(struct engine *e, const struct store_row *row)
{
	json_t *json = json_loads(row->value, JSON_DECODE_ANY, NULL);

	if (json_is_string(json))
		set(e, row->key, json_string_value(json));
	json_decref(json);
}

void told_free(struct engine *e)
{
	struct told_entry *entry;
	size_t cursor = 0;

	while ((entry = table_next(&e->told, &cursor)))
		entry_free(entry);
	table_clear(&e->told);
}
