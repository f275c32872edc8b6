"""The emulated GPU's test cases: what may be chosen on each device, and the pairwise combinations of it."""

import itertools
from dataclasses import dataclass, field

# What is varied. H.265 has no choice of entropy coding; the first value of each is the plainest.
PARAMETERS = ("profile", "entropy", "rate", "size", "slices", "gop", "source", "beside")

PROFILES = {  # our name: codec, ffmpeg's option, ffprobe's name
    "baseline": ("h264", "constrained_baseline", "Constrained Baseline"),
    "main": ("h264", "main", "Main"),
    "high": ("h264", "high", "High"),
    "h265-main": ("hevc", "main", "Main"),
    "h265-main10": ("hevc", "main10", "Main 10"),
}
RATES = {
    "cqp18": ("-rc_mode", "CQP", "-qp", "18"),
    "cqp26": ("-rc_mode", "CQP", "-qp", "26"),
    "cqp40": ("-rc_mode", "CQP", "-qp", "40"),
    "cbr": ("-rc_mode", "CBR", "-b:v", "2M"),
    "vbr": ("-rc_mode", "VBR", "-b:v", "2M", "-maxrate", "4M"),
    "qvbr": ("-rc_mode", "QVBR", "-b:v", "2M", "-maxrate", "4M", "-global_quality", "25"),
}
GOPS = {
    "ip": ("-g", "100"),
    "intra": ("-g", "1"),
    "idr3": ("-g", "3"),
    "i2idr4": ("-g", "2", "-idr_interval", "1"),  # every other I picture is no IDR picture
}
SOURCES = ("pattern", "noise", "zeros")
# A second session in the same process, which encodes its own pictures in turn with the first's.
BESIDE = ("alone", "h264-cavlc", "h264-cabac", "h265")


@dataclass(frozen=True)
class Device:
    """A GPU under a driver. `values` narrows or widens what is varied on it."""

    name: str
    driver: str
    environment: dict = field(hash=False, default_factory=dict)
    options: tuple = ()
    values: dict = field(hash=False, default_factory=dict)
    # Widest and highest picture, by codec.
    limit: dict = field(hash=False, default_factory=dict)

    def parameters(self):
        common = {
            "profile": tuple(PROFILES),
            "entropy": ("cabac", "cavlc"),
            "rate": ("cqp26", "cqp18", "cqp40", "cbr", "vbr"),
            "size": ("640x480", "64x64", "128x128", "176x144", "318x182", "175x143", "636x358", "1280x720", "1920x1080"),
            "slices": ("1",),
            "gop": tuple(GOPS),
            "source": SOURCES,
            "beside": BESIDE,
        }
        return {name: self.values.get(name, common[name]) for name in PARAMETERS}

    def states_size(self, codec, width, height):
        """Whether the stream's own size is what was asked. radeonsi 22.3 aligns H.265 pictures to 64x16 and crops them
        by what the application had for another alignment, or by half on the left."""
        return not (self.driver == "radeonsi" and codec == "hevc" and (width % 64 or height % 16))

    def allows(self, case):
        """Whether the values of `case`, which may lack some, go together."""
        codec = PROFILES[case["profile"]][0] if "profile" in case else None
        if codec == "hevc" and case.get("entropy") == "cavlc":
            return False
        if case.get("profile") == "baseline" and case.get("entropy") == "cabac":
            return False
        if codec == "hevc" and case.get("rate") == "qvbr":
            return False
        # Mesa 22.3 writes the syntax of P slices into an I slice of a picture that is no IDR picture.
        if self.driver == "radeonsi" and codec == "h264" and case.get("gop") == "i2idr4":
            return False
        if self.driver == "iHD" and codec == "hevc" and case.get("size") == "64x64":  # its least is 128x128
            return False
        # Skylake's engine makes all slices of a picture from one header, which ends with ffmpeg's cabac_alignment_one_bits:
        # how many of them there are the emulated GPU cannot know.
        if self.name == "iHD Skylake" and case.get("slices") == "rows" and case.get("entropy") == "cabac":
            return False
        return True


H264 = ("baseline", "main", "high")
RATES_WITH_QVBR = ("cqp26", "cqp18", "cqp40", "cbr", "vbr", "qvbr")
DEVICES = (
    Device("radeonsi", "radeonsi", limit={"h264": "4096x2304", "hevc": "4096x2304"}),
    Device(
        "iHD",
        "iHD",
        options=("-low_power", "1"),
        # With this driver ffmpeg makes a slice for each row of macroblocks, or one; `sessions` makes 2 and 3.
        values={"rate": RATES_WITH_QVBR, "slices": ("1", "rows")},
        limit={"h264": "4096x4096", "hevc": "8192x8192"},
    ),
    Device(
        "iHD Skylake",
        "iHD",
        environment={"FAKEGPU_I915": "0x1912"},
        options=("-low_power", "1"),
        values={
            "profile": H264,
            "slices": ("1", "rows"),
            "size": ("640x480", "64x64", "175x143", "636x358"),
            "beside": ("alone", "h264-cavlc", "h264-cabac"),
        },
        limit={"h264": "4096x4096"},
    ),
)


def pairwise(parameters, allows):
    """Cases (dictionaries) in which every allowed pair of values occurs; the same ones each time.

    Greedy: a case begins with the first pair that has not occurred, and each further parameter takes the value that
    brings the most new pairs.
    """

    def pairs(case):
        return {((a, case[a]), (b, case[b])) for a, b in itertools.combinations(sorted(case), 2)}

    def completed(case):
        missing = [name for name in parameters if name not in case]
        if not missing:
            return case
        name = missing[0]
        choices = [{**case, name: value} for value in parameters[name]]
        # Stable: among equals the plainest value comes first.
        choices.sort(key=lambda choice: -len(pairs(choice) & left))
        for choice in choices:
            if allows(choice):
                found = completed(choice)
                if found:
                    return found
        return None

    left = set()
    for a, b in itertools.combinations(sorted(parameters), 2):
        for one, other in itertools.product(parameters[a], parameters[b]):
            if allows({a: one, b: other}):
                left.add(((a, one), (b, other)))
    order = {(name, value): i for name in parameters for i, value in enumerate(parameters[name])}
    cases = []
    while left:
        first = min(left, key=lambda pair: [(item[0], order[item]) for item in pair])
        case = completed(dict(first))
        if case is None:  # allowed as a pair, though in no whole case
            left.discard(first)
            continue
        left -= pairs(case)
        cases.append(case)
    return cases


def table(device):
    """The pairwise cases of `device`, and those beside them: its limits."""
    cases = pairwise(device.parameters(), device.allows)
    plain = {name: values[0] for name, values in device.parameters().items()}
    for codec, size in device.limit.items():
        profile = "high" if codec == "h264" else "h265-main"
        cases.append({**plain, "profile": profile, "size": size})
    return cases


def short(cases):
    """A selection of `cases` for every day: small pictures, each value of the other parameters at least once."""
    chosen, seen = [], set()
    for case in cases:
        width, height = map(int, case["size"].split("x"))
        values = {item for item in case.items() if item[0] != "size"}
        if width * height <= 640 * 480 and values - seen:
            chosen.append(case)
            seen |= values
    return chosen
