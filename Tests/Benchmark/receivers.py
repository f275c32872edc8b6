"""Compares builds of camrec that serve many receivers: CPU, and how late pictures reach one of them.

usage: receivers.py RECEIVERS ROUNDS CAMREC...

The builds take turns. Lateness is the time by which a picture arrives after the earliest one of its run,
on a grid of 30 pictures a second; the other receivers read in a process of their own.
"""
import json
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
    """One receiver, and when its pictures arrived."""
    receiver, times = socket.create_connection(("127.0.0.1", port)), []
    while receiver.recv(1 << 20):
        times.append(time.monotonic())
    queue.put(times)


def lateness(times):
    """Milliseconds, sorted; the first second is left out."""
    times = [moment for moment in times if times[0] + 1 < moment < times[-1] - 0.2]
    offsets = [moment - round((moment - times[0]) * RATE) / RATE for moment in times]
    return sorted((offset - min(offsets)) * 1e3 for offset in offsets)


def run(camrec, count, folder):
    """Seconds of CPU, and the median and the 99th percentile of lateness."""
    command = [camrec, "--device", "test", "--size", "320x240", "--fps", str(RATE), "--encoder", "software",
               "--listen", "127.0.0.1:0", "--max-clients", "1000", "--duration", "8s", "--verbose",
               "--report", f"{folder}/report.json", "--overwrite"]
    sender = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    port = next(int(line.rsplit(":", 1)[1]) for line in sender.stderr if "listening on" in line)
    queue = multiprocessing.Queue()
    readers = [multiprocessing.Process(target=read_all, args=(port, count - 1))]
    readers[0].start()
    time.sleep(1.5)
    readers.append(multiprocessing.Process(target=note_times, args=(port, queue)))
    readers[1].start()
    times = queue.get(timeout=30)
    sender.stderr.read()
    _, status, usage = os.wait4(sender.pid, 0)
    for reader in readers:
        reader.join()
    with open(f"{folder}/report.json") as report:
        if status or json.load(report)["outputs"][0]["receivers"] != count:
            sys.exit(f"receivers: {camrec} did not serve {count} receivers")
    late = lateness(times)
    return usage.ru_utime + usage.ru_stime, statistics.median(late), late[int(len(late) * 0.99)]


def main():
    count, rounds, builds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    results = {camrec: [] for camrec in builds}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            for camrec in builds if turn % 2 else builds[::-1]:
                results[camrec].append(run(camrec, count, folder))
    print("| build | CPU | late: median | 99th |\n|---|---:|---:|---:|")
    for camrec, rows in results.items():
        cpu, median, high = (statistics.median(column) for column in zip(*rows))
        print(f"| {camrec} | {cpu:.2f} s | {median:.2f} ms | {high:.2f} ms |")


main()
