/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A play: a text of commands, one a line, against a world. Internal to tests/sim. The language is in README.md. */
#ifndef ZG_TESTS_SIM_PLAY_H
#define ZG_TESTS_SIM_PLAY_H

#include <jansson.h>

#include "sim/sim_world.h"

#define PLAY_WORDS_MAX 24
#define PLAY_FAULT_MAX 4096

/* The write that was asked for last. */
struct play_write {
	struct proposal proposal;
	json_t *body;
	char *parent;
	char *name;
	unsigned line;
	bool asked;
	bool answered;
	bool judged; /* an `expect answer` stood behind it */
	bool changed;
	bool created;
	bool dry;
	struct err faults;
	struct err warnings;
	struct plan_ops ops; /* of a dry run */
	size_t changes;      /* of a dry run */
};

struct play {
	const char *path;
	char *text;
	char *next; /* the line to be read */
	unsigned line;
	char *words[PLAY_WORDS_MAX];
	size_t count;
	char *rest[PLAY_WORDS_MAX]; /* the line from this word on, as it was written */
	char *heredoc;              /* text behind <<EOF; NULL = none */
	struct sim_world world;
	struct vec writes; /* struct play_write; the last one is judged */
	int asks;          /* tables that were asked for and not given */
	int ask_error;     /* of the last answer */
	bool ask_answered;
	usec_t confirm_within;   /* of the next write */
	char confirm_answer[64]; /* "done", "pending", or why not */
	char shift_answer[64];   /* "done", "pending", or why not */
	char shift_detail[256];
	size_t shift_effects;
	char override_answer[64]; /* the same of overrides */
	char override_detail[512];
	size_t override_ops; /* of a dry run */
	size_t override_names;
	char override_parent[80]; /* that the line names */
	char override_name[80];
	struct object *held;        /* by "hold"; NULL = none */
	char fault[PLAY_FAULT_MAX]; /* why it failed */
};

/* play.c */
/* Runs a play; NULL when it is passed, else why not (the play's own memory). */
const char *play_run(struct play *p, const char *path);
/* Notes a fault at the line; returns false. */
bool play_fault(struct play *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct play_write *play_last_write(const struct play *p);

/* play_parse.c: each notes a fault when the text is none. */
bool play_parse_duration(struct play *p, const char *text, usec_t *ret_usec);
bool play_parse_number(struct play *p, const char *text, uint64_t *ret_number);
/* "192.0.2.1:80", "udp/192.0.2.1:53", "tcp/[2001:db8::1]:80" */
bool play_parse_key(struct play *p, const char *text, struct plan_key *ret_key);
bool play_parse_endpoint(struct play *p, const char *text, struct addr *ret_addr,
			 uint16_t *ret_port);
bool play_parse_address(struct play *p, const char *text, struct addr *ret_addr);
bool play_parse_errno(struct play *p, const char *text, int *ret_error);
bool play_parse_entry(struct play *p, size_t at, struct ruleset_entry *ret_entry);
bool play_parse_op_kind(struct play *p, const char *text, enum plan_op_kind *ret_kind);
bool play_parse_event(struct play *p, const char *text, enum engine_event_id *ret_id);
/* JSON in which ' stands for ". */
json_t *play_parse_json(struct play *p, const char *text);
/* words[at]… describe what a probe meets: "pass 5ms", "fail refused 1ms", "timeout", "error". */
bool play_parse_behaviour(struct play *p, size_t at, struct sim_behaviour *ret_behaviour,
			  size_t *ret_next);

/* Tables of commands end with a NULL name. */
struct play_command {
	const char *name;
	size_t words; /* at least, the name included */
	bool (*run)(struct play *p);
};
extern const struct play_command play_actions[];          /* play_actions.c */
extern const struct play_command play_kernel[];           /* play_kernel.c: behind "kernel" */
extern const struct play_command play_zones[];            /* play_zones.c */
extern const struct play_command play_overrides[];        /* play_overrides.c */
extern const struct play_command play_crowd[];            /* play_crowd.c */
extern const struct play_command play_confirm[];          /* play_confirm.c */
extern const struct play_command play_writes[];           /* play_writes.c */
bool play_write_config(struct play *p, const char *text); /* PUT of a document */
void play_writes_clear(struct play *p);

/* play_expect.c: judges words[at]…; false and a fault when it does not hold. */
bool play_expect(struct play *p, size_t at);

#endif
