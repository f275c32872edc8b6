#!/usr/bin/env python3
"""Makes camplay join a raw stream at many positions, and lose pictures at many: what it shows must be the stream's own pictures.

usage: joined.py CAMPLAY STREAM KEYFRAMES     (.h265 is H.265, all else H.264)

KEYFRAMES is how many frames apart the stream's keyframes are shown, or "refreshed" where it has none and becomes right
bit by bit. Joined behind its beginning, the stream is shown from the next keyframe on, in ffmpeg's order, to its end, without a
loss. Where an access unit is lost, whatever is shown is right, and behind the next keyframe or refresh it goes on to the end.
"""
import hashlib
import json
import os
import subprocess
import sys

from bits import annex_b, split

SETS = {"h264": {7, 8}, "hevc": {32, 33, 34}}
AHEAD = {"h264": {6, 7, 8, 9}, "hevc": {32, 33, 34, 35, 39}}


def access_units(units, codec):
    """Of one slice or more each; a slice with the picture's first block begins one."""
    found, has_slice = [[]], False
    for unit in units:
        kind = unit_type(unit, codec)
        is_slice = kind in {1, 5} if codec == "h264" else kind < 32
        is_first = is_slice and unit[1 if codec == "h264" else 2] & 0x80
        if has_slice and (is_first or kind in AHEAD[codec]):
            found.append([])
            has_slice = False
        found[-1].append(unit)
        has_slice = has_slice or is_slice
    return found


def unit_type(unit, codec):
    return unit[0] & 31 if codec == "h264" else unit[0] >> 1 & 63


def pictures_of(path):
    said = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-pix_fmt", "yuv420p", "-f", "framemd5", "-"],
                          capture_output=True, text=True, timeout=60, check=True)
    return [line.split(",")[-1].strip() for line in said.stdout.splitlines() if not line.startswith("#")]


class Stream:
    def __init__(self, camplay, path):
        self.camplay, self.suffix = camplay, os.path.splitext(path)[1]
        self.codec = "hevc" if self.suffix == ".h265" else "h264"
        with open(path, "rb") as file:
            self.units = access_units(split(file.read()), self.codec)
        self.pictures = pictures_of(path)
        self.sets = [unit for unit in self.units[0] if unit_type(unit, self.codec) in SETS[self.codec]]
        # Encoders repeat the parameter sets before every keyframe.
        self.keyframes = [i for i, units in enumerate(self.units) if SETS[self.codec] & {unit_type(unit, self.codec) for unit in units}]

    def play(self, units):
        """The places of the pictures shown, among those of the whole stream, and the report."""
        with open("joined" + self.suffix, "wb") as file:
            file.write(annex_b([unit for units in units for unit in units]))
        for path in ("joined.y4m", "joined.json"):
            if os.path.exists(path):
                os.remove(path)
        command = [self.camplay, "--no-window", "--decoder", "software", "--output", "joined.y4m", "--report", "joined.json"]
        subprocess.run([*command, "joined" + self.suffix], capture_output=True, timeout=60, check=False)
        with open("joined.json", encoding="utf-8") as file:
            report = json.load(file)
        places = []
        for picture in hashes("joined.y4m") if os.path.exists("joined.y4m") else ():
            # The same picture may occur twice in a film: this means the next one.
            later = self.pictures.index(picture, places[-1] + 1 if places else 0) if picture in self.pictures else None
            assert later is not None, f"a picture that the stream does not have, behind {places[-1:]}"
            places.append(later)
        ends = ("decoded", "secondFields", "beforeFirstKeyframe", "frozen", "skipped", "lost", "withheld", "unplayed")
        assert report["pictures"]["received"] == len(units) == sum(report["pictures"][end] for end in ends), report
        return places, report


def hashes(path):
    with open(path, "rb") as file:
        header = file.readline().split()
        width, height = (int(next(word for word in header if word.startswith(letter))[1:]) for letter in (b"W", b"H"))
        while file.readline():
            yield hashlib.md5(file.read(width * height * 3 // 2)).hexdigest()


def join(stream, first, distance):
    """Plays from an access unit on, with the parameter sets of the beginning."""
    places, report = stream.play([stream.sets + stream.units[first], *stream.units[first + 1:]])
    assert report["losses"] == 0, f"joined at {first}: {report}"
    if distance:
        keyframe = next(number for number, place in enumerate(stream.keyframes) if place >= first)
        assert places[0] == keyframe * distance, f"joined at {first}: begins with {places[0]}, not with keyframe {keyframe}"
    else:
        assert places or first > stream.keyframes[1], f"joined at {first}: nothing is shown"
    assert not places or places == list(range(places[0], len(stream.pictures))), f"joined at {first}: {places}"


def lose(stream, lost, distance):
    """Plays all but one access unit."""
    places, report = stream.play(stream.units[:lost] + stream.units[lost + 1:])
    assert report["losses"] <= 1, f"without {lost}: {report}"
    # A refresh is over when the next one begins.
    if lost < stream.keyframes[-1 if distance else -2]:
        assert places[-1] == len(stream.pictures) - 1, f"without {lost}: {places}"


def main():
    camplay, path, keyframes = sys.argv[1:]
    distance = None if keyframes == "refreshed" else int(keyframes)
    stream = Stream(camplay, path)
    for first in range(1, stream.keyframes[-1] + 1):
        join(stream, first, distance)
    for lost in range(1, len(stream.units), 2):
        lose(stream, lost, distance)


if __name__ == "__main__":
    main()
