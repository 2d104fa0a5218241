// SPDX-License-Identifier: GPL-2.0-or-later
#include "api/handlers.h"

#include "api_rig.h"
#include "unit/stats_fixture.h"

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
		    "\nzonegate_server_group_servers{server_group=\"web\",state=\"healthy\"} 0\n");
	assert_says(
		&a,
		"\nzonegate_server_group_servers{server_group=\"web\",state=\"unchecked\"} 2\n");
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
	assert_null(strstr(unnamed.body, "zonegate_zone_vip_up{"));
	assert_says(
		&unnamed,
		"\nzonegate_zone_info{lb=\"shop\",zone=\"zb\",family=\"4\",address=\"192.0.2.2\"} 1\n");
	assert_null(strstr(unnamed.body, "zonegate_zone_shift_expiry_timestamp_seconds{"));
	rig_publish(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_says(&a, "\nzonegate_zone_published{lb=\"shop\",zone=\"za\",family=\"4\"} 1\n");
	assert_says(&a, "\nzonegate_zone_published{lb=\"shop\",zone=\"zb\",family=\"4\"} 0\n");
	assert_says(&a, "\nzonegate_zone_vip_up{lb=\"shop\",zone=\"za\",family=\"4\"} 1\n");
	assert_says(&a, "\nzonegate_zone_vip_up{lb=\"shop\",zone=\"zb\",family=\"4\"} 0\n");
	assert_says(&a, "\nzonegate_zone_fail_open{lb=\"shop\",zone=\"za\",family=\"4\"} 0\n");
	AUTO_REPLY struct answer shift = rig_ask(
		&rig, "POST", "/api/v1/zone-shifts", "",
		"{\"zone\":\"zb\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\",\"comment\":\"why\"}");
	assert_int_equal(shift.status, 201);
	AUTO_REPLY struct answer b = rig_get(&rig, "/metrics");
	assert_says(&b, "\nzonegate_zone_shift_active{lb=\"shop\",zone=\"zb\"} 1\n");
	assert_says(&b, "\nzonegate_zone_shift_active{lb=\"shop\",zone=\"za\"} 0\n");
	assert_says(&b, "\nzonegate_zone_shift_expiry_timestamp_seconds{lb=\"shop\",zone=\"zb\"} ");
	assert_null(strstr(
		b.body, "zonegate_zone_shift_expiry_timestamp_seconds{lb=\"shop\",zone=\"za\"}"));
	rig_end(&rig);
}

/* What the client can read decides the format. */
static void metrics_speak_openmetrics(void **state)
{
	struct rig rig = {0};
	char type[256];

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_ask(
		&rig, "GET", "/metrics",
		"Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n", NULL);
	assert_int_equal(a.status, 200);
	assert_string_equal(answer_header(&a, "Content-Type", type),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
	assert_says(&a, "\n# TYPE zonegate_store_commits counter\nzonegate_store_commits_total ");
	assert_says(&a, "\n# TYPE zonegate_build info\nzonegate_build_info{version=");
	assert_string_equal(a.body + strlen(a.body) - 6, "# EOF\n");
	AUTO_REPLY struct answer b = rig_ask(&rig, "GET", "/metrics", "Accept: */*\r\n", NULL);
	assert_null(strstr(b.body, "# EOF"));
	/* The request before is counted by its route. */
	assert_says(
		&b,
		"\nzonegate_http_requests_total{route=\"/metrics\",method=\"GET\",code=\"200\"} 1\n");
	rig_end(&rig);
}

/* Addresses are on _info series only: they are not to make other series new when they change. */
static void metrics_name_addresses_once(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_says(
		&a,
		"\nzonegate_server_info{server_group=\"web\",server=\"w1\",zone=\"za\",address=\"10.0.0.1\",port=\"8080\"} 1\n");
	for (const char *line = a.body; line; line = strchr(line + 1, '\n')) {
		AUTO_FREE char *copy = mem_dup(line, strcspn(line + 1, "\n") + 2);

		copy[strcspn(line + 1, "\n") + 1] = '\0';
		if (strstr(copy, "10.0.0.") || strstr(copy, "192.0.2."))
			assert_non_null(strstr(copy, "_info{"));
	}
	rig_end(&rig);
}

/* With the kernel's counters. */
static void metrics_tell_what_the_kernel_counts(void **state)
{
	struct stats *stats = stats_new(NULL, 0);
	struct rig rig = {.stats = stats};

	(void)state;
	stats_follow(stats, fixture_snapshot(fixture_json(FIXTURE_DOCUMENT)));
	stats_note_table_size(stats, 4096);
	fixture_look(stats, 10, 100, 3);
	fixture_look(stats, 11, 107, 4);
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_says(
		&a,
		"\nzonegate_server_connections_total{server_group=\"web\",server=\"w1\",zone=\"za\"} 7\n");
	assert_says(
		&a,
		"\nzonegate_server_connections_active{server_group=\"web\",server=\"w1\",zone=\"za\"} 4\n");
	assert_says(
		&a,
		"\nzonegate_server_connections_inactive{server_group=\"web\",server=\"w1\",zone=\"za\"} 2\n");
	assert_says(
		&a,
		"\nzonegate_server_bytes_in_total{server_group=\"web\",server=\"w1\",zone=\"za\"} 7000\n");
	assert_says(
		&a,
		"\nzonegate_server_packets_out_total{server_group=\"web\",server=\"w2\",zone=\"zb\"} 0\n");
	assert_says(
		&a,
		"\nzonegate_listener_connections_total{lb=\"shop\",listener=\"http\",zone=\"za\",family=\"4\",proto=\"tcp\"} 7\n");
	assert_says(
		&a,
		"\nzonegate_listener_info{lb=\"shop\",listener=\"http\",zone=\"za\",family=\"4\",proto=\"tcp\",address=\"192.0.2.1\",port=\"80\"} 1\n");
	assert_says(&a, "\nzonegate_kernel_connections 6\n");
	assert_says(&a, "\nzonegate_kernel_connection_table_size 4096\n");
	assert_says(&a, "\nzonegate_statistics_up 1\n");
	rig_end(&rig);
	stats_free(stats);
}

static void metrics_name_a_range(void **state)
{
	struct stats *stats = stats_new(NULL, 0);
	struct rig rig = {.stats = stats};

	(void)state;
	stats_follow(stats, fixture_ranged());
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_says(
		&a,
		"\nzonegate_listener_info{lb=\"shop\",listener=\"http\",zone=\"za\",family=\"4\",proto=\"tcp\",address=\"192.0.2.1\",port=\"8000-8100\"} 1\n");
	rig_end(&rig);
	stats_free(stats);
}

/* Names that the issue fixes. */
static void metrics_tell_of_checks(void **state)
{
	struct rig rig = {0};

	(void)state;
	rig_start(&rig, 0);
	rig_load(&rig);
	AUTO_REPLY struct answer unchecked = rig_get(&rig, "/metrics");
	assert_null(strstr(unchecked.body, "_duration_seconds_bucket{server_group=\"web\""));
	AUTO_REPLY struct answer on = rig_ask(&rig, "PATCH", "/api/v1/server-groups/web", "",
					      "{\"health_check\":{\"enabled\":true}}");
	assert_int_equal(on.status, 200);
	AUTO_REPLY struct answer a = rig_get(&rig, "/metrics");
	assert_says(
		&a,
		"\nzonegate_health_check_duration_seconds_bucket{server_group=\"web\",le=\"1.0\"} ");
	assert_says(&a, "\nzonegate_health_check_duration_seconds_count{server_group=\"web\"} ");
	assert_says(&a, "\nzonegate_health_failures_total{reason=\"connect_refused\"} ");
	assert_null(strstr(a.body, "reason=\"disabled\""));
	assert_says(&a, "\nzonegate_server_group_fail_open{server_group=\"web\"} 0\n");
	assert_says(
		&a,
		"\nzonegate_kernel_ops_total{subsystem=\"ipvs\",op=\"add_service\",result=\"ok\"} ");
	assert_says(&a, "\nzonegate_kernel_ops_seconds_total{subsystem=\"ipvs\"} ");
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
		cmocka_unit_test(metrics_speak_openmetrics),
		cmocka_unit_test(metrics_name_addresses_once),
		cmocka_unit_test(metrics_tell_what_the_kernel_counts),
		cmocka_unit_test(metrics_name_a_range),
		cmocka_unit_test(metrics_tell_of_checks),
		cmocka_unit_test(metrics_come_in_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
