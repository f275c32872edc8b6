#!/usr/bin/env python3
"""Judges containers by what ffprobe reads from them.

usage: container.py times FILE TIMES     each picture is at its line's time
       container.py prefix WHOLE PART    PART has WHOLE's first packets and nothing else; at least --least of them
       container.py cuts FILE            cut at any byte, it has the packets up to the cut
       container.py fragments FILE N     an MP4 of N fragments
       container.py indexed FILE         an MP4 whose index is ahead of its pictures
"""

import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile


def probe(path, *entries):
    command = ["ffprobe", "-v", "quiet", "-of", "json", *entries, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, check=False).stdout or "{}")


def packets(path):
    """Each packet's time and hash, in decoding order."""
    found = probe(path, "-show_packets", "-show_data_hash", "md5").get("packets", [])
    return [(int(packet["pts"]), packet["data_hash"]) for packet in found if "pts" in packet]


def times(path, lines):
    """Within half a tick of the container, or, where the one before has that tick, on the next.

    A transport stream begins where its decoding delay lets it.
    """
    stream = probe(path, "-show_streams")["streams"][0]
    numerator, denominator = (int(part) for part in stream["time_base"].split("/"))
    tick = 1000 * numerator / denominator
    wanted = [float(line) for line in lines.read_text().splitlines() if line and line[0] != "#"]
    found = sorted(pts * tick for pts, _ in packets(path))
    if len(found) != len(wanted):
        return f"{len(found)} pictures in place of {len(wanted)}"
    start = found[0] if path.suffix == ".ts" else 0
    before = float("-inf")
    for number, (is_at, should_be) in enumerate(zip(found, wanted)):
        is_crowded = should_be < is_at and is_at - before < 1.5 * tick
        before = is_at
        if not is_crowded and abs(is_at - start - should_be) > (1 if path.suffix == ".ts" else 0.5) * tick + 1e-6:
            return f"picture {number} is at {is_at - start} ms in place of {should_be}"
    return None


def prefix(whole, part, least):
    known, found = packets(whole), packets(part)
    # A packet that the end cut in two.
    if found and found[: len(known)] != known[: len(found)]:
        found = found[:-1]
    if found != known[: len(found)]:
        return f"its {len(found)} packets are not the first ones of {whole}"
    return None if len(found) >= least else f"{len(found)} packets are less than {least}"


def boxes(content):
    position = 0
    while position + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, position)
        yield position, max(size, 8), kind.decode("latin-1")
        position += max(size, 8)


def as_it_was(content, length):
    """The first bytes of an MP4 as they were when there were no more: a fragment has no type before it is whole."""
    cut = bytearray(content[:length])
    layout = list(boxes(content))
    for (start, _, kind), (next_start, next_size, _) in zip(layout, layout[1:]):
        if kind == "moof" and start + 8 <= length < next_start + next_size:
            cut[start + 4 : start + 8] = b"free"
    return cut


def cuts(path):
    content, known = path.read_bytes(), packets(path)
    generator = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        part = pathlib.Path(folder) / f"part{path.suffix}"
        for length in sorted(generator.randrange(len(content) // 4, len(content)) for _ in range(25)):
            part.write_bytes(as_it_was(content, length) if path.suffix == ".mp4" else content[:length])
            found = packets(part)
            # At most a second of the thirty frames a second, and the one that the cut goes through, is lost.
            least = int(len(known) * length / len(content)) - 60
            if found[:-1] != known[: len(found) - 1] or len(found) < max(1, least):
                return f"cut at {length} of {len(content)} bytes it has {len(found)} packets"
    return None


def fragments(path, count):
    found = sum(kind == "moof" for _, _, kind in boxes(path.read_bytes()))
    return None if found == count else f"{found} fragments in place of {count}"


def indexed(path):
    found = [kind for _, _, kind in boxes(path.read_bytes())]
    return None if "moof" not in found and found.index("moov") < found.index("mdat") else f"its boxes are {found}"


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name, arguments in {
        "times": [("file", pathlib.Path), ("lines", pathlib.Path)],
        "prefix": [("whole", pathlib.Path), ("part", pathlib.Path)],
        "cuts": [("file", pathlib.Path)],
        "fragments": [("file", pathlib.Path), ("count", int)],
        "indexed": [("file", pathlib.Path)],
    }.items():
        command = commands.add_parser(name)
        for argument, kind in arguments:
            command.add_argument(argument, type=kind)
        if name == "prefix":
            command.add_argument("--least", type=int, default=1)
    options = vars(parser.parse_args())
    problem = globals()[options.pop("command")](*options.values())
    if problem:
        sys.exit(problem)


if __name__ == "__main__":
    main()
