#!/usr/bin/env python3
"""Compares camrec inspect's reading of raw streams with libavcodec's, value by value.

usage: reference.py --camrec PROGRAM [--tally FILE] [--table FILE.md] STREAM...     (.h265 is H.265, all else H.264)

For each stream five comparisons, each of which passes or fails as a whole:

  parameter sets   every syntax element of every VPS, SPS, PPS and SPS extension: name, subscripts, order, value (trace_headers)
  slices           the start of every slice header, likewise, and each picture's type by its slices
  messages         every SEI message: type, size, and each element of the payloads that camrec reads; delimiters
  pictures         each access unit's size and whether decoding can begin with it; each decoded frame's type (ffprobe)
  format           profile, level, size, sample format, rate, colour (ffprobe)

The tables below list where the two may differ, with the reason; anything else that only one side has is a failure.
"""
import argparse
import concurrent.futures
import fractions
import json
import os
import re
import subprocess
import sys

KINDS = ("parameter sets", "slices", "messages", "pictures", "format")

# The names that trace_headers gives to elements of another name in the standard, which is camrec's.
NAMES = {
    "h264": {
        "gaps_in_frame_num_allowed_flag": ("gaps_in_frame_num_value_allowed_flag", "7.3.2.1.1"),
    },
    "hevc": {
        "scaling_list_delta_coeff": ("scaling_list_delta_coef", "7.3.4"),
        "sps_palette_predictor_initializer_present_flag": ("sps_palette_predictor_initializers_present_flag", "7.3.2.2.3"),
        "pps_palette_predictor_initializer_present_flag": ("pps_palette_predictor_initializers_present_flag", "7.3.2.3.3"),
        "sps_num_palette_predictor_initializer_minus1": ("sps_num_palette_predictor_initializers_minus1", "7.3.2.2.3"),
        "pps_num_palette_predictor_initializer": ("pps_num_palette_predictor_initializers", "7.3.2.3.3"),
        "sps_palette_predictor_initializers": ("sps_palette_predictor_initializer", "7.3.2.2.3"),
        "pps_palette_predictor_initializers": ("pps_palette_predictor_initializer", "7.3.2.3.3"),
        "intra_boundary_filtering_disable_flag": ("intra_boundary_filtering_disabled_flag", "7.3.2.2.3"),
        "matrix_coefficients": ("matrix_coeffs", "E.2.1; H.264's name is that of trace_headers"),
    },
}
# The 35 bits after one_picture_only_constraint_flag of profile 2, which trace_headers calls 43bits in sub-layers (H.265, 7.3.3).
MISNAMED = {("sub_layer_reserved_zero_7bits", "sub_layer_one_picture_only_constraint_flag"): (
    "sub_layer_reserved_zero_43bits", "sub_layer_reserved_zero_35bits")}
# Elements of more than 32 bits, which trace_headers prints as two; the first has 24 bits.
SPLIT = re.compile(r"(general|sub_layer)_reserved_zero_(33|34|35|43)bits")
# Elements whose subscripts trace_headers leaves out, or counts from 0 instead of maxNumSubLayersMinus1 (H.265, 7.3.3).
SUBSCRIPTS = re.compile(r"reserved_zero_2bits|sub_layer_reserved_zero_(7|33|34|35|43)bits|sub_layer_reserved_zero_bit")
# What follows what is read of a unit and says nothing: rbsp_trailing_bits() (H.264: 7.3.2.11, H.265: 7.3.2.11).
TRAILING = {"rbsp_stop_one_bit", "rbsp_alignment_zero_bit"}
# The bits that fill a payload's last byte (H.264: 7.3.2.3.1, H.265: D.2.1); trace_headers counts them as elements.
PAYLOAD_END = {"bit_equal_to_one", "bit_equal_to_zero"}
# camrec reads the start of a slice header. One of these is the first element after it, of those that trace_headers prints next.
BEHIND_SLICE_START = {
    "h264": {
        "direct_spatial_mv_pred_flag", "num_ref_idx_active_override_flag", "ref_pic_list_modification_flag_l0",
        "no_output_of_prior_pics_flag", "adaptive_ref_pic_marking_mode_flag", "cabac_init_idc", "slice_qp_delta",
    },
    "hevc": {
        "slice_sao_luma_flag", "num_ref_idx_active_override_flag", "slice_qp_delta",
        # A dependent slice segment has no more of a header than its start (7.3.6.1).
        "num_entry_point_offsets", "slice_segment_header_extension_length", "alignment_bit_equal_to_one",
    },
}
# The unit types that trace_headers reads; of the rest it prints nothing.
TRACED = {"h264": {1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 19}, "hevc": {*range(10), *range(16, 22), 32, 33, 34, 35, 39, 40}}
# Filler data, whose bytes trace_headers prints and camrec does not (H.264: 7.3.2.7, H.265: 7.3.2.8). Older versions skip H.265's.
FILLER = {"h264": 12, "hevc": 38}
SETS = {"h264": {7: "SPS", 8: "PPS", 13: "SPS extension"}, "hevc": {32: "VPS", 33: "SPS", 34: "PPS"}}
SLICES = {"h264": {1, 5, 19}, "hevc": {*range(10), *range(16, 22)}}
# The payloads that camrec reads (Annex D); of others the type and the size are compared.
READ_PAYLOADS = {0, 1, 4, 5, 6}
# What pictures are by slice_type (H.264: Table 7-6, modulo 5; H.265: Table 7-7).
SLICE_KINDS = {"h264": "PBIPI", "hevc": "BPI"}

# ffprobe's terms for camrec's.
PROFILES = {
    "Constrained High": "High",  # A.2.4.2: libavcodec does not tell the constrained one.
    # A.3.5: the format range extensions are one profile_idc with many names; libavcodec has the one.
    **{name: "Rext" for name in (
        "Monochrome", "Monochrome 10", "Monochrome 12", "Main 12", "Main 4:2:2 10", "Main 4:2:2 12", "Main 4:4:4", "Main 4:4:4 10",
        "Main 4:4:4 12", "Main Intra", "Main 10 Intra", "Main 12 Intra")},
}
SAMPLES = {"monochrome": "gray", "4:2:0": "yuv420p", "4:2:2": "yuv422p", "4:4:4": "yuv444p"}
COLOURS = {
    "BT.709": "bt709", "BT.2020": "bt2020", "BT.2020 non-constant luminance": "bt2020nc", "BT.601 525 lines, SMPTE 170M": "smpte170m",
    "SMPTE ST 2084, PQ": "smpte2084", "ARIB STD-B67, HLG": "arib-std-b67", None: None,
}

# Comparisons that libavcodec or ffprobe has no part in, by stream.
EXEMPT = {
    ("redundant-pictures.h264", "pictures"):
        "Redundant coded pictures belong to the access unit of their primary picture (7.4.1.2.3); libavcodec's parser makes separate packets.",
    ("colour-planes.h264", "pictures"):
        "The three planes are one picture (7.4.2.1.1); libavcodec's parser makes separate packets, and its decoder does not support them.",
}


# All of these, for people: what, what camrec says, what libavcodec says, why.
DIFFERENCES = (
    *((f"`{theirs}`", f"`{ours}`", f"`{theirs}`", f"the standard's name, {clause}")
      for names in NAMES.values() for theirs, (ours, clause) in names.items()),
    ("`sub_layer_reserved_zero_35bits`", "that name", "`…_43bits`", "the standard's name for the 35 bits of profile 2 (H.265, 7.3.3)"),
    ("reserved elements of 33 to 43 bits", "one element", "two of the same name", "libavcodec reads 32 bits at most"),
    ("subscripts of `reserved_zero_2bits` and the reserved bits of sub-layers", "the standard's", "none, or from 0 on", "H.265, 7.3.3"),
    ("trailing bits, the bits that fill a payload's last byte, filler bytes", "left out", "elements", "they carry no information"),
    ("slice headers", "the start", "all", "the rest does not distinguish pictures"),
    ("payloads of SEI types other than 0, 1, 4, 5 and 6", "type and size", "elements", "camrec does not use them"),
    ("slices before their parameter sets", "read up to their id", "read in full if the sets come later, otherwise not at all",
     "ffmpeg first collects the sets of the first access unit that has any"),
    ("the first of the 4 bytes of an H.265 start code", "part of the unit after it", "part of the access unit before it", "`zero_byte`, B.1.1 and B.2.1; newer libavcodec agrees"),
    ("H.265's end of sequence and of bitstream", "in the access unit that ends", "in the next one", "7.4.2.4.4"),
    ("zero bytes before the stream's first start code", "in no access unit", "in the first one", "`leading_zero_8bits`, B.1.1"),
    ("keyframes in H.264", "IDR pictures, and intra pictures with a recovery point", "also other pictures with a recovery point",
     "D.2.8: decoding can start at other pictures, but correct pictures come later"),
    ("pictures output before a first keyframe that is not IDR", "pictures", "no frames", "they refer to missing pictures (H.265, 8.1.3)"),
    ("an unpaired field", "a picture", "no frame", "libavcodec outputs whole frames"),
    ("the frame rate if a stream states none", "none", "25/1, in newer versions 1200000/1", "ffmpeg's assumption for raw streams"),
    ("the frame rate of H.264", "frames", "frames; in newer versions ticks, two per frame", "E.2.1"),
    ("the frame rate of H.265 fields", "frames", "fields", "`field_seq_flag`, E.3.1"),
    ("level 1b of Baseline, Main and Extended", "1b", "1.1", "A.3.1: `level_idc` 11 with `constraint_set3_flag`"),
    ("the profiles of H.265's range extensions", "each by its name", "Rext", "A.3.5: one `profile_idc`"),
    ("Constrained High", "that name", "High", "A.2.4.2: constraint flags"),
    ("monochrome H.264", "monochrome", "yuv420p", "libavcodec decodes to that, with neutral chroma"),
    ("the colour range if a stream states none", "limited", "none", "inferred, E.2.1 and E.3.1"),
)


class Different(Exception):
    """The two readings differ."""


def expect(what, ours, theirs):
    if ours != theirs:
        raise Different(f"{what}: camrec has {ours!r}, libavcodec {theirs!r}")


# What both report.

class Unit:
    """A NAL unit as trace_headers prints it: pairs of name and value, and whether reading broke off."""

    def __init__(self):
        self.elements = []
        self.widths = []
        self.is_broken = False

    def add(self, codec, name, width, value):
        base = name.split("[")[0]
        standard = NAMES[codec].get(base, (base,))[0]
        misnamed = MISNAMED.get(tuple(n.split("[")[0] for n, _ in self.elements[-2:]))
        if misnamed and base == misnamed[0]:
            standard = misnamed[1]
        if self.elements and SPLIT.fullmatch(self.elements[-1][0].split("[")[0]) and self.widths[-1] == 24 and SPLIT.fullmatch(base):
            self.elements[-1] = (self.elements[-1][0], self.elements[-1][1] << width | value)
            self.widths[-1] += width
            return
        self.elements.append((standard + name[len(base):], value))
        self.widths.append(width)

    def __getitem__(self, name):
        return next((v for n, v in self.elements if n == name), None)


class Trace:
    """What trace_headers prints of a stream's packets: units in stream order, by packet."""

    def __init__(self, path, codec):
        command = ["ffmpeg", "-nostdin", "-nostats", "-v", "repeat+info", "-f", codec, "-i", path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"]
        said = subprocess.run(command, capture_output=True, timeout=100, check=False)
        self.packets, self.errors = [], []
        for line in said.stderr.decode(errors="replace").splitlines():
            found = re.search(r"\[trace_headers @ \w+\] (.*)", line)
            if found:
                self.add(codec, found[1])
            elif self.packets and re.search("[Ee]rror|[Ff]ail", line) and not self.has_broken_unit():
                self.errors.append(line)
        if said.returncode:
            self.errors.append(f"ffmpeg ended with {said.returncode}")
        self.units = [unit for packet in self.packets for unit in packet]

    def has_broken_unit(self):
        """A unit that can't be read is the last one printed of its packet."""
        return bool(self.packets[-1]) and self.packets[-1][-1].is_broken

    def add(self, codec, line):
        if line.startswith("Packet: "):
            self.packets.append([])
        elif not self.packets:
            pass  # The extradata, which ffmpeg takes out of the stream; it comes again with its packet.
        elif found := re.fullmatch(r"\d+\s+(\S+)\s+([01]*) = (-?\d+)", line):
            if found[1] == "forbidden_zero_bit":
                self.packets[-1].append(Unit())
            self.packets[-1][-1].add(codec, found[1], len(found[2]), int(found[3]))
        elif line.startswith("Failed to read unit"):
            self.packets[-1][-1].is_broken = True
        elif re.search("out of range|[Ff]ailed|[Ii]nvalid", line):
            self.errors.append(line)


def ask(*command):
    said = subprocess.run(command, capture_output=True, timeout=100, check=False)
    if said.returncode:
        raise Different(f"{os.path.basename(command[0])} ended with {said.returncode}: {said.stderr.decode(errors='replace').strip()[-200:]}")
    return json.loads(said.stdout)


class Stream:
    def __init__(self, path, camrec):
        self.name = os.path.basename(path)
        self.codec = "hevc" if path.endswith(".h265") else "h264"
        self.counts = {"elements": 0, "slices": 0, "messages": 0}
        self.ours = ask(camrec, "inspect", "--json", "--nal", "--headers", "--codec", self.codec, path)
        self.trace = Trace(path, self.codec)
        self.probe = ask("ffprobe", "-v", "error", "-f", self.codec, "-show_streams", "-show_packets", "-show_frames", "-of", "json", path)
        entries = self.probe["packets_and_frames"]
        self.packets = [entry for entry in entries if entry["type"] == "packet"]
        self.frames = [entry for entry in entries if entry["type"] == "frame"]

    def pairs(self, kinds):
        """Our units of these types, each with libavcodec's."""
        traced = TRACED[self.codec] | {unit["nal_unit_type"] for unit in self.trace.units} & {FILLER[self.codec]}
        ours = [unit for unit in self.ours["units"] if unit["type"] in traced]
        if self.trace.errors:
            raise Different(f"trace_headers: {self.trace.errors[0]}")
        expect("types of the units", [unit["type"] for unit in ours], [unit["nal_unit_type"] for unit in self.trace.units])
        return [(unit, theirs) for unit, theirs in zip(ours, self.trace.units) if unit["type"] in kinds]

    def compare_elements(self, ours, theirs):
        """Both begin alike, as far as ours goes; returns what libavcodec has after that."""
        where = f"unit at offset {ours['offset']}"
        if theirs.is_broken and not ends_early(ours):
            raise Different(f"{where}: libavcodec can't read it")
        for i, (name, value) in enumerate(ours["elements"]):
            if i == len(theirs.elements):
                raise Different(f"{where}: camrec goes on with {name}")
            other = theirs.elements[i]
            if SUBSCRIPTS.fullmatch(name.split("[")[0]):
                name, other = name.split("[")[0], (other[0].split("[")[0], other[1])
            expect(f"{where}, element {i}", (name, value), other)
        self.counts["elements"] += len(ours["elements"])
        return theirs.elements[len(ours["elements"]):]


def ends_early(ours):
    """Whether a slice's header was read only up to the parameter sets it refers to, because they have not arrived."""
    return ours["elements"][-1][0] in ("pic_parameter_set_id", "slice_pic_parameter_set_id")


# The comparisons.

def compare_parameter_sets(stream):
    distinct = {}
    pairs = stream.pairs(SETS[stream.codec])
    for ours, theirs in pairs:
        rest = {name for name, _ in stream.compare_elements(ours, theirs)}
        expect(f"behind the unit at offset {ours['offset']}", TRAILING & rest, rest)
        distinct.setdefault(tuple(theirs.elements), ours)
    if stream.ours["parameterSets"] and not pairs:
        raise Different("libavcodec found none")
    # The summary of the distinct ones, and what --headers says of each.
    expect("distinct ones", [header["offset"] for header in stream.ours["headers"]], [unit["offset"] for unit in distinct.values()])
    for header, unit in zip(stream.ours["headers"], distinct.values()):
        expect(f"{header['kind']} at offset {header['offset']}", [[e["name"], e["value"]] for e in header["elements"]], unit["elements"])
        expect("kind", header["kind"], SETS[stream.codec][unit["type"]])
    for kind in set(SETS[stream.codec].values()):
        theirs = sum(SETS[stream.codec].get(unit["nal_unit_type"]) == kind for unit in stream.trace.units)
        ours = sum(entry["count"] for entry in stream.ours["parameterSets"] if entry["kind"] == kind)
        expect(f"number of {kind}", ours, theirs)


def compare_slices(stream):
    codec = stream.codec
    sequences, pictures = set(), {}  # the ids of the sequence parameter sets that have come; those of the picture ones refer to them
    for ours, theirs in stream.pairs(SLICES[codec] | set(SETS[codec])):
        kind = SETS[codec].get(ours["type"])
        if kind == "SPS":
            sequences.add(value_of(ours, "seq_parameter_set_id", "sps_seq_parameter_set_id"))
        elif kind == "PPS":
            number = value_of(ours, "pic_parameter_set_id", "pps_pic_parameter_set_id")
            pictures[number] = value_of(ours, "seq_parameter_set_id", "pps_seq_parameter_set_id")
        if kind:
            continue
        rest = stream.compare_elements(ours, theirs)
        number = value_of(ours, "pic_parameter_set_id", "slice_pic_parameter_set_id")
        # Where its parameter sets have not come, libavcodec may know them all the same, for it is given later ones beforehand.
        expect(f"a slice read to the end of its start at offset {ours['offset']}", not ends_early(ours), pictures.get(number) in sequences)
        if not ends_early(ours) and (not rest or rest[0][0] not in BEHIND_SLICE_START[codec]):
            raise Different(f"slice at offset {ours['offset']}: libavcodec goes on with {rest[:1]}")
        stream.counts["slices"] += 1
    compare_picture_types(stream)


def value_of(unit, *names):
    return next((value for name, value in unit["elements"] if name in names), None)


def compare_picture_types(stream):
    """Each picture's type by its slices: the most demanding one."""
    types = []
    for ours, theirs in stream.pairs(TRACED[stream.codec]):
        if ours["beginsAccessUnit"]:
            types.append("?")
        if ours["type"] in SLICES[stream.codec] and theirs["slice_type"] is not None:
            types[-1] = max(types[-1], SLICE_KINDS[stream.codec][theirs["slice_type"] % 5], key="?IPB".index)
    # H.265's slice_type depends on parameter sets; H.264's does not.
    unread = [picture["type"] == "?" for picture in stream.ours["frames"]]
    expect("pictures whose type can't be read", unread, [without_sets(stream, picture) and stream.codec == "hevc" for picture in stream.ours["frames"]])
    expect("pictures' types", [picture["type"] for picture in stream.ours["frames"]], ["?" if skip else kind for kind, skip in zip(types, unread)])


def units_of(stream, picture):
    end = picture["offset"] + picture["size"]
    return [unit for unit in stream.ours["units"] if picture["offset"] <= unit["offset"] < end]


def without_sets(stream, picture):
    """Whether one of the picture's slices refers to parameter sets that have not arrived."""
    return any("sliceType" in unit and ends_early(unit) for unit in units_of(stream, picture))


def has_element(stream, picture, element):
    return any(element in unit["elements"] for unit in units_of(stream, picture))


def messages_of(elements):
    """Splits what follows the header of an SEI unit: type, size and elements of each message."""
    messages, numbers, is_size = [], [0, 0], False
    for name, value in elements:
        if name == "ff_byte":
            numbers[is_size] += 255
        elif name == "last_payload_type_byte":
            numbers[0] += value
            is_size = True
        elif name == "last_payload_size_byte":
            messages.append((numbers[0], numbers[1] + value, []))
            numbers, is_size = [0, 0], False
        elif messages:
            messages[-1][2].append((name, value))
    return messages


def compare_messages(stream):
    counts = {}
    for ours, theirs in stream.pairs({*TRACED[stream.codec], FILLER[stream.codec]} - SLICES[stream.codec] - set(SETS[stream.codec])):
        if not any(name == "last_payload_size_byte" for name, _ in theirs.elements):
            rest = {name for name, _ in stream.compare_elements(ours, theirs)}
            if ours["type"] == FILLER[stream.codec]:
                rest -= {"ff_byte"}
            expect(f"behind the unit at offset {ours['offset']}", TRAILING & rest, rest)
            continue
        header = 3 if stream.codec == "h264" else 4
        expect("header", [tuple(e) for e in ours["elements"][:header]], theirs.elements[:header])
        mine = messages_of(ours["elements"][header:])
        other = messages_of([e for e in theirs.elements[header:] if e[0] not in TRAILING | PAYLOAD_END])
        expect(f"messages at offset {ours['offset']}", [m[:2] for m in mine], [m[:2] for m in other])
        for (kind, _, elements), (_, _, others) in zip(mine, other):
            counts[kind] = counts.get(kind, 0) + 1
            stream.counts["messages"] += 1
            if kind in READ_PAYLOADS:
                expect(f"message of type {kind} at offset {ours['offset']}", [tuple(element) for element in elements], others)
                stream.counts["elements"] += len(elements) + 2
    expect("messages by type", {m["payloadType"]: m["count"] for m in stream.ours["sei"]}, counts)


def packet_starts(stream, is_older):
    """Where libavcodec's parsers begin a packet for each of our access units; an older H.265 parser begins them otherwise."""
    units = stream.ours["units"]
    firsts = [i for i, unit in enumerate(units) if unit["beginsAccessUnit"]]
    starts = []
    for i in firsts:
        unit = units[i]
        if stream.codec == "hevc":
            # The end of a sequence belongs to the access unit before (7.4.2.4.4); libavcodec has it begin one.
            while i and units[i - 1]["type"] in (36, 37):
                i -= 1
            unit = units[i]
        starts.append(start_of(unit, is_older))
    # leading_zero_8bits before all (B.1.1) are part of the first packet.
    starts[0] = 0
    last = len(units)
    while stream.codec == "hevc" and units[last - 1]["type"] in (36, 37):
        last -= 1
    if last < len(units):
        starts.append(start_of(units[last], is_older))
    return starts


def start_of(unit, is_older):
    """zero_byte belongs to the unit behind it (B.2.1); older libavcodecs count it to the packet before."""
    return unit["offset"] + (unit["startCode"] - 3 if is_older else 0)


def packet_sizes(stream, is_older):
    ends = [*packet_starts(stream, is_older)[1:], stream.ours["bytes"]]
    return [end - start for start, end in zip([0, *ends], ends)]


def compare_pictures(stream):
    ours = stream.ours["frames"]
    expect("accessUnits", stream.ours["accessUnits"], len(ours))
    expect("ends of access units", [p["offset"] + p["size"] for p in ours], [p["offset"] for p in ours[1:]] + [stream.ours["bytes"]])
    expect("beginnings of access units", [p["offset"] for p in ours], [u["offset"] for u in stream.ours["units"] if u["beginsAccessUnit"]])
    sizes = [int(packet["size"]) for packet in stream.packets]
    is_older = stream.codec == "hevc" and sizes == packet_sizes(stream, True)
    expect("sizes of packets", packet_sizes(stream, is_older), sizes)
    expect("idrs", stream.ours["idrs"], sum(picture["idr"] for picture in ours))
    compare_keyframes(stream)
    compare_decoded(stream, is_older)


def compare_keyframes(stream):
    """A recovery point message says that pictures are good some time after it, whatever picture it stands at (D.2.8): libavcodec's
    H.264 parser flags it always, camrec calls it a keyframe at an intra picture alone."""
    recovering = set()
    number = -1
    for unit in stream.ours["units"]:
        number += unit["beginsAccessUnit"]
        if any(message[0] == 6 for message in messages_of(unit["elements"])):
            recovering.add(number)
    recovering = recovering if stream.codec == "h264" else set()
    expect("where decoding can begin", [p["keyframe"] or i in recovering for i, p in enumerate(stream.ours["frames"])],
           [packet["flags"].startswith("K") for packet in stream.packets][:len(stream.ours["frames"])])


def compare_decoded(stream, is_older):
    """A pair of fields is one frame to the decoder, of the first one's type, at the second one's place; a field alone is none."""
    frames, starts, lone = [], {}, set()
    for start, picture in zip(packet_starts(stream, is_older), stream.ours["frames"]):
        if picture.get("secondField"):
            lone.discard(frames[-1]["offset"])
        else:
            frames.append(picture)
            if has_element(stream, picture, ["field_pic_flag", 1]):
                lone.add(picture["offset"])
        starts[str(start)] = frames[-1]
    decoded = set()
    for frame in stream.frames:
        picture = starts.get(frame.get("pkt_pos"))
        if picture is None:
            raise Different(f"ffprobe has a frame at offset {frame.get('pkt_pos')}, camrec has none")
        if not without_sets(stream, picture):
            expect(f"type of the frame at offset {picture['offset']}", picture["type"], frame["pict_type"])
        decoded.add(picture["offset"])
    missing = [picture for picture in frames if picture["offset"] not in decoded]
    undecodable = [p for p in missing if p["offset"] in lone or without_sets(stream, p) or is_skipped(stream, p)]
    expect("frames that can't be decoded", undecodable, missing)


def is_skipped(stream, picture):
    """Whether it is a B picture in the group of a first picture that is no IDR picture, which may refer to what was before: a RASL
    picture (H.265, 8.1.3); in H.264 one that stands ahead of the recovery point in output order."""
    frames = stream.ours["frames"]
    keyframes = [p["offset"] for p in frames if p["keyframe"]]
    if frames[0]["idr"] or not frames[0]["keyframe"] or picture["offset"] > [*keyframes, stream.ours["bytes"]][1]:
        return False
    if stream.codec == "hevc":
        return any(unit["type"] in (8, 9) for unit in units_of(stream, picture))
    return output_order(stream, picture) < output_order(stream, frames[0])


def output_order(stream, picture):
    return next(unit["pic_order_cnt_lsb"] for unit in units_of(stream, picture) if "pic_order_cnt_lsb" in unit)


def compare_format(stream):
    ours, theirs = stream.ours, stream.probe["streams"][0]
    expect("codec", ours["codec"], theirs["codec_name"])
    expect("profile", PROFILES.get(ours["profile"], ours["profile"]), theirs["profile"])
    scale = 10 if stream.codec == "h264" else 30
    # libavcodec gives level_idc, which is 11 in level 1b of the older profiles, as in level 1.1 (A.3.1).
    expect("level", "1.1" if ours["level"] == "1b" and theirs["level"] == 11 else ours["level"], f"{theirs['level'] / scale:g}")
    expect("size", (ours["width"], ours["height"]), (theirs["width"], theirs["height"]))
    depth = "" if ours["bitDepth"] == 8 else f"{ours['bitDepth']}" + "le"
    samples = SAMPLES[ours["chromaFormat"]] + depth
    if samples == "gray" and stream.codec == "h264":
        samples = "yuv420p"  # libavcodec decodes it to this, with neutral chroma.
    expect("samples", samples, theirs["pix_fmt"].replace("yuvj", "yuv"))
    compare_rate(stream, theirs["r_frame_rate"])
    compare_colour(ours["color"], theirs)


def compare_rate(stream, theirs):
    """The rate, by the first SPS that libavcodec read, and by ffprobe."""
    ours = stream.ours
    sps = next(unit for unit in stream.trace.units if SETS[stream.codec].get(unit["nal_unit_type"]) == "SPS")
    prefix = "vui_" if stream.codec == "hevc" else ""
    ticks, seconds = sps[prefix + "time_scale"], sps[prefix + "num_units_in_tick"]
    pictures, rate, probed = None, None, {fractions.Fraction(25), fractions.Fraction(1200000)}
    if ticks and seconds:
        # A tick is a field in H.264 (E.2.1), a picture in H.265, where field_seq_flag says that pictures are fields (E.3.1).
        pictures = fractions.Fraction(ticks, seconds)
        rate = pictures / 2 if stream.codec == "h264" or sps["field_seq_flag"] else pictures
        # ffprobe gives H.264's frames or, in newer versions, ticks; it knows nothing of H.265's fields.
        probed = {pictures} if stream.codec == "hevc" else {rate, pictures}
    expect("rate", fractions.Fraction(ours["frameRateNumerator"], ours["frameRateDenominator"]) if ours["frameRateNumerator"] else None, rate)
    if fractions.Fraction(theirs) not in probed:
        raise Different(f"rate: ffprobe has {theirs}, none of {', '.join(map(str, probed))}")


def compare_colour(ours, theirs):
    # Where a stream has no video_signal_type, libavcodec says nothing of the range; the standard infers limited (E.2.1).
    expect("range", ours["range"], {"tv": "limited", "pc": "full", None: "limited"}[theirs.get("color_range")])
    for name, key in (("matrix", "color_space"), ("primaries", "color_primaries"), ("transfer", "color_transfer")):
        expect(name, COLOURS.get(ours.get(name), ours.get(name)), theirs.get(key))


COMPARISONS = dict(zip(KINDS, (compare_parameter_sets, compare_slices, compare_messages, compare_pictures, compare_format)))


class Result:
    def __init__(self, path, camrec):
        self.name, self.stream, self.failures = os.path.basename(path), None, {}
        try:
            self.stream = Stream(path, camrec)
        except (Different, subprocess.TimeoutExpired, ValueError) as error:
            self.failures = {kind: str(error) for kind in KINDS}
            return
        for kind, compare in COMPARISONS.items():
            try:
                compare(self.stream)
            except (Different, LookupError, TypeError, ValueError) as error:
                self.failures[kind] = str(error) if isinstance(error, Different) else f"not as expected: {error!r}"

    def tally(self):
        for kind in KINDS:
            if (self.name, kind) in EXEMPT:
                continue
            failed = kind in self.failures
            yield f"{'fail' if failed else 'pass'}\treference: {self.name}: {kind}\t{self.failures.get(kind, '')}"

    COLUMNS = ("stream", "codec", "profile", "units", "parameter sets", "elements", "slices", "SEI messages", "access units", "verdict")

    def row(self):
        if not self.stream:
            return (self.name, *[""] * 8, "not read")
        ours, counts = self.stream.ours, self.stream.counts
        sets = sum(entry["distinct"] for entry in ours["parameterSets"])
        exempt = [kind for kind in KINDS if (self.name, kind) in EXEMPT]
        failures = [kind for kind in self.failures if kind not in exempt]
        verdict = "differs in " + ", ".join(failures) if failures else "the same" + (f" but for {exempt[0]}" if exempt else "")
        return (self.name.rsplit(".", 1)[0], ours["codec"], ours["profile"] or "", len(ours["units"]), sets, counts["elements"], counts["slices"], counts["messages"], ours["accessUnits"], verdict)


TEXT = """\
# Compared with libavcodec

Does `camrec inspect` read streams as libavcodec does? Its output is compared, value by value, with libavcodec's
`trace_headers` filter and with ffprobe. `Tests/Lab/host/reference.sh --table docs/held-to-libavcodec.md` makes this
page; `scripts/test --lab` makes the same comparisons.

{checks} comparisons of {streams} streams, of which {failures} differ: {elements} syntax elements, {slices} slices,
{messages} SEI messages and {pictures} access units, with the libavcodec of ffmpeg {version}.

{table}

"The same" means that these agree:

- the name, order and value of every syntax element that camrec reads: of parameter sets, of the start of each slice
  header, of SEI messages;
- the first and last byte of each picture, its type, and whether decoding can start at it;
- profile, level, size, sample format, frame rate and colour.

Differences that are allowed in every stream:

{differences}

Differences that are allowed in one stream:

{exempt}
"""


def markdown(rows):
    lines = [" | ".join(map(str, row)) for row in rows]
    return "\n".join(f"| {line} |" for line in (lines[0], " | ".join("---" for _ in rows[0]), *lines[1:]))


def text_of(results):
    version = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=True).stdout.split()[2].split("-")[0]
    tally = [line for result in results for line in result.tally()]
    counts = {name: sum(result.stream.counts[name] for result in results if result.stream) for name in ("elements", "slices", "messages")}
    pictures = sum(result.stream.ours["accessUnits"] for result in results if result.stream)
    return TEXT.format(
        checks=len(tally), streams=len(results), failures=sum(line.startswith("fail") for line in tally), pictures=pictures, version=version,
        table=markdown([Result.COLUMNS, *(result.row() for result in results)]), **counts,
        differences=markdown([("what", "camrec", "libavcodec", "why"), *DIFFERENCES]),
        exempt=markdown([("stream", "comparison", "why"), *((*key, why) for key, why in EXEMPT.items())]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("streams", nargs="+")
    parser.add_argument("--camrec", required=True)
    parser.add_argument("--tally")
    parser.add_argument("--table")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        results = list(workers.map(lambda path: Result(path, options.camrec), options.streams))
    rows = [Result.COLUMNS, *(tuple(map(str, result.row())) for result in results)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())
    if options.tally:
        with open(options.tally, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for result in results for line in result.tally())
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write(text_of(results))
    sys.exit(any(line.startswith("fail") for result in results for line in result.tally()))


if __name__ == "__main__":
    main()
