#!/usr/bin/python3
"""A recording whose clients want more descriptors than it may have: its files lose nothing, and clients are refused.

usage: crowded_descriptors.py CAMREC LIMIT FRAMES FILE REPORT
"""
import os
import resource
import socket
import subprocess
import sys
import threading

from recorder import port_in

CLIENTS = 95


def main(camrec, limit, frames, file, report):
    limit = int(limit)
    recorder = subprocess.Popen(
        [camrec, "--device", "test", "--encoder", "software", "--size", "320x240", "--fps", "30", "--frames", frames,
         "--segment", "1s", "--listen", "0", "--max-clients", "100", "--verbose", "--report", report, file],
        stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
    port, said = port_in(recorder.stderr.fileno())
    clients = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(CLIENTS)]
    served = []

    def receive(client):
        count = 0
        try:
            while some := client.recv(1 << 16):
                count += len(some)
        except ConnectionError:
            pass
        if count:
            served.append(count)

    threads = [threading.Thread(target=receive, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    while some := os.read(recorder.stderr.fileno(), 4096):
        said += some
    status = recorder.wait(timeout=60)
    for thread in threads:
        thread.join()
    if status:
        sys.exit(f"status {status}: {said.decode(errors='replace')[-800:]}")
    if b"was refused: too many open files" not in said or b"raise 'ulimit -n'" not in said:
        sys.exit(f"nobody is refused: {said.decode(errors='replace')[:800]}")
    if not served:
        sys.exit("no client is served")
    if len(served) >= CLIENTS:
        sys.exit("all clients are served")


main(*sys.argv[1:])
