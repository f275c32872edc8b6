#!/usr/bin/env python3
"""Makes a picture with noise, through which something moves at known times; the same seed gives the same pictures.

usage: motion.py --seed N --seconds S [--moves FROM-TO]... [--light FROM]... [--size WxH] [--fps F] [--mask]

Between FROM and TO, in seconds, a grey box of an eighth of the height goes from left to right through the lower half.
From each --light on, the light is another. Goes to standard output as .y4m; with --mask instead a PGM picture that
hides the lower half.
"""
import argparse
import sys

import numpy


def span(text):
    first, last = text.split("-")
    return float(first), float(last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--moves", type=span, action="append", default=[])
    parser.add_argument("--light", type=float, action="append", default=[])
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--fps", type=int, default=10)
    parser.add_argument("--mask", action="store_true")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    out = sys.stdout.buffer
    if options.mask:
        out.write(b"P5 2 2 255\n" + bytes([255, 255, 0, 0]))
        return
    random = numpy.random.Generator(numpy.random.PCG64(options.seed))
    place = numpy.kron(random.integers(40, 160, (height // 20 + 1, width // 20 + 1)), numpy.ones((20, 20)))
    side = height // 8
    out.write(f"YUV4MPEG2 W{width} H{height} F{options.fps}:1 C420jpeg\n".encode())
    chroma = bytes([128]) * (2 * ((width + 1) // 2) * ((height + 1) // 2))
    for number in range(round(options.seconds * options.fps)):
        time = number / options.fps
        light = 0.6 if sum(start <= time for start in options.light) % 2 else 1
        picture = 16 + (place[:height, :width] - 16) * light
        for start, end in options.moves:
            if start <= time < end:
                left = round((time - start) / (end - start) * (width + side)) - side
                picture[height * 5 // 8:height * 5 // 8 + side, max(0, left):max(0, left + side)] = 220
        picture = picture + random.normal(0, 3, picture.shape)
        out.write(b"FRAME\n" + picture.clip(0, 255).astype(numpy.uint8).tobytes() + chroma)


main()
