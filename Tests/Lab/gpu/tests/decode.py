"""Decodes on the emulated GPU by ffmpeg, and holds each picture to what libavcodec decodes in software."""

import os
import random
import shutil
import signal
import threading
import time

import fields
from encode import GPU, compiled
from faults import NODE, Run, expect
from judge import run as run_command

GPUS = ("renoir", "rembrandt", "icelake", "kabylake")
FEW = ("renoir", "icelake")
AMD = ("renoir", "rembrandt")  # H.265 is modelled there
PICTURES, MANY = 12, 90
FAR_BACK = "lists beyond the oldest reference"
FFMPEG = ("ffmpeg", "-nostdin", "-v", "error")
VAAPI = ("-hwaccel", "vaapi", "-hwaccel_device", NODE, "-hwaccel_output_format", "vaapi")
X264 = ("-c:v", "libx264", "-threads", "1")
# By their names ffmpeg's source and encoder: what differs in the commands that a driver submits.
H264 = {
    "B frames and scaling lists": ("320x240", (*X264, "-bf", "3", "-refs", "4", "-x264opts", "cqm=jvt:8x8dct=1")),
    "weights and slices": ("318x184", (*X264, "-bf", "3", "-x264opts", "weightp=2:weightb=1:slices=4:direct=temporal")),
    "MBAFF": ("320x240", (*X264, "-bf", "2", "-flags", "+ilme+ildct", "-x264opts", "interlaced=1")),
    "Baseline": ("176x144", (*X264, "-profile:v", "baseline", "-slices", "3")),
    "CAVLC with B frames": (
        "176x144", (*X264, "-coder", "0", "-bf", "2", "-x264opts", "constrained-intra=1:no-deblock=1")),
    "16 references": ("176x144", (*X264, "-bf", "8", "-g", "5", "-x264opts", "open-gop=1:ref=16:chroma-qp-offset=5")),
    # B pictures that go further back than the stream keeps references: the least of them decides which one is used.
    FAR_BACK: ("322x242", ("-pix_fmt", "yuv420p", *X264, "-bf", "2", "-g", "15")),
    "High, large": ("1920x1080", (*X264, "-preset", "ultrafast", "-bf", "1")),
}
X265 = ("-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params")
H265 = {
    "H.265 without B frames": ("322x242", (*X265, "log-level=none:bframes=0:keyint=5")),
    "H.265 with B frames": ("320x240", (*X265, "log-level=none:bframes=4:ref=4:weightb=1:frame-threads=1")),
    "H.265 with slices": ("318x182", (*X265, "log-level=none:slices=3:wpp=1:tskip=1:rect=1:amp=1:bframes=3")),
}
MJPEG = ("-c:v", "mjpeg", "-q:v", "3")
JPEG = {
    "4:2:0": ("320x240", ("-pix_fmt", "yuvj420p", *MJPEG)),
    "4:2:0 of an odd size": ("318x182", ("-pix_fmt", "yuvj420p", *MJPEG)),
    "4:2:2": ("640x480", ("-pix_fmt", "yuvj422p", *MJPEG)),
    "4:2:2 of an odd size": ("318x182", ("-pix_fmt", "yuvj422p", *MJPEG)),
    "4:2:0 with default tables and restarts": (
        "320x240", ("-pix_fmt", "yuvj420p", *MJPEG, "-huffman", "default", "-threads", "4", "-thread_type", "slice")),
}


def codec(name):
    """As the report has it."""
    return "jpeg" if name in JPEG else "h265" if name in H265 else "h264"


class Streams:
    """Coded streams in a folder, each made at its first use."""

    def __init__(self, folder):
        self.folder, self.lock = folder, threading.Lock()

    def path(self, name):
        suffix = {"jpeg": "mjpeg"}.get(codec(name), codec(name))
        path = self.folder / f"decode-{name.replace(' ', '_').replace(':', '').replace(',', '')}.{suffix}"
        with self.lock:
            if not path.exists():
                self.make(name, path)
        return path

    def make(self, name, path):
        if name == "field pictures":
            fields.write(path, PICTURES)
            return
        size, options = (H264 | H265 | JPEG)[name]
        graph = f"testsrc2=s={size}:r=30" + ("" if name == FAR_BACK else ",noise=all_seed=1:alls=8:allf=t")
        source = ("-f", "lavfi", "-i", graph, "-frames:v", str(count(name)))
        run_command(*FFMPEG, "-y", *source, *options, str(path))


def count(name):
    return MANY if name == FAR_BACK else PICTURES


def formats(name):
    """What is downloaded, and what is compared."""
    return ("yuyv422", "yuv422p") if "4:2:2" in name else ("nv12", "yuv420p")


def download(name):
    surface, compared = formats(name)
    return ("-vf", f"hwdownload,format={surface},format={compared}", "-fps_mode", "passthrough")


def hashes(path):
    """Of each picture. Their times are not the decoder's."""
    return [line.split(",")[-1] for line in path.read_text().splitlines() if not line.startswith("#")]


def software(stream, name, path):
    """What libavcodec makes of the stream."""
    output = ("-vf", f"format={formats(name)[1]}", "-fps_mode", "passthrough", "-f", "framemd5", str(path))
    run_command(*FFMPEG, "-y", "-i", str(stream), *output)
    return hashes(path)


def is_freed(left):
    """Mesa 25 keeps a context, a page of memory and a syncobj until it ends."""
    kept = left["contexts"] + left["buffers"] + left["syncobjs"]
    return left["total"] == kept <= 3 and left["bytes"] <= 4096


def decodes(folder, gpu, streams, name):
    """Each picture is the same, and nothing is left."""
    stream = streams.path(name)
    output = (*download(name), "-f", "framemd5", folder / "hashes")
    run = Run(folder, gpu, {}, (*FFMPEG, *VAAPI, "-i", stream, *output)).finish()
    expect(run.status == 0 and not run.said, run.said)
    wanted = software(stream, name, folder / "wanted")
    expect(len(wanted) == count(name), f"{len(wanted)} pictures")
    expect(hashes(folder / "hashes") == wanted, "not the pictures that libavcodec decodes")
    report = run.devices[0]
    pictures = {"h264": 0, "h265": 0, "jpeg": 0, "damaged": 0, "failed": 0}
    pictures[codec(name)] = count(name) * (2 if name == "field pictures" else 1)
    expect(report["decoded"] == pictures and is_freed(report["left"]), f"the report: {report}")
    # AMD's JPEG engine knows no sessions.
    expect(report["sessions"] == (0 if gpu in AMD and name in JPEG else 1), f"sessions: {report}")


def two_sessions(folder, gpu, streams):
    """Two streams, a picture of each in turn."""
    names = ("B frames and scaling lists", "4:2:0 of an odd size")
    command = [*FFMPEG]
    for name in names:
        command += [*VAAPI, "-i", streams.path(name)]
    for number, name in enumerate(names):
        command += ["-map", f"{number}:v", *download(name), "-f", "framemd5", folder / f"hashes-{number}"]
    run = Run(folder, gpu, {}, command).finish()
    expect(run.status == 0 and not run.said, run.said)
    for number, name in enumerate(names):
        wanted = software(streams.path(name), name, folder / "wanted")
        expect(hashes(folder / f"hashes-{number}") == wanted, f"not the pictures of {name}")


def transcodes(folder, gpu, streams):
    """What is decoded is encoded on the same GPU, and stays as it is."""
    stream = streams.path("B frames and scaling lists")
    power = ("-low_power", "1") if gpu == "icelake" else ()
    coded = folder / "coded.h264"
    output = ("-c:v", "h264_vaapi", *power, "-bf", "0", coded)
    run = Run(folder, gpu, {}, (*FFMPEG, *VAAPI, "-i", stream, *output)).finish()
    expect(run.status == 0 and not run.said, run.said)
    wanted, found = (software(file, "h264", folder / "hashes") for file in (stream, coded))
    expect(found == wanted, "not the pictures that were decoded")


def each_codec(gpu):
    """A stream of each that is decoded there."""
    return ("B frames and scaling lists", *(("H.265 with B frames",) if gpu in AMD else ()), "4:2:0")


def ends(folder, gpu, stream, settings, name="h264", limit=60, downloads=True):
    """The program ends, whatever it makes of it, and does not crash."""
    command = (*FFMPEG, *VAAPI, "-i", stream, *(download(name) if downloads else ()), "-f", "null", "-")
    run = Run(folder, gpu, settings, command).finish(limit=limit)
    # Mesa ends the program itself where a submission is refused: 22.3 by exit, 25 by abort.
    is_ended_by_mesa = run.status == -signal.SIGABRT and "the context is lost" in run.said
    expect(run.status >= 0 or is_ended_by_mesa, f"the program ended by signal {-run.status}: {run.said}")
    return run


def lost_device(folder, gpu, streams):
    for name in each_codec(gpu):
        run = ends(folder, gpu, streams.path(name), {"FAKEGPU_FAULTS": "lost 5"})
        report = run.devices[0]
        expect(report["decoded"][codec(name)] == 5 and report["faults"] >= 1, f"the report: {report}")
        run.report_path.unlink()


def hanging(folder, gpu, streams):
    """Pictures that are waited for come no more; after a second the kernel resets the device."""
    for name in each_codec(gpu):
        run = ends(folder, gpu, streams.path(name), {"FAKEGPU_FAULTS": "hang 5 1000"})
        report = run.devices[0]
        expect(report["decoded"][codec(name)] == 5 and run.took >= 1, f"{run.took:.1f} s, the report: {report}")
        run.report_path.unlink()


def slow(folder, gpu, streams):
    run = ends(folder, gpu, streams.path("4:2:0"), {"FAKEGPU_FAULTS": "slow 100"})
    # A copy by a shader does not wait for the engine here, so that the last pictures may not have been waited for.
    faults = run.devices[0]["faults"]
    expect(run.status == 0 and faults == PICTURES and run.took >= PICTURES * 0.05, f"{faults} slow, {run.took:.2f} s")


def corrupt(folder, gpu, streams):
    """Bytes that were changed anywhere, and files that were cut off: the pictures are whatever they are."""
    generator = random.Random(1)
    for name in (*each_codec(gpu), "weights and slices", "4:2:2"):
        whole = streams.path(name).read_bytes()
        for number in range(4):
            damaged = bytearray(whole[: len(whole) // 2] if number == 3 else whole)
            for _ in range((0, 1, 20, 0)[number]):
                damaged[generator.randrange(200, len(damaged))] = generator.randrange(256)
            stream = folder / f"damaged-{number}{streams.path(name).suffix}"
            stream.parent.mkdir(parents=True, exist_ok=True)
            stream.write_bytes(damaged)
            ends(folder, gpu, stream, {}, name)


def small_target(folder, gpu, streams):
    """Where the picture is larger than its surface, nothing is written beyond it."""
    library = compiled(folder.parent, "small_surfaces.so")
    for name in each_codec(gpu):
        run = ends(folder, gpu, streams.path(name), {"LD_PRELOAD": str(library)}, name, downloads=False)
        expect(not run.devices[0]["decoded"][codec(name)], f"the report: {run.devices[0]}")
        run.report_path.unlink()


def processes_with(word):
    """The processes that have it in their environment."""
    found = []
    for process in os.listdir("/proc"):
        try:
            with open(f"/proc/{process}/environ", "rb") as environment:
                if word.encode() in environment.read():
                    found.append(process)
        except (OSError, ValueError):
            pass
    return found


def leaves_no_process(folder, gpu, streams):
    """What decodes ends with the program, is none of its children, and cannot be waited for."""
    command = [str(word) for word in (*FFMPEG, *VAAPI, "-i", streams.path("4:2:0"), "-f", "null", "-")]
    script = f"""
import os, subprocess
subprocess.run({command}, check=True)
try:
    os.waitpid(-1, os.WNOHANG)
    raise SystemExit("there is a child")
except ChildProcessError:
    pass
"""
    run = Run(folder, gpu, {}, ("/usr/bin/python3", "-c", script)).finish()
    expect(run.status == 0, run.said)
    deadline = time.monotonic() + 10
    while processes_with(str(run.report_path)):
        expect(time.monotonic() < deadline, "a process is left")
        time.sleep(0.05)


def without_decoder(folder, gpu, streams):
    """Where the program that decodes is missing, that is said once, and nothing is decoded."""
    folder.mkdir(parents=True, exist_ok=True)
    library = (os.environ.get("FAKEGPU_PRELOAD") or str(GPU / ".build/fakegpu.so")).split(":")
    alone = shutil.copy(library[-1], folder / "fakegpu.so")
    run = ends(folder, gpu, streams.path("4:2:0"), {"FAKEGPU_PRELOAD": ":".join([*library[:-1], str(alone)])})
    expect(run.said.count("nothing can be decoded") == 1, run.said)
    expect(run.devices[0]["decoded"]["failed"] == PICTURES, f"the report: {run.devices[0]}")


def all_tests(folder, short):
    """Each a name and a function that raises what is wrong."""
    streams = Streams(folder)
    for gpu in FEW if short else GPUS:
        for name in (*H264, "field pictures", *(H265 if gpu in AMD else ()), *JPEG):
            path = folder / f"{gpu}-decode-{name}".replace(" ", "_").replace(":", "")
            yield f"{gpu}: decodes {codec(name)}, {name}", lambda gpu=gpu, name=name, path=path: decodes(
                path, gpu, streams, name)
    for gpu in FEW:
        for test in (two_sessions, transcodes, lost_device, hanging, slow, corrupt, small_target, leaves_no_process,
                     without_decoder):
            path = folder / f"{gpu}-decode-{test.__name__}"
            yield f"{gpu}: decoding, {test.__name__.replace('_', ' ')}", lambda gpu=gpu, test=test, path=path: test(
                path, gpu, streams)
