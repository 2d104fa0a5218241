/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Field tables: one row per member of an object. The same row decodes, encodes, compares, copies, frees and prints the
 * reference. Internal to model/: others use object.h. */
#ifndef ZG_MODEL_FIELDS_H
#define ZG_MODEL_FIELDS_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/model.h"

enum field_type {
	FIELD_BOOL,
	FIELD_NUMBER,   /* uint32_t */
	FIELD_ENUM,     /* a name, kept as an enum */
	FIELD_FLAGS,    /* an array of names, kept as bits of a uint32_t */
	FIELD_TEXT,     /* char *, owned */
	FIELD_RANGE,    /* [from, to]; struct model_range, zeroes = not set */
	FIELD_PREFIXES, /* an array of "net/length"; struct model_prefixes, owned */
	FIELD_ENTRIES, /* of an access list; struct entries *, referenced; `number`: enum field_entries */
	FIELD_ADDRESS, /* struct addr */
	FIELD_GROUP,   /* an object of members; their offsets count from the row's */
	FIELD_GIVEN,   /* no member of its own: a bool, whether the member of this name was given */
	FIELD_CHILDREN, /* an object of objects; struct vec; object.c does these */
	FIELD_SINGLE, /* of the document: one object, which always is; change_document.c does these */
	FIELD_READ_ONLY, /* a reader gets it, a write ignores it */
	FIELD_PRESET,    /* a name: other defaults for members below; not kept */
};

/* What a FIELD_ENTRIES row says of the entries: three rows share one place, in this order. */
enum field_entries { ENTRIES_ALL, ENTRIES_COUNT, ENTRIES_HASH };

enum field_flag {
	FIELD_REQUIRED = 1,
	FIELD_V4 = 2, /* addresses: of this family only */
	FIELD_V6 = 4,
	FIELD_ANY_TEXT = 8, /* texts: control characters too */
	FIELD_ESCAPED = 16, /* texts: as in escape.h; the bounds are those of the bytes */
};

/* A value of an enum or a bit of flags; the list ends with a NULL name. */
struct field_name {
	const char *name;
	uint32_t value;
	bool later; /* refused: "not supported yet" */
};

/* The default of a member with one preset, where `when` (if any) holds. */
struct field_preset {
	uint32_t preset;
	const char *member;
	bool (*when)(const struct object *root);
	uint32_t number;
	const char *text;
};

struct field {
	const char *name;
	enum field_type type;
	unsigned flags;
	size_t offset;
	uint32_t min; /* numbers: bounds; texts: length; flags, children: count */
	uint32_t max;
	uint32_t number;  /* default of bools, numbers, enums, flags */
	const char *text; /* default of texts and addresses; NULL = not set */
	const struct field_name *names;
	const struct field_preset *presets; /* FIELD_PRESET: ended by a row without member */
	const struct field *members;        /* FIELD_GROUP */
	enum object_kind child;             /* FIELD_CHILDREN, FIELD_SINGLE */
	uint32_t (*derive)(const struct object *root); /* default from members above this row */
	const char *derive_text;
	bool (*when)(const struct object *root); /* else the member is refused and not shown */
	const char *when_text;                   /* "with type http" */
	const char *instead; /* FIELD_REQUIRED: the member that may be given in its place */
	bool (*shown)(const struct object *root); /* FIELD_GROUP: else left out for a reader */
	const char *(*check)(
		const void *value); /* text or struct addr: what is wrong with it, or NULL */
	const char *help;
};

/* The rows of a kind, ended by a row without name. At most 64. */
const struct field *fields_of_kind(enum object_kind kind);
/* Rows of the document beside its collections. */
const struct field *fields_of_document(void);
/* Whether the member of the object was decoded with a fault (and so must not be judged further). */
bool fields_faulty(const struct object *o, const char *member);

struct field_decoder {
	struct object *root; /* what the rows' functions are asked about */
	struct err *err;
	const json_t *patch; /* see struct object_source */
	bool merging;
	const struct field_preset *presets; /* of the preset that was named, or NULL */
	uint32_t preset;
	const struct entries *entries; /* that a hash may stand for, or NULL */
	unsigned depth;
	char pointer[ERR_POINTER_MAX]; /* of the value that is decoded */
};

/* Decodes all rows but children into `base` (zeroed memory). `body` NULL or not an object: defaults only. */
void fields_decode(struct field_decoder *d, const struct field *fields, void *base,
		   const json_t *body);
/* What a member is that is not given. */
void fields_decode_default(struct field_decoder *d, const struct field *f, void *base);
/* fields_stored.c: all rows but children out of the compact text that fields_encode() led to, into `root` (zeroed members).
 * False: it is not such a text in all of its members (escapes, arrays of names); `root` may be half filled then. */
bool fields_read_stored(const struct field *fields, struct object *root, const char *text);
/* The compact text of what fields_encode() gives. */
void fields_write_stored(const struct field *fields, const struct object *root, const void *base,
			 struct buf_writer *w);
/* A fault for each member of `body` that no row has. In fields_unknown.c. */
void fields_report_unknown(struct field_decoder *d, const struct field *fields, const json_t *body);
/* One fault at member `name` of the place of `d`; NULL: at the place itself. */
void fields_fault(struct field_decoder *d, enum err_code code, const char *name, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* Text from outside for a message: shortened at a character's border. Returns `buf`. */
#define FIELDS_QUOTE_MAX 80
const char *fields_quote(const char *text, char buf[FIELDS_QUOTE_MAX]);

/* Decodes a collection by its FIELD_CHILDREN row: pushes partial objects (see object_decode_partial()), sorted by name. In
 * object.c, which knows objects. */
struct object_collection {
	const struct field *field;
	const json_t *body;
	const char *pointer;
	const struct vec *
		known; /* sorted by name; objects that come out equal are shared with it. NULL = none */
};
void object_decode_collection(const struct object_collection *source, struct err *e,
			      struct vec *children);

/* Adds the members of `base` to `json` (an object), without those that are not set or do not apply. */
void fields_encode(const struct field *fields, const struct object *root, const void *base,
		   json_t *json);
/* Equal values of all rows but children; equal ones have equal hashes. */
bool fields_equal(const struct field *fields, const void *a, const void *b);
uint64_t fields_hash(const struct field *fields, const void *base, uint64_t seed);
/* After a plain copy of the struct: gives it texts of its own. */
void fields_copy(const struct field *fields, void *base);
void fields_free(const struct field *fields, void *base);
/* The name of an enum's value; NULL if it has none that can be set. */
const char *fields_enum_name(const struct field_name *names, uint32_t value);

/* fields_range.c: the same for the value of a FIELD_RANGE row. */
struct model_range;
void fields_range_decode(struct field_decoder *d, const struct field *f, struct model_range *range,
			 const json_t *v);
json_t *fields_range_encode(const struct model_range *range); /* NULL: not set */

/* fields_prefixes.c: the same for the values of a FIELD_PREFIXES row. */
struct model_prefixes;
void fields_prefixes_decode(struct field_decoder *d, const struct field *f,
			    struct model_prefixes *list, const json_t *v);
json_t *fields_prefixes_encode(const struct model_prefixes *list);
bool fields_prefixes_equal(const struct model_prefixes *a, const struct model_prefixes *b);
uint64_t fields_prefixes_hash(const struct model_prefixes *list, uint64_t seed);
void fields_prefixes_copy(struct model_prefixes *list); /* after a plain copy of the struct */
void fields_prefixes_free(struct model_prefixes *list);

/* fields_entries.c: the same for a FIELD_ENTRIES row. */
void fields_entries_decode(struct field_decoder *d, const struct field *f, void *base,
			   const json_t *v);
/* The items of an array of entries at the place of `d` into the draft, but those with faults; `place` is their index. */
void fields_entries_collect(struct field_decoder *d, const json_t *array,
			    struct entries_draft *draft);
/* `most`: that many stand in an array, more by count and hash. */
bool fields_entries_shown(const struct field *f, const void *base, size_t most);
/* NULL: not shown. */
json_t *fields_entries_encode(const struct field *f, const void *base, size_t most);
bool fields_entries_equal(const struct field *f, const void *a, const void *b);
uint64_t fields_entries_hash(const struct field *f, const void *base, uint64_t seed);
void fields_entries_copy(const struct field *f, void *base); /* after a plain copy of the struct */
void fields_entries_free(const struct field *f, void *base);

/* A line a row: object, member, type, bounds, default, help, separated by tabs. */
void fields_write_reference(struct buf_writer *w, const char *object, const struct field *fields);

#endif
