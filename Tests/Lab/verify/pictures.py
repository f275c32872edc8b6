#!/usr/bin/env python3
"""Compares the pictures in a recording with what the source delivered, with an independent conversion.

usage: pictures.py equal STREAM RAW --format FORMAT --size WxH [--still] [--tolerance N] [--psnr DB]
                   [--range limited|full] [--matrix 601|709]
       pictures.py same STREAM OTHER-STREAM [--tolerance N]
       pictures.py numbers STREAM [--block N] [--lost N | --lost-by-report FILE] [--ahead]
       pictures.py follow STREAM FOLDER [--lost N | --lost-by-report FILE] [--ahead]

equal    every decoded picture is the source's picture of the same place (with --still: RAW's only one). FORMAT is a
         V4L2 FourCC or y4m.
same     both recordings have the same pictures.
numbers  the frame numbers in the top left corner go up from 0, except for --lost of them: 16 blocks of N pixels, light
         is 1, the highest bit first. (../webcam: blocks of 1 pixel, in YUYV; the test source: 16.)
follow   each picture looks like one of FOLDER's JPEG files, each the successor of the one before, from the first on, but for --lost.
With --ahead, the source was started before the recording, which begins with any picture.
With --gaps, any number of frames may be missing, as on a machine that is too slow.
With --lost-by-report, camrec's own report says how many frames are missing.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

import numpy


class Different(Exception):
    """The recording does not contain the source's pictures."""


def run(*command):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if result.returncode:
        raise Different(f"{command[0]}: {result.stderr.decode(errors='replace').strip()[-300:]}")
    return result.stdout


def decode(path):
    """The recording's pictures as ffmpeg decodes them: arrays of (Y, U, V)."""
    demuxer = "hevc" if path.endswith((".h265", ".265", ".hevc")) else "h264"
    stream = json.loads(run("ffprobe", "-v", "error", "-f", demuxer, "-show_streams", "-of", "json", path))["streams"][0]
    if stream["pix_fmt"] not in ("yuv420p", "yuvj420p"):
        raise Different(f"the recording is {stream['pix_fmt']}, not 4:2:0 of 8 bits")
    width, height = stream["width"], stream["height"]
    data = run("ffmpeg", "-nostdin", "-v", "error", "-f", demuxer, "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-")
    return width, height, list(planar(data, width, height, 2, 2))


def planar(data, width, height, across, down, order=(0, 1, 2)):
    """Pictures of three planes; chroma is subsampled by `across` and `down`."""
    w, h = -(-width // across), -(-height // down)
    size = width * height + 2 * w * h
    for offset in range(0, len(data) - size + 1, size):
        picture = numpy.frombuffer(data, numpy.uint8, size, offset)
        luma, first, second = numpy.split(picture, [width * height, width * height + w * h])
        planes = (luma.reshape(height, width), first.reshape(h, w), second.reshape(h, w))
        yield tuple(planes[i] for i in order)


def halve_rows(plane):
    """The mean of two rows, rounded up; the last row of an odd height stands alone."""
    plane = plane.astype(numpy.uint16)
    below = numpy.vstack([plane[1::2], plane[-1:]])[: (plane.shape[0] + 1) // 2]
    return ((plane[::2] + below + 1) >> 1).astype(numpy.uint8)


def quarter(plane):
    """The mean of 2x2 samples, in floating point; edges of odd sizes are repeated."""
    plane = numpy.pad(plane.astype(float), ((0, plane.shape[0] & 1), (0, plane.shape[1] & 1)), mode="edge")
    return (plane[::2, ::2] + plane[::2, 1::2] + plane[1::2, ::2] + plane[1::2, 1::2]) / 4


def semiplanar(data, width, height, _, swapped):
    size = width * height * 3 // 2
    for offset in range(0, len(data) - size + 1, size):
        picture = numpy.frombuffer(data, numpy.uint8, size, offset)
        luma, chroma = numpy.split(picture, [width * height])
        pairs = chroma.reshape(height // 2, width // 2, 2)
        yield luma.reshape(height, width), pairs[:, :, int(swapped)], pairs[:, :, int(not swapped)]


def packed(data, width, height, stride, order):
    """4:2:2 in groups of four bytes, whose places of Y, U, Y, V are given by `order`."""
    size = stride * height
    for offset in range(0, len(data) - size + 1, size):
        rows = numpy.frombuffer(data, numpy.uint8, size, offset).reshape(height, stride)[:, : width * 2]
        groups = rows.reshape(height, width // 2, 4)
        luma = groups[:, :, [order.index("y"), order.rindex("y")]].reshape(height, width)
        yield luma, halve_rows(groups[:, :, order.index("u")]), halve_rows(groups[:, :, order.index("v")])


# ITU-T H.273, table 4: the weights of red and blue in luma.
WEIGHTS = {"601": (0.299, 0.114), "709": (0.2126, 0.0722)}


def rgb(data, width, height, stride, layout, options):
    """Packed RGB; `layout` names the bytes of a pixel."""
    kr, kb = WEIGHTS[options.matrix]
    scale, chroma_scale, foot = (1, 1, 0) if options.range == "full" else (219 / 255, 224 / 255, 16)
    size = stride * height
    for offset in range(0, len(data) - size + 1, size):
        rows = numpy.frombuffer(data, numpy.uint8, size, offset).reshape(height, stride)[:, : width * len(layout)]
        pixels = rows.reshape(height, width, len(layout)).astype(float)
        red, green, blue = (pixels[:, :, layout.index(c)] for c in "rgb")
        luma = kr * red + (1 - kr - kb) * green + kb * blue
        u = quarter((blue - luma) / (2 * (1 - kb)))
        v = quarter((red - luma) / (2 * (1 - kr)))
        yield luma * scale + foot, u * chroma_scale + 128, v * chroma_scale + 128


def grey(data, width, height, stride):
    size = stride * height
    neutral = numpy.full((-(-height // 2), -(-width // 2)), 128, numpy.uint8)
    for offset in range(0, len(data) - size + 1, size):
        rows = numpy.frombuffer(data, numpy.uint8, size, offset).reshape(height, stride)
        yield rows[:, :width], neutral, neutral


def y4m(data):
    """YUV4MPEG2, brought to 4:2:0."""
    end = data.index(b"\n")
    header = data[:end].decode().split()
    fields = {f[0]: f[1:] for f in header[1:]}
    width, height, chroma = int(fields["W"]), int(fields["H"]), fields.get("C", "420")
    across, down = {"420": (2, 2), "422": (2, 1), "444": (1, 1)}[chroma[:3]]
    frames = re.sub(b"^FRAME[^\n]*\n", b"", data[end + 1:end + 200])
    size = width * height + 2 * (-(-width // across)) * (-(-height // down))
    skip = len(data[end + 1:end + 200]) - len(frames)
    body, position = [], end + 1 + skip
    while position + size <= len(data):
        body.append(data[position:position + size])
        position += size
        position = data.index(b"\n", position) + 1 if position < len(data) else position
    for luma, u, v in planar(b"".join(body), width, height, across, down):
        if chroma.startswith("422"):
            u, v = halve_rows(u), halve_rows(v)
        elif chroma.startswith("444"):
            u, v = quarter(u), quarter(v)
        yield luma, u, v


def reference(path, options):
    """The source's pictures as 4:2:0 planes."""
    with open(path, "rb") as file:
        data = file.read()
    if options.format == "y4m":
        return list(y4m(data))
    width, height = map(int, options.size.split("x"))
    layouts = {"RGB3": "rgb", "BGR3": "bgr", "BGR4": "bgrx", "XR24": "bgrx", "AR24": "bgra", "RGB4": "xrgb",
               "BX24": "xrgb", "BA24": "argb", "XB24": "rgbx", "RX24": "xbgr"}
    orders = {"YUYV": "yuyv", "UYVY": "uyvy", "YVYU": "yvyu", "VYUY": "vyuy"}
    planes = {"YU12": (0, 1, 2), "YM12": (0, 1, 2), "YV12": (0, 2, 1)}
    name = options.format
    if name in layouts:
        stride = options.stride or width * len(layouts[name])
        pictures = rgb(data, width, height, stride, layouts[name], options)
    elif name in orders:
        pictures = packed(data, width, height, options.stride or width * 2, orders[name])
    elif name in planes:
        pictures = planar(data, width, height, 2, 2, planes[name])
    elif name in ("NV12", "NM12", "NV21"):
        pictures = semiplanar(data, width, height, None, name == "NV21")
    elif name == "GREY":
        pictures = grey(data, width, height, options.stride or width)
    else:
        raise Different(f"no conversion of our own for {name}")
    return list(pictures)


def compare(index, decoded, wanted, options):
    for name, got, want in zip("YUV", decoded, wanted):
        if got.shape != want.shape:
            raise Different(f"picture {index}: {name} is {got.shape[::-1]}, the source's {want.shape[::-1]}")
        difference = numpy.abs(got.astype(float) - want)
        if options.psnr:
            error = numpy.mean(difference ** 2)
            psnr = 99 if error == 0 else 10 * numpy.log10(255 ** 2 / error)
            if psnr < options.psnr:
                raise Different(f"picture {index}: {name} has {psnr:.1f} dB, less than {options.psnr:g}")
        elif numpy.any(difference > options.tolerance):
            y, x = numpy.unravel_index(numpy.argmax(difference), difference.shape)
            raise Different(f"picture {index}: {name} at {x},{y} is {got[y, x]}, the source's {want[y, x]:g}"
                            f" ({numpy.count_nonzero(difference > options.tolerance)} samples differ)")


def equal(options):
    _, _, pictures = decode(options.stream)
    wanted = reference(options.raw, options)
    if not wanted:
        raise Different(f"{options.raw} has no whole picture")
    if not options.still and len(pictures) != len(wanted):
        raise Different(f"{len(pictures)} pictures, the source had {len(wanted)}")
    for index, picture in enumerate(pictures):
        compare(index, picture, wanted[0 if options.still else index], options)
    if not pictures:
        raise Different("there is no picture")
    return f"{len(pictures)} pictures are equal"


def same(options):
    _, _, pictures = decode(options.stream)
    _, _, others = decode(options.raw)
    if len(pictures) != len(others):
        raise Different(f"{len(pictures)} pictures, the other recording has {len(others)}")
    for index, (picture, other) in enumerate(zip(pictures, others)):
        compare(index, picture, other, options)
    if not pictures:
        raise Different("there is no picture")
    return f"{len(pictures)} pictures are the same"


def missing_frames(options, count):
    """How many frames may be missing: a range, for some may be lost after the last of `count` pictures that were written,
    more of them on a machine that is too slow for most."""
    if options.gaps:
        return range(1 << 16)
    if options.lost_by_report is None:
        return range(options.lost, options.lost + 1)
    with open(options.lost_by_report, encoding="utf-8") as file:
        frames = json.load(file)["frames"]
    lost = sum(frames[name] for name in ("droppedByDriver", "corrupt", "droppedByUs", "droppedByEncoder"))
    return range(max(0, lost - 2 - 3 * lost // count), lost + 1)


def check_successors(numbers, count, lost, period=None):
    """The numbers go up from 0 (and round, after `period`), and `lost` are missing of those that `count` pictures have.

    Black pictures have no number, but each stands for a frame.
    """
    if len(numbers) < 2:
        raise Different(f"only {len(numbers)} pictures with something in them")
    if period:
        unrolled = [numbers[0]]
        for a, b in zip(numbers, numbers[1:]):
            unrolled.append(unrolled[-1] + ((b - a - 1) % period) + 1)
        numbers = unrolled
    if any(b <= a for a, b in zip(numbers, numbers[1:])):
        raise Different(f"numbers repeat or go back: {numbers}")
    missing = numbers[-1] + 1 - count
    if period and missing < lost.start:
        # A gap may be longer than the camera's round of pictures, which cannot be seen in their numbers.
        missing += -(-(lost.start - missing) // period) * period
    if missing not in lost:
        raise Different(f"{missing} frames are missing in place of {lost.stop - 1}: {numbers}")
    return f"{len(numbers)} frames from {numbers[0]} to {numbers[-1]}, {missing} missing"


def from_first(found, options, count=1 << 16):
    """The numbers as if the recording began with the first picture of `count`, if it may begin with any."""
    return [(number - found[0]) % count for number in found] if options.ahead and found else found


def number_in(luma, block):
    """The number in the top left corner's sixteen blocks; a block's inner half decides, since one pixel may be coded badly."""
    edge = block // 4
    blocks = luma[:block, :16 * block].reshape(block, 16, block)[edge:block - edge, :, edge:block - edge]
    return sum(int(mean > 125) << (15 - bit) for bit, mean in enumerate(blocks.mean(axis=(0, 2))))


def numbers(options):
    _, _, pictures = decode(options.stream)
    read = [number_in(luma, options.block) for luma, _, _ in pictures if luma.min() != luma.max()]
    return check_successors(from_first(read, options), len(pictures), missing_frames(options, len(pictures)))


def contrast(luma):
    """The picture without its range: full and limited look the same."""
    return (luma - luma.mean()) / luma.std()


def follow(options):
    width, height, pictures = decode(options.stream)
    files = sorted(glob.glob(os.path.join(options.raw, "*.jpg")))
    known = []
    for name in files:
        data = run("ffmpeg", "-nostdin", "-v", "error", "-i", name, "-pix_fmt", "gray", "-f", "rawvideo", "-")
        known.append(contrast(numpy.frombuffer(data, numpy.uint8).reshape(height, width)))
    found = []
    for index, (luma, _, _) in enumerate(pictures):
        if luma.min() == luma.max():
            continue
        shape = contrast(luma)
        errors = [numpy.mean(numpy.abs(shape - picture)) for picture in known]
        best = int(numpy.argmin(errors))
        if errors[best] > options.tolerance:
            raise Different(f"picture {index} looks like none of the camera's: mean difference {errors[best]:.2f}")
        found.append(best)
    return check_successors(
        from_first(found, options, len(known)), len(pictures), missing_frames(options, len(pictures)), len(known))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    equals = commands.add_parser("equal")
    equals.set_defaults(action=equal)
    equals.add_argument("stream")
    equals.add_argument("raw")
    equals.add_argument("--format", required=True)
    equals.add_argument("--size", default="0x0")
    equals.add_argument("--stride", type=int)
    equals.add_argument("--still", action="store_true")
    equals.add_argument("--tolerance", type=float, default=0)
    equals.add_argument("--psnr", type=float)
    equals.add_argument("--range", choices=["limited", "full"], default="limited")
    equals.add_argument("--matrix", choices=["601", "709"], default="601")
    sames = commands.add_parser("same")
    sames.set_defaults(action=same, psnr=None)
    sames.add_argument("stream")
    sames.add_argument("raw")
    sames.add_argument("--tolerance", type=float, default=0)
    counted = commands.add_parser("numbers")
    counted.set_defaults(action=numbers)
    counted.add_argument("stream")
    counted.add_argument("--block", type=int, default=1)
    followed = commands.add_parser("follow")
    followed.set_defaults(action=follow)
    followed.add_argument("stream")
    followed.add_argument("raw")
    for command in (counted, followed):
        command.add_argument("--lost", type=int, default=0)
        command.add_argument("--lost-by-report")
        command.add_argument("--ahead", action="store_true")
        command.add_argument("--gaps", action="store_true")
    followed.add_argument("--tolerance", type=float, default=0.1)
    options = parser.parse_args()
    try:
        print(options.action(options))
    except Different as error:
        print(f"{options.stream}: {error}")
        sys.exit(1)


main()
