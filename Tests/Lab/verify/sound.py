#!/usr/bin/python3
"""Checks the sound of recordings: its codec, that it has no gaps, and that it is on time.

usage: sound.py beeps FILE REPORT [--within MS] [--silence SECONDS]
                          sound of the test microphone: a beep at each whole second of the monotonic clock, which REPORT's
                          start time leads to; --silence: there may be seconds without, where so much is missing
       sound.py claps FILE [--within MS] [--least N]
                          flashes in the pictures and clicks in the sound come together, N times at least
       sound.py whole FILE... [--codec NAME] [--gap MS] [--lead MS]
                          packets of sound follow each other without a gap or an overlap; in several files, which are
                          consecutive segments, each has the sound that begins within its pictures;
                          --lead: sound may begin so much earlier, for one who joined
       sound.py serve PORT FILE SOUND
                          a GStreamer RTSP server that takes one published stream with H.264 and SOUND, aac or opus, into
                          the Matroska FILE
"""
import argparse
import datetime
import json
import subprocess
import sys
import time

import numpy

RATE = 48000


def probe(file, stream, entries):
    """The packets of a stream, each with the given entries as numbers."""
    text = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", f"packet={','.join(entries)}", "-of", "json", file],
        check=True, stdout=subprocess.PIPE).stdout
    return [[float(packet.get(entry, "nan")) for entry in entries] for packet in json.loads(text)["packets"]]


def samples(file):
    """The samples of the sound, mono, and the time of the first."""
    raw = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", file, "-map", "0:a", "-f", "f32le", "-ac", "1", "-ar", str(RATE), "-"],
        check=True, stdout=subprocess.PIPE).stdout
    first = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "frame=pts_time", "-read_intervals", "%+#1", "-of", "csv=p=0", file],
        check=True, stdout=subprocess.PIPE, text=True).stdout.strip().strip(",").split()[0].rstrip(",")
    return numpy.frombuffer(raw, numpy.float32), float(first)


def onsets(loud, distance):
    """Where something begins that was not there for a distance before."""
    places = numpy.flatnonzero(loud)
    if not len(places):
        return []
    steps = numpy.diff(places, prepend=places[0] - distance - 1)
    return list(places[steps > distance])


def check_beeps(file, report, within, silence):
    recording = json.load(open(report))
    wall = datetime.datetime.fromisoformat(recording["startTime"].replace("Z", "+00:00")).timestamp()
    start = wall - (time.time() - time.monotonic())
    # A transport stream's times begin later; the first picture's is the recording's start.
    first_picture = min(row[0] for row in probe(file, "v", ["pts_time"]))
    sound, first = samples(file)
    found = [start + first - first_picture + place / RATE for place in onsets(numpy.abs(sound) > 0.2, RATE // 2)]
    # Where the sound begins within a beep, that beep's beginning is not in it.
    found = [moment for moment in found if moment - start - first + first_picture > 0.15]
    late = [moment - round(moment) for moment in found]
    seconds = len(sound) / RATE
    print(f"{file}: {len(found)} beeps in {seconds:.2f} s, late by {min(late, default=0) * 1e3:.1f} to {max(late, default=0) * 1e3:.1f} ms")
    if any(abs(time) * 1e3 > within for time in late) or len(found) < seconds - 1.3 - silence:
        sys.exit(1)


def check_claps(file, within, least):
    raw = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", file, "-map", "0:v", "-vf", "scale=1:1:flags=area,format=gray", "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
        check=True, stdout=subprocess.PIPE).stdout
    times = sorted(row[0] for row in probe(file, "v", ["pts_time"]))
    light = numpy.frombuffer(raw, numpy.uint8)
    flashes = [times[place] for place in onsets(light > 128, 3) if place > 0]
    sound, first = samples(file)
    clicks = numpy.array([first + place / RATE for place in onsets(numpy.abs(sound) > 0.2, RATE // 2)])
    if not len(clicks):
        sys.exit(f"{file}: {len(flashes)} flashes and no click")
    # A flash whose click is not there at all is not late but silent.
    offsets = [clicks[numpy.abs(clicks - flash).argmin()] - flash for flash in flashes]
    offsets = [offset for offset in offsets if abs(offset) < 0.3]
    if not offsets:
        sys.exit(f"{file}: {len(flashes)} flashes at {flashes[:3]} and {len(clicks)} clicks at {clicks[:3]}, none together")
    print(f"{file}: {len(offsets)} of {len(flashes)} flashes have their click, at {min(offsets) * 1e3:.1f} to {max(offsets) * 1e3:.1f} ms")
    if len(offsets) < least or max(map(abs, offsets)) * 1e3 > within:
        sys.exit(1)


def check_whole(files, codec, largest, lead):
    for file in files:
        name = subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name", "-of", "csv=p=0", file],
            check=True, stdout=subprocess.PIPE, text=True).stdout.split()[0].strip(",")
        if codec and name != codec:
            sys.exit(f"{file}: {name}")
        sound = probe(file, "a", ["pts_time", "duration_time"])
        # MP4's fragments do not say the length of each.
        length = float(numpy.median(numpy.diff([time for time, _ in sound])))
        sound = [(time, length if numpy.isnan(own) else own) for time, own in sound]
        pictures = sorted(row[0] for row in probe(file, "v", ["pts_time"]))
        gaps = [next_time - time - length for (time, length), (next_time, _) in zip(sound, sound[1:])]
        # Matroska's times are in milliseconds.
        if any(abs(gap) * 1e3 > largest for gap in gaps):
            sys.exit(f"{file}: gaps of {min(gaps) * 1e3:.2f} to {max(gaps) * 1e3:.2f} ms")
        begins, ends = sound[0][0] - pictures[0], pictures[-1] - sum(sound[-1])
        if not -lead / 1e3 <= begins <= length + 0.05 or ends > length:
            sys.exit(f"{file}: sound begins {begins:.3f} s after the first picture, and ends {ends:.3f} s before the last")
    print(f"{len(files)} files without a gap")


def serve(port, file, sound):
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer

    Gst.init(None)
    depay = {"aac": "rtpmp4gdepay name=depay1 ! aacparse", "opus": "rtpopusdepay name=depay1 ! opusparse"}[sound]
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        f"( rtph264depay name=depay0 ! h264parse config-interval=-1 ! queue ! mux. {depay} ! queue ! mux. "
        f"matroskamux name=mux streamable=true ! filesink location={file} sync=false buffer-mode=2 )")
    factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)

    def by_sender(media):
        """What counts is when the sender says that it was, not when an emulated machine receives it."""
        parts = media.get_element().get_parent().iterate_recurse()
        while True:
            result, part = parts.next()
            if result != Gst.IteratorResult.OK:
                break
            if part.find_property("buffer-mode"):
                part.set_property("buffer-mode", 0)

    factory.connect("media-configure", lambda _, media: media.connect("prepared", by_sender))
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    server.get_mount_points().add_factory("/cam", factory)
    if not server.attach(None):
        sys.exit(f"port {port} is taken")
    print("ready", flush=True)
    GLib.MainLoop().run()


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    beeps = commands.add_parser("beeps")
    beeps.add_argument("file")
    beeps.add_argument("report")
    beeps.add_argument("--within", type=float, default=5)
    beeps.add_argument("--silence", type=float, default=0)
    claps = commands.add_parser("claps")
    claps.add_argument("file")
    claps.add_argument("--within", type=float, default=20)
    claps.add_argument("--least", type=int, default=5)
    whole = commands.add_parser("whole")
    whole.add_argument("files", nargs="+")
    whole.add_argument("--codec")
    whole.add_argument("--gap", type=float, default=1.1)
    whole.add_argument("--lead", type=float, default=1)
    server = commands.add_parser("serve")
    server.add_argument("port")
    server.add_argument("file")
    server.add_argument("sound")
    options = parser.parse_args()
    if options.command == "beeps":
        check_beeps(options.file, options.report, options.within, options.silence)
    elif options.command == "claps":
        check_claps(options.file, options.within, options.least)
    elif options.command == "whole":
        check_whole(options.files, options.codec, options.gap, options.lead)
    else:
        serve(options.port, options.file, options.sound)


main()
