// SPDX-License-Identifier: GPL-2.0-or-later
// Schemas of users, sessions and tokens, as they stand in the document.
#include "api/openapi_access.h"

#include <assert.h>
#include <string.h>

#define JSON(...) #__VA_ARGS__

// clang-format off
#define ROLE \
	"{\"type\":\"string\",\"enum\":[\"metrics\",\"viewer\",\"operator\",\"editor\",\"admin\"]}"
#define NAME "{\"type\":\"string\",\"pattern\":\"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$\"}"
#define PASSWORD \
	"{\"type\":\"string\",\"minLength\":10,\"maxLength\":256,\"writeOnly\":true,\"description\":" \
	"\"At least 10 characters, at most 256 bytes, no control characters, not the name of the user\"}"
#define TEXT "{\"type\":\"string\"}"
#define TIME "{\"type\":\"string\",\"format\":\"date-time\"}"
#define TIME_OR_NULL "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}"
#define COUNT "{\"type\":\"integer\",\"minimum\":0}"
#define LIST(item) \
	"\"items\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/" item "\"}}," \
	"\"next_cursor\":{\"type\":[\"string\",\"null\"]}"

#define IDENTITY JSON({"who": "alice", "role": "editor", "via": "tls", "authenticated_by": "session", \
	"id": "84a322e8cd6a9daf", "expires_at": "2026-03-01T22:00:00.000Z"})
#define USER JSON({"name": "alice", "role": "editor", "created_at": "2026-03-01T10:00:00.000Z", \
	"updated_at": "2026-03-01T10:00:00.000Z", "updated_by": "root", "last_login_at": null, "sessions": 0})
#define TOKEN \
	"\"id\":\"2c345a4b30b48b1b\",\"name\":\"ci\",\"role\":\"editor\",\"created_at\":\"2026-03-01T10:00:00.000Z\"," \
	"\"created_by\":\"alice\",\"expires_at\":\"2026-05-30T10:00:00.000Z\",\"sources\":[\"192.0.2.0/24\"]," \
	"\"last_used_at\":null,\"last_used_from\":null"
#define SESSION JSON({"id": "84a322e8cd6a9daf", "user": "alice", "created_at": "2026-03-01T10:00:00.000Z", \
	"last_seen_at": "2026-03-01T10:20:00.000Z", "expires_at": "2026-03-01T11:20:00.000Z", \
	"source": "192.0.2.17", "current": true})
#define TOKEN_PROPERTIES \
	"\"id\":" TEXT ",\"name\":" NAME ",\"role\":" ROLE ",\"created_at\":" TIME ",\"created_by\":" TEXT \
	",\"expires_at\":" TIME_OR_NULL ",\"sources\":{\"type\":\"array\",\"items\":" TEXT \
	"},\"last_used_at\":" TIME_OR_NULL ",\"last_used_from\":{\"type\":[\"string\",\"null\"]}"

/* `required`: "all", or names with blanks between. */
static const struct {
	const char *schema;
	const char *description;
	const char *properties;
	const char *required;
	const char *example;
} access_rows[] = {
	{"Login", "Who signs in", "\"user\":" TEXT ",\"password\":{\"type\":\"string\",\"writeOnly\":true}", "all",
	 JSON({"user": "alice", "password": "correct horse battery"})},
	{"FirstUser", "The code of \"zonegate setup\", and the admin to be",
	 "\"code\":" TEXT ",\"user\":" NAME ",\"password\":" PASSWORD, "all",
	 JSON({"code": "9DS8-M6W8-DPXA-QFL3", "user": "alice", "password": "correct horse battery"})},
	{"PasswordChange", "Of who is signed in: he stays so, his other sessions end",
	 "\"current_password\":{\"type\":\"string\",\"writeOnly\":true},\"new_password\":" PASSWORD, "all",
	 JSON({"current_password": "correct horse battery", "new_password": "another long sentence"})},
	{"Identity", "Who asks, what he may, and how that is known; `id` is that of session or token. A session that is used ends later than expires_at",
	 "\"who\":" TEXT ",\"role\":" ROLE ",\"via\":{\"type\":\"string\",\"enum\":[\"unix\",\"tcp\",\"tls\"]},"
	 "\"authenticated_by\":{\"type\":\"string\",\"enum\":[\"peer\",\"token_file\",\"token\",\"session\"]},"
	 "\"id\":{\"type\":[\"string\",\"null\"]},\"expires_at\":" TIME_OR_NULL, "all", IDENTITY},
	{"SetupCode", "A code for one first user, and where a browser finds the server: nowhere if no pages were built in",
	 "\"code\":" TEXT ",\"expires_at\":" TIME ",\"expires_in_s\":" COUNT
	 ",\"pages\":{\"type\":\"boolean\"},\"urls\":{\"type\":\"array\",\"items\":" TEXT "}", "all",
	 JSON({"code": "9DS8-M6W8-DPXA-QFL3", "expires_at": "2026-03-01T10:15:00.000Z", "expires_in_s": 900, "pages": true,
	       "urls": ["https://gw-a.example.net:7443/ui/"]})},
	{"UserWish", "A user to be; what else an answer shows of one may be sent back and changes nothing",
	 "\"role\":" ROLE ",\"password\":" PASSWORD ",\"name\":" TEXT ",\"created_at\":" TIME ",\"updated_at\":" TIME
	 ",\"updated_by\":" TEXT ",\"last_login_at\":" TIME_OR_NULL ",\"sessions\":" COUNT, "role",
	 JSON({"role": "editor", "password": "correct horse battery"})},
	{"UserPatch", "What changes of a user",
	 "\"role\":" ROLE ",\"password\":" PASSWORD ",\"name\":" TEXT ",\"created_at\":" TIME ",\"updated_at\":" TIME
	 ",\"updated_by\":" TEXT ",\"last_login_at\":" TIME_OR_NULL ",\"sessions\":" COUNT, "", JSON({"role": "operator"})},
	{"User", "A user, without his password",
	 "\"name\":" NAME ",\"role\":" ROLE ",\"created_at\":" TIME ",\"updated_at\":" TIME
	 ",\"updated_by\":" TEXT ",\"last_login_at\":" TIME_OR_NULL ",\"sessions\":" COUNT, "all", USER},
	{"UserList", "Users by name", LIST("User"), "all", "{\"items\":[" USER "],\"next_cursor\":null}"},
	{"TokenWish", "A token to be; without expires_in it is good until it is revoked",
	 "\"name\":" NAME ",\"role\":" ROLE ",\"expires_in\":{\"type\":[\"string\",\"null\"],\"pattern\":"
	 "\"^([0-9]{1,8}[dhms]){1,4}$\",\"description\":\"At most 3650d\"},\"sources\":{\"type\":\"array\",\"maxItems\":16,"
	 "\"items\":" TEXT ",\"description\":\"Prefixes that it is good from; none: from anywhere\"}", "name role",
	 JSON({"name": "ci", "role": "editor", "expires_in": "90d", "sources": ["192.0.2.0/24"]})},
	{"Token", "A bearer token, without what makes it one", TOKEN_PROPERTIES, "all", "{" TOKEN "}"},
	{"NewToken", "A bearer token; `token` is shown in this answer only", TOKEN_PROPERTIES ",\"token\":" TEXT, "all",
	 "{" TOKEN ",\"token\":\"zg_8b3e9645458478cfe6119153ff02e89609041972e364a7dec7fe88b491234f53\"}"},
	{"TokenList", "Bearer tokens, oldest first", LIST("Token"), "all", "{\"items\":[{" TOKEN "}],\"next_cursor\":null}"},
	{"Session", "A session; `expires_at`: idle or at most after 12 h, what is sooner",
	 "\"id\":" TEXT ",\"user\":" NAME ",\"created_at\":" TIME ",\"last_seen_at\":" TIME ",\"expires_at\":" TIME
	 ",\"source\":" TEXT ",\"current\":{\"type\":\"boolean\"}", "all", SESSION},
	{"SessionList", "Sessions, oldest first", LIST("Session"), "all", "{\"items\":[" SESSION "],\"next_cursor\":null}"},
};
// clang-format on
#define ACCESS_ROWS (sizeof(access_rows) / sizeof(access_rows[0]))

static json_t *access_load(const char *text)
{
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert(json); /* our own */
	return json;
}

static json_t *access_required(json_t *properties, const char *required)
{
	json_t *list = json_array();
	const char *name;
	json_t *value;

	json_object_foreach (properties, name, value) {
		const char *at = strstr(required, name);

		if (strcmp(required, "all") == 0 || at)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

void openapi_access_add_schemas(json_t *schemas)
{
	for (size_t i = 0; i < ACCESS_ROWS; i++) {
		json_t *properties = json_object();
		char text[2048] = "{";

		assert(strlen(access_rows[i].properties) + 3 < sizeof(text));
		strcat(strcat(text, access_rows[i].properties), "}");
		json_object_update_new(properties, access_load(text));
		json_object_set_new(schemas, access_rows[i].schema,
				    json_pack("{s:s, s:s, s:o, s:o, s:b, s:[o]}", "type", "object",
					      "description", access_rows[i].description,
					      "properties", properties, "required",
					      access_required(properties, access_rows[i].required),
					      "additionalProperties", 0, "examples",
					      access_load(access_rows[i].example)));
	}
}

json_t *openapi_access_example(const char *schema)
{
	for (size_t i = 0; i < ACCESS_ROWS; i++) {
		if (strcmp(access_rows[i].schema, schema) == 0)
			return access_load(access_rows[i].example);
	}
	return NULL;
}

/* ---- answers ---------------------------------------------------------------------------------- */

#define ANSWERS_MAX 7
#define WRONG                                                        \
	{                                                            \
		"401", "User, password or code are wrong", "Problem" \
	}
#define FOREIGN                                                   \
	{                                                         \
		"403", "From a page of another server", "Problem" \
	}
#define WAIT                                                                                          \
	{                                                                                             \
		"429", "Too many failures, or too many passwords at once; Retry-After says how long", \
			"Problem"                                                                     \
	}
#define FULL                                                               \
	{                                                                  \
		"503", "store-unavailable: nothing was changed", "Problem" \
	}
#define CHANGED                                                          \
	{                                                                \
		"412", "If-Match or If-None-Match is not met", "Problem" \
	}
#define LAST                                                                                  \
	{                                                                                     \
		"409", "The last admin stays, unless asked for by the unix socket", "Problem" \
	}

static const struct {
	enum request_method method;
	const char *pattern;
	struct openapi_access_answer answers[ANSWERS_MAX];
} answer_rows[] = {
	{METHOD_POST, "/api/v1/auth/login", {WRONG, FOREIGN, WAIT, FULL}},
	{METHOD_POST, "/api/v1/auth/logout", {{"204", "Signed out", NULL}, FOREIGN, FULL}},
	{METHOD_GET, "/api/v1/auth/session", {{NULL, NULL, NULL}}},
	{METHOD_POST, "/api/v1/auth/password", {{"204", "Changed", NULL}, WAIT, FULL}},
	{METHOD_POST, "/api/v1/auth/setup", {{NULL, NULL, NULL}}},
	{METHOD_POST,
	 "/api/v1/auth/first-user",
	 {{"201", "The admin is made and signed in", "Identity"}, WRONG, FOREIGN, WAIT, FULL}},
	{METHOD_GET, "/api/v1/users", {{NULL, NULL, NULL}}},
	{METHOD_GET, "/api/v1/users/{user}", {{NULL, NULL, NULL}}},
	{METHOD_PUT,
	 "/api/v1/users/{user}",
	 {{"201", "Created; Location names it", "User"}, LAST, CHANGED, WAIT, FULL}},
	{METHOD_PATCH, "/api/v1/users/{user}", {LAST, CHANGED, WAIT, FULL}},
	{METHOD_DELETE, "/api/v1/users/{user}", {{"204", "Removed", NULL}, LAST, CHANGED, FULL}},
	{METHOD_GET, "/api/v1/tokens", {{NULL, NULL, NULL}}},
	{METHOD_POST,
	 "/api/v1/tokens",
	 {{"201", "Made; Location names it", "NewToken"}, WAIT, FULL}},
	{METHOD_GET, "/api/v1/tokens/{token}", {{NULL, NULL, NULL}}},
	{METHOD_DELETE, "/api/v1/tokens/{token}", {{"204", "Revoked", NULL}, CHANGED, FULL}},
	{METHOD_GET, "/api/v1/sessions", {{NULL, NULL, NULL}}},
	{METHOD_DELETE, "/api/v1/sessions/{session}", {{"204", "Ended", NULL}, FULL}},
};

const struct openapi_access_answer *openapi_access_answers(const struct route *r)
{
	for (size_t i = 0; i < sizeof(answer_rows) / sizeof(answer_rows[0]); i++) {
		if (answer_rows[i].method == r->method &&
		    strcmp(answer_rows[i].pattern, r->pattern) == 0)
			return answer_rows[i].answers;
	}
	return NULL;
}
