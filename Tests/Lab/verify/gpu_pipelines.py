#!/usr/bin/env python3
"""What whole pipelines spend on a picture where a GPU encodes it.

usage: gpu_pipelines.py FILE            prints the table of docs/benchmarks.md
       gpu_pipelines.py FILE --limit    fails where camrec spends more than 1.25 times the cheapest other, and 150,000
                                        instructions for its threads

The file has lines "DRIVER FORMAT WAY INSTRUCTIONS", in thousands, as guest/gpu-pipelines.sh writes them: WAY is camrec,
camrec-copied, or a way of another program's, whose name comes first.
"""
import sys

PROGRAMS = ["ffmpeg", "gstreamer"]


def rows(path):
    """For each driver and format: camrec's number, that where the processor does the work, and the others' best ways."""
    numbers = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            driver, name, way, number = line.split()
            numbers.setdefault((driver, name), {})[way] = int(number)
    for key, ways in numbers.items():
        best = [min((number, way) for way, number in ways.items() if way.startswith(program)) if
                any(way.startswith(program) for way in ways) else None for program in PROGRAMS]
        yield *key, ways["camrec"], ways["camrec-copied"], best


def main():
    if sys.argv[2:] == ["--limit"]:
        over = [f"{driver}, {name}: {ours}, not {cheapest}" for driver, name, ours, _, best in rows(sys.argv[1])
                for cheapest in [min(number for number, _ in filter(None, best))] if ours > 1.25 * cheapest + 150]
        sys.exit(", ".join(over) or None)
    print("| driver | format | camrec | by the processor | ffmpeg | ratio | GStreamer | ratio |\n|---|---|---:|---:|---|---:|---|---:|")
    for driver, name, ours, processor, best in rows(sys.argv[1]):
        cells = [cell for other in best for cell in ([f"{other[0]} ({other[1].partition('-')[2] or 'hwupload'})", f"{ours / other[0]:.2f}"] if other else ["", ""])]
        print("| " + " | ".join([driver, name, f"{ours}", f"{processor}", *cells]) + " |")


main()
