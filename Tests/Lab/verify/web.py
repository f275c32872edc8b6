#!/usr/bin/env python3
"""Watches cameras in camweb's page as people do.

usage: web.py live URL [--large] [--dark] [--size WxH] [--screenshot FILE] [--tabs N] [--after NUMBER]
                       [--without-webcodecs] NAME...
                                        each camera's picture is the test source's, and moves; prints the number of the
                                        last picture, and how old pictures were when they were seen
       web.py outage URL NAME           says "live", "down" and "back" as the page shows it, with what it says meanwhile
       web.py ages URL                  the page's rules for the state of a picture, with times of the test's own
       web.py states URL NAME [--without-webcodecs]
                                        for each line of standard input, a state and a text: the page, and one that is opened
                                        then, show that state with the text, and a picture that is not live dimmed; prints the
                                        line's number
       web.py comes URL NAME            says what the page says without cameras, NAME once that camera came and was seen, and
                                        "changed" once it was seen with a control socket; then it goes
       web.py unplayable URL NAME TEXT  a camera whose stream the browser cannot decode says so, with TEXT; where the browser
                                        can, its picture is seen
       web.py sizes URL NAME SMALL LARGE
                                        among several cameras, NAME has pictures of width SMALL, and alone those of width LARGE
       web.py stops URL NAME            a camera that nobody sees is not fetched
       web.py recordings URL NAME [--dark] [--size WxH] [--screenshot FILE]
                                        the time line shows what was recorded and what was not; a click plays the picture of
                                        that time, across files and over a gap; a keyframe is seen while looking for a time.
                                        Prints the address of a download, and what it must have
       web.py events URL NAME           Trigger makes an event, which the time line shows as one; the oldest event goes when the
                                        recorder removes it, while the page shows it; eight times the speed
       web.py heard URL NAME            the browser decodes the sound of a recording
       web.py recorder URL NAME [--dark] [--size WxH] [--screenshot FILE]
                                        the figures move, and each button does what it says: to the live picture, and in the
                                        recorder's own figures
       web.py watches URL NAME USER PASSWORD [--dark] [--size WxH] [--screenshot FILE]
                                        a viewer sees the live picture and can save it, is offered nothing else, and is told
                                        "camera offline" without a cause; at the end of standard input, once the user is an
                                        administrator, the page has details and the cause
       web.py placed URL NAME USER PASSWORD [--pin HASH] [--embedder URL --stranger URL] [--dark] [--size WxH]
                                        [--screenshot FILE]
                                        the page below a path: login, live picture, an app that can be installed; the page at
                                        one address shows it in a frame, and that at the other may not
       web.py shows URL NAME            the figures move, and nothing can be changed
       web.py vivid URL NAME NAME [--dark] [--screenshot FILE]
                                        two cameras of the vivid driver: one shows colour bars, the other green, and both move
       web.py brightness URL NAME [--screenshot FILE]
                                        the slider makes the live picture brighter, with the keyboard, and Default brings it
                                        back; two minutes later the recording of that time is as bright, and that before is not
       web.py login URL NAME USER PASSWORD [--pin HASH] [--dark] [--size WxH] [--screenshot FILE]
                                        logs in on the page, watches, and logs out; HASH is of the key of a certificate
                                        that the browser shall trust

What is wrong is printed, with exit status 1.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from browser import PATIENCE, Browser, Failed, carry_out

# The test source's number in the top left corner and its time in the bottom left one, in blocks of 16 pixels, and the
# colours of its eight bars.
READ = """((name, selector) => {
  const surface = document.querySelector(`[data-name="${CSS.escape(name)}"] ${selector}`);
  const canvas = surface?.tagName === "VIDEO" ? new OffscreenCanvas(surface.videoWidth, surface.videoHeight) : surface;
  if (!canvas || canvas.width < 256 || canvas.height < 48) return null;
  const context = canvas.getContext("2d");
  if (canvas !== surface) context.drawImage(surface, 0, 0);
  const bits = (y) => {
    const { data } = context.getImageData(0, y, 256, 16);
    let value = 0;
    for (let bit = 0; bit < 16; bit += 1) value = value * 2 + (data[(8 * 256 + bit * 16 + 8) * 4] > 125 ? 1 : 0);
    return value;
  };
  const { width, height } = canvas;
  const bars = [...Array(8).keys()].map((bar) =>
    [...context.getImageData(Math.round(width * (bar + 0.5) / 8), Math.round(height * 0.45), 1, 1).data.slice(0, 3)]);
  const position = surface.currentTime ?? null;
  return { number: bits(0), time: bits(height - 32) * 65536 + bits(height - 16), bars, width, height, position };
})"""
BARS = [[191 if bits & mask else 0 for mask in (4, 2, 1)] for bits in (7, 6, 3, 2, 5, 4, 1, 0)]
# By which a colour may differ after coding and conversion.
TOLERANCE = 24
# Pictures that must be seen to call it live.
ENOUGH = 20


def read(page, name, selector=".picture :is(canvas, video)"):
    return page.evaluate(f"{READ}({json.dumps(name)}, {json.dumps(selector)})")


def check_bars(name, seen):
    for bar, (found, wanted) in enumerate(zip(seen["bars"], BARS)):
        if max(abs(a - b) for a, b in zip(found, wanted)) > TOLERANCE:
            raise Failed(f"{name}: bar {bar} is {found} in place of {wanted}")


def watch(page, name, after=-1):
    """Waits until enough pictures were seen, whose numbers go up.

    Returns the last number and the ages of the pictures in milliseconds.
    """
    numbers, ages, position, deadline = [], [], None, time.monotonic() + PATIENCE
    while len(numbers) < ENOUGH:
        if time.monotonic() > deadline:
            shown = page.evaluate("document.body.innerText")
            raise Failed(f"{name}: {len(numbers)} pictures in {PATIENCE} s; the page says: {shown!r}")
        seen = read(page, name)
        now = int(time.monotonic() * 1e6)
        if not seen or not any(sum(bar) for bar in seen["bars"]):
            continue
        # Firefox's player shows pictures ahead of their time when the next ones are late, and then goes back to them. Its
        # position does not go back.
        is_later = position is not None and seen["position"] is not None and seen["position"] >= position
        position = seen["position"]
        if numbers and seen["number"] < numbers[-1] and not is_later:
            raise Failed(f"{name}: picture {seen['number']} after {numbers[-1]}")
        if not numbers or seen["number"] > numbers[-1]:
            check_bars(name, seen)
            numbers.append(seen["number"])
            ages.append((now - seen["time"]) % (1 << 32) / 1000)
    if numbers[0] <= after:
        raise Failed(f"{name}: begins with picture {numbers[0]}, which is older than {after}")
    return numbers[-1], ages


def live(options):
    with Browser() as browser:
        size = tuple(map(int, options.size.split("x")))
        before = "delete window.VideoDecoder" if options.without_webcodecs else ""
        pages = [browser.open(options.url, size, options.dark, before) for _ in range(options.tabs)]
        for page in pages:
            page.wait("document.querySelector('.camera') !== null", "a camera on the page")
            if options.large:
                page.evaluate(f"document.querySelector('[data-name={json.dumps(options.names[0])}] button').focus()")
                page.press("Enter", "\r")
                page.wait("document.querySelector('.single .large') !== null", "one camera large after Enter")
        for page in pages:
            for name in options.names:
                last, ages = watch(page, name, options.after)
                ages.sort()
                print(f"{name}: picture {last}, seen {ages[len(ages) // 2]:.0f} ms after capture (best {ages[0]:.0f})")
        page = pages[0]
        if options.without_webcodecs and page.evaluate("document.querySelector('.picture canvas') !== null"):
            raise Failed("the page uses WebCodecs")
        page.wait("[...document.querySelectorAll('.camera')].some((e) => e.dataset.state === 'live')", "a live camera")
        if options.screenshot:
            page.screenshot(options.screenshot)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            raise Failed("the page is wider than the window")
        if options.large:
            page.press("Escape")
            page.wait("!document.querySelector('.single')", "all cameras after Escape")
        for page in pages:
            # The browser counts an answer that says why there is no picture as an error, too.
            complaints = [found for found in page.complaints() if " 503 " not in found]
            if complaints:
                raise Failed(f"the browser complains: {complaints}")


def state_of(name):
    return f"document.querySelector('[data-name={json.dumps(name)}]')?.dataset.state"


def outage(options):
    with Browser() as browser:
        page, name = browser.open(options.url), options.names[0]
        watch(page, name)
        print("live", flush=True)
        page.wait(f"{state_of(name)} === 'unavailable'", "the outage on the page")
        said = page.wait("[...document.querySelectorAll('.message')].map((e) => e.textContent).join('')", "its reason")
        print(f"down: {said}", flush=True)
        page.wait(f"{state_of(name)} === 'live'", "the camera's return")
        watch(page, name)
        print("back", flush=True)


# What happens at which millisecond, and what the page then says at which.
AGES = {
    "a page that is opened during an outage": (
        [(0, "open"), (10, "take", {"state": "live", "age": 12_000})], [(10, "silent", "no picture for 12 s")]),
    "a new page of a camera that plays": (
        [(0, "open"), (10, "take", {"state": "live", "age": 30})], [(10, "waiting", "waiting for a keyframe")]),
    "a picture that camweb has and the page cannot show": (
        [(0, "open"), (10, "take", {"state": "live", "age": 30}), (2_900, "take", {"state": "live", "age": 30})],
        [(2_900, "waiting", "waiting for a keyframe"), (3_500, "silent", "no picture for 4 s")]),
    "a camera that plays, and stops": (
        [(0, "open"), (10, "take", {"state": "live", "age": 30}), *((100 + 33 * number, "noteShown") for number in range(20))],
        [(800, "live", "live"), (3_700, "live", "live"), (3_800, "silent", "no picture for 3 s"), (80_000_000, "silent", "no picture for 22 h")]),
    "a camera of one picture in five seconds": (
        [(0, "open"), (10, "take", {"state": "live", "age": 30}), *((5_000 * number, "noteShown") for number in range(1, 8))],
        [(49_000, "live", "live"), (51_000, "silent", "no picture for 16 s")]),
    "an outage does not count as slowness": (
        [(0, "open"), (10, "take", {"state": "live", "age": 30}), *((33 * number, "noteShown") for number in range(1, 20)),
         (60_000, "noteShown"), (60_033, "noteShown")],
        [(60_100, "live", "live"), (63_100, "silent", "no picture for 3 s")]),
    "a pause, whatever the age": (
        [(0, "open"), (10, "noteShown"), (20, "take", {"state": "paused", "age": 0})], [(30, "paused", "paused"), (9_000, "paused", "paused")]),
    "no answer from camweb at all": ([(0, "open")], [(1_000, "connecting", "connecting"), (5_000, "silent", "no picture for 5 s")]),
}
RUN = """(async (events, moments) => {
  const { LiveState } = await import("/state.js");
  const live = new LiveState(true);
  for (const [now, name, status] of events) status ? live[name](status, now) : live[name](now);
  return JSON.stringify(moments.map(([now]) => { const { state, text } = live.describe(now); return [now, state, text]; }));
})"""


def ages(options):
    with Browser() as browser:
        page = browser.open(options.url)
        page.wait("document.getElementById('cameras') !== null", "the page")
        for what, (events, wanted) in AGES.items():
            found = json.loads(page.evaluate(f"{RUN}({json.dumps(events)}, {json.dumps(wanted)})"))
            if found != [list(one) for one in wanted]:
                raise Failed(f"{what}: {found} in place of {wanted}")


def states(options):
    with Browser() as browser:
        before = "delete window.VideoDecoder" if options.without_webcodecs else ""
        first, name = browser.open(options.url, before=before), options.names[0]
        watch(first, name)
        print("watching", flush=True)
        one = f"document.querySelector('[data-name={json.dumps(name)}]')"
        for number, line in enumerate(sys.stdin, 1):
            state, text = line.rstrip("\n").split(" ", 1)
            # Without camweb, no page can be opened.
            pages = [first] if state == "reconnecting" else [first, browser.open(options.url, before=before)]
            for page in pages:
                page.wait(f"{state_of(name)} === {json.dumps(state)} && {one}.querySelector('.state').textContent.includes({json.dumps(text)})",
                          f"the state {state}, {text!r}, in page {pages.index(page)}")
                dims = page.evaluate(f"Number(getComputedStyle({one}.querySelector('.picture > :is(canvas, video)')).opacity) < 1")
                if dims != (state != "live"):
                    raise Failed(f"{state}: the picture is {'dimmed' if dims else 'not dimmed'}")
                if state == "live":
                    watch(page, name)
                # A state that holds for a moment only is none.
                time.sleep(1.5)
                found = page.evaluate(state_of(name))
                if found != state:
                    raise Failed(f"{found} follows {state}")
            for page in pages[1:]:
                page.close()
            print(number, flush=True)


def comes(options):
    with Browser() as browser:
        page, name = browser.open(options.url), options.names[0]
        said = page.wait("document.getElementById('summary')?.textContent", "what to do without cameras")
        print(said, flush=True)
        page.wait(f"document.querySelector('[data-name={json.dumps(name)}]') !== null", "the camera on the page")
        watch(page, name)
        print(name, flush=True)
        # Its settings change, and the page goes on with them.
        page.wait(f"document.querySelector('[data-name={json.dumps(name)}] .recorder') !== null", "the recorder's figures")
        watch(page, name)
        print("changed", flush=True)
        page.wait("document.querySelector('.camera') === null", "a page without the camera")


def unplayable(options):
    with Browser() as browser:
        for before in ("", "delete window.VideoDecoder"):
            page, name = browser.open(options.url, before=before), options.names[0]
            page.wait(f"['live', 'unplayable'].includes({state_of(name)})", "the stream")
            plays = "VideoDecoder.isConfigSupported({codec: 'hev1.1.6.L93.90'}).then((found) => found.supported)"
            if page.evaluate(f"'VideoDecoder' in window ? {plays} : MediaSource.isTypeSupported('video/mp4; codecs=hvc1.1.6.L93.90')"):
                watch(page, name)
                continue
            said = page.wait("[...document.querySelectorAll('.message')].map((e) => e.textContent).join('')", "a reason")
            if options.text not in said:
                raise Failed(f"the page says {said!r}")
            print(said)


def clock_of(time_code, near):
    """The time since 1970 of a picture, in seconds: its time code is the monotonic clock's microseconds, modulo 2^32."""
    difference = time.time() - time.monotonic()
    code = time_code + difference * 1e6
    return (code + round((near * 1e6 - code) / (1 << 32)) * (1 << 32)) / 1e6


class LargeCamera:
    """A camera that is large on the page, with its time line."""

    def __init__(self, browser, options, before=""):
        self.name, self.options = options.names[0], options
        self.page = browser.open(options.url, tuple(map(int, options.size.split("x"))), options.dark, before)
        self.one = f"document.querySelector('[data-name={json.dumps(self.name)}]')"
        self.page.wait(f"{self.one} !== null", "the camera on the page")
        self.page.evaluate(f"{self.one}.querySelector('button').focus()")
        self.page.press("Enter", "\r")
        self.line = f"{self.one}.querySelector('.timeline')"

    def place(self, moment):
        """Where a time is in the time line, from 0 to 1."""
        self.page.wait(f"{self.line}.hasAttribute('aria-valuemin')", "the time line's times")
        begin, end = (float(self.page.evaluate(f"{self.line}.getAttribute('aria-value{edge}')")) for edge in ("min", "max"))
        return (moment - begin) / (end - begin)

    def is_recorded(self, moment):
        """Whether the time line has colour at a time."""
        return colour_at(self, moment) is not None

    def mouse(self, kind, moment):
        self.page.evaluate(f"{self.line}.scrollIntoView({{ block: 'center' }})")
        left, top, width, height = json.loads(self.page.evaluate(
            f"((box) => JSON.stringify([box.left, box.top, box.width, box.height]))({self.line}.getBoundingClientRect())"))
        self.page.mouse(kind, left + width * self.place(moment), top + height / 2)

    def click(self, moment):
        self.mouse("pressed", moment)
        self.mouse("released", moment)

    def press(self, text):
        self.page.evaluate(f"[...{self.one}.querySelectorAll('button')].find((e) => e.textContent === {json.dumps(text)}).click()")

    def played(self, near):
        """The time of the picture that is seen; None if there is none."""
        seen = read(self.page, self.name, "video.recording")
        if not seen or not any(sum(bar) for bar in seen["bars"]):
            return None
        check_bars(self.name, seen)
        return clock_of(seen["time"], near)

    def wait_for(self, what, begin, end):
        """Waits until a picture of a time is seen; what comes before may be seen first."""
        deadline, last = time.monotonic() + PATIENCE, None
        while time.monotonic() < deadline:
            moment = self.played(begin)
            if moment is not None and moment != last:
                last = moment
                if moment > end:
                    raise Failed(f"{what}: the picture of {moment:.3f} after the end, {end:.3f}")
                if moment >= begin:
                    return moment
            time.sleep(0.02)
        said = self.page.evaluate(f"{self.one}.innerText")
        raise Failed(f"{what}: the last picture is of {last}, not {begin:.3f} to {end:.3f}; the page says {said!r}")


def list_of(options):
    with urllib.request.urlopen(f"{options.url}recordings/{options.names[0]}.json?from=0&to=4000000000000000") as answer:
        return json.load(answer)


def unlike_list(camera, times, gap):
    """How the time line differs from the list; None if it does not."""
    if not all(camera.is_recorded((begin + end) / 2) for begin, end in times if camera.place(end) < 1):
        return "the time line does not show what was recorded"
    return "the time line shows a recording where there is none" if camera.is_recorded(gap) else None


def recordings(options):
    found = list_of(options)
    if not found["complete"] or found["problems"]:
        raise Failed(f"the list is not complete, or has problems: {found['problems']}")
    times = [(segment["start"] / 1e6, segment["end"] / 1e6) for segment in found["segments"]]
    gaps = [(one[1], other[0], index) for index, (one, other) in enumerate(zip(times, times[1:])) if other[0] - one[1] > 0.2]
    if len(gaps) != 1 or gaps[0][2] < 1:
        raise Failed(f"no gap after two recordings: {times}")
    gap_begin, gap_end, before_gap = gaps[0]
    with Browser() as browser:
        camera = LargeCamera(browser, options)
        page = camera.page
        page.wait(f"{camera.line}.getAttribute('aria-valuemin') !== null && {camera.one}.querySelector('.stage') !== null", "a time line")
        # The page may still have the list from before the gap.
        deadline = time.monotonic() + PATIENCE
        while unlike := unlike_list(camera, times, (gap_begin + gap_end) / 2):
            if time.monotonic() > deadline:
                raise Failed(unlike)
            time.sleep(0.1)
        # A keyframe while looking for a time.
        wanted = times[1][0] + 0.7 * (times[1][1] - times[1][0])
        camera.mouse("moved", wanted)
        deadline = time.monotonic() + PATIENCE
        while True:
            seen = read(page, camera.name, ".preview canvas")
            moment = clock_of(seen["time"], wanted) if seen else 0
            if wanted - 3 < moment <= wanted + 0.1:
                break
            if time.monotonic() > deadline:
                raise Failed(f"the keyframe is of {moment:.3f}, not before {wanted:.3f}")
            time.sleep(0.05)
        if options.screenshot:
            page.screenshot(options.screenshot.replace(".", "-looking."))
        # From the middle of a file into the next one.
        wanted = times[0][0] + 0.5 * (times[0][1] - times[0][0])
        camera.click(wanted)
        begun = camera.wait_for("a click", wanted - 0.2, wanted + 2)
        if options.screenshot:
            page.screenshot(options.screenshot)
        camera.press("Export")
        camera.press("From here")
        crossed = camera.wait_for("across files", times[1][0] + 0.2, times[1][1])
        camera.press("To here")
        page.wait(f"!{camera.one}.querySelector('.download').hidden", "a download")
        href = page.evaluate(f"((address) => address.pathname + address.search)(new URL({camera.one}.querySelector('.download').href))")
        # Over the gap.
        wanted = times[before_gap][1] - 1
        camera.click(wanted)
        camera.wait_for("before the gap", wanted - 0.2, gap_begin + 0.1)
        camera.wait_for("after the gap", gap_end - 0.05, gap_end + 5)
        camera.press("Live")
        watch(page, camera.name)
        deadline = time.monotonic() + PATIENCE
        while not 0.5 < camera.place(time.time() - 10) < 1:
            if time.monotonic() > deadline:
                raise Failed(f"the time line does not follow what is recorded: ten seconds ago is at {camera.place(time.time() - 10):.2f}")
            time.sleep(0.1)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            raise Failed("the page is wider than the window")
        complaints = [found for found in page.complaints() if " 503 " not in found]
        if complaints:
            raise Failed(f"the browser complains: {complaints}")
    print(f"{href} from {begun:.3f} to {crossed:.3f}, gap {gap_end - gap_begin:.3f} s")


class Panel(LargeCamera):
    """The part of a large camera that shows its recorder."""

    def __init__(self, browser, options):
        super().__init__(browser, options)
        self.page.wait(f"{self.one}.querySelector('.chart strong').textContent.includes('bit/s')", "a bit rate")

    def stats(self):
        return self.page.evaluate(
            f"fetch('/cameras/{urllib.parse.quote(self.name)}/stats.json').then((answer) => answer.json())")["stats"]

    def button(self, text):
        return f"[...{self.one}.querySelectorAll('button')].find((e) => e.textContent === {json.dumps(text)})"

    def order(self, text):
        """Presses a button of the recorder."""
        self.page.wait(f"{self.button(text)}?.disabled === false", f"{text} can be pressed")
        self.page.evaluate(f"{self.button(text)}.click()")

    def until(self, what, happened):
        """Waits until the recorder's figures say so; returns them."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            stats = self.stats()
            if happened(stats):
                return stats
            time.sleep(0.1)
        raise Failed(f"{what}: the recorder says {stats}")

    def open(self, title):
        self.page.evaluate(f"[...{self.one}.querySelectorAll('summary')].find((e) => e.textContent === {json.dumps(title)}).click()")

    def finish(self, expected=" 503 "):
        if self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            raise Failed("the page is wider than the window")
        complaints = [found for found in self.page.complaints() if not re.search(expected, found)]
        if complaints:
            raise Failed(f"the browser complains: {complaints}")


def keyframes(stats):
    return max(output["keyframes"] for output in stats["outputs"])


def recorder(options):
    with tempfile.TemporaryDirectory() as downloads, Browser() as browser:
        browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
        panel = Panel(browser, options)
        watch(panel.page, panel.name)
        panel.page.wait(f"/[1-9].*[/]s/.test({panel.one}.querySelectorAll('.chart strong')[1].textContent)", "a rate of pictures")
        panel.page.wait(f"/nothing lost|frames/.test({panel.one}.querySelector('.losses').textContent)", "what was lost")

        before = keyframes(panel.stats())
        panel.order("Keyframe")
        panel.until("a keyframe", lambda stats: keyframes(stats) > before)

        panel.page.evaluate(f"{panel.one}.querySelector('.rate input').value = '0.4'")
        panel.order("Set bit rate")
        panel.until("another bit rate", lambda stats: stats["bitRate"] == 400000)

        panel.order("Snapshot")
        panel.page.wait(f"/^saved as .*jpg$/.test({panel.one}.querySelector('.recorder-note').textContent)", "a snapshot")
        deadline = time.monotonic() + PATIENCE
        while not (found := [path for path in pathlib.Path(downloads).iterdir() if path.suffix == ".jpg"]):
            if time.monotonic() > deadline:
                raise Failed(f"no snapshot was saved: {os.listdir(downloads)}")
            time.sleep(0.05)
        size = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", found[0]],
                              capture_output=True, text=True, check=True).stdout.strip()
        if size != "640,360":
            raise Failed(f"the snapshot is {size}")

        check_question(panel)
        panel.page.evaluate("document.querySelectorAll('dialog button')[1].click()")
        paused = panel.until("a pause", lambda stats: stats["state"] == "paused")["paused"]
        still = panel.until("pictures in the pause", lambda stats: stats["paused"] > paused + 20) and read(panel.page, panel.name)
        panel.until("more of them", lambda stats: stats["paused"] > paused + 40)
        if read(panel.page, panel.name)["number"] != still["number"]:
            raise Failed("the live picture moves in a pause")
        panel.page.wait(f"/[1-9][0-9]* frames not recorded during pauses/.test({panel.one}.querySelector('.losses').textContent)",
                        "the pause among the losses")
        panel.order("Resume recording")
        panel.until("recording again", lambda stats: stats["state"] == "recording")
        watch(panel.page, panel.name)

        panel.open("Doctor")
        panel.page.wait(f"{panel.one}.querySelectorAll('.findings li').length > 3", "the doctor's findings")
        if options.screenshot:
            panel.page.evaluate(f"{panel.one}.querySelector('.recorder').scrollIntoView()")
            panel.page.screenshot(options.screenshot)
        panel.finish()


def check_question(panel):
    """A pause asks first: no has the focus, Escape is no, and the keys of the player do nothing meanwhile."""
    page = panel.page
    panel.order("Pause recording")
    page.wait("document.querySelector('dialog[open]') !== null", "a question before a pause")
    if page.evaluate("document.activeElement.textContent") != "Keep recording":
        raise Failed("the focus is not on the safe answer")
    named = page.evaluate("['labelledby', 'describedby'].every((kind) => document.getElementById("
                          "document.querySelector('dialog').getAttribute(`aria-${kind}`)).textContent.length > 10)")
    if not named:
        raise Failed("the question has no name")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null", "no question after Escape")
    if not page.evaluate(f"{panel.one}.classList.contains('large')"):
        raise Failed("Escape closes the camera, too")
    panel.order("Pause recording")
    page.wait("document.querySelector('dialog[open]') !== null", "a question again")
    page.press("Enter", "\r")
    page.wait("document.querySelector('dialog') === null", "no question after Enter")
    time.sleep(0.5)
    if panel.stats()["state"] != "recording":
        raise Failed("no is taken for yes")
    panel.order("Pause recording")
    page.wait("document.querySelector('dialog[open]') !== null", "a question for the third time")
    if panel.options.screenshot:
        page.screenshot(panel.options.screenshot.replace(".png", "-question.png"))


def watches(options):
    with Browser() as browser:
        page = browser.open(f"{options.url}#camera={options.names[0]}", tuple(map(int, options.size.split("x"))), options.dark)
        page.wait("document.getElementById('password') !== null", "the login page")
        fill(page, options.user, options.password)
        page.wait("document.querySelector('.camera.large') !== null", "the camera of the link after the login")
        watch(page, options.names[0])
        if found := page.evaluate("document.querySelectorAll('details, .recorder, .rate').length"):
            raise Failed(f"a viewer has {found} details")
        page.evaluate("[...document.querySelectorAll('.large button')].find((e) => e.textContent === 'Snapshot').click()")
        page.wait("/^saved as .*jpg$/.test(document.querySelector('.large .recorder-note').textContent)", "a snapshot")
        page.press("Escape")
        page.wait("document.querySelector('[data-state=unavailable] .message')?.textContent === 'camera offline'", "a camera that is offline")
        page.wait("document.querySelector('[data-state=unavailable] .state').textContent === 'camera offline'", "its state")
        if "127.0.0.1" in (text := page.evaluate("document.body.innerText")):
            raise Failed(f"a viewer sees an address: {text!r}")
        if options.screenshot:
            page.screenshot(options.screenshot)
        # The page follows the role.
        print("watching", flush=True)
        sys.stdin.read()
        page.wait("document.querySelectorAll('details').length > 0", "an administrator's details")
        page.wait("/127.0.0.1.*connection refused/.test(document.querySelector('[data-state=unavailable] .message')?.textContent ?? '')", "the cause")
        if complaints := page.complaints():
            raise Failed(f"the browser complains: {complaints}")


def placed(options):
    with Browser(options.pin) as browser:
        page = browser.open(f"{options.url}#camera={options.names[0]}", tuple(map(int, options.size.split("x"))), options.dark)
        page.wait("document.getElementById('password') !== null", "the login page")
        check_app(page, options.url)
        fill(page, options.user, options.password)
        page.wait("document.querySelector('.camera.large') !== null", "the camera of the link after the login")
        watch(page, options.names[0])
        check_app(page, options.url)
        if not page.evaluate("location.href").startswith(f"{options.url}#camera="):
            raise Failed(f"the page is at {page.evaluate('location.href')}")
        if options.embedder:
            check_frames(browser, options)
        page.evaluate("document.querySelector('.large .caption button').click()")
        page.evaluate("document.querySelector('#logout button').click()")
        page.wait("document.getElementById('password') !== null", "the login page after the logout")
        if options.embedder:
            log_in_within(browser, options)
        if complaints := page.complaints():
            raise Failed(f"the browser complains: {complaints}")


def log_in_within(browser, options):
    """A frame of the same site has the login page, too, and the session that begins there."""
    home = browser.open(options.embedder)
    home.wait("document.querySelector('iframe') !== null && document.readyState === 'complete'", "the page that embeds camweb")
    frame = home.frame()
    frame.wait("document.getElementById('password') !== null", "the login page in a frame")
    fill(frame, options.user, options.password)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            # Each document of the frame has a world of its own.
            if home.frame().evaluate("document.querySelector('[data-state=live]') !== null"):
                return
        except Failed:
            pass
        time.sleep(0.1)
    raise Failed("no live picture after a login in a frame")


def check_app(page, url):
    """The page is a web app that can be installed, and begins where the page is."""
    page.wait("document.readyState === 'complete'", "the whole page")
    found = page.command("Page.getAppManifest")
    if found["url"] != f"{url}manifest.webmanifest" or found["errors"]:
        raise Failed(f"the manifest: {found}")
    manifest = json.loads(found["data"])
    if urllib.parse.urljoin(found["url"], manifest["start_url"]) != url or manifest["display"] != "standalone":
        raise Failed(f"the manifest: {manifest}")
    # A test browser's profile is not for installing.
    errors = [error["errorId"] for error in page.command("Page.getInstallabilityErrors")["installabilityErrors"]]
    if set(errors) - {"in-incognito"}:
        raise Failed(f"the page cannot be installed: {errors}")


def check_frames(browser, options):
    """The page of one origin shows the live picture in a frame; that of another does not."""
    home = browser.open(options.embedder)
    home.wait("document.querySelector('iframe') !== null && document.readyState === 'complete'", "the page that embeds camweb")
    frame = home.frame()
    frame.wait(f"{state_of(options.names[0])} === 'live'", "the live picture in a frame")
    watch(frame, options.names[0])
    if options.screenshot:
        home.screenshot(options.screenshot)
    if complaints := home.complaints():
        raise Failed(f"the browser complains of the frame: {complaints}")
    home.close()
    stranger = browser.open(options.stranger)
    stranger.wait("document.querySelector('iframe') !== null && document.readyState === 'complete'", "the other page")
    if stranger.frame().evaluate("document.querySelector('#cameras, #password') !== null"):
        raise Failed("another page embeds camweb")
    if not any("frame-ancestors" in found for found in stranger.complaints()):
        raise Failed(f"another page's frame is refused for another reason: {stranger.complaints()}")
    stranger.close()


def shows(options):
    with Browser() as browser:
        panel = Panel(browser, options)
        for text in ("Keyframe", "Pause recording", "Set bit rate"):
            if not panel.page.evaluate(f"{panel.button(text)}.disabled"):
                raise Failed(f"{text} can be pressed")
        answer = panel.page.evaluate(
            f"fetch('/cameras/{urllib.parse.quote(panel.name)}/command', {{ method: 'POST', body: 'command=pause', "
            "headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }).then((answer) => answer.status)")
        if answer != 403 or panel.stats()["state"] != "recording":
            raise Failed(f"a pause is answered with {answer}")


def look(page, name, selector=".picture > canvas"):
    """The picture in 64x36 dots, each (red, green, blue); None if there is none."""
    data = page.evaluate(f"""((surface) => {{
      if (!surface || !(surface.width || surface.videoWidth)) return null;
      const canvas = new OffscreenCanvas(64, 36), context = canvas.getContext("2d");
      context.drawImage(surface, 0, 0, 64, 36);
      return [...context.getImageData(0, 0, 64, 36).data];
    }})(document.querySelector(`[data-name="${{CSS.escape({json.dumps(name)})}}"] {selector}`))""")
    return data and [tuple(data[place:place + 3]) for place in range(0, len(data), 4)]


def mean(dots):
    """From 0 to 255; 0 without a picture."""
    return sum(map(sum, dots)) / (3 * len(dots)) if dots else 0


def vivid(options):
    bars, green = options.names
    with Browser() as browser:
        page = browser.open(options.url, tuple(map(int, options.size.split("x"))), options.dark)
        for name in (bars, green):
            deadline, seen = time.monotonic() + 2 * PATIENCE, []
            while len(seen) < 5:
                if time.monotonic() > deadline:
                    raise Failed(f"{name}: {len(seen)} different pictures; the page says {page.evaluate('document.body.innerText')!r}")
                dots = look(page, name)
                # Below the text of the driver; the last row is the lowest.
                row = dots[30 * 64:31 * 64] if dots else []
                if row and any(map(any, row)) and (not seen or dots != seen[-1]):
                    seen.append(dots)
            if name == green and not all(g > 150 and r < 100 and b < 100 for r, g, b in row):
                raise Failed(f"{name} is not green: {row}")
            # The bars move, so what counts is which colours there are.
            colours = {tuple(value > 95 for value in dot) for dot in row}
            if name == bars and len(colours) < 7:
                raise Failed(f"{name} has no colour bars: {row}")
        page.wait("document.querySelectorAll('.camera[data-state=live]').length === 2", "two live cameras")
        if options.screenshot:
            page.screenshot(options.screenshot)


def brightness(options):
    """What is recorded keeps its time: the page's clock and the recorder's are those of two machines."""
    with Browser() as browser:
        panel = Panel(browser, options)
        page, name, one = panel.page, panel.name, panel.one

        def until(what, happened, selector=".picture > canvas"):
            deadline = time.monotonic() + 2 * PATIENCE
            while not happened(found := mean(look(page, name, selector))):
                if time.monotonic() > deadline:
                    said = page.evaluate(f"{one}.querySelector('.caption').innerText + {one}.querySelector('.recordings').innerText")
                    raise Failed(f"{what}: the mean of the picture is {found:.0f}, and was {usual:.0f} at first; the page says {said!r}")
                time.sleep(0.1)
            return found

        usual = 0
        usual = until("a picture", lambda found: found > 0)
        panel.open("Camera")
        slider = f"{one}.querySelector('[data-control=brightness]')"
        page.wait(f"{slider}?.disabled === false", "the slider of the brightness")
        page.evaluate(f"{slider}.focus()")
        page.press("End")
        bright = until("brighter", lambda found: found > usual + 40)
        begun = page.evaluate("Date.now()")
        if options.screenshot:
            page.screenshot(options.screenshot)
        page.evaluate("new Promise((done) => setTimeout(done, 6000))")  # of bright pictures
        back = f"[...{slider}.parentElement.querySelectorAll('button')].at(-1)"
        page.wait(f"{back}.disabled === false", "a way back")
        page.evaluate(f"{back}.click()")
        until("as before", lambda found: abs(found - usual) < 20)

        page.wait(f"Date.now() > {begun} + 120000", "two minutes", patience=180)
        page.evaluate(f"{panel.line}.scrollIntoView({{ block: 'center' }})")
        deadline = time.monotonic() + PATIENCE
        page.wait(f"{panel.line}.getAttribute('aria-valuemin') !== null", "a time line")
        # It follows what is recorded.
        while not 0.02 < panel.place(begun / 1000 - 12) < panel.place(begun / 1000 + 3) < panel.place(begun / 1000 + 110) < 1:
            if time.monotonic() > deadline:
                raise Failed("the time line does not show the last two minutes")
            time.sleep(0.1)
        panel.click(begun / 1000 + 3)
        until("the recording of two minutes ago", lambda found: found > usual + 40, "video.recording")
        page.wait(f"{one}.dataset.state === 'recorded'", "what is shown, in words")
        if options.screenshot:
            page.screenshot(options.screenshot.replace(".", "-recorded."))
        panel.click(begun / 1000 - 12)
        until("the recording before", lambda found: 0 < found < usual + 20, "video.recording")
        panel.press("Live")
        until("live again", lambda found: abs(found - usual) < 20)
        panel.finish()
    print(f"from {usual:.0f} to {bright:.0f} and back; recorded so")


def colour_at(camera, moment):
    """The colour of the time line at a time; None where nothing was recorded."""
    red, green, blue, alpha = camera.page.evaluate(
        f"((line, place) => [...line.getContext('2d').getImageData(Math.round(line.width * place), "
        f"Math.round(line.height * 0.85), 1, 1).data])({camera.line}, {camera.place(moment)})")
    return (red, green, blue) if alpha else None


def style(page, name):
    """A colour of the page's style."""
    text = page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()")
    return tuple(bytes.fromhex(text.lstrip("#")))


def check_event_list(panel, segments, until):
    """The events' list has each event with its picture, the newest first; a click plays one, and so do the buttons."""
    page = panel.page
    items = f"[...{panel.one}.querySelectorAll('.events li')]"

    def is_there():
        begins = [int(start) for start in page.evaluate(f"{items}.map((e) => e.dataset.start).join()").split(",") if start]
        return begins == [segment["start"] for segment in reversed(segments)]

    def playing():
        value = page.evaluate(f"{panel.line}.getAttribute('aria-valuetext') === 'live' ? '' : {panel.line}.getAttribute('aria-valuenow')")
        return float(value) if value else 0

    until("each event in the list", is_there)
    page.evaluate(f"{panel.one}.querySelector('.events').scrollIntoView()")
    until("the events' pictures", lambda: page.evaluate(
        f"{items}.every((e) => {{ const c = e.querySelector('canvas'); return c.width === 320 && c.getContext('2d').getImageData(20, 120, 1, 1).data[0] > 100; }})"))
    older, newer = (segment["start"] / 1e6 for segment in segments)
    page.evaluate(f"{items}.at(-1).querySelector('button').click()")
    until("the older event after a click", lambda: older - 0.5 < playing() < older + 3)
    until("the event that plays, in the list", lambda: page.evaluate(f"{items}.at(-1).querySelector('[aria-current]') !== null"))
    # A second click before anything plays is no reason to stand still.
    page.evaluate(f"{items}.at(-1).querySelector('button').click(); {items}[0].querySelector('button').click()")
    page.wait(f"!{panel.one}.querySelector('video.recording').paused", "the newer event, which plays after two clicks at once")
    page.evaluate(f"{items}.at(-1).querySelector('button').click()")
    until("the older event again", lambda: older - 0.5 < playing() < older + 3)
    for title, begin in (("Next", newer), ("Previous", older)):
        page.evaluate(f"[...{panel.one}.querySelectorAll('button')].find((e) => e.title.startsWith('{title} event')).click()")
        until(f"{title} event", lambda: begin - 0.5 < playing() < begin + 3)


def events(options):
    def until(what, happened):
        deadline = time.monotonic() + PATIENCE
        while not (found := happened()):
            if time.monotonic() > deadline:
                raise Failed(f"{what}: not within {PATIENCE} s; the list is {list_of(options)}")
            time.sleep(0.1)
        return found

    def finished(count):
        segments = list_of(options)["segments"]
        return segments if len(segments) == count and not any(segment["growing"] for segment in segments) else None

    def middle(segment):
        return (segment["start"] + segment["end"]) / 2e6

    with Browser() as browser:
        panel = Panel(browser, options)
        page = panel.page
        orange = style(page, "--event")
        for count in (1, 2):
            panel.order("Trigger")
            segments = until(f"event {count}", lambda: finished(count))
        if not all(segment["event"] for segment in segments):
            raise Failed(f"what was triggered is not an event: {segments}")
        first = segments[0]
        page.wait(f"{panel.line}.getAttribute('aria-valuemin') !== null", "a time line")
        until("the first event on the time line", lambda: colour_at(panel, middle(first)) == orange)
        panel.order("Trigger")
        until("the first event is removed", lambda: all(segment["id"] != first["id"] for segment in list_of(options)["segments"]))
        until("the time line without it", lambda: panel.place(middle(first)) < 0 or colour_at(panel, middle(first)) is None)
        last = until("the last event", lambda: finished(2))[-1]
        check_event_list(panel, finished(2), until)
        page.evaluate(f"((select) => {{ select.value = '8'; select.dispatchEvent(new Event('change')); }})"
                      f"({panel.one}.querySelector('.recordings select'))")
        until("the last event on the time line", lambda: colour_at(panel, middle(last)) == orange)
        panel.click(last["start"] / 1e6 + 0.1)
        page.wait(f"{panel.one}.querySelector('video.recording').playbackRate === 8", "eight times the speed")
        page.wait(f"{panel.one}.querySelector('video.recording').videoWidth > 0", "a recorded picture")
        # It ends soon.
        page.wait(f"{panel.one}.dataset.state === 'live'", "the live picture after the last recording")
        # The picture of an event that was just removed.
        panel.finish(r" 503 | 404 .*\.keyframe")


def heard(options):
    segment = list_of(options)["segments"][0]
    with Browser() as browser:
        camera = LargeCamera(browser, options)
        deadline = time.monotonic() + PATIENCE
        while colour_at(camera, segment["start"] / 1e6 + 1) is None:
            if time.monotonic() > deadline:
                raise Failed("the time line does not show the recording")
            time.sleep(0.1)
        camera.click(segment["start"] / 1e6 + 1)
        camera.page.wait(f"{camera.one}.querySelector('video.recording').webkitAudioDecodedByteCount > 10000", "decoded sound")


def sizes(options):
    name = options.names[0]
    tile = f"document.querySelector('[data-name={json.dumps(name)}]')"
    with Browser() as browser:
        page = browser.open(options.url, (1280, 800))

        def await_width(width, where):
            page.wait(
                f"{tile}?.dataset.state === 'live' && {tile}.querySelector('.picture canvas').width === {width}",
                f"pictures of width {width} {where}")

        await_width(options.small, "among others")
        page.evaluate(f"{tile}.querySelector('button').focus()")
        page.press("Enter", "\r")
        await_width(options.large, "of one camera alone")
        page.press("Escape")
        await_width(options.small, "among others again")


def stops(options):
    with Browser() as browser:
        page, name = browser.open(options.url), options.names[0]
        watch(page, name)
        page.command("Page.navigate", url="about:blank")
        page.wait("location.href === 'about:blank'", "another page")
        print("left", flush=True)
        # The browser stays, so that only the page's end can be the reason.
        sys.stdin.read()


def login(options):
    with Browser(options.pin) as browser:
        # A link to a camera, which is large after the login.
        page = browser.open(f"{options.url}#camera={options.names[0]}", tuple(map(int, options.size.split("x"))), options.dark)
        page.wait("document.getElementById('password') !== null", "the login page")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            raise Failed("the page is wider than the window")
        if options.screenshot:
            page.screenshot(options.screenshot)
        fill(page, options.user, options.password + "x")
        page.wait("document.querySelector('.problem') !== null", "the problem after a wrong password")
        fill(page, options.user, options.password)
        page.wait("document.querySelector('.camera.large') !== null", "the camera of the link after the login")
        watch(page, options.names[0])
        if page.evaluate("document.cookie"):
            raise Failed("scripts can read the cookie")
        page.wait("!document.getElementById('logout').hidden", "the button to log out")
        page.evaluate("document.querySelector('#logout button').click()")
        page.wait("document.getElementById('password') !== null", "the login page after the logout")
        # The wrong password's answer, which is the page again.
        complaints = [found for found in page.complaints() if " 403 " not in found]
        if complaints:
            raise Failed(f"the browser complains: {complaints}")


def fill(page, user, password):
    # Until then the page may not have noted its address.
    page.wait("document.readyState === 'complete'", "the whole login page")
    page.evaluate(f"[...document.querySelectorAll('input')].forEach((e, i) => e.value = {json.dumps([user, password])}[i])")
    page.evaluate("document.querySelector('form button').click()")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for action in (live, outage, ages, states, comes, unplayable, sizes, stops, recordings, recorder, shows, vivid, brightness, events, heard, login, watches, placed):
        command = commands.add_parser(action.__name__)
        command.set_defaults(action=action)
        command.add_argument("url")
        if action is not ages:
            command.add_argument("names", nargs="+" if action in (live, vivid) else 1, metavar="NAME")
        if action in (login, watches, placed):
            command.add_argument("user")
            command.add_argument("password")
        if action in (login, placed):
            command.add_argument("--pin")
        if action is placed:
            command.add_argument("--embedder")
            command.add_argument("--stranger")
        if action in (live, login, watches, placed, recordings, recorder, shows, vivid, brightness, events, heard):
            command.add_argument("--dark", action="store_true")
            command.add_argument("--size", default="1280x800")
            command.add_argument("--screenshot")
        if action is sizes:
            command.add_argument("small", type=int)
            command.add_argument("large", type=int)
        if action is unplayable:
            command.add_argument("text")
        if action in (live, states):
            command.add_argument("--without-webcodecs", action="store_true")
        if action is live:
            command.add_argument("--large", action="store_true")
            command.add_argument("--tabs", type=int, default=1)
            command.add_argument("--after", type=int, default=-1)
    carry_out(parser)


if __name__ == "__main__":
    main()
