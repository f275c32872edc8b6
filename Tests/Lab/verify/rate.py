#!/usr/bin/env python3
"""Measures the bit rate of a recording: over its whole time, and in the window that has the most bits.

usage: rate.py FILE [--fps F | --times TIMESTAMPS] [--window 1s] [--max RATE [--tolerance 0.02]]
                    [--average RATE [--within 0.05 | --at-most 0.05]] [--json]
       rate.py --self-test

FILE is H.264 (.h264, .264) or H.265 (.h265, .265, .hevc) as a byte stream, or a container that ffprobe reads. A byte
stream's access units are counted with all their bytes: parameter sets, messages, slices, and the start codes. Of a
container it is the packets' bytes, without the container's own.

The times of capture come from --fps, from camrec's --timestamps (mkvmerge's timestamp format v2), or from the
container. A window is (t - W, t] for each access unit's time t; its rate is its bits divided by W, so that the windows
at the start, which are not full, count as little as they hold. The average is over n access units' time: n / F, or
n times the mean distance of their times.

Prints one line and exits 1 if a limit is exceeded. --tolerance, --within and --at-most are fractions of the limit; an
average is held to both sides, or with --at-most to the upper side only.
"""
import argparse
import bisect
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

STREAMS = {".h264": False, ".264": False, ".h265": True, ".265": True, ".hevc": True}


class Exceeded(Exception):
    """A limit is exceeded."""


class Unreadable(Exception):
    """The file or its times cannot be measured."""


# What begins an access unit when it follows a slice: ITU-T H.264, 7.4.1.2.3, and H.265, 7.4.2.4.4.
H264_SLICES, H264_FIRST = {1, 2, 5}, {6, 7, 8, 9, 14, 15, 16, 17, 18}
H265_SLICES, H265_FIRST = set(range(32)), {32, 33, 34, 35, 39, 41, 42, 43, 44, *range(48, 56)}


def access_unit_sizes(data, is_h265):
    """The bytes of each access unit with its start codes; they add up to the whole stream."""
    starts = [match.start() for match in re.finditer(b"\0\0\1", data)]
    if not starts:
        raise Unreadable("there is no start code")
    begins, has_slice = [0], False
    for start in starts:
        header = data[start + 3:start + 6]
        if not header:
            raise Unreadable("the stream ends in a start code")
        kind = header[0] >> 1 & 0x3F if is_h265 else header[0] & 0x1F
        is_slice = kind in (H265_SLICES if is_h265 else H264_SLICES)
        # first_slice_segment_in_pic_flag is a single bit; first_mb_in_slice is 0 if its first bit is 1.
        if is_slice:
            is_first = header[2 if is_h265 else 1:][:1] >= b"\x80"
        else:
            is_first = kind in (H265_FIRST if is_h265 else H264_FIRST)
        if has_slice and is_first:
            # The zero byte before a start code of three bytes belongs to it.
            begins.append(start - 1 if data[start - 1] == 0 else start)
            has_slice = False
        has_slice = has_slice or is_slice
    return [end - begin for begin, end in zip(begins, begins[1:] + [len(data)])]


def packets(path):
    """The container's packets: sizes, and exact times in seconds, in the order of their times."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts,size:stream=time_base",
               "-of", "json", path]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Unreadable(f"ffprobe: {result.stderr.strip().splitlines()[-1]}")
    found = json.loads(result.stdout)
    if not found.get("packets"):
        raise Unreadable("there are no pictures")
    tick = Fraction(found["streams"][0]["time_base"])
    if any("pts" not in packet for packet in found["packets"]):
        return [int(packet["size"]) for packet in found["packets"]], None
    units = sorted((int(packet["pts"]), int(packet["size"])) for packet in found["packets"])
    return [size for _, size in units], [pts * tick for pts, _ in units]


def timestamps(path):
    with open(path, encoding="ascii") as file:
        lines = file.read().split("\n")
    if not lines[0].startswith(("# timestamp format v2", "# timecode format v2")):
        raise Unreadable(f"{path} has no timestamp format v2")
    return [Fraction(line) / 1000 for line in lines[1:] if line and not line.startswith("#")]


def read(path, fps=None, times=None):
    """Sizes and times of the access units."""
    extension = os.path.splitext(path)[1].lower()
    own = None
    if extension in STREAMS:
        with open(path, "rb") as file:
            data = file.read()
        sizes = access_unit_sizes(data, STREAMS[extension])
    else:
        sizes, own = packets(path)
    if fps:
        return sizes, [index / fps for index in range(len(sizes))]
    found = timestamps(times) if times else own
    if found is None:
        raise Unreadable("it has no times of its own: give --fps or --times")
    if len(found) != len(sizes):
        raise Unreadable(f"{len(sizes)} access units have {len(found)} times")
    if any(b < a for a, b in zip(found, found[1:])):
        raise Unreadable("times go back")
    return sizes, found


def worst_window(sizes, times, window):
    """The highest rate of all windows (t - window, t] that end at an access unit, and where that one ends."""
    sums = [0]
    for size in sizes:
        sums.append(sums[-1] + size)
    worst = (0, 0)
    for index, end in enumerate(times):
        # Others with the same time that follow are counted in their turn.
        first = bisect.bisect_right(times, end - window, 0, index)
        worst = max(worst, (sums[index + 1] - sums[first], -index))
    return worst[0] * 8 / window, -worst[1]


def measure(sizes, times, window):
    if len(sizes) < 2 or times[-1] == times[0]:
        raise Unreadable("fewer than two access units with different times")
    duration = (times[-1] - times[0]) * len(sizes) / (len(sizes) - 1)
    worst, index = worst_window(sizes, times, window)
    return {"accessUnits": len(sizes), "bytes": sum(sizes), "seconds": float(duration),
            "average": float(sum(sizes) * 8 / duration), "worstWindow": float(worst), "window": float(window),
            "worstWindowEnd": float(times[index]), "worstWindowAccessUnit": index}


def judge(result, options):
    """Raises if a limit is exceeded."""
    if options.max and result["worstWindow"] > options.max * (1 + options.tolerance):
        raise Exceeded(f"{result['worstWindow']:.0f} bit/s in the {result['window']:g} s up to {result['worstWindowEnd']:.3f} s"
                       f" are {result['worstWindow'] / float(options.max) - 1:+.1%} from the limit of {float(options.max):.0f}")
    if options.average:
        deviation = result["average"] / float(options.average) - 1
        upper_only = options.at_most is not None
        allowed = options.at_most if upper_only else options.within
        if deviation > allowed or (deviation < -allowed and not upper_only):
            raise Exceeded(f"an average of {result['average']:.0f} bit/s is {deviation:+.1%} from {float(options.average):.0f}")


def rate(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kM]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text} is not a rate such as 2M or 300k")
    return Fraction(match[1]) * {"": 1, "k": 1000, "M": 1000000}[match[2]]


def seconds(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|)", text)
    if not match or not Fraction(match[1]):
        raise argparse.ArgumentTypeError(f"{text} is not a time such as 1s or 500ms")
    return Fraction(match[1]) / (1000 if match[2] == "ms" else 1)


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    moments = parser.add_mutually_exclusive_group()
    moments.add_argument("--fps", type=Fraction)
    moments.add_argument("--times")
    parser.add_argument("--window", type=seconds, default=Fraction(1))
    parser.add_argument("--max", type=rate)
    parser.add_argument("--tolerance", type=float, default=0.02)
    parser.add_argument("--average", type=rate)
    sides = parser.add_mutually_exclusive_group()
    sides.add_argument("--within", type=float, default=0.05)
    sides.add_argument("--at-most", type=float)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    return parser


# The self-test: streams whose sizes and rates are known, and limits that are exceeded by little.

def expect(condition, what):
    if not condition:
        sys.exit(f"rate.py: self-test: {what}")


def made_stream(chance, is_h265):
    """A stream of random access units as encoders make them, and their sizes."""
    def unit(kind, first, count):
        header = bytes([kind << 1, 1]) if is_h265 else bytes([kind | 0x60])
        body = bytes([0x80 | chance.randrange(128) if first else chance.randrange(1, 128)])
        # No zeros, so that there is no start code in it.
        return header + body + bytes(chance.randrange(1, 256) for _ in range(count))

    stream, sizes = b"", []
    for index in range(chance.randrange(20, 60)):
        parts = []
        if chance.random() < 0.3:
            parts.append(unit(35 if is_h265 else 9, True, 0))
        if index % 10 == 0:
            parts += [unit(kind, True, 12) for kind in ((32, 33, 34) if is_h265 else (7, 8))]
        if chance.random() < 0.3:
            parts.append(unit(39 if is_h265 else 6, False, 20))
        slice_kind = (19 if is_h265 else 5) if index % 10 == 0 else 1
        parts += [unit(slice_kind, number == 0, chance.randrange(1, 300)) for number in range(chance.randrange(1, 4))]
        parts += [unit(40 if is_h265 else 12, False, 9)] if chance.random() < 0.2 else []
        # The first start code of an access unit has four bytes, others may have three.
        data = b"".join((b"\0\0\0\1" if place == 0 or chance.random() < 0.5 else b"\0\0\1") + part
                        for place, part in enumerate(parts))
        stream, sizes = stream + data, sizes + [len(data)]
    return stream, sizes


def check_rates(chance):
    """The worst window is the one found by checking every window."""
    for _ in range(50):
        at, times, sizes = Fraction(0), [], []
        for _ in range(80):
            at += Fraction(chance.choice((0, 1, 33, 33, 34, 900)), 1000)
            times.append(at)
            sizes.append(chance.randrange(1, 5000))
        window = Fraction(chance.choice((1, 100, 1000, 2000)), 1000)
        plain = max(sum(s for s, t in zip(sizes, times) if end - window < t <= end) for end in times) * 8 / window
        found, index = worst_window(sizes, times, window)
        own = sum(s for s, t in zip(sizes, times) if times[index] - window < t <= times[index]) * 8 / window
        expect(found == plain == own, f"{float(found)} bit/s in place of {float(plain)}, by place {float(own)}")


def check_limits(folder):
    """What is within a limit passes, and a few bytes more do not: on 60 access units of 1000 bytes at 30 a second."""
    path = os.path.join(folder, "limits.h264")
    own = [sys.executable, os.path.abspath(__file__), path, "--fps", "30"]

    def outcome(*limits, extra=0):
        with open(path, "wb") as file:
            for index in range(60):
                file.write(b"\0\0\0\1\x65\x88" + b"\1" * (994 + (extra if index == 40 else 0)))
        return subprocess.run([*own, *limits], capture_output=True, text=True, check=False).returncode

    # 30 units of 8000 bits in each second.
    for limits, extra, wanted in (
            (("--max", "240k", "--tolerance", "0"), 0, 0), (("--max", "240k", "--tolerance", "0"), 1, 1),
            (("--max", "240k"), 600, 0), (("--max", "240k"), 601, 1),
            (("--max", "120k", "--tolerance", "0", "--window", "2s"), 0, 1),
            (("--max", "240k", "--tolerance", "0", "--window", "500ms"), 0, 0),
            (("--average", "240k", "--within", "0"), 0, 0), (("--average", "240k", "--within", "0"), 1, 1),
            (("--average", "253k"), 0, 1), (("--average", "252k"), 0, 0), (("--average", "228k"), 0, 1),
            (("--average", "900k", "--at-most", "0"), 0, 0), (("--average", "239k", "--at-most", "0"), 0, 1)):
        found = outcome(*limits, extra=extra)
        expect(found == wanted, f"{' '.join(limits)} with {extra} bytes more: exit code {found} in place of {wanted}")


def check_real(folder):
    """What encoders make: the same sizes as ffprobe's, in a byte stream and in Matroska, and the times of a file."""
    for name, encoder in (("real.h264", ["libx264", "-x264-params", "slices=3:aud=1:bframes=0"]),
                          ("real.h265", ["libx265", "-x265-params", "log-level=0:slices=2:bframes=0"])):
        path, container = os.path.join(folder, name), os.path.join(folder, name + ".mkv")
        ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y"]
        pictures = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", "-frames:v", "60"]
        subprocess.run([*ffmpeg, *pictures, "-c:v", *encoder, path], check=True)
        subprocess.run([*ffmpeg, "-r", "25", "-i", path, "-c", "copy", container], check=True)
        sizes, times = read(path, fps=Fraction(25))
        # ffprobe counts the first zero byte of an H.265 access unit with the one before.
        moved = int(name.endswith("5"))
        theirs = [sizes[0] + moved, *sizes[1:-1], sizes[-1] - moved]
        expect(theirs == packets(path)[0], f"{name}: not the sizes that ffprobe reads")
        expect(sum(sizes) == os.path.getsize(path), f"{name}: not all bytes are counted")
        expect(read(container)[1] == times, f"{name}: not the container's times")
        lines = os.path.join(folder, "times.txt")
        with open(lines, "w", encoding="ascii") as file:
            file.write("# timestamp format v2\n" + "".join(f"{index * 40}.000000\n" for index in range(60)))
        expect(read(path, times=lines) == (sizes, times), f"{name}: not the file's times")


def self_test():
    chance = random.Random(7)
    for is_h265 in (False, True):
        for _ in range(30):
            stream, sizes = made_stream(chance, is_h265)
            found = access_unit_sizes(stream, is_h265)
            expect(found == sizes, f"H.26{5 if is_h265 else 4}: sizes {found} in place of {sizes}")
    check_rates(chance)
    with tempfile.TemporaryDirectory() as folder:
        check_limits(folder)
        check_real(folder)
    print("rate.py measures what it should")


def main():
    parser = make_parser()
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.file:
        parser.error("which file?")
    try:
        result = measure(*read(options.file, options.fps, options.times), options.window)
        if options.json:
            print(json.dumps(result))
        judge(result, options)
        if not options.json:
            print(f"{result['accessUnits']} access units in {result['seconds']:.3f} s: average {result['average']:.0f} bit/s,"
                  f" worst {result['window']:g} s {result['worstWindow']:.0f} bit/s, up to {result['worstWindowEnd']:.3f} s")
    except (Exceeded, Unreadable, OSError, ValueError) as error:
        print(f"{options.file}: {error}", file=sys.stderr if options.json else sys.stdout)
        sys.exit(1)


if __name__ == "__main__":
    main()
