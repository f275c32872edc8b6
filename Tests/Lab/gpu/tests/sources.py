"""Raw pictures to encode: the same ones each time, and with enough in them that an error shows."""

import random
import subprocess
import threading

PATTERN, NOISE, ZEROS = "pattern", "noise", "zeros"
# Bytes of which most would be taken for start codes, and so need emulation prevention.
STARTS = (0, 0, 0, 0, 1, 2, 3, 255)
PERIOD = 65521  # samples until they come again: a prime, so that no two rows are the same


class Sources:
    """Files in a folder, each made at its first use. Threads may share it."""

    def __init__(self, folder):
        self.folder, self.lock, self.locks = folder, threading.Lock(), {}

    def path(self, kind, size, pixels, count):
        """The file with `count` pictures of `size` (WIDTHxHEIGHT), in ffmpeg's pixel format."""
        path = self.folder / f"{kind}-{size}-{pixels}-{count}.raw"
        with self.lock:
            lock = self.locks.setdefault(path, threading.Lock())
        with lock:
            if not path.exists():
                make_zeros(path, size, pixels, count) if kind == ZEROS else make_video(path, kind, size, pixels, count)
        return path


def make_zeros(path, size, pixels, count):
    width, height = map(int, size.split("x"))
    samples = (width * height + 2 * ((width + 1) // 2) * ((height + 1) // 2)) * count
    values = random.Random(1).choices(STARTS, k=PERIOD)
    row = bytes(values) if pixels == "nv12" else b"".join((value << 8).to_bytes(2, "little") for value in values)
    length = samples * len(row) // PERIOD
    path.write_bytes((row * (length // len(row) + 1))[:length])


def make_video(path, kind, size, pixels, count):
    width, height = (side + side % 2 for side in map(int, size.split("x")))  # testsrc2 makes no odd ones
    graph = f"testsrc2=size={width}x{height}:rate=25,format=yuv420p"
    if kind == NOISE:
        graph += ",noise=all_seed=1:alls=60:allf=t"
    graph += f",crop={size.replace('x', ':')}:0:0:exact=1"
    output = ("-frames:v", str(count), "-pix_fmt", pixels, "-f", "rawvideo", str(path))
    command = ("ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", graph, *output)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
