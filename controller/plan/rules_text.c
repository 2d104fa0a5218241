// SPDX-License-Identifier: GPL-2.0-or-later
// The rules are constant: what changes is in the sets that they look into. In the words and the order of words that iptables
// itself prints.
#include "plan/rules_text.h"

#include "base/buf.h"

/* Nothing opens a TCP connection without this, so answers to connections of this host's own pass. */
#define SYN "-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN"

/* In the text: @ is 4 or 6, % what ICMP calls itself in the family. */
static const char *const rules_lines[] = {
	"-i lo -j RETURN",
	"-m set --match-set zg@-open dst,dst -j RETURN",
	"-p tcp -m tcp --dport 1024:65535 -m set --match-set zg@-ftp dst -j RETURN",
	SYN " -m set --match-set zg@-drop dst -j DROP",
	"-p udp -m set --match-set zg@-drop dst -j DROP",
	"-p sctp -m set --match-set zg@-drop dst -j DROP",
	SYN " -m set --match-set zg@-reject dst -j REJECT --reject-with tcp-reset",
	"-p udp -m set --match-set zg@-reject dst -j REJECT --reject-with %-port-unreachable",
	"-p sctp -m set --match-set zg@-reject dst -j REJECT --reject-with %-port-unreachable",
};

static void rules_text_write_line(struct buf_writer *w, const char *line, enum ruleset_family f)
{
	buf_write_text(w, "-A " RULES_TEXT_CHAIN " ");
	for (const char *p = line; *p; p++) {
		if (*p == '@')
			buf_write_text(w, f == RULESET_V4 ? "4" : "6");
		else if (*p == '%')
			buf_write_text(w, f == RULESET_V4 ? "icmp" : "icmp6");
		else
			buf_write(w, p, 1);
	}
	buf_write_text(w, "\n");
}

static void rules_text_write_lines(struct buf_writer *w, enum ruleset_family f)
{
	for (size_t i = 0; i < sizeof(rules_lines) / sizeof(rules_lines[0]); i++)
		rules_text_write_line(w, rules_lines[i], f);
}

void rules_text_write_set(struct buf_writer *w, enum ruleset_family f, enum rules_jump jump)
{
	buf_write_text(w, "*filter\n:" RULES_TEXT_CHAIN " - [0:0]\n");
	rules_text_write_lines(w, f);
	if (jump == JUMP_ABSENT)
		buf_write_text(w, "-I " RULES_TEXT_HOOK " -j " RULES_TEXT_CHAIN "\n");
	buf_write_text(w, "COMMIT\n");
}

void rules_text_write_delete(struct buf_writer *w, enum rules_jump jump)
{
	buf_write_text(w, "*filter\n:" RULES_TEXT_CHAIN " - [0:0]\n");
	if (jump == JUMP_PRESENT)
		buf_write_text(w, "-D " RULES_TEXT_HOOK " -j " RULES_TEXT_CHAIN "\n");
	buf_write_text(w, "-X " RULES_TEXT_CHAIN "\nCOMMIT\n");
}

void rules_text_write_listing(struct buf_writer *w, enum ruleset_family f)
{
	buf_write_text(w, "-N " RULES_TEXT_CHAIN "\n");
	rules_text_write_lines(w, f);
}
