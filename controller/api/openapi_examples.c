// SPDX-License-Identifier: GPL-2.0-or-later
// Examples, one a schema. A test holds each to the members of its schema.
#include "api/openapi_examples.h"

#include "api/openapi_access.h"

#include <assert.h>
#include <string.h>

#define SHIFT                                                                                       \
	"\"id\":\"bd65ed46dcb5\",\"zone\":\"zone-b\",\"load_balancer\":\"shop\",\"comment\":\"new " \
	"switch\",\"who\":\"root\",\"created_at\":\"2026-03-01T10:00:00.000Z\",\"expires_at\":"     \
	"\"2026-03-01T12:00:00.000Z\",\"evacuate_servers\":false,\"forced\":false"

#define DRAIN                                                                                                                                             \
	"\"kind\":\"drain\",\"id\":\"0c5bb1d2a3f4\",\"object\":\"server_groups/web/servers/web-1\","                                                      \
	"\"server_group\":\"web\",\"server\":\"web-1\",\"zone\":null,\"load_balancer\":null,\"listener\":null,\"who\":\"root\",\"comment\":\"new disk\"," \
	"\"created_at\":\"2026-03-01T10:00:00.000Z\",\"changed_at\":\"2026-03-01T10:00:00.000Z\","                                                        \
	"\"detail\":\"draining: 3 open connections left, and 9 closing, UDP or remembered ones, 4 min 20 s at most\",\"state\":\"draining\","             \
	"\"timeout_ms\":300000,\"deadline_at\":\"2026-03-01T10:05:00.000Z\",\"time_left_ms\":260000,"                                                     \
	"\"finished_at\":null,\"connections\":12,\"active\":3,\"destinations\":2"
#define HISTORY                                                                           \
	"\"history\":[{\"at\":\"2026-03-01T10:00:00.000Z\",\"who\":\"root\",\"comment\":" \
	"\"new disk\"}]"

#define SERVICE                                                                                           \
	"{\"load_balancer\":\"shop\",\"zone\":\"zone-a\",\"listener\":\"http\",\"server_group\":\"web\"," \
	"\"family\":4,\"programmed\":true,\"planned\":false,\"fault\":null,\"eligible\":2,"               \
	"\"in_service\":2,\"initial\":0,\"min_healthy_breached\":false,\"none_healthy\":\"closed\","      \
	"\"service\":\"tcp 192.0.2.10:80\""
#define TRAFFIC                                                                                                         \
	"\"traffic\":{\"active\":3,\"inactive\":4,\"connections_per_s\":2.5,\"packets_per_s\":40,\"bits_per_s\":96000," \
	"\"connections\":1720,\"packets_in\":20640,\"packets_out\":18920,\"bytes_in\":2064000,\"bytes_out\":18920000}"
#define GROUP_SERVER                                                                                          \
	"\"server_group\":\"web\",\"server\":\"web-1\",\"address\":\"10.0.1.11\",\"port\":8080,\"zone\":"     \
	"\"zone-a\",\"state\":\"healthy\",\"reason_code\":\"none\",\"detail\":\"healthy for 3 h\",\"since\":" \
	"\"2026-03-01T10:00:06.400Z\",\"in_service\":true,\"trusted\":true,\"rests_on_silence\":false,"       \
	"\"passes\":3600,\"failures\":0,\"weight_configured\":100,\"weight\":100,\"last_probe\":" EVIDENCE    \
	"," TRAFFIC
#define EVIDENCE                                                                                  \
	"{\"started\":\"2026-03-01T13:00:06.400Z\",\"result\":\"pass\",\"reason_code\":\"none\"," \
	"\"duration_ms\":1.806,\"received\":\"\",\"connect_ms\":0.4,\"http_status\":200}"
#define WINDOWS                                                                                        \
	"\"windows\":{\"detection_silent\":{\"best_ms\":4000,\"worst_ms\":9000},\"detection_active\":" \
	"{\"best_ms\":400,\"worst_ms\":3400},\"recovery\":{\"best_ms\":4000,\"worst_ms\":9000}}"
#define SUMMARY                                                                                   \
	"\"summary\":{\"servers\":2,\"healthy\":2,\"unhealthy\":0,\"initial\":0,\"unchecked\":0," \
	"\"disabled\":0,\"draining\":0,\"used\":true}"
#define COUNTS                                                                                 \
	"\"stats\":{\"connections\":7,\"packets_in\":70,\"packets_out\":70,\"bytes_in\":7000," \
	"\"bytes_out\":70000}"
#define PLANNED                                                                                            \
	"\"kernel_ops\":[\"SET_DEST tcp 192.0.2.10:80 10.0.1.11:8080 weight 10\"],\"kernel_ops_total\":1," \
	"\"dns_changes\":[],\"dns_changes_total\":0,\"warnings\":[]"

static const struct {
	const char *schema;
	const char *text;
} examples[] = {
	{"Problem",
	 "{\"type\":\"invalid\",\"title\":\"What was sent is not valid; nothing was changed\",\"status\":422,"
	 "\"detail\":\"must be a string\",\"instance\":\"/api/v1/zones/zone-a\",\"request_id\":"
	 "\"b6f46dbd6f5dd0a7-42\",\"errors\":[{\"pointer\":\"/description\",\"code\":\"wrong_type\","
	 "\"detail\":\"must be a string\"}]}"},
	{"DryRun",
	 "{\"diff\":[{\"action\":\"update\",\"path\":\"/server_groups/web/servers/web-1\",\"old\":{\"weight\":100},"
	 "\"new\":{\"weight\":10}}],\"diff_total\":1," PLANNED ",\"advice\":[],\"ipvs\":\"auto\"}"},
	{"Removal",
	 "{\"draining\":[{\"load_balancer\":\"shop\",\"listener\":\"http\",\"server_group\":\"web\",\"server\":"
	 "\"web-1\",\"endpoint\":\"10.0.1.11:8080\",\"started\":\"2026-03-01T10:00:00.000Z\",\"deadline\":"
	 "\"2026-03-01T10:05:00.000Z\",\"connections\":12,\"active\":3}]}"},
	{"Warnings",
	 "{\"warnings\":[{\"code\":\"kernel_apply_failed\",\"pointer\":\"/load_balancers/shop/listeners/http\","
	 "\"detail\":\"the kernel has no scheduler wlc\"}]}"},
	{"Validation",
	 "{\"valid\":true,\"advice\":[{\"code\":\"tcp_probe_reset\",\"pointer\":\"/server_groups/web/health_check/close\","
	 "\"detail\":\"probes end in RST, which some servers log\"}]}"},
	{"LoadBalancerStatus",
	 "{\"load_balancer\":\"shop\",\"dns_name\":\"shop.lb.example.net\",\"enabled\":true,\"cross_zone\":true,"
	 "\"fail_open\":false,\"fail_open_family\":null,\"no_address\":false,\"drained\":false,\"backup_serves\":false,\"revision\":12,\"zones\":[{\"zone\":\"zone-a\",\"enabled\":true,\"vip4\":"
	 "\"192.0.2.10\",\"vip6\":null,\"publication\":[{\"family\":4,\"published\":true,\"reason_code\":\"healthy\","
	 "\"detail\":\"handed out: the VIP and every server group are healthy\",\"server_group\":null,\"shift\":null,"
	 "\"fail_open\":false,\"vip\":\"192.0.2.10\",\"address\":\"192.0.2.10\",\"vip_health\":{\"state\":\"healthy\","
	 "\"source\":\"own\",\"detail\":\"the address is up\",\"since\":null},\"servers_eligible\":2,"
	 "\"servers_in_service\":2}],\"services\":[" SERVICE "," TRAFFIC
	 "}]}],\"listeners\":[{\"listener\":\"http\",\"protocol\":"
	 "\"tcp\",\"port\":80,\"server_group\":\"web\",\"services\":[" SERVICE "," TRAFFIC
	 "}],\"drain\":null}],\"server_groups\":[{\"server_group\":"
	 "\"web\"," SUMMARY ",\"servers\":[{" GROUP_SERVER
	 "}],\"servers_total\":2}],\"advice\":[],\"draining\":[],\"drain\":null}"},
	{"GroupHealth",
	 "{\"server_group\":\"web\"," SUMMARY "," WINDOWS
	 ",\"advice\":[],\"not_in_force\":[],\"items\":[{" GROUP_SERVER "}],\"next_cursor\":null}"},
	{"ServerHealth",
	 "{" GROUP_SERVER ",\"services\":[" SERVICE
	 ",\"weight\":100}],\"check\":{\"endpoint\":\"10.0.1.11:8080\",\"type\":"
	 "\"http\",\"interval_ms\":3000,\"timeout_ms\":2000,\"healthy_threshold\":3,\"unhealthy_threshold\":3,"
	 "\"fast_retry\":true},\"probe_load\":{\"per_second\":0.333,\"different\":1},\"last_failure\":null,\"recent\":[{\"result\":\"pass\",\"reason_code\":\"none\","
	 "\"duration_ms\":1.806}],\"next_change\":\"after 3 failures in a row\",\"advice\":\"\"," WINDOWS
	 "}"},
	{"DetectionTime",
	 "{\"health_check\":{\"enabled\":true,\"type\":\"tcp\",\"interval_ms\":3000,\"timeout_ms\":2000,"
	 "\"healthy_threshold\":3,\"unhealthy_threshold\":3,\"fast_retry\":true,\"port\":0,\"handshake\":\"full\","
	 "\"close\":\"rst\",\"watch\":false,\"fwmark\":0}," WINDOWS ",\"advice\":[]}"},
	{"KernelTable",
	 "{\"ipvs\":\"auto\",\"services\":[{\"service\":\"tcp 192.0.2.10:80\",\"family\":4,\"protocol\":\"tcp\","
	 "\"address\":\"192.0.2.10\",\"port\":80,\"scheduler\":\"wrr\",\"flags\":2," COUNTS
	 ",\"destinations\":["
	 "{\"address\":\"10.0.1.11\",\"port\":8080,\"forward_method\":\"nat\",\"weight\":100,\"upper\":0,\"lower\":0,"
	 "\"active\":3,\"inactive\":4,\"persistent\":0," COUNTS
	 "}],\"owner\":\"zonegate\",\"load_balancer\":\"shop\","
	 "\"zone\":\"zone-a\",\"listener\":\"http\"}],\"not_in_force\":[],\"not_in_force_total\":0,\"sysctls\":[{\"name\":\"net.ipv4.vs.drop_entry\",\"value\":0}],"
	 "\"filters\":{\"in_force\":true,\"fault\":null,\"sets\":[{\"name\":\"zg4-1f\",\"owner\":\"zonegate\",\"type\":\"hash:net\","
	 "\"family\":\"ipv4\",\"entries\":5,\"memory_bytes\":776,\"references\":1,\"use\":\"entries of access list office\","
	 "\"state\":\"in_force\",\"access_list\":\"office\"}],\"sets_left_out\":0,\"rules\":[{\"family\":\"ipv4\",\"table\":\"filter\","
	 "\"program\":\"iptables-nft\",\"chains\":[\"ZONEGATE\"],\"rules\":2,\"state\":\"in_force\"}]}}"},
	{"Stats",
	 "{\"available\":true,\"unavailable_because\":null,\"window\":\"5m\",\"step_s\":1,\"points\":2,"
	 "\"end\":\"2026-07-01T12:00:00.000Z\",\"total\":{\"now\":{\"active\":3,\"inactive\":4,\"connections_per_s\":2.5,\"packets_per_s\":40,\"bits_per_s\":96000,\"connections\":1720,\"packets_in\":20640,\"packets_out\":18920,\"bytes_in\":2064000,\"bytes_out\":18920000},"
	 "\"connections_per_s\":[null,2.5],\"packets_per_s\":[null,40],\"bits_per_s\":[null,96000],\"active\":[null,3]},"
	 "\"series\":[{\"load_balancer\":\"shop\",\"listener\":\"http\",\"zone\":\"zone-a\",\"family\":4,\"protocol\":\"tcp\","
	 "\"now\":{\"active\":3,\"inactive\":4,\"connections_per_s\":2.5,\"packets_per_s\":40,\"bits_per_s\":96000,\"connections\":1720,\"packets_in\":20640,\"packets_out\":18920,\"bytes_in\":2064000,\"bytes_out\":18920000},"
	 "\"connections_per_s\":[null,2.5],\"packets_per_s\":[null,40],\"bits_per_s\":[null,96000],\"active\":[null,3]}],"
	 "\"series_total\":1,\"limits\":[{\"load_balancer\":\"shop\",\"listener\":\"http\",\"rate_limit_dropped\":120,"
	 "\"rate_limit_dropped_recent\":7,\"rate_limit_counted_at\":\"2026-07-01T12:00:00.000Z\"}]}"},
	{"KernelDrift",
	 "{\"ipvs\":\"auto\",\"in_sync\":false,\"operations\":[\"SET_DEST tcp 192.0.2.10:80 10.0.1.11:8080 weight "
	 "100\"],\"operations_total\":1,\"not_in_force\":[],\"not_in_force_total\":0,\"repaired_since_start\":3,\"fault\":null}"},
	{"System",
	 "{\"state\":\"ok\",\"node\":\"gw-1\",\"instance\":\"c179ea80aa2f51bd\",\"version\":\"0.1.0\",\"started\":\"2026-03-01T09:00:00.000Z\",\"kernel\":{\"ipvs\":\"auto\","
	 "\"available\":true,\"known\":true,\"vip_device\":\"zonegate0\",\"release\":\"6.1.0-30-amd64\","
	 "\"modules\":[\"ip_vs_wrr\",\"ip_vs\"],\"sysctls\":[{\"name\":\"net.ipv4.ip_forward\",\"value\":1}]},\"store\":"
	 "{\"ok\":true},\"revision\":12,\"applied_revision\":12,\"services\":2,\"probes\":2,\"drift\":"
	 "{\"repaired_since_start\":0,\"last_audit\":\"2026-03-01T12:59:30.000Z\"},\"api\":{},\"advice\":[]}"},
	{"Doctor",
	 "{\"ipvs\":\"auto\",\"errors\":1,\"warnings\":0,\"infos\":0,\"findings\":[{\"code\":\"forwarding_off\","
	 "\"severity\":\"error\",\"what\":\"net.ipv4.ip_forward is 0\",\"why\":\"the kernel drops what servers behind NAT "
	 "answer: connections open and nothing comes back\",\"mend\":\"sysctl -w net.ipv4.ip_forward=1\",\"where\":"
	 "\"gateway\",\"object\":\"net.ipv4.ip_forward\"}]}"},
	{"Live", "{\"status\":\"ok\"}"},
	{"Ready",
	 "{\"status\":\"ok\",\"checks\":[{\"check\":\"store\",\"ok\":true,\"decides\":true,\"detail\":\"\"}]}"},
	{"AccessText", "\"198.51.100.0/24 allow # office\\n203.0.113.7/32 deny\\n\""},
	{"AccessEntries",
	 "{\"entry_count\":2,\"entries_hash\":\"8d1c2b0a9f3e4d57\",\"revision\":13,"
	 "\"changed\":true,\"warnings\":[]}"},
	{"AccessEntriesPatch", "{\"add\":[{\"cidr\":\"203.0.113.7/32\",\"action\":\"deny\","
			       "\"comment\":\"abuse\"}],\"remove\":[\"198.51.100.0/24\"]}"},
	{"AccessHits",
	 "{\"available\":true,\"entries\":[{\"cidr\":\"203.0.113.7/32\",\"action\":\"deny\","
	 "\"comment\":\"abuse\",\"packets\":12,\"bytes\":720}],\"entries_total\":1,"
	 "\"default\":{\"packets\":3,\"bytes\":180}}"},
	{"AccessVerdict",
	 "{\"client\":\"203.0.113.7\",\"allowed\":false,\"by\":\"entry\",\"entry\":{"
	 "\"cidr\":\"203.0.113.7/32\",\"action\":\"deny\",\"comment\":\"abuse\"},"
	 "\"access_list\":\"office\"}"},
	{"Metrics", "\"# TYPE zonegate_up gauge\\nzonegate_up 1\\n\""},
	{"OpenApi",
	 "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Zonegate\",\"version\":\"0.1.0\"},\"paths\":{}}"},
	{"Reconciliation",
	 "{\"ipvs\":\"auto\",\"in_sync\":false,\"mended\":true,\"operations\":[\"NEW_DEST tcp 192.0.2.10:80 "
	 "10.0.1.11:8080 weight 100 nat\"],\"operations_total\":1,\"not_in_force\":[],\"not_in_force_total\":0,\"fault\":null}"},
	{"RollbackRequest",
	 "{\"comment\":\"the new group answers too slowly\",\"confirm_within_s\":60}"},
	{"Rollback", "{\"rolled_back_to\":11,\"revision\":13,\"changed\":true,\"warnings\":[]}"},
	{"Revision",
	 "{\"revision\":12,\"at\":\"2026-03-01T10:00:00.000Z\",\"who\":\"root\",\"via\":\"api\",\"comment\":"
	 "\"less for web-1\",\"changes\":[{\"action\":\"update\",\"path\":\"/server_groups/web/servers/web-1\","
	 "\"old\":{\"weight\":100},\"new\":{\"weight\":50}}],\"changes_total\":1}"},
	{"RevisionList",
	 "{\"items\":[{\"revision\":12,\"at\":\"2026-03-01T10:00:00.000Z\",\"who\":\"root\",\"via\":\"api\","
	 "\"comment\":\"less for web-1\",\"changes\":{\"created\":0,\"updated\":1,\"deleted\":0}}],"
	 "\"next_cursor\":\"12\"}"},
	{"RevisionDiff",
	 "{\"from\":11,\"to\":12,\"diff\":[{\"action\":\"update\",\"path\":\"/server_groups/web/servers/web-1\","
	 "\"old\":{\"weight\":100},\"new\":{\"weight\":50}}],\"diff_total\":1,\"next_cursor\":null}"},
	{"Confirm",
	 "{\"pending\":{\"revision\":12,\"who\":\"root\",\"via\":\"api\",\"comment\":\"less for web-1\","
	 "\"made_at\":\"2026-03-01T10:00:00.000Z\",\"undone_at\":\"2026-03-01T10:01:00.000Z\",\"left_s\":43}}"},
	{"Confirmed",
	 "{\"confirmed\":true,\"change\":{\"revision\":12,\"who\":\"root\",\"via\":\"api\",\"comment\":"
	 "\"less for web-1\",\"made_at\":\"2026-03-01T10:00:00.000Z\",\"undone_at\":"
	 "\"2026-03-01T10:01:00.000Z\",\"left_s\":43}}"},
	{"DetectionTimeQuestion", "{\"protocol\":\"tcp\",\"health_check\":{\"interval_ms\":3000,"
				  "\"timeout_ms\":2000,\"unhealthy_threshold\":3},\"d_ms\":1}"},
	{"HealthHistory",
	 "{\"items\":[{\"at\":\"2026-03-01T10:00:06.400Z\",\"event\":\"transition\",\"from\":\"healthy\","
	 "\"to\":\"unhealthy\",\"reason_code\":\"connect_refused\",\"detail\":\"10.0.1.11:8080 refused the "
	 "connection after 0.3 ms\",\"lasted_ms\":86400000,\"recent\":[{\"result\":\"fail\",\"reason_code\":"
	 "\"connect_refused\",\"duration_ms\":0.3}]},{\"at\":\"2026-02-28T10:00:00.000Z\",\"event\":"
	 "\"daemon.started\"}],\"next_cursor\":null}"},
	{"EventList",
	 "{\"items\":[{\"id\":\"1772359200000123\",\"at\":\"2026-03-01T10:00:00.000Z\",\"type\":"
	 "\"server.health_changed\",\"object\":\"server_groups/web/servers/web-1\",\"severity\":\"warning\","
	 "\"detail\":\"healthy -> unhealthy after 3600.0 s: 10.0.1.11:8080 refused the connection "
	 "(connect_refused)\",\"data\":{\"from\":\"healthy\",\"to\":\"unhealthy\",\"reason_code\":"
	 "\"connect_refused\",\"lasted_ms\":3600000}}],\"next_cursor\":null}"},
	{"Notify",
	 "{\"min_severity\":\"notice\",\"types\":null,\"signed\":true,\"urls\":[{\"url\":\"https://hooks.example.net\","
	 "\"pending\":0,\"behind\":false,\"delivered\":12,\"failures\":0,\"last_success\":"
	 "\"2026-03-01T10:00:00.000Z\",\"last_failure\":null,\"error\":null}]}"},
	{"NotifyTest",
	 "{\"results\":[{\"url\":\"https://hooks.example.net\",\"ok\":true,\"status\":200,\"detail\":\"taken\","
	 "\"duration_ms\":48}]}"},
	{"Audit",
	 "{\"items\":[{\"id\":\"12\",\"at\":\"2026-03-01T10:00:00.000Z\",\"request_id\":\"5f1c-7\",\"actor\":\"root\","
	 "\"via\":\"unix\",\"token\":null,\"source\":null,\"method\":\"PUT\",\"path\":\"/api/v1/zones/zone-a\","
	 "\"object\":\"zones/zone-a\",\"revision_before\":6,\"revision_after\":7,\"status\":200,\"result\":\"ok\","
	 "\"dry_run\":false}],\"next_cursor\":null}"},
	{"Probe",
	 "{\"server_group\":\"web\",\"server\":\"web-1\",\"endpoint\":\"10.0.1.11:8080\",\"type\":\"http\","
	 "\"started\":\"2026-03-01T10:00:00.000Z\",\"result\":\"pass\",\"reason_code\":\"none\","
	 "\"duration_ms\":1.204,\"received\":\"HTTP/1.1 200 OK\",\"sent\":\"HEAD / HTTP/1.1\",\"detail\":\"10.0.1.11:8080 answered with "
	 "status 200 after 1.2 ms\"}"},
	{"ZoneShiftStart", "{\"zone\":\"zone-b\",\"load_balancer\":\"shop\",\"expires_in\":\"2h\","
			   "\"comment\":\"new switch\"}"},
	{"ZoneShiftChange", "{\"expires_in\":\"4h\",\"comment\":\"the switch comes later\"}"},
	{"ZoneShift",
	 "{" SHIFT
	 ",\"history\":[{\"at\":\"2026-03-01T10:00:00.000Z\",\"who\":\"root\",\"comment\":\"new switch\","
	 "\"expires_at\":\"2026-03-01T12:00:00.000Z\"}]}"},
	{"ZoneShiftEffects",
	 "{\"effects\":[{\"load_balancer\":\"shop\",\"dns_name\":\"shop.lb.example.net\",\"zones_left\":1,"
	 "\"servers_moved\":0,\"share_percent\":0,\"answers_before\":[\"192.0.2.10\",\"198.51.100.10\"],"
	 "\"answers_after\":[\"192.0.2.10\"]}],\"refusals\":[],\"diff\":[{\"action\":\"create\",\"path\":"
	 "\"/zone_shifts\",\"old\":null,\"new\":{\"zone\":\"zone-b\",\"load_balancer\":\"shop\",\"comment\":"
	 "\"new switch\",\"expires_at\":\"2026-03-01T12:00:00.000Z\",\"evacuate_servers\":false,\"forced\":"
	 "false}}],\"diff_total\":1,\"kernel_ops\":[],\"kernel_ops_total\":0,\"dns_changes\":[{\"name\":"
	 "\"shop.lb.example.net\",\"type\":\"A\",\"before\":[\"192.0.2.10\",\"198.51.100.10\"],\"after\":"
	 "[\"192.0.2.10\"],\"ttl_before_s\":60,\"ttl_after_s\":30}],\"dns_changes_total\":1,\"warnings\":[]}"},
	{"ZoneShiftList", "{\"items\":[{" SHIFT ",\"history\":[]}],\"next_cursor\":null}"},
	{"OverrideList",
	 "{\"items\":[{\"kind\":\"zone_shift\",\"id\":\"bd65ed46dcb5\",\"object\":"
	 "\"load_balancers/shop/zones/zone-b\",\"who\":\"root\",\"comment\":\"new switch\",\"created_at\":"
	 "\"2026-03-01T10:00:00.000Z\",\"expires_at\":\"2026-03-01T12:00:00.000Z\",\"zone\":\"zone-b\","
	 "\"load_balancer\":\"shop\",\"evacuate_servers\":false,\"forced\":false},{" DRAIN
	 "}],\"next_cursor\":null}"},
	{"DrainWish", "{\"timeout_ms\":300000,\"comment\":\"new disk\"}"},
	{"Drain", "{" DRAIN "," HISTORY "}"},
	{"WeightOverrideWish", "{\"weight\":10,\"expires_in\":\"2h\",\"comment\":\"new disk\"}"},
	{"WeightOverride",
	 "{\"kind\":\"weight_override\",\"id\":\"41d20b7c9e10\",\"object\":\"server_groups/web/servers/web-1\","
	 "\"server_group\":\"web\",\"server\":\"web-1\",\"who\":\"root\",\"comment\":\"new disk\","
	 "\"created_at\":\"2026-03-01T10:00:00.000Z\",\"changed_at\":\"2026-03-01T10:00:00.000Z\","
	 "\"detail\":\"weight 10 instead of the configured 100\",\"weight\":10,\"weight_configured\":100,"
	 "\"expires_at\":\"2026-03-01T12:00:00.000Z\"," HISTORY "}"},
	{"OverridePlan",
	 "{\"override\":{" DRAIN
	 "},\"diff\":[{\"action\":\"create\",\"path\":\"/server_groups/web/servers/web-1/drain\",\"old\":null,"
	 "\"new\":{\"comment\":\"new disk\",\"timeout_ms\":300000}}],\"diff_total\":1,"
	 "\"kernel_ops\":[\"SET_DEST tcp 192.0.2.10:80 10.0.1.11:8080 weight 0\"],"
	 "\"kernel_ops_total\":1,\"dns_changes\":[],\"dns_changes_total\":0,\"warnings\":[]}"},
	{"DnsPreview",
	 "{\"name\":\"shop.lb.example.net\",\"type\":\"A\",\"rcode\":\"NOERROR\",\"serial\":1772359200,"
	 "\"ttl_s\":30,\"negative_ttl_s\":5,\"load_balancer\":\"shop\",\"zone\":null,\"client_affinity\":"
	 "\"any\",\"client_zone\":null,\"scope\":0,\"addresses\":[{\"address\":\"192.0.2.10\",\"zone\":"
	 "\"zone-a\",\"published\":true,\"share_percent\":100,\"reason_code\":\"healthy\",\"server_group\":"
	 "null,\"shift\":null,\"detail\":\"handed out: the VIP and every server group are healthy\"}],"
	 "\"detail\":\"\",\"meant\":null}"},
	{"FailoverTime",
	 "{\"load_balancer\":\"shop\",\"dns_name\":\"shop.lb.example.net\",\"total_ms\":69010,\"ttl_s\":60,"
	 "\"dominant\":\"dns_ttl\",\"parts\":[{\"part\":\"health_check\",\"worst_ms\":9000,\"counted\":true,"
	 "\"detail\":\"silent servers of group web: a probe every 3000 ms, at most 2000 ms each, 3 failures\"},"
	 "{\"part\":\"publication\",\"worst_ms\":10,\"counted\":true,\"detail\":\"from the verdict to the first "
	 "answer without the zone\"},{\"part\":\"dns_ttl\",\"worst_ms\":60000,\"counted\":true,\"detail\":"
	 "\"resolvers and clients keep an answer for dns_ttl_s\"}],\"warning\":null,\"advice\":\"dns_ttl is 60.0 s of 69.0 s: "
	 "lower dns_ttl_s (60) to 9, and clients keep a dead address for 9 s at most once it is out of the answers; they ask DNS more often for it\"}"},
	{"DnsRecords",
	 "{\"serial\":1772359200,\"items\":[{\"name\":\"shop.lb.example.net\",\"type\":\"A\",\"ttl_s\":60,"
	 "\"data\":[\"192.0.2.10\",\"198.51.100.10\"],\"load_balancer\":\"shop\",\"zone\":null}],"
	 "\"next_cursor\":null}"},
};

static json_t *examples_find(const char *schema)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		json_t *example;

		if (strcmp(examples[i].schema, schema) != 0)
			continue;
		example = json_loads(examples[i].text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
				     NULL);
		assert(example); /* our own */
		return example;
	}
	return NULL;
}

json_t *openapi_examples_request(const char *schema)
{
	json_t *example = openapi_bodies_request(schema);

	if (!example)
		example = openapi_access_example(schema);
	return example ? example : examples_find(schema);
}

json_t *openapi_examples_answer(const char *schema)
{
	json_t *example = openapi_bodies_answer(schema);

	if (!example)
		example = openapi_access_example(schema);
	return example ? example : examples_find(schema);
}

const char *openapi_examples_parameter(const char *name)
{
	static const struct {
		const char *name;
		const char *example;
	} rows[] = {
		{"zone", "zone-a"},
		{"load_balancer", "shop"},
		{"listener", "http"},
		{"server_group", "web"},
		{"server", "web-1"},
		{"access_list", "office"},
		{"client", "203.0.113.7"},
		{"revision", "11"},
		{"shift", "bd65ed46dcb5"},
		{"name", "shop.lb.example.net"},
		{"user", "alice"},
		{"token", "2c345a4b30b48b1b"},
		{"session", "84a322e8cd6a9daf"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].example;
	}
	return NULL;
}

void openapi_examples_add(json_t *schemas)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		json_t *schema = json_object_get(schemas, examples[i].schema);

		assert(schema); /* our own */
		json_object_set_new(schema, "examples",
				    json_pack("[o]", examples_find(examples[i].schema)));
	}
}
