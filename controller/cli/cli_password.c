// SPDX-License-Identifier: GPL-2.0-or-later
// Reading passwords.
#include "cli/cli_password.h"

#include "base/mem.h"
#include "cli/cli_print.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PASSWORD_LINE_MAX 512

void cli_password_free(char *password)
{
	if (password)
		explicit_bzero(password, strlen(password));
	free(password);
}

/* A line of the terminal. What is typed ahead is dropped. */
static char *cli_password_ask(FILE *tty, const char *prompt)
{
	char line[PASSWORD_LINE_MAX];
	struct termios before, silent;
	char *password = NULL;

	if (tcgetattr(fileno(tty), &before) != 0)
		return NULL;
	silent = before;
	silent.c_lflag &= ~(tcflag_t)ECHO;
	silent.c_lflag |= ECHONL;
	fputs(prompt, stderr);
	fflush(stderr);
	tcsetattr(fileno(tty), TCSAFLUSH, &silent);
	if (fgets(line, sizeof(line), tty))
		password = mem_printf("%.*s", (int)strcspn(line, "\r\n"), line);
	tcsetattr(fileno(tty), TCSAFLUSH, &before);
	explicit_bzero(line, sizeof(line));
	return password;
}

static char *cli_password_prompt(const char *user)
{
	AUTO_FREE char *prompt = mem_printf("Password for %s: ", user);
	FILE *tty = fopen("/dev/tty", "r+e");
	char *first, *again;

	if (!tty) {
		fprintf(stderr, "zonegate: there is no terminal to ask for a password: give "
				"--password-file FILE\n");
		return NULL;
	}
	first = cli_password_ask(tty, prompt);
	again = first ? cli_password_ask(tty, "Again: ") : NULL;
	fclose(tty);
	if (!again || strcmp(first, again) != 0) {
		fprintf(stderr, "zonegate: %s\n",
			again ? "the two are not the same" : "no password was typed");
		cli_password_free(first);
		first = NULL;
	}
	cli_password_free(again);
	return first;
}

char *cli_password_read(const struct cli *cli, const char *user)
{
	const char *file = cli->options.password_file;
	char *text, *password;
	size_t size;

	if (!file)
		return cli_password_prompt(user);
	text = cli_print_read_file(file, &size);
	if (!text)
		return NULL;
	if (strcmp(file, "-") != 0)
		cli_client_warn_of_open(file, "the password");
	password = mem_printf("%.*s", (int)strcspn(text, "\r\n"), text);
	explicit_bzero(text, size);
	free(text);
	return password;
}
