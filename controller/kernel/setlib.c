// SPDX-License-Identifier: GPL-2.0-or-later
// After an error the library's socket may hold answers that nobody read, so the session is made anew. Why something failed it tells
// only in words.
#include "kernel/setlib.h"

#include <errno.h>
#include <libipset/data.h>
#include <libipset/session.h>
#include <libipset/types.h>

#include <libipset/linux_ip_set_hash.h> /* after the others, which it needs */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LINE_MAX_SIZE 512
#define ERRNO_MAX     134

struct setlib {
	struct ipset_session *session; /* NULL: to be made at the next command */
	bool loaded;                   /* the library knows its types */
	/* Of a listing. */
	setlib_line_fn *fn;
	void *ctx;
	int stopped; /* what `fn` ended it with */
	size_t size;
	char line[LINE_MAX_SIZE];
};

struct setlib *setlib_new(void)
{
	return mem_new(struct setlib);
}

static void setlib_close(struct setlib *l)
{
	if (l->session)
		ipset_session_fini(l->session);
	l->session = NULL;
}

void setlib_free(struct setlib *l)
{
	if (l)
		setlib_close(l);
	free(l);
}

/* ---- errors --------------------------------------------------------------------------------- */

static const struct {
	const char *words;
	int error;
} setlib_errors[] = {
	{"given name does not exist", ENOENT},
	{"same name already exists", EEXIST},
	{"second set does not exist", ENOENT},
	{"their type does not match", EEXIST},
	{"set type not supported", IPSET_ERR_FIND_TYPE},
	{"set type does not supported", IPSET_ERR_FIND_TYPE},
	{"Kernel supports", IPSET_ERR_PROTOCOL}, /* no revision of the type that both know */
	{"maximal number of sets", IPSET_ERR_MAX_SETS},
	{"in use by a kernel component", IPSET_ERR_BUSY},
	{"Hash is full", IPSET_ERR_HASH_FULL},
	{"protocol error", IPSET_ERR_PROTOCOL},
	{"Cannot open session", EPROTONOSUPPORT},
};

static int setlib_errno(const char *message)
{
	for (size_t i = 0; i < sizeof(setlib_errors) / sizeof(setlib_errors[0]); i++)
		if (strstr(message, setlib_errors[i].words))
			return -setlib_errors[i].error;
	for (int e = 1; e < ERRNO_MAX; e++)
		if (strstr(message, strerror(e)))
			return -e;
	return -EPROTO;
}

static int setlib_fail(struct setlib *l)
{
	int error = setlib_errno(ipset_session_report_msg(l->session));

	setlib_close(l);
	return error;
}

bool setlib_is_full(int error)
{
	return error == -IPSET_ERR_HASH_FULL;
}

bool setlib_is_held(int error)
{
	return error == -IPSET_ERR_BUSY;
}

const char *setlib_advise(int error)
{
	switch (-error) {
	case IPSET_ERR_FIND_TYPE:
		return "this kernel has no such type of sets: modprobe ip_set_hash_ip ip_set_hash_ipport "
		       "ip_set_hash_ipportip ip_set_hash_net";
	case IPSET_ERR_BUSY:
		return "a rule of somebody else looks into the set: remove that rule, the set goes at the next look";
	case IPSET_ERR_HASH_FULL:
		return "the set is full: a million entries are the most";
	case IPSET_ERR_MAX_SETS:
		return "the kernel has no room for more sets: modprobe ip_set max_sets=1024";
	case IPSET_ERR_PROTOCOL:
		return "the kernel's ipset does not take this: it is older than Linux 5.10, or another program's set "
		       "has the name";
	}
	return NULL;
}

/* ---- the session ---------------------------------------------------------------------------- */

/* Whole lines go to the callback; what is longer than any line of ours is cut. */
static void setlib_take(struct setlib *l, const char *text)
{
	for (; *text; text++) {
		if (*text != '\n') {
			if (l->size + 1 < sizeof(l->line))
				l->line[l->size++] = *text;
			continue;
		}
		l->line[l->size] = '\0';
		l->size = 0;
		if (l->line[0] && l->fn && !l->stopped)
			l->stopped = l->fn(l->ctx, l->line);
	}
}

/* What the library prints: always as one string. */
static int __attribute__((format(printf, 3, 4)))
setlib_on_print(struct ipset_session *session, void *p, const char *fmt, ...)
{
	struct setlib *l = p;
	const char *text;
	va_list args;

	(void)session;
	va_start(args, fmt);
	text = strcmp(fmt, "%s") == 0 ? va_arg(args, const char *) : "";
	va_end(args);
	setlib_take(l, text);
	return (int)strlen(text);
}

static int setlib_open(struct setlib *l)
{
	if (l->session)
		return 0;
	if (!l->loaded)
		ipset_load_types();
	l->loaded = true;
	l->session = ipset_session_init(setlib_on_print, l);
	if (!l->session)
		return -ENOMEM;
	ipset_envopt_set(l->session, IPSET_ENV_EXIST);
	return 0;
}

static void setlib_put(struct setlib *l, enum ipset_opt opt, const void *value)
{
	/* Fails only for values that are not ours. */
	(void)ipset_session_data_set(l->session, opt, value);
}

static void setlib_put_family(struct setlib *l, enum ruleset_family f)
{
	const uint8_t family = ruleset_address_family(f);

	setlib_put(l, IPSET_OPT_FAMILY, &family);
}

/* The type of the set that was named: from the library's memory, or the kernel is asked. */
static int setlib_put_type(struct setlib *l, enum ipset_cmd cmd)
{
	const struct ipset_type *type = ipset_type_get(l->session, cmd);

	if (!type)
		return setlib_fail(l);
	setlib_put(l, IPSET_OPT_TYPE, type);
	return 0;
}

static int setlib_run(struct setlib *l, enum ipset_cmd cmd, uint32_t number)
{
	return ipset_cmd(l->session, cmd, number) < 0 ? setlib_fail(l) : 0;
}

/* ---- commands ------------------------------------------------------------------------------- */

int setlib_create(struct setlib *l, const char *name, const struct setlib_type *t)
{
	int r = setlib_open(l);

	if (r < 0)
		return r;
	setlib_put(l, IPSET_SETNAME, name);
	setlib_put(l, IPSET_OPT_TYPENAME, ruleset_type_name(t->type));
	setlib_put_family(l, t->family);
	r = setlib_put_type(l, IPSET_CMD_CREATE);
	if (r < 0)
		return r;
	if (t->hash_size)
		setlib_put(l, IPSET_OPT_HASHSIZE, &t->hash_size);
	setlib_put(l, IPSET_OPT_MAXELEM, &t->elements_max);
	if (t->type == RULESET_NET || t->type == RULESET_IP_COUNTED ||
	    t->type == RULESET_IP_PORT_COUNTED)
		setlib_put(l, IPSET_OPT_COUNTERS, name); /* a flag: any value */
	return setlib_run(l, IPSET_CMD_CREATE, 0);
}

int setlib_destroy(struct setlib *l, const char *name)
{
	int r = setlib_open(l);

	if (r < 0)
		return r;
	setlib_put(l, IPSET_SETNAME, name);
	r = setlib_run(l, IPSET_CMD_DESTROY, 0);
	return r == -ENOENT ? 0 : r;
}

int setlib_swap(struct setlib *l, const char *one, const char *other)
{
	int r = setlib_open(l);

	if (r < 0)
		return r;
	setlib_put(l, IPSET_SETNAME, one);
	setlib_put(l, IPSET_OPT_SETNAME2, other);
	return setlib_run(l, IPSET_CMD_SWAP, 0);
}

static void setlib_put_element(struct setlib *l, const struct setlib_element *e)
{
	setlib_put_family(l, ruleset_family_of(e->address));
	setlib_put(l, IPSET_OPT_IP, e->address->bytes);
	if (e->length)
		setlib_put(l, IPSET_OPT_CIDR, &e->length);
	if (e->protocol) {
		setlib_put(l, IPSET_OPT_PROTO, &e->protocol);
		setlib_put(l, IPSET_OPT_PORT, &e->port);
	}
	if (e->peer)
		setlib_put(l, IPSET_OPT_IP2, e->peer->bytes);
	if (e->excepted)
		setlib_put(l, IPSET_OPT_NOMATCH, e);
}

int setlib_change(struct setlib *l, enum setlib_change change, const char *name,
		  const struct setlib_element *e, uint32_t number)
{
	enum ipset_cmd cmd = change == SETLIB_ADD ? IPSET_CMD_ADD : IPSET_CMD_DEL;
	int r = setlib_open(l);

	assert(number);
	if (r < 0)
		return r;
	setlib_put(l, IPSET_SETNAME, name);
	r = setlib_put_type(l, cmd);
	if (r < 0)
		return r;
	setlib_put_element(l, e);
	return setlib_run(l, cmd, number);
}

int setlib_flush(struct setlib *l)
{
	if (!l->session)
		return 0;
	return ipset_commit(l->session) < 0 ? setlib_fail(l) : 0;
}

static int setlib_run_list(struct setlib *l, enum ipset_cmd cmd, setlib_line_fn *fn, void *ctx)
{
	int r;

	l->fn = fn;
	l->ctx = ctx;
	l->stopped = 0;
	l->size = 0;
	r = setlib_run(l, cmd, 0);
	l->fn = NULL;
	return r < 0 ? r : l->stopped;
}

int setlib_list_names(struct setlib *l, setlib_line_fn *fn, void *ctx)
{
	int r = setlib_open(l);

	if (r < 0)
		return r;
	ipset_session_output(l->session, IPSET_LIST_PLAIN);
	ipset_envopt_set(l->session, IPSET_ENV_LIST_SETNAME);
	r = setlib_run_list(l, IPSET_CMD_LIST, fn, ctx);
	if (l->session)
		ipset_envopt_unset(l->session, IPSET_ENV_LIST_SETNAME);
	return r;
}

int setlib_list(struct setlib *l, const char *name, setlib_line_fn *fn, void *ctx)
{
	int r = setlib_open(l);

	if (r < 0)
		return r;
	ipset_session_output(l->session, IPSET_LIST_SAVE);
	setlib_put(l, IPSET_SETNAME, name);
	return setlib_run_list(l, IPSET_CMD_SAVE, fn, ctx);
}

int setlib_list_heads(struct setlib *l, const char *name, setlib_line_fn *fn, void *ctx)
{
	int r = setlib_open(l);

	if (r < 0)
		return r;
	ipset_session_output(l->session, IPSET_LIST_PLAIN);
	ipset_envopt_set(l->session, IPSET_ENV_LIST_HEADER);
	if (name)
		setlib_put(l, IPSET_SETNAME, name);
	r = setlib_run_list(l, IPSET_CMD_LIST, fn, ctx);
	if (l->session)
		ipset_envopt_unset(l->session, IPSET_ENV_LIST_HEADER);
	return r;
}

static int setlib_on_head(void *ctx, const char *line)
{
	static const char words[] = "Number of entries: ";

	if (strncmp(line, words, strlen(words)) == 0)
		*(size_t *)ctx = strtoul(line + strlen(words), NULL, 10);
	return 0;
}

int setlib_length(struct setlib *l, const char *name, size_t *ret_length)
{
	return setlib_list_heads(l, name, setlib_on_head, ret_length);
}
