// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a play line by line and hands each to the table its first word is in.
#include "sim/play.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define PLAY_SIZE_MAX (1024 * 1024)

bool play_fault(struct play *p, const char *fmt, ...)
{
	int n;
	va_list ap;

	if (p->fault[0])
		return false; /* the first one counts */
	n = snprintf(p->fault, sizeof(p->fault), "%s:%u: ", p->path, p->line);
	va_start(ap, fmt);
	vsnprintf(p->fault + n, sizeof(p->fault) - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

struct play_write *play_last_write(const struct play *p)
{
	return p->writes.count ? p->writes.items[p->writes.count - 1] : NULL;
}

static bool read_text(struct play *p)
{
	FILE *file = fopen(p->path, "re");
	size_t size;

	if (!file)
		return play_fault(p, "cannot be read");
	p->text = mem_alloc(PLAY_SIZE_MAX + 1);
	size = fread(p->text, 1, PLAY_SIZE_MAX, file);
	fclose(file);
	p->text[size] = '\0';
	p->next = p->text;
	return true;
}

/* The next line without its end; NULL at the end of the text. */
static char *read_line(struct play *p)
{
	char *line = p->next;
	size_t length;

	if (!line || !*line)
		return NULL;
	length = strcspn(line, "\n");
	p->next = line[length] ? line + length + 1 : line + length;
	line[length] = '\0';
	p->line++;
	return line;
}

static bool read_heredoc(struct play *p, const char *mark)
{
	char *text = mem_strdup("");
	char *line;

	free(p->heredoc);
	p->heredoc = NULL;
	while ((line = read_line(p))) {
		char *longer;

		if (strcmp(line, mark) == 0) {
			p->heredoc = text;
			return true;
		}
		longer = mem_printf("%s%s\n", text, line);
		free(text);
		text = longer;
	}
	free(text);
	return play_fault(p, "no line \"%s\" ends the text", mark);
}

/* Words are parted by blanks. The line itself stays as it is for those that take its rest. */
static bool split_line(struct play *p, char *line)
{
	char *copy = p->words[0]; /* of the line before */
	char *at;

	free(copy);
	memset(p->words, 0, sizeof(p->words));
	p->count = 0;
	copy = mem_strdup(line);
	at = copy + strspn(copy, " \t");
	if (*at == '#')
		*at = '\0';
	memmove(copy, at, strlen(at) + 1);
	line += strspn(line, " \t");
	p->words[0] = copy;
	for (at = copy; *at; at += strspn(at, " \t")) {
		if (p->count == PLAY_WORDS_MAX)
			return true; /* the rest is JSON */
		p->words[p->count] = at;
		p->rest[p->count++] = line + (at - copy);
		at += strcspn(at, " \t");
		if (*at)
			*at++ = '\0';
	}
	return true;
}

static const struct play_command *find_command(const char *name)
{
	const struct play_command *tables[] = {play_actions, play_writes,    play_zones,
					       play_crowd,   play_overrides, play_confirm};

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct play_command *c = tables[t]; c->name; c++)
			if (strcmp(c->name, name) == 0)
				return c;
	return NULL;
}

/* A write that was not simply done must be expected on the very next line. */
static bool judge_write(struct play *p)
{
	const struct play_write *w = play_last_write(p);
	bool judging = p->count > 1 && strcmp(p->words[0], "expect") == 0 &&
		       strcmp(p->words[1], "answer") == 0;

	if (!w || w->judged || !w->answered || judging)
		return true;
	if (err_any(&w->faults))
		return play_fault(p, "the write of line %u was refused: %s", w->line,
				  err_first(&w->faults));
	if (err_any(&w->warnings))
		return play_fault(p, "the write of line %u has a warning: %s", w->line,
				  err_first(&w->warnings));
	return true;
}

static bool run_line(struct play *p)
{
	const struct play_command *c;
	const char *last;

	if (!judge_write(p))
		return false;
	if (p->count == 0)
		return true;
	c = find_command(p->words[0]);
	if (!c)
		return play_fault(p, "\"%s\" is no command", p->words[0]);
	if (p->count < c->words)
		return play_fault(p, "%s wants more words", c->name);
	last = p->words[p->count - 1];
	if (strncmp(last, "<<", 2) == 0 && !read_heredoc(p, last + 2))
		return false;
	return c->run(p);
}

static void play_clear(struct play *p)
{
	sim_world_clear(&p->world);
	play_writes_clear(p);
	object_unref(p->held);
	free(p->words[0]);
	free(p->heredoc);
	free(p->text);
}

const char *play_run(struct play *p, const char *path)
{
	const struct play_write *w;
	char *line;

	memset(p, 0, sizeof(*p));
	p->path = path;
	sim_world_init(&p->world);
	if (read_text(p)) {
		while (!p->fault[0] && (line = read_line(p)))
			if (split_line(p, line))
				run_line(p);
		p->count = 0;
		if (!p->fault[0] && judge_write(p) && (w = play_last_write(p)) && !w->answered)
			play_fault(p, "the write of line %u was never answered", w->line);
	}
	play_clear(p);
	return p->fault[0] ? p->fault : NULL;
}
