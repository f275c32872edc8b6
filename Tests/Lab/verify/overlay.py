#!/usr/bin/env python3
"""Reads the time out of a recording's pictures and compares it with when they were captured.

usage: overlay.py times RECORDING --since SECONDS --until SECONDS [--timestamps FILE]
       overlay.py name RECORDING

The recording has --overlay '%F %T.%f' in UTC at its usual place, in the built-in font's own size of 20.

times  every picture's time is between the two, in seconds since 1970, and later than the one before; from the first
       picture on as much later as the file of timestamps says.
name   the file is called by the hour, minute and second of its first picture.
"""
import argparse
import calendar
import os
import re
import subprocess
import sys
import time

import numpy

FONT = os.path.join(os.path.dirname(__file__), "../../../Sources/CGlyphs/Fixed.c")
WIDTH, HEIGHT = 10, 20
# The margin around the box, and the padding within it.
LEFT, TOP = 4 + 5, 4 + 2
LENGTH = len("2026-11-26 00:12:30.250")


class Different(Exception):
    """The pictures do not have the times that they should have."""


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if result.returncode:
        raise Different(f"{command[0]}: {result.stderr.decode(errors='replace').strip()[-300:]}")
    return result.stdout


def font():
    """The bitmaps of the characters that a time consists of."""
    with open(FONT, encoding="utf-8") as source:
        rows = [re.findall(r"0x[0-9a-f]+|\b0\b", line) for line in source if line.startswith("    {")]
    bitmaps = {}
    for character in "0123456789-:. ":
        values = [int(value, 16) for value in rows[ord(character) - 0x20][:HEIGHT]]
        bitmaps[character] = numpy.array([[value >> (WIDTH - 1 - x) & 1 for x in range(WIDTH)] for value in values])
    return bitmaps


def pictures(path):
    """The luma of the recording's pictures."""
    size = run("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of", "csv=p=0", path)
    width, height = map(int, size.decode().strip().split(",")[:2])
    data = run("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-")
    return numpy.frombuffer(data, numpy.uint8).reshape(-1, height, width)


def text(picture, bitmaps):
    """What is written in a picture: for each cell the character whose bitmap differs least."""
    found = ""
    for index in range(LENGTH):
        left = LEFT + index * WIDTH
        cell = picture[TOP : TOP + HEIGHT, left : left + WIDTH] > 150
        errors = {character: int((cell != bitmap).sum()) for character, bitmap in bitmaps.items()}
        best = min(errors, key=errors.get)
        found += best if errors[best] <= 6 else "?"
    return found


def seconds(written):
    """Seconds since 1970."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{3})", written)
    if not match:
        raise Different(f"the picture says '{written}', which is not a time")
    return calendar.timegm(time.strptime(match[1], "%Y-%m-%d %H:%M:%S")) + int(match[2]) / 1000


def times(path, since, until, timestamps):
    bitmaps = font()
    read = [seconds(text(picture, bitmaps)) for picture in pictures(path)]
    if not read:
        raise Different("no pictures")
    if not since - 0.001 <= read[0] or not read[-1] <= until:
        raise Different(f"{read[0]} to {read[-1]} is not within {since} to {until}")
    if any(later <= earlier for earlier, later in zip(read, read[1:])):
        raise Different("a picture is not later than the one before")
    if timestamps:
        with open(timestamps, encoding="ascii") as lines:
            wanted = [float(line) / 1000 for line in lines if not line.startswith("#")]
        if len(wanted) != len(read):
            raise Different(f"{len(read)} pictures, {len(wanted)} timestamps")
        # Milliseconds are cut off in the text, and the clocks are adjusted against each other.
        worst = max(abs((own - read[0]) - (other - wanted[0])) for own, other in zip(read, wanted))
        if worst > 0.003:
            raise Different(f"a picture's time is {worst:.4f} s off its timestamp")


def name(path):
    bitmaps = font()
    first = text(pictures(path)[0], bitmaps)
    seconds(first)
    wanted = first[11:19].replace(":", "")
    if not os.path.basename(path).startswith(wanted):
        raise Different(f"{path} begins at {first}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["times", "name"])
    parser.add_argument("recording")
    parser.add_argument("--since", type=float)
    parser.add_argument("--until", type=float)
    parser.add_argument("--timestamps")
    options = parser.parse_args()
    try:
        if options.what == "times":
            times(options.recording, options.since, options.until, options.timestamps)
        else:
            name(options.recording)
    except Different as reason:
        sys.exit(str(reason))


main()
