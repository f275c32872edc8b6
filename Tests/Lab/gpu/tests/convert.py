"""Has packed 4:2:2 converted to NV12 by the video enhancement engine: luma is the same, and chroma the mean of two rows."""

from faults import NODE, Run, expect
from judge import run as run_command

GPUS = ("icelake", "rocketlake")
FEW = ("icelake",)
FFMPEG = ("ffmpeg", "-nostdin", "-v", "error", "-y")
PICTURES = 5
SIZES = ((640, 360), (318, 182), (1920, 1080))


def source(width, height):
    graph = f"testsrc2=s={width}x{height}:r=30,noise=all_seed=1:alls=20:allf=t"
    return ("-f", "lavfi", "-i", graph, "-frames:v", str(PICTURES))


def convert(folder, gpu, settings, layout, width, height):
    chain = f"format={layout},hwupload,scale_vaapi=format=nv12,hwdownload,format=nv12"
    output = ("-vf", chain, "-f", "rawvideo", folder / "converted")
    command = (*FFMPEG, "-vaapi_device", NODE, *source(width, height), *output)
    return Run(folder, gpu, settings, command).finish(limit=60)


def halved(picture, layout, width, height):
    """A packed picture as NV12."""
    luma, chroma = (0, 1) if layout == "yuyv422" else (1, 0)
    rows = [picture[2 * width * row + chroma : 2 * width * (row + 1) : 2] for row in range(height)]
    means = (bytes((a + b + 1) // 2 for a, b in zip(*pair)) for pair in zip(rows[::2], rows[1::2]))
    return picture[luma::2] + b"".join(means)


def converts(folder, gpu, layout, width, height):
    run = convert(folder, gpu, {}, layout, width, height)
    expect(run.status == 0 and not run.said, run.said)
    path, length = folder / "packed", 2 * width * height
    run_command(*FFMPEG, *source(width, height), "-vf", f"format={layout}", "-f", "rawvideo", str(path))
    packed = path.read_bytes()
    expect(len(packed) == PICTURES * length, f"{len(packed)} bytes")
    wanted = b"".join(
        halved(packed[length * number : length * (number + 1)], layout, width, height) for number in range(PICTURES))
    expect((folder / "converted").read_bytes() == wanted, "not the pictures, converted")
    report = run.devices[0]
    expect(report["converted"] == PICTURES and not report["left"]["total"], f"the report: {report}")


def lost_device(folder, gpu):
    run = convert(folder, gpu, {"FAKEGPU_FAULTS": "lost 2"}, "yuyv422", 640, 360)
    expect(run.status >= 0 and run.devices[0]["converted"] == 2, f"{run.status}: {run.devices[0]}")


def hanging(folder, gpu):
    """After a second the kernel resets the device."""
    run = convert(folder, gpu, {"FAKEGPU_FAULTS": "hang 2 1000"}, "yuyv422", 640, 360)
    expect(run.status >= 0 and run.devices[0]["converted"] == 2 and run.took >= 1, f"{run.status}: {run.devices[0]}")


def other_layouts(folder, gpu):
    """What the engine does besides is not modelled, which is said."""
    chain = "format=nv12,hwupload,scale_vaapi=format=yuyv422,hwdownload,format=yuyv422"
    command = (*FFMPEG, "-vaapi_device", NODE, *source(640, 360), "-vf", chain, "-f", "null", "-")
    run = Run(folder, gpu, {}, command).finish()
    expect("its results are missing" in run.said and not run.devices[0]["converted"], run.said)


def all_tests(folder, short):
    """Each a name and a function that raises what is wrong."""
    for gpu in FEW if short else GPUS:
        for layout in ("yuyv422", "uyvy422"):
            for width, height in SIZES[:2] if short else SIZES:
                path = folder / f"{gpu}-convert-{layout}-{width}"
                yield (f"{gpu}: converts {layout} of {width}x{height}",
                       lambda gpu=gpu, layout=layout, width=width, height=height, path=path: converts(
                           path, gpu, layout, width, height))
    for gpu in FEW:
        for test in (lost_device, hanging, other_layouts):
            path = folder / f"{gpu}-convert-{test.__name__}"
            yield (f"{gpu}: converting, {test.__name__.replace('_', ' ')}",
                   lambda gpu=gpu, test=test, path=path: test(path, gpu))
