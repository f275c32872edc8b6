"""The faults on request and the report at the end: what each setting of README.md does."""

import json
import os
import subprocess
import time

from encode import GPU, compiled
from judge import Wrong

NODE = "/dev/dri/renderD128"
PICTURES = 10
DEVICES = {  # the names of ioctls that allocate and submit, and ffmpeg's options
    "renoir": ("AMDGPU_GEM_CREATE", "AMDGPU_CS", ()),
    "icelake": ("I915_GEM_CREATE", "I915_GEM_EXECBUFFER2", ("-low_power", "1")),
}


class Run:
    """A program beneath the emulated GPU, its exit status and the report's part for the first GPU."""

    def __init__(self, folder, gpus, settings, command):
        self.report_path = folder / "report"
        self.log_path = folder / "log"
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "FAKEGPU_REPORT": str(self.report_path), "FAKEGPU_LOG": str(self.log_path), **settings}
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
        self.devices = json.loads(self.report_path.read_text().splitlines()[-1])["devices"] if self.report_path.exists() else None
        return self

    def coded(self):
        return self.log_path.read_text().count('"op":"encode"') if self.log_path.exists() else 0


def encode(folder, gpu, settings, count=PICTURES, node=NODE):
    source = ("-f", "lavfi", "-i", "testsrc2=s=320x240:r=30", "-vf", "format=nv12,hwupload")
    output = ("-c:v", "h264_vaapi", *DEVICES[gpu][2], "-g", "100", "-frames:v", count, "-f", "null", "-")
    return Run(folder, settings.pop("gpus", gpu), settings, ("ffmpeg", "-nostdin", "-v", "error", "-vaapi_device", node, *source, *output))


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def fails(run, pictures=None):
    run.finish()
    expect(run.status != 0, "the program does not notice")
    expect(run.devices and run.devices[0]["faults"] >= 1, f"no fault is reported: {run.said}")
    if pictures is not None:
        expect(sum(run.devices[0]["pictures"][codec] for codec in ("h264", "h265")) == pictures, f"not {pictures} pictures: {run.devices[0]}")
    return run


def plain(folder, gpu, _):
    run = encode(folder, gpu, {}).finish()
    expect(run.status == 0, run.said)
    expect(run.devices[0]["pictures"]["h264"] == PICTURES and run.devices[0]["sessions"] == 1, f"the report: {run.devices[0]}")
    expect(run.devices[0]["left"]["total"] == 0 and run.devices[0]["memory_peak"] > 0, f"the report: {run.devices[0]}")


def cheap(folder, gpu, _):
    run = encode(folder, gpu, {"FAKEGPU_PICTURES": "cheap"}).finish()
    expect(run.status == 0, run.said)
    expect(run.devices[0]["pictures"]["skipped"] == PICTURES - 1 and run.devices[0]["coded_bytes"] < 2000, f"the report: {run.devices[0]}")


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


def coded_buffer(folder, gpu, _):
    # iHD says that the picture failed; radeonsi gives one of no bytes, which ffmpeg takes.
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": "coded 1000"}).finish()
    expect(run.devices and run.devices[0]["pictures"]["failed"] >= 1, f"the report: {run.devices}")


def slow(folder, gpu, _):
    run = encode(folder, gpu, {"FAKEGPU_FAULTS": "slow 50"}).finish()
    expect(run.status == 0, run.said)
    expect(run.took >= PICTURES * 0.05, f"it took {run.took:.2f} s")


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
    expect(run.status == 0 and left["nodes"] >= 1 and left["dma_bufs"] >= 1 and left["buffers"] >= 1, f"the report: {left}")
    run = Run(folder, gpu, {}, (program, "free")).finish()
    expect(run.status == 0 and run.devices[0]["left"]["total"] == 0, f"the report: {run.devices[0]}")


def imported(folder, gpu, program):
    run = Run(folder, gpu, {}, (program, "import")).finish()
    expect(run.status == 0 and run.devices[0]["imports"] >= 1 and run.devices[0]["left"]["total"] == 0, f"{run.said} {run.devices}")
    run = Run(folder, gpu, {"FAKEGPU_FAULTS": "import EINVAL"}, (program, "import")).finish()
    expect(run.status == 1 and run.devices[0]["faults"] >= 1, f"not refused: {run.said} {run.devices}")


TESTS = (plain, cheap, failing_allocation, failing_once, no_memory, device_lost, hang_and_reset, hang, coded_buffer, slow,
         control, one_of_two, leak, imported)


def all_tests(folder):
    """Each a name and a function that raises what is wrong."""
    for gpu in DEVICES:
        for test in TESTS:
            name = f"{gpu}: {test.__name__.replace('_', ' ')}"
            yield name, lambda gpu=gpu, test=test: test(folder / f"{gpu}-{test.__name__}", gpu, compiled(folder, "surfaces"))
