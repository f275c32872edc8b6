#!/usr/bin/env python3
"""What whole pipelines spend on a picture.

usage: pipelines.py FILE            prints the table of docs/benchmarks.md
       pipelines.py FILE --limit    fails where camrec spends more than 1.05 times the cheapest other, and 50,000
                                    instructions for its threads

The file has lines "FORMAT", then two numbers or "-" for camrec, ffmpeg, and GStreamer's ways to I420 and to NV12: thousands
of instructions a picture without the encoder, and the encoder's.
"""
import sys


def rows(path):
    """The format, camrec's share, ffmpeg's, and that of GStreamer's cheaper way; None where there is none."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, *shares = line.split()
            ours, ffmpeg, *gstreamer = [None if share == "-" else int(share) for share in shares[::2]]
            yield name, ours, ffmpeg, min((way for way in gstreamer if way), default=None)


def main():
    if sys.argv[2:] == ["--limit"]:
        over = [f"{name}: {ours}, not {min(others)}" for name, ours, *others in
                ((name, ours, *filter(None, others)) for name, ours, *others in rows(sys.argv[1]))
                if others and ours > 1.05 * min(others) + 50]
        sys.exit(", ".join(over) or None)
    print("| format | camrec | ffmpeg | ratio | GStreamer | ratio |\n|---|---:|---:|---:|---:|---:|")
    for name, ours, *others in rows(sys.argv[1]):
        cells = [cell for other in others for cell in ([f"{other}", f"{ours / other:.2f}"] if other else ["", ""])]
        print("| " + " | ".join([name, f"{ours}", *cells]) + " |")


main()
