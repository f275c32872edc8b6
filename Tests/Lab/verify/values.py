"""values.py CAMREC: tries every option of every command with unlikely values.

Each is accepted, or rejected with one line that says what it must be; no file with an odd name is created.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

CAMREC = os.path.abspath(sys.argv[1])
VALUES = [
    b"", b" ", b"-1", b"0", b"abc", b"nan", b"1e999", b"1,2", b"\n", b"a\nb", b"\x1b[2J", b"\xff", b"caf\xe9", "\u0663".encode(),
    b"9" * 400, b"a" * 5000, b"@", b"%D",
]
# What each command needs to end by itself.
OPERANDS = {
    "record": "--device test --size 64x64 --encoder software --no-pace --frames 1 --overwrite out.h264".split(),
    "inspect": ["none.h264"],
    "remux": ["none.h264", "none.mkv"],
    "ctl": ["none", "stop"],
    "check": ["none.conf"],
    "adopt": ["none"],
    "keep": ["none"],
}
# Those of docs/reference/exit-codes.md, and 1 of 'check'.
CODES = {0, 1, 64, 65, 66, 69, 73, 74, 75, 77}
# Repeating an option would be rejected for that reason.
PLACES = {"device"}


def options(command):
    dump = json.loads(subprocess.check_output([CAMREC, command, "--experimental-dump-help"]))
    for argument in dump["command"].get("arguments", []):
        for name in argument.get("names") or []:
            if name["kind"] == "long" and argument["kind"] == "option":
                yield name["name"]


def fault(command, option, value, is_joined):
    """What was wrong with the run; None if nothing was."""
    operands = [word.encode() for word in OPERANDS.get(command, [])]
    if option in PLACES and b"--device" in operands:
        start = operands.index(b"--device")
        operands = operands[:start] + operands[start + 2:]
    name = b"--" + option.encode()
    words = [name + b"=" + value] if is_joined else [name, value]
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [CAMREC, command, *operands[:-1], *words, *operands[-1:]], cwd=folder, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=60)
    if run.returncode not in CODES:
        return f"exit code {run.returncode}: {run.stderr[-200:]}"
    lines = run.stderr.split(b"\n")
    if lines.pop() != b"":
        return f"no line's end: {run.stderr[-200:]}"
    if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", run.stderr):
        return f"a control character: {run.stderr[:200]}"
    said = [line for line in lines if not line.startswith(b"camrec: warning: ")]
    if run.returncode == 0:
        return f"said, and done: {said}" if said else None
    if len(said) != 1 or not said[0].startswith(b"camrec: "):
        return f"not one line: {said}"
    line = said[0].decode(errors="replace")
    # A pointer to the help is not an answer.
    if not re.search("; |: expected ", re.sub("; see 'camrec [a-z -]*--help'$", "", line)):
        return f"no next step: {line[:300]}"
    if value in (b"\xff", b"caf\xe9") and (run.returncode != 64 or "is not UTF-8" not in line):
        return f"damage is not told: {line[:300]}"
    return None


def main():
    walks = [
        (command, option, value, is_joined)
        for command in ["record", "inspect", "remux", "ctl", "check", "adopt", "keep", "devices", "doctor"]
        for option in options(command)
        for value in VALUES
        for is_joined in (True, False)
    ]
    assert len(walks) > 1000, f"only {len(walks)} runs"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [
            f"{command} --{option} {value[:40]!r}: {reason}"
            for (command, option, value, _), reason in zip(walks, pool.map(lambda walk: fault(*walk), walks))
            if reason
        ]
    print("\n".join(faults[:40]))
    sys.exit(f"{len(faults)} of {len(walks)} runs were not as they should be" if faults else 0)


main()
