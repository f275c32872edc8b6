#!/usr/bin/python3
"""Checks the rows of an H.264 stream's coded pictures that are not shown: they are the same grey in all.

usage: margin.py FILE HEIGHT      HEIGHT: of what is shown
"""
import subprocess
import sys

import numpy

file, shown = sys.argv[1], int(sys.argv[2])
# Without its cropping the stream shows all that is coded.
ffmpeg = ["ffmpeg", "-nostdin", "-v", "error"]
uncropped = [*ffmpeg, "-i", file, "-c", "copy", "-bsf:v", "h264_metadata=crop_bottom=0", "-f", "h264", "-"]
copy = subprocess.run(uncropped, check=True, stdout=subprocess.PIPE).stdout
decode = [*ffmpeg, "-f", "h264", "-i", "-", "-pix_fmt", "gray", "-f", "rawvideo", "-"]
raw = subprocess.run(decode, input=copy, check=True, stdout=subprocess.PIPE).stdout
probe = ["ffprobe", "-v", "error", "-f", "h264", "-show_entries", "stream=width,height", "-of", "csv=p=0", "-"]
size = subprocess.run(probe, input=copy, check=True, stdout=subprocess.PIPE).stdout.decode().split(",")
width, height = int(size[0]), int(size[1])
if height <= shown:
    sys.exit(f"{height} rows are coded, and {shown} shown")
rows = numpy.frombuffer(raw, numpy.uint8).reshape(-1, height, width)[:, shown:, :]
if rows.min() < 120 or rows.max() > 136:
    sys.exit(f"{len(rows)} pictures: what is not shown has values from {rows.min()} to {rows.max()}")
print(f"{len(rows)} pictures, whose {height - shown} last rows are grey")
