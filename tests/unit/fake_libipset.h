/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in for libipset: a kernel of a few sets in memory, which answers as the library does. Include it in one file of a program. */
#ifndef ZG_TESTS_FAKE_LIBIPSET_H
#define ZG_TESTS_FAKE_LIBIPSET_H

#include <arpa/inet.h>
#include <assert.h>
#include <libipset/data.h>
#include <libipset/session.h>
#include <libipset/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FAKE_SETS     16
#define FAKE_ELEMENTS 8192

struct ipset_data {
	char name[64];
	char name2[64];
	char type[64];
	uint8_t family;
	char element[128]; /* as "ipset save" prints it */
	uint8_t protocol;
	bool excepted;
	bool counters;
	uint32_t elements_max;
};

struct ipset_session {
	ipset_print_outfn print;
	void *p;
	struct ipset_data data;
	enum ipset_output_mode mode;
	unsigned options;
	char report[256];
	size_t queued;
	struct {
		enum ipset_cmd cmd;
		struct ipset_data data;
		uint32_t number;
	} queue[2048];
};

static struct {
	struct {
		char name[64]; /* "" = none */
		char type[64];
		uint8_t family;
		uint32_t elements_max;
		bool counters;
		/* "" = none; excepted ones begin with "!" */
		char (*elements)[64];
	} sets[FAKE_SETS];
	unsigned loads;
	unsigned sessions; /* made */
	unsigned open;
	unsigned commits; /* that sent something */
	unsigned swaps;
	unsigned changes; /* elements that were added or deleted, there or not */
	/* What happens at each of them. */
	void (*watch)(const char *set);
	const char *fail;   /* the report of every command, or NULL */
	const char *refuse; /* an element that the kernel does not take, or NULL */
} fake_ipset;

void ipset_load_types(void)
{
	fake_ipset.loads++;
}

struct ipset_session *ipset_session_init(ipset_print_outfn outfn, void *p)
{
	struct ipset_session *s = mem_new(struct ipset_session);

	assert(fake_ipset.loads == 1);
	s->print = outfn;
	s->p = p;
	fake_ipset.sessions++;
	fake_ipset.open++;
	return s;
}

int ipset_session_fini(struct ipset_session *s)
{
	free(s);
	fake_ipset.open--;
	return 0;
}

struct ipset_data *ipset_session_data(const struct ipset_session *s)
{
	union {
		const struct ipset_session *read_only;
		struct ipset_session *session;
	} cast = {.read_only = s};

	return &cast.session->data;
}

const char *ipset_session_report_msg(const struct ipset_session *s)
{
	return s->report;
}

void ipset_envopt_set(struct ipset_session *s, enum ipset_envopt o)
{
	s->options |= o;
}

void ipset_envopt_unset(struct ipset_session *s, enum ipset_envopt o)
{
	s->options &= ~(unsigned)o;
}

int ipset_session_output(struct ipset_session *s, enum ipset_output_mode mode)
{
	s->mode = mode;
	return 0;
}

static inline void fake_put_element(struct ipset_data *d, const char *what)
{
	size_t used = strlen(d->element);

	snprintf(d->element + used, sizeof(d->element) - used, "%s%s", used ? "," : "", what);
}

int ipset_data_set(struct ipset_data *d, enum ipset_opt opt, const void *value)
{
	const uint16_t *port = value;
	char text[64];

	switch ((int)opt) {
	case IPSET_SETNAME:
		snprintf(d->name, sizeof(d->name), "%s", (const char *)value);
		return 0;
	case IPSET_OPT_TYPENAME:
		snprintf(d->type, sizeof(d->type), "%s", (const char *)value);
		return 0;
	case IPSET_OPT_FAMILY:
		d->family = *(const uint8_t *)value;
		return 0;
	case IPSET_OPT_MAXELEM:
		d->elements_max = *(const uint32_t *)value;
		return 0;
	case IPSET_OPT_IP:
		assert(d->family); /* the library needs it before */
		fake_put_element(d, inet_ntop(d->family, value, text, sizeof(text)));
		return 0;
	case IPSET_OPT_SETNAME2:
		snprintf(d->name2, sizeof(d->name2), "%s", (const char *)value);
		return 0;
	case IPSET_OPT_CIDR:
		if (*(const uint8_t *)value < (d->family == AF_INET ? 32 : 128)) {
			size_t used = strlen(d->element);

			snprintf(d->element + used, sizeof(d->element) - used, "/%u",
				 *(const uint8_t *)value);
		}
		return 0;
	case IPSET_OPT_IP2:
		fake_put_element(d, inet_ntop(d->family, value, text, sizeof(text)));
		return 0;
	case IPSET_OPT_NOMATCH:
		d->excepted = true;
		return 0;
	case IPSET_OPT_COUNTERS:
		d->counters = true;
		return 0;
	case IPSET_OPT_PROTO:
		d->protocol = *(const uint8_t *)value;
		return 0;
	case IPSET_OPT_PORT:
		snprintf(text, sizeof(text), "%s:%u",
			 d->protocol == IPPROTO_TCP   ? "tcp"
			 : d->protocol == IPPROTO_UDP ? "udp"
						      : "132",
			 *port);
		fake_put_element(d, text);
		return 0;
	default:
		return 0;
	}
}

static inline int fake_report(struct ipset_session *s, const char *text)
{
	snprintf(s->report, sizeof(s->report), "%s\n", text);
	return -1;
}

static inline int fake_find(const char *name)
{
	for (int i = 0; i < FAKE_SETS; i++)
		if (fake_ipset.sets[i].name[0] && strcmp(fake_ipset.sets[i].name, name) == 0)
			return i;
	return -1;
}

const struct ipset_type *ipset_type_get(struct ipset_session *s, enum ipset_cmd cmd)
{
	static const struct ipset_type type;

	assert(cmd != IPSET_CMD_CREATE || s->data.type[0]); /* the library dies of it */
	if (!fake_ipset.fail && (cmd == IPSET_CMD_CREATE || fake_find(s->data.name) >= 0))
		return &type;
	fake_report(s, fake_ipset.fail ? fake_ipset.fail
				       : "The set with the given name does not exist");
	return NULL;
}

static inline int fake_change(struct ipset_session *s, enum ipset_cmd cmd,
			      const struct ipset_data *d, uint32_t number)
{
	int set = fake_find(d->name);
	int room = -1;
	char text[128];

	assert(set >= 0);
	fake_ipset.changes++;
	if (fake_ipset.refuse && strcmp(fake_ipset.refuse, d->element) == 0) {
		snprintf(text, sizeof(text),
			 "Error in line %u: Hash is full, cannot add more elements", number);
		return fake_report(s, text);
	}
	for (int i = FAKE_ELEMENTS - 1; i >= 0; i--) {
		char *e = fake_ipset.sets[set].elements[i];

		if (*e && strcmp(e + (*e == '!'), d->element) == 0) {
			*e = '\0'; /* added anew: its flag may be another */
			room = i;
			break;
		}
		room = *e ? room : i;
	}
	if (cmd == IPSET_CMD_ADD) {
		assert(room >= 0);
		snprintf(fake_ipset.sets[set].elements[room], 64, "%s%.62s", d->excepted ? "!" : "",
			 d->element);
	}
	if (fake_ipset.watch)
		fake_ipset.watch(d->name);
	return 0;
}

int ipset_commit(struct ipset_session *s)
{
	int r = 0;

	fake_ipset.commits += s->queued > 0;
	for (size_t i = 0; i < s->queued && !r; i++)
		r = fake_change(s, s->queue[i].cmd, &s->queue[i].data, s->queue[i].number);
	s->queued = 0;
	return r;
}

static inline int fake_create(struct ipset_session *s, const struct ipset_data *d)
{
	int i = fake_find(d->name);

	if (i >= 0)
		return strcmp(fake_ipset.sets[i].type, d->type) == 0
			       ? 0
			       : fake_report(s, "Set cannot be created: set with the same name "
						"already exists");
	for (i = 0; fake_ipset.sets[i].name[0]; i++)
		assert(i + 1 < FAKE_SETS);
	memset(&fake_ipset.sets[i], 0, sizeof(fake_ipset.sets[i]));
	snprintf(fake_ipset.sets[i].name, 64, "%s", d->name);
	snprintf(fake_ipset.sets[i].type, 64, "%s", d->type);
	fake_ipset.sets[i].family = d->family;
	fake_ipset.sets[i].elements_max = d->elements_max;
	fake_ipset.sets[i].counters = d->counters;
	fake_ipset.sets[i].elements = mem_alloc_array(FAKE_ELEMENTS, 64);
	return 0;
}

static inline int fake_destroy(int set)
{
	if (set < 0)
		return 0;
	free(fake_ipset.sets[set].elements);
	memset(&fake_ipset.sets[set], 0, sizeof(fake_ipset.sets[set]));
	return 0;
}

/* All of it, between two tests. */
static inline void fake_reset(void)
{
	for (int i = 0; i < FAKE_SETS; i++)
		fake_destroy(i);
	memset(&fake_ipset, 0, sizeof(fake_ipset));
}

static inline int fake_swap(struct ipset_session *s, const struct ipset_data *d)
{
	int one = fake_find(d->name);
	int other = fake_find(d->name2);
	char(*elements)[64];

	if (one < 0 || other < 0)
		return fake_report(s, "Sets cannot be swapped: the second set does not exist");
	elements = fake_ipset.sets[one].elements;
	fake_ipset.sets[one].elements = fake_ipset.sets[other].elements;
	fake_ipset.sets[other].elements = elements;
	fake_ipset.swaps++;
	if (fake_ipset.watch)
		fake_ipset.watch(d->name2);
	return 0;
}

static inline size_t fake_length(int set)
{
	size_t n = 0;

	for (int i = 0; i < FAKE_ELEMENTS; i++)
		n += fake_ipset.sets[set].elements[i][0] != '\0';
	return n;
}

static inline int fake_save(struct ipset_session *s, const char *name)
{
	int set = fake_find(name);
	char text[400];

	if (set < 0)
		return fake_report(s, "The set with the given name does not exist");
	snprintf(text, sizeof(text), "create %s %s family %s maxelem %u\nadd", name,
		 fake_ipset.sets[set].type,
		 fake_ipset.sets[set].family == AF_INET ? "inet" : "inet6",
		 fake_ipset.sets[set].elements_max);
	s->print(s, s->p, "%s", text);
	/* It is printed when the library's buffer is full, wherever that is in a line. */
	for (int i = 0; i < FAKE_ELEMENTS; i++) {
		const char *e = fake_ipset.sets[set].elements[i];

		if (!*e)
			continue;
		snprintf(text, sizeof(text), " %s %s%s%s\nadd", name, e + (*e == '!'),
			 *e == '!' ? " nomatch" : "",
			 fake_ipset.sets[set].counters ? " packets 3 bytes 180" : "");
		s->print(s, s->p, "%s", text);
	}
	s->print(s, s->p, "%s", "");
	return 0;
}

static inline int fake_head(struct ipset_session *s, const char *name)
{
	int set = fake_find(name);
	char text[200];

	if (set < 0)
		return fake_report(s, "The set with the given name does not exist");
	snprintf(
		text, sizeof(text),
		"Name: %s\nType: %s\nHeader: family %s hashsize 1024\nSize in memory: 512\nReferences: 1\n"
		"Number of entries: %zu\n",
		name, fake_ipset.sets[set].type, strncmp(name, "zg6", 3) == 0 ? "inet6" : "inet",
		fake_length(set));
	s->print(s, s->p, "%s", text);
	return 0;
}

static inline int fake_heads(struct ipset_session *s)
{
	for (int i = 0; i < FAKE_SETS; i++)
		if (fake_ipset.sets[i].name[0])
			fake_head(s, fake_ipset.sets[i].name);
	return 0;
}

static inline void fake_names(struct ipset_session *s)
{
	assert(s->options & IPSET_ENV_LIST_SETNAME);
	for (int i = 0; i < FAKE_SETS; i++) {
		if (!fake_ipset.sets[i].name[0])
			continue;
		s->print(s, s->p, "%s", fake_ipset.sets[i].name);
		s->print(s, s->p, "%s", "\n");
	}
}

int ipset_cmd(struct ipset_session *s, enum ipset_cmd cmd, uint32_t lineno)
{
	const struct ipset_data d = s->data;
	int set = fake_find(d.name);

	s->data = (struct ipset_data){0};
	if (fake_ipset.fail)
		return fake_report(s, fake_ipset.fail);
	if (cmd == IPSET_CMD_ADD || cmd == IPSET_CMD_DEL) {
		if (s->queued && strcmp(s->queue[0].data.name, d.name) != 0 && ipset_commit(s) < 0)
			return -1;
		assert(lineno && s->queued < sizeof(s->queue) / sizeof(s->queue[0]));
		s->queue[s->queued].cmd = cmd;
		s->queue[s->queued].number = lineno;
		s->queue[s->queued++].data = d;
		return 0;
	}
	if (ipset_commit(s) < 0)
		return -1;
	if (cmd == IPSET_CMD_CREATE)
		return fake_create(s, &d);
	if (cmd == IPSET_CMD_SAVE)
		return fake_save(s, d.name);
	if (cmd == IPSET_CMD_SWAP)
		return fake_swap(s, &d);
	if (cmd == IPSET_CMD_LIST && s->options & IPSET_ENV_LIST_HEADER)
		return d.name[0] ? fake_head(s, d.name) : fake_heads(s);
	if (cmd == IPSET_CMD_LIST)
		fake_names(s);
	return cmd == IPSET_CMD_DESTROY ? fake_destroy(set) : 0;
}

/* Whether the set is there and holds the element; "" asks for the set alone. */
static inline bool fake_holds(const char *name, const char *element)
{
	int set = fake_find(name);

	for (int i = 0; set >= 0 && i < FAKE_ELEMENTS; i++)
		if (!*element || strcmp(fake_ipset.sets[set].elements[i], element) == 0)
			return true;
	return false;
}

#endif
