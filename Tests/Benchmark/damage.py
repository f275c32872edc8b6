#!/usr/bin/env python3
"""Measures how much damage camplay notices: flips single bits in slice data, and compares what it plays with the intact stream's pictures.

usage: damage.py CAMPLAY FOLDER FLIPS [STREAM LEAST]
Prints a table in Markdown, with FLIPS per row, the same ones each time. With one STREAM only, fails if less than
LEAST percent were noticed.

For each flip, camplay either plays the pictures of the intact stream (harmless), reports a loss (noticed; and whether wrong
pictures were shown anyway), or silently shows wrong pictures (missed).
"""
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys

SOURCE = "testsrc2=s=320x240:r=25,noise=alls=8:allf=t+u:all_seed=1"
X265 = "log-level=none:keyint=25:min-keyint=25:scenecut=0:repeat-headers=1"
STREAMS = {
    "H.264, CABAC": ("h264", ["libx264", "-bf", "0", "-g", "25"]),
    "H.264, CABAC, 4 slices": ("h264", ["libx264", "-bf", "0", "-g", "25", "-slices", "4"]),
    "H.264, CABAC, B pictures": ("h264", ["libx264", "-bf", "2", "-g", "25"]),
    "H.264, CAVLC": ("h264", ["libx264", "-bf", "0", "-g", "25", "-coder", "cavlc"]),
    "H.265": ("hevc", ["libx265", "-x265-params", f"{X265}:bframes=0:wpp=0"]),
    "H.265, wavefronts": ("hevc", ["libx265", "-x265-params", f"{X265}:bframes=0:wpp=1"]),
    "H.265, B pictures": ("hevc", ["libx265", "-x265-params", f"{X265}:bframes=2:wpp=0"]),
    "H.265, 1280x720": ("hevc", ["libx265", "-s", "1280x720", "-b:v", "3M", "-x265-params", f"{X265}:bframes=0:wpp=0"]),
    "H.265, with hashes": ("hevc", ["libx265", "-x265-params", f"{X265}:bframes=0:wpp=0:hash=1"]),
}


def make(folder, name, codec, options):
    path = os.path.join(folder, re.sub(r"\W+", "-", name) + "." + codec)
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", SOURCE, "-frames:v", "50", "-pix_fmt", "yuv420p",
                    "-b:v", "600k", "-threads", "1", "-c:v", *options, "-f", codec, path], check=True)
    return path


def slices(data, codec):
    """The positions of slices' bytes after their first 8: a damaged header is found in other ways."""
    places = []
    starts = [match.end() for match in re.finditer(b"\0\0\1", data)]
    for start, end in zip(starts, starts[1:] + [len(data) + 3]):
        kind = data[start] & 31 in (1, 5) if codec == "h264" else data[start] >> 1 & 63 < 32
        if kind and end - 4 > start + 8:
            places.append(range(start + 8, end - 4))
    return places


def play(camplay, path, codec, folder):
    """The pictures' hashes, and the report."""
    report = path + ".json"
    if os.path.exists(report):
        os.unlink(report)
    ran = subprocess.run([camplay, "--quiet", "--no-window", "--decoder", "software", "--codec", codec, "--output", "-", "--report", report, path],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=60)
    # A crash notices nothing.
    if ran.returncode not in (0, 65):
        raise SystemExit(f"camplay ended with status {ran.returncode} at {path}")
    pictures = ran.stdout.split(b"FRAME\n")[1:]
    if not os.path.exists(report):
        return pictures, {"losses": 1}
    with open(report, encoding="utf-8") as file:
        return pictures, json.load(file)


def flip(camplay, folder, name, codec, whole, wanted, number):
    random_ = random.Random(f"{name} {number}")
    place = random_.choice(slices(whole, codec))
    data = bytearray(whole)
    data[random_.choice(place)] ^= 1 << random_.randrange(8)
    path = os.path.join(folder, f"{os.getpid()}-{number}.{codec}")
    with open(path, "wb") as file:
        file.write(data)
    pictures, report = play(camplay, path, codec, folder)
    os.unlink(path)
    known = set(wanted)
    wrong = sum(picture not in known for picture in pictures)
    short = len(pictures) < len(wanted)
    if report["losses"]:
        return "shown" if wrong else "noticed"
    if wrong:
        return "missed"
    return "silent" if short else "harmless"


def main():
    camplay, folder, flips = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print("| stream | harmless | noticed | … after wrong pictures | missed | pictures gone in silence | noticed, of what harmed |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    rate = None
    only, least = sys.argv[4:] or (None, 0)
    for name, (codec, options) in STREAMS.items():
        if only not in (None, name):
            continue
        path = make(folder, name, codec, options)
        with open(path, "rb") as file:
            whole = file.read()
        wanted, report = play(camplay, path, codec, folder)
        assert len(wanted) == 50 and report["losses"] == 0, (name, len(wanted), report)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(lambda number: flip(camplay, folder, name, codec, whole, wanted, number), range(flips)))
        count = {end: ends.count(end) for end in ("harmless", "noticed", "shown", "missed", "silent")}
        noticed, harmed = count["noticed"] + count["shown"], flips - count["harmless"]
        rate = 100 * noticed / max(1, harmed)
        print(f"| {name} | {count['harmless']} | {noticed} | {count['shown']} | {count['missed']} | {count['silent']} | "
              f"{rate:.1f} % |", flush=True)
    sys.exit(rate is None or rate < float(least))


main()
