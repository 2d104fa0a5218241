// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel tells of this process (getrusage(2), /proc/self) as series.
#include "api/metrics_process.h"

#include "base/buf.h"
#include "base/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double metrics_process_cpu(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) != 0)
		return 0;
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static unsigned long long metrics_process_resident(void)
{
	unsigned long long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static unsigned metrics_process_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	if (!folder)
		return 0;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count > 3 ? count - 3 : 0; /* ".", ".." and that of the folder */
}

void metrics_process_write(struct buf_writer *w, const char *version, usec_t started_wall)
{
	metrics_write_head(w, "zonegate_build_info");
	buf_write_format(w, "zonegate_build_info{version=\"%s\"} 1\n", version);
	metrics_write_head(w, "zonegate_process_start_time_seconds");
	buf_write_format(w, "zonegate_process_start_time_seconds %.3f\n",
			 (double)started_wall / 1e6);
	metrics_write_head(w, "zonegate_process_cpu_seconds_total");
	buf_write_format(w, "zonegate_process_cpu_seconds_total %.6f\n", metrics_process_cpu());
	metrics_write_head(w, "zonegate_process_resident_memory_bytes");
	buf_write_format(w, "zonegate_process_resident_memory_bytes %llu\n",
			 metrics_process_resident());
	metrics_write_head(w, "zonegate_process_open_fds");
	buf_write_format(w, "zonegate_process_open_fds %u\n", metrics_process_descriptors());
}
