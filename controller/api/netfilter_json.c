// SPDX-License-Identifier: GPL-2.0-or-later
// A set or the rules of a table are what the operations say that would mend them: none, and they are in force.
#include "api/netfilter_json.h"

#include "base/buf.h"
#include "base/mem.h"
#include "engine/status.h"
#include "plan/rules_text.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static json_t *netfilter_json_family(uint8_t family)
{
	return family == AF_INET    ? json_string("ipv4")
	       : family == AF_INET6 ? json_string("ipv6")
				    : json_null();
}

/* ---- what it is for ---- */

struct netfilter_json_state {
	struct ruleset_id id;
	enum netfilter_json_rank { SET_MISSING, SET_UNWANTED, SET_CHANGED } rank;
};

struct netfilter_json_list {
	const struct engine *engine;
	const struct netfilter *filters;
	enum netfilter_owner owner;
	struct netfilter_json_state *states; /* of sets that are not as they should be, sorted */
	size_t state_count;
	const struct access_list **lists; /* sorted by uid */
	size_t list_count;
	bool fine;
	json_t *sets;
	json_t *rules;
};

static int netfilter_json_compare_lists(const void *a, const void *b)
{
	const struct access_list *x = *(const struct access_list *const *)a;
	const struct access_list *y = *(const struct access_list *const *)b;

	return (x->o.uid > y->o.uid) - (x->o.uid < y->o.uid);
}

static void netfilter_json_sort_lists(struct netfilter_json_list *l)
{
	const struct vec *lists = &engine_snapshot(l->engine)->access_lists;

	l->lists = mem_alloc_array(lists->count + 1, sizeof(*l->lists));
	for (size_t i = 0; i < lists->count; i++)
		l->lists[l->list_count++] = lists->items[i];
	qsort(l->lists, l->list_count, sizeof(*l->lists), netfilter_json_compare_lists);
}

static const char *netfilter_json_list_name(const struct netfilter_json_list *l, uint64_t uid)
{
	const struct access_list key = {.o.uid = uid}, *const at = &key;
	const struct access_list **found = bsearch(&at, l->lists, l->list_count, sizeof(*l->lists),
						   netfilter_json_compare_lists);

	return found ? (*found)->o.name : NULL;
}

/* In the text: % is the access list, # the uid as a number, @ as a mark. */
static const char *netfilter_json_words(enum ruleset_kind kind)
{
	switch (kind) {
	case RULESET_OPEN:
		return "ports of guarded VIPs that are open";
	case RULESET_FTP:
		return "guarded VIPs with FTP";
	case RULESET_MARK:
		return "VIPs of the port range with mark @";
	case RULESET_RANGED:
		return "VIPs with port ranges";
	case RULESET_SINGLE:
		return "ports of their own at VIPs with port ranges";
	case RULESET_PEERS:
		return "other gateways, and where they probe: no access list is asked";
	case RULESET_AT:
		return "where access list % is asked";
	case RULESET_LIST:
		return "entries of access list %";
	case RULESET_TEMP:
		return "access list %, while it is filled";
	case RULESET_LIMIT_TCP:
	case RULESET_LIMIT_UDP:
		return "listeners with a rate_limit of # a second";
	case RULESET_MAX_TCP:
	case RULESET_MAX_UDP:
	case RULESET_MAX_RANGE:
		return "a listener with max_connections";
	case RULESET_LIMIT_RANGE:
		return "a listener with a port range and a rate_limit";
	case RULESET_SNAT:
	case RULESET_SNAT_KEEP:
		return "servers that see this gateway as their client";
	case RULESET_AUTO:
	case RULESET_AUTO_KEEP:
		return "servers that see this gateway as their client where one of their network is it";
	case RULESET_AUTO_TO:
	case RULESET_AUTO_KEEP_TO:
		return "servers of a group that may be clients of their own VIP";
	case RULESET_AUTO_FROM:
		return "the clients among the servers of a group";
	case RULESET_DROP:
		return "guarded VIPs: what is not open is dropped";
	case RULESET_REJECT:
		return "guarded VIPs: what is not open is refused";
	case RULESET_KIND_COUNT:
		break;
	}
	return "";
}

static char *netfilter_json_use(const struct ruleset_id *id, const char *list)
{
	AUTO_BUF struct buf_writer w = {0};

	buf_writer_init(&w, 1024);
	for (const char *p = netfilter_json_words(id->kind); *p; p++) {
		if (*p == '%')
			buf_write_text(&w, list ? list : "(removed)");
		else if (*p == '#')
			buf_write_format(&w, "%" PRIu64, id->uid);
		else if (*p == '@')
			buf_write_format(&w, "0x%" PRIx64, id->uid);
		else
			buf_write(&w, p, 1);
	}
	return mem_strdup(buf_text(&w));
}

/* ---- sets ---- */

static int netfilter_json_compare_states(const void *a, const void *b)
{
	const struct netfilter_json_state *x = a, *y = b;
	int order = ruleset_compare_ids(&x->id, &y->id);

	return order ? order : (int)x->rank - (int)y->rank;
}

/* What the operations make of sets; each set once, the first rank counts. */
static void netfilter_json_sort_states(struct netfilter_json_list *l, const struct plan_ops *ops)
{
	size_t kept = 0;

	l->states = mem_alloc_array(ops->count + 1, sizeof(*l->states));
	for (size_t i = 0; i < ops->count; i++) {
		const struct plan_op *op = &ops->ops[i];

		if (op->kind != PLAN_SET_RULES && op->kind != PLAN_DELETE_RULES)
			l->states[l->state_count++] = (struct netfilter_json_state){
				op->entry.set, op->kind == PLAN_ADD_SET      ? SET_MISSING
					       : op->kind == PLAN_DELETE_SET ? SET_UNWANTED
									     : SET_CHANGED};
	}
	qsort(l->states, l->state_count, sizeof(*l->states), netfilter_json_compare_states);
	for (size_t i = 0; i < l->state_count; i++)
		if (!kept || ruleset_compare_ids(&l->states[kept - 1].id, &l->states[i].id) != 0)
			l->states[kept++] = l->states[i];
	l->state_count = kept;
}

static int netfilter_json_find_state(const void *key, const void *item)
{
	return ruleset_compare_ids(key, &((const struct netfilter_json_state *)item)->id);
}

static const char *netfilter_json_set_state(const struct netfilter_json_list *l,
					    const struct ruleset_id *id)
{
	static const char *const names[] = {
		[SET_MISSING] = "missing", [SET_UNWANTED] = "unwanted", [SET_CHANGED] = "changed"};
	const struct netfilter_json_state *s = bsearch(id, l->states, l->state_count, sizeof(*s),
						       netfilter_json_find_state);

	return s ? names[s->rank] : "in_force";
}

static void netfilter_json_add_ours(struct netfilter_json_list *l, const struct ruleset_id *id,
				    const char *state, json_t *set)
{
	const char *list = netfilter_json_list_name(l, id->uid);
	AUTO_FREE char *use = netfilter_json_use(id, list);

	l->fine &= strcmp(state, "in_force") == 0;
	json_object_set_new(set, "use", json_string(use));
	json_object_set_new(set, "state", json_string(state));
	if (list &&
	    (id->kind == RULESET_LIST || id->kind == RULESET_AT || id->kind == RULESET_TEMP))
		json_object_set_new(set, "access_list", json_string(list));
	if (l->owner != NETFILTER_FOREIGN)
		json_array_append(l->sets, set);
	json_decref(set);
}

static void netfilter_json_add_set(struct netfilter_json_list *l, const struct netfilter_set *s)
{
	struct ruleset_id id;
	bool ours = ruleset_parse_id(s->name, &id);
	json_t *set = json_pack("{s:s, s:s, s:s, s:o, s:I, s:I, s:I}", "name", s->name, "owner",
				ours ? "zonegate" : "foreign", "type", s->type, "family",
				netfilter_json_family(s->family), "entries", (json_int_t)s->entries,
				"memory_bytes", (json_int_t)s->memory, "references",
				(json_int_t)s->references);

	if (ours)
		netfilter_json_add_ours(l, &id, netfilter_json_set_state(l, &id), set);
	else if (l->owner != NETFILTER_OURS)
		json_array_append_new(l->sets, set);
	else
		json_decref(set);
}

/* What should be there. */
static void netfilter_json_add_missing(struct netfilter_json_list *l, const struct ruleset_id *id)
{
	char name[RULESET_NAME_MAX];
	json_t *set;

	if (ruleset_find_set(&l->filters->ruleset, id))
		return;
	set = json_pack("{s:s, s:s, s:s, s:o, s:i, s:i, s:i}", "name", ruleset_format_id(id, name),
			"owner", "zonegate", "type", ruleset_type_name(ruleset_type_of(id->kind)),
			"family", netfilter_json_family(ruleset_address_family(id->family)),
			"entries", 0, "memory_bytes", 0, "references", 0);
	netfilter_json_add_ours(l, id, "missing", set);
}

/* ---- rules ---- */

static size_t netfilter_json_count(const char *text, const char *words, json_t *chains)
{
	size_t count = 0, length = strlen(words);

	for (const char *line = text; *line;) {
		size_t size = strcspn(line, "\n");

		if (strncmp(line, words, length) == 0) {
			count++;
			if (chains)
				json_array_append_new(chains,
						      json_stringn(line + length, size - length));
		}
		line += size + (line[size] == '\n');
	}
	return count;
}

static const char *netfilter_json_rules_state(const char *wanted, const char *there)
{
	if (ruleset_equal_rules(wanted, there))
		return "in_force";
	return !there ? "missing" : wanted ? "changed" : "unwanted";
}

static void netfilter_json_add_rules(struct netfilter_json_list *l, enum ruleset_family f,
				     enum ruleset_table t)
{
	const char *there = l->filters->ruleset.rules[f][t];
	const char *wanted = engine_ruleset(l->engine)->rules[f][t];
	const char *state = netfilter_json_rules_state(wanted, there);
	const char *program = l->filters->backends[f];
	json_t *chains;
	size_t count;

	if ((!there && !wanted) || !netfilter_has_read_rules(l->filters, f))
		return;
	chains = json_array();
	netfilter_json_count(there && *there ? there : "", "-N ", chains);
	count = netfilter_json_count(there ? there : "", "-A ", NULL);
	l->fine &= strcmp(state, "in_force") == 0;
	json_array_append_new(l->rules, json_pack("{s:o, s:s, s:s?, s:o, s:I, s:s}", "family",
						  netfilter_json_family(ruleset_address_family(f)),
						  "table", rules_text_table(t), "program",
						  *program ? program : NULL, "chains", chains,
						  "rules", (json_int_t)count, "state", state));
}

static void netfilter_json_add_all(struct netfilter_json_list *l)
{
	const struct ruleset *wanted = engine_ruleset(l->engine);
	struct plan_ops ops = {0};

	engine_drift_filters(l->engine, l->filters, &ops);
	l->fine &= ops.count == 0; /* also of sets that are left out */
	netfilter_json_sort_states(l, &ops);
	plan_ops_clear(&ops);
	netfilter_json_sort_lists(l);
	for (size_t i = 0; i < l->filters->count; i++)
		netfilter_json_add_set(l, &l->filters->sets[i]);
	for (size_t i = 0; i < wanted->set_count; i++)
		netfilter_json_add_missing(l, &wanted->sets[i].id);
	for (enum ruleset_family i = 0; i < RULESET_FAMILY_COUNT; i++)
		for (enum ruleset_table t = 0; t < RULESET_TABLE_COUNT; t++)
			netfilter_json_add_rules(l, i, t);
	free(l->states);
	free(l->lists);
}

json_t *netfilter_json(const struct engine *e, const struct netfilter *f, const char *fault,
		       enum netfilter_owner owner)
{
	struct netfilter_json_list l = {.engine = e,
					.filters = f,
					.owner = owner,
					.fine = !fault,
					.sets = json_array(),
					.rules = json_array()};

	if (f) /* else it is not known what is there */
		netfilter_json_add_all(&l);
	return json_pack("{s:b, s:s?, s:o, s:I, s:o}", "in_force", l.fine, "fault", fault, "sets",
			 l.sets, "sets_left_out", (json_int_t)(f ? f->left_out : 0), "rules",
			 l.rules);
}
