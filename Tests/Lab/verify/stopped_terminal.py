#!/usr/bin/python3
"""A recording on a terminal that was stopped, as by Ctrl-S: receivers get the stream, and the first
SIGTERM ends the recording.

usage: stopped_terminal.py CAMREC FILE
"""
import pty
import socket
import sys
import termios
import time

from recorder import port_in, recording


def main(camrec, path):
    master, slave = pty.openpty()
    with recording(camrec, path, stdin=slave, stdout=slave, stderr=slave):
        port, _ = port_in(master)
        termios.tcflow(slave, termios.TCOOFF)
        time.sleep(1)  # some of the progress lines
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as receiver:
                if len(receiver.recv(65536)) == 0:
                    sys.exit("the receiver gets nothing")


main(*sys.argv[1:])
