#!/usr/bin/env python3
"""How many bits camrec's software encoding needs for the same picture as ffmpeg's, and how long it takes.

usage: quality.py CAMREC VTEST FOLDER [PAIRS]     (scripts/bench calls it)

VTEST is OpenCV's vtest.avi; its first 30 seconds are scaled to 1080p. Both programs get the same keyframes, preset and
buffer (VBV): camrec fills and drains it at the average rate, so ffmpeg's maximum is its average, too.
"""
import math
import os
import re
import statistics
import subprocess
import sys
import time

RATES = (1, 2, 4, 8)
FRAMES, FPS, INTERVAL = 300, 10, 50
# Each mode's own options, and the ending of camrec's file.
MODES = {
    "Files in containers": ([], [], "mkv"),
    "Raw files, never reordered": ([], [], "h264"),
    "Live": (["--latency", "realtime"], ["-tune", "zerolatency"], "h264"),
}


def run(command):
    """Seconds of wall clock."""
    start = time.monotonic()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return time.monotonic() - start


def ours(camrec, source, rate, extra, output):
    return [
        camrec, "--quiet", "--overwrite", "--device", source, "--encoder", "software", "--bitrate", f"{rate}M",
        "--keyframe-interval", str(INTERVAL), *extra, output]


def theirs(source, rate, extra, output):
    # camrec's maximum is four times the average, so its buffer is three seconds long, of which nine tenths of a second
    # are free at first (docs/rates.md). libavcodec gives that as a number of bits.
    return [
        "ffmpeg", "-v", "error", "-nostdin", "-y", "-i", source, "-c:v", "libx264", "-preset", "veryfast", *extra,
        "-b:v", f"{rate}M", "-maxrate", f"{rate}M", "-bufsize", f"{3 * rate}M",
        "-rc_init_occupancy", str(rate * 900_000), "-g", str(INTERVAL), "-keyint_min", str(INTERVAL),
        "-sc_threshold", "0", "-f", "h264", output]


def point(source, output):
    """The stream's Mbit/s and its luma PSNR, of the mean squared error of all pictures."""
    # In whole ticks: a rounded time would be compared with the picture before.
    same = f"settb=1/{FPS},setpts=N"
    graph = f"[0:v]{same}[a];[1:v]{same}[b];[a][b]psnr=stats_file=-"
    text = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", *(["-r", str(FPS), "-f", "h264"] if output.endswith(".h264") else []), "-i", output, "-i", source, "-lavfi", graph,
         "-f", "null", "-"], check=True, capture_output=True, text=True).stdout
    errors = [float(error) for error in re.findall(r"mse_y:([\d.]+)", text)]
    if len(errors) != FRAMES:
        sys.exit(f"bench: {output} has {len(errors)} pictures instead of {FRAMES}")
    return os.path.getsize(output) * 8 * FPS / FRAMES / 1e6, 10 * math.log10(255 ** 2 / statistics.mean(errors))


def interpolated(points):
    """The logarithm of the rate as the cubic of the PSNR that goes through four points."""
    def value(quality):
        total = 0.0
        for rate, at in points:
            weight = 1.0
            for _, other in points:
                if other != at:
                    weight *= (quality - other) / (at - other)
            total += weight * math.log(rate)
        return total
    return value


def bd_rate(tested, reference):
    """How much more bits the first curve needs for the same PSNR, on average, in per cent (VCEG-M33)."""
    low = max(min(quality for _, quality in curve) for curve in (tested, reference))
    high = min(max(quality for _, quality in curve) for curve in (tested, reference))
    middle = (low + high) / 2
    first, second = interpolated(tested), interpolated(reference)
    # Simpson's rule is exact for a cubic.
    mean = sum(weight * (first(q) - second(q)) for weight, q in ((1, low), (4, middle), (1, high))) / 6
    return (math.exp(mean) - 1) * 100


def main():
    camrec, vtest, folder = sys.argv[1:4]
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    source = f"{folder}/vtest-1080p.y4m"
    run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", vtest, "-frames:v", str(FRAMES), "-vf", "scale=1920:1080:flags=bicubic",
         "-pix_fmt", "yuv420p", source])
    theirs_output = f"{folder}/theirs.h264"
    summary = []
    for mode, (for_camrec, for_ffmpeg, ending) in MODES.items():
        print(f"## {mode}\n\n| requested, Mbit/s | camrec, Mbit/s | camrec, dB | ffmpeg, Mbit/s | ffmpeg, dB |\n|---|---|---|---|---|")
        curves = [], []
        output = f"{folder}/ours.{ending}"
        for rate in RATES:
            run(ours(camrec, source, rate, for_camrec, output))
            curves[0].append(point(source, output))
            run(theirs(source, rate, for_ffmpeg, theirs_output))
            curves[1].append(point(source, theirs_output))
            print("| " + " | ".join([str(rate)] + [f"{curve[-1][0]:.3f} | {curve[-1][1]:.2f}" for curve in curves]) + " |", flush=True)
        print()
        summary.append((f"bits for the same PSNR: {mode[0].lower()}{mode[1:]}", f"{bd_rate(*curves):+.2f} %", "+0.5 %"))
    ratios = []
    for turn in range(pairs + 1):
        times = run(ours(camrec, source, 4, [], f"{folder}/ours.mkv")), run(theirs(source, 4, [], theirs_output))
        if turn:
            ratios.append(times[0] / times[1])
    summary.append((f"wall time of an .mkv at 4 Mbit/s, median of {pairs} pairs", f"{statistics.median(ratios):.2f}", "1.02"))
    print("## Against ffmpeg\n\n| what | camrec / ffmpeg | goal |\n|---|---|---|")
    for row in summary:
        print("| " + " | ".join(row) + " |")


main()
