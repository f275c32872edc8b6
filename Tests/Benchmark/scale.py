#!/usr/bin/env python3
"""Measures what many cameras on one machine cost that publish on one RTSP server.

usage: scale.py CAMREC FOLDER [SECONDS]     (scripts/bench calls it)

Prints a table in Markdown: for 1, 5 and 20 test sources of 320x180 at 30 frames a second, what each camrec takes, what
the server takes, and what was lost.
"""
import json
import os
import subprocess
import sys
import time

PORT = 9992
COUNTS = [1, 5, 20]


def memory(process):
    """Megabytes that the process has for itself, and in all."""
    lines = dict(line.split(":", 1) for line in open(f"/proc/{process}/status") if ":" in line)
    return [int(lines[key].split()[0]) / 1024 for key in ("RssAnon", "VmRSS")]


def seconds(process):
    """Of CPU so far."""
    fields = open(f"/proc/{process}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(camrec, folder, count, duration):
    os.mkdir(f"{folder}/{count}")
    server = subprocess.Popen(
        ["/usr/bin/python3", "Tests/Lab/verify/rtsp.py", "serve", str(PORT), f"{folder}/{count}", "h264"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    server.stdout.readline()
    cameras = [
        subprocess.Popen(
            [camrec, "--device", "test", "--size", "320x180", "--fps", "30", "--encoder", "software", "--duration",
             f"{duration}s", "--report", f"{folder}/{count}/{number}.json", "--quiet",
             f"rtsp://127.0.0.1:{PORT}/{number}"], stdin=subprocess.DEVNULL)
        for number in range(1, count + 1)]
    # The start is not the recording; both readings are of everybody.
    time.sleep(duration / 4)
    before, server_before, start = [seconds(camera.pid) for camera in cameras], seconds(server.pid), time.monotonic()
    time.sleep(duration / 2)
    elapsed = time.monotonic() - start
    after, server_after = [seconds(camera.pid) for camera in cameras], seconds(server.pid)
    held = [memory(camera.pid) for camera in cameras]
    for camera in cameras:
        if camera.wait() != 0:
            sys.exit(f"bench: camrec ended with {camera.returncode}")
    server.kill()
    server.wait()
    lost = dropped = encoded = bits = 0
    for number in range(1, count + 1):
        report = json.load(open(f"{folder}/{count}/{number}.json"))
        lost += report["outputs"][0]["lost"]
        dropped += report["frames"]["droppedByUs"]
        encoded += report["frames"]["encoded"]
        bits += report["outputs"][0]["bytes"] * 8
    own = [(b - a) / elapsed * 100 for a, b in zip(before, after)]
    print(f"| {count} | {sum(own) / count:.1f} % | {sum(m[0] for m in held) / count:.1f} MB | "
          f"{sum(m[1] for m in held) / count:.1f} MB | {(server_after - server_before) / elapsed * 100:.0f} % | "
          f"{bits / count / duration / 1e6:.2f} Mbit/s | {dropped} of {encoded + dropped} | {lost} |", flush=True)


camrec, folder = sys.argv[1:3]
duration = int(sys.argv[3]) if len(sys.argv) > 3 else 20
print("| cameras | CPU of each, of one core | own memory of each | memory of each | CPU of the server | stream of each | "
      "frames dropped | frames lost |")
print("|---:|---:|---:|---:|---:|---:|---:|---:|")
for count in COUNTS:
    measure(os.path.abspath(camrec), folder, count, duration)
