#!/usr/bin/env python3
"""Spoils a recording in one place, as a disk or a faulty writer does.

usage: spoil.py zeros IN OUT PICTURE     a picture's bytes in a container become zeros
       spoil.py block IN OUT PICTURE     what a container has before a picture, and its beginning, become zeros
       spoil.py length IN OUT PICTURE    the first length of a picture in a container is far too large
       spoil.py packed IN OUT PICTURE    a picture of Matroska that is compressed cannot be decompressed
       spoil.py samples IN OUT COUNT     the last chunk of an MP4 has so many samples less
       spoil.py unit IN OUT NUMBER       the length of a NAL unit of an AVCC file is 7 too large
       spoil.py lose IN OUT PICTURE      a picture of a raw stream of H.264, one slice each, is missing
"""
import json
import pathlib
import re
import subprocess
import sys


def packet(path, number):
    said = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_packets", "-of", "json", path],
        capture_output=True, check=True)
    found = json.loads(said.stdout)["packets"][number]
    return int(found["pos"]), int(found["size"])


def without_picture(data, number):
    starts = [match.start() for match in re.finditer(b"\0\0\0\1", data)] + [len(data)]
    pictures, unit = [], b""
    for start, end in zip(starts, starts[1:]):
        unit += data[start:end]
        if data[start + 4] & 31 in (1, 5):
            pictures.append(unit)
            unit = b""
    return b"".join(pictures[:number] + pictures[number + 1:])


def main():
    way, source, target, number = *sys.argv[1:4], int(sys.argv[4])
    data = bytearray(pathlib.Path(source).read_bytes())
    if way == "lose":
        data = without_picture(bytes(data), number)
    elif way == "unit":
        place = 0
        for _ in range(number):
            place += 4 + int.from_bytes(data[place:place + 4], "big")
        data[place:place + 4] = (int.from_bytes(data[place:place + 4], "big") + 7).to_bytes(4, "big")
    elif way == "packed":
        place, _ = packet(source, number)
        # After the track, the time, the flags and zlib's header.
        data[place + 8:place + 10] = bytes(byte ^ 255 for byte in data[place + 8:place + 10])
    elif way == "samples":
        table = data.index(b"stsc")
        last = table + 12 + 12 * (int.from_bytes(data[table + 8:table + 12], "big") - 1)
        data[last + 4:last + 8] = (int.from_bytes(data[last + 4:last + 8], "big") - number).to_bytes(4, "big")
    elif way == "block":
        place, _ = packet(source, number)
        data[place:place + 100] = bytes(100)
    else:
        place, size = packet(source, number)
        data[place:place + (size if way == "zeros" else 4)] = bytes(size) if way == "zeros" else b"\0\x7f\xff\xff"
    pathlib.Path(target).write_bytes(data)


main()
