#!/usr/bin/env python3
"""Runs pairs of commands in turn, A B A B ..., and prints a table of medians and ratios in Markdown.

usage: measure.py CAMREC BARE FOLDER [RUNS]     (scripts/bench calls it)
"""
import json
import os
import statistics
import subprocess
import sys
import time

RUN = {"radeonsi": ["Tests/Lab/gpu/run", "radeonsi"], "iHD": ["Tests/Lab/gpu/run", "iHD"]}


def run(command):
    """Seconds of wall clock and of CPU, peak memory in MB, standard output, and seconds until its last byte."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, bufsize=0)
    output, written = b"", 0.0
    while some := process.stdout.read(1 << 20):
        output, written = output + some, time.monotonic() - start
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: status {status} from: {' '.join(command)}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output, written


def pair(first, second, runs):
    """The results of both commands, after a warm-up that does not count."""
    results = ([], [])
    for turn in range(runs + 1):
        for result, command in zip(results, (first, second)):
            measured = run(command)
            if turn:
                result.append(measured)
    return results


def medians(results, figure):
    return tuple(statistics.median(r[figure] for r in side) for side in results)


def row(what, results, figure, unit, limit):
    ours, theirs = medians(results, figure)
    ratio = statistics.median(a[figure] / b[figure] for a, b in zip(*results))
    print(f"| {what} | {ours:.3f} {unit} | {theirs:.3f} {unit} | {ratio:.2f} | {limit} |")


def main():
    camrec, bare, folder = sys.argv[1:4]
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    large, small = f"{folder}/1080p.y4m", f"{folder}/480p.y4m"
    rate = ["-b:v", "6220800", "-maxrate", "9331200", "-bufsize", "9331200", "-g", "30"]
    x264 = ["-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-threads", "1"]
    x264 += ["-x264-params", "scenecut=0:sliced-threads=0"]
    ours, theirs = f"{folder}/ours.h264", f"{folder}/theirs.h264"
    ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i"]

    print("| what | camrec | other | ratio | goal |\n|---|---|---|---|---|")
    # As ffmpeg is told below: nothing is held back.
    software = [camrec, "--encoder", "software", "--latency", "realtime", "--overwrite", "--device"]
    results = pair(software + [large, ours], ffmpeg + [large] + x264 + rate + [theirs], runs)
    row("1080p file through libx264, wall; ffmpeg", results, 0, "s", "1.03")
    row("the same, CPU; ffmpeg", results, 1, "s", "1.03")
    stream = ["-f", "h264", "-"]
    start(
        "libx264", software + [large, "--frames", "1", "-"],
        ffmpeg + [large] + x264 + rate + ["-frames:v", "1"] + stream,
        [bare, first(large), "/dev/stdout", "libx264", "-"], runs)
    # A camera's settling comes on top; a test picture has nothing that settles.
    picture = ["--device", "test", "--size", "1920x1080", "--overwrite"]
    recorded = [camrec, "--encoder", "software", "--frames", "1"] + picture + [ours]
    for pixels in ("nv12", "mjpeg"):
        taken = [camrec, "snapshot", "--format", pixels] + picture + [f"{folder}/ours.jpg"]
        row(f"snapshot of {pixels}, 1080p; a recording of one frame", pair(taken, recorded + ["--format", pixels], 2 * runs), 0, "s", "1.2")
    memory("libx264, 1080p", pair(software + [large, ours], [bare, large, theirs, "libx264", "-"], runs))

    for driver, options in (("radeonsi", []), ("iHD", ["-low_power", "1"])):
        prefix = RUN[driver]
        vaapi = prefix + [camrec, "--encoder", "vaapi", "--overwrite", "--device", small]
        encode = prefix + ["ffmpeg", "-v", "error", "-nostdin", "-y", "-vaapi_device", "/dev/dri/renderD128", "-i", small]
        encode += ["-vf", "format=nv12,hwupload", "-c:v", "h264_vaapi", "-rc_mode", "VBR", "-b:v", "921600"] + options
        power = "low_power" if options else "-"
        start(
            driver, vaapi + ["--frames", "1", "-"], encode + ["-frames:v", "1"] + stream,
            prefix + [bare, first(small), "/dev/stdout", "h264_vaapi", power], runs)
        whole = prefix + [bare, small, theirs, "h264_vaapi", power]
        memory(f"{driver}, 640x480", pair(vaapi + [ours], whole, runs))
        side_by_side(driver, camrec, ours, runs)

    delay("libx264, 1080p30", [camrec, "--encoder", "software", "--latency", "realtime"], "1920x1080", 30, [bare, large, theirs, "libx264", "-", "30"], ours)
    prefix = RUN["iHD"]
    delay(
        "iHD, 640x480 at 5 frames/s", prefix + [camrec, "--encoder", "vaapi"], "640x480", 5,
        prefix + [bare, small, theirs, "h264_vaapi", "low_power", "5"], ours)


def start(what, ours, ffmpeg, bare, runs):
    row(f"start to the first IDR written, {what}; ffmpeg", pair(ours, ffmpeg, 2 * runs), 4, "s", "0.6")
    row("the same of bare libavcodec, not camrec; ffmpeg", pair(bare, ffmpeg, 2 * runs), 4, "s", "")


def side_by_side(driver, camrec, ours, runs):
    """Pictures that must be decoded next to such that need not, with an engine that takes longer than decoding."""
    slow = ["env", "FAKEGPU_PICTURES=cheap", "FAKEGPU_FAULTS=slow 20"] + RUN[driver] + [camrec, "--encoder", "vaapi"]
    slow += ["--device", "test", "--no-pace", "--size", "1920x1080", "--frames", "150", "--overwrite", ours, "--format"]
    results = pair(slow + ["MJPG"], slow + ["NV12"], runs)
    row(f"150 pictures of Motion JPEG, 1080p, an engine of 20 ms, {driver}; of NV12", results, 0, "s", "1.05")


def first(file):
    """The same file with its first picture alone, for a program that takes no number of frames."""
    shorter = file.replace(".y4m", "-first.y4m")
    run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", file, "-frames:v", "1", shorter])
    return shorter


def memory(what, results):
    ours, theirs = medians(results, 2)
    print(f"| peak memory, {what}; bare libavcodec | {ours:.1f} MB | {theirs:.1f} MB | {ours - theirs:+.1f} MB | +10 MB |")


def delay(what, prefix, size, rate, reference, ours):
    """Capture to write of test pictures in real time, next to the encoder's own time for a file's pictures."""
    command = prefix + ["--device", "test", "--size", size, "--fps", str(rate), "--frames", "60", "--overwrite"]
    report = json.loads(run(command + ["--report", "-", ours])[3])
    encoder = float(run(reference)[3])
    latency = report["latency"]["medianMilliseconds"]
    print(f"| capture to write, median, {what}; bare encoder | {latency:.1f} ms | {encoder:.1f} ms | {latency - encoder:+.1f} ms | +1 ms |")


main()
