// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"

static void assert_says(const struct answer *a, const char *line)
{
	if (!strstr(a->body, line))
		fail_msg("no \"%s\" in: %s", line, a->body);
}

static void metrics_tell_of_servers(void **state)
{
	struct rig rig = {0};
	char type[256];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_header(&a, "Content-Type", type),
			    "text/plain; version=0.0.4; charset=utf-8");
	assert_says(&a, "\nzonegate_build_info{version=\"0.0.0-test\"} 1\n");
	assert_says(&a, "\nzonegate_server_up{server_group=\"web\",server=\"w1\",zone=\"za\"} 1\n");
	assert_says(
		&a,
		"\nzonegate_server_weight{server_group=\"web\",server=\"w2\",zone=\"zb\"} 50\n");
	assert_says(
		&a,
		"\nzonegate_server_weight_configured{server_group=\"web\",server=\"w2\",zone=\"zb\"} 50\n");
	assert_says(&a,
		    "\nzonegate_server_group_servers{server_group=\"web\",state=\"healthy\"} 2\n");
	assert_says(&a, "\n# TYPE zonegate_http_requests_total counter\n");

	/* A server that is out keeps its series, at 0. */
	AUTO_REPLY struct answer off = rig_ask(
		&rig, "PATCH", "/api/v1/server-groups/web/servers/w2", "", "{\"enabled\":false}");
	assert_int_equal(off.status, 200);
	AUTO_REPLY struct answer b = rig_get(&rig, "/metrics");
	assert_says(&b, "\nzonegate_server_up{server_group=\"web\",server=\"w2\",zone=\"zb\"} 0\n");
	assert_says(&b,
		    "\nzonegate_server_weight{server_group=\"web\",server=\"w2\",zone=\"zb\"} 0\n");
	rig_end(&rig);
}

static void metrics_tell_of_zones(void **state)
{
	struct rig rig = {.judge_vips = true, .vip_down = "192.0.2.2"};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer unnamed = rig_get(&rig, "/metrics");
	assert_null(strstr(unnamed.body, "zonegate_zone_published{"));
	rig_publish(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_says(
		&a,
		"\nzonegate_zone_published{load_balancer=\"shop\",zone=\"za\",family=\"4\"} 1\n");
	assert_says(
		&a,
		"\nzonegate_zone_published{load_balancer=\"shop\",zone=\"zb\",family=\"4\"} 0\n");
	assert_says(&a, "\nzonegate_load_balancer_fail_open{load_balancer=\"shop\"} 0\n");
	AUTO_REPLY struct answer shift = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"why\"}");
	assert_int_equal(shift.status, 201);
	AUTO_REPLY struct answer b = rig_get(&rig, "/metrics");
	assert_says(&b,
		    "\nzonegate_zone_shifted{load_balancer=\"shop\",zone=\"zb\",family=\"4\"} 1\n");
	assert_says(&b,
		    "\nzonegate_zone_shifted{load_balancer=\"shop\",zone=\"za\",family=\"4\"} 0\n");
	rig_end(&rig);
}

static unsigned count_lines(const char *text, const char *start)
{
	unsigned count = 0;

	for (const char *at = text; (at = strstr(at, start)); at++)
		count += at == text || at[-1] == '\n';
	return count;
}

/* More servers than one slice; and the series of one metric stand together. */
static void metrics_come_in_slices(void **state)
{
	AUTO_FREE char *document = rig_big_document(1234);
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	AUTO_REPLY struct answer put = rig_ask(&rig, "PUT", "/api/v1/config", "If-Match: *\r\n",
					       document);
	assert_int_equal(put.status, 200);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_int_equal(count_lines(a.body, "zonegate_server_up{"), 1234);
	assert_int_equal(count_lines(a.body, "zonegate_server_weight{"), 1234);
	assert_int_equal(count_lines(a.body, "zonegate_server_weight_configured{"), 1234);
	assert_int_equal(count_lines(a.body, "# TYPE zonegate_server_up "), 1);
	const char *last_up = strstr(a.body,
				     "zonegate_server_up{server_group=\"big\",server=\"s01233\"");
	assert_non_null(last_up);
	assert_true(last_up < strstr(a.body, "# HELP zonegate_server_weight "));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_tell_of_servers),
		cmocka_unit_test(metrics_tell_of_zones),
		cmocka_unit_test(metrics_come_in_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
