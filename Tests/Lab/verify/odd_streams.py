#!/usr/bin/env python3
"""Makes streams that no available encoder makes: by hand, bit by bit, or from other streams' NAL units.

usage: odd_streams.py KIND OUT [STREAM...]     (.h265 is H.265, all else H.264)

By hand (H.264): fields, order-type-1, redundant, colour-planes, leading (B pictures that are shown ahead of the IDR picture before
them), pyramid (of B pictures, in a stream that leaves its order open), long-term (a reference). Of one STREAM: bla (H.265's CRA
pictures made BLA), sets (parameter sets with all the syntax between
the pictures), zeros (bytes ahead of start codes and behind units), short (start codes of 3 bytes alone), late (the first group
of pictures lacks its parameter sets), partly (… its picture parameter sets), cut (the first group of pictures is gone), filled
(filler data). Of several: joined, ended
(an end of sequence between them, an end of stream behind the last).
"""
import random
import sys

from bits import Bits, annex_b, h264_header, h265_header, split
from parameter_sets import h264_sets, h265_sets

# H.264 by hand: pictures of one or two macroblocks, in PCM or skipped.


def sps(profile=77, frame_mbs_only=1, order_type=0, colour_planes=False, number=0):
    bits = Bits()
    bits.u(8, profile), bits.u(8, 0), bits.u(8, 30)
    bits.ue(number)
    if profile == 244:
        bits.ue(3), bits.u(1, int(colour_planes)), bits.ue(0), bits.ue(0), bits.u(1, 0), bits.u(1, 0)
    bits.ue(0)  # frame_num has 4 bits
    bits.ue(order_type)
    if order_type == 0:
        bits.ue(2)  # pic_order_cnt_lsb has 6 bits
    elif order_type == 1:
        bits.u(1, 0), bits.se(-1), bits.se(1), bits.ue(3), bits.se(2), bits.se(4), bits.se(2)
    bits.ue(2), bits.u(1, 0), bits.ue(0), bits.ue(0)
    bits.u(1, frame_mbs_only)
    if not frame_mbs_only:
        bits.u(1, 0)
    bits.u(1, 1), bits.u(1, 0), bits.u(1, 0)
    return bits.unit(h264_header(7, 3))


def pps(bottom_order=0, redundant=0, number=0):
    bits = Bits()
    bits.ue(number), bits.ue(number), bits.u(1, 0), bits.u(1, bottom_order), bits.ue(0), bits.ue(0), bits.ue(0)
    bits.u(1, 0), bits.u(2, 0), bits.se(0), bits.se(0), bits.se(0), bits.u(1, 0), bits.u(1, 0), bits.u(1, redundant)
    return bits.unit(h264_header(8, 3))


def slice_of(kind, number, order=(), idr=None, fields=None, macroblocks=1, redundant=None, plane=None, samples=384, sets=0, reference=True,
             long_term=False):
    """A slice: `kind` I or B in PCM or P skipped; `order` the elements of the picture order count, each a method's name and values;
    `fields` None where there are none, else the pair of field_pic_flag and bottom_field_flag."""
    bits = Bits()
    shade = 3 * order[0][-1] if kind == "B" else 0
    bits.ue(0), bits.ue({"P": 5, "B": 6, "I": 7}[kind] if redundant is None else {"P": 0, "I": 2}[kind]), bits.ue(sets)
    if plane is not None:
        bits.u(2, plane)
    bits.u(4, number % 16)
    if fields:
        bits.u(1, fields[0])
        if fields[0]:
            bits.u(1, fields[1])
    if idr is not None:
        bits.ue(idr)
    for method, *values in order:
        getattr(bits, method)(*values)
    if redundant is not None:
        bits.ue(redundant)
    if kind == "B":
        bits.u(1, 1), bits.u(1, 0)  # spatial prediction, no modification of the second list
    if kind != "I":
        bits.u(1, 0), bits.u(1, 0)  # no override of the reference index, no modification of the list
    if idr is not None:
        bits.u(1, 0), bits.u(1, int(long_term))  # how this picture is kept for reference
    elif reference:
        bits.u(1, 0)
    bits.se(0)
    if kind == "P":
        bits.ue(macroblocks)
    else:
        for macroblock in range(macroblocks):
            if kind == "B":
                bits.ue(0)
            bits.ue(48 if kind == "B" else 25)
            bits.align()
            bits.bytes(bytes((16 + 7 * (number + macroblock) + shade + i // 16) % 200 + 16 for i in range(samples)))
    return bits.unit(h264_header(1 if idr is None else 5, int(reference)))


def fields():
    """Frames of 16x32: pairs of fields, the first an IDR picture with a P field, and a frame between them, and a field without a second one."""
    units = [sps(frame_mbs_only=0), pps()]
    units += [slice_of("I", 0, [("u", 6, 0)], idr=0, fields=(1, 0)), slice_of("P", 0, [("u", 6, 1)], fields=(1, 1))]
    units += [slice_of("P", 1, [("u", 6, 2)], fields=(1, 0)), slice_of("P", 1, [("u", 6, 3)], fields=(1, 1))]
    units += [slice_of("P", 2, [("u", 6, 4)], fields=(0, 0), macroblocks=2)]
    units += [slice_of("I", 3, [("u", 6, 7)], fields=(1, 1)), slice_of("I", 3, [("u", 6, 6)], fields=(1, 0))]
    units += [slice_of("P", 4, [("u", 6, 8)], fields=(1, 0))]
    return units + [slice_of("I", 0, [("u", 6, 0)], idr=1, fields=(1, 0)), slice_of("I", 0, [("u", 6, 1)], fields=(1, 1))]


def order_type_1():
    """pic_order_cnt_type 1, with both differences in each frame."""
    units = [sps(order_type=1), pps(bottom_order=1)]
    for i in range(20):
        order = [("se", i % 3 - 1), ("se", 1 - i % 2)]
        units.append(slice_of("P" if i % 10 else "I", i % 10, order, idr=None if i % 10 else i // 10))
    return units


def redundant():
    """Redundant coded pictures (Baseline) after the primary ones."""
    units = [sps(profile=66), pps(redundant=1)]
    for i in range(6):
        for count in range(1 + i % 3):
            units.append(slice_of("I" if i == 0 else "P", i, [("u", 6, 2 * i)], idr=0 if i == 0 else None, redundant=count))
    return units


def colour_planes():
    """separate_colour_plane_flag: three slices a picture, one a plane. The first picture is none of them: ffmpeg wants one that it can decode."""
    units = [sps(), pps(), slice_of("I", 0, [("u", 6, 0)], idr=1)]
    units += [sps(profile=244, colour_planes=True, number=1), pps(number=1)]
    for i in range(4):
        for plane in range(3):
            units.append(slice_of("I", i, [("u", 6, 2 * i)], idr=0 if i == 0 else None, plane=plane, samples=256, sets=1))
    return units


def leading():
    """Two IDR pictures, and B pictures that nothing refers to, behind the second one and shown ahead of it."""
    units = [sps(), pps()] + [slice_of("I", 0, [("u", 6, 0)], idr=i) for i in range(2)]
    return units + [slice_of("B", 1, [("u", 6, 50 + 2 * i)], reference=False) for i in range(7)]


def pyramid():
    """P pictures, with seven B pictures between each and the previous one."""
    units, number = [sps(), pps()], 0
    for group in range(4):
        units.append(slice_of("I", 0, [("u", 6, 0)], idr=group % 2))
        number = 0
        for first in range(0, 24, 8):
            for place, kind, reference in ((8, "P", True), (4, "B", True), (2, "B", True), (1, "B", False), (3, "B", False), (6, "B", True),
                                           (5, "B", False), (7, "B", False)):
                number += 1
                units.append(slice_of(kind, number, [("u", 6, 2 * (first + place))], reference=reference))
                number -= not reference
    return units


def long_term():
    """An IDR picture that is kept for reference, and P pictures without content of their own."""
    units = [sps(), pps(), slice_of("I", 0, [("u", 6, 0)], idr=0, long_term=True)]
    return units + [slice_of("I" if i % 5 == 4 else "P", i, [("u", 6, 2 * i)]) for i in range(1, 16)]


# From other streams' NAL units.

class Stream:
    def __init__(self, path):
        self.is_h265 = path.endswith(".h265")
        with open(path, "rb") as file:
            self.units = split(file.read())

    def type(self, unit):
        return unit[0] >> 1 & 63 if self.is_h265 else unit[0] & 31

    def is_slice(self, unit):
        return self.type(unit) < 32 if self.is_h265 else self.type(unit) in (1, 5)

    def begins_picture(self, unit):
        return self.is_slice(unit) and bool(unit[2 if self.is_h265 else 1] & 0x80)

    def is_set(self, unit):
        return self.type(unit) in ((32, 33, 34) if self.is_h265 else (7, 8))

    def header(self, h264, h265):
        return h265_header(h265) if self.is_h265 else h264_header(h264, 0)


def sets(stream):
    """Ahead of each picture but the first three parameter sets: what can't be read costs one picture's."""
    others = (h265_sets if stream.is_h265 else h264_sets)(random.Random(2), 40)
    units, pictures = [], 0
    for unit in stream.units:
        if stream.begins_picture(unit):
            if pictures:
                units += others[:3]
                del others[:3]
            pictures += 1
        units.append(unit)
    assert not others, f"{len(others)} parameter sets have found no place"
    return units


def second_group(stream):
    """Where the parameter sets are for the second time."""
    firsts = [i for i, unit in enumerate(stream.units) if stream.type(unit) == (32 if stream.is_h265 else 7)]
    return firsts[1]


def without_first(stream, *types):
    """Without units of these types in the first group of pictures."""
    head = second_group(stream)
    return [u for u in stream.units[:head] if stream.type(u) not in types] + stream.units[head:]


def bla(stream):
    """Each CRA picture is a BLA picture: its leading pictures can't be decoded."""
    assert any(stream.type(unit) == 21 for unit in stream.units), "there is no CRA picture"
    return [bytes([16 << 1]) + unit[1:] if stream.type(unit) == 21 else unit for unit in stream.units]


def filled(stream):
    """Filler data after each picture: bytes of ones."""
    units = []
    for unit in stream.units:
        units.append(unit)
        if stream.is_slice(unit):
            units.append(stream.header(12, 38) + b"\xff" * 20 + b"\x80")
    return units


def ended(*streams):
    units = []
    for i, stream in enumerate(streams):
        units += stream.units + [stream.header(10, 36)]
    return units + [streams[-1].header(11, 37)]


def main():
    kind, out, *paths = sys.argv[1:]
    by_hand = {"fields": fields, "order-type-1": order_type_1, "redundant": redundant, "colour-planes": colour_planes,
               "leading": leading, "pyramid": pyramid, "long-term": long_term}
    streams = [Stream(path) for path in paths]
    if kind in by_hand:
        data = annex_b(by_hand[kind]())
    elif kind == "zeros":
        prefixes = (b"\0" * 4 + b"\0\0\1", b"\0\0\0\1", b"\0\0\1", b"\0" * 50 + b"\0\0\1")
        data = b"".join(prefixes[i % 4] + unit for i, unit in enumerate(streams[0].units)) + b"\0" * 9
    elif kind == "short":
        data = annex_b(streams[0].units, b"\0\0\1")
    else:
        data = annex_b({
            "sets": sets,
            "late": lambda stream: without_first(stream, 7, 8, 32, 33, 34),
            "partly": lambda stream: without_first(stream, 8, 34),
            "cut": lambda stream: stream.units[second_group(stream):],
            "filled": filled,
            "bla": bla,
            "joined": lambda *streams: [unit for stream in streams for unit in stream.units],
            "ended": ended,
        }[kind](*streams))
    with open(out, "wb") as file:
        file.write(data)


main()
