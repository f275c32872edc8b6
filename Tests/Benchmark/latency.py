#!/usr/bin/env python3
"""Measures how old a picture is at a receiver's socket, and when it is decoded, for camrec and for others.

usage: latency.py BINARIES BENCHMARK FOLDER [ROUNDS] [publishing | browser]     (scripts/bench calls it, with bare in FOLDER)

Every picture carries its number and the time of its capture, as the live test source draws them. The contenders run
in turn, one round each, and the first second of each round does not count, because connecting is not measured.
"""
import json
import math
import os
import selectors
import socket
import subprocess
import sys
import threading
import time

from display import Screen

PORT = 9990
GPU = ["Tests/Lab/gpu/run", "iHD"]
BROWSER = "camweb, in Chromium"


class Program:
    """A process, and the seconds of CPU that it took."""

    def __init__(self, command, output=subprocess.DEVNULL):
        self.name = " ".join(command)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True)

    def finish(self):
        """Waits for the end; what it wrote to standard output."""
        messages = []
        reader = threading.Thread(target=lambda: messages.append(self.process.stderr.read()))
        reader.start()
        output = self.process.stdout.read() if self.process.stdout else ""
        reader.join()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = usage.ru_utime + usage.ru_stime
        self.messages = messages[0]
        return output

    def check(self):
        if self.process.returncode != 0:
            sys.exit(f"bench: status {self.process.returncode} from: {self.name}\n{self.messages}")


class Crowd:
    """Receivers that throw away what they get, and a last one that never reads."""

    def __init__(self, count):
        self.sockets = [self.connect(is_slow=number == count - 1) for number in range(count)]
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    @staticmethod
    def connect(is_slow):
        for _ in range(500):
            receiver = socket.socket()
            if is_slow:
                receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            if receiver.connect_ex(("127.0.0.1", PORT)) == 0:
                return receiver
            receiver.close()
            time.sleep(0.01)
        sys.exit("bench: nobody listens")

    def run(self):
        selector = selectors.DefaultSelector()
        for receiver in self.sockets[:-1]:
            selector.register(receiver, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.fileobj.recv(1 << 18):
                    selector.unregister(key.fileobj)

    def finish(self):
        self.thread.join()
        for receiver in self.sockets:
            receiver.close()


class Bench:
    def __init__(self, programs, folder, size, rate, frames):
        self.camrec, self.benchmark = f"{programs[0]}/camrec", programs[1]
        self.bare = f"{folder}/bare"
        self.pipe, self.report = f"{folder}/pipe.y4m", f"{folder}/report.json"
        self.size, self.rate, self.frames = size, rate, frames
        width, height = map(int, size.split("x"))
        self.bits = width * height * rate // 10

    def ours(self, device, encoder="software", prefix=()):
        command = [*prefix, self.camrec, "--device", device, "--encoder", encoder, "--frames", str(self.frames)]
        if device == "test":
            command += ["--size", self.size, "--fps", str(self.rate), "--format", "yuv420p"]
        return command + ["--listen", f"127.0.0.1:{PORT}", "--report", self.report, "--overwrite"]

    def ffmpeg(self, encoder, options=(), prefix=()):
        rate = ["-b:v", self.bits, "-maxrate", self.bits * 3 // 2, "-bufsize", self.bits * 3 // 2, "-g", self.rate]
        command = [*prefix, "ffmpeg", "-v", "error", "-nostdin", *options, "-i", self.pipe, *encoder, *map(str, rate)]
        return command + ["-flush_packets", "1", "-f", "h264", f"tcp://127.0.0.1:{PORT}?listen=1"]

    def show(self, screen, player):
        """How old the pictures are that a player shows, from its fifth to its fifteenth second."""
        sender = Program(self.ours("test"))
        time.sleep(1)
        process = subprocess.Popen(
            player, env=screen.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        screen.ages(5)
        ages = screen.ages(10)
        process.terminate()
        process.wait()
        sender.finish()
        sender.check()
        if len(ages) < 50:
            sys.exit(f"bench: {len(ages)} pictures were seen from: {' '.join(player)}")
        return ages

    def simple(self, encoder="libx264", low_power="-", prefix=()):
        return [*prefix, self.bare, self.pipe, f"listen:{PORT}", encoder, low_power]

    def publish(self, command):
        """One round of a contender that publishes on an RTSP server, whose output the receiver gets."""
        server = subprocess.Popen(
            ["/usr/bin/python3", "Tests/Lab/verify/rtsp.py", "serve", str(PORT + 1), f"tcp:{PORT}", "h264"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        server.stdout.readline()
        try:
            return self.run([*command, f"rtsp://127.0.0.1:{PORT + 1}/cam"])
        finally:
            server.kill()
            server.wait()

    def run(self, command, crowd=0):
        """One round of a contender: samples, seconds of CPU, and the report if there is one."""
        if os.path.exists(self.report):
            os.unlink(self.report)
        is_piped = self.pipe in command
        programs = [Program(command)]
        if is_piped:
            programs.append(Program(
                [self.benchmark, "send", self.size, str(self.rate), str(self.frames), self.pipe]))
        receiver = Program([self.benchmark, "receive", str(PORT)], subprocess.PIPE)
        others = Crowd(crowd) if crowd else None
        output = receiver.finish()
        if others:
            others.finish()
        for program in programs:
            program.finish()
        for program in programs + [receiver]:
            program.check()
        samples = [tuple(map(int, line.split())) for line in output.splitlines()]
        if len(samples) < self.frames // 2:
            sys.exit(f"bench: {len(samples)} of {self.frames} pictures came from: {' '.join(command)}")
        report = json.load(open(self.report)) if os.path.exists(self.report) else None
        return [s for s in samples if s[0] >= self.rate], programs[0].seconds, receiver.seconds, report


def percentile(values, part):
    """The smallest value that this fraction of them does not exceed."""
    values = sorted(values)
    return values[max(0, math.ceil(part * len(values)) - 1)]


def figures(samples, column):
    values = [s[column] / 1e6 for s in samples]
    return [percentile(values, 0.5), percentile(values, 0.99), max(values)]


def compare(contenders, rounds):
    """Runs contenders, each a name and a function that runs one round, in turn, and prints a table."""
    results = {name: [] for name, _ in contenders}
    for turn in range(rounds):
        for name, work in contenders:
            results[name].append(work())
            print(f"  {turn + 1}/{rounds} {name}: {figures(results[name][-1][0], 1)}", file=sys.stderr)
    print("| ms | at the socket: median | 99th | maximum | decoded: median | 99th | maximum | pictures | CPU, sender | CPU, receiver |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, rows in results.items():
        samples = [s for row in rows for s in row[0]]
        cells = [f"{value:.1f}" for column in (1, 2) for value in figures(samples, column)]
        seconds = [sum(row[index] for row in rows) / rounds for index in (1, 2)]
        print(f"| {name} | {' | '.join(cells)} | {len(samples)} | {seconds[0]:.2f} s | {seconds[1]:.2f} s |")
    return results


def tell_crowd(rows):
    """What camrec itself reports about the receivers; the last one of the crowd never reads."""
    lags, lost = [], []
    for _, _, _, report in rows:
        receivers = sorted(report["receivers"], key=lambda receiver: receiver["dropped"])
        lags += [receiver["longestLagMilliseconds"] for receiver in receivers[:-1]]
        lost.append(receivers[-1]["dropped"])
        if any(receiver["dropped"] for receiver in receivers[:-1]) or not lost[-1]:
            sys.exit(f"bench: not the slow receiver alone lost pictures: {receivers}")
    print(f"\nThe receiver that never reads lost {max(lost)} pictures in a round, the others none; by camrec's "
          f"report none of theirs waited for more than {max(lags):.2f} ms.")


def take_precedence():
    """Gives everything measured priority over whatever else the machine does, if that is permitted."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except PermissionError:
        return "beside whatever else the machine did"
    return "with real-time priority (SCHED_RR 10)"


def main():
    binaries, benchmark, folder = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    programs = binaries, benchmark
    sys.stdout.reconfigure(line_buffering=True)
    os.mkfifo(f"{folder}/pipe.y4m")
    bench = Bench(programs, folder, "1280x720", 30, 330)
    if sys.argv[5:] == ["browser"]:
        print(f"Everything ran {take_precedence()}.\n\n## In a browser, 1280x720 at 30 pictures a second\n")
        return watch(Bench(programs, folder, "1280x720", 30, 570), binaries, folder, rounds, ["camplay", BROWSER])
    if sys.argv[5:] == ["publishing"]:
        print(f"Everything ran {take_precedence()}.\n\n## Through an RTSP server, 1280x720 at 30 pictures a second\n")
        return publish(bench, rounds)
    print(f"Everything ran {take_precedence()}.\n\n## libx264, 1280x720 at 30 pictures a second\n")
    x264 = ["-c:v", "libx264", "-preset", "veryfast"]
    quick = x264 + ["-tune", "zerolatency", "-threads", "1", "-x264-params", "scenecut=0:sliced-threads=0"]
    early = ["-fflags", "nobuffer", "-probesize", "32", "-analyzeduration", "0"]
    results = compare([
        ("camrec", lambda: bench.run(bench.ours(bench.pipe))),
        ("ffmpeg, zerolatency", lambda: bench.run(bench.ffmpeg(quick, early))),
        ("ffmpeg, its defaults", lambda: bench.run(bench.ffmpeg(x264))),
        ("one program, one client", lambda: bench.run(bench.simple())),
        ("camrec, 16 receivers", lambda: bench.run(bench.ours(bench.pipe), crowd=15)),
    ], rounds)
    tell_crowd(results["camrec, 16 receivers"])
    print("\n## The emulated GPU, 640x480 at 5 pictures a second\n")
    emulated = Bench(programs, folder, "640x480", 5, 60)
    upload = ["-vf", "format=nv12,hwupload", "-c:v", "h264_vaapi", "-low_power", "1", "-rc_mode", "VBR"]
    early = ["-vaapi_device", "/dev/dri/renderD128", *early]
    compare([
        ("camrec", lambda: emulated.run(emulated.ours(emulated.pipe, "vaapi", GPU))),
        ("ffmpeg, -async_depth 1", lambda: emulated.run(emulated.ffmpeg(upload + ["-async_depth", "1"], early, GPU))),
        ("ffmpeg, its defaults", lambda: emulated.run(emulated.ffmpeg(upload, early, GPU))),
        ("one program, one client", lambda: emulated.run(emulated.simple("h264_vaapi", "low_power", GPU))),
    ], rounds)
    print("\n## On the screen\n")
    watch(Bench(programs, folder, "1280x720", 30, 570), binaries, folder, rounds)


def publish(bench, rounds):
    """Through GStreamer's RTSP server, beside ffmpeg's publishing."""
    rate = ["-b:v", str(bench.bits), "-maxrate", str(bench.bits * 3 // 2), "-bufsize", str(bench.bits * 3 // 2), "-g", str(bench.rate)]
    ffmpeg = ["ffmpeg", "-v", "error", "-nostdin", "-fflags", "nobuffer", "-probesize", "32", "-analyzeduration", "0", "-i", bench.pipe]
    x264 = ["-c:v", "libx264", "-preset", "veryfast"]
    quick = x264 + ["-tune", "zerolatency", "-threads", "1", "-x264-params", "scenecut=0:sliced-threads=0"]
    rtsp = ["-flush_packets", "1", "-f", "rtsp", "-rtsp_transport", "tcp"]
    camrec = [bench.camrec, "--device", bench.pipe, "--encoder", "software", "--frames", str(bench.frames)]
    compare([
        ("camrec", lambda: bench.publish([*camrec, "--report", bench.report, "--overwrite"])),
        ("ffmpeg, zerolatency", lambda: bench.publish([*ffmpeg, *quick, *rate, *rtsp])),
        ("ffmpeg, its defaults", lambda: bench.publish([*ffmpeg, *x264, *rate, *rtsp])),
    ], rounds)


def watch(bench, binaries, folder, rounds, names=None):
    """What players show of camrec's stream, with commonly used options and with those of docs/guide/live.md.

    names: only these.
    """
    address = f"tcp://127.0.0.1:{PORT}"
    advice = "-fflags nobuffer -flags low_delay -framedrop -probesize 32768 -f h264 -framerate 30".split()
    gstreamer = f"gst-launch-1.0 tcpclientsrc host=127.0.0.1 port={PORT} ! h264parse ! avdec_h264".split()
    window = "! videoconvert ! autovideosink sync=false".split()
    players = {
        "camplay": [f"{binaries}/camplay", address],
        BROWSER: ["/usr/bin/python3", "Tests/Benchmark/kiosk.py", f"{binaries}/camweb", address],
        "ffplay, options of the guide": ["ffplay", *advice, address],
        "ffplay -f h264": ["ffplay", "-f", "h264", address],
        "GStreamer, pipeline of the guide": [*gstreamer, "max-threads=1", *window],
        "GStreamer, without max-threads=1": [*gstreamer, *window],
    }
    players = {name: player for name, player in players.items() if names is None or name in names}
    results = {name: [] for name in players}
    screen = Screen(folder, *map(int, bench.size.split("x")))
    try:
        for turn in range(rounds):
            for name, player in players.items():
                results[name] += bench.show(screen, player)
                print(f"  {turn + 1}/{rounds} {name}: {len(results[name])} pictures", file=sys.stderr)
    finally:
        screen.end()
    print("| ms | shown: median | 99th | maximum | pictures a second |\n|---|---:|---:|---:|---:|")
    for name, ages in results.items():
        cells = [f"{value:.1f}" for value in figures([(age,) for age in ages], 0)]
        print(f"| {name} | {' | '.join(cells)} | {len(ages) / 10 / rounds:.1f} |")


main()
