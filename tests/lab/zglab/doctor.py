# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks the doctor, and does what it says."""

import json


def visit(lab):
    """{code: finding}; errors make the command end with 1."""
    done = lab.gw.cli("-o", "json", "doctor")
    answer = json.loads(done.stdout)
    assert done.returncode == (1 if answer["errors"] else 0), (done.returncode, answer)
    return {x["code"]: x for x in answer["findings"]}


def mend(lab, code, where=None, **words):
    """Runs what the finding of that code says, on the gateway or in another namespace; words in capitals are the administrator's."""
    command = visit(lab)[code]["mend"]
    for word, value in words.items():
        command = command.replace(word.upper(), value)
    if command.startswith("zonegate "):
        lab.gw.cli(*command.partition("#")[0].split()[1:])
    else:
        lab.run_in(where or lab.gw.ns, "sh", "-c", command)
    lab.wait(lambda: code not in visit(lab), 5 + lab.margin, f"{code} is mended", pause=0.2)
