#!/usr/bin/env python3
"""Feeds camrec one picture at a time, and the next only when the previous one has come out: no frame is held back.

usage: stepwise.py PICTURES.y4m CODEC DELAY COMMAND...      (the command reads the FIFO given to it as {}, and writes to standard output)

Exits 1 if a picture has not come out after a minute, that is, if more than DELAY pictures are held back.
"""
import os
import re
import select
import subprocess
import sys
import tempfile

PATIENCE = 60
FIRST_SLICES = {"h264": re.compile(rb"\x00\x00\x01[\x01\x21\x41\x61\x05\x25\x45\x65][\x80-\xff]"),
                "hevc": re.compile(rb"\x00\x00\x01[\x00-\x2b]\x01[\x80-\xff]")}


def pictures(path):
    """The header, then each picture with its own."""
    with open(path, "rb") as file:
        header = file.readline()
        size = {word[:1]: int(word[1:]) for word in header.split() if word[:1] in (b"W", b"H")}
        length = size[b"W"] * size[b"H"] * 3 // 2
        yield header
        while line := file.readline():
            yield line + file.read(length)


def main():
    path, codec, delay, command = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    source = pictures(path)
    header = next(source)
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "pictures.y4m")
        os.mkfifo(fifo)
        process = subprocess.Popen([fifo if word == "{}" else word for word in command], stdout=subprocess.PIPE)
        stream, count = b"", 0
        with open(fifo, "wb", buffering=0) as feed:
            feed.write(header)
            for number, picture in enumerate(source):
                feed.write(picture)
                while count < number + 1 - delay:
                    if not select.select([process.stdout], [], [], PATIENCE)[0]:
                        process.kill()
                        sys.exit(f"after {number + 1} pictures only {count} have come out")
                    read = os.read(process.stdout.fileno(), 1 << 20)
                    if not read:
                        sys.exit(f"it ended after {number + 1} pictures")
                    stream += read
                    count = len(FIRST_SLICES[codec].findall(stream))
        process.stdout.read()
        sys.exit(process.wait())


main()
