# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads C as far as the lint needs it: text without comments and strings, functions, nesting.

It leans on the format that clang-format enforces (a function's braces stand alone in the first
column) and never tries to understand macros.
"""
import re

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
_WORD = re.compile(r'[A-Za-z_]\w*|[{}();:,]|[^\s]')


def blank(text):
    """The text with the inside of comments and literals blanked; lines and columns stay."""
    def keep(match):
        found = match.group(0)
        if found[0] == '/':
            return re.sub(r'[^\n]', ' ', found)
        return found[0] + re.sub(r'[^\n]', ' ', found[1:-1]) + found[-1]
    return _TOKEN.sub(keep, text)


def includes(text):
    """(line number, name, quoted?) of each #include."""
    for number, line in enumerate(text.split('\n'), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(2), match.group(1) == '"'


class Function:
    def __init__(self, name, line, length, parameters, nesting):
        self.name, self.line, self.length = name, line, length
        self.parameters, self.nesting = parameters, nesting


def functions(text):
    """Every function definition in the file."""
    lines = blank(text).split('\n')
    lines = ['' if line.lstrip().startswith('#') else line for line in lines]
    start = None
    for index, line in enumerate(lines):
        if line == '{':
            start = index
        elif line.startswith('}') and start is not None:
            head_line, head = _head(lines, start)
            found = _signature(head)
            if found:
                body = '\n'.join(lines[start:index + 1])
                yield Function(found[0], head_line + 1, index - head_line + 1, found[1],
                               nesting(body))
            start = None


def _head(lines, brace):
    first = brace
    while first > 0:
        before = lines[first - 1].rstrip()
        if not before or before.endswith((';', '}')):
            break
        first -= 1
    return first, ' '.join(lines[first:brace])


def _signature(head):
    match = re.search(r'([A-Za-z_]\w*)\s*\(', head)
    while match and match.group(1) in ('__attribute__', 'defined'):
        match = re.search(r'([A-Za-z_]\w*)\s*\(', head[match.end():])
    if not match:
        return None
    depth, commas, inside = 0, 0, ''
    for char in head[match.end() - 1:]:
        if char == '(':
            depth += 1
        elif char == ')':
            depth -= 1
            if depth == 0:
                break
        elif char == ',' and depth == 1:
            commas += 1
        inside += char
    empty = inside[1:].strip() in ('', 'void')
    return match.group(1), 0 if empty else commas + 1


class _Reader:
    def __init__(self, text):
        self.tokens = _WORD.findall(text)
        self.at = 0
        self.deepest = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ''

    def take(self):
        token = self.peek()
        self.at += 1
        return token

    def group(self):
        """Skips one (...) or {...} group that starts here."""
        depth = 0
        while self.at < len(self.tokens):
            token = self.take()
            depth += token in ('(', '{')
            depth -= token in (')', '}')
            if depth == 0:
                return

    def block(self, depth):
        self.take()
        while self.peek() not in ('}', ''):
            self.statement(depth)
        self.take()

    def inner(self, depth):
        self.deepest = max(self.deepest, depth + 1)
        self.statement(depth + 1)

    def statement(self, depth):
        token = self.peek()
        if token == '{':
            self.block(depth)
        elif token == 'if':
            self.take()
            self.group()
            self.inner(depth)
            if self.peek() == 'else':
                self.take()
                if self.peek() == 'if':
                    self.statement(depth)
                else:
                    self.inner(depth)
        elif token in ('for', 'while', 'switch'):
            self.take()
            self.group()
            if self.peek() == ';':  # the tail of a do
                self.take()
            else:
                self.inner(depth)
        elif token == 'do':
            self.take()
            self.inner(depth)
        elif token in ('case', 'default'):
            while self.take() not in (':', ''):
                pass
        else:
            self.expression(depth)

    def expression(self, depth):
        """Up to the semicolon, or a macro loop (`vec_foreach (...) {`)."""
        first = self.at
        while self.at < len(self.tokens):
            token = self.peek()
            if token == ';':
                self.take()
                return
            if token == '}':
                return
            if token == '(':
                self.group()
                if self.peek() == '{' and self.at - first > 2 and self.tokens[first + 1] == '(':
                    self.inner(depth)
                    return
                continue
            if token == '{':
                self.group()
                continue
            self.take()


def nesting(body):
    """How deep control statements stand in each other; an else-if chain counts as one."""
    reader = _Reader(body)
    reader.block(0)
    return reader.deepest
