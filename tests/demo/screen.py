# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the demo: a table that is redrawn on a terminal, plain lines elsewhere."""

import shutil
import textwrap
import time

CLEAR, HOME, REST = "\x1b[2J", "\x1b[H", "\x1b[J"
LINE_END = "\x1b[K\n"
COLOURS = {"healthy": "\x1b[32m", "unhealthy": "\x1b[31m"}
OTHER_COLOUR, PLAIN = "\x1b[33m", "\x1b[0m"
PLAIN_EVERY = 5.0  # seconds between tables on what is no terminal
NOTES = 4


def fold(columns, sentence, width):
    """Lines of a row: the sentence beside its columns, or below them where it does not fit."""
    if not width or len(columns) + len(sentence) <= width:
        return [columns + sentence]
    indent = " " * 4
    return [columns, *textwrap.wrap(sentence, width, initial_indent=indent, subsequent_indent=indent)]


def describe(answer):
    """A DNS answer in a few words."""
    if not answer["addresses"]:
        return "no address" if answer["rcode"] == "NOERROR" else answer["rcode"]
    return f"{' '.join(answer['addresses'])} (TTL {answer['ttl']} s)"


class Screen:
    def __init__(self, stream):
        self._stream = stream
        self._terminal = stream.isatty()
        self._introduction = []
        self._notes = []
        self._states = {}
        self._name = ""
        self._answer = None
        self._event = None
        self._shown_at = 0.0
        if not self._terminal:
            print("demo: starting", file=stream, flush=True)

    def introduce(self, name, lines):
        self._name = name
        self._introduction = lines
        if self._terminal:
            self._stream.write(CLEAR)
        else:
            print("\n".join(lines), file=self._stream, flush=True)

    def renew(self, lines):
        """The introduction says something else: elsewhere than on a terminal only its first line is told again."""
        self._introduction = lines
        if not self._terminal:
            print(lines[0], file=self._stream, flush=True)
        elif self._event:
            self._show(self._event)

    def note(self, text):
        text = f"{time.strftime('%H:%M:%S')} {text}"
        self._notes = [*self._notes, text][-NOTES:]
        if not self._terminal:
            print(text, file=self._stream, flush=True)

    def answer(self, answer):
        """DNS answers something else from now on: shown at once."""
        before, self._answer = self._answer, answer
        if before:
            self.note(f"DNS: {self._name} {describe(before)} -> {describe(answer)}")
        if self._event:
            self._show(self._event)

    def table(self, event):
        self._event = event
        for row in event["rows"]:
            before = self._states.get(row["name"])
            if before != row["state"]:
                self._states[row["name"]] = row["state"]
                if before is not None:
                    self.note(f"{row['name']}: {before} -> {row['state']}: {row['reason']}")
        self._show(event)

    def _show(self, event):
        width = shutil.get_terminal_size().columns - 1 if self._terminal else 0
        lines = self._lines(event, width)
        if self._terminal:
            self._redraw(lines, width)
        elif time.monotonic() - self._shown_at >= PLAIN_EVERY:
            self._shown_at = time.monotonic()
            print("\n".join(x for x, _ in lines), file=self._stream, flush=True)

    def _zone_lines(self, event, width):
        lines = [(f"{'ZONE':8} {'VIP':15} {'DNS':10} {'':>9} {'CONN/S':>7}  REASON", None)]
        for row in event["zones"]:
            # None: the daemon does not answer, and nobody knows
            published = {True: "published", False: "withdrawn"}.get(row["published"], "?")
            columns = f"{row['zone']:8} {row['vip']:15} {published:10} {'':>9} {row['rate']:7.1f}  "
            state = "healthy" if row["published"] else "other"
            lines += [(text, state) for text in fold(columns, row["reason"], width)]
        asked = f"{self._name} A: {describe(self._answer)}" if self._answer else "not asked yet"
        lines += [(f"{'DNS':8} {asked}", None), ("", None)]
        return lines

    def _lines(self, event, width):
        """[(text, state or None)]"""
        lines = self._zone_lines(event, width)
        lines += [(f"{'SERVER':8} {'ADDRESS':15} {'STATE':10} {'WEIGHT*':>9} {'CONN/S':>7}  REASON", None)]
        for row in event["rows"]:
            weights = "/".join("-" if w is None else str(w) for w in row["weights"])
            columns = (
                f"{row['name']:8} {row['address']:15} {row['state']:10} {weights:>9} "
                f"{row['rate']:7.1f}  "
            )
            lines += [(text, row["state"]) for text in fold(columns, row["reason"], width)]
        total = sum(row["rate"] for row in event["rows"])
        summary = (
            f"{event['answers']} answered, {event['errors']} not; "
            f"IPVS counted {event['kernel']} connections"
        )
        lines += [(x, None) for x in fold(f"{'total':45} {total:7.1f}  ", summary, width)]
        zones = " / ".join(f"VIP of {row['zone']}" for row in event["zones"])
        lines += [(x, None) for x in fold("* in the kernel, at the ", zones, width)]
        return lines

    def _redraw(self, lines, width):
        out = [HOME, f"Zonegate demo: {self._name} in two zones; Ctrl-C ends it", LINE_END]
        out.append(LINE_END)
        for text, state in lines:
            colour = COLOURS.get(state, OTHER_COLOUR) if state else ""
            out += [colour, text[:width], PLAIN if colour else "", LINE_END]
        out.append(LINE_END)
        # Whole, however long: they are there to be pasted.
        for text in self._introduction:
            out += [text, LINE_END]
        out.append(LINE_END)
        for text in self._notes:
            out += [text[:width], LINE_END]
        out.append(REST)
        self._stream.write("".join(out))
        self._stream.flush()

    def close(self):
        if self._terminal:
            self._stream.write("\n")
            self._stream.flush()
