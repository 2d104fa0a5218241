// SPDX-License-Identifier: GPL-2.0-or-later
#include "model_fixture.h"

#include "model/fields.h"

static const struct sample {
	enum object_kind kind;
	const char *body;
	bool plain; /* its row is read without a tree */
} samples[] = {
	{OBJECT_ZONE, "{}", true},
	{OBJECT_ZONE, "{'description':'hall 2, row \u00e9'}", false},
	{OBJECT_ZONE, "{'description':'a \\\"quoted\\\" \\\\ one'}", false},
	{OBJECT_ZONE, "{'client_subnets':['192.0.2.0/24','2001:db8::/32']}", false},
	{OBJECT_SERVER, "{'address':'10.0.0.1'}", true},
	{OBJECT_SERVER,
	 "{'address':'2001:db8::1','port':65535,'weight':0,'zone':'za','enabled':false}", true},
	{OBJECT_SERVER,
	 "{'address':'10.0.0.1','forward_method':'direct','max_connections':{'upper':4294967295,'lower':3}}",
	 true},
	{OBJECT_SERVER_GROUP, "{'protocol':'tcp'}", true},
	{OBJECT_SERVER_GROUP, "{'protocol':'udp','health_check':{'request':'\\\\\\\\00x'}}", false},
	{OBJECT_SERVER_GROUP, "{'protocol':'udp','health_check':{'type':'icmp'}}", true},
	{OBJECT_SERVER_GROUP, "{'protocol':'udp','health_check':{'type':'dns','qtype':'SOA'}}",
	 false},
	{OBJECT_SERVER_GROUP, "{'protocol':'sctp','health_check':{'enabled':false}}", true},
	{OBJECT_SERVER_GROUP,
	 "{'protocol':'tcp','health_check':{'type':'http','path':'/up','host':'a.example',"
	 "'expected_status':'200-299,301','window':{'failures':2,'of':8},'preset':'aws-nlb'},"
	 "'min_healthy':{'count':3,'percent':10},'initial_state':'healthy'}",
	 true},
	{OBJECT_SERVER_GROUP,
	 "{'protocol':'tcp','forward_method':'tunnel','tunnel':{'type':'gue','port':6080,"
	 "'checksum':'remcsum'},'when_none_healthy':'backup','backup_group':'spare'}",
	 true},
	{OBJECT_SERVER_GROUP, "{'protocol':'tcp','tunnel':{}}", true},
	{OBJECT_SERVER_GROUP, "{'protocol':'tcp','forward_method':'tunnel'}", true},
	{OBJECT_LOAD_BALANCER, "{'dns_name':'www','client_affinity':'partial'}", true},
	{OBJECT_LB_ZONE, "{'vip4':'192.0.2.1','vip6':'2001:db8::1','publish4':'198.51.100.1'}",
	 true},
	{OBJECT_LISTENER, "{'protocol':'tcp','port':80,'server_group':'web'}", true},
	{OBJECT_LISTENER, "{'protocol':'tcp','port_range':[1,65535],'server_group':'web'}", true},
	{OBJECT_LISTENER,
	 "{'protocol':'tcp','port':80,'server_group':'web','scheduler':'sh','scheduler_flags':['sh-port']}",
	 false},
	{OBJECT_LISTENER,
	 "{'protocol':'udp','port':5060,'server_group':'web','persistence_s':60,'one_packet':true,"
	 "'persistence_engine':'sip','persistence_netmask':'255.255.255.0'}",
	 true},
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static struct object *decode(enum object_kind kind, const char *text)
{
	struct err e AUTO_ERR = {0};
	struct object *o = NULL;
	json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	if (body)
		(void)object_decode(kind, "x", body, "", &e, &o);
	json_decref(body);
	return o;
}

static struct object *decode_sample(const struct sample *s)
{
	struct err e AUTO_ERR = {0};
	struct object *o = NULL;
	json_t *body = fixture_json(s->body);
	if (object_decode(s->kind, "x", body, "", &e, &o) < 0)
		fail_msg("%s: %s", s->body, err_first(&e));
	json_decref(body);
	return o;
}

static void what_is_written_is_the_text_of_what_is_encoded(void **state)
{
	(void)state;
	for (size_t i = 0; i < SAMPLES; i++) {
		struct object *o = decode_sample(&samples[i]);
		json_t *json = object_encode_row(o);
		AUTO_FREE char *expected = json_dumps(json, JSON_COMPACT);
		AUTO_FREE char *text = object_write_row(o);
		assert_string_equal(text, expected);
		json_decref(json);
		object_unref(o);
	}
}

static void a_plain_row_is_read_as_it_was_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < SAMPLES; i++) {
		struct object *o = decode_sample(&samples[i]);
		AUTO_FREE char *text = object_write_row(o);
		struct object *again = object_read_row(o->kind, "x", text);
		if (samples[i].plain != (again != NULL))
			fail_msg("%s is%s read", text, again ? "" : " not");
		if (again) {
			AUTO_FREE char *same = object_write_row(again);
			assert_true(object_equal_row(o, again));
			assert_string_equal(text, same);
			assert_string_equal(again->name, "x");
			assert_int_equal(again->refs, 1);
		}
		object_unref(again);
		object_unref(o);
	}
}

/* Rows of an older version have fewer members. */
static void a_member_that_is_absent_has_its_default(void **state)
{
	static const char text[] = "{\"address\":\"10.0.0.1\",\"zone\":\"za\"}";
	struct object *o = object_read_row(OBJECT_SERVER, "x", text);
	struct object *expected = decode(OBJECT_SERVER, text);
	(void)state;
	assert_non_null(o);
	assert_true(object_equal_row(o, expected));
	assert_int_equal(((struct server *)(void *)o)->weight, 100);
	object_unref(o);
	object_unref(expected);
}

static void what_is_not_exactly_such_a_text_is_left_alone(void **state)
{
	static const char *const servers[] = {
		"",
		"{",
		"{}",
		"[]",
		"null",
		"{\"port\":1}",
		"{\"address\":\"10.0.0.1\"",
		"{\"address\":\"10.0.0.1\"} ",
		"{\"address\":\"10.0.0.1\"}}",
		"{ \"address\":\"10.0.0.1\"}",
		"{\"address\":\"10.0.0.1\",}",
		"{\"address\":\"10.0.0\"}",
		"{\"address\":\"224.0.0.1\"}",
		"{\"address\":10}",
		"{\"address\":\"10.0.0.1\",\"port\":65536}",
		"{\"address\":\"10.0.0.1\",\"port\":01}",
		"{\"address\":\"10.0.0.1\",\"port\":-1}",
		"{\"address\":\"10.0.0.1\",\"port\":1.0}",
		"{\"address\":\"10.0.0.1\",\"port\":}",
		"{\"address\":\"10.0.0.1\",\"port\":99999999999}",
		"{\"port\":1,\"address\":\"10.0.0.1\"}",
		"{\"address\":\"10.0.0.1\",\"address\":\"10.0.0.1\"}",
		"{\"address\":\"10.0.0.1\",\"zone\":\"Z\"}",
		"{\"address\":\"10.0.0.1\",\"zone\":\"\"}",
		"{\"address\":\"10.0.0.1\",\"zone\":\"\\u0061\"}",
		"{\"address\":\"10.0.0.1\",\"zone\":null}",
		"{\"address\":\"10.0.0.1\",\"enabled\":tru}",
		"{\"address\":\"10.0.0.1\",\"enabled\":truefalse}",
		"{\"address\":\"10.0.0.1\",\"forward_method\":\"teleport\"}",
		"{\"address\":\"10.0.0.1\",\"max_connections\":{\"upper\":4294967296}}",
		"{\"address\":\"10.0.0.1\",\"max_connections\":{\"more\":1}}",
		"{\"address\":\"10.0.0.1\",\"more\":1}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (object_read_row(OBJECT_SERVER, "x", servers[i]))
			fail_msg("%s is read", servers[i]);
	/* Members of another type of check. */
	assert_null(object_read_row(
		OBJECT_SERVER_GROUP, "x",
		"{\"protocol\":\"tcp\",\"health_check\":{\"type\":\"tcp\",\"path\":\"/\"}}"));
}

/* One byte of a row is another one: whatever is still read means the same to the decoder with the tree. */
static void what_is_read_is_what_would_be_decoded(void **state)
{
	static const char bytes[] = "\"\\{}[],:0129aefltrusn-. \x01\x7f";
	size_t accepted = 0;
	(void)state;
	for (size_t i = 0; i < SAMPLES; i++) {
		struct object *o = decode_sample(&samples[i]);
		AUTO_FREE char *text = object_write_row(o);
		for (size_t at = 0; text[at]; at++) {
			char before = text[at];
			for (const char *b = bytes; *b; b++) {
				text[at] = *b;
				struct object *read = object_read_row(o->kind, "x", text);
				struct object *expected = read ? decode(o->kind, text) : NULL;
				if (read && (!expected || !object_equal_row(read, expected)))
					fail_msg("%s is read, but not so decoded", text);
				accepted += read != NULL;
				object_unref(read);
				object_unref(expected);
			}
			text[at] = before;
		}
		object_unref(o);
	}
	assert_true(accepted > 1000); /* or nothing was compared */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_the_text_of_what_is_encoded),
		cmocka_unit_test(a_plain_row_is_read_as_it_was_written),
		cmocka_unit_test(a_member_that_is_absent_has_its_default),
		cmocka_unit_test(what_is_not_exactly_such_a_text_is_left_alone),
		cmocka_unit_test(what_is_read_is_what_would_be_decoded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
