"""Programs that do what drivers do not: ioctls by themselves, children, surfaces that are read back."""

import os
import shutil
import subprocess

from encode import GPU, compiled
from faults import NODE, SOURCE, Run, expect
from judge import run as run_command

DEVICES = ("renoir", "rembrandt", "icelake")
# The modes of ioctls.c, with what of the report is `left` by the process itself.
IOCTLS = {
    "pointers": {"nodes": 1},
    "unaligned": {"nodes": 1, "buffers": 1},
    "impossible": {"nodes": 1},
    "limits": {"nodes": 1, "buffers": 1, "syncobjs": 1},
    "folders": {"nodes": 1, "buffers": 0},
    "vfork": {"nodes": 1},
    "child": {"nodes": 1, "buffers": 1},
    "closed": {"nodes": 0, "buffers": 1},
    "unknown": {"nodes": 1},
}


def ioctls(folder, gpu, mode, program):
    run = Run(folder, gpu, {"FAKEGPU_DUMP": str(folder / "dump")}, (program, mode)).finish(limit=60)
    left = run.devices[0]["left"]
    expect(run.status == 0, run.said)
    expect(all(left[kind] == count for kind, count in IOCTLS[mode].items()), f"the report: {left}")
    if mode == "child":  # its own report comes first
        first = run.reports[0]["devices"][0]
        expect(len(run.reports) == 2 and first["opened"] == 1 and first["left"]["total"] == 0, f"its report: {first}")
    if mode == "unknown":
        expect(run.said.count("0xff is not modelled") == 1, f"nothing is said: {run.said}")
        expect(run.devices[0]["unmodelled"], f"nothing is in the report: {run.devices[0]}")


def read_back(folder, gpu):
    """What was uploaded is what is downloaded."""
    download = ("-vf", "format=nv12,hwupload,hwdownload,format=nv12", "-frames:v", 3, "-f", "framemd5")
    command = ("ffmpeg", "-nostdin", "-v", "error", "-vaapi_device", NODE, *SOURCE[:4], *download, folder / "hashes")
    run = Run(folder, gpu, {}, command).finish()
    expect(run.status == 0 and not run.said, run.said)
    plain = ("-vf", "format=nv12", "-frames:v", "3", "-f", "framemd5", "-")
    wanted = run_command("ffmpeg", "-nostdin", "-v", "error", *SOURCE[:4], *plain).decode()
    expect((folder / "hashes").read_text() == wanted, "not what was uploaded")


def scaled(folder, gpu):
    """No shader for it is modelled, which is said."""
    scale = ("-vf", "format=nv12,hwupload,scale_vaapi=w=64:h=64", "-frames:v", "1", "-f", "null", "-")
    command = ("ffmpeg", "-nostdin", "-v", "error", "-vaapi_device", NODE, *SOURCE[:4], *scale)
    run = Run(folder, gpu, {}, command).finish()
    expect(run.said.count("is not modelled; its results are missing") == 1, f"nothing is said: {run.said}")


def several(folder, gpu):
    """Each of two GPUs of a kind is found."""
    for node in ("/dev/dri/renderD128", "/dev/dri/renderD129"):
        run = Run(folder, f"{gpu},{gpu}", {}, ("vainfo", "--display", "drm", "--device", node)).finish()
        expect(run.status == 0, run.said)


def closed_by_library(folder, gpu):
    """A library's destructor comes before the report."""
    library = compiled(folder.parent, "closer.so")
    run = Run(folder, gpu, {"LD_PRELOAD": str(library)}, ("true",)).finish()
    report = run.devices[0]
    expect(report["opened"] == 1 and report["left"]["total"] == 0, f"the report: {report}")


def named(folder, gpu):
    """A program of any name gives a report that can be read."""
    folder.mkdir(parents=True, exist_ok=True)
    program = shutil.copy(compiled(folder.parent, "ioctls"), folder / 'na"me\\ \n')
    expect(Run(folder, gpu, {}, (program, "folders")).finish().reports[0]["program"] == 'na"me\\ \n', "the name")


def launched(folder, gpu):
    """What `run` cannot do it says."""
    for gpus, command in (("ihd", ("true",)), (f"{gpu},foo", ("true",)), (gpu, ())):
        run = Run(folder, gpus, {}, command).finish()
        expect(run.status == 64 and "gpu/run: " in run.said, f"{gpus}: {run.status} {run.said}")
    spaced = folder / "a b"
    shutil.copytree(GPU, spaced, ignore=shutil.ignore_patterns("objects"))
    os.makedirs(spaced / ".build", exist_ok=True)
    (spaced / ".build/fakegpu.so").touch()
    environment = {key: value for key, value in os.environ.items() if key != "FAKEGPU_PRELOAD"}
    done = subprocess.run((spaced / "run", gpu, "true"), env=environment, capture_output=True, text=True)
    expect(done.returncode == 69 and "space" in done.stderr, f"a space in the path: {done.stderr}")


def all_tests(folder, short):
    """Each a name and a function that raises what is wrong."""
    for gpu in DEVICES[::2] if short else DEVICES:
        for mode in IOCTLS:
            path = folder / f"{gpu}-ioctls-{mode}"
            yield f"{gpu}: ioctls, {mode}", lambda gpu=gpu, mode=mode, path=path: ioctls(
                path, gpu, mode, compiled(folder, "ioctls"))
        tests = (read_back, several, closed_by_library, named, launched)
        for test in tests + ((scaled,) if gpu != "icelake" else ()):
            path = folder / f"{gpu}-{test.__name__}"
            yield f"{gpu}: {test.__name__.replace('_', ' ')}", lambda gpu=gpu, test=test, path=path: test(path, gpu)
