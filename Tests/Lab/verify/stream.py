#!/usr/bin/env python3
"""Checks the shape of a byte stream (annex B of ITU-T H.264 and H.265) that camrec wrote. .h265 is H.265, all else H.264.

usage: stream.py FILE [--frames N] [--keyframe-interval N [--extra-keyframes]] [--slices N]
                      [--keyframe-time SECONDS --times FILE] [--slices-from FILE]

--keyframe-time: each IDR but the first is the first picture captured so long after the IDR before, by the times in a
"timestamp format v2".

Every NAL unit follows a start code of 4 bytes; each IDR picture's access unit is [VPS] SPS PPS [SEI] IDR; parameter
sets are nowhere else; the first access unit is an IDR; there are no access unit delimiters; a picture has one slice
unless --slices says otherwise; with --slices-from its slices are those of another stream, byte for byte. Prints one line and exits 1 where something of that does not hold.
"""
import argparse
import re
import sys

# What units are to the shape, by nal_unit_type: V S P parameter sets, e SEI, E SEI after the slices, I slice of an IDR
# picture, n other slice, d delimiter. H.265's IDR_W_RADL and IDR_N_LP are IDR; a CRA picture (21) is not.
H264 = {1: "n", 5: "I", 6: "e", 7: "S", 8: "P", 9: "d"}
H265 = {**{t: "n" for t in (*range(10), *range(16, 19), 21)}, 19: "I", 20: "I", 32: "V", 33: "S", 34: "P", 35: "d", 39: "e", 40: "E"}


# A keyframe by time may be early by this part of the usual distance of frames: clocks jitter.
JITTER = 0.25


class Codec:
    """How one of the standards describes NAL units."""

    def __init__(self, path):
        self.is_h265 = path.endswith((".h265", ".265", ".hevc"))
        # The order of an access unit: an IDR picture's, or another's.
        self.shape = "VSPe*I+E*|e*n+E*" if self.is_h265 else "SPe*I+|e*n+"

    def kind(self, unit):
        return H265.get(unit[0] >> 1 & 0x3F, "?") if self.is_h265 else H264.get(unit[0] & 0x1F, "?")

    def starts_picture(self, unit):
        """first_mb_in_slice is 0, whose ue(v) is the single bit 1; first_slice_segment_in_pic_flag is that bit itself."""
        return bool(unit[2 if self.is_h265 else 1] & 0x80)


class Broken(Exception):
    """The stream does not have the shape that camrec promises."""


def nal_units(data):
    """The NAL units of the stream, each after a start code of exactly 4 bytes."""
    if not data.startswith(b"\0\0\0\1"):
        raise Broken("the file does not begin with a start code of 4 bytes")
    starts = [m.start() for m in re.finditer(b"\0\0\1", data)]
    for position in starts:
        if data[position - 1:position] != b"\0":
            raise Broken(f"a start code of 3 bytes at byte {position}")
    ends = [s - 1 for s in starts[1:]] + [len(data)]
    units = [data[s + 3:e] for s, e in zip(starts, ends)]
    for position, unit in zip(starts, units):
        if not unit:
            raise Broken(f"an empty NAL unit at byte {position}")
        if unit[-1] == 0:
            raise Broken(f"zero bytes after the NAL unit at byte {position}")
        if unit[0] & 0x80:
            raise Broken(f"forbidden_zero_bit is set at byte {position}")
    return units


def access_units(units, codec):
    """Clauses 7.4.1.2.3 and 7.4.2.4.4: parameter sets and SEI after a slice, or a picture's first slice, begin an access unit."""
    result, has_slice = [], True
    for unit in units:
        is_slice = codec.kind(unit) in "nI"
        if has_slice and codec.kind(unit) != "E" and (not is_slice or codec.starts_picture(unit)):
            result.append([])
            has_slice = False
        result[-1].append(unit)
        has_slice = has_slice or is_slice
    return result


def check_access_unit(index, unit, slices, codec):
    """Raises unless the access unit has the shape; returns whether it is an IDR."""
    text = "".join(codec.kind(u) for u in unit)
    if "d" in text:
        raise Broken(f"access unit {index} has an access unit delimiter")
    if not re.fullmatch(codec.shape, text):
        raise Broken(f"access unit {index} has NAL units that read {text}")
    count = text.count("I") + text.count("n")
    if count != slices:
        raise Broken(f"access unit {index} has {count} slices in place of {slices}")
    return "I" in text


def check(data, options):
    codec = Codec(options.file)
    pictures = access_units(nal_units(data), codec)
    idr = [i for i, unit in enumerate(pictures) if check_access_unit(i, unit, options.slices, codec)]
    if not idr or idr[0] != 0:
        raise Broken("the first access unit is not an IDR")
    if options.frames is not None and len(pictures) != options.frames:
        raise Broken(f"{len(pictures)} access units in place of {options.frames}")
    if options.keyframe_interval:
        wanted = list(range(0, len(pictures), options.keyframe_interval))
        missing = sorted(set(wanted) - set(idr))
        surplus = sorted(set(idr) - set(wanted))
        if missing:
            raise Broken(f"access units {missing[:5]} are not IDR")
        if surplus and not options.extra_keyframes:
            raise Broken(f"access units {surplus[:5]} are IDR out of turn")
    if options.keyframe_time:
        with open(options.times) as file:
            times = [float(line) / 1000 for line in file if line.strip() and not line.startswith("#")]
        if len(times) != len(pictures):
            raise Broken(f"{len(times)} times for {len(pictures)} access units")
        distances = sorted(after - before for before, after in zip(times, times[1:]))
        earliest = options.keyframe_time - JITTER * distances[len(distances) // 2] - 0.001
        for before, after in zip(idr, idr[1:] + [len(pictures)]):
            if after < len(pictures) and times[after] - times[before] < earliest:
                raise Broken(f"access unit {after} is an IDR {times[after] - times[before]:.3f} s after {before}")
            if times[after - 1] - times[before] >= options.keyframe_time:
                raise Broken(f"{times[after - 1] - times[before]:.3f} s after the IDR {before} there still is none")
    if options.slices_from:
        with open(options.slices_from, "rb") as file:
            known = set(re.split(b"\0*\0\0\1", file.read()))
        foreign = sum(codec.kind(u) in "nI" and u not in known for unit in pictures for u in unit)
        if foreign:
            raise Broken(f"{foreign} slices do not come from {options.slices_from}")
    return f"{len(pictures)} access units, {len(idr)} IDR"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--frames", type=int)
    parser.add_argument("--keyframe-interval", type=int)
    parser.add_argument("--extra-keyframes", action="store_true")
    parser.add_argument("--keyframe-time", type=float)
    parser.add_argument("--times")
    parser.add_argument("--slices", type=int, default=1)
    parser.add_argument("--slices-from")
    options = parser.parse_args()
    with open(options.file, "rb") as file:
        data = file.read()
    try:
        print(check(data, options))
    except Broken as error:
        print(f"{options.file}: {error}")
        sys.exit(1)


main()
