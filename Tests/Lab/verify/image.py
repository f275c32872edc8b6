#!/usr/bin/python3
"""Judges a snapshot: JPEG or PNG, with its metadata.

usage: image.py FILE [--size WxH] [--model NAME] [--near SECONDS] [--tables] [--exposure SECONDS] [--iso N]

Parses the file, whose structure must be sound to its last byte, and its Exif, and lets ffmpeg decode it without a
complaint. --near: the time of capture is at most so many seconds ago. --tables: every Huffman table that a scan uses
precedes it.
"""

import argparse
import datetime
import struct
import subprocess
import sys
import zlib


class Flaw(Exception):
    """What is wrong with the file."""


def require(condition, flaw):
    if not condition:
        raise Flaw(flaw)


def exif(tiff):
    """Tag: value, of a little-endian TIFF file and its Exif directory."""
    require(tiff[:4] == b"II*\0", "no TIFF header")
    fields = {}
    pending = [struct.unpack_from("<I", tiff, 4)[0]]
    while pending:
        place = pending.pop()
        count, = struct.unpack_from("<H", tiff, place)
        tags = []
        for entry in range(count):
            tag, kind, number, _ = struct.unpack_from("<HHII", tiff, place + 2 + 12 * entry)
            length = number * {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1}[kind]
            start = place + 2 + 12 * entry + 8
            if length > 4:
                start, = struct.unpack_from("<I", tiff, start)
            value = tiff[start:start + length]
            require(len(value) == length, f"tag {tag:x} is cut off")
            if kind == 2:
                require(value[-1:] == b"\0" and b"\0" not in value[:-1], f"tag {tag:x} is not a text")
                fields[tag] = value[:-1].decode()
            elif kind in (3, 4):
                fields[tag], = struct.unpack("<H" if kind == 3 else "<I", value)
            elif kind == 5:
                above, below = struct.unpack("<II", value)
                fields[tag] = above / below
            else:
                fields[tag] = value
            tags.append(tag)
            if tag == 0x8769:
                pending.append(fields[tag])
        require(tags == sorted(set(tags)), "tags out of order")
        require(struct.unpack_from("<I", tiff, place + 2 + 12 * count)[0] == 0, "a second directory")
    return fields


def jpeg(data):
    """Size, TIFF, and the tables that scans lack."""
    require(data[:2] == b"\xff\xd8", "no start of a JPEG")
    place, size, tiff, tables, lacking, first = 2, None, None, set(), set(), None
    while True:
        require(data[place:place + 1] == b"\xff", f"no marker at {place}")
        marker = data[place + 1]
        if marker == 0xD9:
            break
        length, = struct.unpack_from(">H", data, place + 2)
        content = data[place + 4:place + 2 + length]
        require(len(content) == length - 2, f"segment {marker:x} is cut off")
        first = first or marker
        if marker == 0xE1 and content[:6] == b"Exif\0\0":
            require(tiff is None, "two segments of Exif")
            tiff = content[6:]
        if marker == 0xC4:
            at = 0
            while at < len(content):
                tables.add(content[at])
                at += 17 + sum(content[at + 1:at + 17])
            require(at == len(content), "damaged Huffman tables")
        if marker in (0xC0, 0xC1, 0xC2):
            height, width = struct.unpack_from(">HH", content, 1)
            size = (width, height)
        place += 2 + length
        if marker == 0xDA:
            for component in range(content[0]):
                use = content[2 + 2 * component]
                lacking |= {use >> 4, 0x10 | use & 15} - tables
            while not (data[place:place + 1] == b"\xff" and data[place + 1] not in (0, *range(0xD0, 0xD8))):
                place += 1
                require(place + 1 < len(data), "no end marker")
    require(place + 2 == len(data), f"{len(data) - place - 2} bytes after the end")
    require(first == 0xE1, "Exif is not the first segment")
    return size, tiff, lacking


def png(data):
    """Size and TIFF."""
    require(data[:8] == b"\x89PNG\r\n\x1a\n", "no start of a PNG")
    place, size, tiff = 8, None, None
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        content = data[place + 8:place + 8 + length]
        checksum, = struct.unpack_from(">I", data, place + 8 + length)
        require(zlib.crc32(kind + content) == checksum, f"the checksum of {kind} is wrong")
        if kind == b"IHDR":
            size = struct.unpack_from(">II", content)
        if kind == b"eXIf":
            tiff = content
        place += 12 + length
    require(kind == b"IEND" and place == len(data), "no end")
    return size, tiff


def captured(fields):
    """When the picture was captured, in seconds."""
    text = f"{fields[0x9003]}.{fields[0x9291]}{fields[0x9011]}"
    return datetime.datetime.strptime(text, "%Y:%m:%d %H:%M:%S.%f%z").timestamp()


def judge(given):
    with open(given.file, "rb") as file:
        data = file.read()
    if data[:1] == b"\xff":
        size, tiff, lacking = jpeg(data)
        require(not given.tables or not lacking, f"tables {lacking} are missing")
    else:
        size, tiff = png(data)
    require(tiff is not None, "no Exif")
    fields = exif(tiff)
    require((fields[0xA002], fields[0xA003]) == size, f"{size}, but Exif says otherwise")
    if given.size:
        require(f"{size[0]}x{size[1]}" == given.size, f"{size} in place of {given.size}")
    if given.model:
        require(fields[0x0110] == given.model, f"model '{fields[0x0110]}'")
    if given.near:
        age = datetime.datetime.now().timestamp() - captured(fields)
        require(0 <= age <= given.near, f"captured {age:.3f} s ago")
    if given.exposure:
        require(0x829A in fields and abs(fields[0x829A] / given.exposure - 1) < 0.01, f"exposure {fields.get(0x829A)}")
    if given.iso:
        require(fields.get(0x8827) == given.iso, f"ISO {fields.get(0x8827)}")
    decoded = subprocess.run(
        ("ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", given.file, "-f", "null", "-"),
        capture_output=True, text=True, check=False)
    # Of the smallest pictures ffmpeg overlooks the end marker, which was looked for above.
    known = ("deprecated pixel format", "EOI missing, emulating")
    complaints = [line for line in decoded.stderr.splitlines() if not any(text in line for text in known)]
    require(decoded.returncode == 0 and not complaints, f"ffmpeg: {complaints}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--size")
    parser.add_argument("--model")
    parser.add_argument("--near", type=float)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--exposure", type=float)
    parser.add_argument("--iso", type=int)
    given = parser.parse_args()
    try:
        judge(given)
    except (Flaw, KeyError, struct.error, ValueError, IndexError) as flaw:
        sys.exit(f"{given.file}: {type(flaw).__name__}: {flaw}")


main()
