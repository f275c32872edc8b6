#!/usr/bin/env python3
"""Makes moving pictures that are hard on rate control; the same seed gives the same pictures on every machine.

usage: scenes.py --seed N [--kind KIND] [--size WxH] [--fps F] [--seconds S | --frames N] [--format y4m|yuyv|yu12]
                 [--sensor-noise yes|no|random] [--pace] [--show-time] [-o FILE|DEVICE|-]

KIND is one of
    still      a textured picture that does not move
    pan        a slow pan over a larger picture, in eighths of a pixel
    figures    textured figures that walk in front of a background
    noise      every sample at random, in luma and chroma, in every picture
    cuts       another place every few pictures
    fades      to black, and from black to another place
    flashes    a still with flashes of one or two pictures
    changing   all of these in random order, for a few pictures to several seconds each; noise often begins on
               a multiple of the frame rate or one picture before
    switch     stills and noise in turn, which is the worst case for a rate

Every picture has its number in the top left corner, as the test source draws it: `pictures.py numbers STREAM --block
16` reads it from a recording. Pictures that are too narrow for 16 blocks of 16 pixels have smaller ones; --verbose
says which. With --show-time the time of writing is in the bottom left corner, as in a live test source's pictures.

The numbers come from PCG64's raw output and everything else is integer arithmetic, so the bytes do not depend on
the machine or on numpy's version. With --pace the pictures are written in real time. A V4L2 output device such as
v4l2loopback's gets its format from here.
"""
import argparse
import fcntl
import os
import stat
import struct
import sys
import time
from fractions import Fraction

import numpy

BLACK, WHITE, NEUTRAL = 16, 235, 128


class Random:
    """Random integers that are the same everywhere: numpy promises it of the raw output only."""

    def __init__(self, seed):
        self.bits = numpy.random.PCG64(seed)

    def between(self, low, high):
        """An integer of low to high, both included."""
        return low + int(self.bits.random_raw()) % (high - low + 1)

    def pick(self, choices):
        return choices[self.between(0, len(choices) - 1)]

    def shuffled(self, items):
        items = list(items)
        for index in range(len(items) - 1, 0, -1):
            other = self.between(0, index)
            items[index], items[other] = items[other], items[index]
        return items

    def bytes(self, count):
        return self.bits.random_raw((count + 7) // 8).astype("<u8").view(numpy.uint8)[:count]

    def levels(self, shape, low, high):
        """Uniform samples of low to high, both included."""
        words = self.bytes(2 * shape[0] * shape[1]).view("<u2").astype(numpy.uint32)
        return (low + (words * numpy.uint32(high - low + 1) >> numpy.uint32(16))).astype(numpy.uint8).reshape(shape)


def spread(grid, factor):
    """Bilinear interpolation between a grid's values, which wraps around; the result is factor² times as large."""
    steps = numpy.arange(factor, dtype=numpy.int32)
    for axis in (0, 1):
        following = numpy.roll(grid, -1, axis)
        shape = (1, factor, 1) if axis == 0 else (1, 1, factor)
        here, there = numpy.expand_dims(grid, axis + 1), numpy.expand_dims(following, axis + 1)
        mixed = here * (factor - steps.reshape(shape)) + there * steps.reshape(shape)
        size = list(grid.shape)
        size[axis] *= factor
        grid = mixed.reshape(size)
    return grid


def texture(random, height, width, octaves):
    """Values around 0 whose detail decreases with its fineness, as in natural pictures."""
    total = numpy.zeros((height, width), numpy.int32)
    for factor, amplitude in octaves:
        rows, columns = -(-height // factor), -(-width // factor)
        grid = random.bytes(rows * columns).reshape(rows, columns).astype(numpy.int32) - 128
        total += (spread(grid, factor) // (factor * factor))[:height, :width] * amplitude // 128
    return total


class World:
    """A large still picture with texture at all scales and hard edges; places in it are what a camera sees."""

    # The side of the cells, and how far the values go. Together they stay within the range after clipping.
    LUMA = ((128, 40), (64, 30), (32, 24), (16, 20), (8, 17), (4, 14), (2, 12), (1, 8))
    CHROMA = ((64, 40), (32, 24), (16, 12), (8, 6), (4, 3))

    def __init__(self, random, width, height):
        self.width, self.height = 2 * width, 2 * height
        planes = [texture(random, self.height, self.width, self.LUMA) + 125]
        planes += [texture(random, self.height // 2, self.width // 2, self.CHROMA) + NEUTRAL for _ in "uv"]
        for _ in range(60):
            w = random.between(4, max(5, width // 4)) * 2
            h = random.between(4, max(5, height // 4)) * 2
            x, y = random.between(0, self.width - w) & ~1, random.between(0, self.height - h) & ~1
            planes[0][y:y + h, x:x + w] += random.between(-50, 50)
            for plane in planes[1:]:
                plane[y // 2:(y + h) // 2, x // 2:(x + w) // 2] += random.between(-25, 25)
        # The margins are for a sensor's noise.
        self.planes = [numpy.clip(plane, 20, 230).astype(numpy.uint8) for plane in planes]

    def view(self, x, y, width, height):
        """What is at x, y, in eighths of a luma sample."""
        luma = self.sampled(self.planes[0], x, y, width, height, 3)
        return [luma] + [self.sampled(plane, x, y, width // 2, height // 2, 4) for plane in self.planes[1:]]

    @staticmethod
    def sampled(plane, x, y, width, height, shift):
        one = 1 << shift
        part = plane[y >> shift:(y >> shift) + height + 1, x >> shift:(x >> shift) + width + 1]
        across, down = x & one - 1, y & one - 1
        if down:
            part = part.astype(numpy.uint16)
            part = part[:-1] * numpy.uint16(one - down) + part[1:] * numpy.uint16(down) + numpy.uint16(one // 2) >> shift
        if across:
            part = part.astype(numpy.uint16)
            part = part[:, :-1] * numpy.uint16(one - across) + part[:, 1:] * numpy.uint16(across)
            part = part + numpy.uint16(one // 2) >> shift
        return part[:height, :width].astype(numpy.uint8)


class Figure:
    """A figure that walks across the picture, in textured clothes."""

    SWING = (0, 90, 150, 90, 0, -90, -150, -90)

    def __init__(self, random, worlds, width, height):
        self.size = random.between(height * 35 // 100, height * 75 // 100) & ~1
        self.width = max(4, self.size // 2) & ~1
        world = random.pick(worlds)
        x, y = random.between(0, 8 * (world.width - self.width - 1)), random.between(0, 8 * (world.height - self.size - 1))
        clothes = world.view(x & ~15, y & ~15, self.width, self.size)
        shades = [random.between(-70, 70), random.between(-40, 40), random.between(-40, 40)]
        self.planes = [numpy.clip(p.astype(numpy.int16) + s, 20, 230).astype(numpy.uint8) for p, s in zip(clothes, shades)]
        self.masks = [self.outline(swing) for swing in self.SWING]
        self.span = width + self.width
        self.position = 16 * random.between(0, self.span)
        self.speed = random.pick((-1, 1)) * max(4, random.between(height // 12, height // 3))
        self.top = random.between(0, height - self.size) & ~1
        self.stride = self.size

    def outline(self, swing):
        """Where the figure is, in thousandths of its height."""
        y = numpy.arange(self.size)[:, None] * 1000 // self.size
        x = (numpy.arange(self.width)[None, :] - self.width // 2) * 1000 // self.size
        inside = x * x + (y - 95) * (y - 95) < 85 * 85
        inside |= (abs(x) < 130) & (y > 175) & (y < 570)
        for side in (-1, 1):
            leg, arm = side * 60 + side * swing * (y - 560) // 440, side * 165 - side * swing * (y - 200) // 500
            inside |= (abs(x - leg) < 60) & (y >= 560)
            inside |= (abs(x - arm) < 38) & (y > 190) & (y < 560)
        return inside

    def walk(self, planes):
        self.position = (self.position + self.speed) % (16 * self.span)
        left = self.position // 16 - self.width
        mask = self.masks[self.position // self.stride % len(self.masks)]
        self.paste(planes[0], self.planes[0], mask, left, self.top)
        for plane, own in zip(planes[1:], self.planes[1:]):
            self.paste(plane, own, mask[::2, ::2], left // 2, self.top // 2)

    @staticmethod
    def paste(plane, own, mask, left, top):
        start, end = max(0, left), min(plane.shape[1], left + own.shape[1])
        if start < end:
            columns = slice(start - left, end - left)
            target = plane[top:top + own.shape[0], start:end]
            numpy.copyto(target, own[:target.shape[0], columns], where=mask[:target.shape[0], columns])


class Studio:
    """Makes the pictures of each kind. Each method yields endless pictures, as planes of Y, U and V."""

    KINDS = ("still", "pan", "figures", "noise", "cuts", "fades", "flashes")

    def __init__(self, random, width, height):
        self.random, self.width, self.height = random, width, height
        self.worlds = [World(random, width, height) for _ in range(3)]

    def place(self):
        """A view of one of the worlds: as it is, mirrored, upside down or with its chroma exchanged."""
        world = self.random.pick(self.worlds)
        x, y = self.random.between(0, world.width - self.width), self.random.between(0, world.height - self.height)
        planes = world.view(8 * (x & ~1), 8 * (y & ~1), self.width, self.height)
        variant = self.random.between(0, 7)
        if variant & 1:
            planes = [plane[:, ::-1] for plane in planes]
        if variant & 2:
            planes = [plane[::-1] for plane in planes]
        return [planes[0], planes[2], planes[1]] if variant & 4 else planes

    def still(self):
        planes = self.place()
        while True:
            yield planes

    def pan(self):
        world = self.random.pick(self.worlds)
        limits = [8 * (world.width - self.width - 1), 8 * (world.height - self.height - 1)]
        at = [self.random.between(0, limit) for limit in limits]
        fastest = max(4, self.width // 24)
        speed = [self.random.pick((-1, 1)) * self.random.between(1, fastest), self.random.between(-3, 3)]
        while True:
            yield world.view(at[0], at[1], self.width, self.height)
            for axis, limit in enumerate(limits):
                if not 0 <= at[axis] + speed[axis] <= limit:
                    speed[axis] = -speed[axis]
                at[axis] += speed[axis]

    def figures(self):
        background = self.place()
        walkers = [Figure(self.random, self.worlds, self.width, self.height) for _ in range(self.random.between(3, 6))]
        while True:
            planes = [plane.copy() for plane in background]
            for walker in walkers:
                walker.walk(planes)
            yield planes

    def noise(self):
        luma, chroma = (self.height, self.width), (self.height // 2, self.width // 2)
        while True:
            yield [self.random.levels(luma, BLACK, WHITE)] + [self.random.levels(chroma, 16, 240) for _ in "uv"]

    def cuts(self):
        while True:
            planes = self.place()
            for _ in range(self.random.between(1, 40)):
                yield planes

    def fades(self):
        while True:
            planes = self.place()
            for steps in (range(1, length := self.random.between(6, 40)), [length] * self.random.between(5, 30),
                          range(length - 1, 0, -1), [0] * self.random.between(2, 25)):
                for step in steps:
                    yield [self.mixed(plane, foot, step, length) for plane, foot in zip(planes, (BLACK, NEUTRAL, NEUTRAL))]

    @staticmethod
    def mixed(plane, foot, step, length):
        return (foot + (plane.astype(numpy.int16) - foot) * step // length).astype(numpy.uint8)

    def flashes(self):
        planes = self.place()
        while True:
            for _ in range(self.random.between(4, 50)):
                yield planes
            brighter = planes[0].astype(numpy.int16) + self.random.between(80, 180)
            bright = [numpy.minimum(brighter, 230).astype(numpy.uint8)]
            bright += [self.mixed(plane, NEUTRAL, 1, 2) for plane in planes[1:]]
            for _ in range(self.random.between(1, 2)):
                yield bright

    # A sensor's noise has a variance of 1: four coins less two, which are -2 to 2.
    COINS = numpy.array([bin(n & 15).count("1") - 2 for n in range(256)], numpy.int8).view(numpy.uint8)

    def with_sensor_noise(self, planes):
        return [plane + self.COINS[self.random.bytes(plane.size)].reshape(plane.shape) for plane in planes]


def schedule(random, kind, rate):
    """Endlessly yields kinds and the number of pictures of each."""
    if kind not in ("changing", "switch"):
        while True:
            yield kind, 1 << 30
    position, turn = 0, []
    following = None
    while True:
        if not turn:
            turn = random.shuffled(Studio.KINDS) if kind == "changing" else random.shuffled(("still", "noise"))
            if turn[-1] == following: # so that no kind comes twice in a row
                turn.reverse()
        now, following = following, turn.pop()
        if now is None:
            continue
        ranges = ((2, 8), (8, rate), (rate, 5 * rate))
        end = position + random.between(*sorted(random.pick(ranges)))
        # If noise begins just before or with a keyframe, both large pictures fall into one window.
        phase = random.between(0, 2)
        if phase < 2 and (kind == "switch" or following == "noise"):
            end += (phase - 1 - end) % rate
        yield now, end - position
        position = end


def pictures(options):
    """The pictures' planes, without stamps."""
    width, height = options.size
    random = Random(options.seed)
    studio = Studio(random, width, height)
    for kind, count in schedule(random, options.kind, max(1, round(options.fps))):
        if options.verbose:
            print(f"scenes: {kind}: {count} pictures", file=sys.stderr)
        has_noise = {"yes": True, "no": False}.get(options.sensor_noise, random.between(0, 1) == 1)
        has_noise = has_noise and kind != "noise"
        for _, planes in zip(range(count), getattr(studio, kind)()):
            yield studio.with_sensor_noise(planes) if has_noise else planes


def block_side(width):
    """The side of a stamp's blocks, of which 16 are in a row."""
    return min(16, width // 16 & ~1)


def stamp(planes, number, top, side):
    """Draws 16 bits as a row of blocks, the highest first, white is 1: Sources/Capture/TestPattern.swift has the same."""
    bits = numpy.array([number >> bit & 1 for bit in range(15, -1, -1)], bool)
    row = numpy.where(bits, WHITE, BLACK).astype(numpy.uint8).repeat(side)
    planes[0][top:top + side, :16 * side] = row
    for plane in planes[1:]:
        plane[top // 2:(top + side) // 2, :8 * side] = NEUTRAL


def stamped(planes, number, side, shows_time):
    planes = [plane.copy() for plane in planes]
    stamp(planes, number, 0, side)
    if shows_time:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        top = planes[0].shape[0] - 2 * side & ~1
        stamp(planes, now >> 16, top, side)
        stamp(planes, now, top + side, side)
    return planes


def yuyv(planes):
    luma, u, v = planes
    packed = numpy.empty((luma.shape[0], 2 * luma.shape[1]), numpy.uint8)
    packed[:, ::2] = luma
    packed[:, 1::4] = u.repeat(2, axis=0)
    packed[:, 3::4] = v.repeat(2, axis=0)
    return packed.tobytes()


def planar(planes):
    return b"".join(plane.tobytes() for plane in planes)


# linux/videodev2.h: the requests, and v4l2_format and v4l2_streamparm of a video output on a 64-bit machine.
VIDIOC_S_FMT, VIDIOC_S_PARM, VIDIOC_STREAMON = 0xC0D05605, 0xC0CC5616, 0x40045612
OUTPUT, NO_FIELD, SMPTE170M, REC709 = 2, 1, 1, 3


def set_format(device, options):
    width, height = options.size
    line, size = (width * 2, width * height * 2) if options.format == "yuyv" else (width, width * height * 3 // 2)
    code = int.from_bytes({"yuyv": b"YUYV", "yu12": b"YU12"}[options.format], "little")
    space = REC709 if height >= 720 else SMPTE170M
    request = bytearray(struct.pack("I4x7I", OUTPUT, width, height, code, NO_FIELD, line, size, space).ljust(208, b"\0"))
    fcntl.ioctl(device, VIDIOC_S_FMT, request)
    if struct.unpack_from("3I", request, 8) != (width, height, code):
        sys.exit(f"scenes: {options.output} does not take {options.format} of {width}x{height}")
    rate = Fraction(options.fps).limit_denominator(1001)
    try:
        request = struct.pack("5I", OUTPUT, 0, 0, rate.denominator, rate.numerator).ljust(204, b"\0")
        fcntl.ioctl(device, VIDIOC_S_PARM, bytearray(request))
    except OSError:
        pass # the rate is for the reader's information only
    try:
        # v4l2loopback 0.12 takes another writer after this one only if this one has started a stream; write() alone is not enough.
        fcntl.ioctl(device, VIDIOC_STREAMON, struct.pack("I", OUTPUT))
    except OSError:
        pass # other drivers want buffers first


def open_output(options):
    """The descriptor to write to; a device has its format then."""
    if options.output == "-":
        return sys.stdout.fileno()
    output = os.open(options.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    if stat.S_ISCHR(os.fstat(output).st_mode) and options.output != os.devnull:
        if options.format == "y4m":
            sys.exit("scenes: a device takes --format yuyv or yu12")
        set_format(output, options)
    return output


def write_all(output, data):
    """A device accepts one picture per write; a pipe may accept less."""
    data = memoryview(data)
    while data:
        data = data[os.write(output, data):]


def write(options):
    width, height = options.size
    output = open_output(options)
    head = b""
    if options.format == "y4m":
        rate = f"{options.fps.numerator}:{options.fps.denominator}"
        write_all(output, f"YUV4MPEG2 W{width} H{height} F{rate} Ip A1:1 C420jpeg\n".encode())
        head = b"FRAME\n"
    side = block_side(width)
    if options.verbose:
        print(f"scenes: stamps of {side} pixels", file=sys.stderr)
    layout = yuyv if options.format == "yuyv" else planar
    start = time.monotonic()
    for number, planes in zip(range(options.frames), pictures(options)):
        if options.pace:
            time.sleep(max(0, start + float(number / options.fps) - time.monotonic()))
        write_all(output, head + layout(stamped(planes, number, side, options.show_time)))


def size(text):
    width, height = map(int, text.split("x"))
    if width % 2 or height % 2 or width < 32 or height < 32:
        raise argparse.ArgumentTypeError("width and height must be even, and at least 32")
    return width, height


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--kind", choices=("changing", "switch", *Studio.KINDS), default="changing")
    parser.add_argument("--size", type=size, default=(320, 240))
    parser.add_argument("--fps", type=Fraction, default=Fraction(30))
    parser.add_argument("--seconds", type=Fraction, default=Fraction(40))
    parser.add_argument("--frames", type=int)
    parser.add_argument("--format", choices=("y4m", "yuyv", "yu12"), default="y4m")
    parser.add_argument("--sensor-noise", choices=("yes", "no", "random"), default="random")
    parser.add_argument("--pace", action="store_true")
    parser.add_argument("--show-time", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("-o", "--output", default="-")
    options = parser.parse_args()
    if options.frames is None:
        options.frames = round(options.seconds * options.fps)
    try:
        write(options)
    except BrokenPipeError:
        pass # the reader has had enough
    except OSError as error:
        sys.exit(f"scenes: {options.output}: {error.strerror}")


if __name__ == "__main__":
    main()
