#!/usr/bin/env python3
"""Looks at a screenshot of the page that `camrec inspect --html` makes.

usage: page.py SCREENSHOT.png COLOUR...

Each COLOUR (idr, intra, predicted, bidirectional, rate) must be there as in bars, on more pixels than the legend has of it
and in more than one place. Prints what is wrong and exits 1.
"""
import re
import subprocess
import sys
from pathlib import Path

import numpy

STYLE = Path(__file__).parents[3] / "Sources/CamInspection/Page/page.css"


def pixels(path):
    """The screenshot as an array of lines of pixels of red, green and blue."""
    size = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path],
        capture_output=True, text=True, check=True).stdout
    width, height = map(int, size.strip().split(","))
    data = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True).stdout
    return numpy.frombuffer(data, numpy.uint8).reshape(height, width, 3)


def colors():
    """The light colours of the style sheet, which precede the dark ones."""
    found = {}
    for name, value in re.findall(r"--([a-z-]+): #([0-9a-f]{6});", STYLE.read_text(encoding="utf-8")):
        found.setdefault(name, tuple(bytes.fromhex(value)))
    return found


def main():
    image, known = pixels(sys.argv[1]), colors()
    failed = False
    for name in sys.argv[2:]:
        matching = (image == numpy.array(known[name], numpy.uint8)).all(axis=2)
        count, columns = int(matching.sum()), int(matching.any(axis=0).sum())
        # The legend's swatch has 12 x 12 pixels.
        if count < 300 or columns < 14:
            print(f"{name}: {count} pixels in {columns} columns")
            failed = True
    sys.exit(failed)


main()
