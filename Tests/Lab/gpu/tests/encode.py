"""Encodes on the emulated GPU: by ffmpeg, and by `sessions` where ffmpeg cannot."""

import os
import subprocess
import threading
from pathlib import Path

import cases
from judge import Stream, Wrong, run

GPU = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "camrec-lab"
CACHE = Path(os.environ.get("CAMREC_LAB_CACHE") or CACHE) / "gpu"
DRM = CACHE / "root/usr/include/libdrm"
NODE = "/dev/dri/renderD128"
SESSION_PICTURES = 6


def on_device(device, *command):
    return [str(GPU / "run"), device.name, *command]


def vainfo(device):
    command = on_device(device, "vainfo", "--display", "drm", "--device", NODE)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout


class Encode:
    """One output of ffmpeg: its options, and the stream that must come of them."""

    def __init__(self, sources, path, case, device, count):
        codec, option, self.profile = cases.PROFILES[case["profile"]]
        pixels = "p010le" if case["profile"] == "h265-main10" else "nv12"
        self.case, self.device = case, device
        self.source = sources.path(case["source"], case["size"], pixels, count)
        self.stream = Stream(path.with_suffix(f".{codec}"), codec, case["size"], pixels, count)
        self.slices = self.stream.block_rows() if case["slices"] == "rows" else 1
        layout = ("-pix_fmt", pixels, "-video_size", case["size"], "-framerate", "25")
        self.input = ("-f", "rawvideo", *layout, "-i", str(self.source))
        self.output = (
            *("-vf", "hwupload", "-c:v", f"{codec}_vaapi", "-profile:v", option, *device.options(), "-bf", "0"),
            *(("-coder", case["entropy"]) if codec == "h264" else ()),
            *(*cases.RATES[case["rate"]], *cases.GOPS[case["gop"]], "-slices", str(self.slices)),
            *("-f", codec, str(self.stream.path)),
        )

    def check(self):
        stream = self.stream
        stream.properties(self.profile, self.device.states_size(stream.codec, stream.width, stream.height))
        stream.slices(self.slices)
        if stream.codec == "h264":
            stream.entropy(self.case["entropy"] == "cabac")
        stream.equals(self.source)


def encode(device, encodes):
    """All of them in one process, a picture of each in turn."""
    options = ["-init_hw_device", f"vaapi=gpu:{NODE}", "-filter_hw_device", "gpu"]
    for one in encodes:
        options += one.input
    for number, one in enumerate(encodes):
        options += ["-map", f"{number}:v", *one.output]
    command = on_device(device, "ffmpeg", "-nostdin", "-v", "error", "-y", *options)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Wrong(f"ffmpeg could not encode ({done.returncode}): {' / '.join(said[-3:])}")


COMPILING = threading.Lock()


def compiled(folder, name):
    """One of the C programs of this folder, compiled once, with the warnings of the source."""
    with COMPILING:
        run("make", "-s", "-C", str(GPU), f"FOLDER={folder}", f"DRM={DRM}", str(folder / name))
    return folder / name


def check_sessions(device, program, folder, slices, arguments):
    """Runs `sessions` and holds what each of its threads has written to what that thread encoded."""
    folder.mkdir(exist_ok=True)
    command = on_device(device, str(program), "-n", str(SESSION_PICTURES), *arguments, str(folder))
    run(*command)
    sources = sorted(folder.glob("*.raw"))
    if not sources:
        raise Wrong("no pictures")
    for source in sources:
        thread, size = source.stem.split("-")
        stream = Stream(source.with_suffix(".h264"), "h264", size, "nv12", SESSION_PICTURES)
        try:
            stream.properties("Main")
            stream.slices(slices)
            stream.entropy(int(thread) % 2 == 0)
            stream.equals(source)
        except Wrong as reason:
            raise Wrong(f"thread {thread} of {len(sources)}: {reason}") from reason
