#!/usr/bin/env python3
"""Measures whether encoders keep the bit rates they are given, and prints tables in Markdown.

usage: rate.py CAMREC FOLDER [SEEDS] [VTEST]     (scripts/bench calls it)

Tests/Lab/scenes makes the pictures, Tests/Lab/verify/rate.py measures the recordings. VTEST is OpenCV's vtest.avi,
people walking past a camera; without it its rows are left out. Two recordings run at a time. Encoders are those
that camrec lists: libx264 and libx265, and the render nodes of this machine. The emulated GPU is not listed, since the
sizes of what it makes mean nothing.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

import numpy

SCENES, RATE = "Tests/Lab/scenes/scenes.py", "Tests/Lab/verify/rate.py"
PYTHON = "/usr/bin/python3"
NO_ENCODER = 69  # camrec's exit code where an encoder does not have a rate control


@dataclass(frozen=True)
class Source:
    """Pictures: a scene from its seed, or vtest.avi of a size."""
    kind: str
    seed: int
    seconds: int = 0
    size: str = "320x240"
    fps: int = 30

    def __str__(self):
        return f"{self.kind} {self.seed}" if self.seed else self.kind

    def make(self, path, vtest):
        if self.kind == "vtest":
            command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", vtest, "-vf", f"scale={self.size.replace('x', ':')}"]
            command += ["-pix_fmt", "yuv420p", path]
        else:
            command = [PYTHON, SCENES, "--seed", str(self.seed), "--kind", self.kind, "--seconds", str(self.seconds)]
            command += ["--size", self.size, "--fps", str(self.fps), "-o", path]
        subprocess.run(command, check=True)


@dataclass
class Row:
    """Options, what they promise in bit/s, and the pictures they are tried on. Averages are those of `steady` kinds."""
    options: str
    limit: int
    target: int
    sources: list
    window: str = "1s"
    averaged: tuple = ("changing", "noise", "vtest")
    results: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Encoder:
    name: str
    options: tuple
    extension: str


def rows(seeds, vtest):
    both = [Source("changing", seed, 40) for seed in range(1, seeds + 1)]
    both += [Source("switch", seed, 15) for seed in range(1, seeds + 1)]
    changing = [source for source in both if source.kind == "changing"]
    found = [
        Row("--bitrate 2M --max-bitrate 3M", 3_000_000, 2_000_000, both),
        Row("--bitrate 2M --max-bitrate 3M --rate-window 2s", 3_000_000, 2_000_000, both, "2s"),
        # CBR stays within a tenth; the default maximum is four times the average.
        Row("--rate-control cbr --bitrate 2M", 2_200_000, 2_000_000, both),
        Row("--quality 20 --max-bitrate 3M", 3_000_000, 0, both),
        Row("--bitrate 2M", 8_000_000, 2_000_000, changing),
        Row("--bitrate 300k --max-bitrate 450k", 450_000, 300_000, both),
        # One seed's noise is as hard as another's.
        Row("--bitrate 2M", 8_000_000, 2_000_000, [Source("noise", seed, 20) for seed in range(1, min(seeds, 2) + 1)])]
    if vtest:
        found.append(Row("--bitrate 1M", 4_000_000, 1_000_000, [Source("vtest", 0, size="768x576", fps=10)]))
        found.append(Row("--bitrate 200k", 800_000, 200_000, [Source("vtest", 0, size="320x240", fps=10)]))
    return found


def encoders(camrec):
    listed = json.loads(subprocess.run([camrec, "devices", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    found = []
    for entry in listed["encoders"]:
        node = entry.get("node")
        for codec, library, extension in (("H.264", "libx264", "h264"), ("H.265", "libx265", "h265")):
            if not any(profile["codec"] == codec for profile in entry["profiles"]):
                continue
            if node:
                name = f"{os.path.basename(node)}, {entry['driver']}, {codec}"
                found.append(Encoder(name, ("--encoder", "vaapi", "--render-node", node), extension))
            else:
                found.append(Encoder(library, ("--encoder", "software"), extension))
    return found


def pictures_of(path, size):
    """The luma of each picture that ffmpeg decodes."""
    width, height = map(int, size.split("x"))
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-"]
    decoder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    while len(data := decoder.stdout.read(width * height * 3 // 2)) == width * height * 3 // 2:
        yield numpy.frombuffer(data, numpy.uint8, width * height)
    if decoder.wait():
        sys.exit(f"bench: ffmpeg does not decode {path}")


def psnr(recording, source, size):
    """PSNR of luma in dB: of the mean error of all pictures."""
    errors, wanted = [], pictures_of(source, size)
    for picture in pictures_of(recording, size):
        other = next(wanted, None)
        if other is None:
            sys.exit(f"bench: {recording} has more pictures than its source")
        errors.append(numpy.mean((picture.astype(numpy.int16) - other).astype(numpy.int32) ** 2))
    if not errors or next(wanted, None) is not None:
        sys.exit(f"bench: {recording} has fewer pictures than its source")
    return 10 * numpy.log10(255 ** 2 / max(numpy.mean(errors), 1e-9))


def record(camrec, path, source, row, encoder):
    """What RATE measures in a recording, with its PSNR; None if the encoder does not have that rate control."""
    stream = f"{path}.{encoder.extension}"
    command = [camrec, "--quiet", "--device", path, "--no-pace", *encoder.options, *row.options.split(), "--overwrite", stream]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode == NO_ENCODER and encoder.options[1] == "vaapi":
        return None
    if result.returncode:
        sys.exit(f"bench: status {result.returncode} from: {' '.join(command)}\n{result.stderr}")
    measured = subprocess.run(
        [PYTHON, RATE, stream, "--fps", str(source.fps), "--window", row.window, "--json"], stdout=subprocess.PIPE, check=True)
    found = json.loads(measured.stdout)
    if source.kind == "vtest":
        found["psnr"] = psnr(stream, path, source.size)
    os.remove(stream)
    return found


def try_source(camrec, folder, vtest, source, table, tried):
    """Records one source with all options and encoders. Its file is large, and gone afterwards."""
    path = f"{folder}/{source.kind}-{source.seed}-{source.size}.y4m"
    source.make(path, vtest)
    for row in table:
        if source in row.sources:
            for encoder in tried:
                row.results[encoder.name, source] = record(camrec, path, source, row, encoder)
    os.remove(path)
    print(f"bench: {source} is done", file=sys.stderr)


def deviation(value, limit, is_broken):
    """A rate in Mbit/s and how far it is from what was promised; in bold if that is too far."""
    text = f"{value / 1e6:.3f}"
    if limit:
        text += f" ({value / limit - 1:+.1%})"
    return f"**{text}**" if is_broken else text


def print_table(table, tried):
    print("| options | pictures | encoder | limit | worst window | in | lowest average | highest average | PSNR of luma |")
    print("|---|---|---|---:|---:|---|---:|---:|---:|")
    for row in table:
        pictures = " and ".join(dict.fromkeys(s.kind + (" " + s.size if s.kind == "vtest" else "") for s in row.sources))
        for encoder in tried:
            found = [(row.results[encoder.name, source], source) for source in row.sources]
            head = f"| `{row.options}` | {pictures} | {encoder.name} | {row.limit / 1e6:.3f} |"
            if any(result is None for result, _ in found):
                print(head + " not offered | | | | |")
                continue
            worst, where = max(found, key=lambda pair: pair[0]["worstWindow"])
            averages = [result["average"] for result, source in found if source.kind in row.averaged]
            cells = [deviation(worst["worstWindow"], row.limit, worst["worstWindow"] > 1.02 * row.limit), str(where)]
            # Stills do not need their bits; noise and walking people do.
            needs_bits = all(source.kind in ("noise", "vtest") for source in row.sources)
            for average in (min(averages), max(averages)):
                lowest = 0.95 * row.target if needs_bits else 0
                cells.append(deviation(average, row.target, row.target and not lowest <= average <= 1.05 * row.target))
            cells.append(f"{worst['psnr']:.2f} dB" if "psnr" in worst else "")
            print(head + " " + " | ".join(cells) + " |")


def main():
    camrec, folder = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    vtest = sys.argv[4] if len(sys.argv) > 4 else None
    table, tried = rows(seeds, vtest), encoders(camrec)
    # The long ones first, so that both workers end at about the same time.
    sources = {source for row in table for source in row.sources}
    sources = sorted(sources, key=lambda source: (source.kind != "vtest", -source.seconds, source.seed))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(try_source, camrec, folder, vtest, source, table, tried) for source in sources]
        try:
            for job in concurrent.futures.as_completed(jobs):
                job.result()
        except (SystemExit, subprocess.CalledProcessError) as error:
            pool.shutdown(cancel_futures=True)
            sys.exit(str(error))
    print(f"Mbit/s. Seeds 1 to {seeds} of the scenes `changing` (40 s) and `switch` (15 s), 320x240 at 30 pictures a second; steady")
    print("noise for 20 s; vtest.avi at 10 pictures a second. The worst window is the highest rate of all windows of all")
    print("seeds; averages are those of a whole recording, without `switch`. Bold is above the limit by more than 2 %, above")
    print("the average by more than 5 %, or as far below it where the pictures need the bits.")
    print()
    print_table(table, tried)


if __name__ == "__main__":
    main()
