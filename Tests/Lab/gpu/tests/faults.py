"""The faults on request and the report at the end: what each setting of README.md does."""

import json
import os
import subprocess
import time

from encode import GPU, compiled
from judge import Wrong

NODE = "/dev/dri/renderD128"
PICTURES = 10
DEVICES = {  # the names of ioctls that allocate and submit
    "renoir": ("AMDGPU_GEM_CREATE", "AMDGPU_CS"),
    "icelake": ("I915_GEM_CREATE", "I915_GEM_EXECBUFFER2"),
}
SOURCE = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30", "-vf", "format=nv12,hwupload")


class Run:
    """A program beneath the emulated GPU, its exit status and the report's part for the first GPU."""

    def __init__(self, folder, gpus, settings, command):
        self.report_path = folder / "report"
        self.log_path = folder / "log"
        folder.mkdir(parents=True, exist_ok=True)
        files = {"FAKEGPU_REPORT": str(self.report_path), "FAKEGPU_LOG": str(self.log_path)}
        environment = {**os.environ, **files, **settings}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            (str(GPU / "run"), gpus, *map(str, command)), env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def finish(self, limit=120):
        try:
            self.said = self.process.communicate(timeout=limit)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        self.status, self.took = self.process.returncode, time.monotonic() - self.started
        lines = self.report_path.read_text().splitlines() if self.report_path.exists() else []
        self.reports = [json.loads(line) for line in lines]
        self.devices = self.reports[-1]["devices"] if lines else None
        return self

    def coded(self):
        return self.log_path.read_text().count('"op":"encode"') if self.log_path.exists() else 0


def encode(folder, gpu, settings, count=PICTURES, node=NODE):
    output = ("-c:v", "h264_vaapi", "-g", "100", "-frames:v", count, "-f", "null", "-")
    command = ("ffmpeg", "-nostdin", "-v", "error", "-vaapi_device", node, *SOURCE, *output)
    return Run(folder, settings.pop("gpus", gpu), settings, command)


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def fails(run, pictures=None):
    run.finish()
    expect(run.status != 0, "the program does not notice")
    expect(run.devices and run.devices[0]["faults"] >= 1, f"no fault is reported: {run.said}")
    if pictures is not None:
        coded = sum(run.devices[0]["pictures"][codec] for codec in ("h264", "h265"))
        expect(coded == pictures, f"not {pictures} pictures: {run.devices[0]}")
    return run


def plain(folder, gpu, _):
    run = encode(folder, gpu, {}).finish()
    report = run.devices[0]
    expect(run.status == 0 and not run.said, run.said)
    expect(report["pictures"]["h264"] == PICTURES and report["sessions"] == 1, f"the report: {report}")
    expect(report["left"]["total"] == 0 and report["memory_peak"] > 0, f"the report: {report}")


def cheap(folder, gpu, _):
    run = encode(folder, gpu, {"FAKEGPU_PICTURES": "cheap"}).finish()
    expect(run.status == 0, run.said)
    report = run.devices[0]
    expect(report["pictures"]["skipped"] == PICTURES - 1 and report["coded_bytes"] < 2000, f"the report: {report}")


def failing_allocation(folder, gpu, _):
    fails(encode(folder, gpu, {"FAKEGPU_FAULTS": f"fail {DEVICES[gpu][0]} ENOMEM"}), 0)


def failing_once(folder, gpu, _):
    # Mesa ends the program then, and iHD says that the picture failed.
    run = fails(encode(folder, gpu, {"FAKEGPU_FAULTS": f"fail {DEVICES[gpu][1]} EIO 6 1"}))
    expect(run.devices[0]["faults"] == 1, f"not one fault: {run.devices[0]}")


def no_memory(folder, gpu, _):
    run = fails(encode(folder, gpu, {"FAKEGPU_FAULTS": "memory 1M"}), 0)
    expect(run.devices[0]["memory_peak"] <= 1 << 20, f"the report: {run.devices[0]}")


def device_lost(folder, gpu, _):
    fails(encode(folder, gpu, {"FAKEGPU_FAULTS": "lost 5"}), 5)


def hang_and_reset(folder, gpu, _):
    run = fails(encode(folder, gpu, {"FAKEGPU_FAULTS": "hang 5 300"}), 5)
    expect(run.took >= 0.3, f"it took {run.took:.2f} s")


def hang(folder, gpu, _):
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": "hang 5"})
    while run.coded() < 5 and run.process.poll() is None:
        time.sleep(0.05)
    try:
        run.finish(limit=1)
    except subprocess.TimeoutExpired:
        expect(run.coded() == 5, f"{run.coded()} pictures were coded")
        return
    raise Wrong(f"the program ends: {run.said}")


def stuck(folder, gpu, _):
    """The program waits in the call forever."""
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": f"stuck {DEVICES[gpu][0]}"})
    try:
        run.finish(limit=3)
    except subprocess.TimeoutExpired:
        expect(run.coded() == 0, f"{run.coded()} pictures were coded")
        return
    raise Wrong(f"the program ends: {run.said}")


def coded_buffer(folder, gpu, _):
    # iHD says that the picture failed; radeonsi gives one of no bytes, which ffmpeg takes.
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": "coded 1000"}).finish()
    report = run.devices[0]
    expect(report["pictures"]["failed"] >= 1 and report["faults"] >= 1, f"the report: {report}")


def coded_buffer_later(folder, gpu, _):
    """P pictures overflow as well, while there is the fault: 300 pictures take 3 s."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "control"
    file.write_text("slow 10\n")
    run = encode(folder, gpu, {"FAKEGPU_CONTROL": str(file)}, count=300)
    while run.coded() < 3 and run.process.poll() is None:
        time.sleep(0.05)
    file.write_text("coded 100\n")
    run.finish()
    pictures = run.devices[0]["pictures"]
    expect(pictures["failed"] >= 1 and pictures["skipped"] == 0, f"the report: {run.devices[0]}")


def slow(folder, gpu, _):
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": "slow 50"}).finish()
    expect(run.status == 0, run.said)
    expect(run.took >= PICTURES * 0.05, f"it took {run.took:.2f} s")
    expect(run.devices[0]["faults"] == PICTURES, f"the report: {run.devices[0]}")


def unreadable(folder, gpu, _):
    """What cannot be read is said, and nothing comes of it: with `hang` the program would not end."""
    faults = ("hang 3 abc", "lost 5 9", "coded", "fail AMDGPU_SC EIO", "renderD200: lost 3", "slow 9999999999999999999")
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": "; ".join(faults), "FAKEGPU_PICTURES": "chep"}).finish()
    expect(run.status == 0 and run.devices[0]["faults"] == 0, f"{run.said} {run.devices[0]}")
    for words in (*faults, "chep"):
        expect(f"'{words}'" in run.said, f"nothing is said of '{words}': {run.said}")


def control(folder, gpu, _):
    """The engine is slow until the file says that the device is lost: 300 pictures would take 15 s."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "control"
    file.write_text("slow 50\n")
    run = encode(folder, gpu, {"FAKEGPU_CONTROL": str(file)}, count=300)
    while run.coded() < 3 and run.process.poll() is None:
        time.sleep(0.05)
    file.write_text("# at once\nlost 0\n")
    fails(run)
    expect(run.coded() < 300, "the control file has no effect")


def one_of_two(folder, gpu, _):
    settings = {"FAKEGPU_FAULTS": "renderD129: fail * ENODEV", "gpus": f"{gpu},icelake"}
    run = encode(folder, gpu, settings).finish()
    expect(run.status == 0, run.said)
    expect(run.devices[0]["faults"] == 0 and len(run.devices) == 2, f"the report: {run.devices}")


def leak(folder, gpu, program):
    run = Run(folder, gpu, {}, (program, "leak")).finish()
    left = run.devices[0]["left"]
    found = all(left[kind] >= 1 for kind in ("nodes", "dma_bufs", "buffers"))
    expect(run.status == 0 and found, f"the report: {left}")
    run = Run(folder, gpu, {}, (program, "free")).finish()
    expect(run.status == 0 and run.devices[0]["left"]["total"] == 0, f"the report: {run.devices[0]}")


def imported(folder, gpu, program):
    run = Run(folder, gpu, {}, (program, "import")).finish()
    report = run.devices[0]
    expect(run.status == 0 and report["imports"] >= 1 and report["left"]["total"] == 0, f"{run.said} {report}")
    run = Run(folder, gpu, {"FAKEGPU_FAULTS": "import EINVAL"}, (program, "import")).finish()
    expect(run.status == 1 and run.devices[0]["faults"] >= 1, f"not refused: {run.said} {run.devices}")


TESTS = (plain, cheap, failing_allocation, failing_once, no_memory, device_lost, hang_and_reset, hang, stuck, coded_buffer,
         coded_buffer_later, slow, unreadable, control, one_of_two, leak, imported)


def all_tests(folder):
    """Each a name and a function that raises what is wrong."""
    for gpu in DEVICES:
        for test in TESTS:
            name = f"{gpu}: {test.__name__.replace('_', ' ')}"
            path = folder / f"{gpu}-{test.__name__}"
            yield name, lambda gpu=gpu, test=test, path=path: test(path, gpu, compiled(folder, "surfaces"))
