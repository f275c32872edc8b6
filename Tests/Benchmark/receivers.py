"""Compares builds of camrec that serve many receivers: CPU, and how much later the last gets a picture than the first.

usage: receivers.py RECEIVERS ROUNDS CAMREC...

The builds take turns. The stream is noise at 2 Mbit/s and 30 pictures a second. The first and the last receiver to
connect read in processes of their own, all others in another.
"""
import json
import math
import multiprocessing
import os
import resource
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time

RATE = 30


def read_all(port, count):
    """The crowd: takes the stream with many sockets until each has ended."""
    poller, sockets = select.epoll(), {}
    for _ in range(count):
        receiver = socket.create_connection(("127.0.0.1", port))
        receiver.setblocking(False)
        sockets[receiver.fileno()] = receiver
        poller.register(receiver, select.EPOLLIN)
    while sockets:
        for descriptor, _ in poller.poll(0.5):
            try:
                data = sockets[descriptor].recv(65536)
            except BlockingIOError:
                continue
            except ConnectionError:
                data = b""
            if not data:
                poller.unregister(descriptor)
                sockets.pop(descriptor).close()


def note_times(port, queue):
    """One receiver, and when the pictures began to arrive: after 10 ms without anything."""
    receiver, times = socket.create_connection(("127.0.0.1", port)), []
    latest = 0.0
    while receiver.recv(1 << 20):
        now = time.monotonic()
        if now - latest > 0.01:
            times.append(now)
        latest = now
    queue.put(times)


def lags(first, last):
    """By how many milliseconds each picture came later to the last, sorted; the first second is left out."""
    first, last = iter(first), [moment for moment in last if last[0] + 1 < moment < last[-1] - 0.2]
    found, candidate, following = [], next(first), next(first)
    for moment in last:
        # The same picture: pictures are 33 ms apart, and the last receiver may also be the earlier one.
        while following <= moment + 0.01:
            candidate, following = following, next(first, math.inf)
        found.append((moment - candidate) * 1e3)
    return sorted(found)


def run(camrec, count, folder):
    """Seconds of CPU, and the median and the 99th percentile of the lags."""
    command = [camrec, "--device", f"{folder}/noise.y4m", "--pace", "--bitrate", "2M", "--encoder", "software",
               "--listen", "127.0.0.1:0", "--max-clients", "1000", "--verbose",
               "--report", f"{folder}/report.json", "--overwrite"]
    sender = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    port = next(int(line.rsplit(":", 1)[1]) for line in sender.stderr if "listening on" in line)
    queues = [multiprocessing.Queue(), multiprocessing.Queue()]
    readers = [multiprocessing.Process(target=note_times, args=(port, queues[0]))]
    readers[0].start()
    time.sleep(0.5)
    readers.append(multiprocessing.Process(target=read_all, args=(port, count - 2)))
    readers[1].start()
    time.sleep(1.5)
    readers.append(multiprocessing.Process(target=note_times, args=(port, queues[1])))
    readers[2].start()
    first, last = (queue.get(timeout=60) for queue in queues)
    sender.stderr.read()
    _, status, usage = os.wait4(sender.pid, 0)
    for reader in readers:
        reader.join()
    with open(f"{folder}/report.json") as report:
        if status or json.load(report)["outputs"][0]["receivers"] != count:
            sys.exit(f"receivers: {camrec} did not serve {count} receivers")
    late = lags(first, last)
    return usage.ru_utime + usage.ru_stime, statistics.median(late), late[int(len(late) * 0.99)]


def main():
    count, rounds, builds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    results = {camrec: [] for camrec in builds}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", f"color=gray:size=320x240:rate={RATE}",
             "-vf", "noise=alls=100:allf=t", "-pix_fmt", "yuv420p", "-t", "10", f"{folder}/noise.y4m"], check=True)
        for turn in range(rounds):
            for camrec in builds if turn % 2 else builds[::-1]:
                results[camrec].append(run(camrec, count, folder))
    print("| build | CPU | later: median | 99th |\n|---|---:|---:|---:|")
    for camrec, rows in results.items():
        cpu, median, high = (statistics.median(column) for column in zip(*rows))
        print(f"| {camrec} | {cpu:.2f} s | {median:.2f} ms | {high:.2f} ms |")


main()
