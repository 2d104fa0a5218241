# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree under judgement: its files, read once, and the commands run in it."""
import os
import re
import subprocess

import ctext


class Tree:
    def __init__(self, root, build='build', make='make', clang='clang'):
        self.root, self.build, self.make, self.clang = root, build, make.split(), clang
        self.notes, self.summaries = [], {}
        self._texts, self._enum_names = {}, None

    def note(self, text):
        self.notes.append(text)

    def summary(self, rule, text):
        self.summaries[rule] = text

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def read(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), encoding='utf-8', errors='replace') as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def files(self, top, *endings):
        found = []
        for folder, folders, names in os.walk(os.path.join(self.root, top)):
            folders[:] = sorted(f for f in folders if f not in ('node_modules', '__pycache__'))
            found += [os.path.relpath(os.path.join(folder, name), self.root)
                      for name in sorted(names) if name.endswith(endings)]
        return found

    def c_files(self):
        return self.files('controller', '.c', '.h') + self.files('tests', '.c', '.h')

    def sources(self):
        """Files that carry an SPDX line: C, Python, shell, the Makefile, units."""
        found = self.files('controller', '.c', '.h', '.def')
        found += self.files('tests', '.c', '.h', '.py', '.sh') + self.files('systemd', '.service')
        found += self.files('webui', '.ts', '.tsx', '.css')
        found += ['Makefile'] if self.exists('Makefile') else []
        for path in self.tracked():
            if os.access(os.path.join(self.root, path), os.X_OK) and path not in found \
                    and self.exists(path) and self.read(path).startswith('#!'):
                found.append(path)
        return found

    def tracked(self):
        result = self.run(['git', 'ls-files', '-z'])
        return [path for path in result.stdout.split('\0') if path
                and os.path.isfile(os.path.join(self.root, path))]

    def is_enum_name(self, name):
        if self._enum_names is None:
            self._enum_names = set()
            for path in self.files('controller', '.c', '.h'):
                for body in re.findall(r'\benum(?:\s+\w+)?\s*{(.*?)}', ctext.blank(self.read(path)),
                                       re.S):
                    self._enum_names.update(re.findall(r'[A-Z][A-Z0-9_]+', body))
        return name in self._enum_names

    def run(self, argv):
        return subprocess.run(argv, cwd=self.root, capture_output=True, text=True,
                              errors='replace', timeout=900, check=False)
