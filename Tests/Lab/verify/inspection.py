#!/usr/bin/env python3
"""Compares what `camrec inspect --json --headers` says of a raw stream with what libavcodec and ffprobe read in it.

usage: inspection.py STREAM REPORT

Value by value: every syntax element of each distinct parameter set with the trace_headers filter, the sizes of the access
units and their types with ffprobe's packets and frames, size, profile and level with ffprobe's stream. Prints what differs
and exits 1.
"""
import collections
import json
import re
import subprocess
import sys

KINDS = {
    "Video Parameter Set": "VPS", "Sequence Parameter Set": "SPS", "Picture Parameter Set": "PPS",
    "Sequence Parameter Set Extension": "SPS extension",
}
ELEMENT = re.compile(r"\[trace_headers @ \w+\] \d+\s+(\S+)\s+[01]*\s*= (-?\d+)$")
HEADING = re.compile(r"\[trace_headers @ \w+\] ([A-Z][\w ]+)$")
TRAILING = {"rbsp_stop_one_bit", "rbsp_alignment_zero_bit", "cabac_zero_word"}
# Where libavcodec's name is not that of the standard, which is matrix_coeffs in H.265.
NAMES = {"gaps_in_frame_num_allowed_flag": "gaps_in_frame_num_value_allowed_flag", "matrix_coeffs": "matrix_coefficients"}


def plain(name):
    """Which of the reserved bits they are makes no difference."""
    return name.split("[")[0] if "reserved_zero_" in name else NAMES.get(name, name)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def traced_sets(path, form):
    """The distinct parameter sets, in the order in which libavcodec meets them: (kind, [(element, value)])."""
    said = run("ffmpeg", "-nostdin", "-v", "info", "-f", form, "-i", path, "-c", "copy", "-bsf:v", "trace_headers",
               "-f", "null", "-").stderr
    sets, current = [], None
    for line in said.splitlines():
        if heading := HEADING.match(line):
            current = []
            if kind := KINDS.get(heading[1]):
                sets.append((kind, current))
        elif (element := ELEMENT.match(line)) and current is not None and element[1].split("[")[0] not in TRAILING:
            name = plain(element[1])
            # libavcodec reads reserved bits in pieces, under one name; their value is 0 as a whole as in pieces.
            if not (current and current[-1][0] == name and "_reserved_zero_" in name):
                current.append((name, int(element[2])))
    return list(dict.fromkeys((kind, tuple(elements)) for kind, elements in sets))


def compare_sets(path, form, report):
    theirs = traced_sets(path, form)
    ours = [(s["kind"], tuple((plain(e["name"]), e["value"]) for e in s["elements"])) for s in report["headers"]]
    for kind in sorted({kind for kind, _ in theirs + ours}):
        left = [elements for k, elements in ours if k == kind]
        right = [elements for k, elements in theirs if k == kind]
        if len(left) != len(right):
            yield f"{len(left)} distinct {kind}, libavcodec reads {len(right)}"
        for number, (mine, other) in enumerate(zip(left, right)):
            for index in range(max(len(mine), len(other))):
                pair = [elements[index] if index < len(elements) else None for elements in (mine, other)]
                if pair[0] != pair[1]:
                    yield f"{kind} {number}, element {index}: {pair[0]}, libavcodec reads {pair[1]}"
                    break


def probed(path, form, *options):
    said = run("ffprobe", "-v", "error", "-f", form, "-of", "json", *options, path)
    return json.loads(said.stdout)


def compare_pictures(path, form, report):
    frames = [f for f in probed(path, form, "-show_entries", "frame=pict_type")["frames"] if "pict_type" in f]
    theirs = collections.Counter(frame["pict_type"] for frame in frames)
    ours = collections.Counter(f["type"] for f in report["frames"] if not f.get("secondField"))
    if ours != theirs:
        yield f"frames by type {dict(ours)}, ffprobe counts {dict(theirs)}"
    if len(frames) != report["frameCount"]:
        yield f"{report['frameCount']} frames, ffprobe counts {len(frames)}"
    sizes = [int(p["size"]) for p in probed(path, form, "-show_entries", "packet=size")["packets"]]
    if len(sizes) != report["accessUnits"]:
        yield f"{report['accessUnits']} access units, ffprobe counts {len(sizes)}"
    end, start = 0, report["frames"][0]["offset"]
    for number, (mine, other) in enumerate(zip(report["frames"], sizes)):
        end += other
        # libavcodec's parser of H.265 leaves the zero_byte of a start code with the access unit before.
        if end - (mine["offset"] - start + mine["size"]) not in ((0, 1) if form == "hevc" else (0,)):
            yield f"access unit {number} ends at {mine['offset'] + mine['size']}, ffprobe says {end + start}"
            break


def compare_stream(path, form, report):
    stream = probed(path, form, "-show_streams")["streams"][0]
    level = stream["level"]
    level = level / 30 if form == "hevc" else level / 10
    pairs = {
        "codec": (report["codec"], stream["codec_name"]), "width": (report["width"], stream["width"]),
        "height": (report["height"], stream["height"]), "level": (float(report["level"].replace("1b", "1.1")), level),
    }
    if "/" in stream.get("r_frame_rate", "") and report["frameRate"] is not None:
        numerator, denominator = map(int, stream["r_frame_rate"].split("/"))
        rate = (report["frameRateNumerator"], report["frameRateDenominator"])
        # A rate of fields is twice that of frames.
        if (numerator, denominator) != (rate[0] * 2, rate[1]):
            pairs["rate"] = (rate[0] * denominator, rate[1] * numerator)
    for name, (mine, other) in pairs.items():
        if mine != other:
            yield f"{name} {mine}, ffprobe says {other}"


def main():
    path, report = sys.argv[1:]
    with open(report, encoding="utf-8") as file:
        report = json.load(file)
    form = "hevc" if report["codec"] == "hevc" else "h264"
    differences = [
        line for compare in (compare_sets, compare_pictures, compare_stream) for line in compare(path, form, report)]
    for line in differences:
        print(line)
    sys.exit(bool(differences))


main()
