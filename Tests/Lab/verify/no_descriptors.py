#!/usr/bin/python3
"""A recording that has no descriptors left: clients that send a command wait, and are answered when there are some.

usage: no_descriptors.py CAMREC
"""
import json
import os
import resource
import socket
import subprocess
import sys

from recorder import port_in, recording

SPARE = 12  # descriptors for receivers, beside those that the recording has


def main(camrec):
    with recording(camrec, "--max-clients", "64", "--control-socket", "full", "--verbose",
                   stderr=subprocess.PIPE) as recorder:
        port, said = port_in(recorder.stderr.fileno())
        first = socket.create_connection(("127.0.0.1", port), timeout=5)  # closed, it would leave its descriptor
        first.recv(1)  # everything is open by now
        used = len(os.listdir(f"/proc/{recorder.pid}/fd"))
        resource.prlimit(recorder.pid, resource.RLIMIT_NOFILE, (used + SPARE, used + SPARE))
        receivers = [socket.create_connection(("127.0.0.1", port), timeout=5) for _ in range(2 * SPARE)]
        while b"a receiver has to wait" not in said:
            said += os.read(recorder.stderr.fileno(), 4096)
        with socket.socket(socket.AF_UNIX) as order:
            order.connect("full")
            order.sendall(b"stats\n")
            order.settimeout(1)
            try:
                sys.exit(f"answered without a descriptor: {order.recv(100)}")
            except TimeoutError:
                pass
            for receiver in receivers:
                receiver.close()
            order.settimeout(10)
            answer = b""
            while not answer.endswith(b"\n"):
                answer += order.recv(65536)
            if not json.loads(answer)["ok"]:
                sys.exit(f"{answer}")


main(*sys.argv[1:])
