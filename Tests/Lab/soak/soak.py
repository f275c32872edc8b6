#!/usr/bin/env python3
"""Records for a long time and watches the recorder's process: memory, descriptors, threads.

usage: soak.py [--short] [--seed N] MINUTES CAMREC FOLDER     (scripts/soak calls it)

One recording in real time, of MINUTES, with everything at once that comes and goes: segments that are removed, receivers,
commands. Meanwhile, one after the other, recordings of an unpaced source, which put many hours of frames through the
same code. --short runs only those, briefly. Prints a table in Markdown; exits 1 if something is wrong.

Flat means, for the last third of the time beside the middle third: the lowest memory is no more than 1 MB above, and the
fewest descriptors and threads are no more, or else their medians. What is kept for ever raises all of these; what comes
and goes may raise one, such as the 8 MB that libavcodec takes for a moment at each IDR of H.265, or the file that is open
while another is begun.
"""
import argparse
import json
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time
from statistics import median_high as median

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEGABYTE = 1 << 20
HEAD = [
    "| recording | frames | hours at 30/s | minutes that it took | memory, MB: before the last third | in it | descriptors | threads | frames not written | |",
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
]
ACCOUNTED = ("encoded", "corrupt", "droppedByUs", "paused", "notWanted", "droppedByEncoder", "unused")


class Recording:
    """A separate camrec in its own folder, sampled until it ends."""

    def __init__(self, name, camrec, folder, arguments, gpu=None):
        # The process has only what it holds: malloc gives large blocks back at once.
        environment = {"MALLOC_MMAP_THRESHOLD_": str(MEGABYTE)}
        self.name, self.folder = name, os.path.join(folder, name)
        os.mkdir(self.folder)
        self.samples = []
        self.gpu_report = os.path.join(self.folder, "gpu.json") if gpu else None
        launcher = [os.path.join(LAB, "gpu", "run"), gpu] if gpu else []
        if gpu:
            environment.update({"FAKEGPU_PICTURES": "cheap", "FAKEGPU_REPORT": self.gpu_report})
        self.process = subprocess.Popen(
            launcher + [camrec, *arguments, "--report", "report.json"], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(self.folder, "stderr"), "wb"),
            env={**os.environ, **environment})

    def sample(self):
        """Memory in bytes that is the process's own (no file's pages), descriptors, threads."""
        root = f"/proc/{self.process.pid}"
        try:
            with open(f"{root}/status", encoding="ascii") as file:
                status = dict(line.split(":", 1) for line in file)
            held = len(os.listdir(f"{root}/fd"))
            self.samples.append((int(status["RssAnon"].split()[0]) * 1024, held, int(status["Threads"])))
        except (OSError, KeyError):
            pass  # it has just ended

    def watch(self, seconds):
        """Samples until the process ends, as often as makes some hundred samples."""
        while True:
            try:
                return self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.sample()

    def highest(self, column):
        """The highest before the last third, and in it."""
        first, middle, last = self.thirds(column)
        return max(first + middle), max(last)

    def compared(self, column, of):
        """What `of` says of the middle third, and of the last."""
        _, middle, last = self.thirds(column)
        return of(middle), of(last)

    def thirds(self, column):
        # The last samples may be of the ending, when the report is open.
        values = [sample[column] for sample in self.samples[:-2]]
        third = len(values) // 3
        return values[:-2 * third], values[-2 * third:-third], values[-third:]

    def faults(self):
        """What is wrong."""
        if self.process.returncode != 0:
            with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as file:
                return [f"exit code {self.process.returncode}: {file.read()[-300:]}"]
        if len(self.samples) < 30:
            return [f"{len(self.samples)} samples are too few"]
        found = []
        before, after = self.compared(0, min)
        if after > before + MEGABYTE:
            found.append(f"memory grew from {before / MEGABYTE:.1f} to {after / MEGABYTE:.1f} MB")
        for column, name in (1, "descriptors"), (2, "threads"):
            (fewest, fewest_after), (usual, usual_after) = self.compared(column, min), self.compared(column, median)
            if fewest_after > fewest and usual_after > usual:
                found.append(f"{name} grew from {usual} to {usual_after}")
        self.report = json.load(open(os.path.join(self.folder, "report.json"), encoding="utf-8"))
        frames = self.report["frames"]
        if frames["captured"] != sum(frames[key] for key in ACCOUNTED):
            found.append(f"the report does not add up: {frames}")
        if frames["written"] == 0:
            found.append("nothing was written")
        if self.gpu_report:
            with open(self.gpu_report, encoding="utf-8") as file:
                left = json.loads(file.readlines()[-1])["devices"][0]["left"]
            if left["total"] != 0:
                found.append(f"left on the GPU: {left}")
        for path in sorted(os.listdir(self.folder)):
            if path.endswith((".h264", ".h265", ".mkv")):
                found += self.undecodable(path)
        return found

    def undecodable(self, path):
        said = subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-i", path, "-fps_mode", "passthrough", "-f", "null", "-"],
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        return [f"{path} does not decode: {said.stderr[-200:]}"] if said.returncode or said.stderr else []

    def row(self, seconds, found):
        frames = self.report["frames"] if not found else {"written": 0, "captured": 0}
        (_, memory), (_, descriptors), (_, threads) = self.highest(0), self.highest(1), self.highest(2)
        before = self.highest(0)[0]
        return (
            f"| {self.name} | {frames['written']:,} | {frames['written'] / 30 / 3600:.1f} | {seconds / 60:.1f} "
            f"| {before / MEGABYTE:.1f} | {memory / MEGABYTE:.1f} | {descriptors} | {threads} "
            f"| {frames['captured'] - frames['written']} | {'; '.join(found) or 'all well'} |")


class Visitors(threading.Thread):
    """Receivers that come, take for a while or take nothing, and go; and orders by the control socket."""

    def __init__(self, recording, camrec, port, seed):
        super().__init__(daemon=True)
        self.recording, self.camrec, self.port = recording, camrec, port
        self.random = random.Random(seed)
        self.visits = self.orders = 0

    def run(self):
        while self.recording.process.poll() is None:
            guests = [self.visit() for _ in range(self.random.randint(1, 4))]
            readers = guests[1:]  # the first takes nothing
            until = time.monotonic() + self.random.uniform(1, 20)
            while time.monotonic() < until and self.recording.process.poll() is None:
                self.take(readers)
            for guest in guests:
                guest.close()
            self.order(self.random.choice(["keyframe", "stats", "bitrate 500k", "bitrate 2M", "pause", "resume"]))
            self.order("resume")

    @staticmethod
    def take(guests):
        """What has arrived, as long as something arrives."""
        for guest in select.select(guests, [], [], 0.5)[0]:
            try:
                ended = not guest.recv(1 << 20)
            except OSError:
                ended = True
            if ended:
                guests.remove(guest)

    def visit(self):
        guest = socket.socket()
        try:
            guest.connect(("127.0.0.1", self.port))
            self.visits += 1
        except OSError:
            pass  # not there yet, or gone already
        return guest

    def order(self, text):
        done = subprocess.run(
            [self.camrec, "ctl", "control", *text.split()], cwd=self.recording.folder, capture_output=True)
        self.orders += done.returncode == 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def unpaced(options):
    """Recordings of a source without a pace: in software, and on both drivers of the emulated GPU, of both codecs."""
    source = ["--device", "test", "--size", "320x240", "--fps", "30", "--no-pace"]
    # Eight hours of frames for each hour of the other recording.
    count = 6000 if options.short else options.minutes * 60 * 30 * 8
    cut = ["--segment", f"{count // 40}f", "--keep", "3"]
    yield "software", [*source, "--encoder", "software", "--frames", str(count), *cut, "a.h264"], None
    for driver in ("radeonsi", "iHD"):
        yield driver, [*source, "--encoder", "vaapi", "--frames", str(count), *cut, "a.h264", "a.h265"], driver


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("minutes", type=int)
    parser.add_argument("camrec")
    parser.add_argument("folder")
    options = parser.parse_args()
    camrec, folder = os.path.abspath(options.camrec), os.path.abspath(options.folder)
    rows, failed = [], False

    def judge(recording, seconds):
        nonlocal failed
        found = recording.faults()
        failed = failed or bool(found)
        rows.append(recording.row(seconds, found))
        print(rows[-1], file=sys.stderr, flush=True)

    start = time.monotonic()
    if not options.short:
        port = free_port()
        live = Recording(
            "in real time", camrec, folder,
            ["--device", "test", "--size", "640x480", "--fps", "30", "--duration", f"{options.minutes}m", "--segment", "1m",
             "--keep", "10", "--sync", "5s", "--listen", str(port), "--control-socket", "control",
             "rec-%Y%m%d-%H%M%S.h264"])
        visitors = Visitors(live, camrec, port, options.seed)
        visitors.start()
        watcher = threading.Thread(target=live.watch, args=(options.minutes * 60 / 300,))
        watcher.start()
    for name, arguments, gpu in unpaced(options):
        began = time.monotonic()
        recording = Recording(name, camrec, folder, arguments, gpu)
        recording.watch(0.02 if options.short else options.minutes / 50)
        judge(recording, time.monotonic() - began)
    if not options.short:
        watcher.join()
        judge(live, time.monotonic() - start)
        rows.append("")
        rows.append(f"{visitors.visits} receivers came, and {visitors.orders} commands were accepted.")
    print("\n".join(HEAD + rows))
    sys.exit(failed)


main()
