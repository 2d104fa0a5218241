// SPDX-License-Identifier: GPL-2.0-or-later
// The product's scheduler under the same load as the bare programs: TARGETS servers at 127.1.0.0 onwards, through the state
// machine, without the rest of the daemon.
//   probe_bench KIND TARGETS INTERVAL_MS SECONDS PORT [WARM_SECONDS TIMEOUT_MS]
// Prints: probes, failures, CPU µs a probe, heap a target. What comes in the first WARM_SECONDS is not counted.
// KIND: tcp, http, kept (http on a kept connection), https, tls, grpc, half_open, udp, dns, icmp, icmp_udp.
#include "base/time.h"
#include "health/health.h"
#include "probe/probe.h"

#include <arpa/inet.h>
#include <ev.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct bench {
	struct health_settings settings;
	struct health_check check;
	uint64_t probes;
	uint64_t failures;
	struct health *servers;
	size_t count;
	double warm; /* seconds */
	double cpu;  /* at the beginning of what counts */
};

static usec_t on_result(void *ctx, void *ref, const struct probe_result *r)
{
	struct bench *b = ctx;
	usec_t next;

	b->probes++;
	b->failures += r->health.verdict != PROBE_PASS;
	health_step(ref, &b->settings, &r->health, &next);
	return next;
}

static void on_end(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	(void)w;
	(void)revents;
	ev_break(loop, EVBREAK_ALL);
}

static double cpu_usec(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void on_warm(struct ev_loop *loop, struct ev_timer *w, int revents)
{
	struct bench *b = w->data;

	(void)loop;
	(void)revents;
	b->probes = b->failures = 0;
	b->cpu = cpu_usec();
}

static void add_all(struct bench *b, struct probe_sched *s, uint16_t port)
{
	usec_t now = time_monotonic();

	for (size_t i = 0; i < b->count; i++) {
		struct probe_target t = {.check = &b->check, .port = port};
		uint32_t to = htonl(0x7f010000u + (uint32_t)i);
		uint64_t hash = i * UINT64_C(0x9e3779b97f4a7c15) >> 16;

		t.address.family = AF_INET;
		memcpy(t.address.bytes, &to, sizeof(to));
		health_init(&b->servers[i], HEALTH_HEALTHY);
		probe_sched_add(s, &t, &b->servers[i], health_first_start(&b->settings, hash, now));
	}
}

static void run(struct bench *b, double seconds, uint16_t port)
{
	struct probe_sched_callbacks cb = {.ctx = b, .result = on_result};
	struct ev_loop *loop = ev_default_loop(0);
	struct probe_sched *s = probe_sched_new(loop, &cb);
	size_t heap = mallinfo2().uordblks;
	struct ev_timer warm = {.data = b};
	struct ev_timer end;
	double cpu;

	add_all(b, s, port);
	ev_timer_init(&end, on_end, b->warm + seconds, 0.);
	ev_now_update(loop);
	ev_timer_start(loop, &end);
	ev_timer_init(&warm, on_warm, b->warm, 0.);
	ev_timer_start(loop, &warm);
	ev_run(loop, 0);
	cpu = cpu_usec() - b->cpu;
	heap = mallinfo2().uordblks - heap; /* with the probes that are in flight just now */
	printf("probes %ju failures %ju cpu_usec %.1f heap_bytes %.0f\n", (uintmax_t)b->probes,
	       (uintmax_t)b->failures, b->probes ? cpu / (double)b->probes : 0.,
	       (double)heap / (double)b->count);
	probe_sched_free(s);
	ev_loop_destroy(loop);
}

/* Returns false for what is no kind. */
static bool choose(const char *kind, struct health_check *check)
{
	static const struct {
		const char *name;
		enum check_type type;
		enum check_handshake handshake;
		bool reuse;
	} kinds[] = {
		{"tls", CHECK_TLS, HANDSHAKE_FULL, false},
		{"grpc", CHECK_GRPC, HANDSHAKE_FULL, false},
		{"https", CHECK_HTTPS, HANDSHAKE_FULL, false},
		{"kept", CHECK_HTTP, HANDSHAKE_FULL, true},
		{"tcp", CHECK_TCP, HANDSHAKE_FULL, false},
		{"http", CHECK_HTTP, HANDSHAKE_FULL, false},
		{"udp", CHECK_UDP, HANDSHAKE_FULL, false},
		{"dns", CHECK_DNS, HANDSHAKE_FULL, false},
		{"icmp_udp", CHECK_ICMP_UDP, HANDSHAKE_FULL, false},
		{"half_open", CHECK_TCP, HANDSHAKE_HALF_OPEN, false},
		{"icmp", CHECK_ICMP, HANDSHAKE_FULL, false},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i].name) != 0)
			continue;
		check->type = kinds[i].type;
		check->handshake = kinds[i].handshake;
		check->reuse_connection = kinds[i].reuse;
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static char path[] = "/";
	static char status[] = "200-299";
	struct bench b = {0};

	if ((argc != 6 && argc != 8) || !choose(argv[1], &b.check)) {
		fprintf(stderr,
			"usage: probe_bench KIND TARGETS INTERVAL_MS SECONDS PORT [WARM_SECONDS TIMEOUT_MS]\n");
		return 64;
	}
	b.count = strtoul(argv[2], NULL, 10);
	b.warm = argc == 8 ? strtod(argv[6], NULL) : 0.;
	b.settings = (struct health_settings){
		.interval = strtoul(argv[3], NULL, 10) * USEC_PER_MS,
		.timeout = (argc == 8 ? strtoul(argv[7], NULL, 10) : 1000) * USEC_PER_MS,
		.healthy_threshold = 3,
		.unhealthy_threshold = 3,
		.fast_retry = true,
	};
	b.check.enabled = true;
	b.check.interval_ms = (uint32_t)(b.settings.interval / USEC_PER_MS);
	b.check.timeout_ms = (uint32_t)(b.settings.timeout / USEC_PER_MS);
	b.check.dns_qtype = 1; /* A */
	b.check.dns_accepted_rcodes = 1;
	b.check.path = path;
	b.check.expected_status = status;
	b.servers = calloc(b.count, sizeof(*b.servers));
	if (!b.servers || !b.count)
		return 1;
	run(&b, strtod(argv[4], NULL), (uint16_t)strtoul(argv[5], NULL, 10));
	free(b.servers);
	return 0;
}
