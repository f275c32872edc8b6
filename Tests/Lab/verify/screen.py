#!/usr/bin/python3
"""Compares a picture of the screen with the picture that should be on it.

usage: screen.py SCREENSHOT PICTURE [--scaled]    both of a kind that ffmpeg reads
Finds the picture on the black screen by what is not black, and wants its size, or with --scaled its aspect ratio
and the screen's full width or height, and its colours.
"""
import subprocess
import sys

import numpy


def read(path, size=None):
    command = ["ffmpeg", "-nostdin", "-v", "error", "-i", path]
    if size:
        command += ["-vf", f"scale={size[0]}:{size[1]}:flags=area"]
    command += ["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    magic, width, height, depth, samples = split(data)
    assert (magic, depth) == (b"P6", b"255")
    return numpy.frombuffer(samples, numpy.uint8).reshape(int(height), int(width), 3).astype(int)


def split(data):
    """The header's four words, behind each of which is one white space, and the rest."""
    words = []
    for _ in range(4):
        end = next(i for i in range(len(data)) if data[i:i + 1].isspace())
        words.append(data[:end])
        data = data[end + 1:]
    return (*words, data)


def main(screenshot, picture, scaled):
    screen, wanted = read(screenshot), read(picture)
    lit = numpy.argwhere(screen.max(axis=2) > 40)
    if not len(lit):
        sys.exit("the screen is black")
    (top, left), (bottom, right) = lit.min(axis=0), lit.max(axis=0) + 1
    width, height = right - left, bottom - top
    if scaled:
        ratio = wanted.shape[1] / wanted.shape[0]
        if abs(width / height - ratio) > 0.02:
            sys.exit(f"{width}x{height} on the screen has another aspect ratio than {ratio:.3f}")
        if width < screen.shape[1] - 2 and height < screen.shape[0] - 2:
            sys.exit(f"{width}x{height} does not fill the screen")
    elif (width, height) != (wanted.shape[1], wanted.shape[0]):
        sys.exit(f"{width}x{height} on the screen in place of {wanted.shape[1]}x{wanted.shape[0]}")
    found = screen[top:bottom, left:right]
    if scaled:
        wanted = read(picture, (width, height))
    # Conversions round, and interpolate colour differently at edges.
    difference = numpy.abs(found - wanted).mean()
    if difference > (8 if scaled else 4):
        sys.exit(f"colours differ by {difference:.1f} on average")


main(sys.argv[1], sys.argv[2], "--scaled" in sys.argv)
