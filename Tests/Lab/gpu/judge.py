"""What a stream must be: decoded without a word, of the asked shape, and with the source's pictures."""

import json
import re
import subprocess
from array import array

# Raw streams are probed; pictures of I_PCM are large.
PROBE = ("-probesize", "500M")
BLOCK = {"luma": 8, "chroma": 4}  # of the H.265 mosaic, in samples
# Deblocking (H.265, Table 8-12): tc' for Q from 18, where it begins to be more than nought.
TC = (1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 22, 24)


class Wrong(Exception):
    """What is wrong with a stream, in one line."""


def run(*command, **options):
    """A command's standard output; what it says on standard error is an error."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, **options)
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode or said:
        lines = said.splitlines() or [""]
        raise Wrong(f"{command[0]} ended with {done.returncode}, {len(lines)} lines: {' / '.join(lines[:3])}")
    return done.stdout


class Stream:
    """An elementary stream in a file, and what was asked of it."""

    def __init__(self, path, codec, size, pixels, count):
        self.path, self.codec, self.pixels, self.count = str(path), codec, pixels, count
        self.width, self.height = map(int, size.split("x"))
        self.sample = 2 if pixels == "p010le" else 1
        # 4:2:0 tells no odd size: both sides are compared without an odd last line or column.
        self.even = (self.width & ~1, self.height & ~1)

    def properties(self, profile, states_size=True):
        """Profile and size, as ffprobe reads them; the size only where the driver states it."""
        said = json.loads(run("ffprobe", "-v", "warning", *PROBE, "-f", self.codec, "-show_streams", "-of", "json", self.path))
        found = said["streams"][0]
        if found["profile"] != profile:
            raise Wrong(f"profile {found['profile']} in place of {profile}")
        for name in ("width", "height") if states_size else ():
            asked = getattr(self, name)
            if abs(found[name] - asked) > asked % 2:
                raise Wrong(f"{name} {found[name]} in place of {asked}")

    def syntax(self):
        """Every value of each field of the parameter sets and slice headers, by the standard's name, as libavcodec reads them."""
        command = ("ffmpeg", "-nostdin", "-v", "info", *PROBE, "-f", self.codec, "-i", self.path)
        done = subprocess.run((*command, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"), capture_output=True, timeout=300)
        fields = {}
        for line in done.stderr.decode(errors="replace").splitlines():
            found = re.search(r"\] \d+ +(\w+)(?:\[\d+\])* +[01x]+ = (-?\d+)$", line)
            if found:
                fields.setdefault(found[1], []).append(int(found[2]))
        return fields

    def entropy(self, cabac):
        """The entropy coding mode of each H.264 picture parameter set."""
        found = set(self.syntax().get("entropy_coding_mode_flag", ()))
        if found != {int(cabac)}:
            raise Wrong(f"entropy_coding_mode_flag is {found} in place of {int(cabac)}")

    def slices(self, count):
        """The number of slices in the whole stream."""
        with open(self.path, "rb") as file:
            headers = [found[1][0] for found in re.finditer(rb"\x00\x00\x01(.)", file.read(), re.DOTALL)]
        if self.codec == "h264":
            found = sum(1 for header in headers if header & 31 in (1, 5))
        else:
            found = sum(1 for header in headers if header >> 1 & 63 < 32)
        if found != count * self.count:
            raise Wrong(f"{found} slices in place of {self.count} times {count}")

    def equals(self, source):
        """Each picture is `source`'s: H.264 bit for bit, H.265 in the means of its blocks."""
        bound = None if self.codec == "h264" else self.bounds()
        with self._decoded() as decoded, self._raw(source) as original:
            for number in range(self.count):
                picture, wanted = decoded.read(), original.read()
                if len(wanted) != self._bytes():
                    raise Wrong(f"the source has only {number} pictures")
                if len(picture) != len(wanted):
                    raise Wrong(f"{number} pictures were decoded in place of {self.count}: {decoded.said()}")
                if bound is None and picture != wanted:
                    raise Wrong(f"picture {number} differs, first at {self._difference(picture, wanted)}")
                if bound is not None:
                    self._compare_means(number, picture, wanted, bound)
            if decoded.read():
                raise Wrong(f"more than {self.count} pictures were decoded")
            decoded.close()

    def bounds(self):
        """How far a block's mean may be from the source's, by plane: half a quantisation step of the DC coefficient, which
        is block-size times the mean (8.6.4.2), what the deblocking filter may move, and one for the rounding."""
        fields = self.syntax()
        first = 26 + fields["init_qp_minus26"][0]
        qp = max(first + delta for delta in fields["slice_qp_delta"])
        filtered = 0 if fields.get("slice_deblocking_filter_disabled_flag", [0])[0] else TC[max(0, min(qp + 2 - 18, 35))]
        step = 2 ** ((qp - 4) / 6)
        return {plane: step / (2 * size) + filtered + 1 for plane, size in BLOCK.items()}

    # Two ffmpeg processes write raw pictures of the same size and layout.

    def _decoded(self):
        # The window that the driver's parameter set states has a test of its own.
        explode = ("-err_detect", "explode", "-xerror", "-apply_cropping", "0", *PROBE, "-f", self.codec, "-i", self.path)
        return Pictures(self._bytes(), *explode, "-vf", self._crop(), "-pix_fmt", self.pixels)

    def _raw(self, source):
        layout = ("-f", "rawvideo", "-pix_fmt", self.pixels, "-video_size", f"{self.width}x{self.height}")
        return Pictures(self._bytes(), *layout, "-i", str(source), "-vf", self._crop(), "-pix_fmt", self.pixels)

    def _crop(self):
        width, height = self.even
        return f"crop={width}:{height}:0:0:exact=1"

    def _bytes(self):
        width, height = self.even
        return width * height * 3 // 2 * self.sample

    def _difference(self, picture, wanted):
        width, height = self.even
        at = next(i for i in range(len(wanted)) if picture[i] != wanted[i])
        count = sum(1 for one, other in zip(picture, wanted) if one != other)
        plane, row = ("luma", at // width) if at < width * height else ("chroma", (at - width * height) // width)
        return f"{plane} column {at % width}, row {row} ({count} samples of {len(wanted)}, {picture[at]} in place of {wanted[at]})"

    def _compare_means(self, number, picture, wanted, bound):
        for plane, one, other in zip(("luma", "chroma", "chroma"), self._planes(picture), self._planes(wanted)):
            size = BLOCK[plane]
            for row, (means, expected) in enumerate(zip(block_sums(one, size), block_sums(other, size))):
                for column, ((found, area), (target, _)) in enumerate(zip(means, expected)):
                    mean = found / area
                    # What a block has beyond the picture is the surface's padding, which may be anything.
                    low = target / (size * size) - bound[plane]
                    high = (target + 255 * (size * size - area)) / (size * size) + bound[plane]
                    if not low <= mean <= high:
                        where = f"{plane} block {column}, {row}"
                        raise Wrong(f"picture {number}: {where} has mean {mean:.1f} in place of {low:.1f} to {high:.1f}")

    def _planes(self, picture):
        """Rows of luma and of the two chroma planes, samples as 8 bits wide (with a fraction in four steps, of P010's 10)."""
        width, height = self.even
        samples = picture
        if self.sample == 2:
            samples = array("H")
            samples.frombytes(picture)
            samples = [value / 256 for value in samples]
        luma, chroma = samples[: width * height], samples[width * height :]
        yield [luma[y * width : (y + 1) * width] for y in range(height)]
        for first in (0, 1):
            yield [chroma[y * width + first : (y + 1) * width : 2] for y in range(height // 2)]


def block_sums(rows, size):
    """For each row of blocks (sum, number of samples) of each block; those at the edges may have fewer."""
    for top in range(0, len(rows), size):
        band = rows[top : top + size]
        columns = list(map(sum, zip(*band)))
        yield [(sum(columns[x : x + size]), len(columns[x : x + size]) * len(band)) for x in range(0, len(columns), size)]


class Pictures:
    """ffmpeg's raw output, a picture at a time."""

    def __init__(self, size, *arguments):
        self.size = size
        command = ("ffmpeg", "-nostdin", "-v", "warning", *arguments, "-fps_mode", "passthrough", "-f", "rawvideo", "-")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def read(self):
        return self.process.stdout.read(self.size)

    def said(self):
        self.process.kill()
        lines = self.process.stderr.read().decode(errors="replace").splitlines()
        return f"{len(lines)} lines: {' / '.join(lines[:3])}" if lines else "ffmpeg said nothing"

    def close(self):
        """The decoder ended well, and had nothing to say."""
        said = self.process.stderr.read().decode(errors="replace").splitlines()
        if self.process.wait() or said:
            raise Wrong(f"the decoder ended with {self.process.returncode}, {len(said)} lines: {' / '.join(said[:3])}")
