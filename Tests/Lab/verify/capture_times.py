#!/usr/bin/python3
"""Prints the capture time in each picture of a raw stream, in microseconds since 1970, as GStreamer reads it.

usage: capture_times.py FILE.h264|FILE.h265

The messages are those of MISB ST 0604; a picture without one is an error.
"""
import ctypes
import re
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402, F401

# PyGObject does not know that this is a kind of Gst.Meta.
parse = ctypes.CDLL("libgstvideo-1.0.so.0").gst_video_sei_user_data_unregistered_parse_precision_time_stamp


def time_of(meta):
    address = int(re.search(r"at (0x[0-9a-f]+)\)>", repr(meta))[1], 16)
    status, time = ctypes.c_uint8(), ctypes.c_uint64()
    return time.value if parse(ctypes.c_void_p(address), ctypes.byref(status), ctypes.byref(time)) else None


def main():
    path = sys.argv[1]
    codec = "h264" if path.endswith(".h264") else "h265"
    Gst.init(None)
    pipeline = Gst.parse_launch(f"filesrc name=file ! {codec}parse ! video/x-{codec},alignment=au ! appsink name=sink sync=false")
    pipeline.get_by_name("file").set_property("location", path)
    pipeline.set_state(Gst.State.PLAYING)
    kind = GstVideo.video_sei_user_data_unregistered_meta_api_get_type()
    number = 0
    # None after the last picture, and if nothing comes.
    while (sample := pipeline.get_by_name("sink").try_pull_sample(10 * Gst.SECOND)) is not None:
        meta = sample.get_buffer().get_meta(kind)
        if meta is None or (time := time_of(meta)) is None:
            sys.exit(f"picture {number} has no capture time")
        print(time)
        number += 1
    if not pipeline.get_by_name("sink").is_eos():
        sys.exit(f"GStreamer stops after {number} pictures")
    pipeline.set_state(Gst.State.NULL)


main()
