"""The stages of scripts/test in the order in which their results are printed. A stage stands behind what it needs."""

import dataclasses

# What a run has beyond the smaller ones. `--full` and `--distributions` each add to `--lab`.
TIERS = ("basic", "lab", "full", "distributions")
LAB = "Tests/Lab"


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    command: tuple
    tier: str = "lab"
    # Stages that must have passed before. "programs" is the build whose programs a run tests.
    needs: tuple = ("programs",)
    # Seconds after which it hangs, which is a failure, too; on a machine that does much else.
    limit: int = 1500
    # Other commands, by the largest tier of the run; "need" is for runs that only need what the stage makes.
    instead: dict = dataclasses.field(default_factory=dict)
    # Needs more of the network than the loopback: package archives, a name server, a route. All others have a network of
    # their own where root can give them one, so that two stages never meet at a port.
    is_online: bool = False
    # Plays, shows or streams as fast as a camera delivers: it gets a processor before all that has time.
    is_real_time: bool = False
    # Measures what is heard to a hundredth of a second: nothing else runs beside it.
    is_alone: bool = False
    # A failure of it is told from failures of tests.
    is_build: bool = False
    # Emulates a machine of two processors.
    is_guest: bool = False

    def in_run(self, tiers):
        """The stage as a run of these tiers has it."""
        largest = max(tiers, key=TIERS.index)
        build = "build" if largest == "basic" else "release-build"
        needs = tuple(build if need == "programs" else need for need in self.needs)
        if self.name == "build" and build == "release-build":
            needs += (build,)  # which the guests wait for, the longest of all
        return dataclasses.replace(self, command=self.instead.get(largest, self.command), needs=needs)

    def as_need(self):
        """The stage where only what it makes is wanted."""
        return dataclasses.replace(self, command=self.instead.get("need", self.command))


def host(name, *arguments, script=None, **options):
    return Stage(name, (f"{LAB}/host/{script or name}.sh", *arguments), **options)


def guest(name, script, *options, limit=2400, needs=("guest-kernel", "programs"), **more):
    # The guest's own limit comes first, and says more.
    return Stage(name, (f"{LAB}/guest/run", *options, "--limit", str(limit), *script.split()), needs=needs, limit=limit + 100, is_guest=True, **more)


def fault(name):
    return Stage(f"faults-{name}", (f"{LAB}/faults/{name}.sh", "--short"), needs=("programs", "gpu-drivers"))


def distribution(name, *arguments, **options):
    # It takes the packages' sources from the folder in which the programs are built.
    return Stage(name, (f"{LAB}/distribution", *arguments), needs=("release-build",), limit=7200, is_online=True, **{"tier": "distributions", **options})


HARDWARE = {"needs": ("programs", "gpu-drivers")}
WEBCAM = {"needs": ("guest-kernel", "webcam", "programs")}
GUEST, DRIVERS = f"{LAB}/guest", ("radeonsi", "iHD")

STAGES = (
    host("packages", script="install-packages", tier="basic", needs=(), is_online=True),
    host("release-build", script="quickstart", needs=("packages",), limit=3600, is_online=True, is_build=True, instead={"need": ("scripts/build",)}),
    host("build", script="build", tier="basic", needs=("packages",), limit=3600, is_online=True, is_build=True),
    host("unit", tier="basic", needs=("build",)),
    host("gpu-drivers", "gpu", script="fetch", tier="basic", needs=("packages",), is_online=True),
    host("software", tier="basic"),
    host("errors", tier="basic", instead={"basic": (f"{LAB}/host/errors.sh", "--short")}),
    host("containers", tier="basic"),
    host("manual", tier="basic"),
    *(host(f"vaapi-{driver}", driver, script="vaapi", tier="basic", instead={"basic": (f"{LAB}/host/vaapi.sh", driver, "--short")}, **HARDWARE) for driver in DRIVERS),
    host("layout", needs=("packages",), is_online=True),
    host("library", needs=("release-build",), is_online=True),
    host("mutants", needs=("packages",)),
    host("downloads", script="fetch", needs=("packages",), is_online=True),
    host("guest-kernel", "guest", script="fetch", needs=("packages",), is_online=True),
    host("webcam", "webcam", script="fetch", needs=("guest-kernel",), is_online=True),
    host("link-order", needs=("release-build",)),
    host("fuzzing", needs=("packages",), is_online=True),
    host("debian-packages", needs=("release-build",), is_online=True, limit=3600),
    *(host(name) for name in ("scenes", "rates", "pictures", "segments", "events", "keeping", "snapshots")),
    host("sound", is_real_time=True),
    host("motion", needs=("programs", "downloads")),
    host("live", is_real_time=True),
    host("publish", is_online=True, is_real_time=True, instead={"full": (f"{LAB}/host/publish.sh", "--full")}),
    host("metrics", needs=("programs", "downloads")),
    host("play", is_online=True, is_real_time=True),
    host("play-sound", is_real_time=True, is_alone=True),
    host("order"),
    host("web", is_real_time=True),
    host("web-crowd", is_real_time=True, limit=5400, instead={"full": (f"{LAB}/host/web-crowd.sh", "3600")}),
    host("web-keeping", is_real_time=True),
    *(host(name) for name in ("web-access", "players", "shells", "release")),
    host("arm64", needs=("programs", "downloads")),
    host("settings"),
    host("inspect"),
    host("documents", **HARDWARE),
    host("reference"),
    Stage("gpu", (f"{LAB}/gpu/test", "--short"), needs=("gpu-drivers",)),
    *(host(f"jpeg-{driver}", driver, script="jpeg", **HARDWARE) for driver in DRIVERS),
    *(host(f"properties-{driver}", driver, script="properties", needs=("build", "gpu-drivers")) for driver in DRIVERS),
    *(fault(name) for name in ("processes", "disks", "encoders", "jpeg-encoders")),
    host("soak", **HARDWARE),
    guest("guest-cameras", f"{GUEST}/cameras.sh"),
    guest("guest-sharing", f"{GUEST}/sharing.sh", limit=1200, needs=("guest-kernel", "gpu-drivers", "programs")),
    guest("guest-webcam", f"{GUEST}/webcam.sh", **WEBCAM),
    guest("guest-grabbers", f"{GUEST}/grabbers.sh", limit=1200, **WEBCAM),
    guest("guest-unattended", f"{GUEST}/unattended.sh", "--systemd", **WEBCAM),
    guest("guest-documents", f"{GUEST}/documents.sh"),
    distribution("debian-13", "trixie", "--build", tier="lab", instead={"full": (f"{LAB}/distribution", "trixie", "--drivers"), "distributions": (f"{LAB}/distribution", "trixie", "--drivers")}),
    host("encoder-sweep", tier="full", limit=7200),
    host("cross", tier="full", needs=("packages",), limit=7200, is_online=True),
    guest("guest-everyday", f"{GUEST}/everyday.sh", tier="full", **WEBCAM),
    guest("guest-sound", f"{GUEST}/sound.sh", limit=900, tier="full"),
    guest("guest-microphone", f"{GUEST}/microphone.sh", limit=900, tier="full", **WEBCAM),
    guest("guest-browser", f"{GUEST}/browser.sh", "--systemd", "--beside", f"{GUEST}/browser-beside.sh", limit=1200, tier="full"),
    guest("guest-publish", f"{GUEST}/publish.sh --full", tier="full"),
    host("unit-debug", "debug", script="unit", tier="full", needs=("packages",), limit=7200, is_online=True),
    host("address-sanitizer", "address", script="unit", tier="full", needs=("packages",), limit=7200, is_online=True),
    host("thread-sanitizer", "thread", script="unit", tier="full", needs=("packages",), limit=7200, is_online=True),
    host("debian-packages-twice", "--twice", script="debian-packages", tier="full", needs=("release-build",), limit=7200, is_online=True),
    guest("guest-packages", f"{GUEST}/packages.sh", "--systemd", limit=1500, tier="full", needs=("guest-kernel", "debian-packages", "programs")),
    guest("guest-sharing-debian-13", f"{GUEST}/sharing-debian13.sh", limit=900, tier="full", needs=("guest-kernel", "webcam", "debian-13")),
    *(distribution(f"debian-{number}", release) for number, release in ((12, "bookworm"), ("13-unit", "trixie"), ("sid", "sid"))),
    distribution("debian-sid-release", "sid", "--build"),
    distribution("debian-sid-own-swift", "sid", "--own-swift"),
    *(distribution(f"debian-{number}-packages", release, "--packages") for number, release in ((12, "bookworm"), (13, "trixie"))),
)
