// SPDX-License-Identifier: GPL-2.0-or-later
// A table of keys and a list of them by their last failure.
#include "access/throttle.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

struct throttle_key {
	char *text;
	unsigned pending; /* attempts under way: is not forgotten */
	unsigned count;   /* in `failed` */
	unsigned strikes; /* times that it had to wait without a quiet window between */
	usec_t until;     /* it waits */
	usec_t failed[THROTTLE_FAILURES_MAX]; /* the last ones, oldest first */
	struct throttle_key *older;
	struct throttle_key *newer;
};

struct throttle {
	struct throttle_rules rules;
	struct table keys;
	struct throttle_key *oldest;
	struct throttle_key *newest;
};

struct throttle *throttle_new(const struct throttle_rules *rules)
{
	struct throttle *t = mem_new(struct throttle);

	assert(rules->failures > 0 && rules->failures <= THROTTLE_FAILURES_MAX);
	t->rules = *rules;
	return t;
}

static bool throttle_is_key(const void *key, const void *item)
{
	return strcmp(key, ((const struct throttle_key *)item)->text) == 0;
}

static void throttle_unlink(struct throttle *t, struct throttle_key *k)
{
	*(k->older ? &k->older->newer : &t->oldest) = k->newer;
	*(k->newer ? &k->newer->older : &t->newest) = k->older;
}

static void throttle_link(struct throttle *t, struct throttle_key *k)
{
	k->older = t->newest;
	k->newer = NULL;
	*(k->older ? &k->older->newer : &t->oldest) = k;
	t->newest = k;
}

static void throttle_forget(struct throttle *t, struct throttle_key *k)
{
	table_remove(&t->keys, hash_text(k->text, t->rules.seed), k->text, throttle_is_key);
	throttle_unlink(t, k);
	free(k->text);
	free(k);
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	while (t->oldest)
		throttle_forget(t, t->oldest);
	table_clear(&t->keys);
	free(t);
}

static struct throttle_key *throttle_find(struct throttle *t, const char *key)
{
	return table_find(&t->keys, hash_text(key, t->rules.seed), key, throttle_is_key);
}

static void throttle_make_room(struct throttle *t)
{
	struct throttle_key *k = t->oldest;

	if (t->keys.count < t->rules.capacity)
		return;
	while (k && k->pending)
		k = k->newer;
	if (k)
		throttle_forget(t, k);
}

static struct throttle_key *throttle_get(struct throttle *t, const char *key)
{
	struct throttle_key *k = throttle_find(t, key);

	if (k)
		return k;
	throttle_make_room(t);
	k = mem_new(struct throttle_key);
	k->text = mem_strdup(key);
	table_add(&t->keys, hash_text(key, t->rules.seed), k);
	throttle_link(t, k);
	return k;
}

/* Failures within the window. */
static unsigned throttle_recent(const struct throttle *t, const struct throttle_key *k, usec_t now)
{
	unsigned count = 0;

	for (unsigned i = 0; i < k->count; i++)
		count += k->failed[i] + t->rules.window > now;
	return count;
}

usec_t throttle_wait(struct throttle *t, const char *key, usec_t now)
{
	const struct throttle_key *k = throttle_find(t, key);

	return k && k->until > now ? k->until - now : 0;
}

usec_t throttle_begin(struct throttle *t, const char *key, usec_t now)
{
	usec_t wait = throttle_wait(t, key, now);
	struct throttle_key *k;

	if (wait)
		return wait;
	k = throttle_get(t, key);
	/* What is under way could all be guesses; one at a time is always let through. */
	if (k->pending && throttle_recent(t, k, now) + k->pending >= t->rules.failures)
		return USEC_PER_SEC;
	k->pending++;
	return 0;
}

static usec_t throttle_next_wait(const struct throttle *t, unsigned strikes)
{
	usec_t wait = t->rules.first_wait;

	while (strikes-- > 0 && wait < t->rules.longest_wait)
		wait *= 2;
	return wait < t->rules.longest_wait ? wait : t->rules.longest_wait;
}

static void throttle_note(struct throttle *t, struct throttle_key *k, usec_t now)
{
	if (k->count > 0 && k->failed[k->count - 1] + t->rules.window <= now &&
	    k->until + t->rules.window <= now)
		k->strikes = 0;
	if (k->count == t->rules.failures) {
		memmove(k->failed, k->failed + 1, (k->count - 1) * sizeof(k->failed[0]));
		k->count--;
	}
	k->failed[k->count++] = now;
	if (throttle_recent(t, k, now) >= t->rules.failures)
		k->until = now + throttle_next_wait(t, k->strikes++);
	throttle_unlink(t, k);
	throttle_link(t, k);
}

void throttle_fail(struct throttle *t, const char *key, usec_t now)
{
	throttle_note(t, throttle_get(t, key), now);
}

void throttle_end(struct throttle *t, const char *key, enum throttle_outcome outcome, usec_t now)
{
	struct throttle_key *k = throttle_find(t, key);

	assert(k && k->pending > 0);
	k->pending--;
	if (outcome == THROTTLE_FAILED)
		throttle_note(t, k, now);
	else if (k->count == 0 && k->pending == 0)
		throttle_forget(t, k);
}

size_t throttle_count(const struct throttle *t)
{
	return t->keys.count;
}
