#!/usr/bin/python3
"""A recording on a terminal that takes nothing any more, as after Ctrl-S: receivers get the stream, and the first
SIGTERM ends the recording.

usage: stopped_terminal.py CAMREC FILE
"""
import os
import pty
import re
import socket
import subprocess
import sys
import termios
import time


def port_of(master):
    said = b""
    while not (found := re.search(rb"listening on .*:(\d+)", said)):
        said += os.read(master, 4096)
    return int(found[1])


def main(camrec, path):
    master, slave = pty.openpty()
    recorder = subprocess.Popen(
        [camrec, "--device", "test", "--encoder", "software", "--size", "320x240", "--duration", "60s", "--listen", "0", path],
        stdin=slave, stdout=slave, stderr=slave)
    try:
        port = port_of(master)
        termios.tcflow(slave, termios.TCOOFF)
        time.sleep(1)  # some of the progress lines
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as receiver:
                if len(receiver.recv(65536)) == 0:
                    sys.exit("the receiver gets nothing")
        recorder.terminate()
        if status := recorder.wait(timeout=10):
            sys.exit(f"status {status}")
    finally:
        recorder.kill()


main(*sys.argv[1:])
