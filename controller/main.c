// SPDX-License-Identifier: GPL-2.0-or-later
// zonegated: reads its options and settings, then runs.
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "settings.h"
#include "settings_place.h"
#include "wiring.h"
#include "wiring_check.h"

#define EXIT_USAGE       64
#define EXIT_CONFIG      78 /* sysexits.h: EX_CONFIG */
#define DEFAULT_SETTINGS "/etc/zonegate/zonegate.conf"
#define SERVICE_USER     "zonegate" /* of the unit */

struct options {
	const char *settings_path;
	const char *state_dir;
	bool check;
	bool flush;
};

static void print_usage(FILE *out)
{
	fputs("usage: zonegated [-c FILE] [--state-dir DIR] [--check | --flush] [--version] [--help]\n"
	      "  -c, --config FILE  settings (default " DEFAULT_SETTINGS
	      "; conf.d/*.conf beside it are read too)\n"
	      "  --state-dir DIR    folder of the database; goes before [store] path\n"
	      "  --check            judge the settings and exit\n"
	      "  --flush            remove from the kernel what a daemon has left there, and exit\n"
	      "  --version          print the version and exit\n",
	      out);
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"config", required_argument, NULL, 'c'},
		{"state-dir", required_argument, NULL, 's'},
		{"check", no_argument, NULL, 'k'},
		{"flush", no_argument, NULL, 'f'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:h", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->settings_path = optarg;
			break;
		case 's':
			o->state_dir = optarg;
			break;
		case 'k':
			o->check = true;
			break;
		case 'f':
			o->flush = true;
			break;
		case 'V':
			puts("zonegated " ZONEGATE_VERSION);
			return 0;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			print_usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (o->check && o->flush) {
		fputs("zonegated: either --check, which changes nothing, or --flush\n", stderr);
		return EXIT_USAGE;
	}
	if (optind < argc) {
		fprintf(stderr, "zonegated: unexpected argument \"%s\"\n", argv[optind]);
		print_usage(stderr);
		return EXIT_USAGE;
	}
	return -1;
}

static void print_faults(const struct settings *s, const struct err *e)
{
	char place[SETTINGS_PLACE_MAX];

	for (size_t i = 0; i < e->count; i++)
		fprintf(stderr, "zonegated: %s%s\n",
			settings_place_format(s, e->faults[i].pointer, place), e->faults[i].detail);
}

/* Faults are in `e`. */
static void load_settings(const struct options *o, struct settings *s, struct err *e)
{
	const char *path = o->settings_path ? o->settings_path : DEFAULT_SETTINGS;

	settings_init(s);
	settings_load(s, path, o->settings_path ? SETTINGS_REQUIRED : SETTINGS_OPTIONAL, e);
	if (o->state_dir) {
		free(s->store_path);
		s->store_path = mem_strdup(o->state_dir);
	}
}

/* Whether one of the settings, or of the files that they name, is at fault: another start would end in the same way. What is
 * only taken or out of reach now may be free at the next. */
static bool is_of_settings(const struct err *e)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct err_fault *f = &e->faults[i];

		if (f->pointer[0] == '[' && f->code != ERR_UNAVAILABLE && f->code != ERR_INTERNAL &&
		    f->code != ERR_DUPLICATE)
			return true;
	}
	return false;
}

static int run(const struct options *o, struct settings *s, struct err *e)
{
	char place[SETTINGS_PLACE_MAX];
	struct wiring *w = NULL;

	log_open((enum log_target)s->log_target, (enum log_level)s->log_level);
	if (geteuid() == 0)
		log_write(LOG_LEVEL_WARNING,
			  "running as root: its own user with CAP_NET_ADMIN, CAP_NET_RAW and "
			  "CAP_NET_BIND_SERVICE is enough (see zonegate.service)");
	if (wiring_new(s, o->settings_path ? o->settings_path : DEFAULT_SETTINGS, e, &w) != 0) {
		for (size_t i = 0; i < e->count; i++)
			log_write(LOG_LEVEL_ERROR, "cannot start: %s%s",
				  settings_place_format(s, e->faults[i].pointer, place),
				  e->faults[i].detail);
		return is_of_settings(e) ? EXIT_CONFIG : EXIT_FAILURE;
	}
	wiring_run(w);
	wiring_free(w);
	log_close();
	return EXIT_SUCCESS;
}

static int flush(struct settings *s, struct err *e)
{
	log_open(LOG_TARGET_STDERR, LOG_LEVEL_WARNING);
	if (wiring_flush(s, e) != 0) {
		print_faults(s, e);
		return EXIT_FAILURE;
	}
	puts("zonegated: nothing of it is left in the kernel");
	return EXIT_SUCCESS;
}

/* The settings are in order, and may be made where they are not used. */
static void warn_of_files(const struct settings *s)
{
	struct err e AUTO_ERR = {0};
	char place[SETTINGS_PLACE_MAX];

	wiring_check_files(s, getpwnam(SERVICE_USER), &e);
	for (size_t i = 0; i < e.count; i++)
		fprintf(stderr, "zonegated: warning: it does not start: %s%s\n",
			settings_place_format(s, e.faults[i].pointer, place), e.faults[i].detail);
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct settings s;
	struct err e AUTO_ERR = {0};
	int status = parse_options(argc, argv, &o);
	bool broken;

	if (status >= 0)
		return status;
	load_settings(&o, &s, &e);
	if (!o.flush) /* what a start would refuse does not matter */
		wiring_check(&s, &e);
	broken = o.check && !err_any(&e) && wiring_check_libraries(&e) != 0;
	if (o.check && !err_any(&e))
		wiring_check_contents(&s, &e);
	if (err_any(&e)) {
		print_faults(&s, &e);
		status = broken ? EXIT_FAILURE : EXIT_CONFIG;
	} else if (o.flush) {
		status = flush(&s, &e);
	} else if (o.check) {
		warn_of_files(&s);
		puts("zonegated: the settings are in order");
		status = EXIT_SUCCESS;
	} else {
		status = run(&o, &s, &e);
		if (status != EXIT_SUCCESS && s.log_target != LOG_TARGET_STDERR)
			print_faults(&s, &e);
	}
	settings_clear(&s);
	return status;
}
