#!/usr/bin/env python3
"""Plays damaged streams: whatever the bytes, camplay ends by itself and as it documents.

usage: damage.py CAMPLAY COUNT FILE...    plays COUNT damaged copies of the FILEs, in turn; the same ones each time

An exit code of 0, or 65 with one line on standard error that says why, within 20 s, is what is right; and a report in which every
access unit ends somewhere.
"""
import concurrent.futures
import json
import os
import random
import subprocess
import sys


def flip(random_, data):
    """Single bits, as an unprotected line does."""
    for _ in range(random_.choice((1, 10, 100, 1000))):
        data[random_.randrange(len(data))] ^= 1 << random_.randrange(8)


def cut(random_, data):
    """Pieces are missing, as after an overflow."""
    for _ in range(random_.randrange(1, 8)):
        start = random_.randrange(len(data))
        del data[start:min(start + random_.randrange(1, 3000), len(data) - 1)]


def insert(random_, data):
    """Units that nobody made, of every type."""
    for _ in range(random_.randrange(1, 30)):
        start = random_.randrange(len(data))
        data[start:start] = bytes([0, 0, 1]) + random_.randbytes(random_.randrange(200))


def repeat(random_, data):
    """Pieces come twice, or elsewhere."""
    for _ in range(random_.randrange(1, 8)):
        start, place = random_.randrange(len(data)), random_.randrange(len(data))
        data[place:place] = data[start:start + random_.randrange(1, 3000)]


def truncate(random_, data):
    """The beginning, the end, or both are missing."""
    start = random_.choice((0, random_.randrange(len(data))))
    end = random_.choice((len(data), random_.randrange(len(data))))
    data[:] = data[start:end] or data[:1]


def replace(random_, data):
    """Garbage behind the first bytes."""
    start = random_.randrange(200)
    data[start:] = random_.randbytes(len(data) - start)


ENDS = "decoded", "secondFields", "beforeFirstKeyframe", "frozen", "skipped", "lost", "withheld", "unplayed"
DAMAGES = flip, cut, insert, repeat, truncate, replace


def play(camplay, number, path):
    """What is wrong, or nothing; and the exit code."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    random_ = random.Random(number)
    damage = DAMAGES[number % len(DAMAGES)]
    damage(random_, data)
    options = ["--codec", "hevc" if ".h265" in path else "h264", "--on-loss", random_.choice(("freeze", "show"))]
    outputs = random_.choice(([], ["--output", "-"], ["--scale", "64x48", "--pixel-format", "bgra", "--output", "-"]))
    damaged = f"damaged-{number}{os.path.splitext(path)[1]}"
    report = f"damaged-{number}.json"
    with open(damaged, "wb") as file:
        file.write(data)
    try:
        ended = subprocess.run([camplay, "--no-window", *options, *outputs, "--report", report, "--overwrite", damaged], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return f"{damaged}: it does not end", None
    said = [line for line in ended.stderr.decode(errors="replace").splitlines() if ": warning: " not in line]
    if ended.returncode not in (0, 65) or len(said) != (ended.returncode == 65):
        return f"{damaged}, {damage.__name__} of {path}, {' '.join(options + outputs)}: exit code {ended.returncode}: {said[-2:]}", None
    with open(report, encoding="utf-8") as file:
        pictures = json.load(file)["pictures"]
    if pictures["received"] != sum(pictures[end] for end in ENDS):
        return f"{damaged}, {damage.__name__} of {path}, {' '.join(options + outputs)}: {pictures}", None
    os.unlink(damaged)
    os.unlink(report)
    return None, ended.returncode


def main():
    camplay, count, *paths = sys.argv[1:]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda number: play(camplay, number, paths[number // len(DAMAGES) % len(paths)]), range(int(count))))
    problems = [problem for problem, _ in results if problem]
    codes = [code for _, code in results]
    # Damage that leaves every stream playable, or none, would prove little.
    if not problems and min(codes.count(0), codes.count(65)) < int(count) // 20:
        problems.append(f"{codes.count(0)} were played, {codes.count(65)} refused")
    print("; ".join(problems[:4]) or f"{codes.count(0)} played, {codes.count(65)} refused")
    sys.exit(bool(problems))


main()
