#!/usr/bin/env python3
"""Measures what a fault cost a recording, and makes the table of all faults.

usage: faults.py trial --part PART --fault FAULT [OPTION...] [FILE...]   a line of JSON for each time that it was made
       faults.py settle --part PART --fault FAULT LINES                  was it survived each time?
       faults.py names --part PART LINES                             which faults were made
       faults.py table --document FILE [--note TEXT] LINES               FILE's rows of these parts are replaced

FILEs are one output's, in their order. What is lost and how long nothing was recorded is read from the decoded
pictures: the test source (--block 16) draws a number and the time of CLOCK_MONOTONIC into each, the lab's webcam in YUYV
(--block 1) a number. Where there are no numbers (--block 0) it is read from --times, the timestamp file, at --rate.

--made N                it was injected N times, and each of the N longest gaps in --times is what one of them cost
--late                  it may itself be late: by their times more may be missing than it sent
--renumbered            the numbers restart whenever the camera starts
--status N --wanted N   the exit code, and the one that is documented
--report FILE           it must add up, and agree with the pictures that are there; --output N is whose it is (0)
--so EXPRESSION         and this must hold in it, in Python: 'encoder.restarts == 1'
--killed SECONDS        CLOCK_MONOTONIC when it was killed: FILEs may end in the middle of a unit, and there is no report
--powerless             with --killed: the disk lost its power, too, and the last FILE may end in zeros within its last block
--died-at N             the process ended at this picture, without a report; FILEs as with --killed
--sent N                it was ended at some moment, until which the camera had sent so many frames; what it would have sent
                        while it --took is lost, too; FILEs as with --killed
--gone                  files were removed, so that there are fewer pictures than were written
--no-file               nothing was recorded: no FILE is expected; without this, there must be one
--took SECONDS          how long it took, where the pictures cannot tell; each time where it was made several times
--most-lost N, --most-took SECONDS   more is not survived, nor is what cannot be measured
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
from types import SimpleNamespace

import numpy

START_CODE = b"\0\0\0\1"
SUMS = ("encoded", "corrupt", "droppedByUs", "paused", "notWanted", "droppedByEncoder", "unused")


class Problem(Exception):
    """The fault was not survived: why."""


def demuxer(path):
    raw = {".h265": "hevc", ".265": "hevc", ".hevc": "hevc", ".h264": "h264", ".264": "h264"}
    return raw.get(path.suffix)


def decode(path, data=None):
    """Luma of each picture, and what the decoder said."""
    # A transport stream of a few packets is too short to be recognised without doubt.
    kind = "mpegts" if path.suffix == ".ts" else demuxer(path)
    form = ("-f", kind) if kind else ()
    result = subprocess.run(
        ("ffmpeg", "-nostdin", "-v", "warning", "-err_detect", "explode", "-probesize", "1G", *form,
         "-i", str(path) if data is None else "-", "-fps_mode", "passthrough", "-vf", "extractplanes=y", "-c:v", "pgm", "-f", "image2pipe", "-"),
        input=b"" if data is None else data, capture_output=True, check=False)
    said = result.stderr.decode(errors="replace").strip()
    header = re.match(rb"P5\s(\d+) (\d+)\s255\s", result.stdout)
    if not header:
        return numpy.zeros((0, 1, 1), numpy.uint8), said or "nothing can be decoded"
    width, height = map(int, header.groups())
    images = numpy.frombuffer(result.stdout, numpy.uint8).reshape(-1, header.end() + width * height)
    return images[:, header.end():].reshape(-1, height, width), said


def row(pictures, y, block):
    """The number in sixteen blocks of each picture, the highest bit first; a block's inner half decides."""
    edge = block // 4
    cells = pictures[:, y:y + block, :16 * block].reshape(len(pictures), block, 16, block)[:, edge:block - edge, :, edge:block - edge]
    return (cells.mean(axis=(1, 3)) > 125) @ (1 << numpy.arange(15, -1, -1))


def unwrapped(values, period):
    """Counters that restart after `period`, made continuous."""
    steps = numpy.diff(values)
    return values + period * numpy.concatenate(([0], numpy.cumsum(steps < -period // 2))) if len(values) else values


def joined(numbers):
    """Counters that restart with each start of the stream, made continuous; what was lost before a start stays missing."""
    begins = numpy.concatenate(([False], numpy.diff(numbers) < 1))
    return numbers + numpy.cumsum(numpy.where(begins, numpy.roll(numbers, 1) + 1, 0))


def was_ended(options):
    """Whether the process had no time to complete its files."""
    return any(value is not None for value in (options.killed, options.died_at, options.sent))


def without_last_picture(data, is_h265):
    """A raw stream up to its last NAL unit, and up to the parameter sets and messages before that."""
    end = max(0, data.rfind(START_CODE))
    while end:
        previous = max(0, data.rfind(START_CODE, 0, end))
        header = data[previous + len(START_CODE)]
        if (header >> 1 & 63 not in (32, 33, 34, 35, 39)) if is_h265 else (header & 31 not in (6, 7, 8, 9)):
            break
        end = previous
    return data[:end]


def drop_unwritten_end(path, block=4096):
    """Cuts off the zeros in a file's last block.

    ext4 commits a file's new size before the data that were appended to a block which the file had already.
    """
    data = path.read_bytes()
    written = data.rstrip(b"\0")
    if len(written) // block == (len(data) - 1) // block:
        os.truncate(path, len(written))


def read(path, options):
    """Numbers and, where the source draws them, seconds of a file's pictures; None where there are none."""
    if options.powerless and path == options.files[-1]:
        drop_unwritten_end(path)
    pictures, said = decode(path)
    if was_ended(options) and not path.stat().st_size:
        return 0, numpy.zeros(0, numpy.int64), numpy.zeros(0, numpy.int64)  # nothing came to it yet
    if was_ended(options) and path == options.files[-1] and said:
        # The unit in which it was killed: a raw stream is whole without it, and a container's reader knows its end.
        if demuxer(path):
            data = path.read_bytes()
            pictures, said = decode(path, without_last_picture(data, path.suffix == ".h265"))
        elif len(options.files) > 1 and not len(pictures):
            said = ""  # a segment that has only begun
        else:
            said = "\n".join(line for line in said.splitlines() if not re.search("prematurely|truncat|corrupt|partial file", line))
    if said:
        raise Problem(f"{path.name}: {said.splitlines()[0]}")
    if not options.block or not len(pictures):
        empty = numpy.zeros(0, numpy.int64)
        return len(pictures), empty, empty
    numbers = row(pictures, 0, options.block)
    if options.block < 16:
        return len(pictures), numbers, None
    top = (pictures.shape[1] - 2 * options.block) & ~1
    return len(pictures), numbers, row(pictures, top, options.block) * 65536 + row(pictures, top + options.block, options.block)


def decoded(options):
    """All pictures of the output: how many, their numbers, their seconds; in order and each only once."""
    if bool(options.files) == options.no_file:
        raise Problem("there is a file" if options.files else "there is no file")
    parts = [read(path, options) for path in options.files]
    count = sum(part[0] for part in parts)
    if options.files and not count and options.died_at is None:
        raise Problem("there is no picture")
    if not options.block or not count:
        return count, None, None
    numbers = numpy.concatenate([part[1] for part in parts]).astype(numpy.int64)
    numbers = joined(numbers) if options.renumbered else unwrapped(numbers, 1 << 16)
    if numpy.any(numpy.diff(numbers) < 1):
        raise Problem(f"pictures come twice or go back at number {numbers[numpy.argmax(numpy.diff(numbers) < 1)]}")
    if options.block < 16:
        return count, numbers, None
    return count, numbers, unwrapped(numpy.concatenate([part[2] for part in parts]).astype(numpy.int64), 1 << 32) / 1e6


def written_times(options):
    """Seconds of each line of the timestamp files."""
    lines = [line for path in options.times for line in path.read_text().splitlines() if line and line[0] != "#"]
    return numpy.array([float(line) / 1000 for line in lines])


def adds_up(report, count, numbers, options):
    """Raises unless every frame is accounted for and the output's part agrees with what is in its files."""
    frames, output = report.frames, report.outputs[options.output]
    if frames.captured != sum(getattr(frames, name) for name in SUMS):
        raise Problem(f"{frames.captured} frames were captured, which are not the sum of {vars(frames)}")
    if options.files and (count > output.written if options.gone else count != output.written):
        raise Problem(f"{count} pictures are there, and {output.written} in the report")
    if numbers is not None:
        inside = numbers[-1] + 1 - len(numbers)
        lost = frames.droppedByDriver + frames.captured - frames.unused - count
        if inside > lost:
            raise Problem(f"{inside} numbers are missing, and {lost} in the report")
        if numbers[-1] >= frames.captured + frames.droppedByDriver:
            raise Problem(f"picture {numbers[-1]} is there, and {frames.captured} were captured")
    for expression in options.so:
        # The expressions come from the scripts next to this file, never from a report.
        if not eval(expression, {"__builtins__": {"len": len, "hasattr": hasattr}}, vars(report)):
            raise Problem(f"not so: {expression}; the report: {report}")


def missing(report, moments, count, options):
    """Frames of the camera that are not there: those that the report counts, and those of its outages.

    The times of the pictures must say the same, but for a frame at either end of an outage and what is numbered within.
    """
    frames, source = report.frames, report.source
    counted = frames.droppedByDriver + frames.captured - frames.unused - count
    away = int(source.secondsLost * options.rate)
    span = round((moments[-1] - moments[0]) * options.rate) + 1 - count
    slack = 3 + 2 * source.restarts + count // 50
    if span < away - slack or span > away + counted + slack and not options.late:
        raise Problem(f"{span} frames are missing by their times, {away} in outages and {counted} else by the report")
    return max(counted, min(span, counted + away))


def of_each(options, result, gaps):
    """The trial once for each of its longest gaps, or for each time that it took."""
    if options.took:
        return [result | {"lost": int(took * options.rate), "took": took} for took in options.took]
    longest = numpy.sort(numpy.argsort(gaps)[-options.made:])
    if len(longest) < options.made:
        raise Problem(f"{len(gaps) + 1} pictures for {options.made} faults")
    return [result | {"lost": max(0, int(numpy.rint(gap * options.rate)) - 1), "took": round(max(0.0, gap - 1 / options.rate), 3)}
            for gap in gaps[longest]]


def measure(options, result):
    """Fills in the trial, up to the first problem.

    Returns the seconds from picture to picture.
    """
    result["exit"] = f"{options.status} in place of {options.wanted}" if options.status != options.wanted else "as documented"
    if options.files:
        result["files"] = "a problem"
    count, numbers, seconds = decoded(options)
    if options.files:
        result["files"] = "whole"
    moments = written_times(options) if options.times else seconds
    if options.times and len(moments) != count:
        raise Problem(f"{count} pictures and {len(moments)} lines of times")
    gaps = numpy.diff(moments) if moments is not None and len(moments) > 1 else numpy.zeros(0)
    usual = 1 / options.rate if options.rate else 0
    if numbers is not None:
        result["lost"] = int(numbers[-1] + 1 - len(numbers))
    elif options.rate and moments is not None:
        result["lost"] = int(numpy.sum(numpy.maximum(0, numpy.rint(gaps * options.rate) - 1)))
    if len(gaps) and usual:
        result["took"] = round(max(0.0, float(numpy.max(gaps)) - usual), 3)
    if options.killed is not None:
        if seconds is None:
            raise Problem("no picture tells when it was made")
        # The source's clock is the lower half of CLOCK_MONOTONIC's microseconds.
        result["took"] = round((options.killed - seconds[-1]) % (2 ** 32 / 1e6), 3)
        # What is missing before that was dropped by a busy machine, not lost with the process.
        result["lost"] = int(result["took"] * options.rate)
    if options.died_at is not None:
        result["lost"] = options.died_at - count
    if options.report:
        result["report"] = "a problem"
        report = json.loads(options.report.read_text(), object_hook=lambda pairs: SimpleNamespace(**pairs))
        adds_up(report, count, numbers, options)
        if len(options.times) == 1 and options.rate and len(moments) > 1:
            result["lost"] = missing(report, moments, count, options)
        elif numbers is not None or options.files and not options.times:
            result["lost"] = report.frames.droppedByDriver + report.frames.captured - report.frames.unused - count
        result["report"] = "adds up"
    if options.took:
        result["took"] = max(options.took)
    if options.sent is not None:
        if count > options.sent:
            raise Problem(f"{count} pictures are there of {options.sent}")
        result["lost"] = options.sent - count + int(result["took"] * options.rate)
    return gaps


def trial(options):
    result = {"part": options.part, "fault": options.fault, "lost": None, "took": None, "files": None, "report": None,
              "wanted": options.wanted, "problem": None}
    results = [result]
    try:
        gaps = measure(options, result)
        if options.status != options.wanted:
            raise Problem(f"exit code {result['exit']}")
        for name in ("lost", "took"):
            most = getattr(options, f"most_{name}")
            if most is not None and result[name] is None:
                raise Problem(f"'{name}' cannot be measured")
            if most is not None and result[name] > most:
                raise Problem(f"{name} {result[name]}, more than {most:g}")
        if options.made > 1:
            results = of_each(options, result, gaps)
    except (Problem, OSError, ValueError) as error:
        result["problem"] = str(error)[:400]
    for result in results:
        print(json.dumps(result))


def lines(path, part=None, fault=None):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if part in (None, row["part"]) and fault in (None, row["fault"])]


def settle(options):
    rows = lines(options.lines, options.part, options.fault)
    problems = [row["problem"] for row in rows if row["problem"]]
    if not rows:
        sys.exit("it was never made")
    if problems:
        sys.exit(f"{len(problems)} of {len(rows)} times not survived: {problems[0]}")
    print(f"{len(rows)} times")


def names(options):
    print(*dict.fromkeys(row["fault"] for row in lines(options.lines, options.part)), sep="\n")


def summary(values, form):
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    middle, worst = form(statistics.median(known)), form(max(known))
    return middle if len(known) == 1 or middle == worst else f"{middle} / {worst}"


def rendered(rows, note):
    """A part's rows, the faults in the order in which they were first made."""
    part = rows[0]["part"]
    result = [f"## {part}", "", *([note, ""] if note else []),
              "| fault | times | frames lost | without a picture, s | files | report | exit code | |", "|---|---|---|---|---|---|---|---|"]
    for fault in dict.fromkeys(row["fault"] for row in rows):
        trials = [row for row in rows if row["fault"] == fault]
        bad = [row["problem"] for row in trials if row["problem"]]
        cells = [fault.replace("|", "/"), str(len(trials)), summary([t["lost"] for t in trials], lambda v: f"{v:g}"),
                 summary([t["took"] for t in trials], lambda v: f"{v:.2f}")]
        for name in ("files", "report", "wanted"):
            cells.append(", ".join(sorted({str(t[name]) for t in trials if t[name] is not None})) or "–")
        cells.append(f"red: {len(bad)} times; {bad[0][:100].replace('|', '/')}" if bad else "green")
        result.append(f"| {' | '.join(cells)} |")
    return "\n".join(result) + "\n"


def table(options):
    """The document with these parts replaced; others stay unchanged."""
    rows = lines(options.lines)
    head, *sections = re.split(r"^(?=## )", options.document.read_text(), flags=re.MULTILINE)
    known = {section.splitlines()[0][3:]: section.rstrip() + "\n" for section in sections}
    for part in dict.fromkeys(row["part"] for row in rows):
        known[part] = rendered([row for row in rows if row["part"] == part], options.note)
    options.document.write_text("\n".join([head.rstrip() + "\n", *known.values()]))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    trials = commands.add_parser("trial")
    trials.set_defaults(action=trial)
    trials.add_argument("--block", type=int, choices=[0, 1, 16], default=16)
    trials.add_argument("--rate", type=float)
    trials.add_argument("--made", type=int, default=1)
    trials.add_argument("--late", action="store_true")
    trials.add_argument("--renumbered", action="store_true")
    trials.add_argument("--times", type=pathlib.Path, action="append", default=[])
    trials.add_argument("--status", type=int, default=0)
    trials.add_argument("--wanted", type=int, default=0)
    trials.add_argument("--report", type=pathlib.Path)
    trials.add_argument("--output", type=int, default=0)
    trials.add_argument("--so", action="append", default=[])
    trials.add_argument("--killed", type=float)
    trials.add_argument("--powerless", action="store_true")
    trials.add_argument("--sent", type=int)
    trials.add_argument("--gone", action="store_true")
    trials.add_argument("--no-file", action="store_true")
    trials.add_argument("--died-at", type=int)
    trials.add_argument("--took", type=float, action="append", default=[])
    trials.add_argument("--most-lost", type=float)
    trials.add_argument("--most-took", type=float)
    trials.add_argument("files", type=pathlib.Path, nargs="*")
    settled = commands.add_parser("settle")
    settled.set_defaults(action=settle)
    named = commands.add_parser("names")
    named.set_defaults(action=names)
    for command in (trials, settled, named):
        command.add_argument("--part", required=True)
    for command in (trials, settled):
        command.add_argument("--fault", required=True)
    for command in (settled, named):
        command.add_argument("lines", type=pathlib.Path)
    made = commands.add_parser("table")
    made.set_defaults(action=table)
    made.add_argument("lines", type=pathlib.Path)
    made.add_argument("--document", type=pathlib.Path, required=True)
    made.add_argument("--note")
    options = parser.parse_args()
    options.action(options)


main()
