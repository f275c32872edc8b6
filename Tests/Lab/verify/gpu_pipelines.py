#!/usr/bin/env python3
"""What whole pipelines spend on a picture where a GPU encodes it.

usage: gpu_pipelines.py FILE            prints the table of docs/benchmarks.md
       gpu_pipelines.py FILE --limit    fails where camrec spends more than 1.25 times the cheapest other, and 150,000
                                        instructions for its threads; what it leaves to the processor is compared with
                                        others that do so

The file has lines "DRIVER FORMAT WAY INSTRUCTIONS", in thousands, as guest/gpu-pipelines.sh writes them: WAY is camrec,
camrec-copied, or a way of another program's, whose name comes first.
"""
import sys

PROGRAMS = ["ffmpeg", "gstreamer"]
GPU_WAYS = ("vpp", "gpu", "dmabuf")


def rows(path):
    """For each driver and format: the instructions of each way."""
    numbers = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            driver, name, way, number = line.split()
            numbers.setdefault((driver, name), {})[way] = int(number)
    return numbers.items()


def excess(ways):
    """What camrec spends and the cheapest other, where that is far less; None elsewhere."""
    ours = ways["camrec"]
    is_copied = ours >= 0.95 * ways["camrec-copied"]
    cheapest = min((number for way, number in ways.items()
                    if way.startswith(tuple(PROGRAMS)) and not (is_copied and way.endswith(GPU_WAYS))), default=ours)
    return (ours, cheapest) if ours > 1.25 * cheapest + 150 else None


def cells(ways, program):
    """A program's cheapest way, and camrec's share of that."""
    number, way = min(((number, way) for way, number in ways.items() if way.startswith(program)), default=(0, ""))
    return [f"{number} ({way.partition('-')[2] or 'hwupload'})", f"{ways['camrec'] / number:.2f}"] if number else ["", ""]


def main():
    if sys.argv[2:] == ["--limit"]:
        over = [f"{' '.join(key)}: {ours}, not {cheapest}" for key, ways in rows(sys.argv[1])
                for ours, cheapest in filter(None, [excess(ways)])]
        sys.exit(", ".join(over) or None)
    print("| driver | format | camrec | by the processor | ffmpeg | ratio | GStreamer | ratio |\n|---|---|---:|---:|---|---:|---|---:|")
    for key, ways in rows(sys.argv[1]):
        others = [cell for program in PROGRAMS for cell in cells(ways, program)]
        print("| " + " | ".join([*key, f"{ways['camrec']}", f"{ways['camrec-copied']}", *others]) + " |")


main()
