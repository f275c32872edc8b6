#!/usr/bin/env python3
"""Uses a camera that is shown large as people do who look for something.

usage: viewer.py layout URL NAME [--screenshot FILE]
                                  at each size of a screen, light and dark, live and with a recording and an export: the picture
                                  has at least half of the window, the time line and the player are in it, nothing is wider than
                                  it, and all text has contrast
       viewer.py player URL NAME  a shared address, keys, single pictures, speeds, drags, fingers, the wheel, "go to", the next
                                  recording, Back, reload and the full screen: each shows the picture of the right time
       viewer.py export URL NAME  a span is selected by mouse, finger, keys and as text; the download has it; Clear ends it
       viewer.py queue URL NAME   a download on the page: prints "waiting" once the page says that others come first, and "made"
                                  once it shows the making; then the browser gets the whole file
       viewer.py access URL NAME  each control has a name and can be reached by Tab, with a visible focus; reduced motion

What is wrong is printed, with exit status 1.
"""
import argparse
import datetime
import json
import math
import pathlib
import tempfile
import time
import urllib.parse
import urllib.request

from browser import PATIENCE, Browser, Failed, carry_out
from web import LargeCamera, list_of, read, state_of

SIZES = {"desktop": (1920, 1080), "laptop": (1366, 620), "tablet": (820, 1180), "portrait": (390, 844), "landscape": (844, 390)}
TOUCH = ("tablet", "portrait", "landscape")

# Text, and its contrast (WCAG 2) with what is behind it; above the picture, that may be white.
CONTRASTS = """(() => {
  const parse = (text) => [...text.matchAll(/[\\d.]+/g)].map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((value, index) => value * a + below[index] * (1 - a));
  const luminance = (color) => color.map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      layers.push(color);
      if ((color[3] ?? 1) === 1) break;
      if (one.matches(".large .caption, .message")) { layers.push([255, 255, 255]); break; }
    }
    return layers.reverse().reduce((below, color) => over(color, below), [255, 255, 255]);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const isText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!isText && !element.matches("input, select, .icon") || !element.checkVisibility({ visibilityProperty: true })) continue;
    const ground = behind(element);
    const [one, other] = [luminance(over(parse(getComputedStyle(element).color), ground)), luminance(ground)];
    found.push([(Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05), element.className, element.textContent.slice(0, 40)]);
  }
  return JSON.stringify(found);
})()"""
# The first lists are those of a camweb that has read nothing yet.
UNREAD = """(() => {
  const real = fetch;
  let left = 4;
  window.fetch = async (path, options) => {
    const answer = await real(path, options);
    if (!String(path).includes(".json?") || left === 0) return answer;
    left -= 1;
    return new Response(JSON.stringify({ ...await answer.json(), complete: false, segments: [] }));
  };
})();"""
# The time line's colours: (what is drawn, on what, the least contrast).
DRAWN = [("--accent", "--band", 3), ("--live", "--band", 3), ("--event", "--band", 3), ("--kept", "--band", 3), ("--ink", "--band", 4.5), ("--muted", "--band", 4.5)]


def contrast(one, other):
    def luminance(color):
        parts = [value / 255 for value in color]
        parts = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
        return sum(part * weight for part, weight in zip(parts, (0.2126, 0.7152, 0.0722)))
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def address_of(options, moment=None):
    """The page's address for its camera, and a time."""
    when = "" if moment is None else f"&time={datetime.datetime.fromtimestamp(moment, datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
    return f"{options.url}#camera={options.names[0]}{when}"


class Viewer(LargeCamera):
    """A camera that an address shows large."""

    def __init__(self, browser, options, moment=None, before=""):
        self.name = options.names[0]
        self.page = browser.open(address_of(options, moment), before=before)
        self.one = f"document.querySelector('[data-name={json.dumps(self.name)}]')"
        self.line = f"{self.one}.querySelector('.timeline')"
        self.video = f"{self.one}.querySelector('video.recording')"
        self.page.wait(f"{self.one}?.classList.contains('large')", "the camera of the address, large")

    def push(self, label):
        """Presses the button with a name."""
        button = f"[...{self.one}.querySelectorAll('button')].find((e) => e.title.startsWith({json.dumps(label)}))"
        self.page.evaluate(f"{button}.click()")

    def view(self):
        return tuple(float(self.page.evaluate(f"{self.line}.getAttribute('aria-value{edge}')")) for edge in ("min", "max"))

    def box(self):
        """The time line without its border: left, middle, width."""
        self.page.evaluate(f"{self.line}.scrollIntoView({{ block: 'center' }})")
        self.settle()
        return json.loads(self.page.evaluate(
            f"((line, box) => JSON.stringify([box.left + line.clientLeft, box.top + box.height / 2, line.clientWidth]))"
            f"({self.line}, {self.line}.getBoundingClientRect())"))

    def settle(self):
        """Waits until what moves has been drawn."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def point(self, moment):
        """Where a time is on the page."""
        left, y, width = self.box()
        return round(left + width * self.place(moment)), y

    def moment(self, x):
        """The time at a place on the page."""
        left, _, width = self.box()
        begin, end = self.view()
        return begin + (x - left) / width * (end - begin)

    def drag(self, one, other, between=None):
        (x, y), (to, _) = self.point(one), self.point(other)
        self.page.mouse("moved", x, y)
        self.page.mouse("pressed", x, y)
        for step in range(1, 5):
            self.page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x + (to - x) * step / 4, y=y, button="left", buttons=1)
        if between:
            between()
        self.page.mouse("released", to, y)

    def touch(self, kind, *points):
        self.page.command("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=[
            {"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)])

    def until(self, what, happened):
        deadline = time.monotonic() + PATIENCE
        while not (found := happened()):
            if time.monotonic() > deadline:
                raise Failed(f"{what}: not within {PATIENCE} s; the page says {self.page.evaluate(f'{self.one}.innerText')!r}")
            time.sleep(0.05)
        return found

    def still(self):
        """The number of the picture that stands still."""
        numbers = [None]
        while len(numbers) < 4 or len(set(numbers[-3:])) > 1 or numbers[-1] is None:
            seen = read(self.page, self.name, "video.recording")
            numbers.append(seen and seen["number"])
            time.sleep(0.05)
            if len(numbers) > 400:
                raise Failed(f"no picture stands still: {numbers[-10:]}")
        return numbers[-1]

    def finish(self):
        if complaints := [found for found in self.page.complaints() if " 503 " not in found]:
            raise Failed(f"the browser complains: {complaints}")


def layout(options):
    moment = list_of(options)["segments"][1]["start"] / 1e6
    with Browser() as browser:
        viewer = Viewer(browser, options)
        page = viewer.page
        for name, size in SIZES.items():
            for color in ("light", "dark"):
                show(page, size, color, name in TOUCH)
                look(viewer, f"{name}, {color}, live", size, options, None)
                look(viewer, f"{name}, {color}, recorded", size, options, moment)
        viewer.finish()


def show(page, size, color, touches):
    page.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=size[0] < 600)
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": color}])
    page.command("Emulation.setTouchEmulationEnabled", enabled=touches)


def look(viewer, what, size, options, moment):
    """Looks at the live picture, or at a recording with an export."""
    page, state = viewer.page, "live" if moment is None else "recorded"
    page.evaluate(f"location.hash = {json.dumps(urllib.parse.urlsplit(address_of(options, moment)).fragment)}")
    page.wait(f"{state_of(viewer.name)} === '{state}' && {viewer.line}.hasAttribute('aria-valuemin')", f"{what}: a picture")
    is_open = f"!{viewer.one}.querySelector('.export').hidden"
    if page.evaluate(is_open) != (moment is not None):
        viewer.press("Export")
    if moment is None:
        page.wait(f"{viewer.one}.querySelector('.picture canvas')?.width > 0", f"{what}: a live picture")
    else:
        page.wait(f"{viewer.video}.readyState > 1", f"{what}: a recorded picture")
        page.wait(f"{viewer.one}.querySelector('.edge:not([hidden])') !== null", f"{what}: the edges of the export")
    page.evaluate("scrollTo(0, 0)")
    viewer.settle()
    if options.screenshot:
        page.screenshot(options.screenshot.replace(".", f"-{what.replace(', ', '-')}."))
    check_layout(viewer, what, size)


def check_layout(viewer, what, size):
    page, one = viewer.page, viewer.one
    left, top, right, bottom = json.loads(page.evaluate(
        f"((box) => JSON.stringify([box.left, box.top, box.right, box.bottom]))({one}.querySelector('.picture').getBoundingClientRect())"))
    width, height = max(0, min(right, size[0]) - max(left, 0)), max(0, min(bottom, size[1]) - max(top, 0))
    if width * height < size[0] * size[1] / 2:
        raise Failed(f"{what}: the picture has {width:.0f}x{height:.0f} of {size[0]}x{size[1]}")
    for selector in (".timeline", ".bar > :first-child"):
        if (end := page.evaluate(f"{one}.querySelector('{selector}').getBoundingClientRect().bottom")) > size[1]:
            raise Failed(f"{what}: {selector} ends at {end}, below the window")
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        raise Failed(f"{what}: the page is wider than the window")
    words = page.evaluate(f"{one}.innerText").lower()
    if found := [word for word in ("keyframe", "bit/s", "latency", "capture to output", "pictures/s") if word in words]:
        raise Failed(f"{what}: {found} stand beside the player")
    small = json.loads(page.evaluate(
        f"JSON.stringify([...{one}.querySelectorAll('button, input, select, a, summary')].filter((e) => e.checkVisibility())"
        ".map((e) => [e.getBoundingClientRect(), e.ariaLabel ?? e.textContent]).filter(([box]) => box.width < 24 || box.height < 24))"))
    if small:
        raise Failed(f"{what}: too small for a finger: {small}")
    texts = json.loads(page.evaluate(CONTRASTS))
    if len(texts) < 10 or (faint := [text for text in texts if text[0] < 4.5]):
        raise Failed(f"{what}: {len(texts)} texts, too faint: {faint if len(texts) >= 10 else ''}")
    colours = {name: page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()") for pair in DRAWN for name in pair[:2]}
    for front, ground, least in DRAWN:
        if (ratio := contrast(*(bytes.fromhex(colours[name][1:]) for name in (front, ground)))) < least:
            raise Failed(f"{what}: {front} on {ground} has a contrast of {ratio:.2f}")


def stretches(options):
    """When the recordings before and after the gap begin and end."""
    times = [(segment["start"] / 1e6, segment["end"] / 1e6) for segment in list_of(options)["segments"]]
    gaps = [index for index, (one, other) in enumerate(zip(times, times[1:])) if other[0] - one[1] > 1]
    if len(gaps) != 1:
        raise Failed(f"not one gap: {times}")
    return (times[0][0], times[gaps[0]][1]), (times[gaps[0] + 1][0], times[-1][1])


def player(options):
    first, second = stretches(options)
    middle = math.floor((first[0] + first[1]) / 2)
    with Browser() as browser:
        viewer = Viewer(browser, options, middle)
        page = viewer.page
        viewer.wait_for("the time of the address", middle - 0.1, middle + 5)
        # At first a browser may show pictures on the way there.
        viewer.wait_for("what follows", middle + 0.3, middle + 5)
        keys(viewer)
        views(viewer, first)
        drags(viewer, first)
        jumps(viewer, first, second)
        addresses(viewer, middle)
        page.press("f", "f")
        page.wait("document.fullscreenElement !== null", "the full screen")
        page.wait(f"{viewer.one}.querySelector('.picture').getBoundingClientRect().height === innerHeight", "a picture that fills it")
        page.press("f", "f")
        page.wait("document.fullscreenElement === null", "the window again")
        viewer.finish()
        viewer = Viewer(browser, options, middle, UNREAD)
        viewer.page.wait(f"{viewer.one}.querySelector('.notes').textContent.includes('still being read')", "that recordings are still being read")
        viewer.wait_for("the time of the address, once it was read", middle - 0.1, middle + 5)


def keys(viewer):
    page = viewer.page
    page.press(" ", " ")
    page.wait(f"{viewer.video}.paused", "a pause after the space bar")
    number = viewer.still()
    for key, wanted in ((".", number + 1), (".", number + 2), (",", number + 1), (",", number)):
        page.press(key, key)
        viewer.until(f"the picture after {key!r}", lambda: viewer.still() == wanted)
    here = viewer.played(time.time())
    page.press("j", "j")
    viewer.until("ten seconds back", lambda: abs((viewer.played(time.time()) or 0) - here + 10) < 0.3)
    page.press("ArrowRight")
    viewer.until("ten seconds forth", lambda: abs((viewer.played(time.time()) or 0) - here) < 0.3)
    if not page.evaluate(f"{viewer.video}.paused"):
        raise Failed("a jump ends the pause")
    page.press("k", "k")
    page.wait(f"!{viewer.video}.paused", "playing after k")
    speeds = f"{viewer.one}.querySelector('.recordings select')"
    if (found := page.evaluate(f"[...{speeds}.options].map((option) => option.textContent).join(' ')")) != "½× 1× 2× 4× 8× 16×":
        raise Failed(f"the speeds are {found}")
    for speed in (0.5, 16, 1):
        page.evaluate(f"((select) => {{ select.value = '{speed}'; select.dispatchEvent(new Event('change')); }})({speeds})")
        page.wait(f"{viewer.video}.playbackRate === {speed}", f"{speed} times the speed")
    page.press(" ", " ")
    page.wait(f"{viewer.video}.paused", "a pause")


def views(viewer, first):
    page = viewer.page
    for text, seconds in (("24 h", 86400), ("7 d", 7 * 86400), ("1 h", 3600)):
        viewer.press(text)
        viewer.until(f"{text} on the time line", lambda: abs(viewer.view()[1] - viewer.view()[0] - seconds) < 1)
        page.wait(f"{viewer.one}.querySelector('[aria-pressed=true]')?.textContent === {json.dumps(text)}", f"{text}, pressed")
    x, y = viewer.point(first[0])
    wanted, before = viewer.moment(x), viewer.view()
    for _ in range(16):
        page.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
    viewer.until("the wheel shows less time", lambda: viewer.view()[1] - viewer.view()[0] < (before[1] - before[0]) * 0.03)
    if abs(viewer.moment(x) - wanted) > 0.5:
        raise Failed(f"the wheel moves the time under the pointer from {wanted} to {viewer.moment(x)}")
    page.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    # Where the recordings begin is near the right edge if they are new.
    (left, y), (right, _) = viewer.point(first[0] - 5), viewer.point(first[0])
    one, other = viewer.moment(left), viewer.moment(right)
    before = viewer.view()
    viewer.touch("Start", (right, y))
    viewer.touch("Start", (right, y), (left, y))
    for step in range(1, 5):
        viewer.touch("Move", (right, y), (left - 10 * step, y))
    viewer.touch("End")
    viewer.until("two fingers show less time", lambda: viewer.view()[1] - viewer.view()[0] < (before[1] - before[0]) * 0.95)
    if abs(viewer.moment(left - 40) - one) > 0.1 or abs(viewer.moment(right) - other) > 0.1:
        raise Failed(f"the times under the fingers, {one} and {other}, are now {viewer.moment(left - 40)} and {viewer.moment(right)}")
    page.command("Emulation.setTouchEmulationEnabled", enabled=False)


def drags(viewer, first):
    page = viewer.page
    before = viewer.view()
    width = before[1] - before[0]
    viewer.drag(before[0] + width * 0.9, before[0] + width * 0.8)
    viewer.until("a drag shows later times", lambda: abs(viewer.view()[0] - before[0] - width * 0.1) < width * 0.02)
    wanted = first[0] + 2
    here = float(page.evaluate(f"{viewer.line}.getAttribute('aria-valuenow')"))
    viewer.press("1 h")
    viewer.settle()
    for _ in range(30):
        if viewer.view()[1] - viewer.view()[0] < 120:
            break
        viewer.push("Show a shorter time")
        viewer.settle()

    def previewed():
        viewer.until("a keyframe while what plays is dragged", lambda: page.evaluate(f"!{viewer.one}.querySelector('.preview').hidden")
                     and read(page, viewer.name, ".preview canvas"))
    viewer.drag(here, wanted, previewed)
    viewer.until("the time to which it was dragged", lambda: abs((viewer.played(time.time()) or 0) - wanted) < 1)


def jumps(viewer, first, second):
    page = viewer.page
    field = f"{viewer.one}.querySelector('input[type=datetime-local]')"
    wanted = math.floor(second[0]) + 2
    local = f"{datetime.datetime.fromtimestamp(wanted):%Y-%m-%dT%H:%M:%S}"
    page.evaluate(f"{field}.value = '{local}'; {field}.form.requestSubmit()")
    viewer.until("the time that was typed", lambda: abs((viewer.played(time.time()) or 0) - wanted) < 1)
    page.wait(f"{viewer.line}.getAttribute('aria-valuetext') !== 'live'", "the time line there")
    for label, moment in (("Next", None), ("Previous", second[0]), ("Previous", first[0]), ("Next", second[0])):
        viewer.push(label)
        if moment is None:
            page.wait(f"{state_of(viewer.name)} === 'live'", "the live picture after the last recording")
        else:
            viewer.until(f"{label} recording", lambda: abs((viewer.played(time.time()) or 0) - moment) < 1.5)


def addresses(viewer, middle):
    page = viewer.page
    viewer.press("Live")
    page.wait(f"{state_of(viewer.name)} === 'live' && location.hash === '#camera={viewer.name}'", "the live picture's address")
    page.evaluate("history.back()")
    page.wait(f"{state_of(viewer.name)} === 'recorded' && location.hash.includes('&time=')", "the recording again after Back")
    viewer.until("its picture", lambda: viewer.played(time.time()))
    page.evaluate("location.reload()")
    page.wait(f"{state_of(viewer.name)} === 'recorded'", "the recording after a reload")
    viewer.until("its picture", lambda: viewer.played(time.time()))
    viewer.push("Show all cameras")
    page.wait("location.hash === '' && !document.querySelector('.single')", "all cameras")
    page.evaluate("history.back()")
    page.wait(f"{state_of(viewer.name)} === 'recorded'", "the camera again after Back")
    page.evaluate(f"location.hash = {json.dumps(address_of(argparse.Namespace(url='', names=[viewer.name]), middle))}")
    viewer.wait_for("another address", middle - 0.2, middle + 5)


def export(options):
    first, _ = stretches(options)
    begin, end = math.ceil(first[0]) + 1, math.ceil(first[0]) + 4
    with tempfile.TemporaryDirectory() as downloads, Browser() as browser:
        browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
        viewer = Viewer(browser, options, begin)
        page = viewer.page
        viewer.wait_for("a recording", begin - 0.1, begin + 5)
        viewer.press("Export")
        page.wait(f"{viewer.one}.querySelectorAll('.edge:not([hidden])').length === 2", "two edges")

        def chosen():
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(page.evaluate(f"{viewer.one}.querySelector('.download').href")).query)
            return int(query["from"][0]) / 1e6, int(query["to"][0]) / 1e6

        def is_near(wanted, tolerance):
            return all(abs(one - other) <= tolerance for one, other in zip(chosen(), wanted))

        tolerance = 2 * (viewer.view()[1] - viewer.view()[0]) / 1200
        viewer.drag(begin, end)
        viewer.until("a span by a drag", lambda: is_near((begin, end), tolerance))
        before = chosen()
        for edge, key, change in (("from", "ArrowLeft", (-1, 0)), ("to", "ArrowRight", (-1, 1))):
            page.evaluate(f"{viewer.one}.querySelector('[data-edge={edge}]').focus()")
            page.press(key)
            viewer.until(f"{key} on its edge", lambda: is_near((before[0] + change[0], before[1] + change[1]), 0.001))
        # Faster than the page draws.
        before = chosen()
        page.evaluate(f"[['from', 'ArrowRight'], ['to', 'ArrowLeft']].forEach(([edge, key]) => {viewer.one}.querySelector(`[data-edge=${{edge}}]`)"
                      ".dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })))")
        viewer.until("both edges", lambda: is_near((before[0] + 1, before[1] - 1), 0.001))
        page.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
        (x, y), (to, _) = viewer.point(chosen()[1]), viewer.point(chosen()[1] + 6)
        wanted = (chosen()[0], chosen()[1] + 6)
        viewer.touch("Start", (x, y))
        viewer.touch("Move", ((x + to) / 2, y))
        viewer.touch("Move", (to, y))
        viewer.touch("End")
        viewer.until("an edge by a finger", lambda: is_near(wanted, tolerance))
        page.command("Emulation.setTouchEmulationEnabled", enabled=False)
        for number, moment in enumerate((begin, end)):
            text = f"{datetime.datetime.fromtimestamp(moment):%Y-%m-%d %H:%M:%S}" if number == 0 else f"{datetime.datetime.fromtimestamp(moment):%H:%M:%S}"
            page.evaluate(f"((field) => {{ field.value = '{text}'; field.dispatchEvent(new Event('change')); }})"
                          f"({viewer.one}.querySelectorAll('.when')[{number}])")
        viewer.until("a span as text", lambda: is_near((begin, end), 0.001))
        page.evaluate(f"((field) => {{ field.value = 'noon'; field.dispatchEvent(new Event('change')); }})({viewer.one}.querySelector('.when'))")
        page.wait(f"{viewer.one}.querySelector('.when').getAttribute('aria-invalid') === 'true'", "a time that is none")
        if not is_near((begin, end), 0.001):
            raise Failed(f"a text that is no time changes the span to {chosen()}")
        fetch_file(viewer, downloads)
        viewer.press("Clear")
        page.wait(f"{viewer.one}.querySelectorAll('.edge:not([hidden])').length === 0 && {viewer.one}.querySelector('.export').hidden", "no span after Clear")
        viewer.finish()


def fetch_file(viewer, downloads):
    """Downloads on the page, and waits for the whole file."""
    page = viewer.page
    href = page.evaluate(f"{viewer.one}.querySelector('.download').href")
    page.evaluate(f"{viewer.one}.querySelector('.download').click()")
    wait_for_file(viewer, downloads, href)


def wait_for_file(viewer, downloads, href):
    found = viewer.until("a file", lambda: [path for path in pathlib.Path(downloads).iterdir() if path.suffix == ".mp4"])[0]
    with urllib.request.urlopen(href) as answer:
        wanted = answer.read()
    viewer.until("the whole file", lambda: found.read_bytes() == wanted)


def queue(options):
    with tempfile.TemporaryDirectory() as downloads, Browser() as browser:
        browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
        segments = list_of(options)["segments"]
        viewer = Viewer(browser, options, segments[0]["start"] / 1e6 + 1)
        page = viewer.page
        viewer.press("Export")
        href = page.evaluate(f"{viewer.one}.querySelector('.download').href")
        page.evaluate(f"{viewer.one}.querySelector('.download').click()")
        making = f"{viewer.one}.querySelector('.making').textContent"
        page.wait(f"{making} === 'waiting for another download'", "the queue on the page")
        # Cancel gives up the place in the queue, and a download waits for another one.
        viewer.press("Cancel")
        page.wait(f"{making} === 'canceled'", "the end of the wait after Cancel")
        page.evaluate(f"{viewer.one}.querySelector('.download').click()")
        page.wait(f"{making} === 'waiting for another download'", "the queue on the page, again")
        print("waiting", flush=True)
        page.wait(f"{making}.startsWith('making the file: ')", "the making on the page")
        print("made", flush=True)
        wait_for_file(viewer, downloads, href)
        viewer.finish()


def access(options):
    with Browser() as browser:
        viewer = Viewer(browser, options)
        page = viewer.page
        page.wait(f"{state_of(viewer.name)} === 'live'", "a live camera")
        page.command("Accessibility.enable")
        nodes = page.command("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "link", "slider", "textbox", "combobox", "checkbox", "Date", "DateTime", "progressbar", "DisclosureTriangle")
        controls = [node for node in nodes if not node.get("ignored") and node.get("role", {}).get("value") in roles]
        if nameless := [node["role"]["value"] for node in controls if not node.get("name", {}).get("value")]:
            raise Failed(f"without a name: {nameless}")
        if len(controls) < 15:
            raise Failed(f"only {len(controls)} controls")
        if page.evaluate("document.querySelectorAll('.large [role=status]').length") < 4:
            raise Failed("too few live regions")
        reached = set()
        for _ in range(80):
            page.press("Tab")
            name, outline = json.loads(page.evaluate(
                "((e, style) => JSON.stringify([`${e.tagName} ${e.ariaLabel ?? e.textContent}`, style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth)]))"
                "(document.activeElement, getComputedStyle(document.activeElement))"))
            if name.startswith("BODY"):
                continue
            reached.add(name)
            if outline < 2:
                raise Failed(f"the focus on {name} cannot be seen: {outline}")
        wanted = json.loads(page.evaluate(
            "JSON.stringify([...document.querySelectorAll('.large :is(button, input, select, summary, a, [tabindex])')]"
            ".filter((e) => e.checkVisibility() && !e.disabled).map((e) => `${e.tagName} ${e.ariaLabel ?? e.textContent}`))"))
        if missed := set(wanted) - reached:
            raise Failed(f"Tab does not reach {missed}")
        page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        if moving := page.evaluate(
                "[...document.querySelectorAll('*')].filter((e) => parseFloat(getComputedStyle(e).transitionDuration) > 0"
                " || getComputedStyle(e).animationName !== 'none').length"):
            raise Failed(f"{moving} elements move although motion is reduced")
        viewer.finish()


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for action in (layout, player, export, queue, access):
        command = commands.add_parser(action.__name__)
        command.set_defaults(action=action)
        command.add_argument("url")
        command.add_argument("names", nargs=1, metavar="NAME")
        if action is layout:
            command.add_argument("--screenshot")
    carry_out(parser)


if __name__ == "__main__":
    main()
